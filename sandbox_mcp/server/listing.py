"""How a presented tool appears over MCP.

Policy: what a client is told is what the session checks: the schemas of the presentation, unchanged. The annotations
say which tools act, so that a host may ask its human first; no tool reaches beyond the sandbox.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from mcp_types import ListToolsResult, Tool, ToolAnnotations

from sandbox_mcp.tools import PresentedTool


def listing(tools: Iterable[PresentedTool], pages: Mapping[str, str] = MappingProxyType({})) -> ListToolsResult:
    """The answer to ``tools/list``; nothing in it ever changes, and it is meant for one client only.

    ``pages`` has the address of the page that shows a tool's results, by the tool's name.
    """
    return ListToolsResult(tools=[listed(tool, pages.get(tool.name)) for tool in tools])


def listed(presented: PresentedTool, page: str | None = None) -> Tool:
    """One tool as MCP describes it; ``page`` shows its results."""
    return Tool(
        _meta={"ui": {"resourceUri": page}} if page else None,
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
