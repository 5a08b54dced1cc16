"""Families of the hard tier: references are right, nothing else earns anything, no instance gives away another."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from sandbox_grader.milestones.baselines import idle, refusing
from sandbox_grader.milestones.strict import evaluate
from sandbox_scenarios import Scenario, Suite
from sandbox_scenarios.build import MAX_CALLS
from sandbox_scenarios.lint import lint
from sandbox_scenarios.loader import BUILT_IN
from sandbox_scenarios.model import PlannedCall, Solution
from sandbox_scenarios.tiers import MECHANISM, MECHANISMS, mechanisms_of

from sandbox_mcp.engine.trajectory import MemoryLog
from sandbox_mcp.play.session import SessionSpec
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from sandbox_mcp.play.session.session import Session
from sandbox_mcp.play.users.scripted import ScriptedUser
from tests.clients.sessions import SUITE
from tests.conftest import ROOT

FAMILIES = SUITE.tagged("tier:hard")


def score(scenario: Scenario, solution: Solution) -> float:
    return evaluate(scenario, RehearsalStage(scenario).rehearse(solution).log).score


def but(solution: Solution, change: "dict[str, dict[str, object] | None]") -> Solution:
    """A solution whose last call of a tool has other arguments, or is left out."""
    [turn] = solution.turns
    batches = list(turn.batches)
    for tool, arguments in change.items():
        place = max(number for number, (call,) in enumerate(batches) if call.tool == tool)
        [call] = batches.pop(place)
        if arguments is not None:
            batches.insert(place, (PlannedCall(tool, {**call.arguments, **arguments}),))
    return replace(solution, turns=(replace(turn, batches=tuple(batches)),))


@pytest.mark.parametrize("name", FAMILIES)
def test_references_score_1_and_doing_nothing_or_refusing_0(name: str) -> None:
    for instance in (1, 2, 3):
        scenario = SUITE.get(f"{name}@{instance}")
        assert score(scenario, scenario.solutions[0]) == 1
        assert evaluate(scenario, idle(scenario)).score == evaluate(scenario, refusing(scenario)).score == 0


@pytest.mark.parametrize("name", FAMILIES)
def test_a_tape_of_one_instance_earns_nothing_in_another(name: str) -> None:
    one, other = SUITE.get(f"{name}@1"), SUITE.get(f"{name}@2")
    assert score(other, one.solutions[0]) == 0


@pytest.mark.parametrize("name", FAMILIES)
def test_families_are_judged_by_state_and_of_their_size(name: str) -> None:
    scenario = SUITE.get(f"{name}@1")
    calls = [call for turn in scenario.solutions[0].turns for call in turn.calls]
    assert 12 <= len(calls) <= 40
    assert scenario.judge == "state"
    assert not any(hasattr(part, "content") for item in scenario.milestones for part in item.constraints)
    assert "tier:hard" in scenario.tags
    assert lint(SUITE, [name]) == ()


SHOWN: Mapping[str, Callable[[Scenario], bool]] = {
    "event_time": lambda scenario: any(event.at is not None for event in scenario.events),
    "event_state": lambda scenario: any(event.at is None for event in scenario.events),
    "faults": lambda scenario: bool(scenario.faults),
    "dual_control": lambda scenario: bool(scenario.user.script.does),
    "call_budget": lambda scenario: scenario.max_calls < MAX_CALLS,
    "persona": lambda scenario: bool(scenario.user.personas),
}
"""Mechanisms that a scenario itself shows."""


@pytest.mark.parametrize("name", FAMILIES)
def test_families_are_tagged_with_their_mechanisms(name: str) -> None:
    scenario = SUITE.get(f"{name}@1")
    tagged = {tag.removeprefix(MECHANISM) for tag in scenario.tags if tag.startswith(MECHANISM)}
    assert tagged <= {*MECHANISMS}
    assert len(tagged) >= 3
    assert {mechanism for mechanism, shown in SHOWN.items() if shown(scenario)} == tagged & {*SHOWN}


@pytest.mark.parametrize("name", [name for name in FAMILIES if "mechanism:call_budget" in SUITE.get(name).tags])
def test_a_user_says_how_many_calls_there_are_and_they_are_enough(name: str) -> None:
    scenario = SUITE.get(f"{name}@1")
    calls = [call for turn in scenario.solutions[0].turns for call in turn.calls]
    assert re.search(rf"\b{scenario.max_calls}\b", scenario.user.opening)
    assert 1.1 * len(calls) <= scenario.max_calls <= 1.6 * len(calls)


def test_each_mechanism_that_agents_meet_is_in_four_families() -> None:
    having = Counter(mechanism for name in FAMILIES for mechanism in mechanisms_of(SUITE.get(name)))
    assert {name for name in MECHANISMS if having[name] < 4} <= {"memory", "trial"}


def test_the_page_on_the_suite_tells_which_families_have_which_mechanisms() -> None:
    told = (ROOT / "docs/suite.md").read_text()
    for mechanism in MECHANISMS:
        having = sorted(name for name in FAMILIES if mechanism in mechanisms_of(SUITE.get(name)))
        assert f"| `{mechanism}` | {MECHANISMS[mechanism]} | {', '.join(having)} |" in told


def test_families_of_the_desk_offer_all_of_its_tools() -> None:
    scenario = SUITE.get("stock_count@1")
    assert {*scenario.tools} == {*scenario.home.agent_tools}
    assert len(scenario.tools) >= 40


def test_a_panel_locks_when_its_line_starts() -> None:
    scenario = SUITE.get("panel_by_trial@1")
    session = Session(SessionSpec(scenario), ScriptedUser.of(scenario.user), MemoryLog())
    session.begin()
    press = next(call for call in scenario.solutions[0].turns[0].calls if call.tool == "press_key")
    errors = [session.call(press.tool, press.arguments).error for _ in range(18)]
    assert [error is None for error in errors] == [True] * 17 + [False]


def test_one_early_word_forgotten_spoils_the_rota() -> None:
    scenario = SUITE.get("duty_rota@1")
    given = [call for turn in scenario.solutions[0].turns for call in turn.calls if call.tool == "assign_duty"]
    people = {call.arguments["person"] for call in given}
    last = given[-1].arguments["person"]
    other = next(one for one in sorted(people) if one != last)
    turns = list(scenario.solutions[0].turns)
    [*batches, _] = turns[-1].batches
    wrong = PlannedCall("assign_duty", {**given[-1].arguments, "person": other})
    turns[-1] = replace(turns[-1], batches=(*batches, (wrong,)))
    assert score(scenario, replace(scenario.solutions[0], turns=tuple(turns))) == 0


def test_one_dial_beside_the_mark_spoils_the_batch() -> None:
    scenario = SUITE.get("mixer_by_trial@1")
    marks = [call for (call,) in scenario.solutions[0].turns[0].batches if call.tool == "set_dials"][-1].arguments
    beside = {"dial_b": marks["dial_b"] + 1}
    assert score(scenario, but(scenario.solutions[0], {"set_dials": beside})) == 0


def without(solution: Solution, tool: str) -> Solution:
    """A solution without its last call of a tool."""
    turns = [*solution.turns]
    place = max(number for number, turn in enumerate(turns) if any(call.tool == tool for call in turn.calls))
    batches = [*turns[place].batches]
    batches.pop(max(number for number, (call,) in enumerate(batches) if call.tool == tool))
    turns[place] = replace(turns[place], batches=tuple(batches))
    return replace(solution, turns=tuple(turns))


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("choir_hall", "DeleteEvent"),  # of who withdrew
        ("choir_hall", "CreateEvent"),
        ("lift_list", "send_message_with_phone_number"),  # to who loses a seat
        ("recalled_pallets", "block_pallet"),
        ("tour_calls", "add_reminder"),
        ("tour_calls", "ModifyEvent"),
    ],
)
def test_one_deed_left_out_spoils_the_whole(name: str, tool: str) -> None:
    scenario = SUITE.get(f"{name}@2")
    assert score(scenario, without(scenario.solutions[0], tool)) == 0


def test_one_hold_that_is_not_needed_spoils_the_branch() -> None:
    scenario = SUITE.get("credit_holds@1")
    held = [
        call.arguments["number"] for (call,) in scenario.solutions[0].turns[0].batches if call.tool == "hold_customer"
    ]
    rows = scenario.world.table("customer").values()
    branch = next(row["branch"] for row in rows if row["number"] == held[0])
    [even] = [
        row["number"]
        for row in rows
        if row["branch"] == branch and row["status"] == "active" and row["number"] not in held
    ]
    assert score(scenario, but(scenario.solutions[0], {"hold_customer": {"number": even}})) == 0


def test_the_crew_falls_ill_in_the_midst_of_booking() -> None:
    scenario = SUITE.get("crew_week@1")
    session = Session(SessionSpec(scenario), ScriptedUser.of(scenario.user), MemoryLog())
    session.begin()
    books = [call for (call,) in scenario.solutions[0].turns[0].batches if call.tool == "book_crew"]
    told = ["notices" in session.call(call.tool, call.arguments).structured for call in books]
    assert told == [False, False, False, True, False, False, False, False]


def test_the_desk_tells_20_rows_at_once_and_nothing_that_is_hidden() -> None:
    scenario = SUITE.get("credit_holds@1")
    session = Session(SessionSpec(scenario), ScriptedUser.of(scenario.user), MemoryLog())
    session.begin()
    first = session.call("list_invoices", {}).structured
    assert len(first["rows"]) == 20 < first["total"]
    assert session.call("list_invoices", {"page": first["pages"] + 1}).error
    mixers = Session(SessionSpec(SUITE.get("mixer_by_trial@1")), ScriptedUser.of(scenario.user), MemoryLog())
    mixers.begin()
    shown = mixers.call("list_mixers", {}).structured["rows"]
    assert {"gains", "offsets"}.isdisjoint(shown[0])


def test_worlds_of_ours_side_by_side_are_no_worlds_of_the_caller():
    suite = Suite([BUILT_IN / "hard" / "phone_and_office.yaml"])
    assert suite.world("texted_meetings") == "phone+office"
    assert suite.own_files() is not None
