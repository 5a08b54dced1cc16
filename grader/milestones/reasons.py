"""Why a milestone was met or not, in words that somebody who has only seen the conversation understands.

Policy: each constraint that is not fully met names the nearest thing that happened, what was found there and what was
expected. One JSON object per milestone, minefield and unwanted change.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from grader.milestones.judges import Compare, is_candidate, judge_message, judge_pattern
from grader.milestones.matching import Place
from grader.milestones.measures import Lookup, avoided, default_of, missing
from grader.milestones.strict import StrictResult, threshold
from grader.milestones.strict_nodes import StrictNodes
from grader.milestones.unwanted import Unwanted
from sandbox_mcp.trajectory import Message, ToolCall
from scenarios.model import (
    START,
    CallConstraint,
    CallPattern,
    Constraint,
    Expected,
    MessageConstraint,
    Milestone,
    Scenario,
    TableConstraint,
)  # fmt: skip

FULL = 1 - 1e-9
LONG = 160
"""Texts are shortened to so many characters."""
VERBS = {"is": "has", "adds": "gained", "removes": "lost", "updates": "changed"}


def details(scenario: Scenario, result: StrictResult) -> list[Mapping[str, Any]]:
    """One object per milestone, minefield and unwanted change of a session, in this order."""
    return [
        *(
            _Explainer(result.milestones, result.placed, number).milestone()
            for number in range(len(scenario.milestones))
        ),
        *(_minefield(result, number, item) for number, item in enumerate(scenario.minefields)),
        *(_unwanted(item) for item in result.unwanted),
    ]


def _minefield(result: StrictResult, number: int, item: Milestone) -> Mapping[str, Any]:
    place = result.mines.get(number)
    met = number in result.hit
    events = result.minefields.timeline.events
    return {
        "kind": "minefield",
        "id": item.id,
        "about": item.about,
        "met": met,
        "similarity": round(place.similarity, 9) if place else 0.0,
        "threshold": threshold(item),
        "seq": events[place.index].seq if place and met else None,
    }


def _unwanted(item: Unwanted) -> Mapping[str, Any]:
    cells = ", ".join(
        f"{name} from {shown(before)} to {shown(after)}" if item.kind == "changed" else f"{name} {shown(after)}"
        for name, (before, after) in item.columns.items()
    )
    return {
        "kind": "unwanted",
        "seq": item.seq,
        "tool": item.tool,
        "table": item.table,
        "row": item.row,
        "change": item.kind,
        "text": f"{item.tool} {item.kind} a row of {item.table} that nobody asked for"
        + (f": {cells}" if cells else ""),
    }


class _Explainer:
    """Explains one placed milestone."""

    def __init__(self, nodes: StrictNodes, placed: Mapping[int, Place], number: int) -> None:
        self.nodes, self.placed, self.number = nodes, placed, number
        self.item = nodes.milestones[number]
        self.place = placed.get(number)
        self.events = nodes.timeline.events
        view = nodes.view(number, placed) if self.place else ()
        self.slots = view[: len(nodes.aspects[number])]
        self.lookup: Lookup = nodes.lookup(number, self.slots)
        self.compare: Compare = nodes.compare(number, self.slots)

    def milestone(self) -> Mapping[str, Any]:
        """The whole of it."""
        place = self.place
        raw = self.nodes.raw(self.number, self.slots)[place.index] if place else 0.0
        effective = place.similarity if place else 0.0
        return {
            "kind": "milestone",
            "id": self.item.id,
            "about": self.item.about,
            "seq": self.events[place.index].seq if place and raw else None,
            "similarity": round(raw, 9),
            "effective": round(effective, 9),
            "reasons": [] if effective >= FULL else [*self._own(raw), *self._rests(raw, effective)],
        }

    def _own(self, raw: float) -> Iterator[Mapping[str, Any]]:
        if raw >= FULL:
            return
        for constraint in self.item.constraints:
            reason = self._constraint(constraint, raw)
            if reason is not None:
                seq, text = reason
                yield {"constraint": title(constraint), "seq": seq, "text": text}

    def _rests(self, raw: float, effective: float) -> Iterator[Mapping[str, Any]]:
        if raw > 0 and effective < raw:
            for before in self.nodes.before[self.number]:
                met = self.placed[before].similarity
                if met < FULL:
                    name = self.nodes.milestones[before].id
                    text = f"rests on {name!r}, which was met to {met:.2f}"
                    yield {"constraint": "after", "seq": None, "text": text}

    def _constraint(self, constraint: Constraint, raw: float) -> tuple[int | None, str] | None:
        at = self.place.index if self.place and raw else None
        if isinstance(constraint, MessageConstraint):
            return self._message(constraint, at)
        if isinstance(constraint, CallConstraint):
            return self._call(constraint, at)
        return self._table(constraint, at)

    def _message(self, constraint: MessageConstraint, at: int | None) -> tuple[int | None, str] | None:
        said = [
            (judge_message(constraint, event, self.compare), -index, event)
            for index, event in enumerate(self.events)
            if isinstance(event, Message)
            and (event.sender, event.recipient) == (constraint.sender, constraint.recipient)
            if at is None or index == at
        ]
        if not said:
            return None, f"there is no message from {constraint.sender} to {constraint.recipient}"
        value, _, event = max(said, key=lambda item: item[:2])
        return None if value >= FULL else (event.seq, self._content(constraint.content, event.content, value))

    def _content(self, expected: Expected, text: str, value: float) -> str:
        if expected.measure != "facts":
            return f"{shown(text)} is {value:.2f} like {self._wanted(expected, 'content')}"
        found = avoided(expected, text, self.lookup)
        if found:
            return f"says {' and '.join(map(shown, found))}, which it must not: {shown(text)}"
        lacking = " and ".join(
            " or ".join(map(shown, self._forms(item))) for item in missing(expected, text, self.lookup)
        )
        return f"does not say {lacking}: {shown(text)}"

    def _forms(self, wordings: Iterable[str]) -> list[str]:
        from grader.milestones.measures import forms

        return [form for item in wordings for form in (*forms(item, self._values(), self.lookup),) or (item,)]

    def _values(self) -> Mapping[str, Any]:
        contents = [c.content for c in self.item.constraints if isinstance(c, MessageConstraint)]
        return {name: ref for content in contents for name, ref in content.values.items()}

    def _call(self, constraint: CallConstraint, at: int | None) -> tuple[int | None, str] | None:
        found = [
            (
                is_candidate(constraint, event),
                judge_pattern(pattern, event, self.compare),
                self._share(pattern, event),
                -index,
                pattern,
                event,
            )
            for index, event in enumerate(self.events)
            if isinstance(event, ToolCall) and event.caller == "agent" and (at is None or index == at)
            for pattern in constraint.patterns
            if (event.tool or event.name) == pattern.tool
        ]
        if not found:
            return None, f"{' or '.join(dict.fromkeys(p.tool for p in constraint.patterns))} was never called"
        allowed, value, _, _, pattern, event = max(
            found, key=lambda item: (item[0] and item[1], item[2], item[0], item[3])
        )
        if allowed and value >= FULL:
            return None
        if not allowed and event.error is not None:
            return event.seq, f"{pattern.tool} failed: {event.error.type}: {shown(event.error.message)}"
        return event.seq, f"{pattern.tool} was called with " + "; ".join(
            self._fields(pattern.arguments, event.arguments)
        )

    def _share(self, pattern: CallPattern, event: ToolCall) -> float:
        values = [self.compare(value, name, event.arguments.get(name)) for name, value in pattern.arguments.items()]
        return sum(values) / len(values) if values else 1.0

    def _table(self, constraint: TableConstraint, at: int | None) -> tuple[int | None, str] | None:
        nodes, table = self.nodes, constraint.table
        judge, timeline = nodes.judge(self.number, constraint), nodes.timeline
        versions = timeline.versions(table)
        state = versions[at] if at is not None else timeline.last_version(table)
        since = nodes.since(self.number, constraint, self.slots) if self.slots or constraint.since == START else 0
        seq = self.events[at].seq if at is not None else None
        if judge.value(state, since, self.compare) >= FULL:
            return None
        if constraint.kind == "unchanged":
            return seq, f"{table} is not as it was at {constraint.since!r}"
        rows = list(judge.candidates(state, since))
        if len(rows) < len(constraint.rows) or (constraint.kind == "is" and len(rows) != len(constraint.rows)):
            return seq, f"{table} {VERBS[constraint.kind]} {len(rows)} rows; expected {len(constraint.rows)}"
        texts: list[str] = []
        for target in constraint.rows:
            key, row = max(rows, key=lambda item: self._closeness(target, item[1]))
            ends = {name: judge.at_end(key, name, cell) for name, cell in row.items()}
            texts += self._fields(target, row) or [f"{text} at the end" for text in self._fields(target, ends)]
            if not judge.lasts(key):
                texts.append(
                    "the row is back at the end" if constraint.kind == "removes" else "the row is gone at the end"
                )
        return seq, f"{table}: " + "; ".join(texts)

    def _closeness(self, target: Mapping[str, Expected], row: Mapping[str, Any]) -> float:
        return sum(self.compare(value, name, row.get(name)) for name, value in target.items())

    def _fields(self, expected: Mapping[str, Expected], actual: Mapping[str, Any]) -> list[str]:
        return [
            f"{name} {shown(actual.get(name))}, expected {self._wanted(value, name)}"
            for name, value in expected.items()
            if self.compare(value, name, actual.get(name)) < FULL
        ]

    def _wanted(self, expected: Expected, name: str) -> str:
        if expected.ref is not None:
            values = self.lookup(expected.ref)
            return (
                " or ".join(map(shown, values))
                if values
                else f"the value from {expected.ref.milestone!r}, which is missing"
            )
        measure = expected.measure or default_of(name).measure
        if measure == "facts":
            return " and ".join(" or ".join(map(shown, wordings)) for wordings in expected.value)
        if measure == "one_of":
            return "one of " + ", ".join(map(shown, expected.value))
        within = default_of(name).within if expected.within is None else expected.within
        prefix = {"contains": "a text with ", "rouge": "words like "}.get(str(measure), "")
        return prefix + shown(expected.value) + (f" (within {within})" if measure == "close" and within else "")


def title(constraint: Constraint) -> str:
    """A constraint in a few words."""
    if isinstance(constraint, MessageConstraint):
        return f"message from {constraint.sender} to {constraint.recipient}"
    if isinstance(constraint, CallConstraint):
        return "call of " + " or ".join(dict.fromkeys(pattern.tool for pattern in constraint.patterns))
    return f"{constraint.table} {constraint.kind}"


def shown(value: object) -> str:
    """A value for people: as it would be written, long texts cut."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "nothing"}[value]
    text = repr(value)
    return text if len(text) <= LONG else text[: LONG - 1] + "…"
