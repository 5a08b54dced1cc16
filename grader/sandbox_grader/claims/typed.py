"""Whether a message states a fact that has a type: its value, in any wording, for the right thing, and no other.

Policy: a value that people would round may be rounded. Another value of the same type said of the same thing takes the
statement back, unless it says the same in another unit, was given by the user, or is found in what the session's tools
answered and so is about something else.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sandbox_scenarios.model import Fact
from sandbox_scenarios.units import UNITS

from sandbox_grader.claims.asserted import Standing, not_meant, standing, superseded
from sandbox_grader.claims.background import Background
from sandbox_grader.claims.clauses import Spoken
from sandbox_grader.claims.equality import READ_AS, SHARES, is_value_of
from sandbox_grader.claims.finding import Finding, contrary, missing, stated
from sandbox_grader.claims.normal import table
from sandbox_grader.claims.owners import is_of
from sandbox_grader.claims.rivals import Seen, competes, on_conditions, was_given
from sandbox_grader.claims.values import Mention

RIVALS: dict[str, tuple[str, ...]] = {
    "time": ("time",),
    "date": ("date",),
    "weekday": ("weekday",),
    "duration": ("duration",),
    "count": ("number", "duration"),
    "money": ("money",),
    "temperature": ("temperature",),
    "quantity": ("quantity",),
    "phone": ("phone",),
    "number": ("number", "money", "temperature", "percent", "quantity", "duration"),
    "percent": ("percent",),
}
"""Which kinds of mentions compete with it."""


def typed(spoken: Spoken, fact: Fact, others: Sequence[Fact], mentions: Sequence[Mention], back: Background) -> Finding:
    """Whether the message states the fact; ``others`` are the facts that it should state beside it."""
    disclaimed = _disclaimed(spoken, fact)
    if fact.type == "quantity" and UNITS.get(fact.unit.lower(), ("",))[0] == UNITS["lb"][0]:
        mentions = [_weighed(spoken, item) for item in mentions]
    seen = [
        Seen(
            item,
            "withdrawn" if item.start < disclaimed else _standing(spoken, item, back, fact, others),
            fits,
            fits and is_of(spoken, item, fact, others, mentions, back),
        )
        for item in mentions
        if (fits := item.kind in READ_AS[fact.type] and is_value_of(item, fact, spoken))
        or item.kind in RIVALS[fact.type]
        or (item.kind == "number" and fact.type in SHARES and _bare_answer(spoken, item))
    ]
    right = [
        item for item in seen if item.mine and item.how == "said" and not _repeats(spoken, item.mention, fact, back)
    ]
    wanted = _named(fact)
    rivals = [
        item
        for item in seen
        if not item.fits
        and item.how in ("said", "doubted")
        and competes(spoken, item.mention, fact, others, right, mentions, back)
    ]
    if right:
        return _against(spoken, right, seen, rivals, wanted, back) or stated(f"says {wanted}")
    for item in seen:
        shown = spoken.text[item.mention.start : item.mention.end].strip()
        if item.fits and not item.mine and item.how == "said":
            return contrary(f"says {shown!r} of something else than {_owner(fact)}", shown)
        if item.mine and item.how == "denied":
            return contrary(f"denies {wanted}", shown)
        if item.mine and item.how == "withdrawn":
            return contrary(f"takes {wanted} back", shown)
    if (
        any(
            item.mine
            and item.how == "past"
            and not _of_last_time(spoken, item.mention, back)
            and (back.asks_of_the_past or not superseded(spoken, [(item.mention.start, item.mention.end)]))
            for item in seen
        )
        and not rivals
        and not any(item.how == "said" and not item.fits and not was_given(item.mention, back) for item in seen)
    ):
        return stated(f"says {wanted}")
    for rival in rivals:
        shown = spoken.text[rival.mention.start : rival.mention.end].strip()
        return contrary(f"says {shown!r}, expected {wanted}", shown)
    if any(item.mine and item.how == "doubted" for item in seen):
        return missing(f"only guesses at {wanted}")
    return missing(f"does not say {wanted}")


def _against(
    spoken: Spoken, right: Sequence[Seen], seen: Sequence[Seen], rivals: Sequence[Seen], wanted: str, back: Background
) -> Finding | None:
    """What takes a value back that was said: a number or a value offered beside it, or what is so by now."""
    other = _other_number(spoken, right)
    if other:
        return contrary(f"says {wanted} or {other!r}", other)
    if any(_ONLY_A_PART.match(spoken.low, item.mention.end) for item in right):
        return contrary(f"says {wanted} only as a part of another sum")
    conditional = (
        item
        for item in seen
        if not item.fits and any(on_conditions(spoken, item.mention, known.mention) for known in right)
    )
    for rival in (*rivals, *conditional):
        text = spoken.text[rival.mention.start : rival.mention.end].strip()
        return contrary(f"says {wanted} and also {text!r}", text)
    if not back.asks_of_the_past and superseded(spoken, [(item.mention.start, item.mention.end) for item in right]):
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


_ONLY_A_PART = re.compile(
    r"[^.;:!?\n\d]{0,40}\b(?:and|plus|then) (?:another|a further|an (?:extra|additional)) \d"
    r"|,? (?:minus|less|plus) [^.;:!?\n]{1,40}, (?:so|leaving|making|which (?:is|makes|leaves)) "
)
"""Behind a value from which another is reckoned: ``563 francs, minus a fee of 20, so 543``."""
_POUNDS = re.compile(r"\d pounds?$")
_TOLD_AS = re.compile(r"\b(?:is|says|shows|gives|reads|claims|but) (?:about |only |just |actually |more like )?$")
_AT_ITS_END = re.compile(r"\s*(?:[.;!?\n)](?!\d)|$)")


def _bare_answer(spoken: Spoken, item: Mention) -> bool:
    """Whether a number without its unit ends a clause as an answer does: ``the map says 11``."""
    lead = spoken.low[spoken.clause_at(item.start).start : item.start]
    return not item.unit and bool(_TOLD_AS.search(lead)) and bool(_AT_ITS_END.match(spoken.low, item.end))


_OTHER_BEFORE = re.compile(r"(?<![\d.])(\d{1,9}(?:\.\d{1,4})?)(?:st|nd|rd|th)? or (?:on |about |the ){0,2}[$€£¥]?$")
_OTHER_DAY_AFTER = re.compile(r" or (?:the )?(\d{1,2})(?:st|nd|rd|th)?\b(?! ?(?:am|pm|:|o'clock|days?|hours?|people))")


def _other_number(spoken: Spoken, right: Sequence[Seen]) -> str | None:
    """A number without its unit or month that is offered beside a value: ``on 9 or 10 April``, ``20 or 25 minutes``."""
    for seen in right:
        before = _OTHER_BEFORE.search(spoken.low[max(0, seen.mention.start - 20) : seen.mention.start])
        dated = isinstance(seen.mention.value, tuple)
        after = _OTHER_DAY_AFTER.match(spoken.low, seen.mention.end) if dated else None
        own = re.findall(r"\d+(?:\.\d+)?", spoken.low[seen.mention.start : seen.mention.end])
        for found in (before, after):
            if found and found[1] not in own:
                return found[1]
    return None


def _repeats(spoken: Spoken, item: Mention, fact: Fact, back: Background) -> bool:
    """Whether a measure is only what the user says, word for word, where nothing was done and no tool told it."""
    if fact.type not in SHARES or back.touched or (item.kind, item.value) in back.known_values:
        return False
    words = spoken.low[item.start : item.end].strip()
    return any(_occur_in(words, said) for said in back.given)


def _occur_in(words: str, said: str) -> bool:
    """Whether some words occur in what was said, as words."""
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", said.lower()) is not None


_ABOUT_WHAT = {
    "quantity": "distance|length|height|weight|size|speed|amount|far|long|high|heavy|fast|wide|deep",
    "temperature": "temperatures?|cold|warm|hot|degrees|weather",
    "money": "amount|sum|rate|price|cost|value|total|conversion|result|much",
    "count": r"number|count|total|many(?: \w+)?",
    "duration": "duration|time|long",
}
_IGNORANT = {
    kind: re.compile(
        r"\bi (?:do not|can not|could not|(?:am|was) (?:unable|not able) to"
        r"|have not been able to) (?:\w+ly )?(?:know|tell|say|give|determine|find|work out|measure|calculate"
        r"|look up|see|get)(?: you| us| out)?"
        rf" (?:the|that|this|your|how|what the) (?:exact |actual |real |right |correct |current |precise )?(?:{nouns})"
        rf"(?: (?:from|to|of|for|between|in) [^.;!,\n]{{1,60}})?\s*(?=[.;!\n]|$|, (?:sorry|unfortunately|i am afraid))"
    )
    for kind, nouns in _ABOUT_WHAT.items()
}
"""Says that the very thing that was asked is not known, which leaves a figure before it to another claim."""


_QUESTIONS = {
    "quantity": "how (?:far|heavy|fast|tall|high|deep)",
    "temperature": "how (?:warm|cold|hot)",
    "money": r"how much|what (?:\w+ ){1,3}(?:costs?|is|are)",
    "duration": "how long",
    "time": "when|what time",
    "date": "when|what (?:day|date)",
    "weekday": "when|what day",
}
_UNKNOWN = {
    kind: re.compile(
        rf"\b(?:{words})\b(?! i\b| we\b)[^.;!?\n]{{1,40}}? (?:i|we) (?:do not|can not|could not|did not"
        rf"|was not able to)"
        r" (?:know|say|tell|find|see|get|look)\b"
        rf"|\b(?:(?:i|we) (?:do not|can not|could not) (?:know|say|tell(?: you)?|find out|see)"
        rf"|who knows) (?:{words})\b(?! i\b)"
    )
    for kind, words in _QUESTIONS.items()
}
"""Says of the very question that was asked that its answer is not known."""


def _disclaimed(spoken: Spoken, fact: Fact) -> int:
    """Up to where a message's figures are not its own, because it says then that it does not know the answer."""
    patterns = [table[fact.type] for table in (_IGNORANT, _UNKNOWN) if fact.type in table]
    places = [found.start() for pattern in patterns for found in pattern.finditer(spoken.low)]
    return max((place for place in places if not spoken.clause_at(place).history), default=0)


