"""One session held against one solution: who matched whom, which actions were incorrect, which turns failed and why.

Policy: whether a tool is an action is what the session's own tool list says, then what the reference says; a tool
that neither knows is not one. Everything reported here comes with its reason.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox_grader.grading.course import is_replay
from sandbox_grader.grading.metric import Mode
from sandbox_grader.grading.references import ReferenceTurns
from sandbox_grader.grading.values import is_array
from sandbox_grader.papers.tooltalk.comparing import FirstDifference
from sandbox_grader.papers.tooltalk.counts import CLASSES, Counts, TurnLeftovers, as_coded, as_written
from sandbox_grader.papers.tooltalk.matching import Matching, PlacedCall, Predicted
from sandbox_grader.papers.tooltalk.tools import FORMAT
from sandbox_mcp.engine.trajectory import Message, SessionStarted, ToolCall, Trajectory

_ADDRESS = re.compile(r"[\w.-]+@[\w.-]+")


def is_tooltalk(started: SessionStarted) -> bool:
    """True if a session was imported from one of ToolTalk's conversation files."""
    return (started.origin or {}).get("format") == FORMAT


def action_labels(started: SessionStarted, wanted: Sequence[PlacedCall]) -> Mapping[str, bool]:
    """Whether each tool is an action, by canonical name."""
    said = {item.call.tool: item.call.action for item in wanted if item.call.action is not None}
    return said | {tool.tool: tool.action for tool in started.tools}


@dataclass(frozen=True, slots=True)
class Held:
    """A session, a solution, and the matching of their calls in a mode."""

    trajectory: Trajectory
    solution: ReferenceTurns
    mode: Mode
    predicted: tuple[Predicted, ...]
    wanted: tuple[PlacedCall, ...]
    matching: Matching
    compare: FirstDifference
    actions: Mapping[str, bool]

    @property
    def counts(self) -> Counts:
        """The counts behind every ratio."""
        actions = [i for i, item in enumerate(self.predicted) if self._action(item.call)]
        return Counts(
            predictions=len(self.predicted),
            ground_truths=len(self.wanted),
            matches=len(self.matching),
            actions=len(actions),
            valid_actions=sum(i in self.matching for i in actions),
            bad_actions=sum(map(self._incorrect, actions)),
        )

    @property
    def unlabelled(self) -> int:
        """Number of calls to tools that nothing labels as action or query."""
        return sum(item.call.tool is not None and item.call.tool not in self.actions for item in self.predicted)

    def failures(self) -> Mapping[str, int]:
        """Number of failures of each class; all zero for a session that succeeded."""
        if self.counts.success:
            return dict.fromkeys(CLASSES, 0)
        if self.mode == "compat":
            return as_coded(self._turns())
        classes = list(map(as_written, self._turns()))
        return {name: classes.count(name) for name in CLASSES}

    def calls(self) -> Iterator[Mapping[str, Any]]:
        """One line per predicted call: what it matched, whether it was an incorrect action, and why."""
        for i, item in enumerate(self.predicted):
            match = self.matching.get(i)
            yield {
                "kind": "call",
                "turn": item.turn,
                "call": item.call.call,
                "tool": item.call.called,
                "action": self._action(item.call),
                "match": match is not None,
                "matches": match,
                "bad": self._incorrect(i),
                "reason": self._reason(item) if match is None else None,
            }

    def references(self) -> Iterator[Mapping[str, Any]]:
        """One line per reference call: whether it was matched, and by which call."""
        takers = {j: self.predicted[i].call.call for i, j in self.matching.items()}
        for j, item in enumerate(self.wanted):
            taker = takers.get(j)
            yield {
                "kind": "reference",
                "turn": item.turn,
                "tool": item.call.tool,
                "matched": taker is not None,
                "by": taker,
            }

    def turns(self) -> Iterator[Mapping[str, Any]]:
        """One line per failed turn of a session without success: its class, and what was left over."""
        if self.counts.success:
            return
        for number, turn in enumerate(self._turns()):
            classes = as_coded([turn]) if self.mode == "compat" else {as_written(turn): 1}
            for name in CLASSES:
                if classes.get(name):
                    yield {
                        "kind": "turn",
                        "turn": number,
                        "failure": name,
                        "incorrect": list(turn.incorrect),
                        "missing": list(turn.missing),
                    }

    def _action(self, call: ToolCall) -> bool:
        return call.tool is not None and self.actions.get(call.tool, False)

    def _incorrect(self, place: int) -> bool:
        call = self.predicted[place].call
        if place in self.matching or not self._action(call):
            return False
        if call.error is None:
            return True
        excused = self.mode == "compat" or not is_tooltalk(self.trajectory.started) or call.tool != "SendEmail"
        if excused or call.error.kind != "execution":
            return False
        to = call.arguments.get("to")
        return not (is_array(to) and all(isinstance(item, str) and _ADDRESS.fullmatch(item) for item in to))

    def _reason(self, item: Predicted) -> str:
        if item.call.tool is None:
            return f"there is no tool {item.call.name!r}"
        alike = [j for j, want in enumerate(self.wanted) if want.call.tool == item.call.tool]
        if not alike:
            return "the reference never calls this tool"
        taken = set(self.matching.values())
        free = [self.wanted[j] for j in alike if j not in taken]
        nearest = sorted(free, key=lambda want: want.turn != item.turn)
        reasons = [self.compare(item.call, want.call) for want in nearest]
        if None in reasons:
            return "the reference makes this call in another turn"
        return reasons[0] if reasons and reasons[0] else "the reference calls this tool less often"

    def _turns(self) -> Sequence[TurnLeftovers]:
        """Leftovers turn by turn where session and reference correspond, else in one piece."""
        last = max((item.turn for item in self.predicted), default=0)
        messages = (item for item in self.trajectory.events if isinstance(item, Message))
        spoken = sum(item.sender == "user" and item.recipient == "agent" for item in messages)
        if is_replay(self.trajectory) or max(spoken, last + 1) == len(self.solution):
            return [self._turn(number) for number in range(max(last + 1, len(self.solution)))]
        return [self._turn(None)]

    def _turn(self, number: int | None) -> TurnLeftovers:
        mine = [i for i, item in enumerate(self.predicted) if number in (None, item.turn) and i not in self.matching]
        matched = set(self.matching.values())
        there = [(j, item.call.tool) for j, item in enumerate(self.wanted) if number in (None, item.turn)]
        noted = (self.trajectory.started.origin or {}).get("empty_turns") if self.mode == "compat" else None
        silent = noted if is_array(noted) else ()
        return TurnLeftovers(
            asks=bool(there) or number in silent,
            unmatched=tuple(self.predicted[i].call.called for i in mine),
            incorrect=tuple(self.predicted[i].call.called for i in mine if self._incorrect(i)),
            missing=tuple(tool for j, tool in there if j not in matched),
        )
