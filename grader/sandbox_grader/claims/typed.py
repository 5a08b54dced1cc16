"""Whether a message states a fact that has a type: its value, in any wording, for the right thing, and no other.

Policy: a value that people would round may be rounded. Another value of the same type said of the same thing takes the
statement back, unless it says the same in another unit, was given by the user, or is found in what the session's tools
answered and so is about something else.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sandbox_scenarios.model import Fact

from sandbox_grader.claims.asserted import only_offered, standing, superseded
from sandbox_grader.claims.background import Background
from sandbox_grader.claims.clauses import Spoken, Standing
from sandbox_grader.claims.equality import READ_AS, SHARES, is_value_of
from sandbox_grader.claims.finding import Finding, contrary, missing, stated
from sandbox_grader.claims.former import is_former
from sandbox_grader.claims.normal import one_of
from sandbox_grader.claims.owners import is_of
from sandbox_grader.claims.rivals import Contest, on_condition
from sandbox_grader.claims.values import Mention
from sandbox_mcp.engine.talk.units import UNITS

_RIVALS: Mapping[str, tuple[str, ...]] = {
    "count": ("number", "duration"),
    "number": ("number", "money", "temperature", "percent", "quantity", "duration"),
}
"""Which kinds of mentions compete with a fact's value where it is not those of its own type alone."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A mention with how it is meant, whether it is a value of the fact, and whether of the fact's own thing."""

    mention: Mention
    how: Standing
    fits: bool
    mine: bool


def typed(spoken: Spoken, fact: Fact, others: Sequence[Fact], mentions: Sequence[Mention], back: Background) -> Finding:
    """Whether the message states the fact; ``others`` are the facts that it should state beside it."""
    if fact.type == "quantity" and UNITS.get(fact.unit.lower(), ("",))[0] == UNITS["lb"][0]:
        mentions = [_weighed(spoken, item) for item in mentions]
    seen = _seen(spoken, fact, others, mentions, back)
    said = (item.mention for item in seen if item.mine and item.how == "said")
    right = [item for item in said if not _repeats(spoken, item, fact, back)]
    contest = Contest(spoken, fact, others, right, mentions, back)
    wanted, unfit = _named(fact), [item for item in seen if not item.fits]
    rival = next(
        (item.mention for item in unfit if item.how in ("said", "doubted") and contest.has_rival(item.mention)), None
    )
    if rival is None and any(on_condition(spoken, item) for item in right):
        rival = next((item.mention for item in unfit if on_condition(spoken, item.mention)), None)
    if right:
        return _against(spoken, right, rival, wanted, back) or stated(f"says {wanted}")
    undone = _undone(spoken, seen, fact)
    if undone:
        return undone
    told_beside = any(item.how == "said" and not back.was_given(item.mention) for item in unfit)
    if rival is None and not told_beside and any(_still_holds(spoken, item, back) for item in seen):
        return stated(f"says {wanted}")
    if rival:
        shown = spoken.text[rival.start : rival.end].strip()
        return contrary(f"says {shown!r}, expected {wanted}", shown)
    if any(item.mine and item.how == "doubted" for item in seen):
        return missing(f"only guesses at {wanted}")
    return missing(f"does not say {wanted}")


def _seen(
    spoken: Spoken, fact: Fact, others: Sequence[Fact], mentions: Sequence[Mention], back: Background
) -> Sequence[Seen]:
    """The mentions that may be the fact's value, or one in its place, each with how it is meant."""
    found = _UNKNOWN[fact.type].finditer(spoken.low) if fact.type in _UNKNOWN else ()
    places = (item.start() for item in found)
    # until it says that it does not know the answer, a message's figures are not its own
    disclaimed = max((place for place in places if not spoken.clause_at(place).history), default=0)
    return [
        Seen(
            item,
            "withdrawn" if item.start < disclaimed else _standing(spoken, item, mentions, back, fact, others),
            fits,
            fits and is_of(spoken, item, fact, others, mentions, back),
        )
        for item in mentions
        if (fits := item.kind in READ_AS[fact.type] and is_value_of(item, fact, spoken))
        or item.kind in _RIVALS.get(fact.type, (fact.type,))
        or (item.kind == "number" and fact.type in SHARES and _bare_answer(spoken, item))
    ]


