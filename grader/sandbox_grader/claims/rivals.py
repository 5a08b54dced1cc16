"""Which values beside the right one take it back: offered instead of it, correcting it, or told of the same thing.

Policy: a value that says the same in another unit, is a step of the sum, was given by the user or is found in what the
session's tools answered is about something else and costs nothing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

from sandbox_scenarios.model import Fact

from sandbox_grader.claims.background import Background
from sandbox_grader.claims.clauses import Spoken
from sandbox_grader.claims.equality import ANY_NOUN, APPROXIMATELY, READ_AS, currency_fits, is_value_of, number_in
from sandbox_grader.claims.normal import FUNCTION_WORDS, one_of
from sandbox_grader.claims.owners import COMPARED, attribute_of, nearer, owner_of, words_near
from sandbox_grader.claims.values import Mention
from sandbox_mcp.engine.talk.units import UNITS

_LOOSE = re.compile(
    r"^\W*(?:(?:and|or|but|so|no|not|actually|well|wait|sorry|rather|in fact|make that|instead|then again|hmm|maybe"
    r"|also|yes|ok|okay|oh|i mean|correction)\W+){0,4}(?:(?:it|that|this|they|there|he|she"
    r"|the (?:answer|result|distance|total|amount|price|temperature|time|number|date|day|high|low|value|rate|figure"
    r"|name|correct \w+|right \w+|real \w+|actual \w+)"
    r"|i (?:also )?(?:got|get|found|find|make it|have|read|see|calculated|measured))\b\W*(?:will be|is|are|was|were"
    r"|comes? to|came to|would be|'s|equals?|has been|make[s]?)?\W*)?(?:at |on |in |about |around |roughly |by |for |="
    r"|exactly |just |really |actually |now |to |closer to |more like ){0,3}\W*$"
)
_PRONOUN = re.compile(r"\W*(?:and |but |so |then |now |by now |today ){0,3}(?:it|that|this|he|she)\b")
_OR = re.compile(r"\bor\b|/|\balternatively\b|\bversus\b|\bvs\b|\bthen again\b")
_OF_THEM = re.compile(r"(?: \w+)? of (?:them|these|those|which|whom)\b")
"""Behind the number of a part."""
_ON_CONDITION = re.compile(r"(?: \w+){0,2},? (?:if|in case|provided|assuming|supposing)\b")
_ADVICE = re.compile(
    r"\W*(?:so |then |please |and |but |just |better |best |do "
    r"|you (?:should|had better|may want to|might want to|could|can) |i would ){0,3}(?:be (?:there|here|ready|at|back)"
    r"|arrive|leave|come|show up|set off|head|get (?:there|up|going|to)|plan|aim|allow|add)\b"
)
"""Advice on what to do about a value says no other value of it."""
_OTHER_SOURCE = re.compile(
    r"\b(?:other|another|second|third|different|alternative|competing) (?:\w+ )?(?:source|query|site|website|search"
    r"|tool|attempt|look-?up|map|service|result|reading|page|app|calculator|converter|calendar|method|measurement|try"
    r"|run|check|one)s?\b(?: \w+){0,3}? (?:gives?|gave|says?|said|shows?|showed|claims?|claimed|has|had|puts?|reports?"
    r"|reported|tells?|told|suggests?|suggested|returns?|returned|comes?|came|yields?|yielded|makes?|made|reads?|gets?"
    r"|got)\b[^.;]{0,24}$"
)
"""Another source's value beside the right one leaves open which of the two holds."""
_HELD_AGAINST = re.compile(
    r"\b(?:compared (?:to|with)|as opposed to|in (?:comparison|contrast) (?:to|with))(?: [a-z]+){0,4}\s?[$€£¥]?$"
)
"""Before a value that the right one is only held against."""
_SAME_AGAIN = re.compile(
    r"\W*(?:in other words|that is(?: to say)?|ie|which (?:is|makes|equals|means)|or|equal to|equivalent to|meaning"
    r"|=)\W*(?:it is |that is |just |exactly |about |roughly |around |almost |nearly |approximately |some |a good "
    r"|over |under ){0,3}\W*"
)
_SUM = re.compile(
    r"\s*(?:\w+ ){0,2}?(?:[+×÷/=]|[-–] ?\d[\d.]*(?: \w+){0,2} ?=|(?:plus|minus|times|divided by|multiplied by)\b)"
)
_JOINED = re.compile(r"\b(?:plus|minus|and|less|then|add|added|subtract\w*|another)\b|[+-]")
_TOGETHER = re.compile(
    r"\b(?:together|altogether|in all|in total|total|sum|combined|both|difference|apart|more|less|warmer|colder|cooler"
    r"|cheaper|dearer|longer|shorter|further|farther|left|saves?|change|gap)\b"
)
_CORRECTS = re.compile(
    r"\W*(?:and |but |oh,? |well,? )?(?:actually|no,? wait|wait|correction|or rather|rather|i mean|i meant|make that"
    r"|sorry|scratch that|on second thoughts?|hang on|hold on|oops|whoops|pardon)\b"
)
_OF_VALUES = one_of(
    "around roughly approximately exactly actually according another source yes day days time today tomorrow am pm "
    "degrees"
)
"""Words beside any value."""
_CHANGING = one_of("quantity money count percent number")
"""Types of values that change, so that one that holds now is a rival; the time that it is now is not."""
_ROUNDING = 0.2
"""By so much of it a duration may be rounded in weeks or hours."""
_TERMS = 8
"""So many values may be the terms of a sum."""
_BESIDE = 120
"""So many characters may lie between two terms of a sum."""
_EQUAL = 0.006


