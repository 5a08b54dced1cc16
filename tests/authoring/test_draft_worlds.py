"""Drafting from a log of any world: by the roles and effects that it declares, with its own name and rows."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from sandbox_scenarios import Suite

from sandbox_mcp.app.authoring.deep_lint import lint_scenario
from sandbox_mcp.app.authoring.drafting import draft, prove
from sandbox_mcp.app.authoring.mutants.wrong_values import FAR, wrong_values
from sandbox_mcp.app.authoring.new_world import new_world
from sandbox_mcp.engine.tools import present
from sandbox_mcp.engine.trajectory import Trajectory
from sandbox_mcp.engine.worlds import FILES
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from tests.each import each

TESTS = Path(__file__).resolve().parents[1]
PANTRY = '''
"""A pantry whose table, column and tool have names that no id could have."""
from typing import Self
from sandbox_mcp import Id, Table, Text, Tx, World, key

class Lamp(Table, single=True):
    id: Id[Self] = key()
    isOn: bool = False

class Jar(Table, name="the Jar"):
    """Jars."""
    id: Id[Self] = key()
    label: Text

pantry = World("pantry", tables=[Lamp, Jar])

@pantry.action(name="add-jar", adds=[Jar])
def add_jar(tx: Tx, label: Text) -> Jar:
    """Put up a jar."""
    return tx.add(Jar, label=label)

@pantry.action(updates=[Lamp.isOn])
def switch(tx: Tx) -> None:
    """Light the lamp."""
    tx.change(tx.one(Lamp), isOn=True)
'''
FILLED = """\
family: pantry
scenarios:
  - name: fill_pantry
    world: pantry
    about: A jar and the lamp.
    categories: [multiple_tool_call, single_user_turn]
    clock: {now: 2026-03-02 09:00:00, zone: Europe/Berlin}
    state: {lamp: {}, the Jar: {old: {label: Quinces}}}
    tools: [add-jar, switch]
    user: {goal: You want a jar of plums., opening: Put up a jar of plums and light the lamp.}
    reference:
      - turns:
          - calls: [{tool: switch}, {tool: add-jar, arguments: {label: Plums}}]
            reply: The plums are put up.
    milestones:
      - {id: put, table: the Jar, adds: {label: Plums}}
"""


STACKS = '''
"""A library that puts several titles on hold at once."""
from typing import Self, TypedDict
from sandbox_mcp import Id, Moment, Table, Text, Tx, World, key

class Title(Table):
    id: Id[Self] = key()
    name: Text
    closed: list[Moment]

class Hold(Table):
    id: Id[Self] = key()
    title: Id[Title]
    until: Moment

class Wanted(TypedDict):
    subject: str
    kinds: list[str]

class Line(TypedDict):
    title: Id[Title]
    until: Moment

stacks = World("stacks", tables=[Title, Hold])

@stacks.query
def search(tx: Tx, wanted: Wanted) -> list[Title]:
    """Search."""
    return tx.all(Title)

@stacks.query
def who_waits(tx: Tx, among: list[Line]) -> list[Hold]:
    """List holds."""
    return tx.all(Hold)

@stacks.action(adds=[Hold])
def place(tx: Tx, lines: list[Line]) -> list[Hold]:
    """Put titles on hold."""
    return [tx.add(Hold, title=tx.get(Title, line["title"]).id, until=line["until"]) for line in lines]

@stacks.user_action
def fill_in(tx: Tx, slips: int) -> str:
    """Fill in slips."""
    return "done"
'''
HELD = """\
family: stacks
scenarios:
  - name: hold_titles
    world: stacks
    about: Two titles go on hold.
    categories: [multiple_tool_call, single_user_turn]
    clock: {now: 2026-03-02 09:00:00, zone: Europe/Berlin}
    state:
      title:
        whales: {name: Whales, closed: [2026-03-03 09:00:00]}
        songs: {name: Whale songs, closed: []}
        dune: {name: A dune, closed: []}
    tools: [search, place]
    user: {goal: You want both held., opening: Please hold both whale titles until Friday noon.}
    reference:
      - turns:
          - calls:
              - {tool: search, arguments: {wanted: {subject: whales, kinds: [book]}}, as: found}
              - tool: place
                arguments:
                  lines:
                    - {title: $found.0.id, until: 2026-03-06 12:00:00}
                    - {title: $found.1.id, until: 2026-03-06 12:00:00}
            reply: Both are on hold.
    milestones:
      - id: held
        table: hold
        adds:
          - {title: "@title.whales", until: 2026-03-06 12:00:00}
          - {title: "@title.songs", until: 2026-03-06 12:00:00}

  - name: hold_another
    extends: hold_titles
    user:
      script:
        then:
          - {does: {act: fill_in, arguments: {slips: 1}}, say: "I have filled in a slip, now hold the dune as well."}
    reference+:
      - turns:
          - calls: [{tool: search, arguments: {wanted: {subject: whales, kinds: [book]}}, as: found}]
            reply: Both are on hold.
          - calls:
              - tool: place
                arguments: {lines: [{title: $found.2.id, until: 2026-03-06 12:00:00}]}
            reply: The dune is on hold.
