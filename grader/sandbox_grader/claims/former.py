"""Values that a message tells as what was, or what is so as a rule, beside the one that is so now.

Policy: ``it leaves at 04:45 (was 03:15)`` says one time. Where every value is told as of before, each is what is said.
"""

import re
from collections.abc import Sequence

from sandbox_scenarios.model import Fact

from sandbox_grader.claims.background import Background
from sandbox_grader.claims.clauses import Spoken
from sandbox_grader.claims.equality import READ_AS, is_value_of
from sandbox_grader.claims.normal import one_of
from sandbox_grader.claims.values import Mention

_BEFORE = r"old|previous|former|original|prior|earlier|before|previously|formerly|originally|was"
_SIGN = r"(?:at |on |by )?[$€£¥]?\s{0,2}$"
_LABEL = re.compile(
    rf"(?:^|[\n;.,(–-])\s{{0,4}}(?:the |your |its )?(?:{_BEFORE})(?: \w{{1,20}}){{0,3}} ?: {{0,2}}{_SIGN}"
)
"""Before a value that its label calls one of the past: ``Previous due date: ``."""
_IT_WAS = re.compile(
    rf"\W*(?:(?:and|but|which|it|this|that|they) ){{0,2}}(?:was|were|had been|used to be) (?:due |set |the )?{_SIGN}"
)
_AS_A_RULE = re.compile(r"\W*(?:the )?(?:normal(?:ly)?|usual(?:ly)?|ordinar(?:y|ily)|regular(?:ly)?)\b[^.;\n]{0,24}$")
_OF_THE_USUAL = one_of("usual usually normal normally ordinary ordinarily regular regularly")
"""Words of a user who may ask for what holds as a rule."""
_NOW = re.compile(r"\b(?:now|new)\b")
_THIS_TIME = re.compile(
    r"\b(?:now|today|tonight|tomorrow|currently|but|instead|rather|only|this (?:time|once|week|month|year)|for you"
    r"|as opposed to|compared (?:to|with)|in contrast|down from|up from)\b"
)
"""Beside a value that holds as a rule, words that another holds here."""


def is_former(
    spoken: Spoken, item: Mention, mentions: Sequence[Mention], others: Sequence[Fact], back: Background
) -> bool:
    """Whether a value is one of before, or of other times, and another of its kind is not.

    ``others`` are the facts that the message should state beside that of the value; a value that states one of them
    does not count as the other of its kind.
    """
    if back.asks_of_the_past:
        return False
    as_a_rule = not back.given_words & _OF_THE_USUAL and _is_as_a_rule(spoken, item)
    labelled = _is_labelled(spoken, item)
    if not (as_a_rule or labelled or _is_past(spoken, item)):
        return False
    rivals = [
        other
        for other in mentions
        if other.kind == item.kind
        and other.value != item.value
        and not any(other.kind in READ_AS[fact.type] and is_value_of(other, fact, spoken) for fact in others)
    ]
    number = spoken.clause_at(item.start).sentence
    beside = [other for other in rivals if spoken.clause_at(other.start).sentence == number]
    if as_a_rule:
        return bool(_THIS_TIME.search(spoken.sentence(number))) and not all(
            _is_as_a_rule(spoken, other) for other in beside
        )
    if labelled:
        return not all(_is_labelled(spoken, other) for other in rivals)
    return any(
        not _is_past(spoken, other) and (other.start < item.start or _NOW.search(spoken.sentence(number)))
        for other in beside
    )


def _is_as_a_rule(spoken: Spoken, item: Mention) -> bool:
    return bool(_AS_A_RULE.fullmatch(spoken.lead(item.start)))


def _is_labelled(spoken: Spoken, item: Mention) -> bool:
    return bool(_LABEL.search(spoken.low[max(0, item.start - 60) : item.start]))


def _is_past(spoken: Spoken, item: Mention) -> bool:
    return bool(_IT_WAS.fullmatch(spoken.lead(item.start)))