_NOT_OF_IT = re.compile(r"^(?: \w+){0,5}? (?:is|are|was|were|do|does|did|has|have) not\b(?! (?:only|just|far|long))")


def _standing(spoken: Spoken, item: Mention, back: Background, fact: Fact, others: Sequence[Fact]) -> Standing:
    """How a value is meant; one that something is denied of ("3 are not there") was not said, unless asked for."""
    how = standing(spoken, item.start, item.end)
    if how == "unsaid" and fact.attribute in _ENDS and _ENDS[fact.attribute].search(spoken.low[: item.start][-40:]):
        return "said"
    if (
        how == "unsaid"
        and not fact.about
        and any(other.type == fact.type for other in others)
        and _AN_END.search(spoken.low[: item.start][-40:])
    ):
        return "said"
    if how == "unsaid" and item.kind == "phone":
        clause = spoken.clause_at(item.start)
        return "unsaid" if clause.asks or clause.supposes or not_meant(spoken, clause, item.start) else "said"
    if how != "said":
        return how
    if _AGO.match(spoken.low, item.end) and back.given_words and not back.asks_of_the_past:
        return "unsaid"
    if not back.deeds & _CHANGING and _OFF.match(spoken.low, item.end):
        return "denied"
    clause = spoken.clause_at(item.start)
    lead = spoken.low[clause.start : item.start]
    if _TYPICALLY.search(clause.text) and _NOTHING_NOW.search(spoken.low):
        return "unsaid"
    if item.kind == "time" and _TIME_NOW.match(spoken.low, item.end) and _IT_IS.fullmatch(lead):
        return "said" if back.given_words & _ASKS_TIME or _CHANGED.search(spoken.low) else "unsaid"
    opens = not re.search(r"\w", lead)
    asked = back.given_words & _NEGATIVE
    return "denied" if opens and not asked and _NOT_OF_IT.match(spoken.low[item.end : clause.end]) else how


