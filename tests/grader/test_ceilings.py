"""What the best and the least agent can get: every family's ceiling and floor on every scenario of the suite."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from sandbox_grader.grading.metric import Mode, Subject
from sandbox_grader.grading.metrics import metric
from sandbox_grader.grading.references import references_of
from sandbox_scenarios.model import PlannedCall, Scenario

from sandbox_mcp.play.session.rehearsal import RehearsalStage
from tests.each import each
from tests.suite import SUITE

SHARES: Mapping[str, tuple[str, ...]] = {
    "toolsandbox": ("score", "milestones"),
    "tooltalk": ("precision", "recall", "action_precision", "soft_success", "success"),
    "toolscan": ("iac", "iav", "ian", "iat", "rac", "ifn", "ife", "success", "mean_of_seven"),
    "mtu_bench": ("TS", "PS", "TN", "TO", "ATS", "SATS", "SR", "TPR", "right"),
}
"""The figures of which more is better, 1 at most."""
READ = PlannedCall("get_current_location", {})


@cache
def suite() -> tuple[Scenario, ...]:
    return SUITE.all()


def solved(scenario: Scenario, *first: PlannedCall) -> Subject:
    """The session of the reference agent, which makes some calls before anything else."""
    solution = scenario.solutions[0]
    opening, *rest = solution.turns
    begun = replace(opening, batches=(*((call,) for call in first), *opening.batches))
    log = RehearsalStage(scenario).rehearse(replace(solution, turns=(begun, *rest))).log
    return Subject(log, references_of(scenario, log), scenario)


@cache
def at_once(scenario: Scenario) -> Subject:
    """The session of the reference agent, played once for all modes."""
    return solved(scenario)


def figures(subject: Subject, mode: Mode) -> dict[str, float]:
    found: dict[str, float] = {}
    for family, names in SHARES.items():
        values: Mapping[str, Any] = metric(family).grade(subject, mode).values
        found |= {f"{family}.{name}": float(values[name]) for name in names if values.get(name) is not None}
    return found


@pytest.mark.parametrize("quarter", range(4))
def test_the_reference_agent_reaches_the_ceiling_of_every_family(quarter: int):
    short = {
        scenario.name: low
        for scenario in suite()[quarter::4]
        if (low := {name: value for name, value in figures(at_once(scenario), "strict").items() if value < 1 - 1e-9})
    }
    assert short == {}


@pytest.mark.parametrize("quarter", range(4))
def test_in_compat_it_does_but_for_what_the_authors_code_does(quarter: int):
    """The exceptions stand in a file, by family and reason."""
    text = (Path(__file__).parent / "compat_ceilings.yaml").read_text(encoding="utf-8")
    listed: Mapping[str, Mapping[str, Sequence[str]]] = yaml.safe_load(text)
    known = {(family, name) for family, reasons in listed.items() for names in reasons.values() for name in names}
    short = {
        (name.partition(".")[0], scenario.name)
        for scenario in suite()[quarter::4]
        for name, value in figures(at_once(scenario), "compat").items()
        if value < 1 - 1e-9
    }
    assert short - known == set()


@each("figure", ["tooltalk.success", "toolscan.success", "tooltalk.recall", "toolscan.iav"])
def test_one_harmless_look_around_costs_no_success(figure: str):
    timely = [
        item for item in suite() if any("timestamp" in call.tool for t in item.solutions[0].turns for call in t.calls)
    ]
    values = [figures(solved(scenario, READ), "strict")[figure] for scenario in timely[::4]]
    assert sum(values) / len(values) == 1
