"""The MCP request being answered, and its call, as spans tell of them."""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class RequestTrace:
    """MCP request that a call came with, as a span tells it; ``parent`` is the caller's context.

    ``told`` is set once a span has told of the request.
    """

    method: str
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    parent: Any = None
    told: bool = False


REQUEST: ContextVar[RequestTrace | None] = ContextVar("sandbox_mcp_request", default=None)
"""The MCP request that is being answered; nothing where telemetry is off."""
CALL: ContextVar[tuple[RequestTrace | None, int] | None] = ContextVar("sandbox_mcp_call", default=None)
"""The request of the call that is being carried out, and when that began, in nanoseconds since 1970."""
