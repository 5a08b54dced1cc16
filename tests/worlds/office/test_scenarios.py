"""The office's scenarios: as many and as rich as ToolTalk's, each solved by its reference and by nothing less."""

from collections import Counter
from dataclasses import replace

from sandbox_grader import grade
from sandbox_scenarios import Scenario

from sandbox_mcp.engine.world.fixed import FixedRows
from sandbox_mcp.engine.worlds import named
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from tests.each import each
from tests.scenarios.playing import solved
from tests.suite import SUITE

EVERY = [item for item in map(SUITE.get, SUITE.names("office")) if "tier:hard" not in item.tags]
EASY = [item for item in EVERY if "one_tool" in item.path]
HARD = [item for item in EVERY if item not in EASY]
TOOLTALK = {
    "account": 11,
    "alarm": 12,
    "event": 34,
    "email": 18,
    "message": 13,
    "reminder": 32,
    "weather_day": 52,
    "climate": 5,
}
"""How many entries ToolTalk's eight databases have."""


def called(scenario: Scenario) -> list[str]:
    return [call.tool for turn in scenario.solutions[0].turns for call in turn.calls]


def plug_ins(scenario: Scenario) -> set[str]:
    return {scenario.home.agent_tools[name].domain for name in called(scenario)}


def test_there_are_28_easy_and_50_hard_ones() -> None:
    assert (len(EASY), len(HARD)) == (28, 50)


def test_every_tool_has_an_easy_one_of_its_own() -> None:
    assert {called(scenario)[-1] for scenario in EASY} == set(named("office").agent_tools)


def test_an_easy_one_stays_within_a_plug_in() -> None:
    assert [scenario.name for scenario in EASY if len(plug_ins(scenario)) > 1] == []


def test_a_hard_one_needs_three_plug_ins_three_calls_and_several_turns() -> None:
    simple = [
        item.name
        for item in HARD
        if len(plug_ins(item)) < 3 or len(called(item)) < 3 or len(item.solutions[0].turns) < 2
    ]
    assert simple == []


def test_the_offices_hold_at_least_as_much_as_the_original_databases() -> None:
    home = named("office")
    held: Counter[str] = Counter()
    offices = {SUITE.lineage(item.name)[-1]: item for item in HARD if not item.name.startswith("office_guest")}
    for scenario in offices.values():
        held.update({table: len(scenario.world.table(table)) for table in home.state_tables})
    held.update({name: len(FixedRows.of(home.tables[name]).rows) for name in ("weather_day", "climate")})
    assert {name: count for name, count in TOOLTALK.items() if held[name] < count} == {}


@each("mode", ["strict", "paper"])
def test_every_reference_scores_1_and_the_user_ends_it(mode: str) -> None:
    for scenario in EVERY:
        log = solved(scenario)
        assert log.ended is not None, (scenario.name, [getattr(event, "content", event) for event in log.events])
        assert log.ended.reason == "user_ended", scenario.name
        assert grade(log, scenario, mode=mode).score == 1, scenario.name  # pyright: ignore[reportArgumentType]


@each("mode", ["exact", "suite", "all"])
def test_the_api_modes_are_selections_of_tools(mode: str) -> None:
    from sandbox_scenarios.variants import presented

    scenario = SUITE.get("office_wet_beginners")
    variant = {"exact": "base", "suite": "suite_tools", "all": "all_tools"}[mode]
    expected = {"exact": len(scenario.tools), "suite": 9, "all": 28}[mode]
    assert len(presented(scenario, variant)) == expected


def test_a_deed_may_be_told_in_other_words_than_the_name_of_its_tool() -> None:
    scenario = SUITE.get("office_move_event")
    (turn,) = scenario.solutions[0].turns
    said = replace(turn, reply="I have moved the dentist appointment to 17:30 on Wednesday.")
    log = RehearsalStage(scenario).rehearse(replace(scenario.solutions[0], turns=(said,))).log
    assert grade(log, scenario).score == 1
