"""A session: one agent, one simulated user, one world, one message bus, one log.

Policy: the last recipient speaks next. The agent speaks to the environment by calling tools and to the user by saying
something; the user answers or ends the conversation. Whoever drives, the log is the same. The agent's messages to the
user and its calls have a limit each, and when either is nearly used up, the agent is told. What cannot be recorded has
not happened: a session whose log cannot be written is over at once, and says so.
"""

import json
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar, cast

from sandbox_scenarios.filling import as_text
from sandbox_scenarios.stage import NOTHING, OPENING, Stage, failed
from sandbox_scenarios.variants import presented

from sandbox_mcp.engine.own_code import told
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.talk.text import without_reasoning
from sandbox_mcp.engine.tools import Bound, Outcome, PresentedTool, attempt, bind, present
from sandbox_mcp.engine.tools.declared import OfSession
from sandbox_mcp.engine.tools.user_tools import CONFIRM, END, confirm_action, end_conversation
from sandbox_mcp.engine.trajectory import EndReason, Role, Sink, ToolCall, Trajectory
from sandbox_mcp.engine.trajectory.log import plain
from sandbox_mcp.engine.world import Running
from sandbox_mcp.engine.world.faults import WorldFailedError
from sandbox_mcp.play.session.agent_calls import AgentCall, AgentCalls, CallResult, Due, Unconfirmed
from sandbox_mcp.play.session.announcing import Announcements, Notice
from sandbox_mcp.play.session.calls_so_far import CallsSoFar
from sandbox_mcp.play.session.live_servers import close_servers
from sandbox_mcp.play.session.opening import SessionError, SessionSpec, check_same, started_event, user_briefing
from sandbox_mcp.play.session.recording import Back, Recorder
from sandbox_mcp.play.telemetry import answering
from sandbox_mcp.play.users import Line, User, UserAct, UserError, UserTurn
from sandbox_mcp.play.users.own_acts import with_results

