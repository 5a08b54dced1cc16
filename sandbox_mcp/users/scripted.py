"""The scripted user: answers what the agent asks from what the scenario lets it know, without any model.

Policy: it says what it is asked and nothing else. A question it knows nothing about gets "I don't know"; asked for
permission, it gives it; told that the work is done (anything that asks nothing), it moves on to its next request or
ends the conversation. Polite offers of more help are no questions.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox_mcp.tools.gates import CODE
from sandbox_mcp.users.base import Line, UserTurn
from scenarios.model import Script

_SENTENCE = re.compile(r"[^.!?\n]*[.!?\n]+|[^.!?\n]+$")
_OFFER = re.compile(
    r"\b(?:any|some)thing (?:else|more)\b|\b(?:further|more|other) (?:help|assistance|questions?)\b"
    r"|\bhow (?:else )?(?:can|may) i (?:help|assist)\b|\b(?:feel free|happy to help|here to help|at your service)\b"
    r"|\blet me know if\b|\bif (?:you(?:'d| would)? (?:like|need|want|have)|there)\b"
    r"|\b(?:would you like|do you want) me to\b.*\b(?:also|as well|too|again|another|later)\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"\?\s*$"
    r"|\b(?:please|kindly) (?:tell|give|provide|share|send|specify|confirm|clarify|choose|enter|say|supply|let me know)"
    r"|\b(?:could|can|would|will) you (?:please )?(?:tell|give|provide|share|specify|confirm|clarify|let me know)\b"
    r"|\blet me know (?:which|what|when|where|who|whom|how|whether|the|your)\b"
    r"|\bi(?:'ll| will| would|'d)? (?:also )?(?:still )?need (?:you to|to know|your|the|some|a few|more)\b",
    re.IGNORECASE,
)
_PERMISSION = re.compile(
    r"\b(?:shall|should|may|can|could) i\b|\b(?:would you like|do you want|want|okay for|ok for) me to\b"
    r"|\b(?:is (?:that|this|it) (?:correct|right|ok|okay|fine)|(?:that|sound) (?:right|good|ok|okay))\b"
    r"|\b(?:go ahead|proceed|confirm|are you sure)\b",
    re.IGNORECASE,
)

_OPEN = re.compile(
    r"\b(?:when|what|which|where|who|whom|how|why)\b[^.!?]*?\b(?:shall|should|may|can|could) i\b", re.IGNORECASE
)
"""A question that cannot be answered with yes, whatever it looks like."""


@dataclass(frozen=True, slots=True)
class ScriptedUser:
    """A user that follows a scenario's script. Deterministic, and the same whoever drives the agent."""

    script: Script
    kind: str = "scripted"

    def describe(self) -> Mapping[str, Any]:
        """Nothing beside its kind: the script is in the scenario."""
        return {}

    async def respond(self, dialogue: Sequence[Line]) -> UserTurn:
        """Answer the agent's last line."""
        lines = [line.text for line in dialogue if line.speaker == "agent"]
        codes = CODE.findall(lines[-1]) if self.script.approves and lines else []
        return UserTurn(self.next_line(lines), confirms=tuple(dict.fromkeys(codes)))

    def next_line(self, agent_lines: Sequence[str]) -> str | None:
        """What the user says after the last of the agent's lines; None to end the conversation."""
        state = _State(self.script)
        answer: str | None = None
        for line in agent_lines:
            answer = state.answer(line)
        return answer


class _State:
    """Where the script stands, refolded from the agent's lines each time."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._said: set[str] = set()
        self._then = list(script.then)
        self._puzzled = 0

    def _left(self) -> Iterator[str]:
        """What is left to ask for, taken off the list as it is looked at."""
        while self._then:
            yield self._then.pop(0)

    def answer(self, text: str) -> str | None:
        if CODE.search(text):
            self._puzzled = 0
            return self._script.confirm if self._script.approves else self._script.decline
        question = question_in(text)
        if question is None:
            return next((line for line in self._left() if line not in self._said), None)
        known = [answer.say for answer in self._script.answers if _mentions(question, answer.about)]
        asks_permission = bool(_PERMISSION.search(_OPEN.sub("", question)))
        fresh = [say for say in known if say not in self._said] if asks_permission else known
        self._said.update(known)
        if asks_permission:
            fresh = [self._script.confirm, *fresh]
        if fresh:
            self._puzzled = 0
            return " ".join(fresh)
        self._puzzled += 1
        return self._script.unknown if self._puzzled < self._script.patience else None


def question_in(text: str) -> str | None:
    """The part of a message that asks the user for something; None where it asks nothing.

    Said nothing at all, a user would ask back; that counts as a question too.
    """
    if not text.strip():
        return ""
    asking = [part for part in _SENTENCE.findall(text) if _REQUEST.search(part.strip()) and not _OFFER.search(part)]
    return " ".join(part.strip() for part in asking) or None


def _mentions(question: str, phrases: Sequence[str]) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", question, re.IGNORECASE) for phrase in phrases)
