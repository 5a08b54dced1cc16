"""ToolSandbox's tables: what counts in which column."""

from typing import Any

from sandbox_grader.grading.metric import Verdict
from sandbox_grader.grading.scores import Scores
from sandbox_grader.papers import paper_tables
from sandbox_grader.papers.shared.table import LabelledRun
from sandbox_grader.reporting.report import Report

CALM = {"invention": 0, "leak": 0, "as_assistant": 0, "early_end": 0, "endless": 0}


def session(scenario: str, score: float, variant: str, *categories: str, **user: Any) -> Scores:
    verdicts = {
        "toolsandbox": Verdict({"score": score, "turn_count": 7}),
        "user_conduct": Verdict({**CALM, **user, "spoiled": False}),
    }
    return Scores(scenario, scenario, variant, 0, categories, "compat", verdicts, agent={"model": "GPT-4o"})


SESSIONS = (
    session("a", 1.0, "base", "single_tool_call"),
    session("b", 0.5, "base", "multiple_tool_call", "state_dependency", invention=2),
    session("a", 0.25, "3_distraction_tools", "single_tool_call", endless=1),
    session("a", 0.75, "tool_name_scrambled", "single_tool_call"),
)


def cells(table: str) -> dict[str, Any]:
    [found] = paper_tables(f"toolsandbox/{table}")
    [row] = found.filled([LabelledRun(Report(list(SESSIONS), "compat", "run"))]).to_json()["rows"]
    return {name: (cell["value"], cell["printed"]) for name, cell in row["cells"].items()}


def test_a_scrambled_variant_counts_under_itself_alone() -> None:
    found = cells("table5")
    assert (found["0 DT"][0], found["3 DT"][0], found["TNS"][0], found["AT"][0]) == (75.0, 25.0, 75.0, None)


def test_a_scenario_counts_in_each_of_its_categories() -> None:
    found = cells("table5")
    assert (found["MTC"][0], found["SD"][0], found["II"][0]) == (50.0, 50.0, None)


def test_turns_are_counted_and_not_shares() -> None:
    assert cells("table11")["Avg"][0] == 7.0


def test_errors_of_users_are_told_apart_beside_the_printed_ones() -> None:
    assert cells("table3") == {"Hallucination": (25.0, 6.9), "IF": (25.0, 1.11), "Total Error": (50.0, 8.02)}
