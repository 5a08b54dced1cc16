"""The users of a run, by name: simulated, replayed or real.

Policy: every session gets a user of its own, made from its spec. A person plays one session at a time. What a user
cannot play is found out before the first session begins.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sandbox_scenarios.problem import closest

from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.utterances import Utterances
from sandbox_mcp.engine.own_code import others_code
from sandbox_mcp.engine.trajectory.model_text import json_bytes
from sandbox_mcp.play.models.asking import EndpointSettings
from sandbox_mcp.play.models.completions import Completions
from sandbox_mcp.play.session import SessionSpec
from sandbox_mcp.play.users import ScriptedUser, User
from sandbox_mcp.play.users.human import TerminalUser


@dataclass(frozen=True, slots=True)
class Users:
    """Makes the users of a run.

    ``description`` is what logs and manifest say about every one of them. With ``alone`` they are one person, who can
    play one session at a time and in this process.
    """

    make: Callable[[SessionSpec], User]
    description: Mapping[str, Any]
    endpoint: Completions | None = None
    alone: bool = False

    def check(self, specs: Iterable[SessionSpec], jobs: int = 1, *, elsewhere: bool = False) -> None:
        """See whether these sessions can be played, ``jobs`` at a time, perhaps in processes of their own.

        Raises:
            RunError: they cannot.
        """
        if self.alone and (jobs > 1 or elsewhere):
            asked = "in processes of their own" if elsewhere else f"{jobs} at a time"
            raise RunError(f"the human user plays one session at a time, not {asked}; use --jobs 1")
        with others_code("the users of this run cannot be made, or cannot be described in a log", RunError):
            json_bytes({**self.description})
            for spec in specs:
                json_bytes({**self.make(spec).describe()})

    async def aclose(self) -> None:
        """Let go of the endpoint, if there is one."""
        if self.endpoint is not None:
            await self.endpoint.aclose()


def users_named(
    name: Literal["scripted", "llm"],
    settings: EndpointSettings,
    without: frozenset[str] = frozenset(),
    tools: tuple[str, ...] = (),
) -> Users:
    """Users that are simulated; all but the name, among it what it is not told and its tools, matters for ``llm`` only.

    Raises:
        RunError: no model is named for ``llm``, or its endpoint cannot be asked like this.
    """
    if name == "scripted":
        return Users(lambda spec: ScriptedUser.of(spec.user, spec.scenario.clock), {"kind": "scripted"})
    from sandbox_mcp.play.users.days import known_today
    from sandbox_mcp.play.users.llm import ALL_PARTS, LlmUser, described

    if not settings.model:
        raise RunError("the llm user needs to know which model to ask; name one with --user-model")
    if problem := settings.problem("user-"):
        raise RunError(f"the llm user {problem}")
    told = ALL_PARTS - without
    endpoint = Completions(settings)
    description = {"kind": "llm", **described(endpoint, told, tools)}

    def make(spec: SessionSpec) -> User:
        home = spec.scenario.home
        today = known_today(spec.user, spec.scenario.clock)
        return LlmUser(spec.user, endpoint, told, tools, home.user, home.user_acts, today=today)

    return Users(make, description, endpoint)


def human_users(*, at_once: bool = False) -> Users:
    """One person, at the terminal or behind the pipe of this process; ``at_once`` tells them right away what they want.

    Raises:
        RunError: there is neither.
    """
    require_person()

    def make(spec: SessionSpec) -> User:
        user = TerminalUser(spec.user, introduced=at_once)
        if at_once:
            user.terminal.show(user.introduction())
        return user

    description = {"kind": "human", "channel": "terminal"}
    return Users(make, description, alone=True)


def require_person() -> None:
    """See that a person can type.

    Raises:
        RunError: standard input is closed.
    """
    if sys.stdin is None or sys.stdin.closed:
        raise RunError("a person needs a terminal or a pipe on standard input to type, and it is closed")


def replayed_users(utterances: Utterances) -> Users:
    """Users that say lines written down or was said before."""
    from sandbox_mcp.play.users.replay import ReplayUser

    source = utterances.description
    return Users(lambda spec: ReplayUser(spec.user, utterances.of(spec), source), {"kind": "replay", **source})


def user_tools(given: str) -> tuple[str, ...]:
    """The tools of the llm user that a list of names with commas means, in a fixed order; ``none`` means none.

    Raises:
        RunError: a name is unknown.
    """
    from sandbox_mcp.play.users.recall import USER_TOOLS

    names = [name.strip() for name in given.split(",") if name.strip() not in ("", "none")]
    for name in names:
        if name not in USER_TOOLS:
            raise RunError(f"unknown tool {name!r} for the llm user; {closest(name, list(USER_TOOLS))}")
    return tuple(name for name in USER_TOOLS if name in names)
