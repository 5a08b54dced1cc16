"""Scenarios at hand: pick some of a suite, open one, and call its tools as an agent would, without one.

Policy: calls by hand are recorded like any agent's calls. A session left before its user has ended it
is abandoned; its log can be graded at any moment.
"""

import copy
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from sandbox_scenarios import Scenario, Suite
from sandbox_scenarios.instances import instances
from sandbox_scenarios.selectors import select

from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.tools.results import unwrapped
from sandbox_mcp.engine.trajectory import MemoryLog, Trajectory
from sandbox_mcp.play.session import Session, SessionSpec, settled
from sandbox_mcp.play.session.live_servers import with_servers
from sandbox_mcp.play.users import ScriptedUser


class ToolRefusedError(SandboxError):
    """A tool that was called by hand refused; the message is what an agent would have been told."""


@dataclass(frozen=True, slots=True)
class PlayedLog(Trajectory):
    """A log that knows which scenario it is of."""

    scenario: Scenario | None = None


class SessionAtHand:
    """One open session, played by hand."""

    def __init__(self, scenario: Scenario, variant: str, seed: int) -> None:
        self._log = MemoryLog()
        spec = SessionSpec(scenario, variant, seed, agent={"name": "by_hand"})
        self.session = Session(
            spec, ScriptedUser.of(spec.user, scenario.clock), self._log, None, with_servers(scenario, None)
        )
        self.opening = self.session.begin()

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools, as they are presented."""
        return tuple(self.session.tools)

    def call(self, name: str, /, **arguments: Any) -> Any:
        """Call a tool and get its result.

        Raises:
            ToolRefusedError: the tool refused, or no tool has that name.
            SandboxError: the name is not a text.
        """
        found = self.session.call(_text("the name of a tool", name), copy.deepcopy(arguments))
        if found.error is not None:
            raise ToolRefusedError(found.error)
        return unwrapped(loads(found.text))

    def say(self, text: str) -> str | None:
        """Say something to the user and get the reply; None once the user has left.

        Raises:
            SandboxError: the session is over, or the words are not a text.
        """
        return settled(self.session.say(_text("what is said", text))).text

    @property
    def log(self) -> PlayedLog:
        """Events recorded so far."""
        found = self._log.trajectory()
        return PlayedLog(found.started, found.events, found.ended, found.path, found.cut, self.session.spec.scenario)


def _text(what: str, given: object) -> str:
    """The given value, if it is a text.

    Raises:
        SandboxError: it is something else.
    """
    if not isinstance(given, str):
        raise SandboxError(f"{what} is a text; got {given!r}")
    return given


@dataclass(frozen=True, slots=True)
class ScenarioAtHand:
    """One scenario of a suite, ready to be opened."""

    scenario: Scenario

    @contextmanager
    def open(self, *, variant: str = "base", seed: int = 0) -> Generator[SessionAtHand]:
        """Begin a session of the scenario; leaving the context ends it.

        Raises:
            ScenarioError: there is no such variant.
        """
        opened = SessionAtHand(self.scenario, variant, seed)
        try:
            yield opened
        finally:
            if not opened.session.over:
                opened.session.end("abandoned", "left by hand")


class PlayableSuite(Suite):
    """The scenarios in some files and folders, or the built-in ones; of these some, or one to open.

    ``Suite([path])`` reads files of your own; ``suite.select("late_*", "category:canonicalization")`` picks;
    ``suite["wifi_off"].open()`` plays by hand.
    """

    _picked: tuple[str, ...] | None = None

    def names(self, world: str = "") -> tuple[str, ...]:
        """The names of the scenarios, in the order of files and of each file, or those that were picked.

        With ``world``, a name or a pattern, only the scenarios of such worlds.

        Raises:
            ScenarioFileError: a file cannot be used.
        """
        if self._picked is None:
            return super().names(world)
        return tuple(name for name in self._picked if fnmatchcase(self.world(name), world or "*"))

    def select(self, *selectors: str) -> "PlayableSuite":
        """The scenarios that selectors pick: names, ``late_*``, ``category:NAME``, ``world:NAME``, ``@FILE``.

        Raises:
            SelectorError: a selector selects nothing.
            UnknownScenarioError: a name is unknown.
        """
        picked = copy.copy(self)
        picked._picked = select(self, selectors)  # noqa: SLF001  (a copy of its own)
        return picked

    def instances(self, count: int, secret: str = "") -> "PlayableSuite":
        """So many instances of each scenario, in its place; nobody could know those by a ``secret`` before.

        A scenario given as an instance already stays as it is.

        Raises:
            RunError: the count is below 1.
        """
        if count < 1:
            raise RunError(f"there are no {count} instances; expected 1 or more")
        picked = copy.copy(self)
        picked._picked = instances(self.names(), count, secret)  # noqa: SLF001  (a copy of its own)
        return picked

    def __getitem__(self, name: str) -> ScenarioAtHand:
        return ScenarioAtHand(self.get(_text("the name of a scenario", name)))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())
