"""Errors that the papers name: none in a solution or an honest variation of it, and planted ones are found."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from sandbox_grader.conduct import Conduct
from sandbox_grader.conduct.ground import step_of
from sandbox_grader.conduct.metric import COUNTS
from sandbox_grader.grading.explain import explain
from sandbox_grader.grading.metric import Subject, Verdict
from sandbox_grader.grading.references import references_of
from sandbox_grader.grading.scores import grade
from sandbox_grader.reporting.gallery import gallery
from sandbox_scenarios import Suite
from sandbox_scenarios.model import PlannedCall, PlannedTurn, Scenario, Solution

from bench.truth import case_of, kinds
from sandbox_mcp.engine.trajectory import ReferenceCall, ReferenceTurn, ToolCall, Trajectory
from sandbox_mcp.engine.worlds import names
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from tests.each import each
from tests.grader.conduct.planting import PLANTED, Planting
from tests.grader.milestones.sessions import Play

NAMED = COUNTS[-5:]


@cache
def scenarios(*worlds: str) -> tuple[Scenario, ...]:
    suite = Suite()
    return tuple(scenario for world in worlds or names() for scenario in suite.all(world))


def judged(log: Trajectory, scenario: Scenario | None = None) -> Verdict:
    return Conduct().grade(Subject(log, references_of(scenario, log), scenario), "strict")


def named(log: Trajectory, scenario: Scenario | None = None) -> list[str]:
    """The errors of these classes, as they are explained; what the state says is left out, which takes long."""
    verdict = Conduct().grade(Subject(log, references_of(scenario, log)), "strict")
    return [f"{item['count']}: {item['about']}" for item in verdict.details if item["count"] in NAMED]


@pytest.mark.parametrize("part", range(4))
def test_no_solution_shows_one(part: int):
    shown = {
        scenario.name: found
        for scenario in scenarios()[part::4]
        for solution in scenario.solutions
        if (found := named(RehearsalStage(scenario).rehearse(solution).log, scenario))
    }
    assert shown == {}


@each("world", ["phone", "office"])
def test_honest_variations_of_solutions_show_hardly_any(world: str):
    """What ``python -m bench truth`` plays: other words, talk before and after, more looks, mental arithmetic."""
    played, shown = 0, list[tuple[str, str, list[str]]]()
    for scenario in scenarios(world)[3::41]:
        stage = RehearsalStage(scenario)
        case = case_of(scenario, stage)
        for group, kind, disturb in kinds(aside=False) if case else ():
            solution = disturb(case) if case and group == "honest" else None
            if solution is not None:
                played += 1
                found = named(stage.rehearse(solution).log, scenario)
                shown += [(scenario.name, kind, found)] if found else []
    assert played > 30
    assert len(shown) <= played / 100, shown


@each("world", ["phone", "office"])
def test_nine_in_ten_planted_mistakes_are_found(world: str):
    planted: dict[str, int] = dict.fromkeys(NAMED, 0)
    missed: dict[str, list[str]] = {name: [] for name in NAMED}
    step = {"format_persistence": 12, "hallucinated_arguments": 3}
    for place, scenario in enumerate(scenarios(world)):
        planting = Planting(scenario)
        for name, plants in PLANTED.items():
            for plant in plants if place % step.get(name, 1) == 0 else ():
                solution = plant(planting)
                if solution is not None:
                    planted[name] += 1
                    found = named(planting.stage.rehearse(solution).log, scenario)
                    if not any(item.startswith(name) for item in found):
                        missed[name].append(f"{scenario.name} {plant.__name__}")
    assert [name for name in NAMED if len(missed[name]) > planted[name] / 10] == [], missed
    assert all(planted.values()) or world == "office"


def turn(*calls: tuple[str, Mapping[str, Any]], reply: str = "Done.") -> PlannedTurn:
    return PlannedTurn(tuple((PlannedCall(tool, given),) for tool, given in calls), reply)


def played(name: str, *turns: PlannedTurn) -> tuple[Trajectory, Scenario]:
    scenario = Suite().get(name)
    return RehearsalStage(scenario).rehearse(Solution(turns, concrete=True)).log, scenario


def test_a_made_up_number_is_explained_with_its_event_and_shown_in_the_gallery():
    text = {"phone_number": "+12025550143", "content": "I am at the dentist's until ten."}
    log, scenario = played("late_for_work", turn(("send_message_with_phone_number", text)))
    scores = grade(log, scenario)
    line = next(line for line in explain(scores).splitlines() if "hallucinated arguments" in line)
    assert "'+12025550143'" in line
    assert line.endswith(f"(#{next(event.seq for event in log.events if isinstance(event, ToolCall))})")
    shown = {item.error: item for item in gallery([scores])}
    assert shown["hallucinated arguments"].tool == "send_message_with_phone_number"


@each(
    ("said", "given", "counts"),
    [
        ("Text Ann at +1 (202) 555-0143.", {"to": "+12025550143"}, False),
        ("Text Ann.", {"to": "+12025550143"}, True),
        ("Mail Ann.", {"to": "ann@example.org"}, True),
        ("Mail ann@Example.org.", {"to": "ann@example.org"}, False),
        ("Cancel it.", {"order_id": "A-7731-X"}, True),
        ("Cancel order a-7731-x.", {"order_id": "A-7731-X"}, False),
        ("Cancel it.", {"all": True, "note": None}, False),
    ],
)
def test_without_a_solution_only_what_nothing_can_have_told_is_made_up(said: str, given: dict[str, Any], counts: bool):
    log = Play(opening=said).calls("act", **given).done()
    assert bool(named(log)) is counts


def test_what_a_result_gave_or_the_agent_proposed_is_not_made_up():
    found = Play(opening="Text Ann.").calls("find", name="Ann", result=[{"phone": "+12025550143"}])
    assert named(found.calls("send", to="+12025550143").done()) == []


@each(
    ("written", "worth"), [("3.25", 0.01), ("-1500", 100.0), ("0", 1.0), ("7", 1.0), ("12" + "0" * 400, float("inf"))]
)
def test_what_the_last_digit_of_a_number_is_worth(written: str, worth: float):
    assert step_of(written) == worth


def refers(*calls: ReferenceCall, reply: str = "Done.") -> tuple[tuple[ReferenceTurn, ...], ...]:
    return ((ReferenceTurn(calls=calls, reply=reply),),)


def against(play: Play, *calls: ReferenceCall, reply: str = "Done.") -> list[str]:
    found = Conduct().grade(Subject(play.done(), refers(*calls, reply=reply)), "strict")
    return [item["count"] for item in found.details if item["count"] in NAMED]


@each(
    ("start", "end", "counts"),
    [
        ("2027-03-08 08:00:00", "2027-03-08 18:00:00", []),
        ("2027-03-08 18:00:00", "2027-03-09 00:00:00", ["hallucinated_times"]),
        ("2027-03-08 08:00:00", "2027-03-08 14:00:00", ["hallucinated_times", "arithmetic_slips"]),
    ],
)
def test_ten_hours_that_end_at_six_begin_at_eight(start: str, end: str, counts: Sequence[str]):
    right = {"name": "Fair", "start_time": "2027-03-08 08:00:00", "end_time": "2027-03-08 18:00:00"}
    play = Play(opening="The fair on Monday takes ten hours and ends at 6 PM.")
    play = play.calls("CreateEvent", name="Fair", start_time=start, end_time=end)
    assert sorted(against(play, ReferenceCall(tool="CreateEvent", arguments=right, action=True))) == sorted(counts)


@each(
    ("reply", "wrong"),
    [
        ("3 x 40 = 120.", False),
        ("That is 3 x 40 = 110.", True),
        ("12.50 + 7.25 = 19.75 euros", False),
        ("12.50 + 7.25 + 1 = 19.75 euros", True),
        ("1,200 + 300 = **1,500**", False),
        ("1,200 + 300 = **1,400**", True),
        ("10 / 3 = 3.33", False),
        ("2 + 3 * 4 = 14", False),
        ("2 + 3 * 4 = 20", True),
        ("x = 3", False),
        ("The code is 12-34=56?", True),
    ],
)
def test_sums_that_a_reply_spells_out_are_done_again(reply: str, wrong: bool):
    assert bool(named(Play(opening="How much?").says(reply).done())) is wrong


@each(("said", "counts"), [("64.2 degrees", 0), ("64 degrees", 0), ("about 60 degrees", 0), ("66.4 degrees", 1)])
def test_a_reply_is_held_against_what_solutions_work_out_as_exactly_as_it_is_written(said: str, counts: int):
    play = Play(opening="How warm is it there, in Fahrenheit?").calls("weather", result={"celsius": 17.9})
    looked = ReferenceCall(tool="weather", arguments={}, result={"celsius": 17.9}, action=False)
    found = against(play.says(f"It is {said} Fahrenheit."), looked, reply="It is 64.22 degrees Fahrenheit.")
    assert found == ["arithmetic_slips"] * counts


def test_of_what_several_solutions_work_out_the_first_ones_is_told():
    play = Play(opening="How warm is it there, in Fahrenheit?").calls("weather", result={"celsius": 17.9})
    log = play.says("It is 90 degrees Fahrenheit.").done()
    looked = ReferenceCall(tool="weather", arguments={}, result={"celsius": 17.9}, action=False)
    right = [f"It is {degrees} degrees Fahrenheit." for degrees in (64.22, 65.22, 66.22, 67.22)]
    solutions = [(ReferenceTurn(calls=(looked,), reply=reply),) for reply in right]
    for first in range(len(right)):
        verdict = Conduct().grade(Subject(log, (*solutions[first:], *solutions[:first])), "strict")
        assert f"comes to '{right[first].split()[2]} degrees" in str(verdict.details)


def test_an_error_of_form_persists_only_where_it_had_been_told():
    wrong = turn(
        ("set_wifi_status", {"of": True}), ("set_wifi_status", {"of": False}), ("set_wifi_status", {"on": False})
    )
    assert len(named(*played("wifi_off", wrong))) == 1
    together = PlannedTurn(
        ((PlannedCall("set_wifi_status", {"of": True}), PlannedCall("set_wifi_status", {"of": True})),), ""
    )
    assert named(*played("wifi_off", together)) == []
    other = turn(("set_wifi_status", {"of": True}), ("set_wifi_status", {}), ("set_wifi_status", {"on": "no"}))
    assert named(*played("wifi_off", other)) == []


@each(
    "schema",
    [
        {"properties": None, "required": None},
        {"properties": {"on": True, "of": True}, "required": True},
        {"properties": {"on": {"enum": None}}, "required": [None, {}]},
    ],
)
def test_a_log_may_describe_tools_in_any_way(schema: dict[str, Any]):
    given = ({"of": True}, {}, {"on": "Xyzzy"})
    log, scenario = played("wifi_off", turn(*(("set_wifi_status", arguments) for arguments in given)))
    tools = tuple(replace(tool, input_schema=schema) for tool in log.started.tools)
    found = named(replace(log, started=replace(log.started, tools=tools)), scenario)
    assert found == ["hallucinated_arguments: set_wifi_status got on 'Xyzzy': not a word of it was given"]


def test_what_the_state_forbids_is_no_error_of_form():
    twice = turn(("search_stock", {"query": "Nintendo"}), ("search_stock", {"query": "Nintendo"}))
    log, scenario = played("yen_in_us_dollars_wifi_off", twice)
    assert [item for item in named(log, scenario) if item.startswith("format")] == []


def test_whoever_asks_first_may_take_one_of_several():
    scenario = Suite().get("which_sean")
    asked = RehearsalStage(scenario).rehearse(scenario.solutions[0])
    assert named(asked.log, scenario) == []
    sent = {"phone_number": asked.results["found"][0]["phone_number"], "content": "I bring the oranges on Saturday."}
    log = played(
        "which_sean", turn(("search_contacts", {"name": "Sean Power"}), ("send_message_with_phone_number", sent))
    )
    [found] = [item for item in named(*log) if item.startswith("missing")]
    search = next(event.seq for event in log[0].events if isinstance(event, ToolCall))
    assert found.endswith(f"took one of 2 matches of search_contacts (#{search}) without asking")


def test_verdicts_are_json_and_name_the_tool():
    text = {"phone_number": "+12025550143", "content": "Hello"}
    verdict = judged(*played("late_for_work", turn(("send_message_with_phone_number", text))))
    tools = {item["tool"] for item in json.loads(json.dumps(list(verdict.details))) if item["count"] in NAMED}
    assert tools == {"send_message_with_phone_number"}
