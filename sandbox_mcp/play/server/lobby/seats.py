"""The lobby: free play for hosts that no harness drives, such as a chat application on a desktop.

Policy: its list of tools never changes, because a call must not change it: before a scenario is started, the world's
tools answer that none is running. The agent is told how to behave by what the tools return, since a person types no
more than "run the scenario X". It learns names of scenarios and what their user says, and nothing else about them.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from secrets import token_hex
from typing import Any

from anyio import to_thread
from sandbox_scenarios import Scenario, ScenarioError, UnknownScenarioError

from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.tools import Outcome, bind
from sandbox_mcp.engine.trajectory import TrajectoryError
from sandbox_mcp.play.server.lobby.names import LONGEST, PAGE, matching, named, nearest, page_of
from sandbox_mcp.play.server.lobby.session_app import SessionApp, ShownResult, shown
from sandbox_mcp.play.server.lobby.texts import (
    CONTROL,
    LIST,
    NOT_RUNNING,
    NOTHING_TO_SHOW,
    SHOW,
    START,
    elsewhere,
    how_to_play,
    not_yet,
    over,
    still_running,
)  # fmt: skip
from sandbox_mcp.play.session import CallResult, SessionError, SessionSpec
from sandbox_mcp.play.session.manager import SessionManager, TooManySessionsError, UnknownUserError
from sandbox_mcp.play.session.open_session import OpenSession
from sandbox_mcp.play.session.opening import LARGEST
from sandbox_mcp.play.session.state_folder import StateDir

VARIANT = "all_tools"
"""How scenarios are played here: with the tools that the lobby lists."""
BROKEN = "LobbyError: this server cannot do that; whoever runs this server finds the reason in its messages"


class ManagedSeat:
    """A place whose sessions the manager keeps under its name; places without a name share nothing."""

    def __init__(self, manager: SessionManager, name: str | None = None) -> None:
        self._manager = manager
        self._name = name or token_hex(8)

    def current(self) -> OpenSession | None:
        """The session that was begun last."""
        return self._manager.seated(self._name)

    def begin(self, spec: SessionSpec) -> OpenSession:
        """Begin a session in the manager."""
        return self._manager.create(spec, self._manager.user(None, spec.scenario, spec.variant), seat=self._name)


class StoredSeat:
    """A place whose session is in a state folder, where later processes find it."""

    def __init__(self, state: StateDir) -> None:
        self._state = state
        self._current: OpenSession | None = None

    def current(self) -> OpenSession | None:
        """The session that the folder names, whoever began it; None if it cannot go on, as after an update."""
        wanted = self._state.current
        if wanted is not None and (self._current is None or self._current.session.spec.id != wanted):
            try:
                self._current = self._state.named(wanted)
            except (ScenarioError, SessionError, TrajectoryError, UnknownUserError) as error:
                sys.stderr.write(f"the scenario that was running cannot go on: {error}\n")
                self._state.current = self._current = None
        return self._current

    def begin(self, spec: SessionSpec) -> OpenSession:
        """Begin a session in the folder, under an id of its own."""
        self._current = self._state.begin(spec)
        self._state.current = self._current.session.spec.id
        return self._current


_Seat = ManagedSeat | StoredSeat
"""The place of one client in the lobby: at most one running scenario."""


class Lobby:
    """Tools of the lobby, for one seat.

    ``announce`` tells a person, never the agent, that a session began. ``app`` makes pages of sessions that are over.
    """

    def __init__(
        self,
        manager: SessionManager,
        seat: _Seat,
        announce: Callable[[OpenSession], None] = lambda _: None,
        app: SessionApp | None = None,
    ) -> None:
        self._app = app
        self._control = CONTROL if app is None else {**CONTROL, SHOW.name: SHOW}
        self._manager = manager
        self._seat = seat
        self._announce = announce

    async def call(
        self,
        name: str,
        arguments: object,
        meta: Mapping[str, Any] | None,
        agent: Mapping[str, Any],
        *,
        shows: bool = False,
    ) -> CallResult | ShownResult:
        """Carry out one call.

        ``agent`` is what is known of its caller, for the log of a session it begins; ``shows`` tells whether its
        client shows pages.
        """
        try:
            if name not in self._control:
                running = self.running()
                return await running.call(name, arguments, meta=meta) if running else self._none_running()
            bound = bind(self._control, name, arguments)
            if isinstance(bound, Outcome):
                return CallResult({}, bound.fault.text if bound.fault else NOT_RUNNING)
            if name == START.name:
                return await self._start(agent, shows=shows and self._app is not None, **bound.arguments)
            if name == SHOW.name:
                return await self._show()
            return await self._list(**bound.arguments) if name == LIST.name else await self._end()
        except TooManySessionsError as error:
            return CallResult({}, f"TooManySessionsError: {error}")
        except (SandboxError, OSError) as error:  # an agent is told nothing of files, which are the operator's business
            for line in error.lines if isinstance(error, SandboxError) else (error,):
                print(f"sandbox-mcp: {line}", file=sys.stderr)  # noqa: T201
            return CallResult({}, BROKEN)

    async def _list(self, search: str = "", page: int = 1) -> CallResult:
        names = await to_thread.run_sync(self._manager.suite.names)
        found = matching(names, search)
        shown = page_of(found, int(page))
        if shown is None:
            last = -(-len(found) // PAGE) or 1
            return CallResult({}, f"ValueError: there is no page {int(page)}; pages are from 1 to {last}")
        running = self.running()
        return CallResult(
            {
                "scenarios": list(shown.names),
                "total": shown.total,
                "next_page": shown.following,
                "running": running.session.spec.scenario.name if running else None,
                **({} if found else {"closest": list(nearest(names, search))}),
            }
        )

    async def _start(self, agent: Mapping[str, Any], name: str, seed: int = 0, *, shows: bool) -> CallResult:
        if abs(seed) > LARGEST:
            return CallResult({}, f"ValueError: seed must be from {-LARGEST} to {LARGEST}")
        try:
            scenario = None if self.running() else await to_thread.run_sync(self._scenario, name)
        except UnknownScenarioError:
            return CallResult({}, unknown(self._manager.suite.names(), name))
        if running := self.running():
            return CallResult({}, still_running(running.session.spec.scenario.name))
        if scenario is None:
            return self._none_running()
        if scenario.home.name != self._manager.suite.home.name:
            return CallResult({}, elsewhere(scenario, self._manager.suite.home))
        spec = SessionSpec(scenario, VARIANT, int(seed), user_channel="tool", agent=dict(agent))
        opened = self._seat.begin(spec)
        self._announce(opened)
        person = opened.session.user.kind == "human"
        instructions = how_to_play(opened.session.spec.instructions, person=person, shows=shows)
        return CallResult({"scenario": scenario.name, "instructions": instructions, "user_says": opened.opening})

    def _scenario(self, name: str) -> Scenario:
        """The scenario meant; only an inexact name costs a look at all files."""
        suite = self._manager.suite
        try:
            return suite.get(name)
        except UnknownScenarioError:
            return suite.get(named(suite.names(), name))

    async def _show(self) -> CallResult | ShownResult:
        last = self._seat.current()
        if last is None or self._app is None:
            return CallResult({}, NOTHING_TO_SHOW)
        name = last.session.spec.scenario.name
        if not last.session.over:
            return CallResult({}, not_yet(name))
        return await shown(CallResult({"shown": name}), last, self._app)

    async def _end(self) -> CallResult | ShownResult:
        running = self.running()
        if running is None:
            return self._none_running()
        await running.end("abandoned", "ended in the lobby")
        result = CallResult({"ended": running.session.spec.scenario.name})
        return await shown(result, running, self._app) if self._app else result

    def _none_running(self) -> CallResult:
        last = self._seat.current()
        return CallResult({}, over(last.session.spec.scenario.name) if last else NOT_RUNNING)

    def running(self) -> OpenSession | None:
        """The session played here now."""
        current = self._seat.current()
        return None if current is None or current.session.over else current


def unknown(names: Sequence[str], wanted: str) -> str:
    """The error for a name that no scenario has, with the names nearest to it."""
    near = nearest(names, wanted)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "see list_scenarios"
    return f"UnknownScenarioError: there is no scenario {wanted[:LONGEST]!r}; {hint}"
