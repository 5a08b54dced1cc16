"""How a presented tool appears over MCP, and what is listed where there is nothing of a kind.

Policy: what a client is told is what the session checks: the schemas of the presentation, unchanged. The annotations
say which tools act, so that a host may ask its human first; no tool reaches beyond the sandbox. Hosts ask for lists
without looking whether they are offered, and some show their human an error for it, so every list can be had.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from mcp_types import (
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Tool,
    ToolAnnotations,
)

from sandbox_mcp.server.context import Context
from sandbox_mcp.tools import PresentedTool


def listing(tools: Iterable[PresentedTool]) -> ListToolsResult:
    """The answer to ``tools/list``; nothing in it ever changes, and it is meant for one client only."""
    return ListToolsResult(tools=[listed(tool) for tool in tools])


def listed(presented: PresentedTool) -> Tool:
    """One tool as MCP describes it."""
    return Tool(
        name=presented.name,
        description=presented.description or None,
        input_schema=dict(presented.schema),
        output_schema=presented.tool.output_schema(),
        annotations=ToolAnnotations(
            read_only_hint=not presented.tool.action,
            destructive_hint=presented.tool.destructive,
            idempotent_hint=not presented.tool.action,
            open_world_hint=False,
        ),
    )


async def _no_prompts(_: Context, __: PaginatedRequestParams | None) -> ListPromptsResult:
    return ListPromptsResult(prompts=[])


async def _no_resources(_: Context, __: PaginatedRequestParams | None) -> ListResourcesResult:
    return ListResourcesResult(resources=[])


async def _no_templates(_: Context, __: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
    return ListResourceTemplatesResult(resource_templates=[])


EMPTY_LISTS: Mapping[str, Any] = {
    "on_list_prompts": _no_prompts,
    "on_list_resources": _no_resources,
    "on_list_resource_templates": _no_templates,
}
"""Arguments of the SDK's server that answer for what a server does not have."""
