"""Counts steps, where time is not a measure: the lines that a function runs, and what a backtracking matcher does.

The matcher of the standard library does not say how it got to its answer. Ours, over that library's parser, takes the
same way without the shortcuts: alternatives in order, repetitions greedy or lazy, back to the last choice where it gets
no further. Repetitions with a bound of up to ``BOUNDED`` are cut to ``KEPT``, so that small texts show how the cost
grows: a bound is a factor, however large, and no power.
"""

import importlib
import inspect
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    op: Any = importlib.import_module("re._constants")
    parser: Any = importlib.import_module("re._parser")

BOUNDED = 1000
KEPT = 3

Then = Callable[[int], bool]
Node = Callable[[int, Then], bool]


class TooManyStepsError(Exception):
    """The matcher took more steps than it was given."""


class Matcher:
    """One piece of a pattern, ready to be counted."""

    def __init__(self, items: list[Any], flags: int, *, most: int = 400_000) -> None:
        self._text = ""
        self._groups: dict[int, tuple[int, int]] = {}
        self._most = most
        self.steps = 0
        self._node = self._sequence(items, flags)

    def count(self, text: str, *, everywhere: bool = True) -> int:
        """The steps of finding all matches in a text, or of matching at its start only."""
        self._text, self.steps = text, 0
        at = 0
        while at <= len(text):
            self._groups = {}
            ends: list[int] = []
            if self._node(at, lambda end, ends=ends: ends.append(end) or True):
                at = max(ends[0], at + 1)
            else:
                at += 1
            if not everywhere:
                break
        return self.steps

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self._most:
            raise TooManyStepsError

    def _sequence(self, items: list[Any], flags: int) -> Node:
        nodes = [self._of(code, value, flags) for code, value in items]

        def run(at: int, then: Then, place: int = 0) -> bool:
            if place == len(nodes):
                return then(at)
            return nodes[place](at, lambda end: run(end, then, place + 1))

        return nodes[0] if len(nodes) == 1 else run

    def _of(self, code: object, value: Any, flags: int) -> Node:
        if (test := sign_test(code, value, flags)) is not None:
            return self._sign(test)
        return getattr(self, f"_{str(code).lower()}")(value, flags)

    def _sign(self, test: Callable[[str], bool]) -> Node:
        def run(at: int, then: Then) -> bool:
            self._step()
            return at < len(self._text) and test(self._text[at]) and then(at + 1)

        return run

    def _at(self, value: Any, flags: int) -> Node:
        def holds(at: int) -> bool:
            text = self._text
            if value is op.AT_BEGINNING_STRING:
                return at == 0
            if value is op.AT_BEGINNING:
                return at == 0 or (bool(flags & re.MULTILINE) and text[at - 1] == "\n")
            if value is op.AT_END_STRING:
                return at == len(text)
            if value is op.AT_END:
                return at == len(text) or ((bool(flags & re.MULTILINE) or at == len(text) - 1) and text[at] == "\n")
            border = (at > 0 and _is_word(text[at - 1])) != (at < len(text) and _is_word(text[at]))
            return border == (value is op.AT_BOUNDARY)

        def run(at: int, then: Then) -> bool:
            self._step()
            return holds(at) and then(at)

        return run

    def _subpattern(self, value: Any, flags: int) -> Node:
        group, on, off, items = value
        inner = self._sequence(list(items), (flags | on) & ~off)
        if group is None:
            return inner

        def run(at: int, then: Then) -> bool:
            def closing(end: int) -> bool:
                before = self._groups.get(group)
                self._groups[group] = (at, end)
                if then(end):
                    return True
                if before is None:
                    self._groups.pop(group, None)
                else:
                    self._groups[group] = before
                return False

            return inner(at, closing)

        return run

    def _groupref(self, group: int, _flags: int) -> Node:
        def run(at: int, then: Then) -> bool:
            self._step()
            if group not in self._groups:
                return False
            start, end = self._groups[group]
            written = self._text[start:end]
            return self._text.startswith(written, at) and then(at + len(written))

        return run

    def _branch(self, value: Any, flags: int) -> Node:
        ways = [(self._sequence(list(items), flags), first_test(list(items), flags)) for items in value[1]]

        def run(at: int, then: Then) -> bool:
            self._step()
            sign = self._text[at : at + 1]
            return any(way(at, then) for way, first in ways if first is None or (bool(sign) and first(sign)))

        return run

    def _atomic_group(self, items: Any, flags: int) -> Node:
        inner = self._sequence(list(items), flags)

        def run(at: int, then: Then) -> bool:
            ends: list[int] = []
            return inner(at, lambda end: ends.append(end) or True) and then(ends[0])

        return run

    def _assert(self, value: Any, flags: int, wanted: bool = True) -> Node:
        direction, items = value
        inner = self._sequence(list(items), flags)
        width = items.getwidth()[0]

        def run(at: int, then: Then) -> bool:
            self._step()
            start = at if direction > 0 else at - width
            return (start >= 0 and inner(start, lambda _: True)) == wanted and then(at)

        return run

    def _assert_not(self, value: Any, flags: int) -> Node:
        return self._assert(value, flags, wanted=False)

    def _max_repeat(self, value: Any, flags: int, *, lazy: bool = False) -> Node:
        least, most, items = value
        most = float("inf") if most is op.MAXREPEAT or most > BOUNDED else min(most, KEPT)
        least = min(least, KEPT)
        inner = self._sequence(list(items), flags)

        def run(at: int, then: Then, done: int = 0) -> bool:
            def again(end: int) -> bool:
                return (end > at or done < least) and run(end, then, done + 1)

            if done < least:
                return inner(at, again)
            self._step()
            if lazy:
                return then(at) or (done < most and inner(at, again))
            return (done < most and inner(at, again)) or then(at)

        return run

    def _min_repeat(self, value: Any, flags: int) -> Node:
        return self._max_repeat(value, flags, lazy=True)

    def _possessive_repeat(self, value: Any, flags: int) -> Node:
        inner = self._max_repeat(value, flags)

        def run(at: int, then: Then) -> bool:
            ends: list[int] = []
            return inner(at, lambda end: ends.append(end) or True) and then(ends[0])

        return run


