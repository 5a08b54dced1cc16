"""Cards of people who bought or asked, and what was dealt with them."""

from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.desk.paging import PageOfRows, asked, has, page_of
from sandbox_mcp.engine.worlds.desk.tables import ContactCard, Deal
from sandbox_mcp.engine.worlds.desk.world import desk

GROUP = "cards"


class Cards(PageOfRows):
    """Cards by number."""

    rows: list[ContactCard]


class Deals(PageOfRows):
    """Deals, oldest first."""

    rows: list[Deal]


@desk.query(group=GROUP)
def list_cards(tx: Tx, name: str = "", mail: str = "", phone: str = "", town: str = "", page: int = 1) -> Cards:
    """List cards, by number.

    Args:
        name: Only those whose name has this text in it.
        mail: Only those whose mail address has this text in it.
        phone: Only those whose telephone number has these digits in a row, however it is written.
        town: Only of this town.
        page: Page of the list.
    """
    digits = _digits(phone)
    found = [
        one
        for one in tx.all(ContactCard)
        if has(name, one.name) and has(mail, one.mail) and digits in _digits(one.phone) and town in ("", one.town)
    ]
    rows, of = page_of(sorted(found, key=lambda one: one.number), page)
    return {"rows": rows, **of}


@desk.query(group=GROUP)
def list_deals(tx: Tx, card: str = "", kind: str = "", page: int = 1) -> Deals:
    """List what was dealt with people, oldest first.

    Args:
        card: Only on the card of this number.
        kind: Only of this kind: offer, bill or call.
        page: Page of the list.
    """
    rows, of = page_of(tx.ordered(Deal, "day", "number", **asked(card=card, kind=kind)), page)
    return {"rows": rows, **of}


@desk.action(group=GROUP, updates=[ContactCard.status], said=["erased", "deleted"])
def erase_card(tx: Tx, card: str) -> ContactCard:
    """Mark a card as erased; what is on it is wiped tonight.

    Args:
        card: Number of the card, such as D-17.

    Raises:
        ValueError: the card is erased already.
    """
    return _set(tx, card, "erased")


@desk.action(group=GROUP, updates=[ContactCard.status], said=["blocked"])
def block_card(tx: Tx, card: str) -> ContactCard:
    """Block a card: it is kept, but nobody uses it any more.

    Args:
        card: Number of the card, such as D-17.

    Raises:
        ValueError: the card is blocked already.
    """
    return _set(tx, card, "blocked")


@desk.action(group=GROUP, updates=[ContactCard.status], said=["released"])
def release_card(tx: Tx, card: str) -> ContactCard:
    """Take back that a card is blocked or erased.

    Args:
        card: Number of the card, such as D-17.

    Raises:
        ValueError: the card is kept anyway.
    """
    return _set(tx, card, "kept")


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def _set(tx: Tx, number: str, status: str) -> ContactCard:
    card = tx.one(ContactCard, number=number)
    if card.status == status:
        raise ValueError(f"card {number} is {status} already")
    return tx.change(card, status=status)
