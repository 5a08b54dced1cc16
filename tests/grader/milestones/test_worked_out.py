"""What an agent works out without the tool that computes it."""

from dataclasses import replace

from sandbox_grader.milestones import strict
from sandbox_grader.milestones.baselines import idle, refusing
from sandbox_grader.milestones.reasons import details
from sandbox_scenarios.model import Scenario, Solution

from bench.truth import case_of
from bench.truth_turns import in_the_head
from sandbox_mcp.engine.trajectory import Trajectory
from sandbox_mcp.engine.worlds import named
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from tests.each import each
from tests.suite import SUITE

COMPUTING = frozenset(name for name, tool in named("phone").agent_tools.items() if tool.computes)
NAMES = (
    "castle_in_miles",
    "oven_in_celsius",
    "days_to_reconciliation",
    "milwaukee_low_fahrenheit",
    "when_the_dough_is_done",
)


def reckoned(scenario: Scenario, *, without: str = "", reply: str = "") -> Trajectory:
    """The session of an agent that makes no computing call, and perhaps leaves out another one or replies otherwise."""
    stage = RehearsalStage(scenario)
    case = case_of(scenario, stage)
    solution = in_the_head(case) if case else None
    assert solution is not None
    turns = [
        replace(turn, batches=tuple(batch for batch in turn.batches if batch[0].tool != without))
        for turn in solution.turns
    ]
    if reply:
        turns[-1] = replace(turns[-1], reply=reply)
    return stage.rehearse(Solution(tuple(turns))).log


@each("name", NAMES)
def test_mental_arithmetic_keeps_the_score(name: str):
    scenario = SUITE.get(name)
    log = reckoned(scenario)
    assert not any(getattr(event, "tool", None) in COMPUTING for event in log.events)
    assert strict.evaluate(scenario, log).score == 1


def test_a_rounded_result_will_do():
    scenario = SUITE.get("oven_in_celsius")
    assert strict.evaluate(scenario, reckoned(scenario, reply="Set the oven to about 190 °C.")).score == 1


def test_a_wrong_result_earns_nothing_and_says_why():
    scenario = SUITE.get("oven_in_celsius")
    result = strict.evaluate(scenario, reckoned(scenario, reply="Set it to 210 degrees Celsius."))
    assert result.score == 0
    found = next(item for item in details(scenario, result) if item["kind"] == "milestone")
    assert found["effective"] == 0


def test_nothing_is_worked_out_from_what_was_never_looked_up():
    scenario = SUITE.get("milwaukee_low_fahrenheit")
    log = reckoned(scenario, without="search_weather_around_lat_lon")
    assert strict.evaluate(scenario, log).score == 0


@each("name", NAMES)
def test_whoever_says_nothing_has_worked_out_nothing(name: str):
    scenario = SUITE.get(name)
    assert strict.evaluate(scenario, idle(scenario)).score == 0
    assert strict.evaluate(scenario, refusing(scenario)).score == 0


def test_computing_tools_need_neither_state_nor_clock():
    from sandbox_mcp.engine.tools import Bound, attempt

    for name in COMPUTING:
        tool = SUITE.get(NAMES[0]).home.agent_tools[name]
        stage = RehearsalStage(SUITE.get(NAMES[0]))
        world = stage.rehearse(Solution(())).world
        arguments = {item.name: "kilometer" if item.name.endswith("unit") else 1 for item in tool.parameters}
        assert not attempt(world.begin(), Bound(tool, arguments)).reads
