"""The lobby as an MCP server: its constant list of tools, and a prompt for each scenario as a start button."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    PaginatedRequestParams,
    Prompt,
    PromptMessage,
    TextContent,
)

from sandbox_mcp.server.context import Context
from sandbox_mcp.server.lobby import INSTRUCTIONS, Lobby, lobby_tools
from sandbox_mcp.server.mcp_server import in_scope, server_of
from sandbox_mcp.session import CallResult
from sandbox_mcp.session.manager import OpenSession, Presentation
from scenarios import Suite


@dataclass(frozen=True, slots=True)
class LobbyFace:
    """The lobby; ``find`` tells in which seat."""

    find: Callable[[Context], Lobby]
    shown: Presentation
    elicits: bool = True

    def presentation(self, ctx: Context) -> Presentation:  # noqa: ARG002
        """The same tools whatever happens."""
        return self.shown

    def instructions(self, ctx: Context) -> str:  # noqa: ARG002
        """How to play."""
        return INSTRUCTIONS

    async def call(self, ctx: Context, name: str, arguments: object, meta: Mapping[str, Any] | None) -> CallResult:
        """Call a tool of the lobby, or of the scenario that it is playing."""
        return await self.find(ctx).call(name, arguments, meta, host_of(ctx))

    def announces(self, ctx: Context) -> bool:  # noqa: ARG002
        """Never: the lobby outlives its scenarios, and what it offers does not change with them."""
        return False

    def attended(self, ctx: Context) -> OpenSession | None:
        """The running scenario: whoever started it sits at the client."""
        return self.find(ctx).running() if self.elicits else None


def lobby_server(suite: Suite, lobby: Lobby | None = None, *, elicits: bool = True) -> Server[Any]:
    """A server for one lobby, or for the one that the HTTP application found for the request.

    ``elicits`` lets the client's human confirm calls.
    """

    def find(ctx: Context) -> Lobby:
        return lobby or in_scope(ctx)

    prompts = Prompts(suite)
    face = LobbyFace(find, Presentation({}, lobby_tools()), elicits)
    return server_of(face, on_list_prompts=prompts.list, on_get_prompt=prompts.get)


def host_of(ctx: Context) -> Mapping[str, Any]:
    """What a log says of an agent in the lobby: the host that connected it."""
    known: dict[str, Any] = {"kind": "host", "protocol": ctx.protocol_version}
    if ctx.session.client_params is None:
        return known
    client = ctx.session.client_params.client_info
    return {**known, "client": client.name, "client_version": client.version}


class Prompts:
    """The start buttons. A prompt is one message of the user, because hosts flatten any others into one."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite

    async def list(self, _: Context, __: PaginatedRequestParams | None) -> ListPromptsResult:
        """One prompt for each scenario."""
        return ListPromptsResult(
            prompts=[
                Prompt(name=name, title=f"Run {name}", description=f"Run the scenario {name}.")
                for name in self._suite.names()
            ]
        )

    async def get(self, _: Context, params: GetPromptRequestParams) -> GetPromptResult:
        """The words that start a scenario."""
        if params.name not in self._suite.names():
            raise MCPError(INVALID_PARAMS, f"there is no prompt {params.name[:80]!r}")
        text = (
            f'Run the scenario "{params.name}": call start_scenario with this name, follow the instructions it '
            "returns, and serve its user until the conversation is over."
        )
        return GetPromptResult(messages=[PromptMessage(role="user", content=TextContent(text=text))])
