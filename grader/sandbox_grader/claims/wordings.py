"""Whether a message states a name or a text: one of its wordings, said as so, and no other name in place of a name.

Policy: words and numbers count, whole and in order; case, typography and punctuation do not.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from sandbox_scenarios.model import Fact

from sandbox_grader.claims.asserted import standing, superseded
from sandbox_grader.claims.background import Background
from sandbox_grader.claims.clauses import WORD, Spoken, Standing
from sandbox_grader.claims.finding import Finding, contrary, missing, stated
from sandbox_grader.claims.normal import FUNCTION_WORDS, one_of, plain, words_of

_OR = re.compile(r"\bor\b|/|\balternatively\b")
_QUESTION = re.compile(r"^(?:which|who|whom|whose|what|when|where|why|how)\b|\?$", re.IGNORECASE)
"""A wording that asks is met by a question."""
_SUPPLIED = one_of(
    "number password city town place date time day name address email amount code username recipient destination title "
    "account country currency subject year month"
)
_LACKING = re.compile(
    r"\b(?:no|without|(?:do|does|did|have|has) not (?:have|know|see|find|get|got|told|given|mentioned|said"
    r"|specified)(?: me| us| you)?)(?: (?:the|a|an|any|your|its|his|her|their|which|\w+)){0,2} $"
)
"""Before what is missing."""
_IS_NOT = re.compile(r"(?: \w+)? (?:is|was) not (?:the|your|a|who|where|what|on|in|at) |(?: \w+)? (?:did|does) not ")
"""Behind a wording of which something is denied."""
_NUMBER_AND_WORDS = re.compile(r"(\d+) ([^\W\d_]{3,}.*)")
_OR_ELSE = (
    r"(?:\W{0,3} or|\W{1,3}if not|\W{1,3}alternatively,?|\W{0,3} versus) (?:it is |else )?(?:maybe |perhaps "
    r"|possibly )?"
)
_NEXT = re.compile(rf"{_OR_ELSE}(?:(?:at|in|by|from|to|with|on|under) )?(?=([^\W_]))")
_PLACED = re.compile(r"\b(at|in|on|to|with|by|from|under|behind|near|beneath|above|inside|below|beside) (?:the )?$")
_INSTEAD = re.compile(
    r"\W*(?:(?:no|actually|or|wait|sorry|rather|well|maybe|then again|make that|in fact)\W+){0,3}(?:(?:it|that|he|she"
    r"|this|the (?:name|answer|sender|person)) (?:was|is|were|came|comes) )?(?:actually |really "
    r"|in fact )?(?:(?:sent |written )?(?:from|by) )?$"
)
_ALONE = re.compile(r"\W*(?:$|\n)|[.,;!?)]| did\b| is (?:also |just |equally )?(?:as )?(?:likely|possible)\b")
"""Behind a name that is all that a clause says."""
_NAME = re.compile(r"[A-Z][a-zà-ÿ]+(?:-[A-Z][a-zà-ÿ]+)?")
_BEHIND = re.compile(rf" ({_NAME.pattern})(?: ([^\W_]+))?")
"""What may be another name beside a part of this one, and the word on its other side."""
_NO_NAME = FUNCTION_WORDS | one_of(
    "mr mrs ms miss dr prof professor sir dame lord lady captain director inventor actor actress composer writer "
    "editor producer author artist singer member player astronaut commander uncle aunt cousin brother sister boss "
    "colleague friend neighbour neighbor doctor engineer owner monday tuesday wednesday thursday friday saturday "
    "sunday today tomorrow yesterday january february march april may june july august september october november "
    "december"
)
"""Words that stand beside a name and do not belong to it."""
_LIST = 2
"""With so many further names in its sentence a name stands in a list, and is not an answer."""

_Place = tuple[int, int]
"""Where a wording begins in a message, and where it ends."""


def worded(spoken: Spoken, fact: Fact, others: Sequence[Fact], back: Background) -> Finding:
    """Whether one of the fact's wordings is said as so."""
    reading = _Reading(spoken, fact, others, back)
    wanted = reading.wanted
    found = [(place, reading.meant(place)) for place in reading.places]
    refusing = any(_refuses(other) for other in others)  # "location" and "cannot" are one refusal in two lists
    said = [place for place, how in found if how in ("said", "past") or (refusing and how == "denied")]
    if said:
        return reading.against(said) or stated(f"says {wanted}")
    if any(how == "unsaid" and not _asked(spoken, place) for place, how in found):
        return stated(f"says {wanted}")
    asking = (value for value in map(str, fact.value) if _QUESTION.search(value))
    if any(_asked(spoken, place) for value in asking for place in places(spoken, value)):
        return stated(f"asks {wanted}")
    if any(how == "denied" and reading.lacks(place) for place, how in found):
        return stated(f"says that {wanted} is missing")
    kind = "name" if reading.of_a_person else "text"
    for _, how in found:
        if how == "denied":
            return contrary(f"denies the {kind} {wanted}")
        if how == "withdrawn":
            return contrary(f"takes the {kind} {wanted} back")
    if found:
        return missing(f"only guesses at {wanted}")
    if reading.of_a_person:
        names = (
            name for name, *place in reading.foreign
            if standing(spoken, *place) == "said" and name.casefold() not in back.user_said
        )  # fmt: skip
        other = next(names, None)
        return contrary(f"names {other!r}, expected {wanted}", other) if other else missing(f"does not say {wanted}")
    number = reading.other_number()
    return contrary(f"says {number!r}, expected {wanted}", number) if number else missing(f"does not say {wanted}")


