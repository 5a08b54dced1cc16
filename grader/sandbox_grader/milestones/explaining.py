"""Reasons for which one milestone was met or not.

Policy: each constraint not fully met names the nearest thing that happened, what was found there and what was
expected. Where a milestone was met only for a while, that moment is explained, not the end.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sandbox_scenarios.model import (
    START,
    CallConstraint,
    CallPattern,
    Expected,
    MessageConstraint,
    TableConstraint,
)  # fmt: skip

from sandbox_grader.milestones.aligning import alignment
from sandbox_grader.milestones.judges import TableJudge, is_candidate, mean_of
from sandbox_grader.milestones.matching import MatchedPlace
from sandbox_grader.milestones.phrases import differences, judged_text, shown, title, tools
from sandbox_grader.milestones.strict import FULL
from sandbox_grader.milestones.strict_nodes import StrictNodes, hears
from sandbox_grader.milestones.worked_out import is_worked_out
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.trajectory import Message, ToolCall

VERBS = {"is": "has", "adds": "gained", "removes": "lost", "updates": "changed"}
NearestCall = tuple[tuple[Any, ...], CallPattern, ToolCall]
"""How near a call comes to a pattern, larger the nearer, with the two."""
_Reason = tuple[int | None, str]
"""The number of the event that a reason is about, and the reason."""


class Explainer:
    """Explains one placed milestone.

    ``index`` is the event that met it, or that would have if what it rests on had been met, or that met it for a
    while; None if there is none. ``raw`` is how well it was met there, whatever it rests on.
    """

    def __init__(self, nodes: StrictNodes, placed: Mapping[int, MatchedPlace], number: int) -> None:
        self.nodes, self.placed, self.number = nodes, placed, number
        self.item = nodes.milestones[number]
        self.events = nodes.timeline.events
        slots = nodes.slots(number, placed) if number in placed else ()
        self.lookup = nodes.lookup(number, slots)
        self.compare = nodes.compare(number, slots, self.lookup)
        self.index: int | None = None
        self.raw = 0.0
        if number in placed:
            self.index = placed[number].index
            self.raw = nodes.raw_at(number, slots, self.index)
            if not self.raw:
                raw = nodes.raw(number, slots)
                self.raw = max(raw)
                self.index = raw.index(self.raw) if self.raw else nodes.achieved(number, placed[number], slots)
        self._nearest_calls: dict[int, NearestCall | None] = {}
        self._nearest_messages: dict[int, tuple[float, int, Message] | None] = {}

    def milestone(self) -> Mapping[str, Any]:
        """The milestone as one JSON object."""
        place = self.placed.get(self.number)
        effective = place.similarity if place else 0.0
        reasons = [] if effective >= FULL else list(self._own())
        for before in self.nodes.before[self.number] if effective < min(self.raw, FULL) else ():
            met = self.placed[before].similarity
            if met < FULL:
                how = f"was met to {met:.2f}" if met else "was not met"
                reasons.append(("after", (None, f"rests on {self.nodes.milestones[before].id!r}, which {how}")))
        at = self.events[self.index] if self.index is not None and self.raw else None
        worked_out = at is not None and is_worked_out(at)
        if worked_out and effective < self.raw:
            reasons.append(("call", (None, "was not called, and what it would have told was not used")))
        return {
            "kind": "milestone",
            "id": self.item.id,
            "about": self.item.about,
            "seq": at.seq if at is not None and not worked_out else None,
            "similarity": round(self.raw, 9),
            "effective": round(effective, 9),
            "reasons": [{"constraint": name, "seq": seq, "text": text} for name, (seq, text) in reasons],
            "constraints": list(alignment(self)),
        }

    def _own(self) -> Iterator[tuple[str, _Reason]]:
        for constraint in self.item.constraints if self.raw < FULL else ():
            if isinstance(constraint, MessageConstraint):
                reason = self._message(constraint)
            elif isinstance(constraint, CallConstraint):
                reason = self._call(constraint)
            else:
                reason = self._table(constraint)
            if reason is not None:
                yield title(constraint), reason

    def _in_question(self) -> range:
        return range(len(self.events)) if self.index is None else range(self.index, self.index + 1)

    def nearest_message(self, constraint: MessageConstraint) -> tuple[float, int, Message] | None:
        """How well the best message between the two fits, its place among all events, negated, and the message."""
        if id(constraint) not in self._nearest_messages:
            within = self._in_question()
            said = [
                (self.nodes.fit(constraint, index, message, self.compare), -index, message)
                for index, message in self.nodes.timeline.messages(constraint.sender, constraint.recipient)
                if index in within
            ]
            self._nearest_messages[id(constraint)] = max(said, key=lambda item: item[:2], default=None)
        return self._nearest_messages[id(constraint)]

    def _message(self, constraint: MessageConstraint) -> _Reason | None:
        nearest = self.nearest_message(constraint)
        if nearest is None:
            return None, f"there is no message from {constraint.sender} to {constraint.recipient}"
        value, place, event = nearest
        if value >= FULL:
            return None
        if hears(constraint):
            account = self.nodes.listener.account(constraint.content, -place, self.lookup)
            return event.seq, f"{'; '.join(dict.fromkeys(account.reasons))}: {shown(event.content)}"
        return event.seq, judged_text(constraint.content, event.content, value, self.lookup)

    def nearest_call(self, constraint: CallConstraint) -> NearestCall | None:
        """The agent's call that comes nearest to one of the patterns, with that pattern and how near it comes."""
        if id(constraint) not in self._nearest_calls:
            found: list[NearestCall] = []
            for pattern in constraint.patterns:
                for index, event in self.nodes.timeline.calls(pattern.tool):
                    if index in self._in_question():
                        values, fine = self._values(pattern.arguments, event.arguments), is_candidate(constraint, event)
                        near = (fine and mean_of(values), _closeness(values), fine, -index)
                        found.append((near, pattern, event))
            self._nearest_calls[id(constraint)] = max(found, key=lambda item: item[0], default=None)
        return self._nearest_calls[id(constraint)]

    def _call(self, constraint: CallConstraint) -> _Reason | None:
        nearest = self.nearest_call(constraint)
        if nearest is None:
            return None, f"{tools(constraint)} was never called"
        _, pattern, event = nearest
        if not is_candidate(constraint, event) and event.error is not None:
            return event.seq, f"{pattern.tool} failed: {event.error.type}: {shown(event.error.message)}"
        wrong = differences(pattern.arguments, event.arguments, self._right, self.lookup)
        lacking = "" if wrong else self.nodes.links.findings.lacks(constraint, event)
        if lacking:
            return event.seq, f"{pattern.tool} {lacking}"
        return (event.seq, f"{pattern.tool} was called with " + "; ".join(wrong)) if wrong else None

    def _table(self, constraint: TableConstraint) -> _Reason | None:
        judge, timeline = self.nodes.judge(self.number, constraint), self.nodes.timeline
        versions = timeline.versions(constraint.table)
        tables = timeline.tables(constraint.table)
        state = len(tables) - 1 if self.index is None else versions[self.index]
        since = self.since(constraint, versions)
        seq = None if self.index is None else self.events[self.index].seq
        if judge.value(state, since, self.compare) >= FULL:
            return None
        if constraint.kind == "unchanged":
            return seq, f"{constraint.table} is not as it was at {constraint.since!r}"
        rows, wanted = judge.candidates(state, since), len(constraint.rows)
        if len(rows) < wanted or (constraint.kind == "is" and len(rows) != wanted):
            new = tables[state].keys() - tables[since].keys()
            remedy = f"; {counted(len(new), 'row')} came since {constraint.since!r}, which 'adds' asks for"
            told = f"{constraint.table} {VERBS[constraint.kind]} {counted(len(rows), 'row')}; expected {wanted}"
            return seq, told + (remedy if new and constraint.kind == "updates" else "")
        return seq, f"{constraint.table}: " + "; ".join(self._rows(constraint, judge, dict(rows)))

    def since(self, constraint: TableConstraint, versions: Any) -> int:
        """The version of its table that a constraint compares with."""
        if constraint.since == START:
            return 0
        place = self.placed.get(self.nodes.numbers[constraint.since])
        return versions[place.index] if place else 0

    def nearest_rows(self, constraint: TableConstraint, rows: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
        """For each expected row the id of the one that comes nearest; none where there are no rows."""
        for target in constraint.rows if rows else ():
            yield max(rows, key=lambda key: _closeness(self._values(target, rows[key])))

    def _rows(
        self, constraint: TableConstraint, judge: TableJudge, rows: Mapping[str, Mapping[str, Any]]
    ) -> Iterator[str]:
        for target, key in zip(constraint.rows, self.nearest_rows(constraint, rows), strict=True):
            ends = {name: judge.at_end(key, name, cell) for name, cell in rows[key].items()}
            now = differences(target, rows[key], self._right, self.lookup)
            yield from now or (f"at the end {text}" for text in differences(target, ends, self._right, self.lookup))
            if not judge.lasts(key):
                yield f"the row is {'back' if constraint.kind == 'removes' else 'gone'} at the end"

    def _right(self, expected: Expected, name: str, actual: Any) -> bool:
        return self.compare(expected, name, actual) >= FULL

    def _values(self, target: Mapping[str, Expected], row: Mapping[str, Any]) -> list[float]:
        return [self.compare(value, name, row.get(name)) for name, value in target.items()]


def _closeness(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 1.0