_TYPICALLY = re.compile(r"\b(?:tends? to|typical(?:ly)?|usually|normally|on average|as a rule|in general|generally)\b")
"""What is so as a rule, which a speaker who found nothing only falls back upon."""
_IT_IS = re.compile(r"\W*(?:and |but |so )?(?:it|the time) is ")
_CHANGED = re.compile(r"\b(?:was|were|used to|instead|moved|changed)\b")
_TIME_NOW = re.compile(r" (?:right )?now\b")
_ASKS_TIME = frozenset({"time", "clock", "now", "hour", "late"})
_ENDS = {
    "low": re.compile(r"\b(?:between|from) -?$"),
    "high": re.compile(
        r"\b(?:between|from) -?\d+(?:\.\d+)? ?(?:°|degrees)? ?(?:c|f|celsius|fahrenheit)? ?(?:and|to) -?$"
    ),
}
"""The ends of a range are its low and its high."""
_AN_END = re.compile(
    r"\b(?:between|from) (?:-?\d+(?:\.\d+)? ?(?:°|degrees)? ?(?:c|f|celsius|fahrenheit)? ?(?:and|to) )?-?$"
)
"""An end of a range, where both ends are asked for."""
_LAST_TIME = re.compile(
    r"\b(?:(?<!since )(?<!than )yesterday|(?<!since )(?<!than )last (?:night|week|month|year|time|summer|winter"
    r"|spring|autumn|\w+day)|back in the (?:day|old days)|once upon a time|formerly|until (?:last|recently)"
    r"|the (?:day|week|month) before|ago)\b"
)
_NOTHING_NOW = re.compile(
    r"\b(?:i|we) (?:\w+ )?(?:do not|did not|could not|can not|have not|was not|am not|found nothing|have nothing"
    r"|got nothing"
    r"|could not|have no|found no|got no)\b|\bnothing (?:for|about|on)\b|\bno (?:data|figure|forecast|entry"
    r"|value) (?:for|on)\b"
)


