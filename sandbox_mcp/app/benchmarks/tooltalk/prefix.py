"""Prefix replay: every reply of the agent is asked for on the ground truth's history, recorded, scored and forgotten.

Policy: before a reply the world is what the ground truth has made of it, to the last id and second, and the agent is
told the ground truth's words and calls as its own. It acts until it replies; then the next prefix begins, whatever it
did. All replies of a conversation are one log, which names the ground truth as its reference and records no state,
because its calls do not follow from each other. The user says what the ground truth recorded.

Source: ToolTalk, section 3.2 and algorithm 1.
"""

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from sandbox_clients.base import Agent, Brief, PastCall, PastStep
from sandbox_scenarios import Scenario
from sandbox_scenarios.model import PlannedCall, PlannedTurn, Solution
from sandbox_scenarios.plan import staged
from sandbox_scenarios.variants import actions, variant_named

from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.play import Arena, Watched, answer_to, conversing, play, problem_of
from sandbox_mcp.app.run.transports import DirectTarget, output_of
from sandbox_mcp.app.run.users import Users
from sandbox_mcp.engine.tools.free_text import ACT, render
from sandbox_mcp.engine.trajectory import (
    INFRASTRUCTURE,
    EndReason,
    Event,
    MemoryLog,
    Message,
    ReferenceCall,
    ReferenceTurn,
    SessionEnded,
    Sink,
    ToolCall,
    Trajectory,
)
from sandbox_mcp.engine.trajectory.model_text import readable
from sandbox_mcp.play.session import Session, SessionSpec
from sandbox_mcp.play.session.agent_calls import with_notices
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.session.open_session import OpenSession
from sandbox_mcp.play.session.opening import started_event
from sandbox_mcp.play.users import Line, ScriptedUser, User, UserTurn

