"""Sessions: what happens between an agent, a simulated user and a world, and the record of it."""

from sandbox_mcp.session.opening import SessionError, initial_world
from sandbox_mcp.session.session import AgentCall, CallResult, Reply, Session
from sandbox_mcp.session.spec import AGENT_INSTRUCTIONS, SessionSpec

__all__ = (
    "AGENT_INSTRUCTIONS",
    "AgentCall",
    "CallResult",
    "Reply",
    "Session",
    "SessionError",
    "SessionSpec",
    "initial_world",
)
