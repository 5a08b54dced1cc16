"""The scripted user: answers what the agent asks from what the scenario lets it know, without any model.

Policy: it says what it is asked and nothing else. A question it knows nothing about gets "I don't know"; asked for
permission, it gives it; told that the work is done (anything that asks nothing), it moves on to its next request or
ends the conversation. Polite offers of more help are no questions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox_scenarios.model import Script

from sandbox_mcp.speech import asks_leave, mentions, question_in
from sandbox_mcp.tools.gates import CODE
from sandbox_mcp.users.base import Line, UserTurn


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
        known = [answer.say for answer in self._script.answers if mentions(question, answer.about)]
        asks_permission = asks_leave(question)
        fresh = [say for say in known if say not in self._said] if asks_permission else known
        self._said.update(known)
        if asks_permission:
            fresh = [self._script.confirm, *fresh]
        if fresh:
            self._puzzled = 0
            return " ".join(fresh)
        self._puzzled += 1
        return self._script.unknown if self._puzzled < self._script.patience else None
