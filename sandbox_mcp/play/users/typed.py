"""What a person types in a user's place: words to say, or a command such as ``/end``.

Policy: the same in a terminal, in a host's form and in a file of lines. Everything is said as it was typed, but for
lines that begin with a slash; two slashes say one. Only a code that was asked about can be confirmed.
"""

from collections.abc import Sequence

from sandbox_scenarios.model import UserSpec
from sandbox_scenarios.personas import manners

from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.tools.gates import CODE, codes_in
from sandbox_mcp.play.users.base import Line, UserTurn

LEAVE = "/end"
CONFIRM = "/confirm"
HELP = (
    f"{LEAVE} leaves, {CONFIRM} CODE lets the assistant do what it asked about under that code, and what you write "
    "behind either is said with it. Anything else is said as it stands."
)


class TypedError(SandboxError):
    """Something was typed that means nothing; the message says what would."""


def turn_of(text: str, spec: UserSpec, dialogue: Sequence[Line]) -> UserTurn:
    """What the user does who types this in answer to the last line.

    Raises:
        TypedError: it is not a command, or confirms what was not asked about.
    """
    typed = text.strip()
    command, _, rest = typed.partition(" ")
    if not command.startswith("/") or command.startswith("//"):
        return UserTurn(typed.removeprefix("/") if command.startswith("//") else typed)
    if command == LEAVE:
        return UserTurn(None, parting=rest.strip())
    if command != CONFIRM:
        raise TypedError(f"unknown command {command!r}; {HELP}")
    first, _, words = rest.strip().partition(" ")
    code = first.upper()
    if CODE.fullmatch(code):
        if code not in codes_in("\n".join(line.text for line in dialogue if line.speaker == "agent")):
            raise TypedError(f"nobody has asked you to confirm {code}")
        return UserTurn(words.strip() or spec.script.confirm, confirms=(code,))
    latest = codes_in(dialogue[-1].text) if dialogue else ()
    if not latest:
        raise TypedError("the assistant has not just asked you to confirm anything; name the code you mean")
    return UserTurn(rest.strip() or spec.script.confirm, confirms=latest)


def briefing(spec: UserSpec) -> str:
    """What a person who plays the user has to know."""
    parts = [f"Your goal: {spec.goal}"]
    for head, facts in (
        ("You refuse:", spec.wants_not),
        ("You know:", spec.knows),
        ("You do not know:", spec.does_not_know),
        ("How you play it:", manners(spec)),
    ):
        if facts:
            parts.append("\n".join([head, *(f"  - {fact}" for fact in facts)]))
    return "\n".join(parts)
