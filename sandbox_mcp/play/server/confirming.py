"""Asking by elicitation: where a person sits at the client, the client asks them, and the call goes on.

Policy: only where no harness speaks for the agent, since there the simulated user must confirm. The person is asked to
confirm a call, which they see as the agent made it, whole or shortened, or, where they play the user, to answer what
the agent said. Whatever is not a plain yes, or an answer, leaves the refusal as it was. The older
protocol asks while the call waits, if its transport can carry a question; the newer one answers the call with the
question, and the client makes the call again with the person's answer. What a client brings back is only believed for
the very call that it was asked about, once.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast
from weakref import WeakKeyDictionary

from mcp.shared.exceptions import MCPError
from mcp_types import ClientCapabilities
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from sandbox_mcp.play.server.context import Context
from sandbox_mcp.play.server.person_as_user import REPLY_FIELD, REPLY_SCHEMA, UNREACHABLE, question_for, settle_reply
from sandbox_mcp.play.session import AgentCall, CallResult, Unconfirmed
from sandbox_mcp.play.session.open_session import OpenSession
from sandbox_mcp.play.session.tool_channel import Unanswered

Refused = Unconfirmed | Unanswered
"""The refusal of a call that a person can still let happen."""

FIELD = "confirm"
"""Name of the form's field, and of the question in the newer protocol."""
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {FIELD: {"type": "boolean", "title": "Allow it", "description": "Whether to do this now."}},
    "required": [FIELD],
}
LONGEST = 2000
"""How many characters of the arguments the person is shown."""
CHANNEL: Mapping[str, str] = {"channel": "elicitation"}
"""What a log says about a confirmation, or an answer, that the person at the client gave."""


@dataclass(frozen=True, slots=True)
class ConfirmationQuestion:
    """The newer protocol's answer to a call that needs the person; ``state`` comes back with theirs."""

    message: str
    state: str
    name: str = FIELD
    schema: Mapping[str, Any] = field(default_factory=lambda: SCHEMA)

    def wire(self, stamp: Mapping[str, Any] | None) -> dict[str, Any]:
        """The question as it travels."""
        params = {"mode": "form", "message": self.message, "requestedSchema": self.schema}
        return {
            "resultType": "input_required",
            "inputRequests": {self.name: {"method": "elicitation/create", "params": params}},
            "requestState": self.state,
            "_meta": stamp,
        }


@dataclass(frozen=True, slots=True)
class _Asked:
    """A call that waits for the person's answer, how it was refused, and the form that they are shown."""

    call: AgentCall
    refused: Refused
    name: str
    schema: Mapping[str, Any]
    message: str


class Confirming:
    """Asks the person at a client, and takes up their answers."""

    def __init__(self) -> None:
        self._asked: WeakKeyDictionary[OpenSession, dict[str, _Asked]] = WeakKeyDictionary()

    async def ask(
        self, ctx: Context, opened: OpenSession, call: AgentCall, refused: Refused
    ) -> CallResult | ConfirmationQuestion:
        """Have the person asked: what came of it, the question to send, or the refusal where no person can be asked."""
        if not has_forms(ctx.session.client_capabilities):
            return refused
        asked = _asked(opened, call, refused)
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            question = ConfirmationQuestion(asked.message, secrets.token_urlsafe(12), asked.name, asked.schema)
            self._asked.setdefault(opened, {})[question.state] = asked
            return question
        if not ctx.session.can_send_request:
            return replace(refused, error=UNREACHABLE) if isinstance(refused, Unanswered) else refused
        try:
            answer = await ctx.session.elicit_form(asked.message, dict(asked.schema), ctx.request_id)
        except (MCPError, ValidationError):
            return refused
        return await _settled(opened, asked, answer.action, answer.content)

    async def answered(self, opened: OpenSession, call: AgentCall, params: Mapping[str, Any]) -> CallResult | None:
        """Outcome of the person's answer in ``params``; None where this call was not asked about."""
        waiting = self._asked.get(opened, {})
        state = params.get("requestState")
        asked = waiting.get(state) if isinstance(state, str) else None
        if asked is None or asked.call != call:
            return None
        del waiting[cast(str, state)]
        answer = _mapping(_mapping(params.get("inputResponses")).get(asked.name))
        return await _settled(opened, asked, answer.get("action"), answer.get("content"))


def message_for(call: AgentCall) -> str:
    """Question to the person."""
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    shown = arguments if len(arguments) <= LONGEST else f"{arguments[:LONGEST]}... ({len(arguments)} characters)"
    return f"The assistant wants to call {call.name} with {shown}. Shall it?"


def means_yes(action: object, content: object) -> bool:
    """True if an answer is a plain yes: a form that was sent off with the field ticked."""
    return action == "accept" and _mapping(content).get(FIELD) is True


def _asked(opened: OpenSession, call: AgentCall, refused: Refused) -> _Asked:
    """Question as the person is shown it: the call to confirm, or the words to answer."""
    if isinstance(refused, Unanswered):
        return _Asked(call, refused, REPLY_FIELD, REPLY_SCHEMA, question_for(opened.session, refused.content))
    return _Asked(call, refused, FIELD, SCHEMA, message_for(call))


async def _settled(opened: OpenSession, asked: _Asked, action: object, content: object) -> CallResult:
    if isinstance(asked.refused, Unanswered):
        return await settle_reply(opened, asked.refused, action, _mapping(content).get(REPLY_FIELD), CHANNEL)
    if means_yes(action, content):
        return await opened.call_confirmed(asked.call, asked.refused, CHANNEL)
    return asked.refused


def has_forms(capabilities: ClientCapabilities | None) -> bool:
    """True if the client can show a form; one that names no mode means forms."""
    offered = capabilities.elicitation if capabilities else None
    return offered is not None and (offered.form is not None or offered.url is None)


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
