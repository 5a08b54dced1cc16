"""The lobby as an MCP App: a host that shows pages gets the session that was played, for the person in the chat.

Policy: what the page shows, the score and the answers among it, travels in ``_meta`` of a result alone, which hosts
hand to the page and not to their model. It is given once a scenario is over, never while it is played, and never at the
URL of a session under test, where none of this exists. What makes the page is handed in, because it needs the grader.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from anyio import to_thread
from mcp_types import (
    ListResourcesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    TextResourceContents,
)
from sandbox_scenarios import Scenario

from sandbox_mcp.engine.trajectory import Trajectory
from sandbox_mcp.engine.trajectory.log import parse_trajectory
from sandbox_mcp.play.server.context import Context
from sandbox_mcp.play.server.empty_lists import no_resource
from sandbox_mcp.play.server.mcp_server import wire_result
from sandbox_mcp.play.session import CallResult
from sandbox_mcp.play.session.open_session import OpenSession

EXTENSION = "io.modelcontextprotocol/ui"
"""The extension by which client and server say that they know about pages."""
MIME = "text/html;profile=mcp-app"
URI = "ui://sandbox-mcp/session"
PAGE = "sandbox-mcp/page"
"""Under which key of ``_meta`` the page finds what it shows."""
MOST = 900_000
"""Characters of a session's page at most: some hosts refuse a message of a megabyte."""


class SessionApp(Protocol):
    """Makes the page of a session: one document for all sessions, and the data of each."""

    def html(self) -> str:
        """The document, which loads nothing and gets its data from the host."""
        ...

    def page(self, trajectory: Trajectory, scenario: Scenario) -> Mapping[str, Any]:
        """Content of a session's document, as JSON."""
        ...


@dataclass(frozen=True, slots=True)
class ShownResult:
    """A call's result with the page that goes with it."""

    result: CallResult
    page: Mapping[str, Any]

    def wire(self, stamp: Mapping[str, Any] | None) -> dict[str, Any]:
        """The result as it travels."""
        wire = wire_result(self.result, stamp)
        return {**wire, "_meta": {**wire.get("_meta", {}), PAGE: self.page}}


async def shown(result: CallResult, opened: OpenSession, app: SessionApp) -> ShownResult:
    """The result with the page of a finished session."""
    lines, scenario = opened.lines(), opened.session.spec.scenario
    if lines is None:
        return ShownResult(result, {"problem": "The log of this session is kept elsewhere."})

    def made() -> Mapping[str, Any]:
        found = app.page(parse_trajectory(lines), scenario)
        if len(json.dumps(found)) > MOST:
            return {"problem": "This session is too large to be shown here; 'sandbox-mcp view' shows it."}
        return found

    return ShownResult(result, await to_thread.run_sync(made))


def shows_pages(ctx: Context) -> bool:
    """True if the client has said that it shows pages."""
    known = ctx.session.client_params
    extensions = known.capabilities.extensions if known else None
    return EXTENSION in (extensions or {})


class AppResource:
    """Handlers for the document as a resource."""

    def __init__(self, app: SessionApp) -> None:
        self._app = app

    def handlers(self) -> dict[str, Any]:
        """The arguments of the SDK's server that serve the resource."""
        return {"on_list_resources": self._list, "on_read_resource": self._read}

    async def _list(self, _: Context, __: PaginatedRequestParams | None) -> ListResourcesResult:
        about = "The session that was played, step by step, for the person in the chat."
        return ListResourcesResult(
            resources=[Resource(name="session", title="Session", uri=URI, mime_type=MIME, description=about)]
        )

    async def _read(self, _: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        if str(params.uri) != URI:
            raise no_resource(params.uri, f"; known: {URI}")
        text = await to_thread.run_sync(self._app.html)
        ui: dict[str, Any] = {"csp": {"connectDomains": [], "resourceDomains": []}, "prefersBorder": True}
        return ReadResourceResult(contents=[TextResourceContents(uri=URI, mime_type=MIME, text=text, _meta={"ui": ui})])
