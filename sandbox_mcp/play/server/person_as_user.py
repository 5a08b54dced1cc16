"""A person at the client as the user: what they are asked, and what becomes of their answer.

Policy: the form shows the agent's words and what the person wants, since they have no other place to read it; a client
that lets its agent fill in forms gives the goal away, which is why the log names this channel. Sending the form off
says what is in it, declining it leaves, and dismissing it, or sending nothing, is not an answer at all: the agent is
told so, and nothing is recorded.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sandbox_mcp.engine.trajectory.model_text import readable
from sandbox_mcp.play.session import CallResult
from sandbox_mcp.play.session.open_session import OpenSession
from sandbox_mcp.play.session.session import Session
from sandbox_mcp.play.session.tool_channel import Unanswered
from sandbox_mcp.play.users import Line, UserTurn, as_read
from sandbox_mcp.play.users.typed import TypedError, briefing, turn_of

REPLY_FIELD = "reply"
"""Name of the form's field, and of the question in the newer protocol."""
REPLY_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        REPLY_FIELD: {
            "type": "string",
            "title": "Your answer",
            "description": "What you say to the assistant. Decline to leave the conversation.",
        }
    },
    "required": [REPLY_FIELD],
}
LONGEST = 4000
"""How many characters of the agent's words the person is shown."""
UNREACHABLE = (
    "NoPersonError: the user is a person who answers in this client, and this connection cannot carry a question to "
    "it; whoever runs this server can start it with --streams, or over stdio"
)
DISMISSED = (
    "NoAnswerError: the user has not answered, and the message counts as not sent; send it again, or stop if they do "
    "not want to go on"
)


def question_for(session: Session, content: str) -> str:
    """Question above the field for the person's answer."""
    said = content if len(content) <= LONGEST else f"{content[:LONGEST]}... ({len(content)} characters)"
    spec = session.spec.user
    return f"The assistant says: {said}\n\nYou play the user, who began with: {spec.opening}\n{briefing(spec)}"


async def settle_reply(
    opened: OpenSession, asked: Unanswered, action: object, reply: object, channel: Mapping[str, Any]
) -> CallResult:
    """Outcome of the person's answer: their words, their leaving, or that there was none."""
    if action == "decline":
        return await opened.answered(asked.content, UserTurn(None, channel))
    if action != "accept" or not isinstance(reply, str) or not reply.strip():
        return replace(asked, error=DISMISSED)
    said, dialogue = readable(reply), (*opened.session.dialogue, Line("agent", as_read(asked.content)))
    try:
        turn = turn_of(said, opened.session.spec.user, dialogue)
    except TypedError:  # a command that means nothing is said as it stands
        turn = UserTurn(said.strip())
    return await opened.answered(asked.content, replace(turn, meta=channel))
