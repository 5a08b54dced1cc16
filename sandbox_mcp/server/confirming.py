"""Confirmation by elicitation: where a person sits at the client, the client asks them, and the call goes on.

Policy: only where no harness speaks for the agent, since there the simulated user must confirm. The person sees the
call as the agent made it, whole or shortened. Whatever is not a plain yes leaves the refusal as it was. The older
protocol asks while the call waits, if its transport can carry a question; the newer one answers the call with the
question, and the client makes the call again with the person's answer. What a client brings back is only believed for
the very call that it was asked about, once.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from weakref import WeakKeyDictionary

from mcp.shared.exceptions import MCPError
from mcp_types import ClientCapabilities
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from sandbox_mcp.server.context import Context
from sandbox_mcp.session import AgentCall, CallResult, Unconfirmed
from sandbox_mcp.session.manager import OpenSession

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
"""What a log says about a confirmation that the person at the client gave."""


@dataclass(frozen=True, slots=True)
class Question:
    """The newer protocol's answer to a call that the person must confirm; ``state`` comes back with theirs."""

    message: str
    state: str

    def wire(self, stamp: Mapping[str, Any] | None) -> dict[str, Any]:
        """The question as it travels."""
        params = {"mode": "form", "message": self.message, "requestedSchema": SCHEMA}
        return {
            "resultType": "input_required",
            "inputRequests": {FIELD: {"method": "elicitation/create", "params": params}},
            "requestState": self.state,
            "_meta": stamp,
        }


@dataclass(frozen=True, slots=True)
class _Asked:
    """A call that waits for the person's answer, and how it was refused."""

    call: AgentCall
    refused: Unconfirmed


class Confirming:
    """Asks the person at a client, and takes up their answers."""

    def __init__(self) -> None:
        self._asked: WeakKeyDictionary[OpenSession, dict[str, _Asked]] = WeakKeyDictionary()

    async def ask(
        self, ctx: Context, opened: OpenSession, call: AgentCall, refused: Unconfirmed
    ) -> CallResult | Question:
        """Have the person asked: what came of it, the question to send, or the refusal where nobody can be asked."""
        if not has_forms(ctx.session.client_capabilities):
            return refused
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            question = Question(message_for(call), secrets.token_urlsafe(12))
            self._asked.setdefault(opened, {})[question.state] = _Asked(call, refused)
            return question
        if not ctx.session.can_send_request:
            return refused
        try:
            answer = await ctx.session.elicit_form(message_for(call), dict(SCHEMA), ctx.request_id)
        except (MCPError, ValidationError):
            return refused
        return await _settled(opened, _Asked(call, refused), yes=means_yes(answer.action, answer.content))

    async def answered(self, opened: OpenSession, call: AgentCall, params: Mapping[str, Any]) -> CallResult | None:
        """What comes of the person's answer in ``params``; None where this call was not asked about."""
        waiting = self._asked.get(opened, {})
        state = params.get("requestState")
        asked = waiting.get(state) if isinstance(state, str) else None
        if asked is None or asked.call != call:
            return None
        del waiting[cast(str, state)]
        answer = _mapping(_mapping(params.get("inputResponses")).get(FIELD))
        return await _settled(opened, asked, yes=means_yes(answer.get("action"), answer.get("content")))


def message_for(call: AgentCall) -> str:
    """What the person is asked."""
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    shown = arguments if len(arguments) <= LONGEST else f"{arguments[:LONGEST]}... ({len(arguments)} characters)"
    return f"The assistant wants to call {call.name} with {shown}. Shall it?"


def means_yes(action: object, content: object) -> bool:
    """Whether an answer is a plain yes: a form that was sent off with the field ticked."""
    return action == "accept" and _mapping(content).get(FIELD) is True


async def _settled(opened: OpenSession, asked: _Asked, *, yes: bool) -> CallResult:
    return await opened.call_confirmed(asked.call, asked.refused, CHANNEL) if yes else asked.refused


def has_forms(capabilities: ClientCapabilities | None) -> bool:
    """Whether the client can show a form; one that names no mode means forms."""
    offered = capabilities.elicitation if capabilities else None
    return offered is not None and (offered.form is not None or offered.url is None)


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
