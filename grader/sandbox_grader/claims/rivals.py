"""Which values beside the right one take it back: offered instead of it, correcting it, or told of the same thing.

Policy: a value that says the same in another unit, is a step of the sum, was given by the user or is found in what the
session's tools answered is about something else and costs nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sandbox_scenarios.model import Fact
from sandbox_scenarios.units import UNITS

from sandbox_grader.claims.asserted import Standing
from sandbox_grader.claims.background import Background
from sandbox_grader.claims.clauses import Clause, Spoken
from sandbox_grader.claims.equality import ANY_NOUN, APPROXIMATELY, READ_AS, currency_fits, is_value_of, number_in
from sandbox_grader.claims.normal import table
from sandbox_grader.claims.owners import COMPARED, attribute_of, nearer, owner_of, words_near
from sandbox_grader.claims.values import Mention

_LOOSE = re.compile(
    r"^\W*(?:(?:and|or|but|so|no|not|actually|well|wait|sorry|rather|in fact|make that|instead|then again|"
    r"hmm|maybe|also|yes|ok|okay|oh|i mean|correction)\W+){0,4}"
    r"(?:(?:it|that|this|they|there|he|she|the (?:answer|result|distance|total|amount|price|temperature|time|"
    r"number|date|day|high|low|value|rate|figure|name|correct \w+|right \w+|real \w+|actual \w+)|i (?:also "
    r")?(?:got|get|found|find|make it|have|read|see|calculated|measured))\b\W*"
    r"(?:will be|is|are|was|were|comes? to|came to|would be|'s|equals?|has been|make[s]?)?\W*)?(?:at |on |in "
    r"|about |around |roughly |by |for |=|exactly |just |really |actually |now |to |closer to |more like "
    r"){0,3}\W*$"
)
_OR = re.compile(r"\bor\b|/|\balternatively\b|\bversus\b|\bvs\b|\bthen again\b")


@dataclass(frozen=True, slots=True)
class Seen:
    """A mention with how it is meant, whether it is a value of the fact, and whether of the fact's own thing."""

    mention: Mention
    how: Standing
    fits: bool
    mine: bool


def was_given(item: Mention, back: Background) -> bool:
    """Whether the user named a value."""
    return any(other.kind == item.kind and other.value == item.value for other in back.given_values) or (
        item.kind == "number" and any(other.value == item.value for other in back.given_values)
    )


def competes(
    spoken: Spoken,
    item: Mention,
    fact: Fact,
    others: Sequence[Fact],
    right: Sequence[Seen],
    mentions: Sequence[Mention],
    back: Background,
) -> bool:
    """Whether a value of the same kind is said of the same thing."""
    if any(is_value_of(item, other, spoken) for other in others if item.kind in READ_AS.get(other.type, ())):
        return False
    if (
        was_given(item, back)
        or any(part.match(spoken.low, item.end) for part in (_OF_THEM, COMPARED))
        or spoken.low[: item.start].rstrip().endswith("(")
    ):
        return False
    if (
        _offered_instead(spoken, item, right)
        or _corrects(spoken, item, right)
        or _OTHER_SOURCE.search(spoken.low[spoken.clause_at(item.start).start : item.start])
        or _restates(spoken, item, fact, right)
        or _moved_on_to(spoken, item, right)
    ):
        return True
    lead = spoken.low[spoken.clause_at(item.start).start : item.start]
    if any(
        _ONWARD.fullmatch(spoken.low, item.end, seen.mention.start) for seen in right if seen.mention.start >= item.end
    ):
        return False
    if _reckoned_with(spoken, item, fact, right, mentions) or _ADVICE.match(lead) or _sums_up(spoken, item, mentions):
        return False
    if (
        _roughly(spoken, item, right)
        or back.knows(item)
        or _says_otherwise(item, fact, right)
        or _of_its_own(spoken, item, fact, right)
    ):
        return False
    owners = {name: owner for owner in (fact, *others) for name in owner.about}
    if owners and fact.about:
        found = owner_of(spoken, item, owners, mentions)
        return found is None or found.about == fact.about
    clause = spoken.clause_at(item.start)
    lead = spoken.low[clause.start : item.start]
    if _PRONOUN.match(lead) or _LOOSE.match(lead) or not right:
        return True
    here, home = _content(clause, spoken), spoken.clause_at(right[-1].mention.start)
    return not here or bool(here & _content(home, spoken))


