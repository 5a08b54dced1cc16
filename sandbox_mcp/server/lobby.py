"""The lobby: free play for hosts that nobody drives, such as a chat application on a desktop.

Policy: its list of tools never changes, because a call must not change it: before a scenario is started, the world's
tools answer that none is running. The agent is told how to behave by what the tools return, since a person types no
more than "run the scenario X". It learns names of scenarios and what their user says, and nothing else about them.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Protocol

from sandbox_mcp.errors import SandboxError
from sandbox_mcp.session import AGENT_INSTRUCTIONS, CallResult, SessionSpec
from sandbox_mcp.session.manager import OpenSession, SessionManager, TooManySessionsError
from sandbox_mcp.session.stored import StateDir
from sandbox_mcp.session.tool_channel import SEND, SEND_TOOL
from sandbox_mcp.tools import Outcome, Parameter, PresentedTool, Tool, agent_tools, bind, present
from scenarios import UnknownScenarioError

VARIANT = "all_tools"
"""How scenarios are played here: with the tools that the lobby lists."""
INSTRUCTIONS = (
    "This server plays scenarios: a phone, with tools to operate it, and a simulated user who wants something. Asked "
    "to run a scenario, call start_scenario with its name and then serve the simulated user, whom you reach only with "
    "send_message_to_user. list_scenarios names what can be run."
)
HOW_TO_PLAY = (
    f"{AGENT_INSTRUCTIONS} The scenario has begun, and user_says is what its user wants of you now. This user is "
    "simulated and cannot see this chat: call send_message_to_user for everything you want to ask or report, read the "
    "reply in its result, and go on until conversation_over is true. Only then tell the person in this chat that the "
    "scenario is over. Do not ask that person for help."
)
NOT_RUNNING = "NoScenarioError: no scenario is running; start one with start_scenario, list_scenarios names them"


def _unused(*_: object, **__: object) -> None:
    raise RuntimeError("the lobby carries out its own tools")


def _tool(
    name: str, description: str, result: Mapping[str, Any], *parameters: Parameter, action: bool = True
) -> PresentedTool:
    schema = {"type": "object", "properties": result, "required": list(result)}
    return present(Tool(name, "lobby", action, False, "agent", _unused, description, parameters, schema))


TEXT = {"type": "string"}
LIST = _tool(
    "list_scenarios",
    "Name the scenarios that can be run.\nReturns scenarios, their names, and running, the one that is being played.",
    {
        "scenarios": {"type": "array", "items": TEXT},
        "running": {"type": ["string", "null"]},
    },
    action=False,
)
START = _tool(
    "start_scenario",
    "Begin a scenario. Call this when you are asked to run, play or start one.\n"
    "Returns instructions, which tell you how to go on, and user_says, the simulated user's first message to you. "
    f"Answer it with {SEND}, not in this chat.\n"
    "Fails with UnknownScenarioError: there is no scenario of that name.\n"
    "Fails with ScenarioRunningError: another one is still running.",
    {"scenario": TEXT, "instructions": TEXT, "user_says": TEXT},
    Parameter("name", ("string",), True, "Name of the scenario, as list_scenarios gives it."),
    Parameter("seed", ("integer",), False, "Fixes the ids that the phone hands out; 0 if not given."),
)
END = _tool(
    "end_scenario",
    "Give up the running scenario before its user has left. Only needed to start another one.\n"
    "Returns ended, the name of the scenario.\n"
    "Fails with NoScenarioError: none is running.",
    {"ended": TEXT},
)
CONTROL: Mapping[str, PresentedTool] = {tool.name: tool for tool in (LIST, START, END)}


@cache
def lobby_tools() -> tuple[PresentedTool, ...]:
    """Everything the lobby lists, always the same."""
    return (LIST, START, SEND_TOOL, END, *(present(tool) for tool in agent_tools().values()))


class Seat(Protocol):
    """Somebody's place in the lobby: at most one running scenario."""

    def current(self) -> OpenSession | None:
        """The session that was begun here last, if it can still be reached."""
        ...

    def begin(self, spec: SessionSpec) -> OpenSession:
        """Begin a session and make it the current one."""
        ...


