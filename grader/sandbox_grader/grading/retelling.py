"""Reference solutions as this session would have told them: with the ids that it was given, at the time that it was.

Policy: a value counts by where it came from. What a solution takes from an earlier result is, in the session, what the
same call returned there; what derives from the clock may be as early or late as the session and the solution are long;
calls that either side sends together have no order. A call refused and made again later, as one that waits for
the user's word, need not have been tried first. Nothing else is forgiven, and only ``strict`` grading forgives this.

An example. A solution asks for the time (9:00:04), shifts it by a day, and adds a reminder then. The agent looked at
the wifi first, so its time is 9:00:05, and so is its reminder's. Carried out 30 seconds earlier and later, the solution
has a reminder between 8:59:34 and 9:00:34 tomorrow; the agent's lies between them, so the solution is told with it.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from sandbox_scenarios.model import Scenario

from sandbox_grader.grading.references import ReferenceTurns, references_of
from sandbox_grader.grading.values import FREE_TEXT, form_of, is_array, is_number, is_object, same_value
from sandbox_mcp.engine.trajectory import ReferenceCall, ReferenceTurn, ToolCall

if TYPE_CHECKING:
    from sandbox_grader.grading.metric import Mode, Subject

LONG = 1_000_000
"""Numbers from here on tell where they came from, as moments and ids do; a 5 that occurs twice may be two fives."""

A_YEAR = 366 * 86400.0
"""In seconds; where a log tells of more, its times are milliseconds, or another clock's."""


def solutions_of(subject: "Subject", mode: "Mode") -> tuple[ReferenceTurns, ...]:
    """The solutions that a session is held against, in ``strict`` mode told as the session would have."""
    return subject.retold if mode == "strict" else tuple(subject.references or subject.trajectory.started.reference)


def retold(subject: "Subject") -> tuple[ReferenceTurns, ...]:
    """Every solution as the session would have told it."""
    found = tuple(subject.references or subject.trajectory.started.reference)
    if not found:
        return found
    calls = [item for item in subject.trajectory.events if isinstance(item, ToolCall) and item.caller == "agent"]
    shifted = cache(lambda: _shifted(subject, found))  # carried out twice more only where a session calls otherwise
    batches = _batches(subject.scenario, found)
    return tuple(
        _Retelling(solution, lambda number=number: shifted()[number], batches[number], calls).solution()
        for number, solution in enumerate(found)
    )


Shifted = tuple[ReferenceTurns, ...]
"""A solution as it is when it is carried out earlier, and later; nothing where that is not known."""
Batches = tuple[tuple[int, ...], ...]
"""For every call of every turn the number of its batch."""


def _shifted(subject: "Subject", found: Sequence[ReferenceTurns]) -> list[Shifted]:
    """Every solution, earlier and later by at least as long as the session and the longest solution took."""
    scenario, events = subject.scenario, subject.trajectory.events
    if scenario is None or subject.trajectory.started.reference:
        return [()] * len(found)
    clock = scenario.clock
    longest = max(sum(len(turn.calls) + 2 for turn in solution) for solution in found)
    took = min(events[-1].clock - clock.now, A_YEAR) / clock.step if events and clock.step else 0
    reach = clock.step * 2 ** int(max(longest, took)).bit_length()  # few different ones, so that few are carried out
    moved = [references_of(scenario, subject.trajectory, seconds) for seconds in (-reach, reach)]

    def plan(solution: ReferenceTurns) -> list[list[str]]:
        return [[call.tool for call in turn.calls] for turn in solution]

    whole = [others for others in moved if len(others) == len(found)]
    return [
        tuple(others[number] for others in whole if plan(others[number]) == plan(solution))
        for number, solution in enumerate(found)
    ]


def _batches(scenario: Scenario | None, found: Sequence[ReferenceTurns]) -> list[Batches]:
    """Calls that a scenario's solutions send together; where not known every call is on its own."""
    planned = [
        tuple(tuple(number for number, batch in enumerate(turn.batches) for _ in batch) for turn in solution.turns)
        for solution in (scenario.solutions if scenario else ())
    ]
    shapes = [[len(turn) for turn in solution] for solution in planned]
    if shapes == [[len(turn.calls) for turn in solution] for solution in found]:
        return planned
    return [tuple(tuple(range(len(turn.calls))) for turn in solution) for solution in found]


@dataclass(slots=True)
class _Wanted:
    """A call of the solution while it is being retold."""

    turn: int
    place: int
    batch: int
    call: ReferenceCall
    made: int | None = None


