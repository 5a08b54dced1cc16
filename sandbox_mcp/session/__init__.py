"""Sessions: what happens between an agent, a simulated user and a world, and the record of it."""

from sandbox_mcp.session.opening import SessionError, initial_world
from sandbox_mcp.session.session import AgentCall, CallResult, Notice, Reply, Session, Unconfirmed
from sandbox_mcp.session.spec import AGENT_INSTRUCTIONS, SessionSpec

__all__ = (
    "AGENT_INSTRUCTIONS",
    "AgentCall",
    "CallResult",
    "Notice",
    "Reply",
    "Session",
    "SessionError",
    "SessionSpec",
    "Unconfirmed",
    "initial_world",
)
