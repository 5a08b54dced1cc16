"""The hotline as a world: its tables, where its tools are declared, and what everybody is told."""

from typing import Self

from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.world import Clock, Snapshot, to_local
from sandbox_mcp.engine.world.tables import Id, Table, column, key


class Heating(Table, single=True, label="here"):
    """The heating at the caller's, with what it takes to get it going. No tool of the assistant's tells any of it.

    ``code`` is what the display shows, ``tenths`` the pressure in tenths of a bar, ``pressed`` the keys since the last
    sequence. ``unlock`` and ``start`` are the sequences that do so, and ``full`` is the pressure it starts at, once the
    pressure has fallen ``airs`` times because air left; ``falls`` counts.
    """

    id: Id[Self] = key()
    plate: str
    firmware: str
    code: str
    tenths: int
    pressed: str = ""
    wrong: int = 0
    unlock: str = column(hidden=True)
    start: str = column(hidden=True)
    after: str = column(hidden=True)
    full: int = column(hidden=True)
    airs: int = column(default=0, hidden=True)
    falls: int = column(default=0, hidden=True)


class SoldUnit(Table, name="unit"):
    """A heating that was sold, as the maker's register has it."""

    id: Id[Self] = key()
    serial: str
    model: str
    board: str
    address: str
    built: str
    filling: str


class ManualPage(Table, name="manual"):
    """A page of the manual."""

    id: Id[Self] = key()
    number: str
    title: str
    body: str


class Bulletin(Table):
    """A bulletin of the maker for its hotline."""

    id: Id[Self] = key()
    number: str
    day: str
    subject: str
    body: str


class PartOrder(Table):
    """A part that was ordered for a heating."""

    id: Id[Self] = key()
    serial: str
    part: str


class ServiceRecord(Table):
    """An entry of the hotline: which heating had which code at first, and at which pressure it was started."""

    id: Id[Self] = key()
    serial: str
    code: str
    tenths: int


def situation(state: Snapshot, clock: Clock, where: str) -> str:  # noqa: ARG001  (a world's signature)
    """When a session begins."""
    return f"It is {to_local(clock.now, clock.zone):%A, %Y-%m-%d %H:%M:%S}."


hotline = World(
    "hotline",
    tables=(Heating, SoldUnit, ManualPage, Bulletin, PartOrder, ServiceRecord),
    instructions=(
        "You are the hotline of a maker of heatings and guide whoever calls. You cannot see or touch their heating: "
        "ask them what it shows, and tell them what to do there."
    ),
    policy=(
        "Callers read out the plate, the display and the gauge, press keys and turn the valve when you ask for it. "
        "Keys are F1 to F6, and a sequence has four of them; three wrong sequences lock the heating for good. "
        "Lists come in pages of 20. Days are written like 2027-03-08, pressures in your records are tenths of a bar."
    ),
    user=(
        "You stand in front of your heating and call the hotline of its maker. You can read its plate, its display and "
        "its gauge, press its keys and turn its valve, and you do so only when the hotline tells you to."
    ),
    place="at the hotline",
    situation=situation,
    modules=["sandbox_mcp.engine.worlds.hotline.tools.guiding"],
)
