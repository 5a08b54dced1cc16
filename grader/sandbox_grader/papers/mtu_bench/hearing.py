"""Words that had come up in a conversation by a given turn: to tell values that were said from made-up ones.

Policy: a value counts as said if any word of it was, or could have been said as a day, an hour or a number is. So a
claim that a value was made up is seldom wrong, at the price that some made-up values go unnoticed.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from sandbox_grader.papers.mtu_bench.dialogue import DialogueTurn
from sandbox_mcp.engine.trajectory import Message, ToolCall

_WORD: Final = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}:\d\d|\d+(?:\.\d+)?|[^\W\d_]+")
_NUMBERS: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_DAYS: Final = frozenset(
    {
        "today", "tonight", "tomorrow", "yesterday", "week", "weekend", "month", "monday", "tuesday", "wednesday",
        "thursday", "friday", "saturday", "sunday",
    }
)  # fmt: skip
_HOURS: Final = frozenset({"noon", "midnight", "now", "morning", "afternoon", "evening"})


@dataclass(frozen=True, slots=True)
class HeardSoFar:
    """Words known to the agent when it answered a turn: ``before`` it, and ``now``, in the user's message."""

    before: Callable[[str], bool]
    now: Callable[[str], bool]

    def only_before(self, value: Any) -> bool:
        """True if all of a value had been said before, but not all of it in the user's message."""
        words = words_of(_text(value))
        return bool(words) and all(map(self.before, words)) and not all(map(self.now, words))

    def nothing_of(self, value: Any) -> bool:
        """True if no word of a value had been said in any way; never of a truth value, which is said without words."""
        if value is None or isinstance(value, bool) or str(value).casefold() in {"true", "false"}:
            return False
        words = words_of(_text(value))
        return bool(words) and not any(self.before(way) or self.now(way) for word in words for way in _ways(word))


class SearchableSession:
    """The events of a session, searched for words when first asked."""

    def __init__(self, events: Sequence[Message | ToolCall]) -> None:
        self._events = events

    def by(self, turn: DialogueTurn) -> HeardSoFar:
        """Words said by that turn: the history that its source shows, else what the session records."""
        now = frozenset(words_of(turn.user)).__contains__
        if turn.history is not None:
            return HeardSoFar(frozenset(words_of(turn.history)).__contains__, now)
        first, start = self._first, turn.start
        return HeardSoFar(lambda word: first.get(word, start) < start, now)

    @cached_property
    def _first(self) -> Mapping[str, int]:
        """The number of the event in which each word first occurs."""
        found: dict[str, int] = {}
        for number, event in enumerate(self._events):
            for word in words_of(event.content if isinstance(event, Message) else _text(event.result)):
                found.setdefault(word, number)
        return found


def _ways(word: str) -> frozenset[str]:
    """The words by which a date, an hour or a small number may have been said."""
    if "-" in word:
        return _DAYS | {word, str(int(word[-2:]))}
    if ":" in word:
        hour = int(word.partition(":")[0])
        return _HOURS | {word, str(hour), str(hour % 12 or 12)}
    small = word.isascii() and word.isdigit() and len(word) < 3 and int(word) < len(_NUMBERS)
    return frozenset({word, _NUMBERS[int(word)]} if small else {word})


def words_of(text: str) -> list[str]:
    """The words of a text as they are compared: dates, hours and numbers whole, everything folded."""
    return _WORD.findall(text.casefold())


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
