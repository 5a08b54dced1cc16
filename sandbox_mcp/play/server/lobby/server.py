"""The lobby as an MCP server: its constant list of tools, and a prompt that is its start button."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from anyio import to_thread
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    PromptReference,
    TextContent,
)
from sandbox_scenarios import Suite

from sandbox_mcp.play.server.context import Context
from sandbox_mcp.play.server.lobby.names import completed, named
from sandbox_mcp.play.server.lobby.seats import Lobby, unknown
from sandbox_mcp.play.server.lobby.session_app import EXTENSION, MIME, URI, AppResource, SessionApp, shows_pages
from sandbox_mcp.play.server.lobby.texts import END, SHOW, button, how_to_begin, lobby_tools
from sandbox_mcp.play.server.mcp_server import PreparedResult, ToolPages, in_scope, server_of
from sandbox_mcp.play.server.metrics import CallMeter
from sandbox_mcp.play.session import CallResult
from sandbox_mcp.play.session.open_session import OpenSession, Presentation

BUTTON = Prompt(
    name="run_scenario",
    title="Run a scenario",
    description="Let the assistant play a scenario with a simulated user.",
    arguments=[
        PromptArgument(
            name="scenario",
            title="Scenario",
            description="Its name, such as list_scenarios gives; left empty, you are shown some to choose from.",
        )
    ],
)
MOST = 100
"""How many completions the protocol lets a server send at once."""


@dataclass(frozen=True, slots=True)
class _LobbyFace:
    """The lobby; ``find`` tells in which seat, ``told`` is how to play."""

    find: Callable[[Context], Lobby]
    shown: Presentation
    told: str
    elicits: bool = True

    def presentation(self, ctx: Context) -> Presentation:  # noqa: ARG002
        """The lobby's tools, which stay the same whatever happens."""
        return self.shown

    def instructions(self, ctx: Context) -> str:  # noqa: ARG002
        """Instructions for play."""
        return self.told

    async def call(
        self, ctx: Context, name: str, arguments: object, meta: Mapping[str, Any] | None
    ) -> CallResult | PreparedResult:
        """Call a tool of the lobby, or of the scenario that it is playing."""
        return await self.find(ctx).call(name, arguments, meta, host_of(ctx), shows=shows_pages(ctx))

    def announces(self, ctx: Context) -> bool:  # noqa: ARG002
        """Never: the lobby outlives its scenarios, and what it offers does not change with them."""
        return False

    def attended(self, ctx: Context) -> OpenSession | None:
        """The running scenario, where the person who started it sits at the client."""
        return self.find(ctx).running() if self.elicits else None


def lobby_server(
    suite: Suite,
    lobby: Lobby | None = None,
    *,
    elicits: bool = True,
    app: SessionApp | None = None,
    meter: CallMeter | None = None,
) -> Server[Any]:
    """A server for one lobby, or for the one that the HTTP application found for the request.

    It lists the tools of the suite's world. ``elicits`` lets the client's human confirm calls. ``app``, the same as the
    lobby's, shows sessions that are over. ``meter`` counts calls.

    Raises:
        ScenarioError: the suite has scenarios of several worlds.
    """

    def find(ctx: Context) -> Lobby:
        return lobby or in_scope(ctx)

    start = _StartButton(suite)
    shown = Presentation({}, lobby_tools(suite.home, shows=app is not None))
    face = _LobbyFace(find, shown, how_to_begin(suite.home), elicits)
    handlers: dict[str, Any] = {
        "on_list_prompts": start.list,
        "on_get_prompt": start.get,
        "on_completion": start.complete,
    }
    if app is None:
        return server_of(face, meter=meter, **handlers)
    pages = ToolPages({EXTENSION: {"mimeTypes": [MIME]}}, dict.fromkeys((END.name, SHOW.name), URI))
    return server_of(face, pages, meter=meter, **handlers, **AppResource(app).handlers())


def host_of(ctx: Context) -> Mapping[str, Any]:
    """Describe an agent in the lobby for a log: the host that connected it."""
    known: dict[str, Any] = {"kind": "host", "protocol": ctx.protocol_version}
    if ctx.session.client_params is None:
        return known
    client = ctx.session.client_params.client_info
    return {**known, "client": client.name, "client_version": client.version}


class _StartButton:
    """The prompt that starts a scenario. It is one message of the user, because hosts flatten any others into one."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite

    async def list(self, _: Context, __: PaginatedRequestParams | None) -> ListPromptsResult:
        """The one prompt there is: hosts show each in a menu, which has no room for hundreds."""
        return ListPromptsResult(prompts=[BUTTON])

    async def get(self, _: Context, params: GetPromptRequestParams) -> GetPromptResult:
        """The words that start a scenario."""
        _check(params.name)
        names = await to_thread.run_sync(self._suite.names)
        wanted = (params.arguments or {}).get("scenario", "").strip()
        chosen = named(names, wanted)
        if chosen and chosen not in names:
            raise MCPError(INVALID_PARAMS, unknown(names, wanted))
        return GetPromptResult(messages=[PromptMessage(role="user", content=TextContent(text=button(chosen)))])

    async def complete(self, _: Context, params: CompleteRequestParams) -> CompleteResult:
        """The names that go with what a person has typed so far."""
        _check(params.ref.name if isinstance(params.ref, PromptReference) else params.ref.uri)
        names = await to_thread.run_sync(self._suite.names) if params.argument.name == "scenario" else ()
        fitting = completed(names, params.argument.value)
        return CompleteResult(
            completion=Completion(values=list(fitting[:MOST]), total=len(fitting), has_more=len(fitting) > MOST)
        )


def _check(prompt: str) -> None:
    if prompt != BUTTON.name:
        raise MCPError(INVALID_PARAMS, f"there is no prompt {prompt[:80]!r}; there is {BUTTON.name!r}")
