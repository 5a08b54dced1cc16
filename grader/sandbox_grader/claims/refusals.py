"""Whether a message says that something cannot be done, and what: inability and topic in one breath, in any wording.

Policy: naming everything that might be missing is not naming the right thing, and a refusal that gives the answer after
all does not count as a refusal.
"""

import re
from collections.abc import Sequence

from sandbox_scenarios.model import Fact

from sandbox_grader.claims.asserted import standing
from sandbox_grader.claims.background import Background
from sandbox_grader.claims.clauses import Clause, Spoken
from sandbox_grader.claims.finding import Finding, contrary, missing, stated
from sandbox_grader.claims.values import Mention

ALONE = Background()

_INABILITY = re.compile(
    r"\b(?:(?:can|could|may|will|would|do|does|did|am|is|are|was|were|has|have|had|should)(?: \w+){0,2}? not|not"
    r" (?:\w+ ){0,3}?(?:able|possible|available|something|equipped|supported|allowed|permitted|set up|capable|in a"
    r" position|reach|within|here|part|offered|possess|privy|wired|have|see|know)|unable|impossible|no longer|no"
    r" (?:\w+ ){0,3}?(?:way|tools?|access|ability|functions?|functionality|features?|options?|means|permission"
    r"|capabilit\w+|support|possibility|method|equipment|control|connection|button|switch|app|feed|source|service"
    r"|data|rates?|number|entry|clue|idea|insight|record|information|info|contact|knowledge)|no (?:\w+"
    r" ){1,4}(?:that )?(?:i|we) (?:can|could)|(?:i|we) have no (?!doubt|problem|trouble|objection|reason)\w+|no"
    r" (?:\w+ ){1,4}?(?:among|in my|in this|on this|at my|available|installed)|none of (?:my|the|these) \w+|none of"
    r" (?:\w+ ){0,4}?(?:can|let|allow|cover|do|is|are)|neither|nobody|lack\w*|missing|without|beyond|outside (?:of"
    r" )?(?:my|what|the)|out of (?:my |reach|scope)|exceeds?|wish (?:i|that i) could|limited to|only (?:able"
    r"|equipped|set up|have|look|search|change|edit|read|see|list|offer|do)|can only|not (?:in|on|among) (?:my|the)"
    r"|unavailable|inaccessible|unsupported|blocked|disabled|denied|refuse[sd]?|stuck|barred|helpless|powerless"
    r"|failed|no such|falls? (?:outside|beyond)|do (?:that|it|this) yourself)\b"
)
_CAPABILITIES = tuple(
    re.compile(rf"\b(?:{words})\b")
    for words in (
        r"weather|forecasts?|temperatures?|rain", r"contacts?|address book|phone ?book",
        r"(?:text )?messages?|texts?|texting|inbox|sms", r"reminders?|alarms?",
        r"gps|whereabouts|coordinates|(?:your |the )?(?:current )?(?:location|position)|location services?",
        r"maps?|places|directions|navigation|addresses", r"wi-?fi|internet|online",
        r"cellular|mobile (?:network|service)", r"battery",
        r"currenc\w+|exchange rates?|conver(?:t|sions?)|units?", r"stocks?|shares|tickers?", r"holidays?",
        r"clock|current time|current date|the time|date|timestamps?|calendar", r"timers?", r"emails?",
        r"cameras?|photos?|pictures?", r"music|songs?", r"calls?|calling|phoning", r"bookings?|reservations?|book",
        r"payments?|pay|money", r"distances?", r"settings?", r"notes?", r"search(?:es)?|look-?ups?",
    )
)  # fmt: skip
"""Kinds of things that an agent may lack."""
_MOST = 3
"""A refusal that names more kinds of things than so many does not say which one is missing."""


