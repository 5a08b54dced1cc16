"""Moments that do not follow from the clock: "tomorrow at five" turned into another time, or without a look at it.

Policy: a moment in an action is right if a solution gives that argument the same one, to two minutes, or if the agent
was told it. What a computing tool returned was not told: it is as right as what it was given. In queries, and where no
solution makes such a call, a moment counts only if the clock was never read and it lies days from all that was told;
without a solution, if it is far from the session's own time. Agents of other harnesses may have been told the date in
what their logs leave out, so that for them only what solutions say counts.

An example. The clock says Thursday, and the user wants to be reminded "tomorrow at five". A reminder for Saturday
counts; so does one in 2023 that was set without asking for the time.

Source: ToolSandbox, section 4.3 and figures 14 and 15; ToolTalk, section 4.2 ("2 PM" supplied as 2:00).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from sandbox_grader.conduct.ground import computes, named_leaves
from sandbox_grader.conduct.observed import ConductFinding, ObservedSession
from sandbox_grader.grading.values import is_number, leaves
from sandbox_mcp.engine.talk.numbers import figured
from sandbox_mcp.engine.talk.values import mentions
from sandbox_mcp.engine.trajectory import Message, ToolCall
from sandbox_mcp.engine.world.clock import to_timestamp

_NAMED = re.compile(r"time|date|(?:^|_)(?:start|end|from|until|due|when|at)(?:_|$)", re.IGNORECASE)
_WRITTEN = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d))?)?")
_OF_DAY = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
SAME = 120.0
"""Seconds by which two moments may differ: the clock goes on while an agent works."""
AWAY, FAR = 2 * 86400.0, 400 * 86400.0
"""Seconds from which a moment has nothing to do with another one, and nothing with this year."""
LOOKED = 3600.0
"""A result so near to the session's own time tells the time."""


def is_moment(name: str, value: Any) -> bool:
    """True if an argument is a moment or a time of day: a Unix timestamp, a date, or a time as it is written."""
    if isinstance(value, str):
        return bool(_WRITTEN.fullmatch(value.strip()) or _OF_DAY.fullmatch(value.strip()))
    return is_number(value) and abs(value) > 1e8 and bool(_NAMED.search(name))


def hallucinated_times(heard: ObservedSession) -> Iterator[ConductFinding]:
    """The calls with a moment that follows from nothing known, each call once."""
    given = {item for call in heard.calls for item in named_leaves(call.arguments) if _dates(*item)}
    stated = {item for call in heard.wanted for item in named_leaves(call.arguments) if _dates(*item)}
    if given <= stated:
        return
    known = _Known(heard)
    for event in heard.trajectory.events:
        if isinstance(event, ToolCall) and event.caller == "agent":
            about = next(known.problems(event), None)
            if about:
                tool = event.called
                yield ConductFinding("hallucinated_times", event.seq, f"{tool} got {about}", tool)
        known.hear(event)


def _dates(name: str, value: Any) -> bool:
    return is_moment(name, value) or name == "year"


def moments_in(arguments: Mapping[str, Any], zone: str) -> dict[str, float]:
    """The moments of a call by argument; one in parts goes by the name ``year``."""
    found = {
        name: moment
        for name, value in named_leaves(arguments)
        if is_moment(name, value) and (moment := _moment(value, zone)) is not None
    }
    parts = [arguments.get(name) for name in ("year", "month", "day", "hour", "minute")]
    if isinstance(parts[0], int) and not isinstance(parts[0], bool):
        numbers = [part if isinstance(part, int) else usual for part, usual in zip(parts, (0, 7, 1, 0, 0), strict=True)]
        moment = _at(numbers, zone)
        found |= {} if moment is None else {"year": moment}
    return found


def _moment(value: Any, zone: str) -> float | None:
    if not isinstance(value, str):
        return float(value)
    found = _WRITTEN.fullmatch(value.strip())
    return _at([int(part or 0) for part in found.groups()], zone) if found else None


def _at(parts: list[int], zone: str) -> float | None:
    try:
        return to_timestamp(datetime(*parts), zone)  # pyright: ignore[reportArgumentType]  # noqa: DTZ001
    except (OverflowError, ValueError):
        return None