"""


def played(suite: Suite, name: str) -> Trajectory:
    scenario = suite.get(name)
    return RehearsalStage(scenario).rehearse(scenario.solutions[0]).log


def drafted(suite: Suite, name: str, tmp_path: Path, *places: Path) -> dict[str, Any]:
    """The entry that is drafted from the reference of a scenario, once it has been proved."""
    entry: dict[str, Any] = yaml.safe_load(drafted_text(suite, name, tmp_path, *places))["scenarios"][0]
    return entry


def drafted_text(suite: Suite, name: str, tmp_path: Path, *places: Path) -> str:
    made = draft(played(suite, name), suite, "drafted_anew")
    path = tmp_path / "drafted.yaml"
    path.write_text(made.text, encoding="utf-8")
    proof = prove(path, made.name, places)
    assert proof.holds, (proof, made.text)
    return made.text


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    new_world("workshop", tmp_path / "made")
    monkeypatch.setenv(FILES, str(tmp_path / "made" / "workshop" / "__init__.py"))
    return tmp_path / "made" / "scenarios"


def test_a_deed_in_a_declared_world_is_drafted_with_its_base(workshop: Path, tmp_path: Path) -> None:
    entry = drafted(Suite([workshop]), "workshop_call_off", tmp_path, workshop)
    assert entry["extends"] == "workshop_base"
    assert entry["tools"] == ["find_repairs", "call_off"]
    [_, deed] = entry["reference"][0]["turns"][0]["calls"]
    assert deed["arguments"]["repair"].startswith("$")
    called_off = {"id": "@repair.kettle", "status": "called_off"}
    assert [item["updates"] for item in entry["milestones"] if "updates" in item] == [called_off]
    assert {"called off", "cancelled"} <= set(entry["milestones"][-1]["message"]["content"]["facts"][0])


def test_a_new_row_is_asked_for_by_its_words_and_its_moment(workshop: Path, tmp_path: Path) -> None:
    suite = Suite([workshop])
    [name] = [item for item in suite.names() if item != "workshop_call_off"]
    entry = drafted(suite, name, tmp_path, workshop)
    [added] = [item["adds"] for item in entry["milestones"] if "adds" in item]
    assert added["customer"].startswith("@customer.")
    assert added["due"].keys() == {"close", "within"}


def test_a_world_that_no_base_resembles_is_written_whole_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = TESTS / "worlds" / "declared"
    monkeypatch.setenv(FILES, str(declared / "library.py"))
    log = played(Suite([declared / "library.yaml"]), "lend_the_lamplighters")
    made = draft(log, Suite(), "drafted_anew")
    (tmp_path / "drafted.yaml").write_text(made.text, encoding="utf-8")
    assert prove(tmp_path / "drafted.yaml", made.name).holds, made.text
    [entry] = yaml.safe_load(made.text)["scenarios"]
    assert (entry["world"], entry.get("extends")) == ("library", None)
    assert {"book", "reader"} <= entry["state"].keys()


@each("name", ["movies_bridge_director", "data_brenna_people"])
def test_an_answer_that_was_looked_up_is_drafted_in_a_world_of_fixed_tables(name: str, tmp_path: Path) -> None:
    entry = drafted(Suite(), name, tmp_path)
    assert entry["milestones"][-1]["message"]["content"]["facts"]


def test_a_session_over_a_tape_is_drafted_over_the_same_tape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FILES, "")
    place = TESTS / "worlds" / "recorded" / "lamps.yaml"
    entry = drafted(Suite([place]), "light_the_second_lamp", tmp_path, place)
    assert entry["extends"] == "dark_room"
    assert [item["table"] for item in entry["milestones"] if "adds" in item] == ["act"]


def test_a_new_row_is_asked_for_by_the_fixed_rows_and_the_labels_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = TESTS / "worlds" / "declared"
    monkeypatch.setenv(FILES, str(declared / "ward.py"))
    entry = drafted(Suite([declared / "ward.yaml"]), "ward_round", tmp_path, declared / "ward.yaml")
    [added] = [item["adds"] for item in entry["milestones"] if "adds" in item]
    assert added == {"drug": "para", "patients": {"set": ["@patient.salgado"]}}


def test_tables_and_columns_of_any_name_give_theirs_to_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pantry.py").write_text(PANTRY, encoding="utf-8")
    (tmp_path / "pantry.yaml").write_text(FILLED, encoding="utf-8")
    monkeypatch.setenv(FILES, str(tmp_path / "pantry.py"))
    entry = drafted(Suite([tmp_path / "pantry.yaml"]), "fill_pantry", tmp_path, tmp_path / "pantry.yaml")
    assert {"is_on_on", "the_jar_adds"} <= {item["id"] for item in entry["milestones"]}


TILL = '''
"""A till, whose deeds return amounts."""
from typing import Self
from sandbox_mcp import Id, Table, Tx, World, key

class Ticket(Table):
    id: Id[Self] = key()
    price: float

till = World("till", tables=[Ticket])

@till.query
def tickets(tx: Tx) -> list[Ticket]:
    """List the tickets."""
    return tx.all(Ticket)

@till.action(removes=[Ticket])
def give_back(tx: Tx, ticket: Id[Ticket]) -> float:
    """Take a ticket back and give its price back."""
    row = tx.get(Ticket, ticket)
    tx.remove(row)
    return row.price
'''
RETURNED = """\
family: till
scenarios:
  - name: returned
    world: till
    about: What comes back is told by the call that takes the ticket away.
    categories: [multiple_tool_call, single_user_turn]
    clock: {now: 2026-03-02 09:00:00, zone: Europe/Berlin}
    state: {ticket: {old: {price: 48.5}}}
    tools: [tickets, give_back]
    user: {goal: You want your ticket taken back., opening: Take my ticket back. What do I get?}
    reference:
      - turns:
          - calls:
              - {tool: tickets, as: found}
              - {tool: give_back, arguments: {ticket: $found.0.id}}
            reply: You get 48.50 back.
    milestones:
      - {id: gone, table: ticket, removes: {id: "@ticket.old"}}