def _undone(spoken: Spoken, seen: Sequence[Seen], fact: Fact) -> Finding | None:
    """What a message says against the fact's own value: that it is of something else, not so, or not so any more."""
    for item in seen:
        shown = spoken.text[item.mention.start : item.mention.end].strip()
        if item.fits and not item.mine and item.how == "said":
            owner = fact.about[0] if fact.about else f"the {fact.attribute or fact.type}"
            return contrary(f"says {shown!r} of something else than {owner}", shown)
        if item.mine and item.how == "denied":
            return contrary(f"denies {_named(fact)}", shown)
        if item.mine and item.how == "withdrawn":
            return contrary(f"takes {_named(fact)} back", shown)
    return None


def _still_holds(spoken: Spoken, item: Seen, back: Background) -> bool:
    """Whether a value of the fact that is told of the past is the one that was asked for, or nothing came after it."""
    if not item.mine or item.how != "past" or _of_last_time(spoken, item.mention, back):
        return False
    return back.asks_of_the_past or not superseded(spoken, [(item.mention.start, item.mention.end)])


def _against(
    spoken: Spoken, right: Sequence[Mention], rival: Mention | None, wanted: str, back: Background
) -> Finding | None:
    """What takes a value back that was said: a number or a value offered beside it, or what is so by now."""
    other = _other_number(spoken, right)
    if other:
        return contrary(f"says {wanted} or {other!r}", other)
    if rival:
        text = spoken.text[rival.start : rival.end].strip()
        return contrary(f"says {wanted} and also {text!r}", text)
    if not back.asks_of_the_past and superseded(spoken, [(item.start, item.end) for item in right]):
        return contrary(f"says that {wanted} is not so any more")
    return None


def _weighed(spoken: Spoken, item: Mention) -> Mention:
    """Pounds as a weight, which are read as money elsewhere."""
    if item.kind != "money" or not _POUNDS.search(spoken.low, item.start, item.end):
        return item
    dimension, factor = UNITS["lb"]
    return replace(
        item, kind="quantity", value=item.number * factor, unit=dimension, step=item.step * factor, factor=factor
    )


_POUNDS = re.compile(r"\d pounds?$")


def _bare_answer(spoken: Spoken, item: Mention) -> bool:
    """Whether a number without its unit ends a clause as an answer does: ``the map says 11``."""
    return not item.unit and bool(_TOLD_AS.search(spoken.lead(item.start)) and _AT_ITS_END.match(spoken.low, item.end))


_TOLD_AS = re.compile(r"\b(?:is|says|shows|gives|reads|claims|but) (?:about |only |just |actually |more like )?$")
_AT_ITS_END = re.compile(r"\s*(?:[.;!?\n)](?!\d)|$)")
_OTHER_BEFORE = re.compile(r"(?<![\d.])(\d{1,9}(?:\.\d{1,4})?)(?:st|nd|rd|th)? or (?:on |about |the ){0,2}[$€£¥]?$")
_OTHER_DAY_AFTER = re.compile(r" or (?:the )?(\d{1,2})(?:st|nd|rd|th)?\b(?! ?(?:am|pm|:|o'clock|days?|hours?|people))")


def _other_number(spoken: Spoken, right: Sequence[Mention]) -> str | None:
    """A number without its unit or month that is offered beside a value: ``on 9 or 10 April``, ``20 or 25 minutes``."""
    for item in right:
        before = _OTHER_BEFORE.search(spoken.low[max(0, item.start - 20) : item.start])
        after = _OTHER_DAY_AFTER.match(spoken.low, item.end) if isinstance(item.value, tuple) else None
        own = re.findall(r"\d+(?:\.\d+)?", spoken.low[item.start : item.end])
        for found in (before, after):
            if found and found[1] not in own:
                return found[1]
    return None


