"""What the agent's messages claim, held against the facts that milestones ask for and against the rest of the session.

Policy: a message is read against what had been said and done until then. What is false in it, rather than incomplete,
is told apart: an answer that the user would act on and that is not so is worse than none.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, cast

from sandbox_scenarios.model import Expected, Fact

from sandbox_grader.claims import Background, Finding, Hearing, claims, claims_deeds, hear, only_planned, withdraws
from sandbox_grader.claims.verbs import KINDS, claimed, kinds_of
from sandbox_grader.grading.values import is_array, is_object
from sandbox_grader.milestones.measures import Lookup, forms
from sandbox_grader.milestones.referring import claims_of, refers
from sandbox_grader.milestones.timeline import Timeline
from sandbox_mcp.engine.tools import Tool
from sandbox_mcp.engine.trajectory import Message, ToolCall
from sandbox_mcp.engine.world.clock import to_local
from sandbox_mcp.engine.world.effects import Effects

_MOST_STRINGS = 2000
_PARTICLES = frozenset({"off", "out", "up", "in", "back", "on", "down", "away", "over", "through"})
_EARLIEST, _LATEST = 1e8, 1e10
"""Numbers between these may be seconds since the epoch: from 1973 to 2286."""


@dataclass(frozen=True, slots=True)
class Listened:
    """What a message was heard to say of what a milestone asks: its share of the facts, and whether it is false."""

    share: float
    reasons: tuple[str, ...] = ()
    false: str | None = None


class Listener:
    """Listens to the agent's messages to the user in one session."""

    def __init__(self, timeline: Timeline, facts: Sequence[Fact]) -> None:
        """``facts`` is what any milestone asks to be told: none of it is out of place in a message."""
        self._timeline = timeline
        self._all_facts = facts
        self._heard: dict[tuple[int, int, tuple[Fact, ...]], Hearing] = {}
        self._backgrounds: dict[int, Background] = {}

    def account(self, expected: Expected, index: int, lookup: Lookup | None) -> Listened:
        """What a message claims of some facts. Without ``lookup``, values from elsewhere count as right."""
        facts = claims_of(expected)
        filled = [filled_in(fact, expected, lookup) for fact in facts]
        denied = [fact for fact in (filled_in(one, expected, lookup) for one in forbidden(expected)) if fact]
        hearing = self._hear(index, [fact for fact in filled if fact is not None])
        findings = iter(hearing.findings)
        given = list[Finding]()
        for fact, fill in zip(facts, filled, strict=True):
            if fill is not None:
                given.append(next(findings))
            else:
                given.append(Finding("stated", "") if lookup is None else _missing(fact))
        known = lookup is not None or None not in filled
        message = cast("Message", self._timeline.events[index])
        said = claims(message.content, denied, self.background(index)) if denied else ()
        forbidden_said = next((f"{item.why}, which it must not" for item in said if item.outcome == "stated"), None)
        false = forbidden_said or (hearing.false if known else None)
        reasons = tuple(item.why for item in given if item.outcome != "stated")
        if forbidden_said or hearing.invented or (hearing.dumped and known):
            return Listened(0.0, (str(false or hearing.false), *reasons), false)
        stated = sum(1 for item in given if item.outcome == "stated")
        return Listened(stated / len(given) if given else 1.0, reasons, false)

    def findings(self, expected: Expected, index: int, lookup: Lookup | None) -> Iterator[tuple[Fact, Finding]]:
        """Every fact, as far as its values are known, with what a message was heard to say of it."""
        facts = claims_of(expected)
        filled = [filled_in(fact, expected, lookup) for fact in facts]
        heard = iter(self._hear(index, [fact for fact in filled if fact is not None]).findings)
        for fact, known in zip(facts, filled, strict=True):
            if known is not None:
                yield known, next(heard)
            else:
                yield fact, _missing(fact)

    def invented(self, index: int) -> str | None:
        """A deed that a message claims and that nothing did, in words."""
        message = cast("Message", self._timeline.events[index])
        return self._hear(index, ()).invented if claims_deeds(message.content) else None

    def dumps(self, expected: Expected, index: int) -> str | None:
        """Why a message is a dump of everything rather than an answer, in words; None if it is not."""
        return self._hear(index, [fact for fact in claims_of(expected) if not refers(fact, expected)]).dumped

    def withdraws(self, index: int) -> bool:
        """Whether a message takes back what was said before it."""
        message = self._timeline.events[index]
        return isinstance(message, Message) and withdraws(message.content)

    def _hear(self, index: int, facts: Sequence[Fact]) -> Hearing:
        key = (index, len(facts), tuple(facts))
        if key not in self._heard:
            message = cast("Message", self._timeline.events[index])
            found = hear(message.content, facts, self.background(index), self._all_facts)
            if any(item.outcome == "missing" for item in found.findings):
                found = replace(found, findings=tuple(self._in_own_words(index, facts, found.findings)))
            self._heard[key] = found
        return self._heard[key]

    def _in_own_words(self, index: int, facts: Sequence[Fact], findings: Sequence[Finding]) -> Iterator[Finding]:
        """What was found; a deed may also be told of in the words of the tool that did it."""
        message = cast("Message", self._timeline.events[index])
        for fact, found in zip(facts, findings, strict=True):
            words = self._own_words(index, fact) if fact.type == "deed" and found.outcome == "missing" else ()
            if words:
                told = hear(message.content, (Fact("text", words),), self.background(index), self._all_facts)
                meant = told.findings[0].outcome == "stated" and not only_planned(message.content, words)
                yield told.findings[0] if meant else found
            else:
                yield found

    def _own_words(self, index: int, deed: Fact) -> tuple[str, ...]:
        """The words for telling of it that are declared by the tools that did such a deed before a message."""
        kinds, tools = set(map(str, deed.value)), self._timeline.home.tools
        done = dict.fromkeys(call.called for call in self._calls_before(index) if call.error is None)
        acting = [tools[name] for name in done if name in tools]
        fit = [tool for tool in acting if not kinds.isdisjoint((*_kinds_said(tool), *_kinds_written(tool)))]
        return tuple(dict.fromkeys(said for tool in fit for word in tool.said for said in _parted(word)))

    def _calls_before(self, index: int) -> Sequence[ToolCall]:
        """The agent's calls before a message."""
        places, calls = self._calls
        return calls[: bisect_left(places, index)]

    @cached_property
    def _calls(self) -> tuple[Sequence[int], Sequence[ToolCall]]:
        """The agent's calls, and where they stand among the events."""
        events = enumerate(self._timeline.events)
        found = [(place, event) for place, event in events if isinstance(event, ToolCall) and event.caller == "agent"]
        return [place for place, _ in found], [call for _, call in found]

    def background(self, index: int) -> Background:
        """What had been said and done before a message; one object for all messages between the same two calls."""
        calls = self._calls_before(index)
        if len(calls) not in self._backgrounds:
            fine = [call for call in calls if call.error is None]
            strings, numbers, touched = self._collected.until(len(calls))
            times = [number for number in numbers if _EARLIEST < number < _LATEST]
            changed = any(call.changes for call in fine)
            walls = [to_local(time, self._timeline.zone) for time in times] if changed else ()
            self._backgrounds[len(calls)] = Background(
                given=self._given,
                known=tuple(strings),
                numbers=frozenset(numbers),
                deeds=frozenset[str]().union(*map(self._kinds, {call.called for call in fine})),
                names=self._names,
                touched=frozenset((*touched, *(self._people[text] for text in touched if text in self._people))),
                moments=frozenset((wall.year, wall.month, wall.day, wall.hour, wall.minute) for wall in walls),
                switches=_switches(fine),
                persons=self._persons,
                home=self._timeline.home,
            )
        return self._backgrounds[len(calls)]

    @cached_property
    def _collected(self) -> "_Collected":
        return _Collected(self._calls[1])

    @cached_property
    def _given(self) -> tuple[str, ...]:
        events = self._timeline.events
        return tuple(event.content for event in events if isinstance(event, Message) and event.sender == "user")

    def _kinds(self, tool: str) -> frozenset[str]:
        """The kinds of deeds that a call of a tool counts as, by its name and by the words declared for telling of it.

        A tool whose name tells of no known kind, and that reaches no person, counts by what it declares to write.
        """
        named, known = kinds_of(tool), self._timeline.home.tools.get(tool)
        if known is None:
            return named
        verbs = (word.lower().partition(" ")[0] for word in known.said)
        said = frozenset(kind for verb in verbs for kind in claimed(verb))
        return named | said | (frozenset[str]() if named & KINDS or known.reaches else frozenset(_kinds_written(known)))

    @cached_property
    def _people(self) -> Mapping[str, str]:
        """Names by the other texts of their rows: ids and phone numbers."""
        found: dict[str, str] = {}
        for table in self._timeline.initial.tables.values():
            for row in table.values():
                name = row.get("name")
                if isinstance(name, str):
                    found |= {
                        str(value): name for column, value in row.items() if isinstance(value, str) and column != "name"
                    }
        return found

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(
            name for table in self._timeline.initial.tables.values() for row in table.values()
            if isinstance(name := row.get("name"), str) and name.strip()
        ))  # fmt: skip

    @cached_property
    def _persons(self) -> frozenset[str]:
        """The names of persons, by the columns that hold such; not the user's own, from whom messages come."""
        found = set[str]()
        for name, schema in self._timeline.home.tables.items():
            columns = [item.name for item in schema.columns if item.person]
            rows = self._timeline.initial.tables.get(name, {}).values() if columns else ()
            others = [row for row in rows if not (schema.owner and row.get(schema.owner))]
            found |= {str(row[column]) for row in others for column in columns if str(row.get(column) or "").strip()}
        return frozenset(found)


