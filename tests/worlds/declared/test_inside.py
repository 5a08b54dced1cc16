"""Ids and other roles inside of lists and objects: in arguments of calls, in cells, and in the row that is alone."""

from pathlib import Path

import pytest
from sandbox_scenarios import Suite
from sandbox_scenarios.errors import ScenarioError
from sandbox_scenarios.lint import lint

from sandbox_mcp.app.authoring.world_check import check_world
from sandbox_mcp.engine.worlds import FILES, load

WORLD = '''
"""A pharmacy."""

from typing import Literal, NotRequired, Self, TypedDict

from sandbox_mcp import Id, Table, Tx, World, key

Route = Literal["oral", "topical"]


class Drug(Table):
    """A drug."""

    id: Id[Self] = key()
    name: str


class Batch(Table):
    """A box of a drug."""

    id: Id[Self] = key()
    drug: Id[Drug]
    beside: list[Id[Self]] = []
    left: int


class Store(Table, single=True):
    """The store."""

    id: Id[Self] = key()
    first: Id[Batch]


class Part(TypedDict):
    """So much of a batch."""

    batch: Id[Batch]
    doses: int


class Line(TypedDict):
    """One drug in parts."""

    drug: Id[Drug]
    route: NotRequired[Route]
    parts: list[Part]


pharmacy = World("pharmacy", tables=[Drug, Batch, Store])


@pharmacy.query
def find_batches(tx: Tx) -> list[Batch]:
    """List the batches."""
    return tx.all(Batch)


@pharmacy.query
def local_hour(tx: Tx) -> int:
    """Tell the hour."""
    return tx.local().hour


@pharmacy.action(updates=[Batch.left])
def prepare(tx: Tx, lines: list[Line]) -> int:
    """Take doses of drugs out of batches."""
    taken = 0
    for line in lines:
        tx.get(Drug, line["drug"])
        for part in line["parts"]:
            batch = tx.get(Batch, part["batch"])
            tx.change(batch, left=batch.left - part["doses"])
            taken += part["doses"]
    return taken
'''
SCENARIO = """
family: pharmacy
scenarios:
- name: two_doses
  world: pharmacy
  about: Two doses are needed.
  categories: [multiple_tool_call, single_user_turn]
  clock: {now: 2026-03-02 09:00:00, zone: Europe/Vienna}
  state:
    drug: {balm: {name: Balm}}
    batch:
      old: {drug: "@drug.balm", left: 4}
      new: {drug: "@drug.balm", left: 9, beside: ["@batch.old"]}
    store: {first: "@batch.old"}
  tools: [find_batches, prepare]
  user:
    goal: You want two doses of balm.
    opening: Prepare two doses of balm for the skin, from the old box.
    knows: [It is for the skin.]
    does_not_know: [You do not know what is left.]
  reference:
  - turns:
    - calls:
      - {tool: find_batches, as: found}
      - {tool: prepare, arguments: {lines: [{drug: $found.0.drug, parts: [{batch: $found.0.id, doses: 2}]}]}}
      reply: I have prepared two doses.
  milestones:
  - {id: prepared, table: batch, updates: {id: "@batch.old", left: 2}}
  - {id: told, after: [prepared], message: {content: {facts: [prepared]}}}
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pharmacy.py").write_text(WORLD, encoding="utf-8")
    monkeypatch.setenv(FILES, str(tmp_path / "pharmacy.py"))
    return tmp_path


def rules(place: Path, old: str = "", new: str = "") -> set[str]:
    """The rules that the scenario breaks, with something in it replaced."""
    assert old in SCENARIO
    (place / "pharmacy.yaml").write_text(SCENARIO.replace(old, new, 1), encoding="utf-8")
    return {item.rule for item in lint(Suite([place / "pharmacy.yaml"]))}


def test_the_scenario_is_sound(place: Path) -> None:
    assert rules(place) == set()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("batch: $found.0.id", 'batch: "@drug.balm"', "is a row of table 'drug'; expected one of 'batch'"),
        ("drug: $found.0.drug", 'drug: "@batch.old"', "is a row of table 'batch'; expected one of 'drug'"),
        ("doses: 2", "doses: two", "lines[0].parts[0].doses must be integer"),
        ("doses: 2", "dose: 2", "lines[0].parts[0].doses must be given"),
        ("doses: 2", "doses: 2, more: $found.0.id", "lines[0].parts[0].more must be left out"),
        ("drug: $found.0.drug,", "drug: $found.0.drug, route: nasal,", "lines[0].route must be one of 'oral', 'topic"),
        ('beside: ["@batch.old"]', 'beside: ["@drug.balm"]', "is a row of table 'drug'; expected one of 'batch'"),
        ('beside: ["@batch.old"]', "beside: [old]", "'old' is no id of a row; write \"@batch.old\""),
        ('first: "@batch.old"', "first: oldest", "'oldest' is no id of a row; write \"@batch.label\""),
        ("left: 2}}", "beside: {set: [old]}}}", "'old' is no id of a row; write \"@batch.old\""),
        ("left: 2}}", 'beside: {set: ["@drug.balm"]}}}', "is a row of table 'drug'; expected one of 'batch'"),
        ('first: "@batch.old"', 'first: "@store.only"', "is a row of table 'store'; expected one of 'batch'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_inside_is_told_though_other_parts_are_not_known_yet(
    place: Path, old: str, new: str, told: str
) -> None:
    with pytest.raises(ScenarioError) as caught:
        rules(place, old, new)
    assert told in str(caught.value)
    assert "pharmacy.yaml:" in str(caught.value)


def test_an_id_inside_that_no_call_has_returned_is_found(place: Path) -> None:
    assert rules(place, "batch: $found.0.id", 'batch: "@batch.old"') == {"copied_id"}


def test_check_tries_arguments_with_the_ids_of_rows_inside(place: Path) -> None:
    refused: dict[str, str] = {}
    [world] = load(place / "pharmacy.py")
    assert check_world(world, refused) == ()
    assert refused == {}
