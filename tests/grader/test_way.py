"""A log's way to its score is short: calls of our functions, modules and depth, counted as an interpreter runs them."""

import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

import pytest
from sandbox_grader import grade

from sandbox_mcp.play.session.rehearsal import RehearsalStage
from tests.conftest import ROOT
from tests.suite import SUITE

OURS = tuple(str(ROOT / package) for package in ("sandbox_mcp", "grader", "scenarios"))


class Way(NamedTuple):
    """Calls of our functions (comprehensions and resumed generators count), their modules, and how deep they lie."""

    calls: int
    modules: int
    depth: int


def way(work: Callable[[], object]) -> Way:
    """Count what a piece of work calls."""
    modules, stack, deepest = Counter[str](), list[bool](), 0

    def count(frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal deepest
        if event == "call":
            ours = frame.f_code.co_filename.startswith(OURS)
            stack.append(ours)
            if ours:
                modules[frame.f_code.co_filename] += 1
                deepest = max(deepest, sum(stack))
        elif event == "return" and stack:
            stack.pop()

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return Way(modules.total(), len(modules), deepest)


@pytest.mark.parametrize(
    ("families", "most"),
    [(("toolsandbox",), Way(calls=500, modules=40, depth=20)), ((), Way(calls=1090, modules=78, depth=20))],
    ids=["milestones", "all families"],
)
def test_a_log_of_six_events_is_graded_in_few_calls(families: tuple[str, ...], most: Way) -> None:
    scenario = SUITE.get("wifi_off")
    log = RehearsalStage(scenario).rehearse(scenario.solutions[0]).log
    grade(log, scenario, metrics=families)  # what all sessions of a scenario share is worked out with the first
    took = way(lambda: grade(log, scenario, metrics=families))
    assert took.calls > 100
    assert all(here <= limit for here, limit in zip(took, most, strict=True)), f"{took}, at most {most}"