def _kinds_said(tool: Tool) -> frozenset[str]:
    """The kinds of deeds that are claimed by the single words declared for telling of a tool."""
    return frozenset(kind for word in tool.said if " " not in word for kind in claimed(word.lower()))


def _parted(words: str) -> Iterator[str]:
    """Words as they are, and those of a verb with its particle also around what it was done to: ``called it off``."""
    yield words
    verb, _, particle = words.partition(" ")
    if particle in _PARTICLES:
        yield from (f"{verb} {what} {particle}" for what in ("it", "that", "this", "them", "both"))


def _kinds_written(tool: Tool) -> Iterator[str]:
    """The kinds of deeds that a tool does by what it declares to write."""
    effects = tool.effects or Effects()
    writes = {"add": effects.adds, "remove": effects.removes, "change": effects.updates}
    yield from (kind for kind, tables in writes.items() if tables)


def _switches(calls: Iterable[ToolCall]) -> Mapping[str, str]:
    """What was switched one way only, by its column, and which way."""
    found: dict[str, set[str]] = {}
    for change in (change for call in calls for change in call.changes):
        before, after = change.before or {}, change.after or {}
        for column, value in after.items():
            if isinstance(value, bool) and isinstance(before.get(column), bool) and before[column] != value:
                found.setdefault(column, set()).add("on" if value else "off")
    return {name: ways.pop() for name, ways in found.items() if len(ways) == 1}


