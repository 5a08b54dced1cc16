"""Whether a message states a fact that has a type: its value, in any wording, for the right thing, and no other.

Policy: a value that people would round may be rounded. Another value of the same type said of the same thing takes the
statement back, unless it says the same in another unit, was given by the user, or is found in what the session's tools
answered and so is about something else.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sandbox_scenarios.model import Fact
from sandbox_scenarios.units import UNITS

from sandbox_grader.claims.asserted import Standing, standing
from sandbox_grader.claims.background import Background
from sandbox_grader.claims.clauses import Clause, Spoken
from sandbox_grader.claims.equality import ANY_NOUN, APPROXIMATELY, SHARES, currency_fits, is_value_of, number_in
from sandbox_grader.claims.finding import Finding, contrary, missing, stated
from sandbox_grader.claims.normal import table
from sandbox_grader.claims.values import Mention

READ_AS: dict[str, tuple[str, ...]] = {
    "time": ("time",),
    "date": ("date",),
    "weekday": ("weekday",),
    "duration": ("duration", "time"),
    "count": ("number", "duration", "phone", "quantity"),
    "money": ("money", "number"),
    "temperature": ("temperature", "number"),
    "quantity": ("quantity", "number"),
    "phone": ("phone", "number"),
    "number": ("number", "phone", "percent", "quantity", "money", "temperature", "duration"),
    "percent": ("percent", "number"),
}
"""As what kinds of mentions a fact may be written."""
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
SAME_WORDS: dict[str, tuple[str, ...]] = {
    "high": (
        "high",
        "highs",
        "max",
        "maximum",
        "highest",
        "top",
        "peak",
        "peaks",
        "warmest",
        "up to",
        "reach",
        "reaches",
        "daytime",
    ),
    "low": (
        "low",
        "lows",
        "min",
        "minimum",
        "lowest",
        "coldest",
        "down to",
        "drop",
        "drops",
        "overnight",
        "dips",
        "coolest",
        "bottom",
    ),
    "current": ("current", "currently", "right now", "at the moment", "now"),
    "sunrise": ("sunrise", "sun rises", "sun comes up", "sun up", "rises", "dawn", "daybreak"),
    "sunset": ("sunset", "sun sets", "sun goes down", "sundown", "sets", "dusk", "nightfall"),
    "latitude": ("latitude", "lat"),
    "longitude": ("longitude", "lon", "lng", "long"),
    "opens": ("open", "opens", "opening", "from"),
    "closes": ("close", "closes", "closing", "until", "till"),
}
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
_NOW = re.compile(
    r"\b(?:it is now|now it is|right now|currently|current (?:local )?time|time is now|at the moment|as of "
    r"now|time now|it is)\b"
)


@dataclass(frozen=True, slots=True)
class _Seen:
    mention: Mention
    how: Standing
    fits: bool
    mine: bool


def typed(spoken: Spoken, fact: Fact, others: Sequence[Fact], mentions: Sequence[Mention], back: Background) -> Finding:
    """Whether the message states the fact; ``others`` are the facts that it should state beside it."""
    disclaimed = _disclaimed(spoken, fact)
    seen = [
        _Seen(
            item,
            "withdrawn" if item.start < disclaimed else _standing(spoken, item, back, fact, others),
            fits,
            fits and _mine(spoken, item, fact, others, mentions, back),
        )
        for item in mentions
        if (fits := item.kind in READ_AS[fact.type] and is_value_of(item, fact, spoken))
        or item.kind in RIVALS[fact.type]
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
        and _competes(spoken, item.mention, fact, others, right, mentions, back)
    ]
    if right:
        other = _other_day(spoken, right) if fact.type == "date" else None
        if other:
            return contrary(f"says {wanted} or {other!r}", other)
        rivals += [
            item
            for item in seen
            if not item.fits and any(_on_conditions(spoken, item.mention, known.mention) for known in right)
        ]
        for rival in rivals:
            text = spoken.text[rival.mention.start : rival.mention.end].strip()
            return contrary(f"says {wanted} and also {text!r}", text)
        return stated(f"says {wanted}")
    for item in seen:
        shown = spoken.text[item.mention.start : item.mention.end].strip()
        if item.fits and not item.mine and item.how == "said":
            return contrary(f"says {shown!r} of something else than {_owner(fact)}", shown)
        if item.mine and item.how == "denied":
            return contrary(f"denies {wanted}", shown)
        if item.mine and item.how == "withdrawn":
            return contrary(f"takes {wanted} back", shown)
    if (
        any(item.mine and item.how == "past" for item in seen)
        and not rivals
        and not any(item.how == "said" and not item.fits and not _given(item.mention, back) for item in seen)
    ):
        return stated(f"says {wanted}")
    for rival in rivals:
        shown = spoken.text[rival.mention.start : rival.mention.end].strip()
        return contrary(f"says {shown!r}, expected {wanted}", shown)
    if any(item.mine and item.how == "doubted" for item in seen):
        return missing(f"only guesses at {wanted}")
    return missing(f"does not say {wanted}")


_OTHER_DAY_BEFORE = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)? or (?:on |the |on the )?$")
_OTHER_DAY_AFTER = re.compile(r" or (?:the )?(\d{1,2})(?:st|nd|rd|th)?\b(?! ?(?:am|pm|:|o'clock|days?|hours?|people))")


def _other_day(spoken: Spoken, right: Sequence[_Seen]) -> str | None:
    """A day of the month that is offered beside a date: ``on 9 or 10 April``."""
    for seen in right:
        before = _OTHER_DAY_BEFORE.search(spoken.low[max(0, seen.mention.start - 20) : seen.mention.start])
        after = _OTHER_DAY_AFTER.match(spoken.low, seen.mention.end)
        days = {day for _, _, day in seen.mention.value} if isinstance(seen.mention.value, tuple) else set[int]()
        for found in (before, after):
            if found and int(found[1]) not in days:
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
        rf" (?:the|that|this|your|how|what the) (?:\w+ )?(?:{nouns})\s*(?=[.;!\n]|$|, (?:sorry|unfortunately"
        rf"|i am afraid))"
    )
    for kind, nouns in _ABOUT_WHAT.items()
}
"""Says that the very thing that was asked is not known, which leaves a figure before it to another claim."""


def _disclaimed(spoken: Spoken, fact: Fact) -> int:
    """Up to where a message's figures are not its own, because it says then that it does not know the answer."""
    pattern = _IGNORANT.get(fact.type)
    places = [found.start() for found in pattern.finditer(spoken.low)] if pattern else []
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
        return "unsaid" if clause.asks or clause.supposes else "said"
    if how != "said":
        return how
    if _AGO.match(spoken.low, item.end) and back.given_words and not back.given_words & _OF_THE_PAST:
        return "unsaid"
    clause = spoken.clause_at(item.start)
    opens = not re.search(r"\w", spoken.low[clause.start : item.start])
    asked = back.given_words & _NEGATIVE
    return "denied" if opens and not asked and _NOT_OF_IT.match(spoken.low[item.end : clause.end]) else how


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
_AGO = re.compile(r" (?:ago|earlier|in the past)\b")
_OF_THE_PAST = frozenset(
    table("ago since last past was were did been had old passed elapsed happened already late earlier before previous")
)
"""Words of a user who asks about what has been; who asks what is to come is not told by ``9 days ago``."""
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


