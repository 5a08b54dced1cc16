"""Background that a message is read against: what the user said, what tools answered, and what was done in the session.

Policy: true context costs nothing. A value that the user named is no answer in the place of another; a deed that was
done at any time of the session was not invented.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from sandbox_scenarios.model import Fact

from sandbox_grader.claims.equality import READ_AS, is_value_of
from sandbox_grader.grading.values import is_array, is_number, is_object, within_floats
from sandbox_mcp.engine.talk.clauses import read
from sandbox_mcp.engine.talk.numbers import figured
from sandbox_mcp.engine.talk.patterns import Lazy
from sandbox_mcp.engine.talk.values import Mention, mentions
from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.worlds import default

ResultCell = str | float | int
ResultRow = Mapping[str, ResultCell]
_MOST_ROWS, _SHORT = 200, 3
_DAY, _HOUR = Lazy(r"\d{4}-\d\d-\d\d"), Lazy(r"\d\d:\d\d(?::\d\d)?$")
_ID = Lazy(r"[0-9a-f]{8}-|\W*\d|\w{1,3}\d")


@lru_cache(maxsize=8192)
def kind_of(cell: ResultCell) -> str:
    """The kind of a value in a result: ``number``, ``date``, ``time``, ``id`` or ``text``."""
    if not isinstance(cell, str):
        return "number"
    return "date" if _DAY.match(cell) else "time" if _HOUR.match(cell) else "id" if _ID.match(cell) else "text"


def _is_id(cell: ResultCell) -> bool:
    return isinstance(cell, str) and kind_of(cell) == "id"


@dataclass(frozen=True, eq=False)
class Background:
    """The session around a message; only the same one is equal, so that what was read against it is found again.

    ``given``: the user's words. ``known``: texts in results, in lower case. ``deeds``: kinds of deeds that succeeded,
    ``tools``: the tools that did them. ``names``: people and things that the world knows by name. ``people``: the
    words by which each of them may be told, and whether words were sent to them. ``touched``: texts in what was
    changed. ``answers``: the arguments of calls and their results.
    ``home``: the world that all this is said in; the default one where it is None.
    """

    given: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()
    deeds: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()
    people: tuple[tuple[frozenset[str], bool], ...] = ()
    touched: frozenset[str] = frozenset()
    answers: Sequence[tuple[Mapping[str, Any], Any]] = ()
    home: World | None = None

    @cached_property
    def rows(self) -> Sequence[ResultRow]:
        """The objects in results, of many the first: texts and numbers, with those of the call and of the same ids."""
        rows, known = list[dict[str, ResultCell]](), dict[ResultCell, ResultRow]()
        for arguments, result in self.answers:
            given, stack = {f"?{key}": cell for key, cell in _cells(arguments).items()}, [result]
            if is_array(result) and given:
                rows.append({**given, "": len(result)})
            while stack and len(rows) < _MOST_ROWS:
                item = stack.pop()
                if is_array(item):
                    stack.extend(reversed(item))
                elif is_object(item):
                    stack.extend(value for value in item.values() if is_array(value) or is_object(value))
                    row = _cells(item)
                    for cell in filter(_is_id, row.values()):
                        known.setdefault(cell, row)
                    rows.append(given | row)
                elif cells := _cells({"": item}):
                    rows.append(given | cells)
        for row in rows:
            for cell in [cell for cell in row.values() if _is_id(cell) and cell in known]:
                texts = {key: value for key, value in known[cell].items() if kind_of(value) == "text"}
                row |= {key: value for key, value in texts.items() if key not in row}
        return [row for row in rows if len(row) > 1]

    @property
    def things(self) -> Mapping[str, tuple[str, ...]]:
        """Names for the switches of the world, by column."""
        return {column: tuple(names) for column, names in (self.home or default()).switches.items()}

    @cached_property
    def given_values(self) -> frozenset[tuple[str, object]]:
        """The kinds and values in the user's words."""
        return frozenset((item.kind, item.value) for item in mentions(figured(". ".join(self.given))))

    @cached_property
    def user_said(self) -> str:
        """The user's words in lower case."""
        return "\n".join(self.given).casefold()

    @cached_property
    def user_words(self) -> frozenset[str]:
        """The words of the user, in lower case."""
        return frozenset(re.findall(r"[a-z]+", self.user_said))

    @cached_property
    def parts(self) -> Mapping[str, frozenset[str]]:
        """The names, in lower case, that have a word: those that the world knows, and the short texts in results."""
        found = dict[str, set[str]]()
        for name in {*map(str.lower, self.names), *(text for text in self.known if len(text.split()) <= _SHORT)}:
            for part in re.findall(r"[^\W\d_]+|\d+", name):
                found.setdefault(part, set()).add(name)
        return {part: frozenset(names) for part, names in found.items()}

    def named(self, fact: Fact) -> bool:
        """True if the user named one of the values of a fact."""
        if fact.type in ("name", "text"):
            return any(str(value).lower() in self.user_said for value in fact.value)
        talk = read(". ".join(self.given))
        return fact.type in READ_AS and any(
            item.kind in READ_AS[fact.type] and is_value_of(item, fact, talk) for item in mentions(talk.text)
        )

    def was_given(self, item: Mention) -> bool:
        """True if the user named a value."""
        return (item.kind, item.value) in self.given_values or ("number", item.value) in self.given_values


def _cells(item: Mapping[str, Any]) -> dict[str, ResultCell]:
    return {
        key: within_floats(value) if is_number(value) else value for key, value in item.items()
        if isinstance(value, str) or is_number(value)
    }  # fmt: skip
