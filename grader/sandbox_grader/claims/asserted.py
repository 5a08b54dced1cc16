"""How a place in a message is meant: said as so, denied, taken back, only supposed, asked, doubted, promised or past.

Policy: a typed value or a wording counts where it is said as so. What was taken back or announced to be untrue is as
good as denied; what is only asked, supposed or doubted was not said at all.
"""

import re
from collections.abc import Sequence

from sandbox_grader.claims.clauses import Clause, Spoken, Standing

_BOUND = re.compile(
    r"(?:(?<!no )\b(?:more|less|\w{2,7}er) than|at least|at most|(?:some ?time|any ?time|somewhere|long|well"
    r"|shortly|right) (?:before|after|past|until)|(?:anything|anywhere|somewhere) (?:up to|from|under|below|around"
    r"|near|close to)|(?:day|weekend|week|month|morning|evening|night|\w{3,6}day) (?:before|after|following)(?:"
    r" the)?|(?<!bit )(?<!little )(?<!just )(?<!slightly )(?<!shade )(?<!tad )\b(?:over|under|below|above"
    r"|exceed\w*))(?: about| roughly)?\s{0,4}[$€£¥(]?\s{0,4}$|\b(?:between|(?:anywhere|somewhere|ranging)"
    r" from)\b(?:(?!\b(?:is|are|was|were|comes?|makes?|equals?)\b)[^.;]){0,30}$|\b(?:ends?|starts?|begins?|opens?"
    r"|closes?|leaves?|departs?|arrives?|sets?|is|was|falls?|extended|runs?|takes? place) (?:some ?time |well "
    r"|shortly |just )?(?:before|after|beyond|past) (?:the )?$"
)
"""Before the bound of a value, which is not the value."""
_RATE_AFTER = re.compile(
    r"^\s*(?:[a-z]{1,20} )?(?:per|each|to (?:the|an?|1) (?=euro|pound|dollar|yen|franc)|an? (?=euro|pound|dollar"
    r"|yen|km|kilomet|mile))\b(?! cent)|^\s*(?:[a-z]{2,20})?/(?=[a-z])"
)
_RATE_BEFORE = re.compile(
    r"(?:\brate (?:of|is|was|being)(?: about| roughly)?|@|(?<!the )\b(?:1|one) [a-z ]{2,22}(?:=|is(?: worth|"
    r" about)?|equals|at|to|buys)(?: about)?)\s{0,4}[$€£¥]?\s{0,4}$"
)
_FROM_BEFORE = re.compile(r"\bfrom (?:(?!to\b|and\b|on\b)[a-z]+ ){0,2}[$€£¥]?\s{0,4}$")
_MOVED = re.compile(
    r"\b(?:moved|changed|postponed|rescheduled|shifted|pushed|switched|brought|went|rose|fell|dropped|increased"
    r"|decreased|climbed|swapped|updated|renamed|raised|lowered|corrected|grew|jumped|slid)\b"
)
_WAS_TO_BE = re.compile(
    r"\b(?:was|were) (?:\w+ly )?(?:(?:going|supposed|meant|planned|due|scheduled|expected|booked|set) )?(?:to (?:be"
    r"|take place|happen|meet|leave|arrive|start|depart)\b[^.;]{0,24}|(?:at|for|on)(?: the)? )$"
)
"""Before what was planned once, and is not so."""
_PUT_OFF = re.compile(r"\b(?:but|however|now|instead|changed|moved)\b")
_IS_NOT_SO = re.compile(
    r"(?: \w+)? (?:(?:would be|is|are|was|were) (?:\w+ )?(?:wrong|an? (?:typo|slip|mistake|error)|incorrect|false"
    r"|untrue|mistaken)\b|used to be|is no longer|was (?:once|formerly)"
    r"|(?:is|has been) (?:disconnected|cut off|out of service))\b"
)
"""Behind what is wrong, or not so any more."""
_NOT_BEFORE = re.compile(r"\b(?:before|until|till|earlier than) (?:about |the )?$")
"""What is not so before a time is so from then on."""
_ONLY_OFFERED = re.compile(
    r"\b(?:i|we) (?:could|can|might|would) (?:\w+ly |also |just )?(?:save|store|add|set|send|schedule|text|book"
    r"|move|change|try|use|put|note|offer|suggest|propose)\b"
)
"""Before a value that is only offered, or that the user named."""
_OVER = re.compile(r"\b(?:used to|formerly|once was|no longer)\b")
_WOULD_BE_NICE = re.compile(
    r"(?: \w+)? would (?:be|have been) (?:\w+ )?(?:nice|great|good|lovely|perfect|ideal|better|fine)\b"
)


