"""State for logs that recorded none: calls of our tools, carried out again in the world of their scenario.

Policy: results are checked on the way, and where one differs nothing that was rebuilt is believed. Ids are those that
the log tells; time is the log's where that is the scenario's, else every event takes one step. Other forms of log tell
times roughly if at all, so moments that are less than ``DRIFT`` seconds apart are the same. Calls that never ran, or
that failed, change nothing.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sandbox_scenarios.model import Scenario
from sandbox_scenarios.stage import Stage

from sandbox_grader.grading.course import is_replay
from sandbox_grader.grading.values import is_array, is_number, is_object, same_value, within_floats
from sandbox_mcp.engine.tools import Outcome, World, attempt, bind, present
from sandbox_mcp.engine.tools.calling import without_arguments
from sandbox_mcp.engine.trajectory import Message, ToolCall, Trajectory
from sandbox_mcp.engine.world import Change, Clock, IdStream

DRIFT = 60.0
HOUR, YEAR = 3600.0, 366 * 86400.0
MOMENT = 1e8
"""From here on a number may be a time in seconds since 1970."""
REFUSALS = ("ConfirmationRequiredError", "SessionOverError")
"""What the session of any world, and no tool, answers a call with, beside the errors of closed gates."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A call that gave something else when it was carried out again; both outcomes as JSON text."""

    seq: int
    tool: str
    recorded: str
    again: str

    def __str__(self) -> str:
        return f"#{self.seq} {self.tool} gave {self.recorded}, and again {self.again}"


@dataclass(frozen=True, slots=True)
class _ToldIds(IdStream):
    """Hands out the id that the log tells a call returned."""

    told: str = ""

    def id(self, table: str, n: int) -> str:  # noqa: ARG002
        return self.told


def can_rebuild(trajectory: Trajectory, home: World) -> bool:
    """Whether a log lacks state, and every call that worked was one of a tool of this world.

    In prefix replay no call follows from those before it, so nothing can be rebuilt.
    """
    return (
        not is_replay(trajectory)
        and trajectory.started.world is None
        and all(
            event.error is not None or event.tool in home.tools
            for event in trajectory.events
            if isinstance(event, ToolCall)
        )
    )


def rebuilt(trajectory: Trajectory, scenario: Scenario) -> tuple[Trajectory, tuple[Mismatch, ...]]:
    """The session with the world it started from and the changes that its calls make, and what does not agree.

    Gives the trajectory back as it is where :func:`can_rebuild` says no.
    """
    if not can_rebuild(trajectory, scenario.home):
        return trajectory, ()
    again = _Reenactment(trajectory, scenario)
    events = tuple(map(again.event, trajectory.events))
    clock = scenario.clock
    started = replace(
        trajectory.started,
        world=scenario.world.tables,
        clock={"now": clock.now, "zone": clock.zone, "step": clock.step},
    )
    return replace(trajectory, started=started, events=events), tuple(again.mismatches)


class _Reenactment:
    """The scenario's world while a log is carried out in it."""

    def __init__(self, trajectory: Trajectory, scenario: Scenario) -> None:
        self._stage = Stage.of(scenario, trajectory.started.variant, trajectory.started.seed)
        self._ids = self._stage.running.ids
        gates = scenario.home.gates.values()
        self._refusal = re.compile(rf"\b(?:{'|'.join((*REFUSALS, *(gate.error for gate in gates)))})\b")
        self._stage.open(skipped=_opening(trajectory))
        self._timed = _is_timed(trajectory, scenario.clock)
        self.mismatches: list[Mismatch] = []

    def event(self, event: Message | ToolCall) -> Message | ToolCall:
        """The event as it is in this world."""
        if self._timed:
            self._stage.set_time(event.clock)
        else:
            event = replace(event, clock=self._stage.tick())
        if isinstance(event, Message) or event.caller != "agent" or not self._ran(event):
            return event
        return replace(event, changes=tuple(self._again(event)))

    def _again(self, event: ToolCall) -> Iterator[Change]:
        """The changes that a call makes, once its outcome is known to be the recorded one."""
        tells_time = event.tool == self._stage.home.hints.clock
        if tells_time and is_number(event.result):
            told = float(within_floats(event.result))
            later = told - self._stage.now
            if abs(later) <= DRIFT or (not self._timed and 0 <= later <= YEAR):
                self._stage.set_time(told)
        tool = event.tool or ""
        running = self._stage.running
        running.ids = _ToldIds("", event.result) if isinstance(event.result, str) else self._ids
        bound = bind({tool: present(self._stage.home.tools[tool])}, tool, dict(event.arguments))
        if isinstance(bound, Outcome):
            self._compare(event, bound)
            return
        transaction = running.begin()
        outcome = attempt(transaction, bound)
        agreed = self._compare(event, outcome)
        if agreed and outcome.fault is None:
            yield from running.commit(transaction)

    def _ran(self, event: ToolCall) -> bool:
        """Whether a tool ran, as far as the log tells."""
        if event.tool not in self._stage.home.tools:
            return False
        error = event.error
        return error is None or (
            error.kind == "execution" and not self._refusal.search(f"{error.type} {error.message}")
        )

    def _compare(self, event: ToolCall, outcome: Outcome) -> bool:
        error, fault = event.error, outcome.fault
        if event.meta.get("result_missing"):
            return True
        if error is not None and fault is not None:
            told = without_arguments(fault.message) in without_arguments(error.message)
            agrees = error.type == fault.type or told
        else:
            agrees = error is None and fault is None and _same(event.result, outcome.result)
        if not agrees:
            again = fault.text if fault else _text(outcome.result)
            recorded = f"{error.type}: {error.message}" if error else _text(event.result)
            self.mismatches.append(Mismatch(event.seq, event.called, recorded, again))
        return agrees


def _opening(trajectory: Trajectory) -> int:
    """How many of the events with which a session opens are in the log."""
    for place, event in enumerate(trajectory.events):
        if isinstance(event, ToolCall) or event.sender == "user":
            return place + isinstance(event, Message)
    return len(trajectory.events)


def _is_timed(trajectory: Trajectory, clock: Clock) -> bool:
    """Whether the log's times are those of the scenario, and not of whoever recorded it, or counters."""
    times = [event.clock for event in trajectory.events]
    return (
        bool(times) and abs(times[0] - clock.now) <= HOUR and max(times) - clock.now <= YEAR and times == sorted(times)
    )


def _same(recorded: Any, again: Any) -> bool:
    """Whether two results are the same, where moments may be up to ``DRIFT`` seconds apart."""
    if is_object(recorded) and is_object(again):
        return all(_same(recorded.get(name), again.get(name)) for name in recorded.keys() | again.keys())
    if is_array(recorded) and is_array(again):
        return len(recorded) == len(again) and all(_same(a, b) for a, b in zip(recorded, again, strict=True))
    if same_value(recorded, again):
        return True
    return _is_moment(recorded) and _is_moment(again) and abs(recorded - again) < DRIFT


def _is_moment(value: Any) -> bool:
    return is_number(value) and MOMENT <= value < 100 * MOMENT


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=dict)
    return text if len(text) <= 80 else text[:77] + "..."