class _Retelling:
    """One solution, held against the calls of a session."""

    def __init__(
        self, solution: ReferenceTurns, shifted: Callable[[], Shifted], batches: Batches, calls: Sequence[ToolCall]
    ) -> None:
        self._solution = solution
        self._shifted = shifted
        self._calls = calls
        self._wanted = [
            _Wanted(number, place, batch, call)
            for number, turn in enumerate(solution)
            for place, (call, batch) in enumerate(zip(turn.calls, batches[number], strict=True))
        ]
        self._elsewhere: dict[Hashable, list[Any]] = {}

    def solution(self) -> ReferenceTurns:
        """The solution, retold."""
        free = list(range(len(self._calls)))
        for wanted in self._wanted:
            self._retell(wanted, free)
        needed = [item for number, item in enumerate(self._wanted) if not self._needless(number)]
        turns = [[item for item in needed if item.turn == number] for number in range(len(self._solution))]
        return tuple(
            ReferenceTurn(calls=tuple(self._in_order(calls)), reply=turn.reply)
            for calls, turn in zip(turns, self._solution, strict=True)
        )

    def _retell(self, wanted: _Wanted, free: list[int]) -> None:
        """Give a call the session's values, and note which of the session's calls it is."""
        best: tuple[tuple[int, int, int], int, ReferenceCall] | None = None
        for place in free:
            call = self._calls[place]
            if call.called != wanted.call.tool:
                continue
            told = self._with_values(wanted, call)
            right = sum(same_value(value, call.arguments.get(name)) for name, value in told.arguments.items())
            rank = (int((call.error is None) == (told.error is None)), right, -place)
            if best is None or rank > best[0]:
                best = (rank, place, told)
        if best is None:
            return
        (outcome, right, _), place, wanted.call = best
        wording = sum(name in FREE_TEXT for name in wanted.call.arguments)
        if outcome and right + wording >= len(wanted.call.arguments):
            wanted.made = place
            free.remove(place)
            # what the call returned here, where it returned something else to the solution
            results = wanted.call.result, self._calls[place].result
            for value, other in _pairs(*results) if results[0] != results[1] else ():
                if _tells_its_origin(value) and _tells_its_origin(other) and value != other:
                    self._elsewhere.setdefault(form_of(value), []).append(other)

    def _with_values(self, wanted: _Wanted, call: ToolCall) -> ReferenceCall:
        """The solution's call with the session's values. What the session made just so is taken as it stands."""
        planned = wanted.call.arguments
        if all(name in call.arguments and _is_same(value, call.arguments[name]) for name, value in planned.items()):
            return wanted.call
        shifted = [other[wanted.turn].calls[wanted.place].arguments for other in self._shifted()]
        arguments = {
            name: self._value(value, [other.get(name) for other in shifted], call.arguments.get(name))
            for name, value in planned.items()
        }
        return replace(wanted.call, arguments=arguments)

    def _value(self, wanted: Any, shifted: Sequence[Any], given: Any) -> Any:
        """The session's value where it came from where the wanted one does, else the wanted one."""
        if is_object(wanted) and is_object(given):
            objects = [item for item in shifted if is_object(item)]
            return {
                name: self._value(item, [other.get(name) for other in objects], given.get(name))
                for name, item in wanted.items()
            }
        if is_array(wanted) and is_array(given) and len(wanted) == len(given):
            arrays = [item for item in shifted if is_array(item) and len(item) == len(wanted)]
            return [
                self._value(item, [other[place] for other in arrays], given[place]) for place, item in enumerate(wanted)
            ]
        elsewhere = self._elsewhere.get(form_of(wanted), ())
        right = given in elsewhere if isinstance(given, str | int | float) else False
        return given if right or _in_time(wanted, shifted, given) else wanted

    def _needless(self, number: int) -> bool:
        """True if a call was refused, is made again later, and was not tried here."""
        wanted = self._wanted[number]
        if wanted.call.error is None or wanted.made is not None:
            return False
        return any(
            later.call.tool == wanted.call.tool and same_value(later.call.arguments, wanted.call.arguments)
            for later in self._wanted[number + 1 :]
        )

    def _in_order(self, turn: list[_Wanted]) -> Iterator[ReferenceCall]:
        """The calls of a turn, those that belong to one batch of either side in the order of the session."""
        for side in ("session", "solution") if len(turn) > 1 else ():
            groups: dict[Hashable, list[int]] = {}
            for place, item in enumerate(turn):
                if item.made is not None:
                    batch = self._calls[item.made].batch if side == "session" else item.batch
                    groups.setdefault(batch, []).append(place)
            for places in groups.values():
                members = sorted((turn[place] for place in places), key=lambda item: item.made or 0)
                for place, item in zip(places, members, strict=True):
                    turn[place] = item
        return (item.call for item in turn)


def _in_time(wanted: Any, shifted: Sequence[Any], given: Any) -> bool:
    """True if a value that derives from the clock lies between what it is earlier and later, or is one of both."""
    moved = [other for other in shifted if not same_value(other, wanted)]
    if not moved or given is None:
        return False
    if is_number(given) and is_number(wanted) and all(map(is_number, moved)):
        return min(wanted, *moved) <= given <= max(wanted, *moved)
    return any(same_value(other, given) for other in moved)


def _pairs(first: Any, second: Any) -> Iterator[tuple[Any, Any]]:
    """The scalars that two JSON values have at the same places."""
    if is_object(first) and is_object(second):
        for name in first.keys() & second.keys():
            yield from _pairs(first[name], second[name])
    elif is_array(first) and is_array(second):
        for one, other in zip(first, second, strict=False):
            yield from _pairs(one, other)
    else:
        yield first, second


def _is_same(first: Any, second: Any) -> bool:
    """True if two JSON values are equal, and every part of them is of the same type."""
    if type(first) is not type(second) or first != second:
        return False
    if is_object(first) and is_object(second):
        return all(_is_same(value, second[name]) for name, value in first.items())
    return not is_array(first) or all(map(_is_same, first, second))


def _tells_its_origin(value: Any) -> bool:
    return (isinstance(value, str) and value != "") or (is_number(value) and abs(value) >= LONG)