def _words_near(word: str) -> tuple[str, ...]:
    return SAME_WORDS.get(word, (word,))


def _of_another(spoken: Spoken, item: Mention, back: Background) -> bool:
    """Whether a value is called that of somebody else whom the world knows: ``Karl's number is ...``."""
    lead = spoken.low[spoken.clause_at(item.start).start : item.start]
    for name in back.names if "'s " in lead else ():
        first = name.split()[0].casefold()
        if f"{first}'s " in lead and first not in back.given_words and first not in back.known_words:
            return True
    return False


def _mine(
    spoken: Spoken, item: Mention, fact: Fact, others: Sequence[Fact], mentions: Sequence[Mention], back: Background
) -> bool:
    """Whether a fitting value is said of the fact's own thing, as far as the message tells."""
    if _of_another(spoken, item, back):
        return False
    if fact.about or any(other.about for other in others):
        owners = {name: owner for owner in (fact, *others) for name in owner.about}
        found = _owner_of(spoken, item, owners, mentions)
        if found is not None and found != fact and fact.about and set(found.about) != set(fact.about):
            return False
    if fact.excludes or fact.attribute:
        bad = [word for name in fact.excludes for word in _words_near(name)]
        good = list(_words_near(fact.attribute)) if fact.attribute else []
        return not _nearer(spoken, item, bad, good)
    return True


