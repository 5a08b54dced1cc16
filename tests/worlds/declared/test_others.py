"""What happens in a world without the agent, by its user and by itself: declared as the agent's deeds are."""

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from sandbox_grader import Scores, grade
from sandbox_grader.conduct.harm import harm
from sandbox_grader.grading.metric import Subject
from sandbox_grader.grading.references import references_of
from sandbox_grader.milestones.strict import evaluate
from sandbox_grader.papers.toolscan import name_similarity
from sandbox_scenarios import ScenarioFileError, Suite
from sandbox_scenarios.lint import lint
from sandbox_scenarios.stats import measure
from sandbox_scenarios.variants import presented

from sandbox_mcp.app.authoring.deep_lint import lint_scenario
from sandbox_mcp.app.authoring.drafting import entry_of
from sandbox_mcp.app.cli import group
from sandbox_mcp.engine.trajectory import SessionEnded, ToolCall
from sandbox_mcp.engine.world.faults import WorldError
from sandbox_mcp.engine.worlds import FILES, load
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from tests.scenarios.playing import solved

WORLD = '''
"""An attic with boxes."""

from typing import Self

from sandbox_mcp import Id, Moment, Table, Tx, World, column, key


class Box(Table):
    """A box."""

    id: Id[Self] = key()
    label: str
    weight: float = column(default=1.0, unsaid=True)
    opened: bool = False
    dusty: bool = False
    falls: Moment | None = None


attic = World("attic", tables=[Box])


@attic.query
def list_boxes(tx: Tx) -> list[Box]:
    """List the boxes."""
    return tx.all(Box)


@attic.action(updates=[Box.dusty])
def dust(tx: Tx, box: Id[Box]) -> Box:
    """Dust a box."""
    return tx.change(tx.get(Box, box), dusty=False)


@attic.action(updates=[Box.dusty])
def dust_all(tx: Tx, boxes: list[Id[Box]]) -> list[Box]:
    """Dust some boxes."""
    return [tx.change(tx.get(Box, box), dusty=False) for box in boxes]


@attic.user_action(updates=[Box.opened])
def open_box(tx: Tx, label: str) -> str:
    """Open a box."""
    tx.change(tx.one(Box, label=label), opened=True)
    return "There are letters in it."


@attic.event(Box, at="falls", updates=[Box.dusty])
def fall(tx: Tx, box: Box) -> str:
    """Fall from the shelf."""
    tx.change(box, dusty=True)
    return f"The box {box.label!r} fell."
'''
SCENARIO = """
family: attic
scenarios:
- name: look_for_letters
  world: attic
  about: Only the user can open a box.
  categories: [single_tool_call, multiple_user_turn]
  clock: {now: 2026-03-02 09:00:00, zone: Europe/Berlin}
  state:
    box: {hats: {label: Hats}, papers: {label: Papers}}
  tools: [list_boxes]
  user:
    goal: You want to know in which box the letters may be, and whether they are there.
    opening: Is there a box that may have letters in it?
    does_not_know: [You do not know what is in the boxes.]
    script:
      answers:
      - {about: [open, papers], does: {act: open_box, arguments: {label: Papers}}, say: "I opened it. {open_box}"}
  reference:
  - turns:
    - calls: [{tool: list_boxes, as: boxes}]
      reply: There is one with papers. Could you open the box that says Papers?
    - reply: Then your letters are in the box Papers.
  milestones:
  - {id: looked, tool: list_boxes}
  - {id: opened, after: [looked], table: box, updates: {id: "@box.papers", opened: true}}
  - {id: told, after: [opened], message: {content: {facts: [papers]}}}
"""

DONE = 'does: {act: open_box, arguments: {label: Papers}}, say: "I opened it. {open_box}"'
FALLING = "label: Papers, falls: 2026-03-02 09:00:02}"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "attic.py").write_text(WORLD, encoding="utf-8")
    (tmp_path / "attic.yaml").write_text(SCENARIO, encoding="utf-8")
    monkeypatch.setenv(FILES, str(tmp_path / "attic.py"))
    return tmp_path


