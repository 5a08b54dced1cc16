"""Rows in order: sorted once for a version, made page by page, and true within a transaction that writes."""

from typing import Self

from sandbox_mcp.engine.world import Clock, snapshot_of
from sandbox_mcp.engine.world.clock import IdStream
from sandbox_mcp.engine.world.tables import Id, Table, key
from sandbox_mcp.engine.world.transaction import Transaction
from sandbox_mcp.engine.world.tx import Tx


class Parcel(Table):
    """A parcel."""

    id: Id[Self] = key()
    day: str
    town: str


ROWS = {f"p{number}": {"id": f"p{number}", "day": f"2027-03-0{9 - number}", "town": "Kiel"} for number in range(5)}


def begun() -> Tx:
    state = snapshot_of({"parcel": {**ROWS, "q": {"id": "q", "day": "2027-03-01", "town": "Husum"}}})
    return Tx(Transaction(state, Clock(0.0, "UTC", 1.0), IdStream("x"), {}))


def test_rows_come_by_columns_and_only_those_that_are_asked_for() -> None:
    tx = begun()
    assert [row.day[-1] for row in tx.ordered(Parcel, "day", town="Kiel")] == ["5", "6", "7", "8", "9"]
    assert [row.id for row in tx.ordered(Parcel, "day")[:2]] == ["q", "p4"]
    assert tx.ordered(Parcel, "town", "day")[-1].id == "p0"
    assert len(tx.ordered(Parcel, "day", town="Emden")) == 0


def test_a_call_sees_what_it_wrote_itself() -> None:
    tx = begun()
    _ = tx.ordered(Parcel, "day")
    tx.change(tx.one(Parcel, town="Husum"), day="2027-03-30")
    assert tx.ordered(Parcel, "day")[-1].town == "Husum"
    tx.remove(tx.one(Parcel, town="Husum"))
    assert {row.town for row in tx.ordered(Parcel, "day")} == {"Kiel"}


def test_looking_at_rows_in_order_conflicts_with_a_write_as_any_scan_does() -> None:
    tx = begun()
    _ = tx.ordered(Parcel, "day")
    assert ("parcel", None, None) in tx.transaction.reads
