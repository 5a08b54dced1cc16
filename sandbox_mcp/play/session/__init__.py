"""Sessions: what happens between an agent, a simulated user and a world, and the record of it."""

from sandbox_mcp.play.session.agent_calls import AgentCall, CallResult, Unconfirmed
from sandbox_mcp.play.session.announcing import Notice
from sandbox_mcp.play.session.opening import SessionError, SessionSpec, chosen_instructions
from sandbox_mcp.play.session.session import Reply, Session, settled

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
