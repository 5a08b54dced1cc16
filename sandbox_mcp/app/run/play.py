"""Playing one session: the harness hands the agent the user's words and takes the agent's final text as its turn.

Policy: whatever breaks in an agent, or never answers, ends its own session and no other. Once a session is over the
agent is stopped, even in the middle of its turn, because nothing it does can count any more.
"""

import asyncio
import math
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace

import anyio
from sandbox_clients.base import Agent, AgentError, AgentTurn, Brief, Conversation, Target, raised
from sandbox_scenarios.injections import injection, obeying
from sandbox_scenarios.plan import PlanError, staged
from sandbox_scenarios.variants import injection_in

from sandbox_mcp.app.run.blocking import BrokenOff, in_turn
from sandbox_mcp.engine.errors import inner_errors
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.trajectory import Event, SessionEnded, Sink
from sandbox_mcp.engine.trajectory.model_text import readable
from sandbox_mcp.play.session import SessionSpec
from sandbox_mcp.play.session.agent_calls import with_notices
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.session.open_session import OpenSession
from sandbox_mcp.play.telemetry import ambient
from sandbox_mcp.play.users import User

Reach = Callable[[OpenSession], Target]
"""How an agent reaches the tools of a session: the transport."""


@dataclass(frozen=True, slots=True)
class Arena:
    """Place of play: the manager that keeps the sessions, and the way to their tools.

    ``patience`` is how many seconds an agent may take to answer one message of the user.
    """

    manager: SessionManager
    reach: Reach
    patience: float = math.inf


@dataclass(slots=True)
class Watched:
    """Passes events on, and stops the agent's turn once the session has ended."""

    sink: Sink
    turn: anyio.CancelScope | None = field(default=None)
    over: bool = False

    def write(self, event: Event) -> None:
        """Keep one event."""
        try:
            self.sink.write(event)
        except OSError:
            self._stop()
            raise
        if isinstance(event, SessionEnded):
            self._stop()

    def _stop(self) -> None:
        self.over = True
        if self.turn is not None:
            self.turn.cancel()


async def play(arena: Arena, spec: SessionSpec, agent: Agent, user: User, sink: Sink) -> None:
    """Play one session to its end; everything about it is in what ``sink`` was given.

    Raises:
        ScenarioError: there is no such variant.
    """
    watched = Watched(sink)
    opened = arena.manager.create(spec, user, sink=watched)
    session = opened.session
    try:
        solutions = spec.scenario.solutions if agent.wants_solution else ()
        number = injection_in(spec.variant) if agent.obeys else 0
        if solutions and number:
            solutions = (obeying(solutions[0], injection(spec.scenario, number)),)
        planned = staged(solutions[0], spec.scenario, spec.variant, session.tools) if solutions else None
        message: str | None = opened.opening
        async with conversing(agent, Brief(spec.instructions, arena.reach(opened), planned), watched) as conversation:
            while message is not None:
                answer = await answer_to(conversation, message, watched, arena.patience)
                if session.over:
                    break
                reply = await opened.say(readable(answer.text), answer.meta)
                message = None if reply.text is None else with_notices(reply.text, reply.notices)
    except Exception as error:  # noqa: BLE001 - foreign code, and its faults must not end the run
        await opened.end("agent_failed", problem_of(error))
    finally:
        await arena.manager.close(opened.token)


@asynccontextmanager
async def conversing(agent: Agent, brief: Brief, watched: Watched) -> AsyncGenerator[Conversation]:
    """A conversation with an agent, whose faults are its own at its beginning and its end as well.

    Raises:
        AgentError: it raised what would end more than its session.
    """
    with ambient(watched.sink), its_own_fault():
        async with agent.converse(brief) as conversation:
            yield conversation


async def answer_to(conversation: Conversation, message: str, watched: Watched, patience: float) -> AgentTurn:
    """The agent's answer; one that says nothing where the session ended before it gave any.

    An answer that comes too late does not count, as from an agent that held up the event loop and could not be stopped.

    Raises:
        AgentError: it gave none within ``patience`` seconds, or broke.
    """
    deadline, answer = anyio.current_time() + patience, None
    with anyio.CancelScope(deadline=deadline) as watched.turn:
        try:
            with ambient(watched.sink), its_own_fault(), in_turn():
                turn = await conversation.turn(message)
                answer = replace(turn, meta=deepcopy(dict(turn.meta)))  # an agent may use its own for all turns
        finally:
            watched.turn = None
    if watched.over:
        return answer or AgentTurn("")
    if answer is None:
        raise AgentError(f"the agent did not answer within {counted(patience, 'second')}")
    if (late := anyio.current_time() - deadline) > 0:
        raise AgentError(
            f"the agent answered {late:.1f} seconds later than within {counted(patience, 'second')}, and could not be "
            "stopped before: it blocks the event loop, or catches being cancelled; await what takes long"
        )
    return answer


@contextmanager
def its_own_fault() -> Generator[None]:
    """Make a fault of the agent of what would end more than its session.

    That is an exit, cancelling calls that were not cancelled, and blocking the event loop.

    Raises:
        AgentError: the agent, or what it runs on, raised such a thing.
    """
    try:
        yield
    except (SystemExit, asyncio.CancelledError, BrokenOff, BaseExceptionGroup) as error:
        cause, task = inner_errors(error)[0], asyncio.current_task()
        stopped = isinstance(cause, asyncio.CancelledError) and task is not None and task.cancelling() > 0
        if stopped or not isinstance(cause, Exception | SystemExit | asyncio.CancelledError | BrokenOff):
            raise
        raise AgentError(problem_of(cause)) from error


def problem_of(error: BaseException) -> str:
    """Describe in one sentence the error on which an agent broke."""
    cause = inner_errors(error)[0]
    return str(cause) if isinstance(cause, AgentError | PlanError | BrokenOff) else str(raised(cause))
