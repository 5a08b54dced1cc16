"""What a handler is told of a request. No part of the SDK's lifespan is used: a session outlives connections."""

from typing import Any

from mcp.server.context import ServerRequestContext

Context = ServerRequestContext[Any, Any]
