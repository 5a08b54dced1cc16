"""A simulated user played by a language model, over any OpenAI-compatible endpoint.

Policy: the model is told its goal, what it does not want and, each switchable, what it knows, what it does not know,
and an example of how such a conversation goes; the goal, to which its refusals belong, is never left out, because a
user without one wants nothing. It has a tool to leave, and where the assistant asks it to confirm something under a
code, a tool to confirm; consent in words alone confirms nothing. Tools to recall what it knows and wants are given only
where they are asked for. What it says is recorded as it is, without its reasoning, which the log keeps apart; an
endpoint that gives no usable answer is a fault of the user, never of the agent.

Source of the parts and of their being switchable: ToolSandbox, section 2.2 and table 2, whose first row has the goal
alone and whose user has no tool but the one to leave.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from sandbox_scenarios.model import Exchange, UserSpec
from sandbox_scenarios.personas import manners

from sandbox_mcp.engine.talk.patterns import Lazy
from sandbox_mcp.engine.talk.text import without_reasoning
from sandbox_mcp.engine.tools import Tool
from sandbox_mcp.engine.tools.gates import codes_in
from sandbox_mcp.engine.tools.user_tools import CONFIRM, END
from sandbox_mcp.engine.trajectory.usage import Usage
from sandbox_mcp.play.models.asking import EndpointError, FunctionCall, ModelAnswer
from sandbox_mcp.play.models.completions import Completions, as_message
from sandbox_mcp.play.users.base import Line, UserAct, UserCall, UserError, UserTurn
from sandbox_mcp.play.users.days import spoken
from sandbox_mcp.play.users.recall import USER_TOOLS, as_function, object_in

ALL_PARTS = frozenset({"knows", "does_not_know", "demonstration"})
"""What a user may be told beside its goal."""
ASKED = 3
"""How often a model is asked in all when it neither speaks nor leaves."""
LOOKS = 4
"""How often it may look things up before it answers; then the tools for that are taken away."""

WHO = "You play a person who writes to an assistant."
"""Whom a model plays in a world that does not say."""
ROLE = (
    "The messages you receive are the assistant's; what you write is read by the assistant. Stay that person "
    "throughout: you want something done and cannot do it yourself, so never act as an assistant, never offer help, "
    "and never describe actions or use headings or lists."
)
ACTING = "You can do some things yourself with the functions you are given: do them when the assistant asks you to."
MANNER = (
    "Write as people text: one or two short sentences in plain words. Give what you know only when the assistant asks "
    "for it, and only what it asks for. Agree only to exactly what you want and to what it takes, such as switching on "
    "something that is off; decline substitutes, extras and whatever you do not want, in a few words."
)
BOUNDARY = (
    "You know nothing beyond what is written here. Asked for anything else, say that you do not know it; never make "
    "anything up, however much the assistant insists."
)
REFUSING = "Refuse the following, whether the assistant offers it, asks your leave for it or wants you to confirm it:"
ENDING = (
    f"Call the function {END} as soon as the assistant has done all that you want, or has made clear that it cannot. "
    "What you write with it is your goodbye, a few words that fit what came of it. Do not write those first and call "
    "it later, and do not leave while the assistant waits for an answer that you can give."
)
_PIECE = Lazy(r"[^.!?\n({<\[]+")
_CALLING = frozenset({END, "call", "tool", "tool_call", "function", "functions", "name", "arguments", "type"})
"""The words of a call that is printed in place of being made."""
NOT_NOW = "Not carried out: call this together with your answer."
START = "(You are connected to the assistant. Write your first message.)"
EXAMPLE = "(First an example with another assistant, which will put things differently. Write your first message.)"
EXAMPLE_OVER = "(You have left the example.)"

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
    """A user that a model plays.

    ``told`` is what of its specification the model gets to see, ``tools`` name what it may look up, of
    ``recall.USER_TOOLS``. ``who`` is the sentence that says whom it plays, ``acts`` what it can do in its
    world, and ``today`` the date, unless its brief says that it has none.
    """

    spec: UserSpec
    endpoint: Completions
    told: frozenset[str] = ALL_PARTS
    tools: tuple[str, ...] = ()
    who: str = WHO
    acts: Mapping[str, Tool] = field(default_factory=dict[str, Tool])
    kind: str = "llm"
    today: date | None = None

    def describe(self) -> Mapping[str, Any]:
        """Which model plays it, what it was told, and its tools where it has any."""
        return described(self.endpoint, self.told, self.tools)

    async def respond(self, dialogue: Sequence[Line]) -> UserTurn:
        """Ask the model what the user says next.

        Raises:
            UserError: there was no usable answer.
        """
        example = demonstrated(self.spec.demonstration) if "demonstration" in self.told else []
        told = {"role": "system", "content": prompt(self.spec, self.told, self.who, self.today, able=bool(self.acts))}
        thought = _Thought([told, *example, *conversation(dialogue)])
        offered = [END_TOOL, *([CONFIRM_TOOL] if codes_in(dialogue[-1].text) else [])]
        acts = self.acts.values() if dialogue[-1].act else ()
        looking = [as_function(tool) for tool in (*(USER_TOOLS[name].tool for name in self.tools), *acts)]
        silent = 0
        while silent < ASKED:
            tools = [*offered, *looking] if thought.looks < LOOKS else offered
            try:
                answer = await self.endpoint.ask(thought.messages, tools)
            except EndpointError as error:
                raise UserError(str(error)) from error
            thought.usage += answer.usage
            if self._looks_or_acts(answer, dialogue, thought):
                continue
            meta = {"model": self.endpoint.settings.model, "usage": thought.usage.to_json()}
            calls = tuple(thought.calls)
            text = without_reasoning(answer.text).strip()
            aloud = answer.text.strip() if text != answer.text.strip() else ""
            reasoned = "\n".join(part for part in (answer.reasoning, aloud) if part)
            meta |= {"reasoning": reasoned} if reasoned else {}
            printed = _printed_at(text)
            if printed is not None or any(call.name == END for call in answer.calls):
                left = text[:printed].strip(" ({<[`\n")
                return UserTurn(None, meta=meta, calls=calls, parting=left)
            codes = tuple(code for call in answer.calls if call.name == CONFIRM for code in codes_in(call.arguments))
            says = text or (self.spec.script.confirm if codes else "")
            if says and END not in says:  # a tool's name is no word of a person's
                return UserTurn(says, confirms=codes, meta=meta, calls=calls)
            silent += 1
        raise UserError(f"the user's model {self.endpoint.settings.model!r} neither spoke nor left in {ASKED} tries")

    def _looks_or_acts(self, answer: ModelAnswer, dialogue: Sequence[Line], thought: "_Thought") -> bool:
        """Carry out the model's calls in its world; true if its answer held nothing else."""
        wanted, act = {call.name for call in answer.calls}, dialogue[-1].act
        known = wanted.intersection((*self.tools, *(self.acts if act else ())))
        if END in wanted or not known or thought.looks >= LOOKS:
            return False
        thought.looks += 1
        thought.messages.append(as_message(answer))
        for call in answer.calls:
            said = NOT_NOW
            if call.name in self.tools:
                made = USER_TOOLS[call.name].call(self.spec, dialogue, call.arguments)
                thought.calls.append(made)
                said = made.result
            elif call.name in self.acts and act:
                said = act(UserAct(call.name, object_in(call.arguments)))
            thought.messages.append({"role": "tool", "tool_call_id": call.id, "content": said})
        return True


