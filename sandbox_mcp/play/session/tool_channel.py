"""The user as a tool: how an agent that no harness drives speaks to the user.

Policy: what goes through this tool is recorded as messages, so that logs of both channels read alike; only calls whose
arguments are faulty are recorded as calls. Sessions played this way are marked and never compared with driven ones.
Where the user is a person at the agent's client, they are asked first, and nothing is recorded until they answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox_mcp.engine.tools import Outcome, Parameter, PresentedTool, Tool, bind, never_run, present
from sandbox_mcp.play.session.agent_calls import CallResult
from sandbox_mcp.play.session.opening import SessionError
from sandbox_mcp.play.session.session import UNRECORDED, Session
from sandbox_mcp.play.users import UserTurn
from sandbox_mcp.play.users.human import HostUser

SEND = "send_message_to_user"
CHANNEL: Mapping[str, str] = {"channel": "tool"}
"""What a log says about a message that an agent sent with the tool."""
OVER = "SessionOverError: this conversation is over; nothing more can be said in it"
NOBODY = (
    "NoPersonError: the user is a person who answers in this client, and this client offers no form to ask them with "
    "(elicitation); the message has reached nobody"
)


@dataclass(frozen=True, slots=True)
class Unanswered(CallResult):
    """The refusal of a message that a person has yet to answer; ``content`` is what the agent said."""

    content: str = ""


SEND_TOOL: PresentedTool = present(
    Tool(
        name=SEND,
        domain="conversation",
        action=True,
        destructive=False,
        caller="agent",
        function=never_run,
        description=(
            "Say something to the user and wait for the answer.\n"
            "This is the only way to reach the user: text that is not sent with this tool is read by nobody. "
            "Use it to ask for what you need to know, and to report once you are done.\n"
            "Returns reply, the user's answer, and conversation_over. Once conversation_over is true the user "
            "has left, reply is what they said last or null, and you should stop.\n"
            "Fails with SessionOverError: the user has already left."
        ),
        parameters=(Parameter("content", {"type": "string"}, True, "What to say, in plain words."),),
        result_schema={
            "type": "object",
            "properties": {"reply": {"type": ["string", "null"]}, "conversation_over": {"type": "boolean"}},
            "required": ["reply", "conversation_over"],
        },
    )
)


async def send_message(session: Session, arguments: object, meta: Mapping[str, Any] | None = None) -> CallResult:
    """Run one call of the tool, recorded with ``meta``. Its faults are results, like those of any tool."""
    bound = bind({SEND: SEND_TOOL}, SEND, arguments)
    if isinstance(bound, Outcome):
        return session.refuse(SEND, bound)
    content = str(bound.arguments["content"])
    if isinstance(session.user, HostUser) and session.awaits_user:
        return Unanswered({}, NOBODY, content)
    return await say_to_user(session, content, meta=meta)


async def say_to_user(
    session: Session, content: str, answer: UserTurn | None = None, meta: Mapping[str, Any] | None = None
) -> CallResult:
    """Say something to the user, whose answer may be known; an error once the session is over."""
    try:
        reply = await session.say(content, {**(meta or {}), **CHANNEL}, answer=answer)
    except SessionError:
        return CallResult({}, OVER)
    if reply.reason == "log_failed":
        return CallResult({}, UNRECORDED)
    return CallResult({"reply": reply.text or reply.parting or None, "conversation_over": reply.over}).with_notices(
        reply.notices
    )