OVER = "SessionOverError: this session is over; nothing more can be done in it"
UNRECORDED = "LogError: this did not happen, because no record of it can be kept; the session is over"
FEW_CALLS = 5
"""When so many calls are left, the agent is told."""
PARTING = "words"
"""Where the meta of a user's leaving has what it said with it."""
LAST_MESSAGE = "your next message is the last in this session"
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Reply:
    """Answer of the user to the agent: ``text`` is None once the conversation is over.

    ``notices`` is what has been announced since the agent last heard from it, ``parting`` what it said as it left.
    """

    text: str | None
    over: bool
    reason: EndReason | None = None
    notices: tuple[str, ...] = ()
    parting: str = ""


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

        ``tools`` are those its scenario and variant present, where they are at hand already. ``knowledge`` is what
        search tools look things up in, kept as ``live``; without it, the offline sources.
        """
        scenario = spec.scenario
        self.spec = spec
        self.user = user
        self.tools = presented(scenario, spec.variant) if tools is None else tools
        self.stage = Stage.of(scenario, spec.variant, spec.seed, knowledge, spec.trial)
        self._calls = AgentCalls(spec, self.tools, self.stage)
        self._of_session = knowledge if isinstance(knowledge, OfSession) else None
        self.live = knowledge if self.stage.running.knowledge is knowledge else None
        self.turns = 0
        self.calls = 0
        self.ended: EndReason | None = None
        self._dialogue: list[Line] = []
        acting = (tool.tool for tool in self._calls.actions.values())
        self._hearing = CallsSoFar(scenario, frozenset(tool.name for tool in acting if tool.action))
        self._recorder = Recorder(sink)
        self.announcements = Announcements(self.stage, self._recorder)

    def begin(self) -> str:
        """Write the session's start, tell agent and user what they need to know, and let the user open.

        Returns the user's first words.
        """
        started = started_event(self.spec, self.user, self._calls.actions, self._recorder.stamp(), self.stage.state)
        self._recorder.write(started)
        user = self.spec.user
        for (sender, recipient), text in zip(
            OPENING, (self.spec.instructions, user_briefing(user), user.opening), strict=True
        ):
            self._recorder.message(sender, recipient, text, self.stage.tick())
        self._dialogue.append(Line("user", user.opening))
        return user.opening

    def call(self, name: str, arguments: object, *, meta: Mapping[str, Any] | None = None) -> CallResult:
        """Let the agent call a tool. Faults are results, never exceptions."""
        return self.call_batch([AgentCall(name, arguments, meta or {})])[0]

    def look_up(self, calls: Sequence[AgentCall]) -> Callable[[], None] | None:
        """Work that may be done in another thread before these calls, so that they do not take long; None if nothing.

        It looks up in the offline sources what they remember from then on, and leaves the session as it is. Live
        sources are asked by the calls alone, because asking costs, or is recorded.
        """
        slow = self._calls.slow(calls) if self.live is None and not self.over else []
        return partial(self._look_up, slow) if slow else None

    def _look_up(self, slow: Sequence[Bound]) -> None:
        for call in slow:
            with suppress(WorldFailedError):  # the call itself will say so
                attempt(self.stage.running.begin(), call)

    def call_batch(self, calls: Sequence[AgentCall]) -> list[CallResult]:
        """Let the agent make several calls at once; the results are in the order of ``calls``.

        The calls run in an order that loses every race between them, see ``sandbox_mcp.engine.tools.races``.
        """
        results: dict[int, CallResult] = {}
        try:
            if refusal := self._refusal():
                return [refusal for _ in calls]
            self._carry_out(calls, results)
        except OSError as error:
            self._check_lost(error)
        return [results.get(index, CallResult({}, UNRECORDED)) for index in range(len(calls))]

    @contextmanager
    def handing_back(self, back: Back) -> Generator[None]:
        """While calls are made in another thread, have ``back`` do in this one what they record and announce."""
        tell = self.announcements.on_notice
        self._recorder.back, self.announcements.on_notice = back, partial(back, tell)
        try:
            yield
        finally:
            self._recorder.back, self.announcements.on_notice = None, tell

    def _carry_out(self, calls: Sequence[AgentCall], results: dict[int, CallResult]) -> None:
        """Make the calls of a batch, and keep what comes of each as soon as it is recorded."""
        batch = f"b{self._recorder.seq}"
        try:
            order = self._calls.due(calls)
        except WorldFailedError as failure:
            results.update(enumerate(self._failed(failure, None, self.stage.tick(), batch, calls)))
            return
        for due in order:
            clock = self.stage.tick()
            answering(calls[due.index].request)
            try:
                outcome, meta = self._calls.carry_out(due)
            except WorldFailedError as failure:
                results.update(enumerate(self._failed(failure, due, clock, batch, calls)))
                return
            meta = {**calls[due.index].meta, **meta}
            results[due.index] = self._record(due.name, outcome, clock, meta, batch=batch)
        self._announce()
        if order:
            last = order[-1].index
            results[last] = results[last].with_notices([*self.announcements.take(), *self._few_calls(len(order))])

    def _failed(
        self, failure: WorldFailedError, due: Due | None, clock: float, batch: str, calls: Sequence[AgentCall]
    ) -> list[CallResult]:
        """Record the call on which the world's own code broke, and end a session that says nothing about the agent."""
        if due is not None and isinstance(due.checked, Bound):
            outcome = Outcome(due.checked.tool, due.checked.arguments, fault=failed(failure))
            self._record(due.name, outcome, clock, calls[due.index].meta, batch=batch)
        self.end("world_failed", str(failure))
        text = "WorldFailedError: the world itself is broken and this session is over; the call is not to blame"
        return [CallResult({}, text) for _ in calls]

    def call_confirmed(self, call: AgentCall, refused: Unconfirmed, meta: Mapping[str, Any]) -> CallResult:
        """Let the user confirm a call that was refused, and carry it out at once; ``meta`` says how they confirmed.

        What had been announced with the refusal is told with this result, because the refusal was not heard.
        """
        try:
            if refusal := self._refusal():
                return refusal
            self._confirm(refused.code, meta)
        except OSError as error:
            self._check_lost(error)
            return CallResult({}, UNRECORDED)
        self.announcements.give_back(refused.notices)
        return self.call_batch([call])[0]

    def refuse(self, name: str, outcome: Outcome) -> CallResult:
        """Record a call that failed its checks elsewhere, as :meth:`call` would have."""
        try:
            return self._refusal() or self._record(name, outcome, self.stage.tick())
        except OSError as error:
            self._check_lost(error)
            return CallResult({}, UNRECORDED)

    async def say(self, text: str, meta: Mapping[str, Any] | None = None, *, answer: UserTurn | None = None) -> Reply:
        """Let the agent say something to the user, and the user answer; ``answer`` is theirs where it is known.

        Raises:
            SessionError: the session is over.
        """
        if self.ended is not None:
            raise SessionError(f"session {self.spec.id!r} is over ({self.ended})")
        try:
            return await self._exchange(text, meta or {}, answer)
        except OSError as error:
            self._check_lost(error)
            return Reply(None, over=True, reason="log_failed")

    async def _exchange(self, text: str, meta: Mapping[str, Any], answer: UserTurn | None) -> Reply:
        said = without_reasoning(text)
        if said != text:  # what a model thinks is no part of what it says; the log keeps it beside that
            meta = {"reasoning": text.replace(said, "").strip() if said else text.strip(), **meta}
        self._say("agent", said, meta)
        if self.turns >= self.spec.scenario.max_turns:
            return self._over("max_turns")
        try:
            turn = answer or await self._users_turn()
            for made in turn.calls:  # looked up, which takes no time: the world is not to know whether its user thinks
                outcome = Outcome(made.tool, made.arguments, result=made.result)
                self._record(made.tool.name, outcome, self.stage.now, caller="user")
            came = [(act, self._act(act)) for act in turn.does]
        except UserError as error:
            return self._over("user_failed", str(error))
        except WorldFailedError as failure:
            return self._over("world_failed", str(failure))
        for code in turn.confirms:
            self._confirm(code)
        if turn.says is None:
            clock = self.stage.tick()
            outcome = self.stage.again(Bound(end_conversation, NOTHING))
            meta = {**turn.meta, PARTING: turn.parting} if turn.parting else turn.meta
            self._record(END, outcome, clock, meta, caller="user")
            return self._over("user_ended", parting=turn.parting)
        says = with_results(turn.says, came) if came else turn.says
        self._say("user", says, turn.meta)
        self._announce()
        if self.ended is not None:
            return Reply(None, over=True, reason=self.ended)
        limit = self._limit()
        if limit:
            return self._over(limit)
        last = (LAST_MESSAGE,) if self.turns == self.spec.scenario.max_turns - 1 else ()
        return Reply(says, over=False, notices=(*self.announcements.take(), *last))

    async def _users_turn(self) -> UserTurn:
        """The user's turn: what it says and does about the agent's last words.

        Raises:
            UserError: it broke, on whatever that was.
            WorldFailedError: the world broke, in which it acted.
            OSError: what it did cannot be recorded.
        """
        heard = replace(self._dialogue[-1], act=self._act)
        try:
            turn = await self.user.respond((*self._dialogue[:-1], heard))
            meta = turn.meta and json.loads(json.dumps(turn.meta, default=plain, allow_nan=False))
            return replace(turn, meta=meta)
        except (UserError, WorldFailedError):
            raise
        except Exception as error:
            if error is self._recorder.lost:
                raise
            raise UserError(f"the user broke: {told(error)}") from error

    def end(self, reason: EndReason, detail: str | None = None) -> None:
        """Close the session; closing it twice keeps the first reason.

        Raises:
            OSError: its end cannot be recorded; it is over all the same, as one whose log has failed.
        """
        if self.ended is not None:
            if not self._recorder.ended:
                self._recorder.end_lost(self.stage.now)
            return
        self.ended = reason
        try:
            self._recorder.end(reason, detail, self.stage.tick())
        except OSError:
            self.ended = "log_failed"
            raise
        finally:
            self.let_go()

    def let_go(self) -> None:
        """Stop the servers that were started for this session alone."""
        if self._of_session is not None:
            close_servers(self._of_session)

    def lose(self, error: OSError) -> None:
        """End the session because its log cannot be written; the log says so if it can be written once more."""
        if self.ended not in (None, "log_failed"):
            return
        self._recorder.lost = error
        self.ended = "log_failed"
        self._recorder.end_lost(self.stage.now)

    def _check_lost(self, error: OSError) -> None:
        """End the session if this error came from its log; any other is passed on."""
        if error is not self._recorder.lost:
            raise error
        self.lose(error)

    @property
    def world(self) -> Running:
        """The world that the session is played in."""
        return self.stage.running

    @property
    def over(self) -> bool:
        """True if the session has ended."""
        return self.ended is not None

    @property
    def awaits_user(self) -> bool:
        """True if what the agent says next will be answered, rather than end the session at its limit."""
        return not self.over and self.turns + 1 < self.spec.scenario.max_turns

    @property
    def dialogue(self) -> tuple[Line, ...]:
        """Dialogue of user and agent so far."""
        return tuple(self._dialogue)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """All that has been announced so far, whether or not the agent has heard of it."""
        return tuple(self.announcements.notices)

    @property
    def has_notices(self) -> bool:
        """True if something may fall due in this world, and there may thus be something to announce."""
        due = {event.table.name for event in self.stage.home.events}
        return any(event.notice for event in self.spec.scenario.events) or (
            bool(due)
            and (
                any(self.stage.state.table(table) for table in due)
                or any(tool.tool.may_write(due) for tool in self._calls.actions.values())
            )
        )

    def shown(self, event: ToolCall) -> CallResult:
        """Result that the agent got to see of its own call, announcements left out."""
        tool = self.stage.home.tools.get(event.tool or "")
        return self._calls.shown(Outcome(tool, event.arguments, result=event.result, fault=event.error), event.meta)

    def restore(self, trajectory: Trajectory) -> None:
        """Take up a recorded session of the same spec where its log stops; nothing is written again.

        Raises:
            SessionError: the log is of another scenario, variant or seed, or the scenario has changed since.
        """
        check_same(self.spec, trajectory.started)
        for before, event in zip((None, *trajectory.events), trajectory.events, strict=False):
            self.announcements.recall(event, before)
            if isinstance(event, ToolCall):
                self.stage.recall(event)
                self._count_call(event.caller)
                if event.caller == "agent" and (event.error is None or event.changes) and event.tool is not None:
                    self._hearing.called(event.tool, event.arguments)
            elif event.sender in ("user", "agent"):
                self._dialogue.append(self._line(event.sender, event.content))
                self.turns += event.sender == "agent"
        self.ended = trajectory.ended.reason if trajectory.ended else None
        self._recorder.go_on(trajectory)

    def _count_call(self, caller: Role) -> None:
        if caller == "agent":
            self.calls += 1

    def _refusal(self) -> CallResult | None:
        limit = self._limit()
        if self.ended is None and limit:
            self.end(limit)
        return CallResult({}, OVER) if self.over else None

    def _few_calls(self, made: int) -> Sequence[str]:
        """Warning that few calls are left, once, with the result of the batch that left so few."""
        left = self.spec.scenario.max_calls - self.calls
        return (f"{counted(max(left, 0), 'call')} left in this session",) if left <= FEW_CALLS < left + made else ()

    def _limit(self) -> EndReason | None:
        """The limit of the scenario that has been reached."""
        if self.calls >= self.spec.scenario.max_calls:
            return "max_calls"
        return "max_turns" if self.turns >= self.spec.scenario.max_turns else None

    def _over(self, reason: EndReason, detail: str | None = None, parting: str = "") -> Reply:
        self.end(reason, detail)
        return Reply(None, over=True, reason=reason, parting=parting)

    def _say(self, speaker: Role, text: str, meta: Mapping[str, Any]) -> None:
        other: Role = "agent" if speaker == "user" else "user"
        self._recorder.message(speaker, other, text, self.stage.tick(), meta)
        self._dialogue.append(self._line(speaker, text))
        self.turns += speaker == "agent"

    def _line(self, speaker: Role, text: str) -> Line:
        if speaker == "user":
            return Line("user", text)
        conditions = self.spec.scenario.user.script.when.items()
        holds = frozenset(line for line, condition in conditions if condition.holds(self.stage.state))
        return replace(self._hearing.line(text), holds=holds)

    def _announce(self) -> None:
        """Let the world have its say."""
        try:
            self.announcements.let_happen()
        except WorldFailedError as failure:
            self.end("world_failed", str(failure))

    def _act(self, act: UserAct) -> str:
        """Let the user do something in the world; what came of it, as text. Its faults are answers, as an agent's are.

        Raises:
            WorldFailedError: the world's own code broke.
        """
        clock = self.stage.tick()
        offered = {name: present(tool) for name, tool in self.stage.home.user_acts.items()}
        bound = bind(offered, act.name, dict(act.arguments))
        outcome = bound if isinstance(bound, Outcome) else self.stage.again(bound)
        self._record(act.name, outcome, clock, caller="user")
        return outcome.fault.text if outcome.fault else as_text(outcome.result)

    def _confirm(self, code: str, meta: Mapping[str, Any] = NOTHING) -> None:
        clock = self.stage.tick()
        outcome = Outcome(confirm_action, {"code": code}, fault=self.stage.confirm(code))
        self._record(CONFIRM, outcome, clock, meta, caller="user")

    def _record(
        self,
        name: str,
        outcome: Outcome,
        clock: float,
        meta: Mapping[str, Any] = NOTHING,
        caller: Role = "agent",
        batch: str | None = None,
    ) -> CallResult:
        self._count_call(caller)
        self._recorder.call(name, outcome, clock, meta, caller, batch)
        if caller == "agent" and (outcome.fault is None or outcome.changes) and outcome.tool is not None:
            self._hearing.called(outcome.tool.name, outcome.arguments)
        return self._calls.shown(outcome, meta)


def settled(coroutine: Coroutine[Any, Any, _Value]) -> _Value:
    """The value of a coroutine that never waits for anything, as that of a session whose user is scripted.

    Raises:
        RuntimeError: it does wait.
    """
    try:
        coroutine.send(None)
    except StopIteration as finished:
        return cast("_Value", finished.value)
    coroutine.close()
    raise RuntimeError("a scripted user has to answer at once")
