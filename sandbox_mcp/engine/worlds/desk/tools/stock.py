"""Articles in the halls, what came and went, what was counted, and corrections of the books."""

from sandbox_mcp.engine.world.faults import DuplicateError
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.desk.paging import PageOfRows, asked, has, page_of
from sandbox_mcp.engine.worlds.desk.tables import Correction, Recount, StockCount, StockItem, StockMove
from sandbox_mcp.engine.worlds.desk.world import desk

GROUP = "stock"


class _Items(PageOfRows):
    """Items by number."""

    rows: list[StockItem]


class _Moves(PageOfRows):
    """Movements, oldest first."""

    rows: list[StockMove]


class _Counts(PageOfRows):
    """Counts, oldest first."""

    rows: list[StockCount]


class _Corrections(PageOfRows):
    """Corrections in the order in which they were booked."""

    rows: list[Correction]


class _Recounts(PageOfRows):
    """Recounts in the order in which they were asked for."""

    rows: list[Recount]


@desk.query(group=GROUP)
def list_items(tx: Tx, hall: str = "", name: str = "", page: int = 1) -> _Items:
    """List the items in the halls, by number. There is no list of what the books have of them today.

    Args:
        hall: Only in this hall.
        name: Only those whose name has this text in it.
        page: Page of the list.
    """
    found = [one for one in tx.all(StockItem) if hall in ("", one.hall) and has(name, one.name)]
    rows, of = page_of(sorted(found, key=lambda one: one.number), page)
    return {"rows": rows, **of}


@desk.query(group=GROUP)
def list_moves(tx: Tx, item: str = "", kind: str = "", page: int = 1) -> _Moves:
    """List movements of goods, oldest first.

    Args:
        item: Only of the item of this number.
        kind: Only of this kind: in, out or reversal.
        page: Page of the list.
    """
    rows, of = page_of(tx.ordered(StockMove, "day", "number", **asked(item=item, kind=kind)), page)
    return {"rows": rows, **of}


@desk.query(group=GROUP)
def list_counts(tx: Tx, item: str = "", day: str = "", team: str = "", page: int = 1) -> _Counts:
    """List what was counted, oldest first.

    Args:
        item: Only of the item of this number.
        day: Only of this day.
        team: Only by this team.
        page: Page of the list.
    """
    rows, of = page_of(tx.ordered(StockCount, "day", "item", **asked(item=item, day=day, team=team)), page)
    return {"rows": rows, **of}


@desk.query(group=GROUP)
def list_corrections(tx: Tx, page: int = 1) -> _Corrections:
    """List the corrections of the books.

    Args:
        page: Page of the list.
    """
    rows, of = page_of(tx.all(Correction), page)
    return {"rows": rows, **of}


@desk.query(group=GROUP)
def list_recounts(tx: Tx, page: int = 1) -> _Recounts:
    """List the items that are to be counted again.

    Args:
        page: Page of the list.
    """
    rows, of = page_of(tx.all(Recount), page)
    return {"rows": rows, **of}


@desk.action(group=GROUP, adds=[Correction], said=["corrected"])
def book_correction(tx: Tx, item: str, pieces: int) -> Correction:
    """Correct the books of an item by so many pieces: more than the books had, or with a minus less.

    Args:
        item: Number of the item, such as A-17.
        pieces: Pieces that the books get more, or with a minus less.

    Raises:
        DuplicateError: the item has a correction.
        ValueError: a correction by nothing.
    """
    found = tx.one(StockItem, number=item)
    if tx.all(Correction, item=item):
        raise DuplicateError(f"item {item} has a correction")
    if not pieces:
        raise ValueError("`pieces` must not be 0")
    return tx.add(Correction, item=found.number, pieces=pieces)


@desk.action(group=GROUP, removes=[Correction], said=["cancelled"])
def cancel_correction(tx: Tx, item: str) -> None:
    """Cancel the correction of an item.

    Args:
        item: Number of the item, such as A-17.
    """
    tx.remove(tx.one(Correction, item=item))


@desk.action(group=GROUP, adds=[Recount], said=["ordered"])
def order_recount(tx: Tx, item: str) -> Recount:
    """Have an item counted again.

    Args:
        item: Number of the item, such as A-17.

    Raises:
        DuplicateError: the item is to be counted again already.
    """
    found = tx.one(StockItem, number=item)
    if tx.all(Recount, item=item):
        raise DuplicateError(f"item {item} is to be counted again already")
    return tx.add(Recount, item=found.number)


@desk.action(group=GROUP, removes=[Recount], said=["cancelled"])
def cancel_recount(tx: Tx, item: str) -> None:
    """Take back that an item is to be counted again.

    Args:
        item: Number of the item, such as A-17.
    """
    tx.remove(tx.one(Recount, item=item))
