"""How a place in a message is meant: said as so, denied, taken back, only supposed, asked, doubted, promised or past.

Policy: a typed value or a wording counts where it is said as so. What was taken back or announced to be untrue is as
good as denied; what is only asked, supposed or doubted was not said at all.
"""

import re
from collections.abc import Sequence

from sandbox_grader.claims.clauses import Clause, Spoken, Standing

_BOUND = re.compile(
    r"(?:(?<!no )\b(?:more|less|\w{2,7}er) than|at least|at most|no more than"
    r"|(?:some ?time|any ?time|somewhere|long|well|shortly|right) (?:before|after|past|until)|upwards of"
    r"|(?:anything|anywhere|somewhere) (?:up to|from|under|below|around|near|close to)"
    r"|(?:day|weekend|week|month|morning|evening|night|\w{3,6}day) (?:before|after|following)(?: the)?"
    r"|(?<!bit )(?<!little )(?<!just )(?<!slightly )(?<!shade )(?<!tad )\b(?:over|under|below|above"
    r"|exceed\w*))(?: about| roughly)?\s{0,4}[$€£¥(]?\s{0,4}$"
)
_RATE_AFTER = re.compile(
    r"^\s*(?:[a-z]{1,20} )?(?:per|a piece|each|to (?:the|an?|1) (?=euro|pound|dollar|yen|franc)"
    r"|an? (?=euro|pound|dollar|yen|km|kilomet|mile))\b(?! cent)|^\s*(?:[a-z]{2,20})?/(?=[a-z])"
)
_RATE_BEFORE = re.compile(
    r"(?:\brate (?:of|is|was|being)(?: about| roughly)?|@|(?<!the )\b(?:1|one) [a-z ]{2,22}(?:=|is(?: worth| about)?"
    r"|equals|at|to|buys|gets you)(?: about)?)\s{0,4}[$€£¥]?\s{0,4}$"
)
_FROM_BEFORE = re.compile(r"\bfrom (?:(?!to\b|and\b|on\b)[a-z]+ ){0,2}[$€£¥]?\s{0,4}$")
_MOVED = re.compile(
    r"\b(?:moved|changed|postponed|rescheduled|shifted|pushed|switched|brought|went|rose|fell|dropped|increased"
    r"|decreased|climbed|swapped|updated|renamed|raised|lowered|corrected|grew|jumped|slid)\b"
)
_BETWEEN = re.compile(
    r"\b(?:between|anywhere from|somewhere from|ranging from"
    r"|range of)\b(?:(?!\b(?:is|are|was|were|comes?|makes?|equals?)\b)[^.;]){0,30}$"
)
_WAS_TO_BE = re.compile(
    r"\b(?:was|were) (?:\w+ly )?(?:(?:going|supposed|meant|planned|due|scheduled|expected|booked|set) )?(?:to (?:be"
    r"|take place|happen|meet|leave|arrive|start|depart)\b[^.;]{0,24}|(?:at|for|on)(?: the)? )$"
)
"""Before what was planned once, and is not so."""


_IS_WRONG = re.compile(
    r"(?: \w+)? (?:would be|is|are|was|were) (?:quite |completely |simply |just )?(?:wrong"
    r"|an? (?:typo|slip|mistake|error)|incorrect|false|untrue|mistaken)\b"
)
_LOOKED_FOR = re.compile(
    r"\b(?:(?:search|look|hunt|brows|scann|filter)\w*(?: \w+){0,3}? (?:for|mentioning|containing|matching)"
    r"|(?:you|i was|we were|was) (?:\w+ )?(?:asked?|wonder(?:ed)?|inquired?|enquired?)(?: me)? (?:about|after"
    r"|to (?:know|check|find|see|verify|confirm))"
    r"|(?:articles?|pages?|results?|entries|posts?) (?:that )?(?:mention|contain)\w*)(?: (?!(?:is|was|are|were"
    r"|g[ai]ves?|show\w*|found|says?|said|returned|which|that|it|has|had)\b)\w+){0,3}? [$€£¥]?$"
)
"""Before what was only looked for or asked about."""
_PUT_OFF = re.compile(r"\b(?:but|however|now|instead|changed|moved)\b")


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
    if (
        _IS_WRONG.match(spoken.low, end)
        or _NO_LONGER.match(spoken.low, end)
        or (_WAS_TO_BE.search(before) and _PUT_OFF.search(spoken.sentence(clause.sentence)))
    ):
        return "denied"
    if clause.hedges:
        return "doubted"
    bounded = _BOUND.search(before) or _ENDS_BEFORE.search(before) or _BETWEEN.search(before)
    if bounded or not_meant(spoken, clause, start) or _WOULD_BE_NICE.match(spoken.low, end):
        return "unsaid"
    if _RATE_AFTER.match(spoken.low[end : end + 30]) or _RATE_BEFORE.search(before):
        return "past"
    if _FROM_BEFORE.search(before) and _MOVED.search(spoken.sentence(clause.sentence)):
        return "past"
    if _OVER.search(before):
        return "denied"
    if clause.history or _ONCE.search(before):
        return "past"
    return "said"


