"""What the agent's messages claim, compared with the facts that milestones ask for and with the rest of the session.

Policy: a message is read against everything that was said and done in the session. A doubt counts as it was settled, by
a judge or by people, or as the listener is told to take all that are not.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import Any, cast

from sandbox_scenarios.model import Expected, Fact

from sandbox_grader.claims import Background, Finding, Hearing, claims, comes_behind, hear, withdraws
from sandbox_grader.claims.deeds import deeds_of, in_own_words, told
from sandbox_grader.claims.texts import content_words
from sandbox_grader.milestones.measures import Lookup, forms
from sandbox_grader.milestones.referring import claims_of, refers
from sandbox_grader.milestones.timeline import Timeline
from sandbox_mcp.engine.talk.clauses import read
from sandbox_mcp.engine.talk.deeds import KINDS, kinds_of
from sandbox_mcp.engine.trajectory import Message, ToolCall
from sandbox_mcp.engine.world.state import Row

_MOST_STRINGS = 2000
_TELLING = 3
"""Letters that a text has at least by which a person is known, and words of a name at most."""

Settled = Mapping[tuple[int, str], bool]
"""Doubts that were settled: by the number of the message in the log and the fact in words, whether it is stated."""
NOTHING_SETTLED: Settled = {}


@dataclass(frozen=True, slots=True)
class Doubts:
    """How doubts are taken: as they were ``settled``, and all others as stated or not."""

    settled: Settled = field(default_factory=dict[tuple[int, str], bool])
    stated: bool = True


@dataclass(frozen=True, slots=True)
class Listened:
    """What a message says of what a milestone asks: its share of the facts, and whether it is false.

    ``doubts`` are the facts, in words, whose statement is uncertain, and why.
    """

    share: float
    reasons: tuple[str, ...] = ()
    false: str | None = None
    doubts: tuple[tuple[str, str], ...] = ()


class Listener:
    """Listens to the agent's messages to the user in one session."""

    def __init__(self, timeline: Timeline, facts: Sequence[Fact], doubts: Doubts | None = None) -> None:
        """``facts`` is what any milestone asks to be told: none of it is out of place in a message."""
        self._timeline = timeline
        self._all_facts = facts
        self._doubts = doubts or Doubts()
        self._heard: dict[tuple[int, int, tuple[Fact, ...]], Hearing] = {}
        self._accounts: dict[tuple[int, int], Listened] = {}

    def account(self, expected: Expected, index: int, lookup: Lookup | None) -> Listened:
        """Read the claims of a message about some facts. Without ``lookup``, values from elsewhere count as right."""
        if expected.values:
            return self._read(expected, index, lookup)
        key = (id(expected), index)  # nothing comes from elsewhere, so that whoever asks is told the same
        if key not in self._accounts:
            self._accounts[key] = self._read(expected, index, lookup)
        return self._accounts[key]

    def _read(self, expected: Expected, index: int, lookup: Lookup | None) -> Listened:
        message = cast("Message", self._timeline.events[index])
        heard, found = self._found(expected, index, lookup)
        given, doubts = list[Finding](), list[tuple[str, str]]()
        unknown = False
        for fact, known, finding in found:
            if not known and lookup is None:
                given.append(Finding("stated", ""))
                unknown = True
                continue
            if finding.outcome == "doubt":
                finding, why = self._decided(message.seq, fact, finding), finding.why
                if finding.outcome == "doubt":
                    doubts.append((in_words(fact), why))
                    finding = Finding("stated" if self._doubts.stated else "missing", f"in doubt: {why}")
            given.append(finding)
        told = [fact for fact, known, finding in found if known and finding.outcome == "stated"]
        forbidden_said = self._forbidden(expected, message, lookup, told if len(told) == len(found) else ())
        reasons = tuple([item.why for item in given if item.outcome != "stated"])
        spoilt = forbidden_said or (heard.false if heard.invented or heard.dumped else None)
        if spoilt and (forbidden_said or heard.invented or not unknown):
            return Listened(0.0, (spoilt, *reasons), None if unknown else spoilt, tuple(doubts))
        outcomes = [item.outcome for item in given]
        if "contrary" in outcomes and not unknown:  # not its share: a wrong value spoils the answer
            return Listened(0.0, reasons, given[outcomes.index("contrary")].why, tuple(doubts))
        return Listened(outcomes.count("stated") / len(given) if given else 1.0, reasons, None, tuple(doubts))

    def _forbidden(
        self, expected: Expected, message: Message, lookup: Lookup | None, told: Sequence[Fact]
    ) -> str | None:
        """What a message says and must not, in words; behind the right values, ``told`` before it, it is context."""
        if not (unwanted := forbidden(expected)):
            return None
        denied = [fact for one in unwanted if (fact := filled_in(one, expected, lookup))]
        for fact, item in zip(denied, claims(message.content, denied, self.background), strict=True):
            if item.outcome == "stated" and not (told and comes_behind(message.content, fact, told)):
                return f"{item.why}, which it must not"
        return None

    def _decided(self, seq: int, fact: Fact, finding: Finding) -> Finding:
        """A doubt as it was settled; as it is where it was not."""
        settled = self._doubts.settled.get((seq, in_words(fact)))
        return finding if settled is None else Finding("stated" if settled else "missing", f"settled: {finding.why}")

    def findings(self, expected: Expected, index: int, lookup: Lookup | None) -> Iterator[tuple[Fact, Finding]]:
        """Every fact, as far as its values are known, with the verdict on it."""
        for fact, known, finding in self._found(expected, index, lookup)[1]:
            yield fact, finding if known else _missing(fact)

    def _found(
        self, expected: Expected, index: int, lookup: Lookup | None
    ) -> tuple[Hearing, list[tuple[Fact, bool, Finding]]]:
        """The verdicts on a message; every fact, whether its values are known, and the verdict on it."""
        facts = claims_of(expected)
        filled = [filled_in(fact, expected, lookup) for fact in facts]
        heard = self._hear(index, [fact for fact in filled if fact is not None])
        verdicts, found = iter(heard.findings), list[tuple[Fact, bool, Finding]]()
        for fact, known in zip(facts, filled, strict=True):
            found.append((known, True, next(verdicts)) if known is not None else (fact, False, _missing(fact)))
        return heard, found

    def invented(self, index: int) -> str | None:
        """A deed that a message claims and that nothing did, in words."""
        return self._hear(index, ()).invented

    def dumps(self, expected: Expected, index: int) -> str | None:
        """Reason for which a message is a dump of everything rather than an answer, in words; None if it is not."""
        return self._hear(index, [fact for fact in claims_of(expected) if not refers(fact, expected)]).dumped

    def withdraws(self, index: int) -> bool:
        """True if a message takes back what was said before it."""
        message = self._timeline.events[index]
        return isinstance(message, Message) and withdraws(message.content)

    def _hear(self, index: int, facts: Sequence[Fact]) -> Hearing:
        key = (index, len(facts), tuple(facts))
        if key not in self._heard:
            message = cast("Message", self._timeline.events[index])
            found = hear(message.content, facts, self.background, self._all_facts)
            if not {"missing", "doubt"}.isdisjoint([item.outcome for item in found.findings]):
                found = replace(found, findings=tuple(self._in_own_words(index, facts, found.findings)))
            self._heard[key] = found
        return self._heard[key]

    def _in_own_words(self, index: int, facts: Sequence[Fact], findings: Sequence[Finding]) -> Iterator[Finding]:
        """Words for what was found; a deed may also be told of in the words of the tool that did it."""
        message = cast("Message", self._timeline.events[index])
        for fact, found in zip(facts, findings, strict=True):
            words = self._own_words(index, fact) if fact.type == "deed" and found.outcome != "contrary" else ()
            own = bool(words) and in_own_words(read(message.content), words)
            if not own and found.outcome == "missing" and self._tells_a_deed_about(fact, message, index):
                yield Finding("stated", "tells that it was done; the value is the user's own")
            else:
                yield Finding("stated", f"says {' or '.join(map(repr, words[:3]))}") if own else found

    def _own_words(self, index: int, deed: Fact) -> tuple[str, ...]:
        """The words for telling of it that are declared by the tools that did such a deed before a message."""
        kinds, tools, known = set(map(str, deed.value)), self._timeline.home.tools, deeds_of(self._timeline.home).kinds
        fit = [tools[name] for name in self._done_before(index) if name in tools and kinds & known[name]]
        return tuple(dict.fromkeys(word for tool in fit for word in tool.said))

    def _done_before(self, index: int) -> Iterable[str]:
        """The tools that succeeded before a message."""
        return dict.fromkeys(call.called for call in self._calls_before(index) if call.error is None or call.changes)

    def _tells_a_deed_about(self, fact: Fact, message: Message, index: int) -> bool:
        """True if a message tells of a deed, and a value that it does not repeat was the user's own wish for it."""
        talk = read(message.content)
        wish = read(". ".join(self.background.given))
        if not self.background.named(fact) or not content_words(talk) & content_words(
            wish
        ):  # "All done." tells nothing
            return False
        known = deeds_of(self._timeline.home).kinds
        changed = {call.called for call in self._calls_before(index) if call.changes}
        kinds = frozenset[str]().union(*(known.get(name, ()) for name in changed)) & KINDS
        deed = Fact("deed", tuple(sorted(kinds)))
        return bool(kinds) and told(talk, deed, self.background).outcome == "stated"

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

    @cached_property
    def background(self) -> Background:
        """What was said and done in the session: a deed done later was not invented."""
        events, home = self._timeline.events, self._timeline.home
        fine = [call for call in self._calls[1] if call.error is None or call.changes]
        done = {call.called for call in fine}
        declared = deeds_of(home).kinds
        kinds = {name: declared[name] if name in declared else kinds_of(name) for name in done}
        known, touched, sent = list[str](), list[str](), list[str]()
        for call in fine:
            _collect(call.result, known)
            for into in (touched, sent) if "send" in kinds[call.called] else (touched,):
                _collect([(change.before, change.after) for change in call.changes], into)
                _collect(call.arguments if call.changes else (), into)
        return Background(
            given=tuple([event.content for event in events if isinstance(event, Message) and event.sender == "user"]),
            known=frozenset(map(str.lower, known)),
            deeds=frozenset[str]().union(*kinds.values()),
            tools=frozenset(done),
            names=self._names,
            people=self._people(frozenset(sent)),
            touched=frozenset(touched),
            home=home,
            answers=[(call.arguments, call.result) for call in fine],
        )

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([str(row["name"]) for row in self._named]))

    @cached_property
    def _named(self) -> Sequence[Row]:
        """The rows with a name that the session began with."""
        return _with_name([row for table in self._timeline.initial.tables.values() for row in table.values()])

    def _people(self, sent: frozenset[str]) -> tuple[tuple[frozenset[str], bool], ...]:
        """The words that may name each row with a name, and whether words were sent to it."""
        made = [change.after for call in self._calls[1] for change in call.changes if change.after]
        found = list[tuple[frozenset[str], bool]]()
        for row in (*self._named, *_with_name(made)):
            texts, words = list[str](), set[str]()
            for value in row.values():
                if isinstance(value, str) and len(value) >= _TELLING:
                    texts.append(value)
                    words.update(split if len(split := value.lower().split()) <= _TELLING else ())
            found.append((frozenset(words), not sent.isdisjoint(texts)))
        return tuple(found)