_OF_THEM = re.compile(r"(?: \w+)? of (?:them|these|those|which|whom)\b")
"""Behind the number of a part."""
_PRONOUN = re.compile(r"\W*(?:and |but |so |then |now |by now |today ){0,3}(?:it|that|this|he|she)\b")


def _roughly(spoken: Spoken, item: Mention, right: Sequence[Seen]) -> bool:
    """Whether a value says the right one again, only less exactly: ``about three and a half, 3.4 to be exact``."""
    about = APPROXIMATELY.search(spoken.low[max(0, item.start - 24) : item.start])
    return bool(about) and any(
        abs(one - two) <= 0.05 * abs(one)
        for seen in right
        for one, two in (
            (item.number, seen.mention.number),
            (item.number / item.factor, seen.mention.number / seen.mention.factor),  # "three miles: 3.1"
        )
    )


_ON_CONDITION = re.compile(r"(?: \w+){0,2},? (?:if|in case|provided|assuming|supposing)\b")


def on_conditions(spoken: Spoken, *items: Mention) -> bool:
    """Whether each value holds under a condition of its own: ``8 km if you mean the one, 12 km if the other``."""
    return all(_ON_CONDITION.match(spoken.low, item.end) for item in items)


def _offered_instead(spoken: Spoken, item: Mention, right: Sequence[Seen]) -> bool:
    """Whether ``A or B`` offers the value beside the right one."""
    number = spoken.clause_at(item.start).sentence
    for seen in right:
        other_kind = seen.mention.kind != item.kind and "number" not in (seen.mention.kind, item.kind)
        if other_kind or spoken.clause_at(seen.mention.start).sentence != number:
            continue
        coarse = item.kind == "duration" and item.unit in ("week", "month", "year")
        if coarse and 0 < abs(item.number - seen.mention.number) < item.step / 2:
            continue  # the same in weeks
        first, second = sorted((seen.mention, item), key=lambda place: place.start)
        between = spoken.low[first.end : second.start]
        if _OR.search(between) and len(between) < 40 and not re.search(r"\d", between):
            return True
    return False


_ADVICE = re.compile(
    r"\W*(?:so |then |please |and |but |just |better |best |do |you (?:should|had better|may want to|might want to"
    r"|could|can) |i would ){0,3}(?:be (?:there|here|ready|at|back)|arrive|leave|come|show up|set off|head"
    r"|get (?:there|up|going|to)|plan|aim|allow|add)\b"
)
"""Advice on what to do about a value says no other value of it."""
_OTHER_SOURCE = re.compile(
    r"\b(?:other|another|second|third|different|alternative|competing) (?:\w+ )?(?:source|query|site|website"
    r"|search|tool|attempt|look-?up|map|service|result|reading|page|app|calculator|converter|calendar|method|"
    r"measurement|try|run|check|one)s?\b(?: \w+){0,3}? (?:gives?|gave|says?|said|shows?|showed|claims?|claimed|has"
    r"|had|puts?|reports?|reported|tells?|told|suggests?|suggested|returns?|returned|comes?|came|yields?|"
    r"yielded|makes?|made|reads?|gets?|got)\b[^.;]{0,24}$"
)
"""Another source's value beside the right one leaves open which of the two holds."""
_SAME_AGAIN = re.compile(
    r"\W*(?:in other words|that is(?: to say)?|ie|which (?:is|makes|equals|means)|or|equal to|equivalent to"
    r"|meaning|=)\W*(?:it is |that is |just |exactly |about |roughly |around |almost |nearly |approximately |some "
    r"|a good |over |under ){0,3}\W*"
)


