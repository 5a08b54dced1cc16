"""Sessions: what happens between an agent, a simulated user and a world, and the record of it."""

from sandbox_mcp.session.agent_calls import AgentCall, CallResult, Unconfirmed
from sandbox_mcp.session.announcing import Notice
from sandbox_mcp.session.opening import SessionError, SessionSpec, chosen_instructions
from sandbox_mcp.session.session import Reply, Session, settled

__all__ = (
    "AgentCall",
    "CallResult",
    "Notice",
    "Reply",
    "Session",
    "SessionError",
    "SessionSpec",
    "Unconfirmed",
    "chosen_instructions",
    "settled",
)