def sign_test(code: object, value: Any, flags: int) -> Callable[[str], bool] | None:
    """Whether a sign fits, where this part of a pattern is about one sign."""
    if code not in (op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY):
        return None
    if code is op.ANY:
        return (lambda _: True) if flags & re.DOTALL else (lambda sign: sign != "\n")
    return _class_test(code, value, flags)


def _class_test(code: object, value: Any, flags: int) -> Callable[[str], bool]:
    known: dict[str, bool] = {}
    bare = re.IGNORECASE if flags & re.IGNORECASE else 0

    def fits(sign: str) -> bool:
        if sign not in known:
            forms = {sign, sign.lower(), sign.upper()} if bare else {sign}
            if code is op.LITERAL:
                known[sign] = any(ord(form) == value for form in forms if len(form) == 1)
            elif code is op.NOT_LITERAL:
                known[sign] = not any(ord(form) == value for form in forms if len(form) == 1)
            else:
                known[sign] = _in_class(list(value), forms)
        return known[sign]

    return fits


def _in_class(items: list[Any], forms: set[str]) -> bool:
    negated = bool(items) and items[0][0] is op.NEGATE
    return any(_member(code, value, form) for code, value in items for form in forms if len(form) == 1) != negated


def _member(code: object, value: Any, sign: str) -> bool:
    if code is op.LITERAL:
        return ord(sign) == value
    if code is op.RANGE:
        return value[0] <= ord(sign) <= value[1]
    if code is op.CATEGORY:
        name = str(value)
        holds = sign.isspace() if "SPACE" in name else sign.isdigit() if "DIGIT" in name else _is_word(sign)
        return holds != ("NOT" in name)
    return False


def _is_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def first_test(items: list[Any], flags: int) -> Callable[[str], bool] | None:
    """Whether an alternative may begin with a sign, as far as its first part tells; None where that is open."""
    if not items:
        return None
    code, value = items[0]
    if code is op.SUBPATTERN and not value[1] and not value[2]:
        return first_test(list(value[3]), flags)
    return sign_test(code, value, flags)


ALPHABET = " a1A_\n.,;:!?'\"`-+*/\\()[]{}<>=|&%$#@~^é\x00"


