"""Our ToolScan metric against what the original's loop counted and scored."""

import json

import pytest
from sandbox_grader.grading.metric import Subject
from sandbox_grader.importers import importer
from sandbox_grader.papers.toolscan import ToolScan
from sandbox_grader.papers.toolscan.scores import PATTERNS

from sandbox_mcp.engine.trajectory import parse_trajectory, to_line
from tests.each import each

SCORES = {"fe": "ife", "rc": "rac", "sr": "mean_of_seven"}
"""Scores of the original whose names differ from ours."""

COUNTS = {
    "invalid_function_name": "ifn",
    "invalid_argument_name": "ian",
    "invalid_argument_type": "iat",
    "missing_argument": "missing_required",
    "repeat_calls": "rac",
    "format_errors": "ife",
}


@pytest.fixture(scope="module")
def cases(benchmark_data):
    """Pairs of what the original said and our session, as it is read back from its log."""
    path = benchmark_data / "toolscan" / "cases.jsonl"
    expected = [json.loads(line)["expected"] for line in path.read_text().splitlines() if line.strip()]
    subjects = [Subject(_read_back(imported)) for imported in importer("toolscan")([path])]
    assert subjects
    return list(zip(expected, subjects, strict=True))


def _read_back(imported):
    again = parse_trajectory("".join(map(to_line, imported.events)).encode())
    assert [again.started, *again.events, again.ended] == list(imported.events)
    return again


def test_every_verdict_of_the_original_is_reproduced(cases):
    said = {expected["id"]: {**expected, "output": None} for expected, _ in cases}
    ours = {expected["id"]: _verdict(ToolScan().grade(subject, "compat"), expected) for expected, subject in cases}
    assert ours == said


def _verdict(verdict, like):
    """A verdict of ours in the original's form, but for the texts it prints."""
    executed = [step for step in verdict.details if step["executed"]]
    return {
        "id": like["id"],
        "success": verdict.values["success"],
        "steps": len(verdict.details),
        "output": None,
        "scores": {name: verdict.values[SCORES.get(name, name)] for name in like["scores"]},
        "raw": {name: verdict.values["errors"][COUNTS[name]] for name in like["raw"]},
        "executed": [[step["name"], step["arguments"]] for step in executed],
    }


def test_the_summary_is_the_mean_of_the_originals_scores(cases):
    metric = ToolScan()
    report = metric.summarise([(subject, metric.grade(subject, "compat")) for _, subject in cases], "compat")
    for name in cases[0][0]["scores"]:
        expected = sum(float(said["scores"][name]) for said, _ in cases) / len(cases)
        assert report[SCORES.get(name, name)] == pytest.approx(expected)


@each("mode", ["paper", "strict"])
def test_the_adopted_scores_are_between_0_and_1(cases, mode):
    for _, subject in cases:
        values = ToolScan().grade(subject, mode).values
        assert all(0.0 <= values[name] <= 1.0 for name in (*PATTERNS, "mean_of_seven"))
        assert all(0.0 <= share <= 1.0 for share in values["by_steps_limit"].values())


def test_a_run_without_any_error_is_perfect_either_way(cases):
    clean = [subject for said, subject in cases if said["success"] and set(said["scores"].values()) == {1.0}]
    assert clean
    for subject in clean:
        values = ToolScan().grade(subject, "strict").values
        assert values["errors"]["ifn"] == values["errors"]["ian"] == values["errors"]["rac"] == 0


def test_messages_are_explained_one_by_one(cases):
    for said, subject in cases:
        verdict = ToolScan().grade(subject, "compat")
        assert [step["step"] for step in verdict.details] == list(range(1, said["steps"] + 1))