class _Known:
    """Moments that an agent has been told so far."""

    def __init__(self, heard: ObservedSession) -> None:
        self._heard = heard
        self._zone = heard.zone
        self._wanted: dict[tuple[str, str], list[float]] = {}
        self._told: set[float] = set()
        self._of_day: set[int] = set()
        self._has_clock = heard.trajectory.started.origin is None
        self._clock = heard.replayed
        self._dated = False
        self._times: dict[tuple[str, str], set[int]] = {}
        for call in heard.wanted:
            for name, moment in moments_in(call.arguments, self._zone).items():
                self._wanted.setdefault((call.tool, name), []).append(moment)
            for name, value in named_leaves(call.arguments):
                if isinstance(value, str) and (found := _OF_DAY.fullmatch(value.strip())):
                    self._times.setdefault((call.tool, name), set()).add(int(found[1]) * 60 + int(found[2]))
            if heard.replayed:
                self._take(call.result)

    def hear(self, event: Message | ToolCall) -> None:
        """Take in what an event tells."""
        if isinstance(event, ToolCall) and computes(self._heard, event):
            return
        for item in self._heard.told_by(event):
            self._take(item)
            if isinstance(event, ToolCall):
                near = (value for value in leaves(item) if isinstance(value, int | float) and value > 1e8)
                self._clock = self._clock or any(abs(value - event.clock) < LOOKED for value in near)
            elif isinstance(item, str):
                self._dated = self._dated or bool(_YEAR.search(item))
                self._of_day |= {int(found.number) for found in mentions(figured(item)) if found.kind == "time"}

    def _take(self, item: Any) -> None:
        for value in leaves(item):
            if is_number(value) and value > 1e8:
                self._told.add(float(value))
            elif isinstance(value, str):
                for found in _WRITTEN.finditer(value):
                    moment = _at([int(part or 0) for part in found.groups()], self._zone)
                    self._told |= set() if moment is None else {moment}
                self._of_day |= {int(h) * 60 + int(m) for h, m in _OF_DAY.findall(value)}

    def problems(self, call: ToolCall) -> Iterator[str]:
        """List the faults of the moments of a call."""
        tool, acts = call.called, self._heard.labels.get(call.called) is True
        given = moments_in(call.arguments, self._zone)
        for name, moment in given.items():
            shown = call.arguments.get(name)
            what = f"{name} {shown!r}"
            wanted = self._wanted.get((tool, name), ())
            if acts and wanted:
                # the clock itself was told as well, and is not what was asked for
                told = (other for other in self._told if abs(other - call.clock) > LOOKED)
                if not _near(moment, wanted, SAME) and not _near(moment, told, 1.0):
                    look = "" if self._clock or self._dated else ", and the agent never looked at the clock"
                    yield f"{what}, which is not the moment that was asked for{look}"
            elif self._has_clock and not self._clock and not self._dated and self._is_away(moment, call.clock):
                yield f"{what}, and the agent never looked at the clock"
        if acts:
            yield from self._wrong_times(tool, call.arguments)

    def _is_away(self, moment: float, now: float) -> bool:
        if not self._heard.solutions:
            return abs(moment - now) > FAR
        wanted = [value for values in self._wanted.values() for value in values]
        return not _near(moment, [*wanted, *self._told], AWAY)

    def _wrong_times(self, tool: str, arguments: Mapping[str, Any]) -> Iterator[str]:
        """Times of day that neither a solution has nor any text told, in the morning or in the afternoon."""
        for name, value in named_leaves(arguments):
            wanted = self._times.get((tool, name))
            if wanted and isinstance(value, str) and (found := _OF_DAY.fullmatch(value.strip())):
                minutes = int(found[1]) * 60 + int(found[2])
                if minutes not in wanted | self._of_day:
                    yield f"{name} {value!r}, which is not the time that was asked for"


def _near(moment: float, others: Iterable[float], within: float) -> bool:
    return any(abs(moment - other) <= within for other in others)