def pieces(pattern: str, flags: int) -> tuple[int, list[list[Any]]]:
    """The flags of a pattern, and the alternatives that it begins with, each with what stands before and behind.

    A pattern costs what its alternatives cost together, so that it is linear if each of them is.
    """
    tree = parser.parse(pattern, flags & ~re.DEBUG)
    return tree.state.flags, _alternatives(list(tree))


def _alternatives(items: list[Any]) -> list[list[Any]]:
    """Only of a branch that comes first: what stands behind one may be reached by any of its ways."""
    place = 1 if len(items) > 1 and items[0][0] in (op.AT, op.ASSERT, op.ASSERT_NOT) else 0
    if not items[place:]:
        return [items]
    code, value = items[place]
    before, behind = items[:place], items[place + 1 :]
    if code is op.SUBPATTERN and not value[1] and not value[2] and value[0] is None:
        return _alternatives([*before, *value[3], *behind])
    return [[*before, *way, *behind] for way in value[1]] if code is op.BRANCH else [items]


def attacks(items: list[Any], flags: int) -> Iterator[tuple[str, str, str]]:
    """Texts that make a pattern work: a start, what is to be repeated, an end. From each of its open repetitions."""
    seen: set[tuple[str, str, str]] = set()
    for lead, body in _repeated(items, flags, ""):
        for attack in ((lead, body, "\x00"), ("", lead + body, "\x00")):
            if attack not in seen and body:
                seen.add(attack)
                yield attack


def _repeated(items: list[Any], flags: int, lead: str) -> Iterator[tuple[str, str]]:
    """What each open repetition can read, after what comes before it."""
    for code, value in items:
        if code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            _, most, inner = value
            if most is op.MAXREPEAT or most > BOUNDED:
                yield from ((lead, body) for body in _bodies(list(inner), flags))
            yield from _repeated(list(inner), flags, lead)
        elif code is op.SUBPATTERN:
            yield from _repeated(list(value[3]), flags, lead)
        elif code is op.BRANCH:
            for way in value[1]:
                yield from _repeated(list(way), flags, lead)
        elif code in (op.ASSERT, op.ASSERT_NOT):
            yield from _repeated(list(value[1]), flags, lead)
        elif code is op.ATOMIC_GROUP:
            yield from _repeated(list(value), flags, lead)
        lead += sample([(code, value)], flags)


def _bodies(items: list[Any], flags: int) -> Iterator[str]:
    """What one round of a repetition can read: each kind of sign that fits; each way through, short and long."""
    code, value = items[0]
    if len(items) == 1 and (test := sign_test(code, value, flags)) is not None:
        fitting = [sign for sign in ALPHABET if test(sign)]
        yield from fitting if len(fitting) <= 3 else (fitting[0], fitting[1], fitting[-1])
        return
    ways = {sample(way, flags, full=full) for way in _alternatives(items) for full in (False, True)}
    yield from sorted(ways)
    if len(ways) > 1:
        yield "".join(sorted(ways, key=len)[-2:])


def sample(items: list[Any], flags: int, *, full: bool = False) -> str:
    """A text that this part of a pattern reads, as far as its parts by themselves tell; ``full`` with what may lack."""
    return "".join(_sample(code, value, flags, full) for code, value in items)


def _sample(code: object, value: Any, flags: int, full: bool) -> str:
    if code is op.LITERAL:
        return chr(value)
    if (test := sign_test(code, value, flags)) is not None:
        return next((sign for sign in ALPHABET if test(sign)), "") or next(
            (chr(number) for number in range(0x20, 0x3000) if test(chr(number))), ""
        )
    if code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        return sample(list(value[2]), flags, full=full) * min(max(value[0], int(full)), 8)
    if code is op.SUBPATTERN:
        return sample(list(value[3]), flags, full=full)
    if code is op.BRANCH:
        return sample(list(value[1][0]), flags, full=full)
    if code is op.ATOMIC_GROUP:
        return sample(list(value), flags, full=full)
    return ""


def lines(function: Callable[[str], Any], text: str) -> int:
    """How many lines of Python a call takes, to the last that a generator gives."""
    count = 0

    def trace(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        result = function(text)
        if inspect.isgenerator(result):
            list(result)
    except Exception:  # noqa: BLE001 - a refusal is an answer like another
        pass
    finally:
        sys.settrace(before)
    return count
