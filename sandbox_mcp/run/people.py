"""Who takes part in a run: the agent under test and the simulated user, by name.

Policy: one agent object serves all sessions of a run, and every session gets a user of its own, made from its scenario.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sandbox_mcp.run.errors import RunError
from sandbox_mcp.users import ScriptedUser, User
from sandbox_mcp.users.completions import Completions, EndpointSettings
from scenarios.model import Scenario

UserName = Literal["scripted", "llm"]
USERS: tuple[UserName, ...] = get_args(UserName)


@dataclass(frozen=True, slots=True)
class Users:
    """Makes the users of a run. ``description`` is what logs and manifest say about every one of them."""

    make: Callable[[Scenario], User]
    description: Mapping[str, Any]
    endpoint: Completions | None = None

    async def aclose(self) -> None:
        """Let go of the endpoint, if there is one."""
        if self.endpoint is not None:
            await self.endpoint.aclose()


def users_named(name: UserName, settings: EndpointSettings, without: frozenset[str] = frozenset()) -> Users:
    """The users of that name; ``settings`` and ``without``, what it is not told, matter for ``llm`` only.

    Raises:
        RunError: no model is named for ``llm``.
    """
    if name == "scripted":
        return Users(lambda scenario: ScriptedUser(scenario.user.script), {"kind": "scripted"})
    from sandbox_mcp.users.llm import ALL_PARTS, LlmUser

    if not settings.model:
        raise RunError("the llm user needs to know which model to ask; name one with --user-model")
    told = ALL_PARTS - without
    endpoint = Completions(settings)
    description = {"kind": "llm", **settings.describe(), "told": sorted(told)}
    return Users(lambda scenario: LlmUser(scenario.user, endpoint, told), description, endpoint)
