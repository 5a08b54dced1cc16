"""Deep lint in worlds it has never seen: what it finds of milestones that were weakened."""

from pathlib import Path

import pytest
from sandbox_scenarios import Suite
from sandbox_scenarios.model import PlannedCall

from bench.weakened import share_of, weakened
from sandbox_mcp.app.authoring.deep_lint import attempt, has_luck
from sandbox_mcp.app.authoring.mutants import case_of, mutants_of
from sandbox_mcp.app.authoring.mutants.mutant import ChangedCall
from sandbox_mcp.app.authoring.new_world import new_world
from sandbox_mcp.engine.worlds import FILES
from sandbox_mcp.play.session.rehearsal import MadeCall, RehearsalStage
from tests.each import each
from tests.suite import SUITE

DECLARED = Path(__file__).parent / "declared"


@pytest.fixture(params=["library", "workshop"])
def unseen(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Suite:
    if request.param == "library":
        monkeypatch.setenv(FILES, str(DECLARED / "library.py"))
        return Suite([DECLARED / "library.yaml"])
    new_world("workshop", tmp_path / "made")
    monkeypatch.setenv(FILES, str(tmp_path / "made" / "workshop" / "__init__.py"))
    return Suite([tmp_path / "made" / "scenarios"])


def test_every_weakening_that_lets_a_bad_play_through_is_found(unseen: Suite) -> None:
    share = share_of(unseen, unseen.home.name, unseen.names())
    assert (share.missed, share.tried > 0) == ((), True)


def test_a_weaker_scenario_asks_for_less_and_for_nothing_else(unseen: Suite) -> None:
    for name in unseen.names():
        sound = unseen.get(name)
        found = list(weakened(sound))
        assert found
        assert all(weaker.milestones != sound.milestones for _, weaker in found)
        assert all(len(weaker.milestones) >= len(sound.milestones) - 1 for _, weaker in found)


def test_mutants_look_around_undo_and_meddle_by_what_tools_declare(unseen: Suite) -> None:
    rules = {item.rule for name in unseen.names() for item in mutants_of(RehearsalStage(unseen.get(name)))}
    assert {"read", "change", "recipient", "drop"} <= rules


def test_a_switch_that_was_turned_is_turned_back_by_the_tool_that_writes_its_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FILES, str(tmp_path / "lamps.py"))
    (tmp_path / "lamps.py").write_text(LAMPS, encoding="utf-8")
    (tmp_path / "lamps.yaml").write_text(LIT, encoding="utf-8")
    case = case_of(RehearsalStage(Suite([tmp_path / "lamps.yaml"]).get("light_the_hall")), 0)
    undone = [item.about for item in mutants_of(case.stage) if item.rule == "undo"]
    assert undone
    assert all("switch_lamp" in about and "'on': False" in about for about in undone)


LAMPS = '''
from typing import Self
from sandbox_mcp import Id, Table, Tx, World, key

class Lamp(Table):
    id: Id[Self] = key()
    name: str
    on: bool = False

lamps = World("lamps", tables=[Lamp])

@lamps.query
def list_lamps(tx: Tx) -> list[Lamp]:
    """List all lamps."""
    return tx.all(Lamp)

@lamps.action(updates=[Lamp.on])
def switch_lamp(tx: Tx, lamp: Id[Lamp], on: bool) -> Lamp:
    """Switch a lamp on or off."""
    return tx.change(tx.get(Lamp, lamp), on=on)
'''
LIT = """
family: lamps
scenarios:
- name: light_the_hall
  world: lamps
  about: One of two lamps is meant.
  categories: [multiple_tool_call, single_user_turn]
  clock: {now: 2026-03-02 09:00:00}
  state: {lamp: {hall: {name: Hall}, attic: {name: Attic}}}
  tools: [list_lamps, switch_lamp]
  user: {goal: You want light in the hall., opening: Light in the hall please.}
  reference:
  - turns:
    - calls:
      - {tool: list_lamps, as: found}
      - {tool: switch_lamp, arguments: {lamp: $found.0.id, on: true}}
      reply: I have switched on the lamp in the hall.
  milestones:
  - {id: lit, table: lamp, updates: {id: "@lamp.hall", on: true}}
"""


