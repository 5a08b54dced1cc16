"""Reads a message for the facts that it should state.

Policy: deterministic, explained and linear in the length of the message. Of a very long message the first and the last
part are read.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from sandbox_scenarios.model import Fact

from sandbox_grader.claims import accounts, deeds, refusals, states, surplus
from sandbox_grader.claims.background import Background
from sandbox_grader.claims.clauses import Spoken, read
from sandbox_grader.claims.equality import READ_AS
from sandbox_grader.claims.finding import Finding
from sandbox_grader.claims.typed import typed
from sandbox_grader.claims.values import Mention, mentions
from sandbox_grader.claims.wordings import worded

NOTHING = Background()


@dataclass(frozen=True, slots=True)
class Hearing:
    """What a message was heard to say: one finding per fact, an unsupported claim and a dump, each None or in words."""

    findings: tuple[Finding, ...]
    invented: str | None = None
    dumped: str | None = None

    @property
    def right(self) -> bool:
        """Whether the message states every fact, and nothing that is not so."""
        return all(item.outcome == "stated" for item in self.findings) and not self.invented and not self.dumped

    @property
    def false(self) -> str | None:
        """Why the message is false rather than incomplete; None if it is not."""
        if self.invented:
            return f"claims a deed that nothing did: {self.invented!r}"
        if self.dumped:
            return f"{self.dumped} instead of answering"
        return next((item.why for item in self.findings if item.outcome == "contrary"), None)


def hear(message: str, facts: Sequence[Fact], back: Background = NOTHING, context: Sequence[Fact] = ()) -> Hearing:
    """What a message says of some facts.

    Args:
        message: the message as it was sent.
        facts: what it should state, with their placeholders filled.
        back: what it is read against.
        context: further facts that may well stand in the message, because the session asks for them too.
    """
    every = [*facts, *(fact for fact in context if fact not in facts)]
    invented = _invented(message, back, any(fact.type == "undone" for fact in every))
    if not facts:
        return Hearing((), invented)
    spoken, found = _spoken(message), _mentions(message)
    findings = tuple(
        _finding(spoken, found, fact, [other for other in every if other is not fact], back) for fact in facts
    )
    wrong = accounts.misreported(spoken, found, every, back) if any(fact.type == "deed" for fact in facts) else None
    if wrong:
        findings = tuple(wrong if fact.type == "deed" else item for fact, item in zip(facts, findings, strict=True))
    elsewhere = accounts.misplaced_switch(spoken, every, back)
    if elsewhere:
        findings = (elsewhere, *findings[1:])
    return Hearing(findings, invented, surplus.dumped(spoken, every, found, back))


@lru_cache(maxsize=256)
def claims_deeds(message: str) -> bool:
    """Whether a message claims any deed, done or not, or tells of one to a person; else it can invent none."""
    if not surplus.has_words_for_deeds(message):
        return False
    spoken = _spoken(message)
    return any(True for _ in surplus.deeds_told(spoken)) or accounts.tells_of_persons(spoken)


@lru_cache(maxsize=64)
def _invented(message: str, back: Background, undone: bool) -> str | None:
    """The words of a deed that nothing did, the same for all facts; holding back may be told as cancelling."""
    spoken = _spoken(message)
    allowing = replace(back, deeds=back.deeds | {"remove"}) if undone else back
    return (
        surplus.unsupported(spoken, allowing) or accounts.misdirected(spoken, back) or accounts.told_role(spoken, back)
    )


def withdraws(message: str) -> bool:
    """Whether a message takes back what was said before it."""
    return _spoken(message).withdrawn > 0


def only_planned(message: str, words: Sequence[str]) -> bool:
    """Whether a message has words for a deed and only plans what they say."""
    return deeds.only_planned(_spoken(message), words)


def claims(message: str, facts: Sequence[Fact], back: Background = NOTHING) -> tuple[Finding, ...]:
    """Whether a message claims what it must not: deeds only where it tells them in so many words."""
    spoken, found = _spoken(message), _mentions(message)
    return tuple(
        deeds.plainly(spoken, fact) if fact.type == "deed" else _finding(spoken, found, fact, (), back)
        for fact in facts
    )


@lru_cache(maxsize=256)
def _spoken(message: str) -> Spoken:
    return read(message)


@lru_cache(maxsize=256)
def _mentions(message: str) -> Sequence[Mention]:
    return mentions(_spoken(message).text)


def _finding(spoken: Spoken, found: Sequence[Mention], fact: Fact, others: Sequence[Fact], back: Background) -> Finding:
    if fact.type in READ_AS:
        return typed(spoken, fact, others, found, back)
    if fact.type == "deed":
        return deeds.told(spoken, fact, others, back.names)
    if fact.type == "undone":
        return deeds.undone(spoken, fact)
    if fact.type == "cannot":
        alone = all(other.type in ("cannot", "text") for other in others)
        return refusals.refused(spoken, fact, found if alone else (), back)
    if fact.type == "state":
        return states.state(spoken, fact, back.things)
    if fact.type == "polarity":
        return states.polarity(spoken, fact, back)
    if fact.type == "direction":
        return states.direction(spoken, fact)
    return worded(spoken, fact, others, back)
