"""A session as the checks of its user see it: what was said in which order, and what the user may know.

Policy: a user may say what its scenario lets it know, what was said before, and who is mentioned in what it
does not know. What it does not know, and what an example conversation's assistant says, it may not.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

from sandbox_scenarios.model import Scenario

from sandbox_mcp.engine.trajectory import Message, ToolCall, Trajectory


@dataclass(frozen=True, slots=True)
class UserMistake:
    """One thing that a user did wrong.

    ``turn`` counts what the user said, the opening being 0; ``words`` are the user's, or for an ending the agent's;
    ``spoils`` tells whether the session says less about its agent for it.
    """

    kind: str
    event: int
    turn: int
    words: str
    why: str
    spoils: bool = True

    def to_json(self) -> dict[str, Any]:
        """The finding as a JSON object."""
        return asdict(self)


@dataclass(frozen=True)
class UserView:
    """One session, heard from the user's side."""

    trajectory: Trajectory
    scenario: Scenario | None = None

    @cached_property
    def lines(self) -> tuple[Message, ...]:
        """What user and agent said to each other, in order."""
        both = {"user", "agent"}
        return tuple([e for e in self.trajectory.events if isinstance(e, Message) and {e.sender, e.recipient} == both])

    @cached_property
    def said(self) -> tuple[Message, ...]:
        """What the user said, the opening first."""
        return tuple([line for line in self.lines if line.sender == "user"])

    @cached_property
    def answers(self) -> tuple[Message, ...]:
        """What the agent said to the user."""
        return tuple([line for line in self.lines if line.sender == "agent"])

    @cached_property
    def calls(self) -> tuple[ToolCall, ...]:
        """The agent's calls that succeeded."""
        calls = [e for e in self.trajectory.events if isinstance(e, ToolCall) and e.caller == "agent"]
        return tuple([call for call in calls if call.error is None])

    def before(self, line: Message) -> Message | None:
        """What the agent had said last before a line of the user; None before its first words."""
        place = bisect_left(self.answers, line.seq, key=attrgetter("seq"))
        return self.answers[place - 1] if place else None

    def acted_between(self, first: int, last: int) -> bool:
        """True if a call succeeded after one event and before another."""
        place = bisect_right(self.calls, first, key=attrgetter("seq"))
        return place < len(self.calls) and self.calls[place].seq < last


def known(scenario: Scenario) -> tuple[str, ...]:
    """The texts from which a user may take what it says."""
    user, script = scenario.user, scenario.user.script
    return (
        user.goal,
        user.opening,
        *user.knows,
        *(answer.say for answer in script.answers),
        *script.then,
        *user.changes,
        *(slip.says for slip in user.slips),
        *(script.confirm, script.unknown, script.decline),
        *(exchange.user for exchange in user.demonstration),
    )


def mentioned(scenario: Scenario) -> Sequence[str]:
    """The texts that name people and things without telling anything of them."""
    phrases = (phrase for answer in scenario.user.script.answers for phrase in answer.about)
    return (*scenario.user.does_not_know, *phrases)
