"""The production server with the conformance suite's fixtures in it, and how to look at it by hand.

What is tried here is ours: the doors, the transport and its settings, the middleware that lists, calls and shapes
results, the session's own resource. Only what the fixtures do when they are called comes from ``fixture_pack``.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types import MISSING_REQUIRED_CLIENT_CAPABILITY, SetLevelRequestParams
from sandbox_scenarios import Suite

from sandbox_mcp.play.server.access import session_path
from sandbox_mcp.play.server.app import serving
from sandbox_mcp.play.server.context import Context
from sandbox_mcp.play.server.mcp_server import PreparedResult, SessionFace, in_scope, server_of
from sandbox_mcp.play.server.notices import Notices
from sandbox_mcp.play.server.settings import ServerSettings
from sandbox_mcp.play.session import CallResult, SessionSpec
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.session.open_session import OpenSession, Presentation
from sandbox_mcp.play.users import ScriptedUser
from tests.node.fixture_lists import Resources, complete_argument, get_prompt, list_prompts, set_level
from tests.node.fixture_pack import TOOLS, lacks_sampling

HEADERED = "test_x_mcp_header"


@dataclass(frozen=True)
class FixtureFace:
    """A session's face with more tools on it."""

    session: SessionFace
    _shown: WeakKeyDictionary[Presentation, Presentation] = field(default_factory=WeakKeyDictionary)

    def presentation(self, ctx: Context) -> Presentation:
        ours = self.session.presentation(ctx)
        if ours not in self._shown:
            listed = (*ours.listed, *(fixture.shown for fixture in TOOLS.values()))
            self._shown[ours] = Presentation(ours.tools, listed)
        return self._shown[ours]

    async def call(
        self, ctx: Context, name: str, arguments: object, meta: Mapping[str, Any] | None
    ) -> CallResult | PreparedResult:
        if name not in TOOLS:
            return await self.session.call(ctx, name, arguments, meta)
        return await TOOLS[name].body(ctx, arguments if isinstance(arguments, Mapping) else {})

    def instructions(self, ctx: Context) -> str:
        return self.session.instructions(ctx)

    def announces(self, ctx: Context) -> bool:
        return self.session.announces(ctx)

    def attended(self, ctx: Context) -> OpenSession | None:
        return self.session.attended(ctx)


def fixture_server() -> Server[Any]:
    """A server for session URLs, as ``routed_server`` makes it, with the fixtures."""
    server = server_of(
        FixtureFace(SessionFace(in_scope)),
        **Resources(Notices(in_scope).handlers()).handlers(),
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete_argument,
        get_tool_input_schema=lambda name: TOOLS[name].shown.schema if name == HEADERED else None,
    )
    server.add_request_handler("logging/setLevel", SetLevelRequestParams, set_level)
    server.middleware.insert(0, demand_sampling)
    server.middleware.insert(0, RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=server.name))
    return server


async def demand_sampling(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Refuse the one call that no tool of the product would: it needs a client that lets its model be used."""
    wanted = ctx.method == "tools/call" and (ctx.params or {}).get("name") == "test_missing_capability"
    if wanted and lacks_sampling(ctx):
        needed = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "this tool needs sampling", needed)
    return await call_next(ctx)


def long_session(manager: SessionManager) -> OpenSession:
    """A session with every tool that no number of calls brings to its end."""
    scenario = replace(manager.suite.get("wifi_off"), max_turns=1_000_000, max_calls=1_000_000)
    return manager.create(SessionSpec(scenario, "all_tools"), ScriptedUser(scenario.user.script))


@asynccontextmanager
async def fixtures_served(*, streams: bool) -> AsyncGenerator[str]:
    """Serve the fixtures at a session's URL, which is given."""
    manager = SessionManager(Suite())
    async with serving(manager, ServerSettings(streams=streams), fixture_server()) as base:
        yield base + session_path(long_session(manager).token)


if __name__ == "__main__":
    import sys

    import anyio

    async def main() -> None:
        async with fixtures_served(streams="--streams" in sys.argv) as url:
            print(url, flush=True)  # noqa: T201
            await anyio.sleep_forever()

    anyio.run(main)