def _restates(spoken: Spoken, item: Mention, fact: Fact, right: Sequence[Seen]) -> bool:
    """Whether the right count of days is said again in weeks or months, and wrongly: ``122 days, that is 30 weeks``."""
    if fact.type not in ("count", "duration") or item.kind != "duration":
        return False
    for seen in right:
        days = seen.mention.number * (86400 if seen.mention.kind == "number" else 1)
        between = spoken.low[seen.mention.end : item.start] if seen.mention.end <= item.start else ""
        if between and _SAME_AGAIN.fullmatch(between) and abs(item.number - days) > max(item.step, 0.1 * days):
            return True
    return False


def _moved_on_to(spoken: Spoken, item: Mention, right: Sequence[Seen]) -> bool:
    """Whether the right value is only where a move to another began: ``18.6 km, down to 23.4 km now``."""
    return any(
        seen.mention.end <= item.start and _ONWARD.fullmatch(spoken.low, seen.mention.end, item.start) for seen in right
    )


_ONWARD = re.compile(
    r",? (?:(?:but|and|then|now|since|later|meanwhile|has|have|was|were|been|gone|went|it) ){0,5}(?:up|down|back"
    r"|raised"
    r"|lowered|cut|changed|moved|reduced|increased|corrected|postponed|updated) to (?:about )?[$€£¥]?"
)
_SUM = re.compile(
    r"\s*(?:\w+ ){0,2}?(?:[+×*÷/=]|[-–] ?\d[\d.]*(?: \w+){0,2} ?=|(?:plus|minus|times|divided by|multiplied by)\b)"
)
_JOINED = re.compile(r"\b(?:plus|minus|and|less|then|add|added|subtract\w*|another)\b|[+-]")


def _reckoned_with(
    spoken: Spoken, item: Mention, fact: Fact, right: Sequence[Seen], mentions: Sequence[Mention]
) -> bool:
    """Whether a value is a step on the way to the right one: ``24 - 1 = 23``, ``14 days in June plus 17 in July``."""
    number = spoken.clause_at(item.start).sentence
    before = spoken.low[max(0, item.start - 30) : item.start]
    tail = spoken.low[item.end : item.end + 24]
    dashed = before.rstrip().endswith(("-", "–")) and re.match(r"(?: \w+){0,2} ?=", tail)
    if _SUM.match(tail) or dashed:
        return True
    for other in mentions:
        if other is item or spoken.clause_at(other.start).sentence != number:
            continue
        first, second = sorted((item, other), key=lambda place: place.start)
        if not _JOINED.search(spoken.low[first.end : second.start]):
            continue
        one, two = _in_units_of(fact, item), _in_units_of(fact, other)
        if any(
            abs(result - _in_units_of(fact, seen.mention)) < _EQUAL
            for seen in right
            for result in (one + two, abs(one - two))
        ):
            return True
    return False


_TOGETHER = re.compile(
    r"\b(?:together|altogether|in all|in total|total|sum|combined|both|difference|apart|more|less|warmer|colder"
    r"|cooler|"
    r"cheaper|dearer|longer|shorter|further|farther|left|saves?|change|gap)\b"
)


def _sums_up(spoken: Spoken, item: Mention, mentions: Sequence[Mention]) -> bool:
    """Whether a value is said to be the sum or the difference of two others."""
    if not _TOGETHER.search(spoken.sentence(spoken.clause_at(item.start).sentence)):
        return False
    terms = [other.number for other in mentions if other.kind == item.kind and other is not item][:_TERMS]
    return any(
        abs(item.number - result) <= max(_EQUAL, item.step / 2)
        for place, one in enumerate(terms)
        for two in terms[:place]
        for result in (one + two, abs(one - two))
    )


_ROUNDING = 0.2
"""By so much of it a duration may be rounded in weeks or hours."""
_TERMS = 8
"""So many values may be the terms of a sum."""
_EQUAL = 0.006


