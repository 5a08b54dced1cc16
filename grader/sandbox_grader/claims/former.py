"""Values that a message tells as what was, or what is so as a rule, beside the one that is so now.

Policy: ``it leaves at 04:45 (was 03:15)`` says one time. Where every value is told as of before, each is what is said.
"""

import re
from collections.abc import Sequence

from sandbox_grader.claims.clauses import Spoken
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
_NOW = re.compile(r"\b(?:now|new)\b")


def is_former(spoken: Spoken, item: Mention, mentions: Sequence[Mention]) -> bool:
    """Whether a value is one of before, or of other times, and another of its kind is not."""
    rivals = [other for other in mentions if other.kind == item.kind and other.value != item.value]
    if not rivals:
        return False
    if _is_labelled(spoken, item):
        return not all(_is_labelled(spoken, other) for other in rivals)
    if not _IT_WAS.fullmatch(spoken.lead(item.start)):
        return False
    number = spoken.clause_at(item.start).sentence
    beside = [other for other in rivals if spoken.clause_at(other.start).sentence == number]
    return any(
        not _IT_WAS.fullmatch(spoken.lead(other.start))
        and (other.start < item.start or _NOW.search(spoken.sentence(number)))
        for other in beside
    )


def _is_labelled(spoken: Spoken, item: Mention) -> bool:
    before = spoken.low[max(0, item.start - 60) : item.start]
    return bool(_LABEL.search(before) or _AS_A_RULE.fullmatch(spoken.lead(item.start)))
