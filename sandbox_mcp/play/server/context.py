"""Facts on a request for a handler. No part of the SDK's lifespan is used: a session outlives connections."""

from typing import Any

from mcp.server.context import ServerRequestContext

Context = ServerRequestContext[Any, Any]