@dataclass(frozen=True)
class _Reading:
    """A message that is read for one of a fact's wordings, beside the other facts that it should state."""

    spoken: Spoken
    fact: Fact
    others: Sequence[Fact]
    back: Background

    @property
    def wanted(self) -> str:
        """The wordings in words, for explanations."""
        return " or ".join(repr(str(value)) for value in self.fact.value[:4])

    @cached_property
    def of_a_person(self) -> bool:
        """Whether the wordings are names, by the fact's type or because the world knows people who have them."""
        known = self.back.names_and_parts
        return self.fact.type == "name" or all(str(value).casefold() in known for value in self.fact.value)

    @cached_property
    def values(self) -> Sequence[str]:
        """The wordings, and other ways to put them."""
        wordings = tuple(map(str, self.fact.value))
        parts = self._parts(wordings) if self.fact.type == "name" else ()
        return (*wordings, *(other for value in wordings for other in _number_last(value)), *parts)

    def _parts(self, wordings: Sequence[str]) -> Iterator[str]:
        """The first or last name alone, where no other person that the world knows has it."""
        own = {value.casefold() for value in wordings}
        elsewhere = {part for name in self.back.names if name.casefold() not in own for part in words_of(name)}
        for value in wordings:
            parts = re.findall(r"[^\W_]{3,}", value)
            if len(parts) > 1:
                yield from (part for part in parts if part.casefold() not in elsewhere)

    @property
    def places(self) -> Iterator[_Place]:
        """Where the wordings stand; a part of a wording only where that does not stand as a whole."""
        whole = [place for value in self.fact.value for place in places(self.spoken, str(value))]
        for value in self.values:
            for place in places(self.spoken, value):
                part = self.fact.type == "name" and place not in whole and self._of_another(place)
                if not part and (place in whole or not any(start <= place[0] < end for start, end in whole)):
                    yield place

    def _of_another(self, place: _Place) -> bool:
        """Whether a part of the name stands in another person's name: ``Kofi Mensah`` where it is Kofi Asante."""
        text, own = self.spoken.text, words_of(" ".join(map(str, self.fact.value)))
        part, last = text[slice(*place)], " ".join(str(value).split()[-1] for value in self.fact.value if value)
        if words_of(part) <= words_of(last):
            before = text[max(0, place[0] - 60) : place[0]]
            cut = max(before.rfind(" ", 0, -1), before.rfind("\n")) + 1
            neighbour, lead = before[cut:-1], before[:cut].rstrip(" ")
            if not before.endswith(" ") or not _NAME.fullmatch(neighbour):
                return False
            # the first word of a sentence is great for other reasons, unless a tool told of a person of that name
            known = any(f"{neighbour} {part}".casefold() in told.casefold() for told in self.back.known)
            if not known and (not lead or lead[-1] in ".!?\n"):
                return False
            beyond = "".join(lead.split()[-1:])
        else:
            found = _BEHIND.match(text, place[1])
            neighbour, beyond = found.groups("") if found else ("", "")
        return bool(neighbour) and neighbour.casefold() not in own | _NO_NAME and beyond.casefold() not in own

    @cached_property
    def foreign(self) -> Sequence[tuple[str, int, int]]:
        """The names in the message that are neither the fact's nor another fact's, and where they stand."""
        facts = (self.fact, *self.others)
        own = words_of(" ".join(str(value) for item in facts for value in (*item.value, *item.about)))
        found = list[tuple[str, int, int]]()
        for name in self.back.names:
            parts = re.findall(r"[^\W_]+", name.casefold())
            if parts and parts[0] in self.spoken.low and own.isdisjoint(parts):
                here = list(places(self.spoken, name)) or list(places(self.spoken, parts[0]))
                found += ((name, start, end) for start, end in here)
        return found

    def meant(self, place: _Place) -> Standing:
        """How a wording is meant; what is denied of it behind it denies it, where nothing was done about it."""
        how = standing(self.spoken, *place)
        idle = self.back.deeds <= {"read", "switch", "convert"}
        opens = not re.search(r"\w", self.spoken.lead(place[0]))
        return "denied" if how == "said" and idle and opens and _IS_NOT.match(self.spoken.low, place[1]) else how

    def lacks(self, place: _Place) -> bool:
        """Whether what a user would have to supply is said not to be there: ``without your password``."""
        supplied = all(value.lower().split()[-1] in _SUPPLIED for value in self.values if value)
        return supplied and _LACKING.search(self.spoken.lead(place[0])) is not None

    def against(self, said: Sequence[_Place]) -> Finding | None:
        """What takes a wording back that was said: an alternative, a list, another number or name."""
        wanted = self.wanted
        if any(self._alternative(place) for place in said):
            return contrary(f"offers {wanted} only as one of several")
        if superseded(self.spoken, said):
            return contrary(f"says that {wanted} is not so any more")
        other = self._rival(said) if self.of_a_person else self.other_number()
        if other:
            return contrary(f"says {wanted} and also {other!r}", other)
        if self.of_a_person and len(self._listed(said)) >= _LIST:
            return contrary(f"names {wanted} only in a list of several")
        return None

    def other_number(self) -> str | None:
        """Another number with the words of a wording that has one, said as so: ``997 Harbor`` where it is 697."""
        spoken = self.spoken
        asked = (*self.values, *(str(value) for other in self.others for value in other.value))
        right = {number for value in asked for number in _numbers(value)}
        for value in self.values:
            wording = _NUMBER_AND_WORDS.fullmatch(_plain(value).lower())
            for start, end in places(spoken, wording[2]) if wording else ():
                before = re.search(r"(?<![\w.,:])(\d+) $", spoken.low[max(0, start - 12) : start])
                if before and before[1] not in right and standing(spoken, start, end) == "said":
                    return spoken.text[start - len(before[0]) : end]
        return None

    def _alternative(self, place: _Place) -> bool:
        """Whether ``A or B`` leaves it open; two wordings of the same do not."""
        spoken = self.spoken
        found = _NEXT.match(spoken.low, place[1])
        if found is None or spoken.quote_at(place[0]):
            return False
        start = found.end()
        if any(first == start for value in self.values for first, _ in places(spoken, value)):
            return False
        same = _PLACED.search(spoken.low[max(0, place[0] - 12) : place[0]])
        if same and re.match(rf"{_OR_ELSE}{same[1]} (?:the|a|an|your|his|her) ", spoken.low[place[1] :]):
            return True
        either = "either" in spoken.low[max(0, place[0] - 20) : place[0]]
        return either or spoken.text[start].isupper() or spoken.text[start].isdigit()

    def _listed(self, said: Sequence[_Place]) -> set[str]:
        """The other people named in the same sentence, but for those that the user or a deed brought up."""
        sentences = {self.spoken.clause_at(place[0]).sentence for place in said}
        return {
            name
            for name, start, end in self.foreign
            if self.spoken.clause_at(start).sentence in sentences
            and standing(self.spoken, start, end) != "denied"
            and name.split()[0].casefold() not in self.back.brought_up
        }

    def _rival(self, said: Sequence[_Place]) -> str | None:
        """Another name that is offered as an alternative, or in the same breath as the answer."""
        spoken = self.spoken
        for name, start, end in self.foreign:
            how = standing(spoken, start, end)
            if how not in ("said", "doubted"):
                continue
            if how == "said" and all(standing(spoken, *place) == "past" for place in said):
                return name
            for place in said:
                early, late = sorted((place, (start, end)))
                between = spoken.low[early[1] : late[0]]
                if len(between) < 24 and _OR.search(between):
                    return name
            lead = spoken.lead(start)
            alone = re.search(r"\w", lead) is not None or _ALONE.match(spoken.low, end)
            if alone and spoken.clause_at(start).start > said[0][0] and _INSTEAD.match(lead):
                return name
        return None


