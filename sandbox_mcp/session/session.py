"""A session: one agent, one simulated user, one world, one message bus, one log.

Policy: the last recipient speaks next. The agent speaks to the environment by calling tools and to the user by saying
something; the user answers or ends the conversation. Whoever drives, the log is the same. A turn is one message on the
bus, and a tool call is two (the call and its result), as in ToolSandbox, appendix A.3.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sandbox_mcp.session.opening import SessionError, started_event, user_briefing
from sandbox_mcp.session.recorder import Recorder
from sandbox_mcp.session.spec import AGENT_INSTRUCTIONS, SessionSpec
from sandbox_mcp.session.timers import gone_off
from sandbox_mcp.tools import Bound, Fault, Outcome, PresentedTool, all_tools, bind, call, plan, present, run, speak
from sandbox_mcp.tools.free_text import unpack
from sandbox_mcp.tools.gates import SIGN_IN, Gates
from sandbox_mcp.trajectory import (
    CallError,
    EndReason,
    Message,
    Role,
    SessionEnded,
    SessionStarted,
    Sink,
    ToolCall,
    Trajectory,
)  # fmt: skip
from sandbox_mcp.users import Line, User, UserCall, UserError, UserTurn
from sandbox_mcp.world import Clock, IdStream, World
from scenarios.variants import actions, presented, variant_named

CONFIRM = "confirm_action"
NOTHING: Mapping[str, Any] = {}


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

    def with_notices(self, notices: Sequence[str]) -> "CallResult":
        """The same result with what the phone has announced since the agent last heard from it."""
        if not notices:
            return self
        if self.error is not None:
            return replace(self, error="\n".join([self.error, *(f"Notice: {notice}" for notice in notices)]))
        return CallResult({**self.structured, "notices": list(notices)})

    @property
    def text(self) -> str:
        """The error, or exactly the JSON of ``structured``."""
        return (
            self.error
            if self.error is not None
            else json.dumps(self.structured, ensure_ascii=False, separators=(",", ":"))
        )


@dataclass(frozen=True, slots=True)
class Unconfirmed(CallResult):
    """The refusal of a call that the user's word would let pass. ``notices`` are those that its text tells of."""

    code: str = ""
    notices: tuple[str, ...] = ()

    def with_notices(self, notices: Sequence[str]) -> CallResult:
        """The same refusal with what the phone has announced."""
        return replace(CallResult.with_notices(self, notices), notices=(*self.notices, *notices))


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the phone has announced, and when, in seconds since 1970 by the virtual clock."""

    timestamp: float
    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What the user did after the agent spoke: ``text`` is None once the conversation is over.

    ``notices`` is what the phone has announced since the agent last heard from it.
    """

    text: str | None
    over: bool
    reason: EndReason | None = None
    notices: tuple[str, ...] = ()


