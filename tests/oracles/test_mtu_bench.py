"""Row by row and in total, the verdicts of MTU-Bench's own scorer on real and on synthetic answers.

Every case goes the whole way: the benchmark's files are imported, written as logs, read again, and graded in compat.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sandbox_grader.grading.metric import Subject
from sandbox_grader.importers import importer
from sandbox_grader.papers.mtu_bench import MtuBench
from sandbox_grader.papers.mtu_bench.rows import CrashPolicy

from sandbox_mcp.engine.trajectory import parse_trajectory, to_line
from tests.each import each

SYNTHETIC: Mapping[CrashPolicy, str] = {"no_call": "metrics_nocall", "wrong": "metrics_wrong"}
COLUMNS = {"average": "avg"}
BESIDE = {"upstream_average_score"}
"""Upstream multiplies its average by 100 once too often; the proper one stands beside it."""


@dataclass(frozen=True)
class Case:
    """Files to grade, how a dying parser counts, and what upstream says of rows and totals."""

    name: str
    setting: str
    files: tuple[Path, ...]
    policy: CrashPolicy
    expected: Mapping[str, Any]
    totals: Mapping[str, float]


def cases(data: Path) -> Iterator[Case]:
    folder = data / "mtu_bench"
    for path in sorted((folder / "oracle").glob("*.json")):
        for setting, expected in _load(path).items():
            benchmark = folder / "benchmark" / f"{setting}_eval.jsonl"
            (responses,) = (folder / "responses").glob(f"{setting}_*.jsonl")
            policy: CrashPolicy = "wrong" if expected["parser_crash"] == "wrong" else "no_call"
            files = (benchmark, responses)
            yield Case(f"{path.stem}-{setting}", setting, files, policy, expected, expected["metrics"])
    for path in sorted((folder / "synthetic").glob("*/expected.json")):
        expected = _load(path)
        setting = expected["rows"][0]["id"].partition("_")[0]
        files = (folder / "benchmark" / f"{setting}_eval.jsonl", path.with_name("responses.jsonl"))
        for policy, key in SYNTHETIC.items():
            yield Case(f"{path.parent.name}-{policy}", setting, files, policy, expected, expected[key])


def _load(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8"))


@cache
def subjects(files: tuple[Path, ...]) -> Sequence[Subject]:
    """The sessions of an import as the grader gets them: from the bytes of their logs."""
    logs = ["".join(map(to_line, session.events)).encode() for session in importer("mtu")(files)]
    trajectories = list(map(parse_trajectory, logs))
    return [Subject(trajectory, trajectory.started.reference) for trajectory in trajectories]


def graded(case: Case, policy: CrashPolicy) -> tuple[dict[str, Any], dict[str, Mapping[str, Any]]]:
    """A case's summary of its setting, and its rows by id."""
    metric = MtuBench(parser_crash=policy)
    verdicts = [(subject, metric.grade(subject, "compat")) for subject in subjects(case.files)]
    rows = {row["id"]: row for _, verdict in verdicts for row in verdict.details}
    return dict(metric.summarise(verdicts, "compat")[case.setting]), rows


@pytest.fixture(scope="module")
def every_case(benchmark_data: Path) -> list[Case]:
    found = list(cases(benchmark_data))
    if not found:
        pytest.skip("the data has no verdicts on MTU-Bench")
    return found


def same(key: str, found: Any, want: Any) -> bool:
    """Whether two entries of a row are equal; of calls the order matters too, which equality of objects overlooks."""
    return found == want and (key not in {"gt", "pred"} or json.dumps(found) == json.dumps(want))


def faults(case: Case) -> Iterator[str]:
    """Where our rows differ from upstream's."""
    _, rows = graded(case, case.policy)
    for want in case.expected["rows"]:
        found = rows.get(want["id"], {})
        if "crash" in found and "crash" not in want:
            yield f"{case.name}: {want['id']} counts as one that the parser dies of"
        for key, value in want.items():
            if not same(key, found.get(key), value):
                yield f"{case.name}: {want['id']}: {key} is {found.get(key)!r}, upstream says {value!r}"