def on_condition(spoken: Spoken, item: Mention) -> bool:
    """Whether a value is said to hold under a condition: ``8 km if you mean the one``."""
    return _ON_CONDITION.match(spoken.low, item.end) is not None


@dataclass(frozen=True, slots=True)
class Contest:
    """Where a message states a fact, and all values in it, any of which may take that back.

    ``others`` are the facts that it should state as well, ``right`` the places where the fact's own value stands.
    """

    spoken: Spoken
    fact: Fact
    others: Sequence[Fact]
    right: Sequence[Mention]
    mentions: Sequence[Mention]
    back: Background

    def has_rival(self, item: Mention) -> bool:
        """Whether a value of the same kind is said of the same thing."""
        spoken, lead = self.spoken, self.spoken.lead(item.start)
        if (
            any(is_value_of(item, other, spoken) for other in self.others if item.kind in READ_AS.get(other.type, ()))
            or self.back.was_given(item)
            or _OF_THEM.match(spoken.low, item.end)
            or COMPARED.match(spoken.low, item.end)
            or spoken.low[max(0, item.start - 4) : item.start].rstrip().endswith("(")
        ):
            return False
        if (
            self._offered_instead(item)
            or self._corrects(item, lead)
            or _OTHER_SOURCE.search(lead)
            or self._restates(item)
        ):
            return True
        if (
            self._reckoned_with(item)
            or _ADVICE.match(lead)
            or self._sums_up(item)
            or _HELD_AGAINST.search(lead)
            or self._roughly(item)
            or self.back.knows(item)
            or self._says_otherwise(item)
            or self._of_its_own(item)
        ):
            return False
        owners = {name: owner for owner in (self.fact, *self.others) for name in owner.about}
        if owners and self.fact.about:
            found = owner_of(spoken, item, owners, self.mentions)
            return found is None or found.about == self.fact.about
        if _PRONOUN.match(lead) or _LOOSE.match(lead) or not self.right:
            return True
        here, home = (_content(spoken.clause_at(place.start).text) for place in (item, self.right[-1]))
        return not here or bool(here & home)

    def _offered_instead(self, item: Mention) -> bool:
        """Whether ``A or B`` offers the value beside the right one."""
        number = self.spoken.clause_at(item.start).sentence
        for seen in self.right:
            first, second = sorted((seen, item), key=lambda place: place.start)
            between = self.spoken.low[first.end : second.start] if second.start - first.end < 40 else ""
            other_kind = seen.kind != item.kind and "number" not in (seen.kind, item.kind)
            coarse = item.kind == "duration" and item.unit in ("week", "month", "year")
            same_in_weeks = coarse and 0 < abs(item.number - seen.number) < item.step / 2
            if (
                _OR.search(between)
                and not other_kind
                and not same_in_weeks
                and not re.search(r"\d", between)
                and self.spoken.clause_at(seen.start).sentence == number
            ):
                return True
        return False

    def _corrects(self, item: Mention, lead: str) -> bool:
        """Whether a sentence that puts the one before it right says the value of the same thing."""
        number = self.spoken.clause_at(item.start).sentence
        text = self.spoken.sentence(number)
        if not _CORRECTS.match(text) or not any(
            self.spoken.clause_at(seen.start).sentence == number - 1 for seen in self.right
        ):
            return False
        before = self.spoken.sentence(number - 1)
        same = set(re.findall(r"[a-z]{3,}", text)) & set(re.findall(r"[a-z]{3,}", before)) - FUNCTION_WORDS - _OF_VALUES
        return bool(same) or not _content(lead)

    def _restates(self, item: Mention) -> bool:
        """Whether the right count of days is said again in weeks or months, and wrongly: ``122 days, or 30 weeks``."""
        return item.kind == "duration" and any(
            seen.end < item.start
            and _SAME_AGAIN.fullmatch(self.spoken.low, seen.end, item.start)
            and abs(item.number - seconds) > max(item.step, 0.1 * seconds)
            for seen, seconds in self._in_seconds()
        )

    def _in_seconds(self) -> Iterator[tuple[Mention, float]]:
        """The right values where time or days are asked for, in seconds."""
        for seen in self.right if self.fact.type in ("count", "duration") else ():
            yield seen, seen.number * (86400 if seen.kind == "number" else 1)

    def _reckoned_with(self, item: Mention) -> bool:
        """Whether a value is a step to the right one: ``24 - 1 = 23``, ``14 days in June plus 17 in July``."""
        before = self.spoken.low[max(0, item.start - 30) : item.start].rstrip()
        tail = self.spoken.low[item.end : item.end + 24]
        dashed = before.endswith(("-", "–")) and re.match(r"(?: \w+){0,2} ?=", tail)
        if dashed or before.endswith(("×", "÷")) or _SUM.match(tail):
            return True
        wanted = {self._plain(seen) for seen in self.right}
        number = self.spoken.clause_at(item.start).sentence
        for other in self.mentions if wanted else ():
            first, second = sorted((item, other), key=lambda place: place.start)
            one, two = self._plain(item), self._plain(other)
            if (
                other is not item
                and second.start - first.end < _BESIDE
                and any(abs(result - value) < _EQUAL for value in wanted for result in (one + two, abs(one - two)))
                and self.spoken.clause_at(other.start).sentence == number
                and _JOINED.search(self.spoken.low, first.end, second.start)
            ):
                return True
        return False

    def _plain(self, item: Mention) -> float:
        """A value as a plain number; time as days where days are counted."""
        return item.number / 86400 if item.kind == "duration" and self.fact.type == "count" else item.number

    def _sums_up(self, item: Mention) -> bool:
        """Whether a value is said to be the sum or the difference of two others."""
        if not _TOGETHER.search(self.spoken.sentence(self.spoken.clause_at(item.start).sentence)):
            return False
        alike = (other.number for other in self.mentions if other.kind == item.kind and other is not item)
        return any(
            abs(item.number - result) <= max(_EQUAL, item.step / 2)
            for one, two in combinations(islice(alike, _TERMS), 2)
            for result in (one + two, abs(one - two))
        )

    def _roughly(self, item: Mention) -> bool:
        """Whether a value says the right one again, only less exactly: ``about three and a half, 3.4 to be exact``."""
        about = APPROXIMATELY.search(self.spoken.low[max(0, item.start - 24) : item.start])
        return about is not None and any(
            abs(one - two) <= 0.05 * abs(one)
            for seen in self.right
            for one, two in (
                (item.number, seen.number),
                (item.number / item.factor, seen.number / seen.factor),  # "three miles: 3.1"
            )
        )

    def _says_otherwise(self, item: Mention) -> bool:
        """Whether a value is of another sort than the fact's, or says the same in weeks or hours."""
        fact = self.fact
        if item.kind == "duration" and any(
            abs(item.number - seconds) <= max(min(item.step / 2, _ROUNDING * seconds), 1)
            for _, seconds in self._in_seconds()
        ):
            return True
        if fact.type == "count":
            nouns = (fact.unit,) if item.kind == "duration" else ("", fact.unit, *ANY_NOUN)
            return item.unit not in nouns
        if fact.type == "number":
            return bool(item.unit) and all(item.unit != seen.unit for seen in self.right)
        if fact.type == "money":
            slip = any(abs(item.number - number_in(value)) < _EQUAL for value in fact.value)  # in the wrong currency
            return bool(fact.unit) and not currency_fits(item.unit, fact.unit) and not slip
        return fact.type == "quantity" and item.unit != UNITS.get(fact.unit.lower(), ("",))[0]

    def _of_its_own(self, item: Mention) -> bool:
        """Whether a value is another one of the thing's several values: the time it is now, its low, its sunset."""
        own, of_right = attribute_of(self.spoken, item), attribute_of(self.spoken, self.right[-1]) if self.right else ""
        changed = own == "current" and not of_right and self.fact.type in _CHANGING  # it is 42 km; it is 55 km now
        if self.right and own not in ("", of_right) and not changed:
            return True
        bad = [word for name in self.fact.excludes for word in words_near(name)]
        return bool(bad) and nearer(self.spoken, item, bad, words_near(self.fact.attribute))


def _content(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{2,}", text)) - FUNCTION_WORDS - _OF_VALUES
