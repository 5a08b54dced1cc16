"""How a world of one's own is talked about: its tools' deeds, its things' names, the values that it answers."""

from dataclasses import replace
from pathlib import Path

import pytest
from sandbox_grader.claims import hear
from sandbox_grader.grading.scores import grade
from sandbox_scenarios import Suite
from sandbox_scenarios.facts import facts_of

from sandbox_mcp.engine.worlds import FILES
from sandbox_mcp.play.session.rehearsal import RehearsalStage

WORLD = '''
from typing import Self
from sandbox_mcp import Id, Table, Tx, World, key
class Line(Table):
    """A line."""
    id: Id[Self] = key()
    name: str
    load: float
    closed: bool = True
class Permit(Table):
    """A leave to work."""
    id: Id[Self] = key()
    line: Id[Line]
    open: bool = True
grid = World("grid_told", tables=[Line, Permit])
@grid.query
def list_lines(tx: Tx) -> list[Line]:
    """List the lines."""
    return tx.all(Line)
@grid.action(updates=[Line.closed], said=["opened", "switched off", "dead"])
def open_line(tx: Tx, line: Id[Line]) -> Line:
    """Open a line."""
    return tx.change(tx.get(Line, line), closed=False)
@grid.action(updates=[Line.closed], said=["live", "energised"])
def close_line(tx: Tx, line: Id[Line]) -> Line:
    """Close a line."""
    return tx.change(tx.get(Line, line), closed=True)
@grid.action(updates=[Permit.open], said=["handed back"])
def hand_back(tx: Tx, permit: Id[Permit]) -> Permit:
    """Close a permit."""
    return tx.change(tx.get(Permit, permit), open=False)
'''
SCENARIOS = """
family: grid_told
scenarios:
- name: open_old_quay
  world: grid_told
  clock: {now: 2026-03-02 09:00:00, zone: Europe/Vienna}
  state:
    line: {old: {name: Old Quay, load: 9.0}, new: {name: New Quay, load: 7.5, closed: false}}
    permit: {mine: {line: "@line.new"}}
  categories: [single_tool_call, single_user_turn]
  tools: [open_line]
  user: {goal: You want Old Quay off., opening: Please switch off Old Quay.}
  reference: [{turns: [{calls: [{tool: open_line, arguments: {line: "@line.old"}}], reply: I opened it.}]}]
  milestones:
  - {id: opened, table: line, updates: {id: "@line.old", closed: false}}
  - {id: told, after: [opened], message: {content: {facts: [{deed: change}]}}}
- name: close_new_quay
  extends: open_old_quay
  tools: [close_line]
  user: {goal: You want New Quay live., opening: Please make New Quay live.}
  reference: [{turns: [{calls: [{tool: close_line, arguments: {line: "@line.new"}}], reply: It is live.}]}]
  milestones:
  - {id: closed, table: line, updates: {id: "@line.new", closed: true}}
  - {id: told, after: [closed], message: {content: {facts: [{deed: change}]}}}
- name: hand_it_back
  extends: open_old_quay
  tools: [hand_back]
  user: {goal: You want the permit closed., opening: Please close the permit.}
  reference: [{turns: [{calls: [{tool: hand_back, arguments: {permit: "@permit.mine"}}], reply: It is handed back.}]}]
  milestones:
  - {id: back, table: permit, updates: {id: "@permit.mine", open: false}}
  - {id: told, after: [back], message: {content: {facts: [{deed: change}]}}}
"""


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Suite:
    (tmp_path / "grid.py").write_text(WORLD, encoding="utf-8")
    (tmp_path / "grid.yaml").write_text(SCENARIOS, encoding="utf-8")
    monkeypatch.setenv(FILES, str(tmp_path / "grid.py"))
    return Suite([tmp_path / "grid.yaml"])


def score(suite: Suite, name: str, reply: str) -> float | None:
    scenario = suite.get(name)
    [turn] = scenario.solutions[0].turns
    solution = replace(scenario.solutions[0], turns=(replace(turn, reply=reply),))
    return grade(RehearsalStage(scenario).rehearse(solution).log, scenario).score


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("open_old_quay", "I've switched Old Quay off."),
        ("open_old_quay", "I have changed that: Old Quay is dead."),
        ("close_new_quay", "New Quay is live."),
        ("hand_it_back", "I have updated the permit."),
    ],
)
def test_a_deed_may_be_told_in_the_tools_words_and_as_what_it_writes(suite: Suite, name: str, reply: str) -> None:
    assert score(suite, name, reply) == 1


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("close_new_quay", "New Quay remains dead."),  # "new" is part of its name and tells of no change
        ("close_new_quay", "New Quay will be live tomorrow."),
        ("hand_it_back", "I will hand the permit back."),
        ("hand_it_back", "I have read the permit."),
        ("hand_it_back", "I have deleted the permit."),
    ],
)
def test_a_name_a_plan_and_a_look_tell_of_no_deed(suite: Suite, name: str, reply: str) -> None:
    assert (score(suite, name, reply) or 0) < 1


@pytest.mark.parametrize(
    ("fact", "reply", "outcome"),
    [
        ({"quantity": "21.5 MW"}, "It carries 21.5 MW out of 40 MW.", "stated"),
        ({"quantity": "21.5 MW"}, "It carries 21.5 MW (rated 40 MW).", "stated"),
        ({"quantity": "21.5 MW"}, "It carries 21.5 MW, or rather 33 MW.", "contrary"),
        ({"quantity": "21.5 MW"}, "It carries 33 MW.", "contrary"),
        ({"money": "300 EUR"}, "You owe 300 EUR. Sorry, I meant 500 EUR.", "contrary"),
    ],
)
def test_another_value_is_context_unless_it_corrects_the_right_one_or_stands_in_its_place(
    fact: dict[str, str], reply: str, outcome: str
) -> None:
    assert [finding.outcome for finding in hear(reply, facts_of(fact)).findings] == [outcome]


@pytest.mark.parametrize("reply", ["You have to bid at least 120 francs.", "At least 120 CHF."])
def test_a_bound_leaves_in_doubt_whether_the_amount_was_told(reply: str) -> None:
    assert [finding.outcome for finding in hear(reply, facts_of({"money": "120 CHF"})).findings] == ["doubt"]


@pytest.mark.parametrize(
    ("deed", "reply", "outcome"),
    [
        ("add", "The mantel clock is on your list.", "stated"),
        ("add", "The mantel clock is not on your list.", "contrary"),
        ("remove", "It is off your list.", "stated"),
        ("remove", "It is not off your list.", "contrary"),
    ],
)
def test_what_a_list_has_now_tells_of_the_deed(deed: str, reply: str, outcome: str) -> None:
    assert [finding.outcome for finding in hear(reply, facts_of({"deed": deed})).findings] == [outcome]
