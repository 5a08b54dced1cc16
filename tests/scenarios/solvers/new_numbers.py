"""Solver of ``new_numbers``."""

import re

from sandbox_mcp.play.session.session import Session
from tests.scenarios.solvers.driver import Row, Unsolved, solves

NUMBER = re.compile(r"\+\d+")


def _used(entry: Row, texts: list[Row]) -> str:
    """Number that a person uses now by what they texted themselves."""
    told, now = {entry["phone_number"]}, entry["phone_number"]
    for text in texts:
        words, sender = text["content"], text["sender_phone_number"]
        if sender in told and "I keep my old number" in words:
            now = entry["phone_number"]
        elif sender in told and not words.startswith("By the way") and (named := NUMBER.findall(words)):
            [now] = named
            told.add(now)
    return now


@solves("new_numbers")
def new_numbers(session: Session) -> None:
    """Bring numbers up to date until nothing new comes in."""
    session.begin()

    def ask(tool: str, **arguments: object) -> list[Row]:
        result = session.call(tool, arguments)
        if result.error is not None:
            raise Unsolved(result.error)
        news.extend(result.structured.get("notices", ()))
        return result.structured["result"]

    news: list[str] = ["begin"]
    book = [entry for entry in ask("search_contacts") if not entry["is_self"]]
    held = {entry["person_id"]: entry["phone_number"] for entry in book}
    while news:
        news.clear()
        texts = sorted(ask("search_messages"), key=lambda text: text["creation_timestamp"])
        for entry in book:
            key, number = entry["person_id"], _used(entry, texts)
            if held.get(key) in (None, number):
                continue
            if any(other["phone_number"] == number and other["name"] == entry["name"] for other in book):
                ask("remove_contact", person_id=key)
                held.pop(key)
            else:
                ask("modify_contact", person_id=key, phone_number=number)
                held[key] = number