class MemorySeat:
    """A place whose session lives in this process."""

    def __init__(self, manager: SessionManager) -> None:
        self._manager = manager
        self._current: OpenSession | None = None

    def current(self) -> OpenSession | None:
        """The session that was begun last."""
        return self._current

    def begin(self, spec: SessionSpec) -> OpenSession:
        """Begin a session in the manager."""
        self._current = self._manager.create(spec, self._manager.user(None, spec.scenario))
        return self._current


class StoredSeat:
    """A place whose session is in a state folder, where later processes find it."""

    def __init__(self, state: StateDir) -> None:
        self._state = state
        self._current: OpenSession | None = None

    def current(self) -> OpenSession | None:
        """The session that the folder names, whoever began it."""
        wanted = self._state.current
        if wanted is not None and (self._current is None or self._current.session.spec.id != wanted):
            started = self._state.started(wanted)
            self._current = self._state.resume(started) if started else None
        return self._current

    def begin(self, spec: SessionSpec) -> OpenSession:
        """Begin a session in the folder, under an id of its own."""
        own = replace(spec, session_id=self._state.new_id(spec.id))
        self._current = self._state.open(own)
        self._state.current = own.id
        return self._current


class Lobby:
    """What the lobby's tools do, for one seat. ``announce`` tells a person, never the agent, that a session began."""

    def __init__(
        self, manager: SessionManager, seat: Seat, announce: Callable[[OpenSession], None] = lambda _: None
    ) -> None:
        self._manager = manager
        self._seat = seat
        self._announce = announce

    async def call(
        self, name: str, arguments: object, meta: Mapping[str, Any] | None, agent: Mapping[str, Any]
    ) -> CallResult:
        """Carry out one call; ``agent`` is what is known of who made it, for the log of a session it begins."""
        try:
            return await self._carry_out(name, arguments, meta, agent)
        except (SandboxError, OSError) as error:
            return CallResult({}, _told(error))

    async def _carry_out(
        self, name: str, arguments: object, meta: Mapping[str, Any] | None, agent: Mapping[str, Any]
    ) -> CallResult:
        if name not in CONTROL:
            running = self.running()
            return await running.call(name, arguments, meta=meta) if running else CallResult({}, NOT_RUNNING)
        bound = bind(CONTROL, name, arguments)
        if isinstance(bound, Outcome):
            return CallResult({}, bound.fault.text if bound.fault else NOT_RUNNING)
        if name == START.name:
            return self._start(agent, **bound.arguments)
        return self._list() if name == LIST.name else await self._end()

    def _list(self) -> CallResult:
        running = self.running()
        name = running.session.spec.scenario.name if running else None
        return CallResult({"scenarios": list(self._manager.suite.names()), "running": name})

    def _start(self, agent: Mapping[str, Any], name: str, seed: int = 0) -> CallResult:
        running = self.running()
        if running:
            other = running.session.spec.scenario.name
            return CallResult(
                {}, f"ScenarioRunningError: scenario {other!r} is running; finish it, or give it up with end_scenario"
            )
        scenario = self._manager.suite.get(name)
        spec = SessionSpec(scenario, VARIANT, int(seed), user_channel="tool", agent=dict(agent))
        opened = self._seat.begin(spec)
        self._announce(opened)
        return CallResult({"scenario": name, "instructions": HOW_TO_PLAY, "user_says": opened.opening})

    async def _end(self) -> CallResult:
        running = self.running()
        if running is None:
            return CallResult({}, NOT_RUNNING)
        await running.end("abandoned", "ended in the lobby")
        return CallResult({"ended": running.session.spec.scenario.name})

    def running(self) -> OpenSession | None:
        """The session that is being played here."""
        current = self._seat.current()
        return None if current is None or current.session.over else current


def _told(error: Exception) -> str:
    """What an agent is told of a fault: nothing of files, which are the operator's business."""
    if isinstance(error, UnknownScenarioError):
        near = f"did you mean {' or '.join(map(repr, error.suggestions))}?" if error.suggestions else ""
        return f"UnknownScenarioError: there is no scenario {error.name[:80]!r}; {near or 'see list_scenarios'}"
    if isinstance(error, TooManySessionsError):
        return f"TooManySessionsError: {error}"
    print(f"sandbox-mcp: {error}", file=sys.stderr)  # noqa: T201
    return "LobbyError: this server cannot do that; whoever runs this server finds the reason in its messages"