def _nearer(spoken: Spoken, item: Mention, bad: Sequence[str], good: Sequence[str]) -> bool:
    """Whether the nearest word that says what the value is of, before it or right after it, is a wrong one."""
    start = spoken.clause_at(item.start).start
    sentence = spoken.clause_at(item.start).sentence
    first = next(clause.start for clause in spoken.clauses if clause.sentence == sentence)
    before, after = spoken.low[min(first, start) : item.start], spoken.low[item.end : item.end + 18]
    best, wrong = -1, False
    for words, is_bad in ((bad, True), (good, False)):
        for word in words:
            for found in re.finditer(rf"\b{re.escape(word)}\b", before):
                if found.start() > best:
                    best, wrong = found.start(), is_bad
    close = best >= 0 and len(before) - best <= 22
    if not close and not re.search(r"\d", after):
        for words, is_bad in ((bad, True), (good, False)):
            if any(re.match(rf"[^.;,]{{0,12}}\b{re.escape(word)}\b", after) for word in words):
                return is_bad
    return wrong


def _owner_of(spoken: Spoken, item: Mention, owners: dict[str, Fact], mentions: Sequence[Mention]) -> Fact | None:
    clause = spoken.clause_at(item.start)
    parts = [part for part in spoken.clauses if part.sentence == clause.sentence]
    first, last = parts[0].start, parts[-1].end
    if not any(re.search(rf"\b{re.escape(name.lower())}", spoken.low[first:last]) for name in owners):
        first = max(0, first - 80)
    text = spoken.low[first:last]
    places = (
        sorted(
            (first + found.start(), first + found.end(), fact)
            for name, fact in owners.items()
            for found in re.finditer(rf"\b{re.escape(name.lower())}", text)
        )
        if len({id(fact) for fact in owners.values()})
        else []
    )
    if not places:
        return None
    after = next((place for place in places if place[0] >= item.end), None)
    if after and re.fullmatch(
        r"[^\w]*(?:degrees )?(?:celsius |fahrenheit )?(?:in|for|at|on|to|of|from) (?:the )?",
        spoken.low[item.end : after[0]],
    ):
        return after[2]
    kinds = (item.kind, "number", "temperature", "quantity") if item.kind != "time" else (item.kind,)
    rivals = [other for other in mentions if other.kind in kinds and first <= other.start < last]
    if len(places) == len(rivals) > 1 and places[-1][1] <= rivals[0].start:
        return places[rivals.index(item)][2]
    before = [place for place in places if place[1] <= item.start]
    if before:
        return before[-1][2]
    return after[2] if after else None


def _given(item: Mention, back: Background) -> bool:
    return any(other.kind == item.kind and other.value == item.value for other in back.given_values) or (
        item.kind == "number" and any(other.value == item.value for other in back.given_values)
    )


