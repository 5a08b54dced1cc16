"""How the services look things up: by words of a text, by name, and by days.

Policy: case and punctuation never matter, words have to be whole, and a day is written as 2024-05-31. A search that
finds nothing answers with an empty list; asking for one thing that does not exist is an error that names it, and so is
asking for a year of which nothing is known. A search that leaves out what is too much says so in its description.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from functools import lru_cache
from itertools import islice
from typing import TypeVar

from sandbox_mcp.engine.world.faults import DuplicateError, NoDataError
from sandbox_mcp.engine.world.tables import Id, Table, schema_of
from sandbox_mcp.engine.world.tx import Tx

_R = TypeVar("_R", bound=Table)
_T = TypeVar("_T")
_WORD = re.compile(r"[^\W_]+")
LIMIT = 25
"""How many results a search gives at most."""


@lru_cache(maxsize=8192)
def words_of(text: str) -> frozenset[str]:
    """The words of a text, in lower case and without what stands between them."""
    return frozenset(_WORD.findall(text.casefold()))


def has_words(text: str, wanted: str) -> bool:
    """True if every wanted word stands in a text.

    Raises:
        ValueError: nothing is wanted.
    """
    asked = words_of(wanted)
    if not asked:
        raise ValueError("expected at least one word to look for")
    return asked <= words_of(text)


def window(after: str | None, before: str | None = None, prefix: str = "") -> Callable[[str], bool]:
    """What tells whether a day lies between two others, both included; a side that was not given is open.

    The arguments that the two were given as are called ``after`` and ``before``, with ``prefix`` before that.

    Raises:
        ValueError: one of them is not written as 2024-05-31, or no calendar has it.
    """

    def checked(name: str, text: str | None, otherwise: date) -> str:
        try:
            return (otherwise if text is None else date.fromisoformat(text)).isoformat()
        except ValueError:
            raise ValueError(f"`{prefix}{name}` must be a day such as 2024-05-31, not {text!r}") from None

    first, last = checked("after", after, date.min), checked("before", before, date.max)
    return lambda day: first <= day <= last


def only(rows: Sequence[_R], what: str) -> _R:
    """The only row of a search for one thing.

    Raises:
        NoDataError: nothing was found.
        DuplicateError: there are several; the caller has to say more.
    """
    if not rows:
        raise NoDataError(f"there is no {what}")
    if len(rows) > 1:
        raise DuplicateError(f"{len(rows)} entries fit {what}; say more")
    return rows[0]


def known(tx: Tx, table: type[_R], key: str, what: str) -> _R:
    """The row of an id.

    Raises:
        NoDataError: no row has it; the message says what was looked for, and by which id.
    """
    found = tx.find(table, Id[_R](key))
    if found is None:
        raise NoDataError(f"there is no {what} with the {schema_of(table).key} {key!r}")
    return found


def check_year(name: str, year: int, years: range) -> None:
    """Refuse a year of which nothing is known, because an empty answer would say that nothing happened.

    Raises:
        ValueError: it is such a year.
    """
    if year not in years:
        raise ValueError(f"`{name}` must be between {years[0]} and {years[-1]}, not {year}")


def first(items: Iterable[_T], limit: int | None) -> list[_T]:
    """The first items, as many as were asked for.

    Raises:
        ValueError: the limit is not between 1 and 25.
    """
    if limit is not None and not 1 <= limit <= LIMIT:
        raise ValueError(f"`limit` must be between 1 and {LIMIT}, not {limit}")
    return list(islice(items, limit or LIMIT))