ORIGIN = "sandbox_mcp"
"""``origin.format`` of prefix replays of our own scenarios."""
KIND = "ground_truth"
"""The kind of user that prefix replay has."""
Truths = Callable[[SessionManager, SessionSpec], Awaitable[Trajectory]]
"""Finds the ground truth of a session: the log of one in which everything went as it should."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """The beginning of a ground truth up to a message that the agent is to answer.

    ``spoken`` is the place of that message among the events, ``upto`` that of the first thing done about it, and
    ``reply`` that of the answer.
    """

    spoken: int
    upto: int
    reply: int


def prefixes(truth: Trajectory) -> Iterator[Prefix]:
    """Every prefix of a conversation that ends in a message of the user and is answered, in order."""
    spoken = upto = None
    for place, event in enumerate(truth.events):
        if isinstance(event, Message) and event.sender == "user" and event.recipient == "agent":
            spoken, upto = place, None
        elif spoken is not None and (event.caller if isinstance(event, ToolCall) else event.sender) == "agent":
            upto = place if upto is None else upto
            if isinstance(event, Message):
                yield Prefix(spoken, upto, place)
                spoken = None


@dataclass(frozen=True, slots=True)
class TruthfulUser:
    """The user of one prefix: it has said what it had to say, and whatever the agent replies ends the matter."""

    kind: str = KIND

    def describe(self) -> Mapping[str, Any]:
        """An empty description: its kind says everything."""
        return {}

    async def respond(self, dialogue: Sequence[Line]) -> UserTurn:  # noqa: ARG002
        """Nothing more is said before the next prefix."""
        return UserTurn(None)


def truthful_users() -> Users:
    """The users of prefix replay; scenarios without a solution have no ground truth to take them from."""

    def make(spec: SessionSpec) -> User:
        check_solved(spec.scenario)
        return TruthfulUser()

    return Users(make, {"kind": KIND})


def check_solved(scenario: Scenario) -> None:
    """See that a scenario has a ground truth.

    Raises:
        RunError: it has none.
    """
    if not scenario.solutions:
        raise RunError(
            f"scenario {scenario.name!r} states no reference solution, so there is nothing to replay; leave it out, or "
            "play without --mode prefix"
        )


def check_recalls(agent: Agent) -> None:
    """See that an agent can be given a history.

    Raises:
        RunError: it cannot.
    """
    if not agent.takes_history:
        raise RunError(
            f"agent {agent.name!r} cannot be given a history, which --mode prefix needs; ours that ask a model, async "
            "functions, services behind an address and programs as command:LINE can"
        )


async def played_truth(manager: SessionManager, spec: SessionSpec) -> Trajectory:
    """The ground truth of a scenario of ours: its first solution, played with its scripted user.

    Raises:
        RunError: the solution does not lead to the end of the conversation.
    """
    from sandbox_clients.reference import ReferenceAgent

    log = MemoryLog()
    alone = replace(spec, agent={"name": "reference"}, told="")
    user = ScriptedUser.of(spec.scenario.user, spec.scenario.clock)
    await play(Arena(manager, DirectTarget), alone, ReferenceAgent(), user, log)
    truth = log.trajectory()
    if truth.ended is None or truth.ended.reason != "user_ended":
        why = truth.ended and (truth.ended.detail or truth.ended.reason)
        raise RunError(
            f"the solution of scenario {spec.scenario.name!r} cannot be replayed: its session ended with {why!r}"
        )
    return truth


async def play_prefixes(arena: Arena, spec: SessionSpec, truth: Trajectory, agent: Agent, sink: Sink) -> None:
    """Ask an agent for every reply of a conversation; everything about it is in what ``sink`` was given.

    Raises:
        ScenarioError: there is no such variant.
    """
    log = _Conversation(sink, truth)
    reason: EndReason = "user_ended"
    detail = None
    try:
        log.begin(spec)
        for prefix in prefixes(truth):
            log.hear(prefix.upto)
            ended = await _asked(arena, spec, truth, prefix, agent, log)
            if ended is not None and ended.reason in INFRASTRUCTURE:
                reason, detail = ended.reason, ended.detail
                break
        else:
            log.hear(len(truth.events))
    except Exception as error:  # noqa: BLE001 - foreign code, and its faults must not end the run
        reason, detail = "agent_failed", problem_of(error)
    with suppress(OSError):  # whoever keeps the log knows
        log.end(reason, detail)


async def _asked(
    arena: Arena, spec: SessionSpec, truth: Trajectory, prefix: Prefix, agent: Agent, log: "_Conversation"
) -> SessionEnded | None:
    """Let the agent act on one prefix until it replies; returns how that session ended."""
    manager, watched = arena.manager, Watched(log)
    presentation = manager.presentation(spec)
    session = manager.session(spec, TruthfulUser(), watched)
    session.restore(replace(truth, events=truth.events[: prefix.upto], ended=None))
    message = _with_notices(_grouped(truth.events[prefix.spoken : prefix.upto])[0])
    opened = manager.adopt(OpenSession(session, presentation, watched, message, manager.batch_window))
    solution = _still_to_come(truth, prefix) if agent.wants_solution else None
    planned = solution and staged(solution, spec.scenario, spec.variant, session.tools)
    log.ended = None
    try:
        past = history(session, truth.events[: prefix.spoken])
        brief = Brief(spec.instructions, arena.reach(opened), planned, past)
        async with conversing(agent, brief, watched) as conversation:
            answer = await answer_to(conversation, message, watched, arena.patience)
            if not session.over:
                await opened.say(readable(answer.text), answer.meta)
    finally:
        await manager.close(opened.token)
    return log.ended


def _still_to_come(truth: Trajectory, prefix: Prefix) -> Solution:
    """Reply of the ground truth to a message, with all values as they were."""
    batches: dict[str, list[PlannedCall]] = {}
    for event in truth.events[prefix.upto : prefix.reply]:
        if isinstance(event, ToolCall) and event.caller == "agent":
            batches.setdefault(event.batch, []).append(PlannedCall(event.called, event.arguments))
    reply = truth.events[prefix.reply]
    said = reply.content if isinstance(reply, Message) else ""
    return Solution((PlannedTurn(tuple(map(tuple, batches.values())), said),), concrete=True)


def as_sent(session: Session) -> Callable[[ToolCall], tuple[str, dict[str, Any]]]:
    """How the agent of a session sends a call, as name and arguments: under the names that it is shown, or as text."""
    spec = session.spec
    as_text = variant_named(spec.variant).free_text
    offered = actions(spec.scenario, spec.variant) if as_text else session.tools

    def sent(call: ToolCall) -> tuple[str, dict[str, Any]]:
        tool = offered.get(call.name)
        shown = {canonical: name for name, canonical in tool.names.items()} if tool else {}
        given = {shown.get(name, name): value for name, value in call.arguments.items()}
        return (ACT, {"action": render(call.name, given)}) if as_text else (call.name, given)

    return sent


def history(session: Session, events: Sequence[Message | ToolCall]) -> tuple[PastStep, ...]:
    """Write events as an agent would remember them, in the words and names in which a session presents them."""
    sent = as_sent(session)
    steps: list[PastStep] = []
    for group in _grouped(events):
        first, calls = group[0], [event for event in group if isinstance(event, ToolCall)]
        if isinstance(first, Message):
            steps.append(Line("user" if first.sender == "user" else "agent", _with_notices(group)))
            continue
        results = [session.shown(call) for call in calls]
        results[-1] = results[-1].with_notices([event.content for event in group if isinstance(event, Message)])
        made = zip(calls, results, strict=True)
        steps.append(tuple(PastCall(*sent(call), output_of(result)) for call, result in made))
    return tuple(steps)


def _grouped(events: Sequence[Message | ToolCall]) -> list[list[Message | ToolCall]]:
    """Group messages with the calls that were made together, and with what was announced after them."""
    groups: list[list[Message | ToolCall]] = []
    for event in events:
        if isinstance(event, ToolCall):
            same = groups and isinstance(last := groups[-1][0], ToolCall) and last.batch == event.batch
            if event.caller == "agent":
                if not same:
                    groups.append([])
                groups[-1].append(event)
        elif event.sender == "environment":
            groups[-1].append(event)
        elif {event.sender, event.recipient} == {"user", "agent"}:
            groups.append([event])
    return groups


def _with_notices(events: Sequence[Message | ToolCall]) -> str:
    """The text of the first message, with the notices that came with it."""
    said, *others = (event.content for event in events if isinstance(event, Message))
    return with_notices(said, others)


def reference_of(truth: Trajectory, labels: Mapping[str, bool]) -> tuple[ReferenceTurn, ...]:
    """Write a ground truth as a reply to each message of the user; ``labels`` tell which tools are actions."""
    turns: list[ReferenceTurn] = []
    for event in truth.events:
        if isinstance(event, Message) and event.sender == "user" and event.recipient == "agent":
            turns.append(ReferenceTurn())
        elif turns and isinstance(event, Message) and event.sender == "agent":
            turns[-1] = replace(turns[-1], reply=event.content)
        elif turns and isinstance(event, ToolCall) and event.caller == "agent":
            tool, given, error = event.called, event.arguments, event.error.type if event.error else None
            call = ReferenceCall(tool=tool, arguments=given, result=event.result, error=error, action=labels.get(tool))
            turns[-1] = replace(turns[-1], calls=(*turns[-1].calls, call))
    return tuple(turns)


class _Conversation:
    """The log of all prefixes of a conversation: what each session of it records, numbered without a break."""

    __slots__ = ("_heard", "_seq", "_sink", "_truth", "ended")

    def __init__(self, sink: Sink, truth: Trajectory) -> None:
        self._sink = sink
        self._truth = truth
        self._seq = 0
        self._heard = 0
        self.ended: SessionEnded | None = None
        """How the last session ended."""

    def begin(self, spec: SessionSpec) -> None:
        """Write the first line, and what the agent is told first."""
        tools = actions(spec.scenario, spec.variant)
        labels = {name: tool.action for name, tool in spec.scenario.home.tools.items()}
        started = started_event(spec, TruthfulUser(), tools, _now())
        reference = spec.reference or (reference_of(self._truth, labels),)
        origin = {"format": ORIGIN, **(spec.origin or {}), "prefix_replay": True}
        self._sink.write(replace(started, world=None, reference=reference, origin=origin))
        self._seq = 1
        told = Message(
            seq=0, clock=spec.scenario.clock.now, sender="system", recipient="agent", content=spec.instructions,
            visible_to=("system", "agent"), wall=_now(),
        )  # fmt: skip
        self.write(told)

    def hear(self, upto: int) -> None:
        """Write the new part of the agent's view of the ground truth before the event at that place."""
        for event in self._truth.events[self._heard : upto]:
            if isinstance(event, Message) and event.recipient == "agent" and event.sender != "system":
                self.write(replace(event, wall=_now()))
        self._heard = upto

    def write(self, event: Event) -> None:
        """Keep an event of the session played; its end is noted, and its user's leaving left out."""
        if isinstance(event, SessionEnded):
            self.ended = event
        elif isinstance(event, Message):
            self._keep(replace(event, seq=self._seq))
        elif isinstance(event, ToolCall) and event.caller != "user":
            shift = self._seq - event.seq
            batch = f"b{int(event.batch[1:]) + shift}"
            self._keep(replace(event, seq=self._seq, call=f"c{self._seq}", batch=batch))

    def _keep(self, event: Message | ToolCall) -> None:
        self._sink.write(event)
        self._seq += 1

    def end(self, reason: EndReason, detail: str | None) -> None:
        """Write the last line."""
        clock = self._truth.events[-1].clock if self._truth.events else 0.0
        self._sink.write(SessionEnded(seq=self._seq, clock=clock, reason=reason, detail=detail, wall=_now()))


def _now() -> Mapping[str, Any]:
    return {"time": round(time.time(), 6)}