_OVER = re.compile(r"\b(?:used to|formerly|once was|no longer)\b")
_ONCE = re.compile(r"\b(?:used to be|once|would have)\b")


def not_meant(spoken: Spoken, clause: Clause, start: int) -> bool:
    """Whether a value is only what was looked for, asked about, or offered to be used."""
    return bool(
        _LOOKED_FOR.search(spoken.low, clause.start, start) or _COULD_BE_USED.search(spoken.low, clause.start, start)
    )


_COULD_BE_USED = re.compile(
    r"\b(?:i|we) (?:could|can|might|would) (?:\w+ly |also |just )?(?:save|store|add|set|send|schedule|text|book|move"
    r"|change|try|use|put|note|offer|suggest|propose)\b|\byou (?:told me|said|gave me|mentioned|wrote) (?:that |it is "
    r"|it was |about )*[$€£¥]?$|\bhow about\b|\bwhat about\b"
)
"""Before a value that is only offered."""
_WOULD_BE_NICE = re.compile(
    r"(?: \w+)? would (?:be|have been) (?:\w+ )?(?:nice|great|good|lovely|perfect|ideal|better|wonderful|convenient"
    r"|cheap|short|fine)\b"
)


_NOT_BEFORE = re.compile(r"\b(?:before|until|till|earlier than) (?:about |the )?$")
"""What is not so before a time is so from then on."""


_NO_LONGER = re.compile(
    r"(?: \w+)? (?:used to be|is no longer|was (?:once|formerly)"
    r"|(?:is|has been) (?:disconnected|cut off|out of service))\b"
)
"""Behind what is not so any more."""
_ENDS_BEFORE = re.compile(
    r"\b(?:ends?|starts?|begins?|opens?|closes?|leaves?|departs?|arrives?|rises?|sets?|is|was|falls?|extended|runs?"
    r"|takes? place) (?:some ?time |well |shortly |just )?(?:before|after|beyond|past) (?:the )?$"
)
"""Before a time or a date by which something is only bounded."""


_SINCE = re.compile(
    r"\b(?:now|today|these days|nowadays|currently|meanwhile|at present|this (?:time|year|month|week|morning)"
    r"|since then|(?:the |a )?(?:correct|right|real|actual|new) \w+|instead)\b"
)
_WAS = re.compile(r"\b(?:was|were|used to|had|(?:you|he|she|we|they) left|ago)\b")
_IS_NOW = re.compile(
    r"\b(?:it|they|he|she|you|this|that|the \w+) (?:is|are|has|have|lives?|works?"
    r"|meets?)\b(?! (?:still )?(?:true|right|correct|so)\b)[^.;]{0,40}\bnow\b"
    r"|\bnow\b[^.;]{0,12}\b(?:it|they|he|she|the \w+) (?:is|are|has|have)\b|\b(?:is|are) now\b"
)
_GONE = re.compile(
    r"\b(?:it|they|he|she|that|you|things) (?:has|have|is|are) (?:since |now |already )?(?:been )?(?:sold|gone|removed"
    r"|moved|taken|cancell?ed|replaced|changed|deleted|lost|closed)\b"
)
_OF_NOW = re.compile(
    r"\b(?:now|today|tonight|this (?:\w+day|week|month|year|time|one|morning|evening)|current\w*|new|will|again|coming"
    r"|next|present|latest|yet)\b"
)
_NOT_KNOWN = re.compile(r"\b(?:i|we) (?:do not|did not|can not|could not|have not|have no|am not)\b")
_TO = re.compile(r"[^.;!?\n]{0,24}\b(?:to|into)\b ")
"""Behind what something was moved from."""


def _tells_of_now(text: str) -> bool:
    """Whether a clause says what is so now, or that this is not known."""
    if _OF_NOW.search(text) and _NOT_KNOWN.search(text):
        return True
    return _IS_NOW.search(text) is not None or _GONE.search(text) is not None


def superseded(spoken: Spoken, said: Sequence[tuple[int, int]]) -> bool:
    """Whether something is only told of what was, and what is now is told as well, or said not to be known."""
    if all(_WAS.search(spoken.clause_at(place[0]).text) for place in said) and any(
        clause.start > said[-1][1] and clause.says and _tells_of_now(clause.text) for clause in spoken.clauses
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