def _with_name(rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if isinstance(name := row.get("name"), str) and name.strip()]


def in_words(fact: Fact) -> str:
    """A fact as a sentence's object: ``the time 14:40 (sunset) of Cape Town``."""
    values = " or ".join(map(str, fact.value[:8]))
    of = f", of {' or '.join(fact.about)}" if fact.about and fact.type != "cannot" else ""
    if fact.type == "deed":
        return f"that the assistant has done what was asked ({values}){of}"
    if fact.type == "undone":
        return f"that it was left undone ({values}){of}"
    if fact.type == "cannot":
        return f"that it cannot be done, for lack of one of these: {values}"
    if fact.type == "state":
        return f"that {fact.unit} is {values}{of}"
    if fact.type in ("name", "text"):
        return f"in these or other words: {values}{of}"
    unit = f" {fact.unit}" if fact.unit else ""
    return f"the {fact.type} {values}{unit}{f' ({fact.attribute})' if fact.attribute else ''}{of}"


def forbidden(expected: Expected) -> tuple[Fact, ...]:
    """The facts that must not be claimed."""
    return (*expected.denies, *[Fact("text", (text,)) for text in expected.avoid])


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


def _collect(value: Any, strings: list[str]) -> None:
    """The texts in a value, deep inside too."""
    stack = [value]
    while stack and len(strings) < _MOST_STRINGS:
        item = stack.pop()
        if isinstance(item, str):
            strings.append(item)
        elif isinstance(item, dict | MappingProxyType):
            stack.extend(cast("Mapping[str, Any]", item).values())
        elif isinstance(item, list | tuple):
            stack.extend(cast("Sequence[Any]", item))
