"""Agents under test, and what connects them: each gets a brief, talks to a user, and acts through MCP alone."""

from sandbox_clients.base import (
    Agent,
    AgentError,
    AgentTurn,
    Brief,
    Conversation,
    Target,
    ToolInfo,
    ToolOutput,
    ToolRequest,
    Tools,
)

__all__ = (
    "Agent", "AgentError", "AgentTurn", "Brief", "Conversation", "Target", "ToolInfo", "ToolOutput", "ToolRequest",
    "Tools",
)  # fmt: skip
