"""State for logs that recorded none: calls of our tools, carried out again in the world of their scenario.

Policy: results are checked on the way, and where one differs nothing that was rebuilt is believed; nor are changes that
a log without state tells of. Where the world is a
tape and a scenario asks for calls and messages alone, nothing is carried out and the log is judged as it is, since a
tape knows only what was once asked. A result counts as the same in every form in which hosts keep what our server
sent. Calls of tools that are not the scenario's cannot touch its world; they are left out and counted. Ids are those
that the log tells; time is the log's where that is the scenario's, else every event takes one step. Calls that never
ran, or that failed, change nothing.
"""

import copy
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, groupby, islice, permutations
from typing import Any

from sandbox_scenarios.model import Scenario, TableConstraint
from sandbox_scenarios.stage import FallenDue, Stage
from sandbox_scenarios.variants import actions, without_faults

from sandbox_grader.grading.course import is_replay
from sandbox_grader.grading.served import DRIFT, MISSING, as_sent, forms, inside, last_form, texts_in
from sandbox_grader.grading.values import is_number, within_floats
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.tools import Bound, Outcome, PresentedTool, attempt, bind, present
from sandbox_mcp.engine.tools.calling import without_arguments
from sandbox_mcp.engine.trajectory import CallError, Message, ToolCall, Trajectory
from sandbox_mcp.engine.world import Clock, IdStream
from sandbox_mcp.engine.world.faults import CHECKED
from sandbox_mcp.engine.worlds import TAPE
from sandbox_mcp.engine.worlds.recorded import LoggedAnswer, value_of

HOUR, YEAR = 3600.0, 366 * 86400.0
REFUSALS = ("ConfirmationRequiredError", "SessionOverError")
"""What the session of any world, and no tool, answers a call with, beside the errors of closed gates."""
BEHIND = re.compile(r"(?:[:_-]\d{1,4}|_mcp_[\w-]{1,60}|[_-](?=[A-Za-z]{0,40}\d)[0-9A-Za-z]{5,40})\Z")
"""What hosts put behind the name of a tool: a number, the name of its server, or a hash."""
ORDERS = 24
"""How many orders of calls that were sent together are tried."""
_CLASS = re.compile(r"\b[A-Za-z_]{1,60}(?:Error|Exception)\b")


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
class Rebuilt:
    """A log with its state, the calls that do not agree with it, and how often tools were called that are not ours."""

    trajectory: Trajectory
    mismatches: tuple[Mismatch, ...] = ()
    foreign: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class _ToldIds(IdStream):
    """Hands out the id that the log tells a call returned."""

    told: str = ""

    def id(self, table: str, n: int) -> str:  # noqa: ARG002
        return self.told


def can_rebuild(trajectory: Trajectory) -> bool:
    """True if a log lacks state, and its calls follow from each other. In prefix replay they do not."""
    return trajectory.started.world is None and not is_replay(trajectory)


def rebuilt(trajectory: Trajectory, scenario: Scenario, *, always: bool = False) -> Rebuilt:
    """The session with the world it started from and the changes that its calls make.

    The trajectory is given back as it is where :func:`can_rebuild` says no. With ``always`` the calls are carried out
    also where nothing that the scenario asks for needs it.
    """
    if not can_rebuild(trajectory):
        return Rebuilt(trajectory)
    bare = [replace(event, changes=()) if isinstance(event, ToolCall) else event for event in trajectory.events]
    again = _Reenactment(replace(trajectory, events=tuple(bare)), scenario)
    again.mismatches += _claimed(trajectory)
    happened = again.events() if always or needs_state(scenario) else again.as_logged()
    events = tuple(replace(event, seq=seq) for seq, event in enumerate(happened, start=1))
    clock = scenario.clock
    started = replace(
        trajectory.started,
        world=scenario.world.tables,
        clock={"now": clock.now, "zone": clock.zone, "step": clock.step},
    )
    told = replace(trajectory, started=started, events=events)
    return Rebuilt(told, tuple(again.mismatches), dict(again.foreign))


def _claimed(trajectory: Trajectory) -> Iterator[Mismatch]:
    """The changes that a log tells though it has no state; whoever edited it may have put them there."""
    for event in trajectory.events:
        if isinstance(event, ToolCall) and event.changes:
            yield Mismatch(
                event.seq, event.called, counted(len(event.changes), "change"), "none, as the log has no state"
            )