def forbidden(expected: Expected) -> tuple[Fact, ...]:
    """The facts that must not be claimed."""
    return (*expected.denies, *(Fact("text", (text,)) for text in expected.avoid))


def filled_in(fact: Fact, expected: Expected, lookup: Lookup | None) -> Fact | None:
    """A fact with its placeholders filled in every acceptable way; None if nothing is left of its values."""
    if not refers(fact, expected):
        return fact
    if lookup is None:
        return None
    written = (
        (value,) if not isinstance(value, str) else forms(value, expected.values, lookup) for value in fact.value
    )
    found = tuple(chain.from_iterable(written))
    return replace(fact, value=found) if found else None


def _missing(fact: Fact) -> Finding:
    attribute = f"{fact.attribute} " if fact.attribute else ""
    what = "value" if fact.type == "text" else fact.type
    return Finding("missing", f"should say the {attribute}{what} that a call returned, which was never called for")


class _Collected:
    """What calls were made with and answered, and what successful deeds were about, gathered once for all messages."""

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        self._strings, self._touched = list[str](), list[str]()
        numbers = dict[float, None]()
        self._ends = [(0, 0, 0)]
        for call in calls:
            answer = call.result if call.error is None else call.error.message
            _collect((call.arguments, answer), self._strings, numbers)
            for change in call.changes if call.error is None else ():
                _collect((change.before, change.after), self._touched, {})
            if call.changes and call.error is None:
                _collect(call.arguments, self._touched, {})
            self._ends.append((len(self._strings), len(numbers), len(self._touched)))
        self._numbers = list(numbers)

    def until(self, count: int) -> tuple[Sequence[str], Sequence[float], Sequence[str]]:
        """The texts and numbers of so many calls, and the texts that the deeds among them were about."""
        strings, numbers, touched = self._ends[count]
        return self._strings[:strings], self._numbers[:numbers], self._touched[:touched]


def _collect(value: Any, strings: list[str], numbers: dict[float, None]) -> None:
    """The texts and numbers in a value, deep inside too."""
    stack = [value]
    while stack and len(strings) < _MOST_STRINGS:
        item = stack.pop()
        if isinstance(item, str):
            strings.append(item)
        elif isinstance(item, bool) or item is None:
            continue
        elif isinstance(item, int | float):
            if abs(item) < 1e300:
                numbers[float(item)] = None
        elif is_object(item):
            stack.extend(item.values())
        elif is_array(item):
            stack.extend(item)