class Session:
    """The state of one session and the only things that can happen in it."""

    def __init__(
        self,
        spec: SessionSpec,
        user: User,
        sink: Sink,
        tools: Mapping[str, PresentedTool] | None = None,
        knowledge: object = None,
    ) -> None:
        """Prepare a session.

        ``tools`` are those its scenario and variant present, where somebody has them already. ``knowledge`` is what
        search tools look things up in; without it, the offline sources.
        """
        scenario = spec.scenario
        seed = f"{scenario.name}/{spec.variant}/{spec.seed}"
        self.spec = spec
        self.user = user
        self.tools = presented(scenario, spec.variant) if tools is None else tools
        self._free_text = variant_named(spec.variant).free_text
        self._actions = actions(scenario, spec.variant) if self._free_text else self.tools
        self.world = World(scenario.world, scenario.clock, IdStream(seed), knowledge)
        self._terse = variant_named(spec.variant).terse
        self.turns = 0
        self.calls = 0
        self.ended: EndReason | None = None
        self._gates = Gates(seed, scenario.confirm, sign_in=scenario.sign_in)
        self.on_notice: Callable[[], None] = _unheard
        self._announced: list[Notice] = []
        self._notices: list[str] = []
        self._heard = scenario.clock.now
        self._dialogue: list[Line] = []
        self._recorder = Recorder(sink)

    def begin(self) -> str:
        """Write the session's start, tell agent and user what they need to know, and let the user open.

        Returns the user's first words.
        """
        self._recorder.write(started_event(self.spec, self.user, self._actions, self._recorder.stamp()))
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
        named = [self._named(call) for call in calls]
        checked = [item if isinstance(item, Outcome) else bind(self._actions, *item) for item in named]
        names = [calls[i].name if isinstance(item, Outcome) else item[0] for i, item in enumerate(named)]
        runnable = [index for index, item in enumerate(checked) if isinstance(item, Bound)]
        schedule = plan(self.world, [item for item in checked if isinstance(item, Bound)])
        order = [*(runnable[i] for i in schedule.order), *(i for i in range(len(calls)) if i not in runnable)]
        racing = {runnable[i] for i in schedule.racing}
        batch = f"b{self._recorder.seq}"
        results: dict[int, CallResult] = {}
        for index in order:
            clock = self.world.tick()
            item = checked[index]
            outcome, more = self._carry_out(item) if isinstance(item, Bound) else (item, NOTHING)
            meta = {**calls[index].meta, **more, **({"race": True} if index in racing else {})}
            results[index] = self._record(names[index], self._spoken(names[index], outcome), clock, batch, meta)
        self._announce()
        notices = self._take_notices()
        results[order[-1]] = results[order[-1]].with_notices(notices)
        return [results[index] for index in range(len(calls))]

    def call_confirmed(self, call: AgentCall, refused: Unconfirmed, meta: Mapping[str, Any]) -> CallResult:
        """Let the user confirm a call that was refused, and carry it out at once; ``meta`` says how they confirmed.

        What the phone had announced with the refusal is told with this result, because the refusal was not heard.
        """
        refusal = self._refusal()
        if refusal:
            return CallResult({}, refusal)
        self._confirm(refused.code, meta)
        self._notices[:0] = refused.notices
        return self.call_batch([call])[0]

    def refuse(self, name: str, outcome: Outcome, meta: Mapping[str, Any] | None = None) -> CallResult:
        """Record a call that failed its checks elsewhere, as :meth:`call` would have."""
        refusal = self._refusal()
        if refusal:
            return CallResult({}, refusal)
        clock = self.world.tick()
        return self._record(name, outcome, clock, f"b{self._recorder.seq}", meta or {})

    def _named(self, call: AgentCall) -> tuple[str, object] | Outcome:
        """Which tool a call means and with what arguments, or the outcome that says why it means none."""
        return unpack(call.name, call.arguments, self._actions) if self._free_text else (call.name, call.arguments)

    def _carry_out(self, call: Bound) -> tuple[Outcome, Mapping[str, Any]]:
        """Run a checked call if no gate stops it, and say what the log should keep beside its outcome."""
        names = (name for name, tool in self._actions.items() if tool.tool.name == SIGN_IN)
        refused = self._gates.check(call, self.world.snapshot, next(names, SIGN_IN))
        if refused:
            return Outcome(call.tool, call.arguments, fault=refused[0]), refused[1]
        before = self.world.clock.now
        outcome = run(self.world, call)
        waited = self.world.clock.now - before
        return outcome, {"waited": waited} if waited else {}

    async def say(self, text: str, meta: Mapping[str, Any] | None = None, *, answer: UserTurn | None = None) -> Reply:
        """Let the agent say something to the user, and the user answer; ``answer`` is theirs where it is known.

        Raises:
            SessionError: the session is over.
        """
        self._require_open()
        self._say("agent", text, meta or {})
        if self.turns >= self.spec.scenario.max_turns:
            return self._over("max_turns")
        try:
            turn = answer or await self.user.respond(tuple(self._dialogue))
        except UserError as error:
            return self._over("user_failed", str(error))
        for made in turn.calls:
            self._recall(made)
        for code in turn.confirms:
            self._confirm(code)
        if turn.says is None:
            self._end_conversation(turn.meta)
            return self._over("user_ended")
        self._say("user", turn.says, turn.meta)
        self._announce()
        if self._spent():
            return self._over("max_turns")
        return Reply(turn.says, over=False, notices=tuple(self._take_notices()))

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
    def awaits_user(self) -> bool:
        """Whether the user would be asked if the agent said something now, and not told that the limit is reached."""
        return not self.over and self.turns + 1 < self.spec.scenario.max_turns

    @property
    def dialogue(self) -> tuple[Line, ...]:
        """What user and agent have said so far."""
        return tuple(self._dialogue)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """All that the phone has announced so far, whether or not the agent has heard of it."""
        return tuple(self._announced)

    @property
    def has_timers(self) -> bool:
        """Whether the agent is offered timers, and the phone may thus have something to announce."""
        return any(tool.tool.domain == "timer" for tool in self._actions.values())

    def restore(self, trajectory: Trajectory) -> None:
        """Take up a recorded session of the same spec where its log stops; nothing is written again.

        Raises:
            SessionError: the log is of another scenario, variant or seed, or the scenario has changed since.
        """
        _check_same(self.spec, trajectory.started)
        for event in trajectory.events:
            waited = float(event.meta.get("waited", 0.0))
            self.world.clock = Clock(event.clock + waited, self.world.clock.zone, self.world.clock.step)
            if isinstance(event, ToolCall):
                self._replay_call(event)
            elif event.sender in ("user", "agent"):
                self._dialogue.append(Line("user" if event.sender == "user" else "agent", event.content))
                self.turns += 1
            elif event.sender == "environment":
                self._announced.append(Notice(event.clock, event.content))
        self.turns = max(0, self.turns - 1)  # the opening does not count
        self._heard = self.world.clock.now
        self.ended = trajectory.ended.reason if trajectory.ended else None
        self._recorder.seq = 1 + len(trajectory.events) + (trajectory.ended is not None)

    def _replay_call(self, event: ToolCall) -> None:
        self.world.replay(event.changes)
        self._count_call(event.caller)
        if event.tool and event.error is None:
            self._gates.spend(event.tool, event.arguments)
        if event.tool and "confirmation" in event.meta:
            self._gates.recall(event.tool, event.arguments, event.meta["confirmation"])
        if event.caller == "user" and event.tool == CONFIRM and event.error is None:
            self._gates.approve(str(event.arguments["code"]))

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

    def _announce(self) -> None:
        """Let the phone say which timers have gone off since it last spoke up. That takes no time."""
        now = self.world.clock.now
        for timer in gone_off(self.world.snapshot, self._heard, now):
            notice = f"The timer {timer['label']!r} has gone off."
            self._message("environment", "agent", notice, {"timer": timer["timer_id"]}, now)
            self._notices.append(notice)
            self._announced.append(Notice(now, notice))
            self.on_notice()
        self._heard = now

    def _take_notices(self) -> list[str]:
        taken, self._notices = self._notices, []
        return taken

    def _message(
        self,
        sender: Role,
        recipient: Role,
        content: str,
        meta: Mapping[str, Any] | None = None,
        clock: float | None = None,
    ) -> None:
        self._recorder.write(
            Message(
                seq=self._recorder.seq,
                clock=self.world.tick() if clock is None else clock,
                sender=sender,
                recipient=recipient,
                content=content,
                visible_to=(sender, recipient),
                meta=meta or {},
                wall=self._recorder.stamp(),
            )
        )

    def _end_conversation(self, meta: Mapping[str, Any]) -> None:
        clock = self.world.tick()
        tool = present(all_tools()["end_conversation"])
        outcome = call(self.world, {tool.name: tool}, tool.name, {})
        self._record(tool.name, outcome, clock, f"b{self._recorder.seq}", meta, caller="user")

    def _recall(self, made: UserCall) -> None:
        """Record what the user has looked up. That takes no time: the phone is not to know whether its owner thinks."""
        outcome = Outcome(made.tool, made.arguments, result=made.result)
        now = self.world.clock.now
        self._record(made.tool.name, outcome, now, f"b{self._recorder.seq}", NOTHING, caller="user")

    def _confirm(self, code: str, meta: Mapping[str, Any] = NOTHING) -> None:
        clock = self.world.tick()
        tool = all_tools()[CONFIRM]
        known = self._gates.approve(code)
        fault = None if known else Fault("execution", "ValueError", f"nothing with the code {code!r} waits")
        outcome = Outcome(tool, {"code": code}, fault=fault)
        self._record(tool.name, outcome, clock, f"b{self._recorder.seq}", meta, caller="user")

    def _record(
        self,
        name: str,
        outcome: Outcome,
        clock: float,
        batch: str,
        meta: Mapping[str, Any],
        caller: Role = "agent",
    ) -> CallResult:
        self._count_call(caller)
        number = self._recorder.seq
        fault = outcome.fault
        self._recorder.write(
            ToolCall(
                seq=number,
                clock=clock,
                call=f"c{number}",
                batch=batch,
                caller=caller,
                name=name,
                tool=outcome.tool.name if outcome.tool else None,
                arguments=outcome.arguments,
                raw_arguments=outcome.raw_arguments,
                result=outcome.result,
                error=CallError(kind=fault.kind, type=fault.type, message=fault.message) if fault else None,
                changes=outcome.changes,
                meta=meta,
                wall=self._recorder.stamp(),
            )
        )
        if fault:
            text = fault.terse if self._terse else fault.text
            return Unconfirmed({}, text, meta["confirmation"]) if "confirmation" in meta else CallResult({}, text)
        wrapped = self._free_text or outcome.tool is None or outcome.tool.wrapped
        return CallResult({"result": outcome.result} if wrapped else outcome.result)

    def _spoken(self, name: str, outcome: Outcome) -> Outcome:
        """The outcome with its error in the words of this presentation."""
        tool = self._actions.get(name)
        if outcome.fault is None or tool is None:
            return outcome
        shown = {canonical: presented for presented, canonical in tool.names.items()}
        return replace(outcome, fault=replace(outcome.fault, message=speak(outcome.fault.message, shown)))


def _unheard() -> None:
    """What is called when the phone speaks up and nobody has asked to be told."""


def _check_same(spec: SessionSpec, started: SessionStarted) -> None:
    mine = (spec.scenario.name, spec.variant, spec.seed)
    theirs = (started.scenario, started.variant, started.seed)
    if mine != theirs:
        raise SessionError(f"the log is of scenario, variant and seed {theirs!r}, not {mine!r}")
    if started.digest != spec.scenario.digest:
        raise SessionError(f"scenario {started.scenario!r} has changed since this session began; start a new one")
