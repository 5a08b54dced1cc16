"""Slips in arithmetic: a number that was worked out, in an action or in a reply, and is not what it comes to.

Policy: what a number comes to is known from the solutions, where it is worked out from what was given, and from sums
that a reply spells out ("3 x 40 = 110"). Numbers are held against those of the same unit, and as exactly as they were
written: "about 60" is 64, and 63.9 is not. A number that was given may be the wrong one, but was not worked out.

An example. The user wants a timer for 25 minutes, and the solution sets 1500 seconds. ``set_timer(seconds=1600)``
counts. The conversion gives 64.22 degrees; "64" is fine in a reply, and "66.4 degrees" counts if that is all it says.

Source: ToolTalk, section 4.2, weak mathematical skills.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sandbox_grader.conduct.ground import Ground, computes, named_leaves, step_of, take_in
from sandbox_grader.conduct.moments import SAME, is_moment, moments_in
from sandbox_grader.conduct.observed import ConductFinding, ObservedSession, is_reply
from sandbox_grader.grading.values import is_number, remembered
from sandbox_mcp.engine.talk.numbers import figured
from sandbox_mcp.engine.talk.values import mentions
from sandbox_mcp.engine.trajectory import Message, ToolCall

WORKED_OUT = frozenset({"duration", "money", "temperature", "quantity", "percent", "number"})
"""The kinds of values that can be held against others of their unit; of numbers without one only telling ones are."""
FIGURES, ALIKE = 3, 0.5
"""A number without a unit has so many figures, and is so near to the right one, relative to it."""
_TERM = r"[$€£]?\d{1,12}(?:\.\d{1,9})?%?(?: ?[^\W\d_]{1,12})?"
_SUM = re.compile(
    rf"(?<![\d.,:/])({_TERM}(?: ?[-+*/x×·÷−] ?{_TERM}){{1,9}}) ?= ?[$€£]?(-?\d{{1,15}}(?:\.\d{{1,9}})?)(?![\d%])"
)
_ADORNED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))|\*\*|[_`]")
"""What stands in numbers, or around them, and does not belong to a sum."""
_PART = re.compile(r"(?:^|([-+*/x×·÷−]) ?)[$€£]?(\d+(?:\.\d+)?)")
PLAIN = ("number", "")
_WRITTEN = re.compile(r"\d+(?:\.\d+)?")
CLOSE = 0.01
"""How far, relative to the value, a number in a call may be off and still be a rounding."""


def slips(heard: ObservedSession) -> Iterator[ConductFinding]:
    """The numbers that are not what they come to, in calls and in replies, each event once."""
    for event in heard.trajectory.events:
        sums = _SUM.finditer(_ADORNED.sub("", event.content)) if is_reply(event) and "=" in event.content else ()
        for found in sums:
            parts = _PART.findall(found[1])
            if "%" in found[1] or sum(bool(operator) for operator, _ in parts) != len(parts) - 1:
                continue
            made = _value(parts)
            if made is not None and abs(made - float(found[2])) > _step(found[2]) / 2 + 1e-9 * abs(made):
                about = f"says {found[0]!r}, and that comes to {made:.10g}"
                yield ConductFinding("arithmetic_slips", event.seq, about)
                break
    if heard.wanted:
        yield from _in_actions(heard)
        yield from _in_spans(heard)
        yield from _in_replies(heard)


def _value(parts: Sequence[tuple[str, str]]) -> float | None:
    """Evaluate a sum, products first; None where something is divided by nothing."""
    total, term, sign = 0.0, float(parts[0][1]), 1.0
    for operator, written in parts[1:]:
        number = float(written)
        if operator in "*x×·":
            term *= number
        elif operator in "/÷":
            if number == 0:
                return None
            term /= number
        else:
            total, term, sign = total + sign * term, number, 1.0 if operator == "+" else -1.0
    return total + sign * term


def _step(written: str) -> float:
    """Worth of the last digit of a number, a zero too."""
    return 10.0 ** -len(written.partition(".")[2])


def _in_actions(heard: ObservedSession) -> Iterator[ConductFinding]:
    """Numbers in actions where every solution has another one, which was worked out."""
    right: dict[tuple[str, str], set[float]] = {}
    for call in heard.wanted:
        for name, value in named_leaves(call.arguments):
            if is_number(value) and not is_moment(name, value):
                right.setdefault((call.tool, name), set()).add(float(value))
    suspects = {
        call.seq: [
            (name, float(value), numbers)
            for name, value in named_leaves(call.arguments)
            if is_number(value)
            and (numbers := right.get((call.called, name)))
            and all(abs(value - number) > CLOSE * abs(number) for number in numbers)
        ]
        for call in heard.deeds
    }
    if not any(suspects.values()):
        return
    ground = Ground()
    for event in heard.trajectory.events:
        for name, value, numbers in suspects.get(event.seq, ()):
            worked_out = not any(ground.states(number, 0.0) for number in numbers)
            if worked_out and not ground.states(value, step_of(f"{value:.12g}")) and isinstance(event, ToolCall):
                right_one = ", ".join(f"{number:.12g}" for number in sorted(numbers))
                about = f"{event.called} got {name} {value:.12g}, where it comes to {right_one}"
                yield ConductFinding("arithmetic_slips", event.seq, about, event.called)
                break
        if not (isinstance(event, ToolCall) and computes(heard, event)):
            take_in(ground, heard, event)


def _in_spans(heard: ObservedSession) -> Iterator[ConductFinding]:
    """Actions with one end of a span right, and the time between both ends wrong."""
    spanning = [(call, given) for call in heard.deeds if len(given := moments_in(call.arguments, heard.zone)) == 2]
    planned = [(call.tool, moments_in(call.arguments, heard.zone)) for call in heard.wanted] if spanning else []
    for call, given in spanning:
        same = [moments for tool, moments in planned if tool == call.called and moments.keys() == given.keys()]
        if not same:
            continue
        first, last = given.values()
        apart = [[abs(given[name] - moments[name]) <= SAME for name in given] for moments in same]
        spans = sorted({abs(b - a) for a, b in (moments.values() for moments in same)})
        if any(map(all, apart)) or not any(map(any, apart)) or any(abs(abs(last - first) - s) <= SAME for s in spans):
            continue
        if abs(last - first) < 86400:
            hours = f"{abs(last - first) / 3600:.4g} hours lie between {' and '.join(given)}"
            about = f"{hours} of {call.called}, where it is {spans[0] / 3600:.4g}"
            yield ConductFinding("arithmetic_slips", call.seq, about, call.called)


def _in_replies(heard: ObservedSession) -> Iterator[ConductFinding]:
    """Replies with a value from nowhere, in the unit of one that solutions work out and never say.

    In prefix replay the results are not in the log, so that nothing can be said there.
    """
    planned = (turn.reply for solution in heard.solutions for turn in solution)
    texts = dict.fromkeys(text for text in planned if text and _has_digit(text))
    replies = [event for event in heard.trajectory.events if is_reply(event) and event.content not in texts]
    if heard.replayed or not texts or not any(_has_digit(event.content) for event in replies):
        return
    right = [item for text in texts for item in _amounts(text)]
    every = [(event, _amounts(event.content)) for event in heard.trajectory.events if is_reply(event)]
    said = {event.seq: amounts for event, amounts in every if event.content not in texts}
    stated = [item for _, amounts in every for item in amounts]
    missed = [other for other in right if not any(item.is_same(other) for item in stated)]
    units = {item.unit for item in missed}
    ground, given = Ground(), list[_Amount]()
    for event in heard.trajectory.events:
        for item in said.get(event.seq, ()):
            if (
                item.unit not in units
                or any(item.is_same(other) for other in (*right, *given))
                or item.is_given(ground)
            ):
                continue
            worked_out = [other for other in missed if item.stands_for(other) and not other.is_given(ground)]
            if worked_out:
                about = f"says {item.words!r}, where it comes to {worked_out[0].words!r}"
                yield ConductFinding("arithmetic_slips", event.seq, about)
                break
        if units and not (isinstance(event, ToolCall) and computes(heard, event)) and not is_reply(event):
            take_in(ground, heard, event)
            given += _amounts(event.content) if isinstance(event, Message) else ()


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


@dataclass(frozen=True, slots=True)
class _Amount:
    """A value with its unit as a text has it."""

    unit: tuple[str, str]
    value: float
    step: float
    words: str

    def is_same(self, other: "_Amount") -> bool:
        """True if two amounts are the same, as exactly as the coarser one was written."""
        near = max(self.step, other.step) / 2 + 1e-6 * abs(other.value)
        comparable = self.unit == other.unit or PLAIN in (self.unit, other.unit)
        return comparable and abs(self.value - other.value) <= near

    def stands_for(self, other: "_Amount") -> bool:
        """True if this is said where the other one should be."""
        near = abs(self.value - other.value) <= ALIKE * abs(other.value)
        return self.unit == other.unit and (near or self.unit != PLAIN)

    def is_given(self, ground: Ground) -> bool:
        """True if the number was given as it is written here."""
        found = _WRITTEN.search(self.words)
        return found is None or ground.states(float(found[0]), _step(found[0]))


@remembered(4096)
def _amounts(text: str) -> tuple[_Amount, ...]:
    """The amounts of a text whose units tell them apart, round ones to the last digit before their zeros."""
    told = figured(text)
    found: list[_Amount] = []
    for item in mentions(told) if _has_digit(told) else ():
        if item.kind in WORKED_OUT:
            unit = item.unit if item.kind in ("money", "quantity") else ""
            words = told[item.start : item.end].strip()
            written = _WRITTEN.search(words)
            if item.kind == "number" and not (written and len(written[0].replace(".", "").strip("0")) >= FIGURES):
                continue
            coarse = step_of(written[0]) / _step(written[0]) if written else 1.0
            found.append(_Amount((item.kind, unit), item.number, item.step * max(coarse, 1.0), words))
    return tuple(found)
