"""Somebody who wants to be forgotten, by what the tools tell."""

from sandbox_mcp.play.session.session import Session
from tests.scenarios.solvers.driver import Desk, Row, found, solves


@solves("forget_person")
def forget_person(session: Session) -> None:
    """Do with each card of a person what the rules ask."""
    desk = Desk(session)
    (address,) = found(r"She wrote from (\S+@\S+?)\. ", desk.wish)
    desk.rule(
        "the same mail address or the same telephone number are of one person, and so are those that share one",
        "Receptions and switchboards tie nobody together. Those we know of are told by mail.",
        "is erased: every card of theirs. A card with a bill that we still have to keep is blocked instead.",
        "years, which begin when the year in which it was written is over. Offers and calls need not be kept.",
        "a card stays as it is, untouched; whether there is one is decided by the legal counsel, in a note on the card",
    )
    counsel = {row["name"] for row in desk.all("list_employees", role="legal counsel")}
    officers = {row["name"] for row in desk.all("list_employees", role="data protection officer")}
    shared = {_line(*found(r"The line (.+) is the switchboard", mail["body"])) for mail in desk.mails("switchboard")}
    [page] = desk.pages("A bill is kept for")
    (years,) = found(r"A bill is kept for (\d+) years", page["body"])
    oldest = str(desk.today.year - int(years))
    done, addresses = set[str](), {address}
    while True:
        cards = [card for card in _tied(desk, addresses, shared) if card["number"] not in done]
        for card in cards:
            done.add(card["number"])
            notes = desk.all("list_notes", about=card["number"])
            if any(note["author"] in counsel and "claim" in note["text"] for note in notes):
                continue
            kept = [
                bill for bill in desk.all("list_deals", card=card["number"], kind="bill") if bill["day"][:4] >= oldest
            ]
            desk.call("block_card" if kept else "erase_card", card=card["number"])
        if not desk.notices:
            return
        desk.notices.clear()
        called = [mail["body"] for mail in desk.mails("also wrote to us") if mail["sender"] in officers]
        addresses |= {found(r"she also wrote to us from (\S+?)\. ", body)[0] for body in called}


def _tied(desk: Desk, addresses: set[str], shared: set[str]) -> list[Row]:
    """Cards that addresses and numbers tie to addresses."""
    cards: dict[str, Row] = {}
    mails, lines = {address.casefold() for address in addresses}, set[str]()
    seen: set[str] = set()
    while open_ := (mails | lines) - seen:
        for one in sorted(open_):
            seen.add(one)
            found_ = desk.all("list_cards", mail=one) if "@" in one else desk.all("list_cards", phone=one[-6:])
            for card in list(found_):
                line = _line(card["phone"])
                if card["mail"].casefold() == one or line == one:
                    cards[card["number"]] = card
                    mails.add(card["mail"].casefold())
                    lines |= {line} - shared
    return list(cards.values())


def _line(written: str) -> str:
    """Digits of a telephone number without the codes in front."""
    digits = "".join(filter(str.isdigit, written))
    for front in ("0049", "49", "0"):
        if digits.startswith(front):
            return digits.removeprefix(front)
    return digits
