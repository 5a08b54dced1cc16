"""One session as the harness drives it: what the agent is told, hears, and may not go on with."""

import asyncio
import dataclasses
import math
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
from sandbox_clients.base import Agent, AgentError, AgentTurn, Brief, Conversation, Tools
from sandbox_scenarios import Scenario
from sandbox_scenarios.model import Answer, Script

from sandbox_mcp.app.run.options import Transport
from sandbox_mcp.app.run.play import Arena, play
from sandbox_mcp.app.run.transports import TRANSPORTS, transport
from sandbox_mcp.engine.trajectory import MemoryLog, Message, ToolCall, Trajectory
from sandbox_mcp.engine.worlds import default
from sandbox_mcp.play.session import SessionSpec
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.users import ScriptedUser
from tests.clients.sessions import SUITE, WIFI_OFF, run
from tests.each import each

Turn = Callable[[str, Tools], Awaitable[AgentTurn]]
ALL = each("kind", TRANSPORTS)


@dataclass
class Made(Agent):
    """An agent whose every turn is one function; remembers what it was told."""

    respond: Turn
    name: str = "test"
    heard: list[str] = field(default_factory=list[str])
    briefs: list[Brief] = field(default_factory=list[Brief])
    left: int = 0

    @asynccontextmanager
    async def converse(self, brief: Brief) -> AsyncGenerator[Conversation]:
        self.briefs.append(brief)
        async with brief.target.connect() as tools:
            yield _Conversation(self, tools)
        self.left += 1


@dataclass
class _Conversation:
    agent: Made
    tools: Tools

    async def turn(self, message: str) -> AgentTurn:
        self.agent.heard.append(message)
        return await self.agent.respond(message, self.tools)


def says(text: str) -> Turn:
    async def respond(message: str, tools: Tools) -> AgentTurn:
        return AgentTurn(text, {"model": "none"})

    return respond


def driven(
    agent: Agent, scenario: Scenario = WIFI_OFF, kind: Transport = "direct", patience: float = math.inf
) -> Trajectory:
    log = MemoryLog()

    async def work() -> None:
        manager = SessionManager(SUITE, batch_window=0)
        async with transport(kind, manager) as reach:
            user = ScriptedUser(scenario.user.script)
            await play(Arena(manager, reach, patience), SessionSpec(scenario), agent, user, log)
        assert len(manager) == 0

    run(work)
    return log.trajectory()


def reason(trajectory: Trajectory) -> str:
    assert trajectory.ended is not None
    return trajectory.ended.reason


@ALL
def test_the_agent_is_given_instructions_and_a_target_and_nothing_of_the_scenario(kind: Transport) -> None:
    agent = Made(says("I can't."))
    driven(agent, kind=kind)
    (brief,) = agent.briefs
    assert brief.instructions == default().briefing
    assert brief.solution is None
    assert (brief.target.url is not None) == (kind == "http")
    assert bool(brief.target.headers) == (kind == "http")


@ALL
def test_what_the_agent_says_is_its_turn_and_is_recorded_with_its_meta(kind: Transport) -> None:
    agent = Made(says("I can't."))
    trajectory = driven(agent, kind=kind)
    (spoken,) = [event for event in trajectory.events if isinstance(event, Message) and event.sender == "agent"]
    assert (spoken.content, spoken.meta) == ("I can't.", {"model": "none"})
    assert (reason(trajectory), agent.heard, agent.left) == ("user_ended", [WIFI_OFF.user.opening], 1)


@ALL
def test_what_an_agent_does_to_what_it_got_and_said_changes_nothing_that_was_recorded(kind: Transport) -> None:
    told = {"turn": 0}

    async def respond(message: str, tools: Tools) -> AgentTurn:
        found = await tools.call("search_contacts", {"relationship": "colleague"})
        found.value.clear()
        told["turn"] += 1
        return AgentTurn("Shall I?", told)

    events = driven(Made(respond), SUITE.get("colleagues_to_friends"), kind).events
    assert [event.meta for event in events if isinstance(event, Message) and event.sender == "agent"][:2] == [
        {"turn": 1},
        {"turn": 2},
    ]
    assert all(event.result for event in events if isinstance(event, ToolCall) and event.caller == "agent")


def test_the_conversation_goes_on_until_the_user_ends_it() -> None:
    scenario = SUITE.get("new_neighbour")
    agent = Made(says("What is her name?"))
    driven(agent, scenario)
    assert agent.heard[:2] == [scenario.user.opening, "Her name is Ilse van der Merwe."]


def test_an_agent_that_says_nothing_has_taken_its_turn() -> None:
    trajectory = driven(Made(says("")))
    assert reason(trajectory) == "user_ended"


