"""Reads a message for the facts that it should state: told, not told, or in doubt.

Policy: deterministic, explained and linear in the length of the message. What is in doubt neither proves nor voids.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sandbox_scenarios.model import Fact

from sandbox_grader.claims import deeds, refusals, states
from sandbox_grader.claims.background import Background
from sandbox_grader.claims.equality import READ_AS, is_value_of
from sandbox_grader.claims.finding import Finding, contrary, doubtful
from sandbox_grader.claims.pairing import crossed, set_aside
from sandbox_grader.claims.typed import summed_up_otherwise, typed
from sandbox_grader.claims.wordings import all_places, worded
from sandbox_mcp.engine.talk.clauses import Talk, read
from sandbox_mcp.engine.talk.patterns import Lazy
from sandbox_mcp.engine.talk.values import Mention, mentions

NOTHING = Background()
_NOT_IN_ROWS = ("deed", "undone", "cannot", "state", "polarity", "direction")
_RAW = Lazy(r"['\"]\w+['\"]\s{0,2}:\s")
_MOST_RAW, _MOST_PHONES = 12, 6
"""So many keys of raw results, or other telephone numbers, make a dump."""


@dataclass(frozen=True, slots=True)
class Hearing:
    """The verdicts on a message: one finding per fact, a claim that nothing bears out and a dump, in words."""

    findings: tuple[Finding, ...]
    invented: str | None = None
    dumped: str | None = None

    @property
    def right(self) -> bool:
        """True if the message states every fact, and nothing false."""
        return all(item.outcome == "stated" for item in self.findings) and not self.invented and not self.dumped

    @property
    def false(self) -> str | None:
        """Reason why the message is false rather than incomplete; None if it is not."""
        if self.invented:
            return f"claims a deed that nothing did: {self.invented!r}"
        if self.dumped:
            return f"{self.dumped} instead of answering"
        return next((item.why for item in self.findings if item.outcome == "contrary"), None)


def hear(message: str, facts: Sequence[Fact], back: Background = NOTHING, context: Sequence[Fact] = ()) -> Hearing:
    """Verdicts on a message.

    Args:
        message: the message as it was sent.
        facts: what it should state, with their placeholders filled.
        back: what it is read against.
        context: further facts that may well stand in the message, because the session asks for them too.
    """
    every = (*facts, *[fact for fact in context if fact not in facts])
    wanted, held_back = set[str](), False
    for fact in every:
        held_back = held_back or fact.type == "undone"
        if fact.type == "deed":
            wanted.update(map(str, fact.value))
    invented = _invented(message, back, frozenset(wanted), held_back)
    if not facts:
        return Hearing((), invented)
    talk, found = read(message), mentions(read(message).text)
    findings = list[Finding]()
    for fact in facts:
        findings.append(_finding(talk, found, fact, [other for other in every if other is not fact], back))
    return Hearing(tuple(findings), invented, dumped(message, every, found))


@lru_cache(maxsize=256)
def _invented(message: str, back: Background, wanted: frozenset[str], held_back: bool) -> str | None:
    """A deed that nothing did; holding back may be told as cancelling."""
    return deeds.false_claim(read(message), back, wanted, back.deeds | {"remove"} if held_back else back.deeds)


def withdraws(message: str) -> bool:
    """True if a message takes back what was said before it, and says nothing in its place."""
    talk = read(message)
    return talk.withdrawn > 0 and not any(clause.states and clause.start > talk.withdrawn for clause in talk.clauses)


def claims(message: str, facts: Sequence[Fact], back: Background = NOTHING) -> tuple[Finding, ...]:
    """Whether a message claims what it must not: deeds only where it tells them in so many words."""
    talk = read(message)
    found = mentions(talk.text)
    return tuple(
        deeds.plainly(talk, fact) if fact.type == "deed" else _finding(talk, found, fact, (), back) for fact in facts
    )


def comes_behind(message: str, other: Fact, facts: Sequence[Fact]) -> bool:
    """True if a message names another thing only behind the values of the facts: the next bus, and then the later one.

    Wordings with a verb of their own ("is off", "I booked") are claims, wherever they stand.
    """
    if other.type not in ("name", "text") or any(_CLAIMING.search(str(value).lower()) for value in other.value):
        return False
    talk = read(message)
    found, named = mentions(talk.text), all_places(map(str, other.value), talk)
    firsts = [min(_stands_at(talk, found, fact), default=len(message)) for fact in facts]
    return bool(named) and min(named) > max(firsts)


_CLAIMING = Lazy(r"\b(?:is|are|was|were|been|has|have|had|will|now|can|not?|i|it|up|on|off)\b|'")


def _stands_at(talk: Talk, found: Sequence[Mention], fact: Fact) -> Iterable[int]:
    """Where the values of a fact stand in a message."""
    if fact.type in READ_AS:
        return [item.start for item in found if item.kind in READ_AS[fact.type] and is_value_of(item, fact, talk)]
    return all_places(map(str, fact.value), talk)


def dumped(message: str, facts: Sequence[Fact], found: Sequence[Mention]) -> str | None:
    """Reason why a message is a dump rather than an answer: raw results, or many telephone numbers nobody asked for."""
    if len(_RAW.findall(message)) >= _MOST_RAW:
        return "hands out raw results"
    phones = {item.value for item in found if item.kind == "phone"}
    if len(phones) >= _MOST_PHONES and len(phones) > 3 * sum(fact.type == "phone" for fact in facts):
        return f"hands out {len(phones)} phone numbers"
    return None


def _finding(talk: Talk, found: Sequence[Mention], fact: Fact, others: Sequence[Fact], back: Background) -> Finding:
    heard = _read_as(talk, found, fact, others, back)
    if heard.outcome == "stated" and fact.type == "deed" and (odd := summed_up_otherwise(talk, found, back)):
        return contrary(f"sums up with {odd!r}, and said otherwise before")
    if heard.outcome != "stated" or fact.type in _NOT_IN_ROWS:
        return heard
    pair = crossed(talk, found, fact, back)
    if pair:
        return contrary(f"gives {pair} each other's values")
    aside = set_aside(talk, fact, back) if fact.type in ("name", "text") else None
    return doubtful(f"{heard.why}, and speaks of it as {aside!r}") if aside else heard


def _read_as(talk: Talk, found: Sequence[Mention], fact: Fact, others: Sequence[Fact], back: Background) -> Finding:
    if fact.type in READ_AS:
        return typed(talk, found, fact, others, back)
    if fact.type == "deed":
        return deeds.told(talk, fact, back)
    if fact.type == "undone":
        return deeds.undone(talk, fact)
    if fact.type == "cannot":
        return refusals.refused(talk, fact, back)
    if fact.type == "state":
        return states.state(talk, fact, back.things)
    if fact.type == "polarity":
        return states.polarity(talk, fact)
    if fact.type == "direction":
        return states.direction(talk, fact)
    return worded(talk, fact, others, back)
