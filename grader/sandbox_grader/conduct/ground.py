"""Information that an agent had before it did something, in forms in which a value can be looked for.

Policy: words of the user, results, errors and whatever the tools' own descriptions say are given; so is what a
reference solution states of its own knowledge, such as the code of a currency. An agent's own words give names and
wordings, which its user has heard, but never a number, an address or an id.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from sandbox_grader.conduct.observed import ObservedSession
from sandbox_grader.grading.values import is_array, is_object, leaves, within_floats
from sandbox_grader.users.values import TAIL, Value, digits
from sandbox_mcp.engine.talk.numbers import figured
from sandbox_mcp.engine.trajectory import Message, ToolCall

_NUMBER = re.compile(r"(?<![\w.])-?\d{1,15}(?:\.\d{1,15})?(?![\w]|\.\d)")
_WORD = re.compile(r"[^\W_]{2,}")
STEM = 4
"""Letters by which a word is known again, whatever its ending."""
MANY = 60
"""Where more numbers than these are known, any number could come from two of them."""
FACTORS = (60, 3600, 86400, 604800, 24, 7, 100, 1000)
"""What lengths of time and metric units are multiplied with."""


class Ground:
    """Texts and numbers that were given so far; each is read once, when something is first looked for."""

    __slots__ = ("_digits", "_new", "_numbers", "_stems", "_text")

    def __init__(self) -> None:
        self._new: list[list[Any]] = [[]]
        self._text: list[str] = []
        self._digits: list[str] = []
        self._numbers: set[float] = set()
        self._stems: set[str] = set()

    def add(self, value: Any) -> None:
        """Let the agent know a JSON value."""
        self._new[-1].append(value)

    def apart(self) -> None:
        """Let what was added so far be read by itself, because many sessions have it in common."""
        self._new.append([])

    def hear(self, words: str) -> None:
        """Let the agent know how something was put, and nothing more."""
        self._stems.update(map(stem, _WORD.findall(words.casefold())))

    def quotes(self, text: str) -> bool:
        """True if a text was given as it is, in whatever case."""
        self._read()
        return text.casefold().strip() in self._text[0]

    def has(self, value: Value) -> bool:
        """True if a telling value was given; a number also if it rounds one, or follows from two."""
        self._read()
        if value.kind == "phone number":
            return value.form[-TAIL:] in self._digits[0]
        if value.kind in ("mail address", "id"):
            return value.form in self._text[0]
        return value.kind == "date" or self.gives(float(value.form), step_of(value.form))

    def gives(self, number: float, step: float) -> bool:
        """True if a number was given, rounds one (``step`` is what its last digit is worth), or follows from two."""
        self._read()
        known, near = self._numbers, step / 2 + abs(number) * 1e-9
        if len(known) > MANY or any(abs(number - item) <= near for item in known):
            return True
        if any(abs(number - item * factor) <= near for item in known for factor in FACTORS):
            return True
        pairs = ((first, second) for first in known for second in known)
        return any(
            abs(number - made) <= near
            for first, second in pairs
            for made in (first + second, first - second, first * second, first / second if second else first)
        )

    def states(self, number: float, step: float) -> bool:
        """True if a number was given as it is, or rounded."""
        return self.near(number, step / 2 + abs(number) * 1e-9)

    def near(self, number: float, within: float) -> bool:
        """True if a number was given that differs by so much at most."""
        self._read()
        return any(abs(number - item) <= within for item in self._numbers)

    def mentions(self, words: Iterable[str]) -> bool:
        """True if one of some words was given, in whatever form."""
        self._read()
        return any(stem(word) in self._stems for word in words)

    def _read(self) -> None:
        for part in self._new:
            texts = list[str]()
            for value in (leaf for item in part for leaf in leaves(item)):
                if isinstance(value, bool) or value is None:
                    continue
                texts.append(value if isinstance(value, str) else f"{value:.15g}")
                if not isinstance(value, str):
                    self._numbers.add(float(value))
            if texts or not self._text:
                given = _given(tuple(texts))
                self._text = [" ; ".join([*self._text, given.text])]
                self._digits = [";".join([*self._digits, *given.digits])]
                self._stems |= given.stems
                self._numbers |= given.numbers
        self._new = [[]]


class _Given(NamedTuple):
    """Content of some texts: themselves in small letters, the digits of each, and their words and numbers."""

    text: str
    digits: tuple[str, ...]
    stems: frozenset[str]
    numbers: frozenset[float]


@lru_cache(maxsize=64)
def _given(texts: tuple[str, ...]) -> _Given:
    """Read texts; most of them are the descriptions of tools, which many sessions have in common."""
    joined = " ; ".join(texts)
    stems = frozenset(map(stem, _WORD.findall(joined.casefold())))
    numbers = frozenset(float(found[0]) for found in _NUMBER.finditer(figured(joined)))
    return _Given(joined.casefold(), tuple(map(digits, texts)), stems, numbers)


def stem(word: str) -> str:
    """Reduce a word to its stem."""
    return word.casefold()[:STEM]


def step_of(written: str) -> float:
    """Worth of the last digit of a number before its zeros: 0.01 of "3.25", 100 of "1500"."""
    whole, _, part = written.lstrip("-").partition(".")
    if part:
        return 10.0 ** -len(part)
    return float(f"1e{len(whole) - len(whole.rstrip('0'))}") if whole.strip("0") else 1.0


def before_all(heard: ObservedSession) -> Ground:
    """Knowledge before the first word: the tools' descriptions, and what a solution states by itself.

    In prefix replay it is shown the ground truth's results and replies, which the log does not have.
    """
    ground = Ground()
    for spec in heard.trajectory.started.tools:
        ground.add([spec.description, spec.input_schema])
    for turn in (turn for solution in heard.solutions for turn in solution):
        ground.add([call.arguments for call in turn.calls])
        if heard.replayed:
            ground.add([[call.result, call.error] for call in turn.calls])
            ground.add(turn.reply)
    ground.apart()
    return ground


def computes(heard: ObservedSession, call: ToolCall) -> bool:
    """True if a call only reckons with its arguments, so that its result is known to be right and no more."""
    tool = heard.home.agent_tools.get(call.called)
    return tool is not None and tool.computes


def take_in(ground: Ground, heard: ObservedSession, event: Message | ToolCall) -> None:
    """Let the agent know what an event gives it."""
    if isinstance(event, Message) and event.sender == "agent":
        ground.hear(event.content)
    for item in heard.told_by(event):
        ground.add(item)


def named_leaves(arguments: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The values in a call's arguments that have no parts, each with the nearest name above it."""
    found: list[tuple[str, Any]] = []
    stack: list[tuple[str, Any]] = list(arguments.items())[::-1]
    while stack:
        name, value = stack.pop()
        if isinstance(value, str):  # as most of them are
            found.append((name, value))
        elif is_object(value):
            stack.extend(list(value.items())[::-1])
        elif is_array(value):
            stack.extend((name, item) for item in reversed(value))
        else:
            found.append((name, within_floats(value)))
    return found