def complaints(place: Path, old: str = "", new: str = "") -> list[str]:
    if old:
        assert old in SCENARIO
        (place / "attic.yaml").write_text(SCENARIO.replace(old, new), encoding="utf-8")
    return [item.problem for item in lint(Suite([place / "attic.yaml"])) if item.rule == "unreachable"]


def test_a_milestone_may_ask_for_what_the_user_does_by_its_script(place: Path) -> None:
    assert complaints(place) == []
    assert lint_scenario(Suite([place / "attic.yaml"]), "look_for_letters").complaints == ()


ANYTHING = """
@attic.query
def weigh(tx: Tx, thing: object, also: dict[str, object] | None = None) -> float:
    \"\"\"Weigh anything.\"\"\"
    return 1.0 if thing else 0.0
"""


def test_an_argument_that_may_be_anything_is_tried_with_something(place: Path) -> None:
    (place / "attic.py").write_text(WORLD + ANYTHING, encoding="utf-8")
    (place / "attic.yaml").write_text(SCENARIO.replace("[list_boxes]", "[list_boxes, weigh]"), encoding="utf-8")
    assert lint_scenario(Suite([place / "attic.yaml"]), "look_for_letters").complaints == ()


def test_two_lines_that_say_the_same_do_the_same(place: Path) -> None:
    deeds = [
        f"does: {{act: open_box, arguments: {{label: {label}}}}}, say: Open." for label in ("Papers", "Papers", "Hats")
    ]
    lines = "\n".join(f"      - {{about: [box {number}], {does}}}" for number, does in enumerate(deeds))
    (place / "attic.yaml").write_text(SCENARIO.replace(f"      - {{about: [open, papers], {DONE}}}", lines))
    with pytest.raises(ScenarioFileError, match=r"another line also says 'Open.', and does something else") as fault:
        Suite([place / "attic.yaml"]).get("look_for_letters")
    assert fault.value.line == SCENARIO.partition("- {about")[0].count("\n") + 3


def test_what_the_user_does_not_do_cannot_be_reached(place: Path) -> None:
    [text] = complaints(place, DONE, "say: I did.")
    assert "no tool offered sets 'opened' of 'box'" in text


def test_nor_can_a_column_that_the_user_does_not_touch(place: Path) -> None:
    [text] = complaints(place, "opened: true}", "label: Letters}")
    assert "no tool offered sets 'label' of 'box'" in text


def test_a_milestone_may_ask_for_what_happens_by_itself(place: Path) -> None:
    assert complaints(place, "opened: true}", "dusty: true}") == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("updates=[Box.opened]", "updates=[]"),
        ('at="falls", updates=[Box.dusty]', 'at="falls", adds=[Box]'),
    ],
)
def test_what_is_written_beyond_the_declaration_is_the_worlds_fault(place: Path, right: str, wrong: str) -> None:
    assert right in WORLD
    (place / "attic.py").write_text(WORLD.replace(right, wrong), encoding="utf-8")
    (place / "attic.yaml").write_text(SCENARIO.replace("label: Papers}", FALLING, 1), encoding="utf-8")
    scenario = Suite([place / "attic.yaml"]).get("look_for_letters")
    assert RehearsalStage(scenario).rehearse(scenario.solutions[0]).ending == "world_failed"


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        ("object()", "NoJsonError: it returned a value of type 'object'"),
        ("{row.label for row in tx.all(Box)}", "NoJsonError: it returned a value of type 'set'"),
        ('[{"weight": float("nan")}]', "NoJsonError: it returned nan"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("exit(3)", "SystemExit: 3"),
        ("__import__('json').loads(0)", "TypeError: the JSON object must be"),
    ],
)
def test_what_no_agent_can_be_given_is_the_worlds_fault(place: Path, returned: str, told: str) -> None:
    [ended] = broken(place, '-> list[Box]:\n    """List the boxes."""\n    return tx.all(Box)', returned)
    assert ended.reason == "world_failed"
    assert "list_boxes() of the world failed at attic.py:" in str(ended.detail)
    assert told in str(ended.detail)