"""


def test_an_amount_that_a_deed_returned_is_told_from_its_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "till.py").write_text(TILL)
    monkeypatch.setenv(FILES, str(tmp_path / "till.py"))
    (tmp_path / "till.yaml").write_text(RETURNED)
    entry = drafted(Suite([tmp_path / "till.yaml"]), "returned", tmp_path)
    told = next(milestone["message"] for milestone in entry["milestones"] if "message" in milestone)
    source = told["content"]["values"]["value"]["from"]
    assert next(milestone["tool"] for milestone in entry["milestones"] if milestone["id"] == source) == "give_back"


@pytest.fixture
def stacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "stacks.py").write_text(STACKS, encoding="utf-8")
    (tmp_path / "held.yaml").write_text(HELD, encoding="utf-8")
    monkeypatch.setenv(FILES, str(tmp_path / "stacks.py"))
    return tmp_path / "held.yaml"


def test_arguments_and_cells_that_are_lists_and_objects_are_drafted_as_a_file_has_them(
    stacks: Path, tmp_path: Path
) -> None:
    entry = yaml.load(drafted_text(Suite([stacks]), "hold_titles", tmp_path, stacks), yaml.BaseLoader)["scenarios"][0]
    look, deed = entry["reference"][0]["turns"][0]["calls"]
    assert deed["arguments"] == {
        "lines": [{"title": f"${look['as']}.{n}.id", "until": "2026-03-06 12:00:00"} for n in (0, 1)]
    }
    assert entry["milestones"][0]["arguments"] == {"wanted": {"exact": {"subject": "whales", "kinds": ["book"]}}}
    assert [row["closed"] for row in entry["state"]["title"].values()] == [["2026-03-03 09:00:00"], [], []]


def test_parts_of_objects_are_made_wrong_by_what_they_are_for(stacks: Path) -> None:
    scenario = Suite([stacks]).get("hold_titles")
    place = present(scenario.home.agent_tools["place"])
    whales, songs, dune = scenario.world.table("title")
    right = [{"title": whales, "until": 1772794800.0}]
    other = [{"title": item, "until": 1772794800.0} for item in (songs, dune)]
    far = [{"title": whales, "until": 1772794800.0 + FAR}, {"title": whales, "until": 1772794800.0 - FAR}]
    assert wrong_values(scenario, place, "lines", right) == ([], *([item] for item in (*other, *far)))


def test_what_the_user_does_after_a_report_is_drafted_as_what_it_wants_next(stacks: Path, tmp_path: Path) -> None:
    suite = Suite([stacks])
    scenario = suite.get("hold_another")
    log = RehearsalStage(scenario).rehearse(scenario.solutions[-1]).log
    made = draft(log, suite, "drafted_anew")
    (tmp_path / "drafted.yaml").write_text(made.text, encoding="utf-8")
    script = yaml.safe_load(made.text)["scenarios"][0]["user"]["script"]
    assert script == {
        "then": [
            {
                "does": {"act": "fill_in", "arguments": {"slips": 1}},
                "say": "I have filled in a slip, now hold the dune as well.",
            }
        ]
    }
    assert prove(tmp_path / "drafted.yaml", made.name, (stacks,)).holds


SAFE = '''
"""A safe that the agent arms and its owner confirms."""
from typing import Self
from sandbox_mcp import Id, Moment, Table, Tx, World, key

class Safe(Table, single=True):
    id: Id[Self] = key()
    shows: str | None = None
    armed: bool = False
    opens: Moment | None = None

safe = World("safe", tables=[Safe])

@safe.action(updates=[Safe.shows])
def arm(tx: Tx) -> str:
    """Prepare the safe, which its owner confirms at the safe."""
    tx.change(tx.one(Safe), shows="confirm")
    return "waiting"

@safe.user_action(updates=[Safe.armed, Safe.shows, Safe.opens])
def confirm_at_safe(tx: Tx) -> str:
    """Confirm."""
    tx.change(tx.one(Safe), armed=True, shows=None, opens=tx.now + 3600)
    return "It clicked."
'''
ARMED = """\
family: safe
scenarios:
  - name: arm_safe
    world: safe
    about: The user has to confirm.
    categories: [single_tool_call, multiple_user_turn]
    clock: {now: 2026-03-02 09:00:00, zone: Europe/Berlin}
    state: {safe: {}}
    tools: [arm]
    user:
      goal: You want the safe armed.
      opening: Please arm the safe.
      script: {answers: [{about: [confirm], does: confirm_at_safe, say: "I did. {confirm_at_safe}"}]}
    reference:
      - turns:
          - calls: [{tool: arm}]
            reply: Would you confirm it at the safe?
          - reply: The safe is armed.
    milestones:
      - {id: armed, table: safe, updates: {armed: true}}
"""


def test_what_the_user_does_when_it_is_asked_to_is_drafted_with_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FILES, str(tmp_path / "safe.py"))
    (tmp_path / "safe.py").write_text(SAFE, encoding="utf-8")
    (tmp_path / "safe.yaml").write_text(ARMED, encoding="utf-8")
    suite = Suite([tmp_path / "safe.yaml"])
    entry = drafted(suite, "arm_safe", tmp_path, tmp_path / "safe.yaml")
    [answer] = entry["user"]["script"]["answers"]
    assert answer["does"] == "confirm_at_safe"
    assert answer["say"].endswith("I did. {confirm_at_safe}")
    assert "clicked" not in answer["say"]
    [by_user] = [item for item in entry["milestones"] if item["id"].endswith("by_user_2")]
    assert by_user["updates"].keys() == {"id", "armed", "opens"}  # what it shows is again what it was
    assert by_user["updates"]["opens"].keys() == {"close", "within"}
    assert not [item.rule for item in lint_scenario(Suite([tmp_path]), "drafted_anew").complaints if item.rule == "ask"]