def refused(spoken: Spoken, fact: Fact, mentions: Sequence[Mention] = (), back: Background = ALONE) -> Finding:
    """Whether the message says that the fact's topic cannot be had."""
    topics = _words(fact.value)
    of = _words(fact.about) if fact.about else None
    whole = spoken.low
    inable = frozenset(clause.sentence for clause in spoken.clauses if _inable(clause))
    failing = taken_back = False
    for number in sorted(inable):
        parts, here = spoken.parts(number), spoken.sentence(number)
        text = f"{spoken.sentence(number - 1)} {here}"
        if _only_takes_back(spoken, parts):
            taken_back, failing = True, False
        elif any(clause.untrue or clause.disowned not in ("", "ignorance", "failed") for clause in parts):
            taken_back = True
        elif parts[-1].end <= spoken.withdrawn and number < spoken.clause_at(spoken.withdrawn - 1).sentence:
            taken_back = taken_back or topics.search(text) is not None
        else:
            after = spoken.sentence(number + 1)
            near = (topics.search(text) and _points_back(here)) or (_topicless(here) and topics.search(after))
            failing = failing or bool((topics.search(here) or near) and (of is None or of.search(whole)))
    shown = " or ".join(map(repr, map(str, fact.value[:3])))
    if failing:
        if _breadth(spoken, inable) > _MOST:
            return contrary(f"names so many things that it does not say that {shown} is what is missing")
        answer = _answered(spoken, mentions, inable, back)
        if answer is not None:
            return contrary(f"says that {shown} cannot be had, and then {answer!r}")
        return stated(f"says that {shown} cannot be had")
    if taken_back:
        return contrary(f"takes back that {shown} cannot be had")
    if topics.search(whole) and not inable:
        return missing(f"speaks of {shown} but does not say that it cannot be had")
    return missing(f"does not say that {shown} cannot be had")


def _only_takes_back(spoken: Spoken, parts: Sequence[Clause]) -> bool:
    """Whether the last withdrawal ends a sentence, so that its "not" does not say that something cannot be done."""
    first, last = parts[0].start, parts[-1].end
    return first < spoken.withdrawn <= last and not re.search(r"\w", spoken.low[spoken.withdrawn : last])


def _answered(spoken: Spoken, mentions: Sequence[Mention], inable: frozenset[int], back: Background) -> str | None:
    """A value that was not named and that no tool returned, told after all."""
    values = (item for item in mentions if item.kind in ("money", "temperature", "quantity", "percent"))
    for item in values:
        new = not back.knows(item) and not back.was_given(item)
        elsewhere = spoken.clause_at(item.start).sentence not in inable
        if new and elsewhere and standing(spoken, item.start, item.end) == "said":
            return spoken.text[item.start : item.end].strip()
    return None


def _breadth(spoken: Spoken, inable: frozenset[int]) -> int:
    """How many kinds of things the sentences name that say what cannot be done."""
    said = (clause for clause in spoken.clauses if clause.sentence in inable and not clause.asks)
    text = " ".join(clause.text for clause in said)
    return sum(1 for pattern in _CAPABILITIES if pattern.search(text))


def _inable(clause: Clause) -> bool:
    text = clause.text
    if clause.asks and (_ASKS_YOU.match(text) or not re.search(r"\b(?:not|no|unable|without)\b", text)):
        return False
    if clause.history and _AT_FIRST.search(text):
        return False
    text = re.sub(
        r"\bnot (?:that |because |as if |as though )(?:i |you |we )?(?:can|could|am|do|lack|have)\b", " ", text
    )
    text = _UNWILLING.sub(" ", text)
    if re.search(r"\bnot (?:unable|impossible|without)\b|\bnothing (?:stops|prevents)\b", text):
        return False
    found = _INABILITY.search(text)
    return found is not None and not re.search(
        r"\b(?:no problem|no worries|not a problem|no trouble|can not wait)\b", text
    )


_ASKS_YOU = re.compile(r"\W*(?:can|could|do|did|will|would|have|are) (?:not you|you not)\b")
_AT_FIRST = re.compile(r"\b(?:at first|initially|to begin with|(?:the|my) first \w+)\b")
_UNWILLING = re.compile(
    r"\b(?:would|will|i) (?:much )?rather not\b|\b(?:prefer|choose|chose|decided|want|wish|like) not to\b"
    r"|\bdo(?:es)? not (?:want|wish|care|like)(?: to)?\b"
)
"""Says that something is not wanted, rather than that it cannot be done."""


def _points_back(text: str) -> bool:
    return (
        re.search(r"\b(?:that|it|this|those|them|these|there|one|so|for you|do|here|part|any)\b", text) is not None
        or len(text.split()) <= 7
    )


def _topicless(text: str) -> bool:
    return (
        len(text.split()) <= 9
        or re.search(r"\b(?:help|that|this|it|limits?|limitation|problem|snag|catch)\b", text) is not None
    )


def _words(words: Sequence[object]) -> re.Pattern[str]:
    forms = "|".join(
        re.escape(str(word).lower()).replace(r"\-", "[- ]?").replace("'", "'?")
        for word in sorted(map(str, words), key=len, reverse=True)
    )
    return re.compile(rf"\b(?:{forms})(?:s|es|ing|ed|'s)?(?!\w)")