def _repeats(spoken: Spoken, item: Mention, fact: Fact, back: Background) -> bool:
    """Whether a measure is only what the user says, word for word, where nothing was done and no tool told it."""
    if fact.type not in SHARES or back.touched or (item.kind, item.value) in back.known_values:
        return False
    words = re.escape(spoken.low[item.start : item.end].strip())
    return any(re.search(rf"(?<!\w){words}(?!\w)", said.lower()) for said in back.given)


_NOTHING = "(?!)"
_ASKED = {
    "quantity": (
        "distance|length|height|weight|size|speed|amount|far|long|high|heavy|fast|wide|deep",
        "how (?:far|heavy|fast|tall|high|deep)",
    ),
    "temperature": ("temperatures?|cold|warm|hot|degrees|weather", "how (?:warm|cold|hot)"),
    "money": (
        "amount|sum|rate|price|cost|value|total|conversion|result|much",
        r"how much|what (?:\w+ ){1,3}(?:costs?|is|are)",
    ),
    "count": (r"number|count|total|many(?: \w+)?", _NOTHING),
    "duration": ("duration|time|long", "how long"),
    "time": (_NOTHING, "when|what time"),
    "date": (_NOTHING, "when|what (?:day|date)"),
    "weekday": (_NOTHING, "when|what day"),
}
"""What is asked for by a fact's type: its name, and the question."""
_UNKNOWN = {
    kind: re.compile(
        r"\bi (?:do not|can not|could not|(?:am|was) (?:unable|not able) to|have not been able to) (?:\w+ly )?(?:know"
        r"|tell|say|give|determine|find|work out|measure|calculate|look up|see|get)(?: you| us| out)? (?:the|that|this"
        rf"|your|how|what the) (?:exact |actual |real |right |correct |current |precise )?(?:{nouns})(?: (?:from|to|of"
        r"|for|between|in) [^.;!,\n]{1,60})?\s*(?=[.;!\n]|$|, (?:sorry|unfortunately|i am afraid))"
        rf"|\b(?:{words})\b(?! i\b| we\b)[^.;!?\n]{{1,40}}? (?:i|we) (?:do not|can not|could not|did not"
        r"|was not able to) (?:know|say|tell|find|see|get|look)\b|\b(?:(?:i|we) (?:do not|can not|could not) (?:know"
        rf"|say|tell(?: you)?|find out|see)|who knows) (?:{words})\b(?! i\b)"
    )
    for kind, (nouns, words) in _ASKED.items()
}
"""Says that the very thing that was asked is not known, which leaves a figure before it to another claim."""
_NOT_OF_IT = re.compile(r"^(?: \w+){0,5}? (?:is|are|was|were|do|does|did|has|have) not\b(?! (?:only|just|far|long))")


def _standing(
    spoken: Spoken, item: Mention, mentions: Sequence[Mention], back: Background, fact: Fact, others: Sequence[Fact]
) -> Standing:
    """How a value is meant; one that something is denied of ("3 are not there") was not said, unless asked for."""
    how = standing(spoken, item.start, item.end)
    both = not fact.about and any(other.type == fact.type for other in others)
    ends = [pattern for end, pattern in _ENDS.items() if both or end == fact.attribute] if how == "unsaid" else ()
    before = spoken.low[max(0, item.start - 40) : item.start]
    if any(end.search(before) for end in ends):
        return "said"
    if how == "unsaid" and any(back.given_words & asked and bound.search(before) for asked, bound in _BOUNDS):
        clause = spoken.clause_at(item.start)
        return "unsaid" if clause.asks or clause.supposes else "said"
    if how == "unsaid" and item.kind == "phone":
        clause = spoken.clause_at(item.start)
        return "unsaid" if clause.asks or clause.supposes or only_offered(spoken, clause, item.start) else "said"
    if how != "said":
        return how
    if is_former(spoken, item, mentions, others, back):
        return "past"
    if _AGO.match(spoken.low, item.end) and back.given_words and not back.asks_of_the_past:
        return "unsaid"
    if not back.deeds & _CHANGING and _OFF.match(spoken.low, item.end):
        return "denied"
    clause = spoken.clause_at(item.start)
    lead = spoken.lead(item.start)
    if _TYPICALLY.search(clause.text) and _NOTHING_NOW.search(spoken.low):
        return "unsaid"
    if item.kind == "time" and _TIME_NOW.match(spoken.low, item.end) and _IT_IS.fullmatch(lead):
        return "said" if back.given_words & _ASKS_TIME else "unsaid"
    opens = not re.search(r"\w", lead)
    asked = back.given_words & _NEGATIVE
    return "denied" if opens and not asked and _NOT_OF_IT.match(spoken.low[item.end : clause.end]) else how