def needs_state(scenario: Scenario) -> bool:
    """True if a log has to be carried out again to be judged; not on a tape of whose tables none is asked."""
    places = (*scenario.milestones, *scenario.minefields)
    return not scenario.home.origin.endswith(TAPE) or any(
        isinstance(part, TableConstraint) for place in places for part in place.constraints
    )


class _Reenactment:
    """The scenario's world while a log is carried out in it."""

    def __init__(self, trajectory: Trajectory, scenario: Scenario) -> None:
        self._stage = Stage.of(scenario, without_faults(trajectory.started.variant)[0], trajectory.started.seed)
        self._ids = self._stage.running.ids
        gates = scenario.home.gates.values()
        self._refusal = re.compile(rf"\b(?:{'|'.join((*REFUSALS, *(gate.error for gate in gates)))})\b")
        self._stage.open(skipped=_opening(trajectory))
        self._timed = _is_timed(trajectory, scenario.clock)
        self._trajectory = trajectory
        self._tools = _OurTools(trajectory, scenario)
        self._since, self._happened = self._stage.now, set[FallenDue]()
        self.mismatches: list[Mismatch] = []
        self.foreign: Counter[str] = Counter()

    def events(self) -> Iterator[Message | ToolCall]:
        """The events as they are in this world, those of a batch in the order in which they ran."""

        def together(event: Message | ToolCall) -> object:
            agents = isinstance(event, ToolCall) and event.caller == "agent"
            return event.batch if agents and isinstance(event, ToolCall) else event.seq

        for _, group in groupby(self._trajectory.events, together):
            batch = list(group)
            calls = [event for event in batch if isinstance(event, ToolCall) and event.caller == "agent"]
            if not calls:
                self.mismatches += self._not_users(batch)
                yield from (replace(event, clock=self._time_of(event)) for event in batch)
                continue
            ours = [call for call in calls if self._is_ours(call)]
            if ours:
                yield from self._let_happen()
                yield from self._carried_out(ours)

    def _not_users(self, events: Sequence[Message | ToolCall]) -> Iterator[Mismatch]:
        """Calls laid to the user of tools that only agents have in the scenario."""
        for event in events:
            tool = self._tools.of(event) if isinstance(event, ToolCall) and event.caller == "user" else None
            if isinstance(event, ToolCall) and tool is not None and tool.tool.caller == "agent":
                yield Mismatch(event.seq, event.called, "a call of the user", "none, as the tool is the agent's")

    def as_logged(self) -> Iterator[Message | ToolCall]:
        """The events as the log tells them, nothing carried out."""
        for event in self._trajectory.events:
            if isinstance(event, Message) or event.caller != "agent":
                yield replace(event, clock=self._time_of(event))
            elif self._is_ours(event):
                yield replace(self._named(event), clock=self._time_of(event), result=last_form(event.result))

    def _is_ours(self, call: ToolCall) -> bool:
        """True if a call is part of the scenario; a call of a tool that nobody offered is the agent's mistake in it."""
        if self._tools.of(call) is not None or (call.error is not None and call.error.kind == "unknown_tool"):
            return True
        self.foreign[call.name] += 1
        return False

    def _let_happen(self) -> Iterator[ToolCall]:
        """What falls due in the world before calls of the agent; the log knows nothing of it."""
        now = self._stage.now
        for due, outcome, _ in self._stage.let_happen(self._since, self._happened):
            if outcome.changes:
                called = f"{due.name} {due.row}" if isinstance(due, FallenDue) else due.name
                yield ToolCall(
                    seq=0, clock=now, call=called, batch=called, caller="environment", name=due.name, tool=None,
                    arguments=outcome.arguments, changes=outcome.changes,
                )  # fmt: skip
        self._since = now
        self._happened.clear()

    def _time_of(self, event: Message | ToolCall) -> float:
        """When an event happens, which is now."""
        if self._timed:
            self._stage.set_time(event.clock)
            return event.clock
        return self._stage.tick()

    def _carried_out(self, calls: list[ToolCall]) -> list[ToolCall]:
        """The calls of one batch: in an order that gives what was recorded, else in the one that was written."""
        if len(calls) == 1:
            done, wrong = self._tried(calls)
        else:
            before, done, wrong = self._stage.running, list[ToolCall](), list[Mismatch]()
            for order in self._orders(calls):
                self._stage.running = copy.copy(before)
                done, wrong = self._tried(order)
                if not wrong:
                    break
            else:
                self._stage.running = before
                done, wrong = self._tried(calls)
        self.mismatches += wrong
        return done

    def _orders(self, calls: list[ToolCall]) -> Iterable[Sequence[ToolCall]]:
        """First the order in which our session runs what comes together, then the written one, then a few others."""
        bound = [self._bound(call) for call in calls]
        runnable = [(call, item) for call, item in zip(calls, bound, strict=True) if isinstance(item, Bound)]
        order = self._stage.plan([item for _, item in runnable]).order
        refused = [call for call, item in zip(calls, bound, strict=True) if not isinstance(item, Bound)]
        yield [*(runnable[place][0] for place in order), *refused]
        yield from islice(permutations(calls), ORDERS)

    def _tried(self, calls: Sequence[ToolCall]) -> tuple[list[ToolCall], list[Mismatch]]:
        done: list[ToolCall] = []
        wrong: list[Mismatch] = []
        for call in calls:
            timed = replace(call, clock=self._time_of(call))
            told = self._again(timed) if self._ran(timed) else self._named(timed)
            done.append(timed if isinstance(told, Mismatch) else told)
            wrong += [told] if isinstance(told, Mismatch) else []
        return done, wrong

    def _bound(self, call: ToolCall) -> Bound | Outcome:
        tool = self._tools.of(call)
        return bind({tool.name: tool} if tool else {}, tool.name if tool else call.name, dict(call.arguments))

    def _named(self, call: ToolCall) -> ToolCall:
        tool = self._tools.of(call)
        return replace(call, tool=tool.tool.name) if tool else call

    def _again(self, event: ToolCall) -> ToolCall | Mismatch:
        """The call with the changes that it makes, once its outcome is known to be the recorded one."""
        self._hear_time(event)
        running, bound = self._stage.running, self._bound(event)
        ids = [form for form in (*forms(event.result), *inside(event.result)) if isinstance(form, str)]
        tells_id = bool(ids) and bound.tool is not None and bound.tool.wrapped
        running.ids = _ToldIds("", ids[-1]) if tells_id else self._ids
        if self._stage.home.origin.endswith(TAPE) and running.knowledge is None:
            running.knowledge = LoggedAnswer(partial(_is_logged, event))
        if isinstance(bound, Outcome):
            return self._as_told(event, bound)
        transaction = running.begin()
        outcome = attempt(transaction, bound)
        told = self._as_told(event, outcome)
        if isinstance(told, Mismatch) or outcome.fault is not None:
            return told
        return replace(told, changes=running.commit(transaction))

    def _hear_time(self, event: ToolCall) -> None:
        """Set the clock by what a tool that tells the time has told."""
        tool = self._tools.of(event)
        told = next((form for form in chain(forms(event.result), inside(event.result)) if is_number(form)), None)
        if tool is None or tool.tool.name != self._stage.home.hints.clock or told is None:
            return
        moment = float(within_floats(told))
        later = moment - self._stage.now
        if abs(later) <= DRIFT or (not self._timed and 0 <= later <= YEAR):
            self._stage.set_time(moment)

    def _ran(self, event: ToolCall) -> bool:
        """True if a tool ran, as far as the log tells."""
        if self._tools.of(event) is None:
            return False
        error = event.error
        if error is None:
            return not any(self._refusal.match(form) for form in forms(event.result) if isinstance(form, str))
        return error.kind in (*CHECKED, "execution") and not self._refusal.search(f"{error.type} {error.message}")

    def _as_told(self, event: ToolCall, outcome: Outcome) -> ToolCall | Mismatch:
        """The call as our own log would tell of it, where what was recorded is a form of this outcome."""
        told = replace(event, tool=outcome.tool.name if outcome.tool else None, arguments=outcome.arguments)
        fault = outcome.fault
        if any(event.meta.get(name) for name in ("result_missing", "result_truncated", "result_partial")):
            return replace(told, result=outcome.result, error=fault)
        if fault is not None and _tells(event, fault):
            return replace(told, result=None, error=fault)
        if fault is None:
            recorded = event.result if event.error is None else event.error.message
            same = as_sent(recorded, outcome.result)
            if same is not MISSING:
                return replace(told, result=same, error=None)
        again = fault.text if fault else _text(outcome.result)
        recorded = f"{event.error.type}: {event.error.message}" if event.error else _text(event.result)
        return Mismatch(event.seq, event.called, recorded, again)


