"""A house with switches of its own: what its tables call them, replies are read for."""

from typing import Self

from sandbox_mcp import Id, Table, Tx, World, column, key


class Controls(Table, single=True):
    """What can be switched for the whole house."""

    id: Id[Self] = key()
    heating: bool = column(called=["heating", "radiators", "the warmth"])
    night: bool = column(called=["night mode", "quiet hours"])
    sealed: bool = False


class Lamp(Table):
    """One lamp of several, so that "the lamp" says nothing certain."""

    id: Id[Self] = key()
    room: str
    lit: bool = column(called=["lamp", "light"])


class Manual:
    """What the house's controls can do, in which tools look it up."""

    broken: frozenset[str] = frozenset()


house = World("house", tables=[Controls, Lamp], place="in the house", knowledge=Manual)


@house.query
def look_at_controls(tx: Tx) -> Controls:
    """Tell what is on and what is off."""
    return tx.one(Controls)


@house.action(updates=[Controls.heating])
def set_heating(tx: Tx, on: bool) -> Controls:
    """Switch the heating."""
    if "heating" in tx.knowledge.broken:
        raise ConnectionError("the heating does not answer")
    return tx.change(tx.one(Controls), heating=on)