def _refuses(fact: Fact) -> bool:
    said = " ".join(map(str, fact.value)) if fact.type == "text" else ""
    return re.search(r"\b(?:can't|cannot|unable|impossible)\b", said) is not None


def _number_last(value: str) -> Iterator[str]:
    """``27 Quince Lane`` as people also put it: ``Quince Lane 27``, ``Quince Lane, number 27``."""
    wording = _NUMBER_AND_WORDS.fullmatch(value)
    if wording:
        yield from (f"{wording[2]} {between}{wording[1]}" for between in ("", "number ", "no "))


@lru_cache(maxsize=8192)
def _numbers(value: str) -> tuple[str, ...]:
    """The numbers of a wording, as it is written and in its plain form."""
    return tuple(re.findall(r"\d+", f"{value} {_plain(value)}"))


@lru_cache(maxsize=8192)
def _plain(wording: str) -> str:
    return plain(wording)


def places(spoken: Spoken, wording: str) -> Iterator[_Place]:
    """Where a wording stands in a message, as whole words."""
    yield from spoken.find(_tokens(wording))


@lru_cache(maxsize=8192)
def _tokens(wording: str) -> tuple[str, ...]:
    return tuple(WORD.findall(_plain(wording).lower()))


def _asked(spoken: Spoken, place: _Place) -> bool:
    clause = spoken.clause_at(place[0])
    return clause.asks or clause.supposes