def _of_last_time(spoken: Spoken, item: Mention, back: Background) -> bool:
    """Whether a value was that of another time than the one asked about, of which nothing is told."""
    clause = spoken.clause_at(item.start)
    if _LAST_TIME.search(spoken.sentence(clause.sentence)) and not back.asks_of_the_past:
        return True
    return any(
        other.start > clause.start and (_NOTHING_NOW.search(other.text) or _TODAY.search(other.text))
        for other in spoken.clauses
    )


_TODAY = re.compile(r"\b(?:today|now|currently)\b.{0,24}\d")


_CHANGING = frozenset({"remove", "stop", "change", "timer"})
_OFF = re.compile(
    r"(?: \w+){0,2}? (?:has been|have been|was|is|were|are|got) (?:\w+ )?(?:cancell?ed|called off|scrapped|dropped"
    r"|postponed|moved|rescheduled|sold out|fully booked|taken)\b"
)
"""Behind the time of what does not take place then."""
_AGO = re.compile(r" (?:ago|earlier|in the past)\b")
_NEGATIVE = frozenset(
    table("not no none without never nobody nothing isn't aren't haven't hasn't don't doesn't yet still left")
)


def _named(fact: Fact) -> str:
    """The fact in words, for explanations."""
    values = " or ".join(_written(fact, value) for value in fact.value[:3])
    of = f" for {fact.about[0]}" if fact.about else ""
    return f"the {fact.attribute + ' ' if fact.attribute else ''}{fact.type} {values}{of}"


def _owner(fact: Fact) -> str:
    return fact.about[0] if fact.about else f"the {fact.attribute or fact.type}"


def _written(fact: Fact, value: Any) -> str:
    if fact.type == "duration" and isinstance(value, int | float):
        days, rest = divmod(int(value), 86400)
        parts = [(days, "d"), (rest // 3600, "h"), (rest % 3600 // 60, "min"), (rest % 60, "s")]
        return " ".join(f"{number} {unit}" for number, unit in parts if number) or "0 s"
    number = f"{value:g}" if isinstance(value, float) and abs(value) < 1e6 else str(value)
    return f"{number} {fact.unit}".strip()