@dataclass(slots=True)
class _Thought:
    """What goes on between the assistant's words and the user's: the request so far, what it cost, what was called."""

    messages: list[dict[str, Any]]
    usage: Usage = field(default_factory=Usage)
    calls: list[UserCall] = field(default_factory=list[UserCall])
    looks: int = 0


def _printed_at(text: str) -> int | None:
    """Where a model prints the call to leave that it should make; a sentence that only mentions it is no such place."""
    for piece in _PIECE.finditer(text) if END in text else ():
        if END in piece[0] and _CALLING.issuperset(re.findall(r"\w+", piece[0].lower())):
            return piece.start()
    return None


def described(endpoint: Completions, told: frozenset[str], tools: Sequence[str]) -> Mapping[str, Any]:
    """What logs and manifests say about such a user."""
    return {**endpoint.settings.describe(), "told": sorted(told), **({"tools": list(tools)} if tools else {})}


def prompt(
    spec: UserSpec, told: frozenset[str] = ALL_PARTS, who: str = WHO, today: date | None = None, *, able: bool = False
) -> str:
    """What the model is told before the conversation; ``able`` if it can do something itself.

    A prompt that the scenario brings along is taken as it is, unless some part of the brief is to be left out.
    """
    if spec.prompt and told >= ALL_PARTS:
        return spec.prompt
    parts = [f"{who or WHO} {ROLE}", *([ACTING] if able else []), f"What you want: {spec.goal}"]
    if spec.wants_not:
        parts.append(f"{REFUSING}\n{_listed(spec.wants_not)}")
    if "knows" in told and spec.knows:
        parts.append("What you know:\n" + _listed(spec.knows))
    if today and "knows" in told:
        parts.append(f"Today is {spoken(today)}.")
    if "does_not_know" in told:
        parts.append(BOUNDARY)
        if spec.does_not_know:
            parts.append("In particular, you do not know:\n" + _listed(spec.does_not_know))
    if spec.wish and spec.wish != spec.opening:
        parts.append(f"All that you ask for, in your words: {spec.wish}")
    parts += [MANNER, *manners(spec), ENDING]
    return "\n\n".join(parts)


def conversation(dialogue: Sequence[Line]) -> list[dict[str, Any]]:
    """The dialogue from the user's side: what the user said is the model's own, what the agent said is put to it."""
    roles = {"user": "assistant", "agent": "user"}
    said = [{"role": roles[line.speaker], "content": line.text} for line in dialogue]
    return [{"role": "user", "content": START}, *said]


def _listed(items: Sequence[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def demonstrated(exchanges: Sequence[Exchange]) -> list[dict[str, Any]]:
    """An example of such a conversation, as the messages it would be made of: it ends with the call that leaves."""
    if not exchanges:
        return []
    messages: list[dict[str, Any]] = [{"role": "user", "content": EXAMPLE}]
    for pair in exchanges:
        messages += [{"role": "assistant", "content": pair.user}, {"role": "user", "content": pair.agent}]
    leaving = ModelAnswer("", (FunctionCall("example", END, "{}"),), Usage())
    left = {"role": "tool", "tool_call_id": "example", "content": EXAMPLE_OVER}
    return [*messages, as_message(leaving), left]