def _competes(
    spoken: Spoken,
    item: Mention,
    fact: Fact,
    others: Sequence[Fact],
    right: Sequence[_Seen],
    mentions: Sequence[Mention],
    back: Background,
) -> bool:
    """Whether a value of the same kind is said of the same thing."""
    if any(is_value_of(item, other, spoken) for other in others if item.kind in READ_AS.get(other.type, ())):
        return False
    if _given(item, back) or spoken.low[: item.start].rstrip().endswith("("):
        return False
    if (
        _offered_instead(spoken, item, right)
        or _corrects(spoken, item, right)
        or _OTHER_SOURCE.search(spoken.low[spoken.clause_at(item.start).start : item.start])
        or _restates(spoken, item, fact, right)
    ):
        return True
    lead = spoken.low[spoken.clause_at(item.start).start : item.start]
    if _reckoned_with(spoken, item, fact, right, mentions) or _ADVICE.match(lead):
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
        found = _owner_of(spoken, item, owners, mentions)
        return found is None or found.about == fact.about
    clause = spoken.clause_at(item.start)
    lead = spoken.low[clause.start : item.start]
    if _PRONOUN.match(lead) or _LOOSE.match(lead) or not right:
        return True
    here, home = _content(clause, spoken), spoken.clause_at(right[-1].mention.start)
    return not here or bool(here & _content(home, spoken))


_PRONOUN = re.compile(r"\W*(?:and |but |so |then |now )?(?:it|that|this|he|she)\b")


def _roughly(spoken: Spoken, item: Mention, right: Sequence[_Seen]) -> bool:
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


def _on_conditions(spoken: Spoken, *items: Mention) -> bool:
    """Whether each value holds under a condition of its own: ``8 km if you mean the one, 12 km if the other``."""
    return all(_ON_CONDITION.match(spoken.low, item.end) for item in items)


def _offered_instead(spoken: Spoken, item: Mention, right: Sequence[_Seen]) -> bool:
    """Whether ``A or B`` offers the value beside the right one."""
    number = spoken.clause_at(item.start).sentence
    for seen in right:
        other_kind = seen.mention.kind != item.kind and "number" not in (seen.mention.kind, item.kind)
        if other_kind or spoken.clause_at(seen.mention.start).sentence != number:
            continue
        if item.kind == "duration" and 0 < abs(item.number - seen.mention.number) <= item.step:
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


def _restates(spoken: Spoken, item: Mention, fact: Fact, right: Sequence[_Seen]) -> bool:
    """Whether the right count of days is said again in weeks or months, and wrongly: ``122 days, that is 30 weeks``."""
    if fact.type not in ("count", "duration") or item.kind != "duration":
        return False
    for seen in right:
        days = seen.mention.number * (86400 if seen.mention.kind == "number" else 1)
        between = spoken.low[seen.mention.end : item.start] if seen.mention.end <= item.start else ""
        if between and _SAME_AGAIN.fullmatch(between) and abs(item.number - days) > max(item.step, 0.1 * days):
            return True
    return False


_SUM = re.compile(
    r"\s*(?:\w+ ){0,2}?(?:[+×*÷/=]|[-–] ?\d[\d.]*(?: \w+){0,2} ?=|(?:plus|minus|times|divided by|multiplied by)\b)"
)
_SUM_BEFORE = re.compile(
    r"\d\)?(?: \w+){0,4} ?(?:[+×*÷/]|plus|minus|times|divided by|multiplied by|[-–](?=.{0,12}=)) ?\(?$"
)
_JOINED = re.compile(r"\b(?:plus|minus|and|less|then|add|added|subtract\w*|another)\b|[+-]")


def _reckoned_with(
    spoken: Spoken, item: Mention, fact: Fact, right: Sequence[_Seen], mentions: Sequence[Mention]
) -> bool:
    """Whether a value is a step on the way to the right one: ``24 - 1 = 23``, ``14 days in June plus 17 in July``."""
    number = spoken.clause_at(item.start).sentence
    before = spoken.low[max(0, item.start - 30) : item.start]
    tail = spoken.low[item.end : item.end + 24]
    dashed = before.rstrip().endswith(("-", "–")) and re.match(r"(?: \w+){0,2} ?=", tail)
    if _SUM.match(tail) or dashed or _SUM_BEFORE.search(before):
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


_EQUAL = 0.006


