"""Our ToolTalk metric against the original evaluator's verdicts, and its data against itself."""

import json

import pytest
from sandbox_grader.grading.metric import Subject
from sandbox_grader.grading.similarity import SIMILARITIES, exact
from sandbox_grader.importers import importer
from sandbox_grader.papers.tooltalk import ToolTalk

from sandbox_mcp.engine.trajectory import parse_trajectory, to_line
from tests.each import each

OURS = {"bad_action_rate": "incorrect_action_rate"}
"""Names of the original's figures that differ from ours."""


def read(paths):
    """Each session as it is read back from the log that the importer makes of it."""
    for imported in importer("tooltalk")(paths):
        again = parse_trajectory("".join(map(to_line, imported.events)).encode())
        assert [again.started, *again.events, again.ended] == list(imported.events)
        yield Subject(again)


@pytest.fixture(scope="module")
def folder(benchmark_data):
    return benchmark_data / "tooltalk"


@pytest.fixture(scope="module")
def conversations(folder):
    subjects = list(read([*sorted(folder.glob("easy/*.json")), *sorted(folder.glob("hard/*.json"))]))
    assert subjects
    return subjects


@pytest.fixture(scope="module")
def expected(folder):
    return json.loads((folder / "oracle" / "mutants_expected.json").read_text())["conversations"]


@pytest.fixture(scope="module")
def mutants(folder):
    subjects = read([folder / "oracle" / "mutants.jsonl"])
    return {subject.trajectory.started.origin["conversation"]["name"]: subject for subject in subjects}


@each("similarity", ["exact", "rouge-l"])
@each("mode", ["compat", "paper", "strict"])
def test_the_ground_truth_replayed_is_perfect(conversations, mode, similarity):
    metric = ToolTalk(similarity=SIMILARITIES[similarity]())
    report = metric.summarise([(subject, metric.grade(subject, mode)) for subject in conversations], mode)
    counts = report["counts"]
    assert (report["sessions"], report["inconclusive"]) == (len(conversations), 0)
    assert counts["matches"] == counts["predictions"] == counts["ground_truths"] == _recorded_calls(conversations) > 0
    assert (report["success_rate"], counts["bad_actions"], report["failures"]["total"]) == (1.0, 0, 0)


def _recorded_calls(subjects):
    solutions = (subject.trajectory.started.reference for subject in subjects)
    return sum(len(turn.calls) for (solution,) in solutions for turn in solution)


def test_every_verdict_of_the_original_is_reproduced(mutants, expected):
    metric = ToolTalk(similarity=exact)
    assert mutants.keys() == expected.keys()
    ours = {name: _verdict(metric.grade(subject, "compat"), expected[name]) for name, subject in mutants.items()}
    assert ours == expected


def _verdict(verdict, like):
    """A verdict of ours in the original's form."""
    calls = [item for item in verdict.details if item["kind"] == "call"]
    references = [item for item in verdict.details if item["kind"] == "reference"]
    return {
        **{name: verdict.values[OURS.get(name, name)] for name in like if name not in {"calls", "gt"}},
        "calls": [[item["tool"], item["match"], item["bad"]] for item in calls],
        "gt": [[item["tool"], item["matched"]] for item in references],
    }


def test_the_summary_is_the_ratio_of_the_originals_sums(mutants, expected):
    metric = ToolTalk(similarity=exact)
    report = metric.summarise([(item, metric.grade(item, "compat")) for item in mutants.values()], "compat")
    total = {name: sum(row[name] for row in expected.values()) for name in report["counts"]}
    assert report["counts"] == total
    assert report["micro"]["precision"] == total["matches"] / total["predictions"]
    assert report["micro"]["incorrect_action_rate"] == total["bad_actions"] / total["actions"]
    assert report["success_rate"] == sum(row["success"] for row in expected.values()) / len(expected)


def test_every_call_that_matches_nothing_has_a_reason(mutants):
    metric = ToolTalk(similarity=exact)
    for mode in ("compat", "paper", "strict"):
        for subject in mutants.values():
            calls = [item for item in metric.grade(subject, mode).details if item["kind"] == "call"]
            assert all(item["match"] == (item["reason"] is None) for item in calls)


def test_our_own_rules_see_more_faults_than_the_original(mutants):
    metric = ToolTalk(similarity=exact)
    succeeded = {
        mode: sum(metric.grade(item, mode).values["success"] for item in mutants.values())
        for mode in ("compat", "strict")
    }
    assert 0 < succeeded["strict"] < succeeded["compat"]