def test_a_gate_that_breaks_is_the_worlds_fault(place: Path) -> None:
    gate = '@attic.gate("light", opened_by=dust)\ndef light(tx: Tx) -> bool:\n    """Be light."""\n    return tx.lamp'
    (place / "attic.py").write_text(f"{WORLD}\n\n{gate}\n", encoding="utf-8")
    [ended] = ends(place, SCENARIO.replace("  world: attic\n", "  world: attic\n  gates: [light]\n"))
    assert (ended.reason, "gate 'light' of the world failed at attic.py:" in str(ended.detail)) == (
        "world_failed",
        True,
    )


def broken(place: Path, tool: str, returned: str) -> list[SessionEnded]:
    """How the session ends in which the tool that looks returns that."""
    head, _, _ = tool.partition(":")
    assert tool in WORLD
    wrong = tool.replace("return tx.all(Box)", f"return {returned}").replace(head, "-> Any")
    world = WORLD.replace(tool, wrong).replace("from typing import Self", "from typing import Any, Self")
    (place / "attic.py").write_text(world, encoding="utf-8")
    return ends(place, SCENARIO)


def ends(place: Path, text: str) -> list[SessionEnded]:
    (place / "attic.yaml").write_text(text, encoding="utf-8")
    scenario = Suite([place / "attic.yaml"]).get("look_for_letters")
    ended = solved(scenario).ended
    return [ended] if ended else []


def test_deep_lint_names_the_place_where_an_act_of_the_user_fails(place: Path) -> None:
    (place / "attic.py").write_text(WORLD.replace('return "There are letters in it."', "return {}[label]"), "utf-8")
    [complaint] = lint_scenario(Suite([place / "attic.yaml"]), "look_for_letters").complaints
    assert (complaint.rule, complaint.mutant) == ("world", "reference:1:base")
    assert "cannot be played: open_box() of the world failed at attic.py:" in complaint.problem


def test_show_says_what_each_may_write(place: Path) -> None:
    assert place
    shown = CliRunner().invoke(group, ["worlds", "show", "attic"]).output
    assert "the user acts: updates box (opened)" in shown
    assert "updates box (dusty)" in shown.partition("fall ")[2]


def test_what_the_user_does_and_what_happens_is_no_harm_by_the_agent(place: Path) -> None:
    falling = SCENARIO.replace("hats: {label: Hats}", "hats: {label: Hats, falls: 2026-03-02 09:00:02}")
    no_more_asked = falling.replace("  - {id: opened, after: [looked], ", "  - {id: seen, after: [looked], ").replace(
        'table: box, updates: {id: "@box.papers", opened: true}', "tool: list_boxes"
    )
    (place / "attic.yaml").write_text(no_more_asked.replace("after: [opened]", "after: [looked]"), encoding="utf-8")
    scenario = Suite([place / "attic.yaml"]).get("look_for_letters")
    log = solved(scenario)
    callers = [event.caller for event in log.events if isinstance(event, ToolCall) and event.changes]
    found = evaluate(scenario, log)
    assert (callers, found.unwanted) == (["environment", "user"], ())
    assert list(harm(Subject(log, scenario=scenario))) == []


def test_a_draft_has_what_the_user_did_and_where_the_parts_of_arguments_came_from(place: Path) -> None:
    call = "calls: [{tool: dust_all, arguments: {boxes: [$boxes.0.id, $boxes.1.id]}}]"
    asked = SCENARIO.replace("tools: [list_boxes]", "tools: [list_boxes, dust_all]").replace(
        "    - reply: Then your letters", f"    - {call}\n      reply: Then your letters"
    )
    (place / "attic.yaml").write_text(asked, encoding="utf-8")
    suite = Suite([place / "attic.yaml"])
    scenario = suite.get("look_for_letters")
    entry = entry_of(solved(scenario), suite, "drafted")
    [answer] = entry["user"]["script"]["answers"]
    assert (answer["does"], answer["say"]) == (
        {"act": "open_box", "arguments": {"label": "Papers"}},
        "I opened it. {open_box}",
    )
    done = {"id": "box_updates_by_user_2", "table": "box", "updates": {"id": "@box.papers", "opened": True}}
    assert done in entry["milestones"]
    calls = [call for turn in entry["reference"][0]["turns"] for call in turn.get("calls", ())]
    assert calls[1]["arguments"] == {"boxes": ["$boxes.0.id", "$boxes.1.id"]}