def _in_units_of(fact: Fact, item: Mention) -> float:
    """A value as a plain number; time as days where days are counted."""
    return item.number / 86400 if item.kind == "duration" and fact.type == "count" else item.number


_CORRECTS = re.compile(
    r"\W*(?:and |but |oh,? |well,? )?(?:actually|no,? wait|wait|correction|or rather|rather|i mean|make that|"
    r"sorry|scratch that|on second thought)\b"
)


def _corrects(spoken: Spoken, item: Mention, right: Sequence[_Seen]) -> bool:
    """Whether a sentence that puts the one before it right says the value of the same thing."""
    number = spoken.clause_at(item.start).sentence
    if not any(spoken.clause_at(seen.mention.start).sentence == number - 1 for seen in right):
        return False
    text = spoken.sentence(number)
    before = spoken.sentence(number - 1)
    same = set(re.findall(r"[a-z]{3,}", text)) & set(re.findall(r"[a-z]{3,}", before)) - _FUNCTION_WORDS
    return bool(_CORRECTS.match(text)) and (bool(same) or bool(_LOOSE.match(text[: item.start])))


def _says_otherwise(item: Mention, fact: Fact, right: Sequence[_Seen]) -> bool:
    """Whether a value is of another sort than the fact's, or says the same in weeks or hours."""
    if fact.type in ("count", "duration") and item.kind == "duration":
        for seen in right:
            seconds = seen.mention.number * (86400 if seen.mention.kind == "number" else 1)
            if abs(item.number - seconds) <= max(item.step, 1):
                return True
    if fact.type == "count":
        return not _same_noun(item, fact.unit)
    if fact.type == "number":
        return bool(item.unit) and all(item.unit != seen.mention.unit for seen in right)
    if fact.type == "money":
        return bool(fact.unit) and not currency_fits(item.unit, fact.unit) and not _is_unit_slip(item, fact)
    return fact.type == "quantity" and item.unit != UNITS.get(fact.unit.lower(), ("",))[0]


def _of_its_own(spoken: Spoken, item: Mention, fact: Fact, right: Sequence[_Seen]) -> bool:
    """Whether a value is another one of the thing's several values: the time it is now, its low, its sunset."""
    lead = spoken.low[spoken.clause_at(item.start).start : item.start]
    if fact.type == "time" and _NOW.search(lead) and re.search(r"\bnow|current|moment", lead):
        return True
    if right and _attribute(spoken, item) not in ("", _attribute(spoken, right[-1].mention)):
        return True
    if not fact.excludes:
        return False
    bad = [word for name in fact.excludes for word in _words_near(name)]
    return _nearer(spoken, item, bad, _words_near(fact.attribute))


_ATTRIBUTE = {word: name for name, words in SAME_WORDS.items() for word in words} | dict.fromkeys(
    ("feels like", "humidity", "wind", "gusts", "dew point"), "other"
)
_ANY_ATTRIBUTE = re.compile(r"\b(?:" + "|".join(sorted(map(re.escape, _ATTRIBUTE), key=len, reverse=True)) + r")\b")


def _attribute(spoken: Spoken, item: Mention) -> str:
    """Which of a thing's several values one is, by the nearest word that tells: its high, its low, its sunset."""
    start = max(spoken.clause_at(item.start).start, item.start - 28)
    found = list(_ANY_ATTRIBUTE.finditer(spoken.low, start, item.start))
    if found:
        return _ATTRIBUTE[found[-1][0]]
    after = _ANY_ATTRIBUTE.match(spoken.low, item.end + 1)
    return _ATTRIBUTE[after[0]] if after else ""


def _is_unit_slip(item: Mention, fact: Fact) -> bool:
    """The right number in the wrong currency."""
    return any(abs(item.number - number_in(value)) < 0.005 for value in fact.value)


def _same_noun(item: Mention, unit: str) -> bool:
    if item.kind == "duration":
        return item.unit == unit
    return item.unit in ("", unit, *ANY_NOUN)


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