@each(
    ("name", "left_out"),
    [("movies_mystery_of_2000", "milestone 'films'"), ("media_whalers_in_galway", "milestone 'told'")],
)
def test_a_look_up_that_nobody_asks_for_and_an_answer_that_nobody_hears_are_found(name: str, left_out: str) -> None:
    sound = SUITE.get(name)
    weaker = next(item for about, item in weakened(sound) if about == left_out)
    wrong = {
        item.rule for item in mutants_of(RehearsalStage(weaker)) if not attempt(RehearsalStage(weaker), item).right
    }
    assert wrong & {"drop", "talk"}


@each(
    "name",
    [
        "data_most_visitors",  # another year has another figure, and the same island comes first
        "data_doravia_boats",  # a fall, told without its sign
        "sports_glacier_away",  # a number that is counted in a list
        "spaceflight_holt_seats",  # of two lists nothing takes a value from the one that is counted
    ],
)
def test_what_is_only_counted_compared_or_told_without_a_sign_is_missed_when_nobody_asks_for_it(name: str) -> None:
    suite = Suite()
    share = share_of(suite, suite.get(name).home.name, [name])
    assert (share.missed, share.tried > 0) == ((), True)


def test_a_look_whose_id_nobody_can_guess_needs_no_milestone_of_its_own() -> None:
    suite = Suite()
    sound = suite.get("movies_bridge_director")
    weaker = next(item for about, item in weakened(sound) if about == "milestone 'films'")
    stage = RehearsalStage(weaker)
    lucky = next(item for item in mutants_of(RehearsalStage(sound)) if item.id == "drop:1:3")
    assert attempt(stage, lucky).score == 1
    assert attempt(RehearsalStage(sound), lucky).score < 1
    assert all(attempt(stage, item).right for item in mutants_of(stage) if item.rule == "drop")
    assert share_of(suite, "movies", ["movies_bridge_director"]).missed == ()


def test_a_changed_call_misleads_if_it_told_less_than_it_should_and_not_if_it_was_refused_or_told_more() -> None:
    changed, call = ChangedCall(0, [{"year": 2023, "nights": 141329}]), PlannedCall("get_ranking", {})
    told = {
        "more": [{"year": 2023, "nights": 141329}, {"year": 2022, "nights": 1}],
        "another": [{"year": 2022, "nights": 1}],
        "nothing": [],
    }
    assert {name: changed.misleads([MadeCall(call, {}, value)]) for name, value in told.items()} == {
        "more": False,
        "another": True,
        "nothing": True,
    }
    assert not changed.misleads([MadeCall(call, {}, None, "there is no such year")])
    assert not changed.misleads([])


def test_a_changed_call_that_leads_to_the_same_row_does_not_mislead() -> None:
    told = [{"name": "Mill Lane", "fed_by": "t1"}]
    changed, call = ChangedCall(0, told, ids=((0, "fed_by"),)), PlannedCall("list_lines", {})
    assert not changed.misleads([MadeCall(call, {}, [{"name": "Old Quay", "fed_by": "t1"}])])
    assert changed.misleads([MadeCall(call, {}, [{"name": "New Quay", "fed_by": "t2"}])])
    assert changed.misleads([MadeCall(call, {}, [])])


def test_calls_at_random_that_did_the_job_are_no_bad_play(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FILES, str(DECLARED / "house.py"))
    house = Suite([DECLARED / "house.yaml"])
    stage = RehearsalStage(house.get("house_warm_it"))
    assert any(has_luck(stage, mutant) for mutant in mutants_of(stage))
    assert share_of(house, "house", house.names("house")).missed == ()
