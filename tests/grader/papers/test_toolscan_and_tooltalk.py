"""ToolTalk's and ToolScan's tables, filled from sessions whose figures are known."""

from typing import Any

import pytest
from sandbox_grader.grading.course import SessionCourse
from sandbox_grader.grading.metric import Verdict
from sandbox_grader.grading.scores import Scores
from sandbox_grader.papers import paper_tables
from sandbox_grader.papers.shared.table import LabelledRun
from sandbox_grader.reporting.report import Report
from sandbox_scenarios import Suite


def talked(scenario: str, variant: str = "all_tools", **counts: Any) -> Scores:
    usual = {"success": True, "matches": 1, "predictions": 1, "ground_truths": 1, "bad_actions": 0, "actions": 1}
    classes = {"premature": 0, "faulty_planning": 0, "incorrect_invocation": 0}
    verdict = Verdict({**usual, **classes, **counts})
    return Scores(scenario, scenario, variant, 0, (), "compat", {"tooltalk": verdict}, agent={"model": "GPT-4"})


def scanned(scenario: str, variant: str = "base", world: str = "", **values: float) -> Scores:
    shares = dict.fromkeys(("iac", "rac", "iav", "ife", "iat", "ian", "ifn"), 1.0)
    verdict = Verdict({"success": True, **shares, **values})
    course = SessionCourse(world=world)
    return Scores(
        scenario, scenario, variant, 0, (), "compat", {"toolscan": verdict}, agent={"model": "m"}, course=course
    )


def rows(asked: str, *sessions: Scores) -> dict[str, dict[str, float | None]]:
    """Every row's figures."""
    [table] = paper_tables(asked)
    filled = table.filled([LabelledRun(Report(list(sessions), "compat", "run"))])
    cells = {line.label: zip(table.columns, line.cells, strict=True) for line in filled.rows}
    return {label: {c.name: getattr(cell.found, "mean", None) for c, cell in line} for label, line in cells.items()}


def row(asked: str, *sessions: Scores) -> dict[str, tuple[float | None, float | None]]:
    """Each column's figure and the printed one, of a table with one row."""
    [table] = paper_tables(asked)
    filled = table.filled([LabelledRun(Report(list(sessions), "compat", "run"))])
    [only] = filled.rows
    found = zip(table.columns, only.cells, strict=True)
    return {c.name: (getattr(cell.found, "mean", None), cell.printed) for c, cell in found}


def test_tooltalks_ratios_are_of_sums_by_subset_and_stand_beside_the_printed_ones() -> None:
    found = row(
        "tooltalk/table1",
        talked("tooltalk/AddAlarm-easy", predictions=3),
        talked("Alarm-Calendar-Email-DeleteAlarm-1", success=False, predictions=2, ground_truths=4, bad_actions=1),
        talked("golden_conversation_1", matches=5, predictions=6, ground_truths=6, actions=3),
        talked("office_tiles_late"),
    )
    assert found["Easy Precision"] == (pytest.approx(1 / 3), 69.2)
    assert found["Hard Success rate"] == (0.5, 50.0)
    assert found["Hard Precision"][0] == pytest.approx(6 / 8)
    assert found["Hard Recall"][0] == pytest.approx(6 / 10)
    assert found["Hard Incorrect action rate"][0] == pytest.approx(1 / 4)


def test_failures_are_shared_out_among_their_classes_with_and_without_documentation() -> None:
    sessions = (
        talked("A-easy", premature=1, faulty_planning=2, incorrect_invocation=1),
        talked("A-easy", "all_tools_no_documentation", faulty_planning=1),
    )
    documented, bare = row("tooltalk/table2", *sessions), row("tooltalk/table4", *sessions)
    assert [value for value, _ in documented.values()] == [0.25, 0.5, 0.25, 4]
    assert [value for value, _ in bare.values()] == [0.0, 1.0, 0.0, 1]
    assert documented["Total failures"][1] == 50


