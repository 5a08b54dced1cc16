"""Whose a value is: the town, the day or the person that it is told of, and which of a thing's several values.

Policy: ``VALUE in X`` first, then the nearest owner before the value, then the one behind it.
"""

import re
from collections.abc import Sequence

from sandbox_scenarios.model import Fact

from sandbox_grader.claims.background import Background
from sandbox_grader.claims.clauses import Spoken
from sandbox_grader.claims.values import Mention
from sandbox_mcp.engine.talk.units import listed

_SAME_WORDS = {
    "high": listed("high, highs, max, maximum, highest, top, peak, peaks, warmest, up to, reach, reaches, daytime"),
    "low": listed("low, lows, min, minimum, lowest, coldest, down to, drop, drops, overnight, dips, coolest, bottom"),
    "current": listed("current, currently, right now, at the moment, now"),
    "sunrise": listed("sunrise, sun rises, sun comes up, sun up, rises, dawn, daybreak"),
    "sunset": listed("sunset, sun sets, sun goes down, sundown, sets, dusk, nightfall"),
    "latitude": listed("latitude, lat"),
    "longitude": listed("longitude, lon, lng, long"),
    "opens": listed("open, opens, opening, from"),
    "closes": listed("close, closes, closing, until, till"),
}


def words_near(word: str) -> tuple[str, ...]:
    """The words that tell one of a thing's several values."""
    return _SAME_WORDS.get(word, (word,))


def _of_another(spoken: Spoken, item: Mention, back: Background) -> bool:
    """Whether a value is called that of another person in the world: ``Karl's number is ...``."""
    clause = spoken.clause_at(item.start)
    lead = spoken.lead(item.start)
    if _TO_ANOTHER.match(spoken.low, item.end, clause.end):
        return True
    belongs = _BELONGS.match(spoken.low, item.end)
    for name in back.names if "'s " in lead or belongs else ():
        first = name.split()[0].casefold()
        its = f"{first}'s " in lead or (belongs is not None and spoken.low.startswith(first, belongs.end()))
        if its and first not in back.given_words and first not in back.known_words:
            return True
    return False


_TO_ANOTHER = re.compile(
    r"(?: \w+)? (?:to|for|of|from|in|at|is)(?: that of)? (?:(?:an?|the) (?:different|other|wrong)|another"
    r"|some(?:one|body) else)\b"
)
"""Behind the value of another thing of the same name or kind."""


def _of_something_else(spoken: Spoken, item: Mention, back: Background) -> bool:
    """Whether what the user asked about is said to be missing, and the value is that of something else."""
    clause = spoken.clause_at(item.start)
    lead, tail = spoken.lead(item.start), spoken.low[item.end : clause.end]
    if not back.given_words or not (_SUBJECT.match(lead) or (not lead.strip() and _OF_ANOTHER.match(tail))):
        return False
    named = {word for word in back.given_words if len(word) > _SHORT and word.isalpha()}
    if named & set(_WORDS.findall(clause.text)):
        return False
    return any(
        not other.history and any(named & set(filter(None, found.groups())) for found in _MISSING.finditer(other.text))
        for other in spoken.clauses
        if other is not clause
    )


def _worth_of_another(spoken: Spoken, item: Mention, mentions: Sequence[Mention], back: Background) -> bool:
    """Whether a clause tells what another amount than the user's is worth: ``for 300 euros you would get ...``."""
    given = {(other.value, other.unit) for other in back.given_values if other.kind == "money"}
    clause = spoken.clause_at(item.start)
    beside = {
        (other.value, other.unit)
        for other in mentions
        if other.kind == "money" and other is not item and clause.start <= other.start < clause.end
    }
    same = {(value, unit) for value, unit in beside if unit in {unit for _, unit in given} and unit != item.unit}
    return any(value != 1 for value, _ in same) and not same & given


_SHORT = 3
_WORDS = re.compile(r"[^\W_]+")
_SUBJECT = re.compile(r"\W*(?!(?:it|that|this|they|he|she|i|we|you|there|here)\b)[a-z].*[a-z]{2}")
_OF_ANOTHER = re.compile(r" (?:is|for|to|in|at|of|from|belongs) \w")
_MISSING = re.compile(
    r"\b(?:could not|can not|did not|unable to|not able to) (?:find|locate|see) (?:the |your |an? "
    r"|any )?(?:(\w+) )?(\w+)\b(?!')"
    r"|\b(?:have|has|had|found|got|is|are) no (?:\w+ )?(?:for|of|under) (?:the |your )?(?:(\w+) )?(\w+)\b"
    r"|\b(\w+)(?:'s)?(?: \w+)? (?:itself )?(?:has no|(?:is|was) (?:offline|unavailable|unknown|missing)"
    r"|(?:is|are) not (?:saved|listed|known|stored|there|given|mentioned|shown|available|in))\b"
    r"|\bfor (?:the |your )?(?:\w+ )?(\w+) (?:(?:i|we|there) (?:have|got|found|is)(?: got)? )?(?:nothing|none|no)\b"
    r"|\b(?:when|where|what) (?:the |your )?(\w+)\b.{0,30} i (?:do not|can not|could not) (?:know|say|tell)\b"
)
"""Says of something, which is among the groups, that it cannot be told."""
_BELONGS = re.compile(
    r"\W{0,3} ?(?:is|was|belongs to|is (?:saved|listed|registered|stored) (?:under|as|for)|goes to"
    r"|reaches) (?:the \w+ of )?"
)
"""Behind a value, before whose it is said to be."""


