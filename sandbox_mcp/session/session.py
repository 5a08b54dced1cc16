"""A session: one agent, one simulated user, one world, one message bus, one log.

Policy: the last recipient speaks next. The agent speaks to the environment by calling tools and to the user by saying
something; the user answers or ends the conversation. Whoever drives, the log is the same. A turn is one message on the
bus, and a tool call is two (the call and its result), as in ToolSandbox, appendix A.3.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sandbox_mcp import __version__
from sandbox_mcp.errors import SandboxError
from sandbox_mcp.session.recorder import Recorder
from sandbox_mcp.session.spec import AGENT_INSTRUCTIONS, SessionSpec
from sandbox_mcp.tools import Bound, Outcome, PresentedTool, all_tools, bind, call, plan, present, run, speak
from sandbox_mcp.trajectory import (
    CallError,
    EndReason,
    ErrorKind,
    Message,
    Role,
    SessionEnded,
    SessionStarted,
    Sink,
    ToolCall,
    ToolSpec,
    Trajectory,
)  # fmt: skip
from sandbox_mcp.users import Line, User, UserError
from sandbox_mcp.world import Change, Clock, IdStream, World, snapshot_of
from scenarios.model import UserSpec
from scenarios.variants import presented, variant_named


class SessionError(SandboxError):
    """Something was asked of a session that it cannot do; the message says why."""


@dataclass(frozen=True, slots=True)
class AgentCall:
    """A call as the agent sent it; ``meta`` is recorded with it."""

    name: str
    arguments: object
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class CallResult:
    """What a caller gets: the result as one JSON object, or an error text."""

    structured: Mapping[str, Any]
    error: str | None = None

    @property
    def text(self) -> str:
        """The error, or exactly the JSON of ``structured``."""
        return (
            self.error
            if self.error is not None
            else json.dumps(self.structured, ensure_ascii=False, separators=(",", ":"))
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """What the user did after the agent spoke: ``text`` is None once the conversation is over."""

    text: str | None
    over: bool
    reason: EndReason | None = None


class Session:
    """The state of one session and the only things that can happen in it."""

    def __init__(
        self, spec: SessionSpec, user: User, sink: Sink, tools: Mapping[str, PresentedTool] | None = None
    ) -> None:
        """Prepare a session; ``tools`` are those its scenario and variant present, where somebody has them already."""
        scenario = spec.scenario
        self.spec = spec
        self.user = user
        self.tools = presented(scenario, spec.variant) if tools is None else tools
        self.world = World(scenario.world, scenario.clock, IdStream(f"{scenario.name}/{spec.variant}/{spec.seed}"))
        self._terse = variant_named(spec.variant).terse
        self.turns = 0
        self.calls = 0
        self.ended: EndReason | None = None
        self._dialogue: list[Line] = []
        self._recorder = Recorder(sink)

    def begin(self) -> str:
        """Write the session's start, tell agent and user what they need to know, and let the user open.

        Returns the user's first words.
        """
        self._recorder.write(self._started())
        self._message("system", "agent", AGENT_INSTRUCTIONS)
        self._message("system", "user", user_briefing(self.spec.scenario.user))
        opening = self.spec.scenario.user.opening
        self._say("user", opening, {})
        self.turns = 0
        return opening

    def call(self, name: str, arguments: object, *, meta: Mapping[str, Any] | None = None) -> CallResult:
        """Let the agent call a tool. Faults are results, never exceptions."""
        return self.call_batch([AgentCall(name, arguments, meta or {})])[0]

    def call_batch(self, calls: Sequence[AgentCall]) -> list[CallResult]:
        """Let the agent make several calls at once; the results are in the order of ``calls``.

        The calls run in an order that loses every race between them, see ``sandbox_mcp.tools.races``.
        """
        refusal = self._refusal()
        if refusal:
            return [CallResult({}, refusal) for _ in calls]
        checked = [bind(self.tools, call.name, call.arguments) for call in calls]
        runnable = [index for index, item in enumerate(checked) if isinstance(item, Bound)]
        schedule = plan(self.world, [item for item in checked if isinstance(item, Bound)])
        order = [*(runnable[i] for i in schedule.order), *(i for i in range(len(calls)) if i not in runnable)]
        racing = {runnable[i] for i in schedule.racing}
        batch = f"b{self._recorder.seq}"
        results: dict[int, CallResult] = {}
        for index in order:
            self.world.tick()
            item = checked[index]
            outcome = self._spoken(calls[index].name, run(self.world, item) if isinstance(item, Bound) else item)
            meta = {**calls[index].meta, "race": True} if index in racing else calls[index].meta
            results[index] = self._record(calls[index].name, outcome, batch, meta)
        return [results[index] for index in range(len(calls))]

    def refuse(self, name: str, outcome: Outcome, meta: Mapping[str, Any] | None = None) -> CallResult:
        """Record a call that failed its checks elsewhere, as :meth:`call` would have."""
        refusal = self._refusal()
        if refusal:
            return CallResult({}, refusal)
        self.world.tick()
        return self._record(name, outcome, None, meta or {})

    async def say(self, text: str, meta: Mapping[str, Any] | None = None) -> Reply:
        """Let the agent say something to the user, and the user answer.

        Raises:
            SessionError: the session is over.
        """
        self._require_open()
        self._say("agent", text, meta or {})
        if self.turns >= self.spec.scenario.max_turns:
            return self._over("max_turns")
        try:
            turn = await self.user.respond(tuple(self._dialogue))
        except UserError as error:
            return self._over("user_failed", str(error))
        if turn.says is None:
            self._end_conversation(turn.meta)
            return self._over("user_ended")
        self._say("user", turn.says, turn.meta)
        return self._over("max_turns", turn.says) if self._spent() else Reply(turn.says, over=False)

    def end(self, reason: EndReason, detail: str | None = None) -> None:
        """Close the session; closing it twice keeps the first reason."""
        if self.ended is not None:
            return
        self.ended = reason
        now = self.world.tick()
        self._recorder.write(
            SessionEnded(seq=self._recorder.seq, clock=now, reason=reason, detail=detail, wall=self._recorder.stamp())
        )

    @property
    def over(self) -> bool:
        """Whether the session has ended."""
        return self.ended is not None

    @property
    def dialogue(self) -> tuple[Line, ...]:
        """What user and agent have said so far."""
        return tuple(self._dialogue)

    def restore(self, trajectory: Trajectory) -> None:
        """Take up a recorded session of the same spec where its log stops; nothing is written again.

        Raises:
            SessionError: the log is of another scenario, variant or seed, or the scenario has changed since.
        """
        _check_same(self.spec, trajectory.started)
        for event in trajectory.events:
            self.world.clock = Clock(event.clock, self.world.clock.zone, self.world.clock.step)
            if isinstance(event, ToolCall):
                self.world.replay(event.changes)
                self._count_call(event.caller)
            elif event.sender in ("user", "agent"):
                self._dialogue.append(Line("user" if event.sender == "user" else "agent", event.content))
                self.turns += 1
        self.turns = max(0, self.turns - 1)  # the opening does not count
        self.ended = trajectory.ended.reason if trajectory.ended else None
        self._recorder.seq = 1 + len(trajectory.events) + (trajectory.ended is not None)

    def _count_call(self, caller: Role) -> None:
        if caller == "agent":
            self.calls += 1
            self.turns += 2

    def _refusal(self) -> str | None:
        if self.ended is None and self._spent():
            self.end("max_turns" if self.calls < self.spec.scenario.max_calls else "max_calls")
        return "SessionOverError: this session is over; nothing more can be done in it" if self.over else None

    def _spent(self) -> bool:
        scenario = self.spec.scenario
        return self.turns >= scenario.max_turns or self.calls >= scenario.max_calls

    def _require_open(self) -> None:
        if self.ended is not None:
            raise SessionError(f"session {self.spec.id!r} is over ({self.ended})")

    def _over(self, reason: EndReason, detail: str | None = None) -> Reply:
        self.end(reason, detail)
        return Reply(None, over=True, reason=reason)

    def _say(self, speaker: Role, text: str, meta: Mapping[str, Any]) -> None:
        other: Role = "agent" if speaker == "user" else "user"
        self._message(speaker, other, text, meta)
        self._dialogue.append(Line("user" if speaker == "user" else "agent", text))
        self.turns += 1

    def _message(self, sender: Role, recipient: Role, content: str, meta: Mapping[str, Any] | None = None) -> None:
        self._recorder.write(
            Message(
                seq=self._recorder.seq,
                clock=self.world.tick(),
                sender=sender,
                recipient=recipient,
                content=content,
                visible_to=(sender, recipient),
                meta=meta or {},
                wall=self._recorder.stamp(),
            )
        )

    def _end_conversation(self, meta: Mapping[str, Any]) -> None:
        self.world.tick()
        tool = present(all_tools()["end_conversation"])
        outcome = call(self.world, {tool.name: tool}, tool.name, {})
        self._record(tool.name, outcome, f"b{self._recorder.seq}", meta, caller="user")

    def _record(
        self, name: str, outcome: Outcome, batch: str, meta: Mapping[str, Any], caller: Role = "agent"
    ) -> CallResult:
        self._count_call(caller)
        number = self._recorder.seq
        fault = outcome.fault
        self._recorder.write(
            ToolCall(
                seq=number,
                clock=self.world.clock.now,
                call=f"c{number}",
                batch=batch,
                caller=caller,
                name=name,
                tool=outcome.tool.name if outcome.tool else None,
                arguments=outcome.arguments,
                raw_arguments=outcome.raw_arguments,
                result=outcome.result,
                error=CallError(kind=error_kind(fault.kind), type=fault.type, message=fault.message) if fault else None,
                changes=outcome.changes,
                meta=meta,
                wall=self._recorder.stamp(),
            )
        )
        if fault:
            return CallResult({}, fault.terse if self._terse else fault.text)
        wrapped = outcome.tool is None or outcome.tool.wrapped
        return CallResult({"result": outcome.result} if wrapped else outcome.result)

    def _spoken(self, name: str, outcome: Outcome) -> Outcome:
        """The outcome with its error in the words of this presentation."""
        tool = self.tools.get(name)
        if outcome.fault is None or tool is None:
            return outcome
        shown = {canonical: presented for presented, canonical in tool.names.items()}
        return replace(outcome, fault=replace(outcome.fault, message=speak(outcome.fault.message, shown)))

    def _started(self) -> SessionStarted:
        scenario = self.spec.scenario
        clock = scenario.clock
        return SessionStarted(
            session=self.spec.id,
            scenario=scenario.name,
            digest=scenario.digest,
            categories=scenario.categories,
            variant=self.spec.variant,
            seed=self.spec.seed,
            trial=self.spec.trial,
            user_channel=self.spec.user_channel,
            agent=self.spec.agent,
            user={"kind": self.user.kind, **self.user.describe()},
            limits={"max_turns": scenario.max_turns, "max_calls": scenario.max_calls},
            tools=tuple(tool_spec(tool) for tool in self.tools.values()),
            world=scenario.world.tables,
            clock={"now": clock.now, "zone": clock.zone, "step": clock.step},
            versions={"sandbox_mcp": __version__},
            wall=self._recorder.stamp(),
        )


def error_kind(kind: str) -> ErrorKind:
    """The log's name for a kind of fault; the two use the same words."""
    return kind  # pyright: ignore[reportReturnType]


