"""What the plug-ins share: who is logged in, whose a row is, and how times and addresses are written.

Policy: everything is checked before anything is written, and a refusal says what would be right. Times are written as
ToolTalk has them and must be complete and exist.
"""

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from math import inf
from typing import Any, Literal, TypedDict, TypeVar

from sandbox_mcp.engine.world.faults import NoDataError, ToolFault
from sandbox_mcp.engine.world.tables import Id, Table, cells_of, schema_of
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.office.tables import Account, LogIn

MOMENT, TIME = "%Y-%m-%d %H:%M:%S", "%H:%M:%S"
NEWEST = 5
"""How many entries a search gives at most."""
MatchType = Literal["any", "all"]
_ADDRESS = re.compile(r"[\w.+-]+@[\w.-]+")
_PHONE = re.compile(r"[0-9]{3}-[0-9]{3}-[0-9]{4}")
_R = TypeVar("_R", bound=Table)


class Success(TypedDict):
    """That an action has worked."""

    status: Literal["success"]


SUCCESS: Success = {"status": "success"}


class NotLoggedInError(ToolFault):
    """The tool works for an account, and none is logged in."""


class AlreadyLoggedInError(ToolFault):
    """An account is logged in, and there can be one at a time."""


def me(tx: Tx) -> Account:
    """The account logged in.

    Raises:
        NotLoggedInError: no account is logged in.
    """
    session = next(iter(tx.all(LogIn)), None)
    if session is None:
        raise NotLoggedInError("nobody is logged in; log in first, or register")
    return tx.get(Account, session.account)


def mine(tx: Tx, table: type[_R], id: Id[_R]) -> _R:  # noqa: A002 - what callers call it
    """A row of the account logged in.

    Raises:
        NotLoggedInError: no account is logged in.
        NoDataError: the account has no row of that id, whoever else may.
    """
    owner = me(tx)
    found = tx.find(table, id)
    if found is None or cells_of(found)["account"] != owner.account_id:
        raise NoDataError(f"there is no {schema_of(table).name} with the id {str(id)!r}")
    return found


def moment(tx: Tx, name: str, text: str) -> float:
    """A date and time as people write it here, as a moment.

    Raises:
        ValueError: it is written otherwise, or there is no such day or time.
    """
    return tx.moment(_parsed(name, text, MOMENT, "2027-03-08 17:30:00"))


def time_of_day(name: str, text: str) -> str:
    """A time of day with two digits for everything.

    Raises:
        ValueError: it is written otherwise, or there is no such time.
    """
    return _parsed(name, text, TIME, "17:30:00").strftime(TIME)


def _parsed(name: str, text: str, form: str, example: str) -> datetime:
    try:
        return datetime.strptime(text, form)  # noqa: DTZ007 - the zone is the world's
    except ValueError:
        raise ValueError(f"`{name}` is {text!r}; expected something like {example!r}") from None


def written(tx: Tx, when: float | None) -> str | None:
    """A moment as people write it here."""
    return None if when is None else tx.local(when).strftime(MOMENT)


def check_address(name: str, text: str) -> None:
    """Refuse what is not an address of mail.

    Raises:
        ValueError: it is not such an address.
    """
    if not _ADDRESS.fullmatch(text):
        raise ValueError(f"`{name}` has {text!r}, which is not a mail address; expected one like 'ada@example.com'")


def check_phone(name: str, text: str) -> None:
    """Refuse what is not a phone number.

    Raises:
        ValueError: it is not such a number.
    """
    if not _PHONE.fullmatch(text):
        raise ValueError(f"`{name}` is {text!r}; expected a phone number like '555-010-0199'")


def check_range(start_name: str, start: Any, end_name: str, end: Any) -> None:
    """Refuse an end before its start; either may be missing.

    Raises:
        ValueError: the end comes first.
    """
    if start is not None and end is not None and start > end:
        raise ValueError(f"`{start_name}` must not be later than `{end_name}`")


class Filter:
    """What a search for mail or messages asks for; at least one of its parts is given."""

    __slots__ = ("end", "every", "sender", "start", "words")

    def __init__(
        self, tx: Tx, query: str | None, match_type: MatchType, sender: str | None, dates: tuple[str | None, str | None]
    ) -> None:
        """``dates`` are ``start_date`` and ``end_date`` as given.

        Raises:
            ValueError: there is nothing to search by, or a date is not one.
        """
        if query is None and sender is None and dates == (None, None):
            raise ValueError("give at least one of `query`, `sender`, `start_date` and `end_date`")
        start, end = dates
        self.words = tuple((query or "").casefold().split())
        self.every = match_type == "all"
        self.sender = None if sender is None else sender.casefold()
        self.start = None if start is None else moment(tx, "start_date", start)
        self.end = None if end is None else moment(tx, "end_date", end)
        check_range("start_date", self.start, "end_date", self.end)

    def newest(self, tx: Tx, rows: Iterable[_R], of: Callable[[_R], tuple[float, str, str]]) -> list[_R]:
        """The newest rows that fit; ``of`` gives a row's moment, sender and text. Rows of the future are left out."""
        first, last = -inf if self.start is None else self.start, tx.now if self.end is None else min(self.end, tx.now)
        enough = all if self.every else any
        found: list[tuple[float, _R]] = []
        for row in rows:
            when, sender, text = of(row)
            if first <= when <= last and self.sender in (None, sender.casefold()):
                folded = text.casefold()
                if not self.words or enough(word in folded for word in self.words):
                    found.append((when, row))
        return [row for _, row in sorted(found, key=lambda item: -item[0])[:NEWEST]]