def test_every_row(every_case: list[Case]) -> None:
    found = [fault for case in every_case for fault in faults(case)]
    assert not found, f"{len(found)} differences, among them:\n" + "\n".join(found[:10])


def test_no_row_is_missing_or_made_up(every_case: list[Case]) -> None:
    for case in every_case:
        _, rows = graded(case, case.policy)
        assert sorted(rows) == sorted(row["id"] for row in case.expected["rows"]), case.name


def test_totals(every_case: list[Case]) -> None:
    for case in every_case:
        summary, _ = graded(case, case.policy)
        want = {COLUMNS.get(name, name): value for name, value in case.totals.items() if name not in BESIDE}
        assert {name: summary[name] for name in want} == want, case.name


def test_totals_do_not_depend_on_the_order_of_logs(every_case: list[Case]) -> None:
    for case in every_case:
        metric = MtuBench(parser_crash=case.policy)
        verdicts = [(subject, metric.grade(subject, "compat")) for subject in subjects(case.files)]
        by_name = sorted(verdicts, key=lambda graded: graded[0].trajectory.started.session)
        summaries = [metric.summarise(order, "compat")[case.setting] for order in (verdicts, by_name, verdicts[::-1])]
        columns = [{name: summary[name] for name in summary if name in {*case.totals, "avg"}} for summary in summaries]
        assert columns[0] == columns[1] == columns[2], case.name


def test_totals_under_the_other_policy_stand_beside(every_case: list[Case]) -> None:
    for case in every_case:
        other: CrashPolicy = "wrong" if case.policy == "no_call" else "no_call"
        summary, rows = graded(case, other)
        want = {COLUMNS.get(name, name): value for name, value in case.totals.items() if name not in BESIDE}
        if any("crash" in row for row in rows.values()):
            assert summary["parser_crash"][case.policy] == want, case.name
        else:
            assert "parser_crash" not in summary


def test_rows_that_the_parser_dies_of(every_case: list[Case]) -> None:
    for case in every_case:
        summary, _ = graded(case, case.policy)
        crashed = summary.get("parser_crash", {"rows": []})["rows"]
        assert sorted(crashed) == sorted(case.expected["parser_crash_rows"]), case.name


def test_numbers_of_rows_and_dialogues(every_case: list[Case]) -> None:
    for case in every_case:
        summary, rows = graded(case, case.policy)
        assert summary["n"] == len(rows) == case.expected.get("n_rows", len(rows)), case.name
        assert summary["dialogues"] == case.expected.get("n_dialogues", summary["dialogues"]), case.name


def test_classes_of_errors(every_case: list[Case]) -> None:
    for case in (case for case in every_case if "error_types_ours" in case.expected):
        summary, _ = graded(case, case.policy)
        assert {name: count for name, count in summary["errors"].items() if count} == case.expected["error_types_ours"]


@each(
    ("setting", "hard", "printed"),
    [("S-S", 52, {"TS": 88.46, "PS": 67.31, "avg": 77.88}), ("S-M", 39, {"TN": 57.77, "TO": 58.37, "avg": 58.07})],
)
def test_the_rows_of_the_hard_set_score_as_the_paper_prints(
    every_case: list[Case], setting: str, hard: int, printed: dict[str, float]
) -> None:
    """The files of the single-turn settings begin with the hard set, which nothing in them says."""
    totals = {"S-S": {"TS": 88.46, "PS": 57.69}, "S-M": {"TN": 62.55, "TO": 65.03}}[setting]
    case = next(
        (case for case in every_case if case.setting == setting and totals.items() <= case.totals.items()), None
    )
    if case is None:
        pytest.skip("the data has other answers than the released ones of GPT-4")
    verdicts = [(subject, MtuBench().grade(subject, "compat")) for subject in subjects(case.files)[:hard]]
    assert printed.items() <= MtuBench().summarise(verdicts, "compat")[setting].items()


def test_the_other_modes_grade_the_same_sessions(every_case: list[Case]) -> None:
    for case in every_case:
        for mode in ("paper", "strict"):
            verdicts = [MtuBench().grade(subject, mode) for subject in subjects(case.files)]
            assert sum(len(verdict.details) for verdict in verdicts) == len(case.expected["rows"]), case.name
