"""Answers of a server to requests for what it has none of.

Policy: hosts ask for prompts and resources without looking whether they are offered, and some show their human an error
for it. So every server offers both, and where there are none the lists are empty. Arguments that travel in a header as
well there are none either, and saying so spares the SDK from listing the tools for every call.
"""

from collections.abc import Mapping
from typing import Any, NoReturn

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    GetPromptRequestParams,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
)

from sandbox_mcp.play.server.context import Context


async def _list_prompts(_: Context, __: PaginatedRequestParams | None) -> ListPromptsResult:
    return ListPromptsResult(prompts=[])


async def _get_prompt(_: Context, params: GetPromptRequestParams) -> NoReturn:
    raise MCPError(INVALID_PARAMS, f"there is no prompt {params.name[:80]!r}")


async def _list_resources(_: Context, __: PaginatedRequestParams | None) -> ListResourcesResult:
    return ListResourcesResult(resources=[])


async def _list_templates(_: Context, __: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
    return ListResourceTemplatesResult(resource_templates=[])


async def _read_resource(_: Context, params: ReadResourceRequestParams) -> NoReturn:
    raise no_resource(params.uri)


def no_resource(uri: object, hint: str = "") -> MCPError:
    """The error for a client that asks for a resource which does not exist."""
    wanted = str(uri)[:80]
    return MCPError(INVALID_PARAMS, f"there is no resource {wanted!r}{hint}", {"uri": wanted})


def _schema_with_headers(_: str) -> None:
    return None


ABSENT: Mapping[str, Any] = {
    "on_list_prompts": _list_prompts,
    "on_get_prompt": _get_prompt,
    "on_list_resources": _list_resources,
    "on_list_resource_templates": _list_templates,
    "on_read_resource": _read_resource,
    "get_tool_input_schema": _schema_with_headers,
}
"""Arguments of the SDK's server."""
