"""Refusals: whether a message says that something cannot be had or done, and of what.

Policy: an inability and the topic in one sentence, or in two that are neighbours, tell it. Where they stand farther
apart it is in doubt. A sentence that denies seven things at once says nothing of any of them.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from sandbox_scenarios.model import Fact

from sandbox_grader.claims.background import Background
from sandbox_grader.claims.finding import Finding, doubtful, missing, stated
from sandbox_mcp.engine.talk.clauses import Talk
from sandbox_mcp.engine.talk.inability import is_unable
from sandbox_mcp.engine.talk.patterns import Lazy

_MOST = 7
"""A sentence that joins so many things names none in particular."""
_JOINS = Lazy(r",|;|\bor\b|\band\b|\bnor\b")


@lru_cache(maxsize=1024)
def _topic(words: tuple[str, ...]) -> Lazy:
    stems = (re.split(r"[- ]", word.lower().removesuffix("e")) for word in words)  # snooze, snoozing
    rows = "|".join(r"[- ]?".join(map(re.escape, parts)) for parts in stems)
    return Lazy(rf"\b(?:{rows or '(?!)'})(?:e|s|es|ing|ed|e?'s)?(?!\w)")


def refused(talk: Talk, fact: Fact, back: Background) -> Finding:
    """Whether a message says that a topic cannot be had."""
    words = tuple(map(str, fact.value))
    topic = _topic(words)
    shown = " or ".join(map(repr, words[:3]))
    inable = [
        number for number in talk.sentences
        if any(clause.start >= talk.withdrawn and is_unable(clause) for clause in talk.sentence(number))
    ]  # fmt: skip
    here = [number for number in inable if topic.search(talk.sentence_text(number))]
    near = [
        number
        for number in inable
        if any(topic.search(talk.sentence_text(other)) for other in (number - 1, number + 1))
    ]
    asked = back.user_said if here else ""  # what the user asked for need not be said again
    if fact.about and not any(str(word).lower() in text for word in fact.about for text in (talk.low, asked)):
        return (doubtful if here else missing)(f"says that {shown} cannot be had, but not of what")
    if here or near:
        if all(_joins_many(talk, number) for number in here or near):
            return missing(f"names so many things that it does not say that {shown} is what is missing")
        return stated(f"says that {shown} cannot be had")
    if inable and topic.search(talk.low):
        return doubtful(f"says that something cannot be had, and speaks of {shown}")
    return missing(f"does not say that {shown} cannot be had")


def _joins_many(talk: Talk, sentence: int) -> bool:
    """True if the clauses of a sentence that deny something join many things."""
    clauses: Sequence[str] = [clause.text for clause in talk.sentence(sentence)]
    first = next((place for place, clause in enumerate(talk.sentence(sentence)) if is_unable(clause)), 0)
    return len(_JOINS.findall(" ".join(clauses[first:]))) >= _MOST