class _OurTools:
    """Finds the scenario's tool that a call is of, also behind the name that a host puts before it."""

    def __init__(self, trajectory: Trajectory, scenario: Scenario) -> None:
        self._home = scenario.home.tools
        self._shown = actions(scenario, trajectory.started.variant)
        self._called = {event.name for event in trajectory.events if isinstance(event, ToolCall)}
        self._offered = {tool.name for tool in trajectory.started.tools}

    def of(self, call: ToolCall) -> PresentedTool | None:
        """The tool, None where it is not one of the scenario's world."""
        if call.tool in self._home:
            return present(self._home[call.tool or ""])
        for name in filter(None, (call.name, call.tool)):
            if name in self._shown:
                return self._shown[name]
            behind = [shown for shown in self._shown if _is_behind(name, shown)]
            if not behind and not (call.error is not None and call.error.kind == "unknown_tool"):
                behind = self._spelled_like(name)
            if behind and not self._stands_beside(name, longest := max(behind, key=len)):
                return self._shown[longest]
        return None

    def _spelled_like(self, name: str) -> list[str]:
        """The one tool whose letters and digits end a name, in whatever spelling; none where several do."""
        ends = {
            _letters(bare[start:])
            for bare in (name, BEHIND.sub("", name))
            for start in range(len(bare))
            if start == 0 or not bare[start - 1].isalnum()
        }
        alike = [shown for shown in self._shown if _letters(shown) in ends]
        longest = max((len(_letters(shown)) for shown in alike), default=0)
        found = [shown for shown in alike if len(_letters(shown)) == longest]
        return found if len(found) == 1 else []

    def _stands_beside(self, name: str, tool: str) -> bool:
        """True if a log knows a tool by its own name, so that one that only ends like it is another."""
        return tool in self._called or (tool in self._offered and name in self._offered)