def standing(spoken: Spoken, start: int, end: int) -> Standing:
    """How what stands from ``start`` to ``end`` is meant; every fact asks it of the same places."""
    found = spoken.standings.get((start, end))
    if found is None:
        found = spoken.standings[start, end] = _standing(spoken, start, end)
    return found


def _standing(spoken: Spoken, start: int, end: int) -> Standing:
    clause = spoken.clause_at(start)
    taken = start < max(spoken.withdrawn, spoken.taken[1]) and (start < spoken.withdrawn or spoken.taken[0] < end)
    if taken or (clause.disowned and clause.says):
        return "withdrawn"
    if clause.untrue:
        return "denied"
    quote = spoken.quote_at(start)
    if clause.asks or clause.supposes or (quote and spoken.low[quote[1] - 2] == "?"):
        return "unsaid"
    if clause.denied(start) and not _NOT_BEFORE.search(spoken.low, clause.start, start):
        return "denied"
    before = spoken.low[max(clause.start, start - 40) : start]
    put_off = _WAS_TO_BE.search(before) and _PUT_OFF.search(spoken.sentence(clause.sentence))
    if put_off or _IS_NOT_SO.match(spoken.low, end):
        return "denied"
    if clause.hedges:
        return "doubted"
    if _BOUND.search(before) or only_offered(spoken, clause, start) or _WOULD_BE_NICE.match(spoken.low, end):
        return "unsaid"
    if _RATE_AFTER.match(spoken.low[end : end + 30]) or _RATE_BEFORE.search(before):
        return "past"
    if _FROM_BEFORE.search(before) and _MOVED.search(spoken.sentence(clause.sentence)):
        return "past"
    if _OVER.search(before):
        return "denied"
    return "past" if clause.history else "said"


def only_offered(spoken: Spoken, clause: Clause, start: int) -> bool:
    """Whether a value is only offered to be used, or told as the user's."""
    return _ONLY_OFFERED.search(spoken.low, clause.start, start) is not None


_SINCE = re.compile(
    r"\b(?:now|today|these days|nowadays|currently|meanwhile|since then|(?:the |a )?(?:correct|right|real|actual"
    r"|new) \w+|instead)\b"
)
_WAS = re.compile(r"\b(?:was|were|used to|had|(?:you|he|she|we|they) left|ago)\b")
_TELLS_OF_NOW = re.compile(
    r"\b(?:it|they|he|she|you|this|that|the \w+) (?:is|are|has|have|lives?|works?"
    r"|meets?)\b(?! (?:still )?(?:true|right|correct|so)\b)[^.;]{0,40}\bnow\b"
    r"|\bnow\b[^.;]{0,12}\b(?:it|they|he|she|the \w+) (?:is|are|has|have)\b|\b(?:is|are) now\b"
    r"|\b(?:it|they|he|she|that|you|things) (?:has|have|is|are) (?:since |now |already )?(?:been )?(?:sold|gone|removed"
    r"|moved|taken|cancell?ed|replaced|changed|deleted|lost|closed)\b"
)
"""Says what is so now, or that something is gone by now."""
_TO = re.compile(r"[^.;!?\n]{0,24}\b(?:to|into)\b ")
"""Behind what something was moved from."""


def superseded(spoken: Spoken, said: Sequence[tuple[int, int]]) -> bool:
    """Whether something is only told of what was, and what is now is told as well."""
    if all(_WAS.search(spoken.clause_at(place[0]).text) for place in said) and any(
        clause.start > said[-1][1] and clause.says and _TELLS_OF_NOW.search(clause.text) for clause in spoken.clauses
    ):
        return True
    if any(standing(spoken, *place) != "past" for place in said):
        return False
    last = spoken.clause_at(said[-1][0])
    if re.search(r"\buntil\b", spoken.low[said[-1][1] : last.end]):
        return True
    if not last.history and _TO.match(spoken.low, said[-1][1]):
        return True
    return any(
        clause.start > last.start and clause.says and not clause.hedges and _SINCE.search(clause.text)
        for clause in spoken.clauses
    )