def test_what_only_a_look_tells_is_not_the_users_to_say_unless_its_brief_knows_it(place: Path) -> None:
    heavy = SCENARIO.replace("hats: {label: Hats}", "hats: {label: Hats, weight: 41.25}")
    given = heavy.replace("Is there a box that", "One box weighs 41.25 kilograms. Is there one that")
    (place / "attic.yaml").write_text(given, encoding="utf-8")
    [found] = [item for item in lint(Suite([place / "attic.yaml"])) if item.rule == "secret"]
    assert "tells the weight of a row of box ('41.25')" in found.problem
    known = given.replace(
        "does_not_know:", "knows: [You know of a box that weighs 41.25 kilograms.]\n    does_not_know:"
    )
    (place / "attic.yaml").write_text(known, encoding="utf-8")
    assert [item for item in lint(Suite([place / "attic.yaml"])) if item.rule == "secret"] == []


def test_an_owner_that_is_no_column_of_booleans_is_told(place: Path) -> None:
    wrong = WORLD.replace("class Box(Table)", 'class Box(Table, owner="label")')
    (place / "attic.py").write_text(wrong, encoding="utf-8")
    with pytest.raises(WorldError, match="its owner is 'label'; expected a column of booleans, of: opened, dusty"):
        load(place / "attic.py")


class TestReferences:
    """A solution that is carried out for comparison meets what the session in which it is played meets."""

    AFTERWARDS = "    - reply: Then your letters are in the box Papers.\n"
    LOOKS_AGAIN = (
        "    - calls: [{tool: list_boxes, as: after}]\n"
        "      reply: Then your letters are in the box Papers, ${after.1.opened}, ${after.1.dusty}.\n"
    )

    @pytest.mark.parametrize("papers", ["label: Papers}", FALLING], ids=["act", "act and event"])
    def test_its_calls_come_to_what_they_came_to_there(self, place: Path, papers: str) -> None:
        text = SCENARIO.replace(self.AFTERWARDS, self.LOOKS_AGAIN).replace(
            "label: Papers}}\n  tools", papers + "}\n  tools"
        )
        (place / "attic.yaml").write_text(text, encoding="utf-8")
        scenario = Suite([place / "attic.yaml"]).get("look_for_letters")
        log = solved(scenario)
        [reference] = references_of(scenario, log)
        played = [event.result for event in log.events if isinstance(event, ToolCall) and event.caller == "agent"]
        assert [call.result for turn in reference for call in turn.calls] == played
        assert (played[1][1]["opened"], played[1][1]["dusty"]) == (True, papers == FALLING)


