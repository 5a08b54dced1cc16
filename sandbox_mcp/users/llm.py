"""A simulated user played by a language model, over any OpenAI-compatible endpoint.

Policy: the model is told its goal and, each switchable, what it knows, what it does not know, and an example of how
such a conversation goes. It has a tool to leave, and where the assistant asks it to confirm something under a code, a
tool to confirm; consent in words alone confirms nothing. What it says is recorded as it is; an
endpoint that gives no usable answer is a fault of the user, never of the agent.

Source of the parts and of their being switchable: ToolSandbox, section 3.3 and table 2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox_mcp.tools.gates import CODE
from sandbox_mcp.users.base import Line, UserError, UserTurn
from sandbox_mcp.users.completions import Answer, Completions, EndpointError
from scenarios.model import Exchange, UserSpec

ALL_PARTS = frozenset({"knows", "does_not_know", "demonstration"})
"""What a user may be told beside its goal."""
END = "end_conversation"
CONFIRM = "confirm_action"
ASKED = 3
"""How often a model is asked in all when it neither speaks nor leaves."""

ROLE = (
    "You play a person who owns a phone and writes to the assistant on it. The messages you receive are the "
    "assistant's; what you write is read by the assistant. Stay that person throughout: you want something done and "
    "cannot do it yourself, so never act as an assistant, never offer help, and never describe actions or use headings "
    "or lists."
)
MANNER = (
    "Write as people text: one or two short sentences in plain words. Give what you know only when the assistant asks "
    "for it, and only what it asks for. If it wants your consent to something that serves what you want, give it."
)
BOUNDARY = (
    "You know nothing beyond what is written here. Asked for anything else, say that you do not know it; never make "
    "anything up, however much the assistant insists."
)
ENDING = (
    f"Call the function {END} as soon as the assistant has done all that you want, or has made clear that it cannot. "
    "Call it without writing anything with it. Do not thank or say goodbye first, and do not leave while the assistant "
    "waits for an answer that you can give."
)
START = "(You are connected to the assistant. Write your first message.)"

END_TOOL: Mapping[str, Any] = {
    "type": "function",
    "function": {
        "name": END,
        "description": "Leave the conversation, because you have all you wanted or see that you will not get it.",
        "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
    },
}
CONFIRM_TOOL: Mapping[str, Any] = {
    "type": "function",
    "function": {
        "name": CONFIRM,
        "description": "Let the assistant do what it asked you to confirm. Only for what serves what you want.",
        "parameters": {
            "type": "object",
            "properties": {"code": {"type": "string", "description": "The code that the assistant named."}},
            "required": ["code"],
            "additionalProperties": False,
        },
    },
}


@dataclass(frozen=True, slots=True)
class LlmUser:
    """A user that a model plays; ``told`` is what of its specification the model gets to see."""

    spec: UserSpec
    endpoint: Completions
    told: frozenset[str] = ALL_PARTS
    kind: str = "llm"

    def describe(self) -> Mapping[str, Any]:
        """Which model plays it, and what it was told."""
        return {**self.endpoint.settings.describe(), "told": sorted(self.told)}

    async def respond(self, dialogue: Sequence[Line]) -> UserTurn:
        """Ask the model what the user says next.

        Raises:
            UserError: there was no usable answer.
        """
        messages = [{"role": "system", "content": prompt(self.spec, self.told)}, *conversation(dialogue)]
        tools = [END_TOOL, CONFIRM_TOOL] if CODE.search(dialogue[-1].text) else [END_TOOL]
        for _ in range(ASKED):
            answer = await self._ask(messages, tools)
            turn = self._turn(answer)
            if turn is not None:
                return turn
        raise UserError(f"the user's model {self.endpoint.settings.model!r} neither spoke nor left in {ASKED} tries")

    async def _ask(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> Answer:
        try:
            return await self.endpoint.ask(messages, tools)
        except EndpointError as error:
            raise UserError(str(error)) from error

    def _turn(self, answer: Answer) -> UserTurn | None:
        meta = {"model": self.endpoint.settings.model, "usage": answer.usage.to_json()}
        if any(call.name == END for call in answer.calls):
            return UserTurn(None, meta=meta)
        codes = tuple(code for call in answer.calls if call.name == CONFIRM for code in CODE.findall(call.arguments))
        says = answer.text.strip() or (self.spec.script.confirm if codes else "")
        return UserTurn(says, confirms=codes, meta=meta) if says else None


def prompt(spec: UserSpec, told: frozenset[str] = ALL_PARTS) -> str:
    """What the model is told before the conversation."""
    parts = [ROLE, f"What you want: {spec.goal}"]
    if "knows" in told and spec.knows:
        parts.append("What you know:\n" + _listed(spec.knows))
    if "does_not_know" in told:
        parts.append(BOUNDARY)
        if spec.does_not_know:
            parts.append("In particular, you do not know:\n" + _listed(spec.does_not_know))
    parts += [MANNER, ENDING]
    if "demonstration" in told and spec.demonstration:
        parts.append(_demonstrated(spec.demonstration))
    return "\n\n".join(parts)


def conversation(dialogue: Sequence[Line]) -> list[dict[str, Any]]:
    """The dialogue from the user's side: what the user said is the model's own, what the agent said is put to it."""
    roles = {"user": "assistant", "agent": "user"}
    said = [{"role": roles[line.speaker], "content": line.text} for line in dialogue]
    return [{"role": "user", "content": START}, *said]


def _listed(items: Sequence[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _demonstrated(exchanges: Sequence[Exchange]) -> str:
    lines = [line for pair in exchanges for line in (f"You: {pair.user}", f"Assistant: {pair.agent}")]
    head = "An example of how such a conversation may go. The assistant you talk to will put things differently:"
    return "\n".join([head, *lines, f"You: ({END})"])