def test_feedback_and_format_are_pairings() -> None:
    sessions = (
        scanned("q1", "base"),
        scanned("q1", "no_feedback", ian=0.5),
        scanned("q1", "text_actions", ife=0.25),
        scanned("q2", "no_feedback", ian=0.0),
    )
    assert row("toolscan/figure3", *sessions)["IAN"][0] == pytest.approx(0.5)
    assert row("toolscan/figure4", *sessions)["IFE"][0] == pytest.approx(-0.75)
    assert row("toolscan/table4", *sessions)["IAN"][0] == 1.0


def test_repeating_goes_with_leaving_out_where_it_does() -> None:
    sessions = [scanned(f"q{n}", "base", rac=n / 10, iac=n / 20) for n in range(6)]
    assert row("toolscan/correlation", *sessions)["RAC-IAC"][0] == pytest.approx(1.0)
    alike = [scanned(f"q{n}", "base", rac=n / 10) for n in range(6)]
    assert row("toolscan/correlation", *alike)["RAC-IAC"][0] is None  # nothing was ever left out


def test_what_is_beside_the_point_is_paired_with_the_question_that_it_extends_by_kind() -> None:
    suite = Suite()
    [constraint, *_], [request, *_] = suite.tagged("irrelevance:constraint"), suite.tagged("irrelevance:request")
    sessions = (
        scanned(constraint, ifn=0.5),
        scanned(str(suite.original(constraint)), ifn=1.0),
        scanned(request, ifn=0.25, success=0.0),
        scanned(str(suite.original(request)), ifn=1.0),
        scanned("alone", ifn=0.0),
    )
    found = row("toolscan/irrelevance", *sessions)
    assert found["IFN (constraint)"][0] == pytest.approx(-0.5)
    assert found["IFN (request)"][0] == pytest.approx(-0.75)
    assert found["IFN"][0] == pytest.approx(-0.625)
    assert found["Success Rate (request)"][0] == pytest.approx(-1.0)
    assert found["IFN (parameters)"][0] is None
    assert row("toolscan/table4", *sessions)["IFN"][0] == pytest.approx(2 / 3)  # the plain questions alone


def test_error_rates_stand_by_form_of_a_call() -> None:
    sessions = (scanned("q1", ife=1.0), scanned("q2", ife=0.5), scanned("q1", "text_actions", ife=0.25))
    found = rows("toolscan/formats", *sessions)
    assert {label: line["IFE"] for label, line in found.items()} == {"JSON": 0.25, "free text": 0.75}


def test_worlds_stand_beside_how_alike_the_names_of_their_tools_are() -> None:
    values = {"sports": 1.0, "travel": 0.5, "spaceflight": 0.25}
    sessions = [scanned(f"{world}_q", world=world, iac=value, success=value) for world, value in values.items()]
    found = rows("toolscan/figure5", *sessions)
    assert {world: line["IAC"] for world, line in found.items()} == values
    likeness = [found[world]["similarity"] or 0.0 for world in values]
    assert likeness == sorted(likeness)
    assert 0 < likeness[0] < likeness[-1] < 1
    falls = row("toolscan/similarity", *sessions)["similarity-IAC"][0]
    assert falls is not None
    assert falls < -0.9
    assert rows("toolscan/figure5", scanned("q", world="nowhere"))["nowhere"]["similarity"] is None


def why_empty(asked: str, *sessions: Scores) -> dict[str, str]:
    [table] = paper_tables(asked)
    filled = table.filled([LabelledRun(Report(list(sessions), "compat", "run"))])
    return {column: missing.never or "run" for missing in filled.missing for column in missing.columns}


def test_a_cell_that_no_further_run_would_fill_says_so() -> None:
    assert why_empty("tooltalk/table2", talked("golden_conversation_1"))["Total failures"].startswith("nothing failed")
    assert why_empty("tooltalk/table4", talked("golden_conversation_1"))["Total failures"] == "run"
    silent = talked("golden_conversation_1", matches=0, predictions=0, actions=0, success=False)
    found = why_empty("tooltalk/table1", silent)
    assert (found["Easy Precision"], found["Hard Precision"][:12]) == ("run", "the sessions")
    alike = scanned("q1", rac=0.5), scanned("q2", rac=0.75), scanned("q3", rac=1.0)
    found = why_empty("toolscan/correlation", *alike)
    assert (found["RAC-IAC"][:11], found["RAC-IAC without feedback"]) == ("one of both", "run")