def _is_behind(name: str, tool: str) -> bool:
    """True if a host made the name from that of a tool, before which anything but a letter or a digit stands."""
    return any(
        bare.endswith(tool) and len(name) > len(tool) and not bare[: -len(tool)][-1:].isalnum()
        for bare in (name, BEHIND.sub("", name))
    )


def _is_logged(event: ToolCall, answer: Mapping[str, Any]) -> bool:
    """True if an answer on a tape is the one that a log recorded."""
    if answer.get("isError") is True or event.error is not None:
        return (answer.get("isError") is True) == (event.error is not None)
    return as_sent(event.result, value_of(answer)) is not MISSING


def _letters(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())


def _tells(event: ToolCall, fault: CallError) -> bool:
    """True if what a log recorded of a call is this failure, perhaps in a host's own words."""
    if event.error is None:
        message = without_arguments(fault.message)
        return any(message in text or text.startswith(f"{fault.type}:") for text in texts_in(event.result))
    text = f"{event.error.type} {event.error.message}"
    if fault.type in text or without_arguments(fault.message) in without_arguments(text):
        return True
    # Both failed, and nothing changed: a host that hides what our server said does not contradict it.
    return fault.kind in CHECKED or not _CLASS.search(text)


def _opening(trajectory: Trajectory) -> int:
    """Number of the events of a session's opening that are in the log."""
    for place, event in enumerate(trajectory.events):
        if isinstance(event, ToolCall) or event.sender == "user":
            return place + isinstance(event, Message)
    return len(trajectory.events)


def _is_timed(trajectory: Trajectory, clock: Clock) -> bool:
    """True if the log's times are those of the scenario, and not of whoever recorded it, or counters."""
    times = [event.clock for event in trajectory.events]
    return (
        bool(times) and abs(times[0] - clock.now) <= HOUR and max(times) - clock.now <= YEAR and times == sorted(times)
    )


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=dict)
    return text if len(text) <= 80 else text[:77] + "..."