@ALL
def test_what_the_phone_announces_while_the_user_answers_reaches_the_agent(kind: Transport) -> None:
    script = Script(answers=(Answer(("tea",), "In the kitchen."),))
    user = dataclasses.replace(WIFI_OFF.user, script=script)
    scenario = dataclasses.replace(WIFI_OFF, tools=("set_timer",), user=user)

    async def respond(message: str, tools: Tools) -> AgentTurn:
        if message == WIFI_OFF.user.opening:
            await tools.call("set_timer", {"seconds": 1, "label": "tea"})
            return AgentTurn("Where is the tea?")
        return AgentTurn("Wifi is off now.")

    agent = Made(respond)
    trajectory = driven(agent, scenario, kind)
    announced = [event for event in trajectory.events if isinstance(event, Message) and event.sender == "environment"]
    assert len(announced) == 1
    assert agent.heard[1] == "In the kitchen.\nNotice: The timer 'tea' has gone off."


@ALL
def test_an_agent_is_stopped_in_the_middle_of_its_turn_once_the_session_is_over(kind: Transport) -> None:
    made: list[str] = []

    async def respond(message: str, tools: Tools) -> AgentTurn:
        while True:
            made.append((await tools.call("set_wifi_status", {"on": True})).text)

    trajectory = driven(Made(respond), dataclasses.replace(WIFI_OFF, max_calls=3), kind)
    calls = [event for event in trajectory.events if isinstance(event, ToolCall)]
    assert (reason(trajectory), len(calls)) == ("max_calls", 3)
    assert len(made) <= 4


@ALL
def test_an_agent_that_never_answers_is_given_up_and_not_scored(kind: Transport) -> None:
    async def respond(message: str, tools: Tools) -> AgentTurn:
        await tools.call("set_wifi_status", {"on": False})
        await anyio.sleep_forever()
        return AgentTurn("Never said.")

    trajectory = driven(Made(respond), kind=kind, patience=0.3)
    assert trajectory.ended is not None
    assert trajectory.ended.reason == "agent_failed"
    assert trajectory.ended.detail == "the agent did not answer within 0.3 seconds"


@ALL
@each("catches", [False, True])
def test_an_answer_that_comes_too_late_is_none_though_the_agent_could_not_be_stopped(
    kind: Transport, catches: bool
) -> None:
    async def respond(message: str, tools: Tools) -> AgentTurn:
        begun = time.monotonic()
        while time.monotonic() < begun + 0.02:  # as long as it must be, without ever letting the event loop go on
            if catches:
                with suppress(asyncio.CancelledError):
                    await anyio.sleep_forever()
        return AgentTurn("Wifi is off now.")

    trajectory = driven(Made(respond), kind=kind, patience=0.01)
    assert trajectory.ended is not None
    assert trajectory.ended.reason == "agent_failed"
    assert re.match(
        r"the agent answered \d+\.\d seconds later than within 0.01 seconds, and could not be stopped before: it ",
        trajectory.ended.detail or "",
    )
    assert not [event for event in trajectory.events if isinstance(event, Message) and event.sender == "agent"]


def test_text_that_is_not_unicode_is_recorded_as_far_as_it_is() -> None:
    trajectory = driven(Made(says("Wifi is \ud800off.")))
    (spoken,) = [event for event in trajectory.events if isinstance(event, Message) and event.sender == "agent"]
    assert (spoken.content, reason(trajectory)) == ("Wifi is \ufffdoff.", "user_ended")


def test_an_agent_that_cannot_be_stopped_is_not_heard_after_the_end() -> None:
    async def respond(message: str, tools: Tools) -> AgentTurn:
        with anyio.CancelScope(shield=True):
            for _ in range(9):
                await tools.call("set_wifi_status", {"on": True})
        return AgentTurn("Done.")

    trajectory = driven(Made(respond), dataclasses.replace(WIFI_OFF, max_calls=3))
    assert reason(trajectory) == "max_calls"
    assert not [event for event in trajectory.events if isinstance(event, Message) and event.sender == "agent"]


@ALL
@each(
    ("error", "detail"),
    [
        (AgentError("the endpoint is down"), "the endpoint is down"),
        (ValueError("line one\nline two"), "the agent raised ValueError: line one"),
        (ExceptionGroup("many", [AgentError("inner"), KeyError("other")]), "inner"),
        (SystemExit(3), "the agent raised SystemExit: 3"),
        (asyncio.CancelledError("not ours"), "the agent raised CancelledError: not ours"),
        (BaseExceptionGroup("many", [SystemExit(0)]), "the agent raised SystemExit: 0"),
    ],
)
def test_whatever_an_agent_raises_ends_its_own_session_without_a_score(
    kind: Transport, error: BaseException, detail: str
) -> None:
    async def respond(message: str, tools: Tools) -> AgentTurn:
        raise error

    trajectory = driven(Made(respond), kind=kind)
    assert trajectory.ended is not None
    told, _, place = trajectory.ended.detail.partition(" (")
    assert (trajectory.ended.reason, told) == ("agent_failed", detail)
    assert not place or place.startswith("test_play.py, line ")


def test_an_agent_that_cannot_even_begin_ends_its_session_without_a_score() -> None:
    class Unable(Agent):
        name = "unable"

        def converse(self, brief: Brief) -> Any:
            raise AgentError("no such model")

    trajectory = driven(Unable())
    assert (reason(trajectory), trajectory.events[-1].content) == ("agent_failed", WIFI_OFF.user.opening)
