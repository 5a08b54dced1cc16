"""What the llm user can look up about itself: tools that say again what its scenario lets it know, and what was said.

Policy: they need no model and know nothing of the world, its state or the milestones. ``look_up`` answers from what the
scenario says the user knows and does not know, and from nothing else; ``check_goal`` says again what the user wants and
what the assistant has answered, and leaves it to the user what that amounts to. What an assistant claims is called a
claim, because a person without the tools sees no more. Both are off unless asked for: the paper's user has
only a way to leave, and numbers are to be compared with its.

Source: ToolSandbox, section 7, which proposes more tools for the user and has none.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sandbox_scenarios.model import UserSpec

from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.talk.acts import Act, read_acts
from sandbox_mcp.engine.tools import Parameter, Tool, never_run
from sandbox_mcp.play.users.base import Line, UserCall

NEAR = 50
"""Of 100: how much of a question must be about a fact, or of a fact in a question, for the one to answer the other."""
ALIKE = 80
"""Of 100: how alike two words must be to be the same one."""
_MOST = 3
"""How many facts are told at once."""
_WORD = re.compile(r"[^\W_]+(?:['’]\w+)?")
_EMPTY = frozenset(
    {
        "a", "about", "am", "an", "and", "any", "are", "at", "be", "can", "could", "did", "do", "does", "for", "from",
        "have", "has", "he", "her", "hers", "him", "his", "how", "i", "in", "is", "it", "it's", "its", "know", "me",
        "my", "of", "on", "or", "our", "she", "should", "tell", "that", "the", "their", "them", "there", "they",
        "this", "to", "was", "we", "what", "what's", "which", "who", "will", "with", "would", "you", "your",
    }
)  # fmt: skip
UNKNOWN = "You do not know that."


def look_up(spec: UserSpec, question: str) -> str:
    """What the user knows about something, as it would be told to it."""
    known, unknown = _nearest(spec.knows, question), _nearest(spec.does_not_know, question)
    best = max((score for score, _ in (*known, *unknown)), default=0.0)
    told = [f"You know: {fact}" for score, fact in known if score >= best or not unknown]
    told += [f"You do not know: {fact}" for score, fact in unknown if score >= best]
    return "\n".join(told) or UNKNOWN


def check_goal(spec: UserSpec, dialogue: Sequence[Line]) -> str:
    """What the user wants, what it has said, and what the assistant has made of it, as far as words tell."""
    said = [line.text for line in dialogue if line.speaker == "user"]
    heard = [line.text for line in dialogue if line.speaker == "agent"]
    reading = read_acts(heard[-1], said[-1]) if heard else None
    if reading is None:
        stands = ""
    elif reading.act in (Act.ASKS, Act.LEAVE, Act.OPEN):
        stands = "It waits for an answer of yours."
    elif reading.act is Act.GIVES_UP or reading.has(Act.GIVES_UP):
        stands = "Its last answer says that something cannot be done or was not found."
    else:
        stands = "Its last answer asks nothing; whether all you want is done is for you to judge from its words."
    return "\n".join(
        [
            f"What you want: {spec.goal}",
            *spec.wants_not,
            "What you have said so far:",
            *(f"- {text}" for text in said),
            f"The assistant has answered {len(heard)} times. {stands}".strip(),
        ]
    )


def _nearest(facts: Sequence[str], question: str) -> list[tuple[float, str]]:
    """The facts that a question is about, best first.

    How much is the larger share, of 100: of the question's words that the fact has, or of the fact's in the question.
    """
    asked, rated = _words(question), list[tuple[float, str]]()
    for fact in facts:
        told = [word for word in _words(fact) if not word.isdigit()]
        rated.append((max(_share(asked, told), _share(told, asked)), fact))
    rated.sort(key=lambda item: -item[0])
    return [(score, fact) for score, fact in rated[:_MOST] if score >= NEAR]


def _share(words: Sequence[str], others: Sequence[str]) -> float:
    from rapidfuzz import fuzz

    found = sum(any(fuzz.ratio(word, other) >= ALIKE for other in others) for word in words)
    return 100.0 * found / len(words) if words else 0.0


def _words(text: str) -> list[str]:
    words = (word.removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text.casefold()))
    return [word for word in words if word not in _EMPTY]


def _tool(name: str, description: str, *parameters: Parameter) -> Tool:
    return Tool(name, "user", False, False, "user", never_run, description, parameters, {"type": "string"})


LOOK_UP = _tool(
    "look_up",
    "Look up what you know about something, before you answer a question of the assistant.\n"
    "Returns what you know of it, or that you do not know it; then say so, and make nothing up.",
    Parameter("question", {"type": "string"}, True, "What you want to know, such as: her phone number."),
)
CHECK_GOAL = _tool(
    "check_goal",
    "Read again what you want, what you have said so far and where the assistant stands, before you decide to leave.",
)


@dataclass(frozen=True, slots=True)
class Recalling:
    """One of these tools, and how it is carried out."""

    tool: Tool
    recall: Callable[[UserSpec, Sequence[Line], Mapping[str, Any]], str]

    def call(self, spec: UserSpec, dialogue: Sequence[Line], arguments: str) -> UserCall:
        """Carry out a call with the arguments as the model wrote them; faulty ones ask about nothing."""
        given = object_in(arguments)
        return UserCall(self.tool, given, self.recall(spec, dialogue, given))


def as_function(tool: Tool) -> Mapping[str, Any]:
    """A tool or an act of the user's as a function that a model can call."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema()}
    return {"type": "function", "function": function}


def object_in(arguments: str) -> Mapping[str, Any]:
    """The arguments that a model gave; anything but an object counts as none, and the tool names what it lacks."""
    try:
        given = loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", given) if isinstance(given, dict) else {}


USER_TOOLS: Mapping[str, Recalling] = {
    LOOK_UP.name: Recalling(LOOK_UP, lambda spec, _, given: look_up(spec, str(given.get("question", "")))),
    CHECK_GOAL.name: Recalling(CHECK_GOAL, lambda spec, dialogue, _: check_goal(spec, dialogue)),
}
"""What an llm user may be given beside its way to leave, by name."""
