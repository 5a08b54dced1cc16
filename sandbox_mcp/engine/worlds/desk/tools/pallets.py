"""Pallets in the halls, whose labels only somebody who stands before them can read."""

from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.desk.paging import PageOfRows, asked, page_of
from sandbox_mcp.engine.worlds.desk.tables import Pallet
from sandbox_mcp.engine.worlds.desk.world import desk

GROUP = "pallets"


class _Pallets(PageOfRows):
    """Pallets by number."""

    rows: list[Pallet]


@desk.query(group=GROUP)
def list_pallets(tx: Tx, item: str = "", hall: str = "", status: str = "", page: int = 1) -> _Pallets:
    """List pallets, by number. What their labels say is not on the list.

    Args:
        item: Only with the item of this number.
        hall: Only in this hall.
        status: Only with this status: free, blocked or gone.
        page: Page of the list.
    """
    rows, of = page_of(tx.ordered(Pallet, "number", **asked(item=item, hall=hall, status=status)), page)
    return {"rows": rows, **of}


@desk.action(group=GROUP, updates=[Pallet.status], said=["blocked"])
def block_pallet(tx: Tx, pallet: str) -> Pallet:
    """Block a pallet, so that nothing of it is used.

    Args:
        pallet: Number of the pallet, such as Q-17.

    Raises:
        ValueError: the pallet is blocked already, or gone.
    """
    return _set(tx, pallet, "free", "blocked")


@desk.action(group=GROUP, updates=[Pallet.status], said=["released", "freed"])
def free_pallet(tx: Tx, pallet: str) -> Pallet:
    """Take back that a pallet is blocked.

    Args:
        pallet: Number of the pallet, such as Q-17.

    Raises:
        ValueError: the pallet is not blocked.
    """
    return _set(tx, pallet, "blocked", "free")


@desk.user_action
def read_label(tx: Tx, pallet: str) -> str:
    """Go to a pallet in the hall and read its label.

    Args:
        pallet: Number of the pallet, such as Q-17.
    """
    found = tx.one(Pallet, number=pallet)
    return f"{found.number}: {found.label}."


def _set(tx: Tx, number: str, before: str, after: str) -> Pallet:
    pallet = tx.one(Pallet, number=number)
    if pallet.status != before:
        raise ValueError(f"pallet {number} is {pallet.status}")
    return tx.change(pallet, status=after)