def is_of(
    spoken: Spoken, item: Mention, fact: Fact, others: Sequence[Fact], mentions: Sequence[Mention], back: Background
) -> bool:
    """Whether a fitting value is said of the fact's own thing, as far as the message tells."""
    if _of_another(spoken, item, back) or _of_something_else(spoken, item, back):
        return False
    if fact.type == "temperature" and not fact.about and back.of_another_day(spoken.clause_at(item.start).text):
        return False
    if fact.type == "money" and _worth_of_another(spoken, item, mentions, back):
        return False
    if fact.about or any(other.about for other in others):
        owners = {name: owner for owner in (fact, *others) for name in owner.about}
        found = owner_of(spoken, item, owners, mentions)
        if found is not None and found != fact and fact.about and set(found.about) != set(fact.about):
            return False
    if fact.excludes or fact.attribute:
        bad = [word for name in fact.excludes for word in words_near(name)]
        good = list(words_near(fact.attribute)) if fact.attribute else []
        return not nearer(spoken, item, bad, good)
    return True


def nearer(spoken: Spoken, item: Mention, bad: Sequence[str], good: Sequence[str]) -> bool:
    """Whether the nearest word that says what the value is of, before it or right after it, is a wrong one."""
    first = spoken.parts(spoken.clause_at(item.start).sentence)[0].start
    before, after = spoken.low[first : item.start], spoken.low[item.end : item.end + 18]
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


def owner_of(spoken: Spoken, item: Mention, owners: dict[str, Fact], mentions: Sequence[Mention]) -> Fact | None:
    """The fact whose town, day or person a value is told of; None where the message tells none."""
    parts = spoken.parts(spoken.clause_at(item.start).sentence)
    first, last = parts[0].start, parts[-1].end
    if not any(re.search(rf"\b{re.escape(name.lower())}", spoken.low[first:last]) for name in owners):
        first = max(0, first - 80)
    text = spoken.low[first:last]
    places = sorted(
        (first + found.start(), first + found.end(), fact)
        for name, fact in owners.items()
        for found in re.finditer(rf"\b{re.escape(name.lower())}", text)
    )
    if not places:
        return None
    after = next((place for place in places if place[0] >= item.end), None)
    if after and re.fullmatch(
        r"[^\w;,.:!?\n]*(?:degrees )?(?:celsius |fahrenheit )?(?:in|for|at|on|to|of|from) (?:the )?",
        spoken.low[item.end : after[0]],
    ):
        return after[2]
    kinds = (item.kind, "number", "temperature", "quantity") if item.kind != "time" else (item.kind,)
    rivals = [
        other
        for other in mentions
        if other.kind in kinds and first <= other.start < last and not COMPARED.match(spoken.low, other.end)
    ]
    if item not in rivals:
        return None
    if len(places) == len(rivals) > 1:
        own = places[rivals.index(item)][2]
        if places[-1][1] <= rivals[0].start:
            return own
        pairs = zip(rivals, places, rivals[1:], strict=False)
        if all(value.start < place[0] < later.start for value, place, later in pairs):
            return own if rivals[-1].start < places[-1][0] else None
    before = [place for place in places if place[1] <= item.start]
    if before:
        return before[-1][2]
    return after[2] if after else None


COMPARED = re.compile(r"(?: \w+)? (?:\w{3,9}er|more|less) than\b")
"""Behind a difference of two values."""
_OTHER_VALUES = listed("feels like, humidity, wind, gusts, dew point, target, goal, limit, set point, average, record")
_ATTRIBUTE = {
    **{word: name for name, words in _SAME_WORDS.items() for word in words},
    **dict.fromkeys(_OTHER_VALUES, "other"),
    **dict.fromkeys(("check-out", "checkout", "check out"), "check-out"),
    **dict.fromkeys(("check-in", "checkin", "check in"), "check-in"),
    **dict.fromkeys(("departure", "departs", "leaves"), "departure"),
    **dict.fromkeys(("arrival", "arrives"), "arrival"),
}
_ANY_ATTRIBUTE = re.compile(r"\b(?:" + "|".join(sorted(map(re.escape, _ATTRIBUTE), key=len, reverse=True)) + r")\b")


def attribute_of(spoken: Spoken, item: Mention) -> str:
    """Which of a thing's several values one is, by the nearest word that tells: its high, its low, its sunset."""
    clause = spoken.clause_at(item.start)
    label = spoken.low[: clause.start].rstrip().endswith(":") and clause.start > 0
    start = max(spoken.clause_at(clause.start - 1).start if label else clause.start, item.start - 28)
    found = list(_ANY_ATTRIBUTE.finditer(spoken.low, start, item.start))
    if found:
        return _ATTRIBUTE[found[-1][0]]
    after = _ANY_ATTRIBUTE.match(spoken.low, item.end + 1)
    return _ATTRIBUTE[after[0]] if after else ""