_TYPICALLY = re.compile(r"\b(?:tends? to|typical(?:ly)?|usually|normally|on average|as a rule|in general|generally)\b")
"""What is so as a rule, which a speaker who found nothing only falls back upon."""
_IT_IS = re.compile(r"\W*(?:and |but |so )?(?:it|the time) is ")
_TIME_NOW = re.compile(r" (?:right )?now\b")
_ASKS_TIME = one_of("time clock now hour late")
_DEGREES = r"-?\d+(?:\.\d+)? ?(?:°|degrees)? ?(?:c|f|celsius|fahrenheit)?"
_ENDS = {
    "low": re.compile(r"\b(?:between|from) -?$"),
    "high": re.compile(rf"\b(?:between|from) {_DEGREES} ?(?:and|to) -?$"),
}
"""Before the ends of a range, which are its low and its high, or the two values that are asked for."""
_BOUNDS = (
    (one_of("least minimum min lowest smallest"), re.compile(r"\bat least (?:about )?[$€£¥]?\s{0,2}$")),
    (one_of("most maximum max highest largest limit"), re.compile(r"\bat most (?:about )?[$€£¥]?\s{0,2}$")),
)
"""Words of a user who asks for a bound, and what stands before it: ``you have to bid at least 120 francs``."""
_NOTHING_NOW = re.compile(
    r"\b(?:i|we) (?:\w+ )?(?:do not|did not|could not|can not|have not|was not|am not|found nothing|have nothing"
    r"|got nothing|have no|found no|got no)\b|\bnothing (?:for|about|on)\b"
    r"|\bno (?:data|figure|forecast|entry|value) (?:for|on)\b"
)


def _of_last_time(spoken: Spoken, item: Mention, back: Background) -> bool:
    """Whether a value was that of another time than the one asked about, of which nothing is told."""
    clause = spoken.clause_at(item.start)
    if any(part.history for part in spoken.parts(clause.sentence)) and not back.asks_of_the_past:
        return True
    return any(other.start > clause.start and _NOTHING_NOW.search(other.text) for other in spoken.clauses)


_CHANGING = one_of("remove stop change timer")
_OFF = re.compile(
    r"(?: \w+){0,2}? (?:has been|have been|was|is|were|are|got) (?:\w+ )?(?:cancell?ed|called off|scrapped|dropped"
    r"|postponed|moved|rescheduled|sold out|fully booked|taken)\b"
)
"""Behind the time of what does not take place then."""
_AGO = re.compile(r" (?:ago|earlier|in the past)\b")
_NEGATIVE = one_of("not no none without never nobody nothing yet still left isn aren wasn haven hasn don doesn didn")
"""Words of a user, without what an apostrophe cuts off, who asks for what is not so."""


def _named(fact: Fact) -> str:
    """The fact in words, for explanations."""
    values = " or ".join(_written(fact, value) for value in fact.value[:3])
    of = f" for {fact.about[0]}" if fact.about else ""
    return f"the {fact.attribute + ' ' if fact.attribute else ''}{fact.type} {values}{of}"


def _written(fact: Fact, value: Any) -> str:
    if fact.type == "duration" and isinstance(value, int | float):
        days, rest = divmod(int(value), 86400)
        parts = [(days, "d"), (rest // 3600, "h"), (rest % 3600 // 60, "min"), (rest % 60, "s")]
        return " ".join(f"{number} {unit}" for number, unit in parts if number) or "0 s"
    number = f"{value:g}" if isinstance(value, float) and abs(value) < 1e6 else str(value)
    return f"{number} {fact.unit}".strip()
