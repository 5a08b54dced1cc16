"""A new world to start from: a package with two tables, three tools, two scenarios and a test, that pass at once.

Policy: the project is small enough to be read in a minute, and is not a template with holes: every line of it
works, and an author replaces it line by line.
"""

import keyword
import sys
from importlib.util import find_spec
from pathlib import Path

from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.tools.declaring import NAME
from sandbox_mcp.engine.worlds import names

PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "NAME-world"
version = "0.1.0"
dependencies = ["sandbox-mcp-eval"]

[project.entry-points."sandbox_mcp.worlds"]
NAME = "NAME:NAME"

[tool.hatch.build.targets.wheel]
packages = ["NAME"]
"""
WORLD = '''\
"""A workshop that mends what people bring."""

from typing import Literal, Self

from sandbox_mcp import Id, Moment, Table, Text, Tx, World, key

DAY = 86400.0
Status = Literal["waiting", "mended", "called_off"]


class Customer(Table):
    """A person who brings something."""

    id: Id[Self] = key()
    name: str


class Repair(Table):
    """One thing to mend, and by when."""

    id: Id[Self] = key()
    customer: Id[Customer]
    item: Text
    status: Status = "waiting"
    due: Moment


NAME = World("NAME", tables=[Customer, Repair], policy="Never call off what is done.", place="in the workshop")


@NAME.query
def find_repairs(tx: Tx, name: str) -> list[Repair]:
    """List what is or was to be mended for a customer, by the customer's full name."""
    return tx.all(Repair, customer=tx.one(Customer, name=name).id)


@NAME.action(adds=[Repair], said=["booked"])
def book_repair(tx: Tx, name: str, item: Text, days: int) -> Repair:
    """Book something to be mended for a customer within a number of days."""
    if days < 1:
        raise ValueError("it takes at least one day")
    return tx.add(Repair, customer=tx.one(Customer, name=name).id, item=item, due=tx.now + days * DAY)


@NAME.action(updates=[Repair.status], said=["called off", "cancelled"])
def call_off(tx: Tx, repair: Id[Repair]) -> Repair:
    """Call off a repair that still waits."""
    row = tx.get(Repair, repair)
    if row.status != "waiting":
        raise ValueError(f"it is {row.status} already")
    return tx.change(row, status="called_off")
'''
SCENARIOS = """\
family: NAME
scenarios:
- name: NAME_base
  abstract: true
  world: NAME
  clock: {now: 2026-03-02 09:00:00, zone: Europe/Berlin}
  state:
    customer: {berta: {name: Berta Krug}, bertha: {name: Bertha Krüger}}
    repair:
      kettle: {customer: "@customer.berta", item: Copper kettle, due: 2026-03-05 12:00:00}
      radio: {customer: "@customer.berta", item: Old radio, status: mended, due: 2026-03-01 12:00:00}
      toaster: {customer: "@customer.bertha", item: Toaster, due: 2026-03-04 12:00:00}

- name: NAME_call_off
  extends: NAME_base
  about: One of a customer's two things still waits; a customer with a similar name has another.
  categories: [multiple_tool_call, single_user_turn]
  tools: [find_repairs, call_off]
  user:
    goal: You are Berta Krug and no longer want your kettle mended.
    opening: I'm Berta Krug. Please call off the repair of my kettle.
    knows: [Your name is Berta Krug.]
    does_not_know: [You do not know when it would have been done.]
  reference:
  - turns:
    - calls:
      - {tool: find_repairs, arguments: {name: Berta Krug}, as: found}
      - {tool: call_off, arguments: {repair: $found.0.id}}
      reply: I have called off the repair of your kettle.
  milestones:
  - {id: called_off, table: repair, updates: {id: "@repair.kettle", status: called_off}}
  - {id: told, after: [called_off], message: {content: {facts: [[called off, cancelled, canceled]]}}}

- name: NAME_book
  extends: NAME_base
  about: The customer says by when only if asked.
  categories: [single_tool_call, multiple_user_turn]
  tools: [book_repair]
  user:
    goal: You are Bertha Krüger and want your bread knife mended within three days.
    opening: Bertha Krüger here. Could you mend my bread knife?
    knows: [Your name is Bertha Krüger., It should be done within three days.]
    does_not_know: [You do not know what it costs.]
    script:
      answers:
      - {about: [when, days, how soon, how long], say: Within three days.}
  reference:
  - turns:
    - reply: Within how many days do you need it?
    - calls:
      - {tool: book_repair, arguments: {name: Bertha Krüger, item: Bread knife, days: 3}, as: booked}
      reply: Your bread knife is booked and will be done on 5 March.
  milestones:
  - id: booked
    table: repair
    adds:
      customer: "@customer.bertha"
      item: Bread knife
      status: waiting
      due: {close: 2026-03-05 09:00:00, within: 3600}
  - {id: told, after: [booked], message: {content: {facts: [[booked, "5 March", "March 5"]]}}}
"""
TEST = '''\
"""The world and its scenarios hold what they promise."""

from pathlib import Path

import pytest
from sandbox_mcp import Suite, evaluate
from sandbox_mcp.app.authoring.world_check import check_world
from sandbox_mcp.engine.worlds import use_file

HERE = Path(__file__).parent
(WORLD,) = use_file(HERE / "NAME" / "__init__.py")
SUITE = Suite([HERE / "scenarios"])


def test_the_world_keeps_to_the_rules():
    assert check_world(WORLD) == ()


@pytest.mark.parametrize("agent, score", [("reference", 1.0), ("refuse", 0.0)])
def test_who_does_it_gets_all_and_who_refuses_nothing(agent, score):
    assert evaluate(agent, SUITE).score == score
'''
FILES = {
    "pyproject.toml": PROJECT,
    "NAME/__init__.py": WORLD,
    "scenarios/NAME.yaml": SCENARIOS,
    "test_NAME.py": TEST,
}
"""What a new world consists of; NAME stands for its name, in paths too."""


def new_world(name: str, folder: Path) -> tuple[Path, ...]:
    """Write a package with a world of that name into a new folder, and return the files.

    Raises:
        SandboxError: the name cannot be a world's, a world or a module has it, or the folder is there already.
    """
    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise SandboxError(f"{name!r} cannot be a world's name; use lower-case letters, digits and _, a letter first")
    if name in names():
        raise SandboxError(f"there is a world {name!r} already; choose another name")
    if name in sys.stdlib_module_names or ((found := find_spec(name)) is not None and found.origin):
        raise SandboxError(f"the package would take the place of the module {name!r}; choose another name")
    if folder.exists():
        raise SandboxError(f"{str(folder)!r} exists already; name another folder with --in")
    written: list[Path] = []
    for place, text in FILES.items():
        path = folder / place.replace("NAME", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("NAME", name), encoding="utf-8", newline="\n")
        written.append(path)
    return tuple(written)