def _in_units_of(fact: Fact, item: Mention) -> float:
    """A value as a plain number; time as days where days are counted."""
    return item.number / 86400 if item.kind == "duration" and fact.type == "count" else item.number


_CORRECTS = re.compile(
    r"\W*(?:and |but |oh,? |well,? )?(?:actually|no,? wait|wait|correction|or rather|rather|i mean|i meant|make that|"
    r"sorry|scratch that|on second thoughts?|hang on|hold on|oops|whoops|pardon)\b"
)


_SECOND_THOUGHT = re.compile(r"\W*(?:and |but |oh,? |well,? )?(?:on second thoughts?|correction|scratch that)\b")


def _corrects(spoken: Spoken, item: Mention, right: Sequence[Seen]) -> bool:
    """Whether a sentence that puts the one before it right says the value of the same thing."""
    number = spoken.clause_at(item.start).sentence
    if not any(spoken.clause_at(seen.mention.start).sentence == number - 1 for seen in right):
        return False
    text = spoken.sentence(number)
    before = spoken.sentence(number - 1)
    same = set(re.findall(r"[a-z]{3,}", text)) & set(re.findall(r"[a-z]{3,}", before)) - _FUNCTION_WORDS
    lead = spoken.low[spoken.clause_at(item.start).start : item.start]
    bare = not set(re.findall(r"[a-z]{2,}", lead)) - _FUNCTION_WORDS - _CORRECTING
    return bool(_CORRECTS.match(text)) and (bool(same) or bare or bool(_SECOND_THOUGHT.match(text)))


def _says_otherwise(item: Mention, fact: Fact, right: Sequence[Seen]) -> bool:
    """Whether a value is of another sort than the fact's, or says the same in weeks or hours."""
    if fact.type in ("count", "duration") and item.kind == "duration":
        for seen in right:
            seconds = seen.mention.number * (86400 if seen.mention.kind == "number" else 1)
            if abs(item.number - seconds) <= max(min(item.step / 2, _ROUNDING * seconds), 1):
                return True
    if fact.type == "count":
        return not _same_noun(item, fact.unit)
    if fact.type == "number":
        return bool(item.unit) and all(item.unit != seen.mention.unit for seen in right)
    if fact.type == "money":
        return bool(fact.unit) and not currency_fits(item.unit, fact.unit) and not _is_unit_slip(item, fact)
    return fact.type == "quantity" and item.unit != UNITS.get(fact.unit.lower(), ("",))[0]


def _of_its_own(spoken: Spoken, item: Mention, fact: Fact, right: Sequence[Seen]) -> bool:
    """Whether a value is another one of the thing's several values: the time it is now, its low, its sunset."""
    if right and attribute_of(spoken, item) not in ("", attribute_of(spoken, right[-1].mention)):
        return True
    if not fact.excludes:
        return False
    bad = [word for name in fact.excludes for word in words_near(name)]
    return nearer(spoken, item, bad, words_near(fact.attribute))


def _is_unit_slip(item: Mention, fact: Fact) -> bool:
    """The right number in the wrong currency."""
    return any(abs(item.number - number_in(value)) < 0.005 for value in fact.value)


def _same_noun(item: Mention, unit: str) -> bool:
    if item.kind == "duration":
        return item.unit == unit
    return item.unit in ("", unit, *ANY_NOUN)


_CORRECTING = frozenset(
    table(
        "second thought thoughts sorry mean meant make hang hold oops whoops pardon wait rather correction scratch "
        "oh no"
    )
)
_FUNCTION_WORDS = frozenset(
    table(
        "the a an is are was were be been will would it its that this there here of in on at to for by "
        "with and or but so no not from as your you i me my we about around roughly approximately exactly "
        "just only also now then actually well very too he she they his her their has have had do does did "
        "one according another source yes day days time today tomorrow am pm degrees"
    )
)


def _content(clause: Clause, spoken: Spoken) -> set[str]:
    return {
        word for word in re.findall(r"[a-z]{2,}", spoken.low[clause.start : clause.end]) if word not in _FUNCTION_WORDS
    }