class TestToldInTheWordsOfTheTool:
    """What ``said`` names is how a reply may tell of a deed, and no claim of a deed that was not done."""

    TOOL = (
        '\n\n@attic.action(adds=[Box], said=["stowed", "put away"])\ndef stow(tx: Tx, label: str) -> Box:\n'
        '    """Stow a box."""\n    return tx.add(Box, label=label)\n'
        '\n\n@attic.action(updates=[Box.label], said=["erased"])\ndef blank(tx: Tx, box: Id[Box]) -> Box:\n'
        '    """Wipe the label of a box."""\n    return tx.change(tx.get(Box, box), label="")\n'
    )
    SCENARIO = """
family: stowing
scenarios:
- name: stow_skates
  world: attic
  categories: [single_tool_call, single_user_turn]
  clock: {now: 2026-03-02 09:00:00, zone: Europe/Berlin}
  state: {box: {hats: {label: Hats}}}
  tools: [stow, blank]
  user: {goal: You want the skates stowed., opening: Stow the skates.}
  reference:
  - turns: [{calls: [{tool: stow, arguments: {label: Skates}}], reply: I stowed them.}]
  milestones:
  - {id: stowed, table: box, adds: {label: Skates}}
  - {id: told, after: [stowed], message: {content: {facts: [{deed: add}]}}}
- name: blank_hats
  extends: stow_skates
  user: {goal: You want the label wiped., opening: Wipe the label of the hats.}
  reference:
  - turns: [{calls: [{tool: blank, arguments: {box: "@box.hats"}}], reply: I erased the label.}]
  milestones:
  - {id: blank, table: box, updates: {label: ""}}
  - {id: told, after: [blank], message: {content: {facts: [[label]]}}}
"""

    def scores(self, place: Path, name: str, reply: str) -> Scores:
        (place / "attic.py").write_text(WORLD + self.TOOL, encoding="utf-8")
        (place / "stowing.yaml").write_text(self.SCENARIO, encoding="utf-8")
        scenario = Suite([place / "stowing.yaml"]).get(name)
        [turn] = scenario.solutions[0].turns
        solution = replace(scenario.solutions[0], turns=(replace(turn, reply=reply),))
        return grade(RehearsalStage(scenario).rehearse(solution).log, scenario)

    def test_a_deed_is_told_in_them(self, place: Path) -> None:
        for reply in ("I stowed the skates.", "The skates are stowed.", "I put away the skates.", "I put them away."):
            assert self.scores(place, "stow_skates", reply).score == 1

    def test_it_is_not_told_where_they_deny_it_or_are_another_tool_s(self, place: Path) -> None:
        for reply in ("I have not stowed the skates.", "I could not put them away.", "I looked for the skates."):
            assert (self.scores(place, "stow_skates", reply).score or 0) < 1

    def test_they_claim_nothing_that_was_not_done(self, place: Path) -> None:
        told = self.scores(place, "blank_hats", "I have erased the label.")
        assert (told.score, told.verdicts["conduct"].values["claim_without_call"]) == (1, 0)

    def test_a_deed_that_no_tool_of_the_world_does_is_read_as_none(self, place: Path) -> None:
        told = self.scores(place, "blank_hats", "I have sent your sister a message.")
        assert told.verdicts["conduct"].values["claim_without_call"] == 0


GATE = '''
@attic.action(updates=[Box.dusty]GROUP)
def air(tx: Tx) -> None:
    """Air the attic."""


@attic.gate("air", opened_by=air)
def aired(tx: Tx) -> bool:
    """the attic has not been aired"""
    return True
'''


@pytest.mark.parametrize(
    ("group", "offered"),
    [("", ["list_boxes", "dust", "dust_all"]), (', group="room"', ["list_boxes", "dust", "dust_all", "sweep"])],
)
def test_a_gate_takes_only_what_belongs_to_it_from_distraction(place: Path, group: str, offered: list[str]) -> None:
    sweep = '@attic.action(group="floor")\ndef sweep(tx: Tx) -> None:\n    """Sweep."""\n' if group else ""
    (place / "attic.py").write_text(WORLD + GATE.replace("GROUP", group) + sweep, encoding="utf-8")
    assert [*presented(Suite([place / "attic.yaml"]).get("look_for_letters"), "all_tools")] == offered


def test_a_session_in_which_the_world_failed_is_graded_as_not_scored(place: Path) -> None:
    looks = "return tx.all(Box)"
    (place / "attic.py").write_text(WORLD.replace(looks, "return [tx.all(Box)[7]]"), encoding="utf-8")
    scenario = Suite([place / "attic.yaml"]).get("look_for_letters")
    scores = grade(RehearsalStage(scenario).rehearse(scenario.solutions[0]).log, scenario)
    assert scores.reason is not None
    assert "the session ended with 'world_failed' (list_boxes() of the world failed at attic.py:" in scores.reason


def test_only_a_tool_that_makes_what_falls_due_counts_as_one_of_a_world_without_groups(place: Path) -> None:
    fetch = '\n\n@attic.action(adds=[Box])\ndef fetch(tx: Tx) -> None:\n    """Fetch another box."""\n'
    (place / "attic.py").write_text(WORLD + fetch, encoding="utf-8")
    counted = measure(Suite([place / "attic.yaml"]), name_similarity, "attic").features
    assert [item.ours for item in counted if item.name == "something that falls due"] == [0]