def tool_spec(tool: PresentedTool) -> ToolSpec:
    """What the log says about a tool as it was presented."""
    return ToolSpec(
        name=tool.name,
        tool=tool.tool.name,
        domain=tool.tool.domain,
        action=tool.tool.action,
        description=tool.description,
        input_schema=tool.schema,
    )


def user_briefing(user: UserSpec) -> str:
    """What the simulated user is told: its goal, and where its knowledge ends."""
    parts = [user.goal]
    if user.knows:
        parts.append("You know: " + " ".join(user.knows))
    if user.does_not_know:
        parts.append("You do not know: " + " ".join(user.does_not_know))
    return "\n".join(parts)


def initial_world(started: SessionStarted) -> World:
    """A world as it was when the session began, with its clock and its ids.

    Raises:
        SessionError: the log recorded no state.
    """
    if started.world is None:
        raise SessionError(f"the log of {started.session!r} recorded no state")
    clock = Clock(started.clock["now"], started.clock["zone"], started.clock["step"])
    ids = IdStream(f"{started.scenario}/{started.variant}/{started.seed}")
    return World(snapshot_of(started.world), clock, ids)


def _check_same(spec: SessionSpec, started: SessionStarted) -> None:
    mine = (spec.scenario.name, spec.variant, spec.seed)
    theirs = (started.scenario, started.variant, started.seed)
    if mine != theirs:
        raise SessionError(f"the log is of scenario, variant and seed {theirs!r}, not {mine!r}")
    if started.digest != spec.scenario.digest:
        raise SessionError(f"scenario {started.scenario!r} has changed since this session began; start a new one")


__all__ = ("CallResult", "Change", "Reply", "Session", "SessionError", "initial_world", "tool_spec", "user_briefing")
