"""Whether a message states a name or a text: one of its wordings, said as so, and for names nobody else's instead.

Policy: words and numbers count, whole and in order; case, typography and punctuation do not.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from sandbox_scenarios.model import Fact

from sandbox_grader.claims.asserted import Standing, standing, superseded
from sandbox_grader.claims.background import Background
from sandbox_grader.claims.clauses import WORD, Spoken
from sandbox_grader.claims.finding import Finding, contrary, missing, stated
from sandbox_grader.claims.normal import plain, table

_OR = re.compile(r"\bor\b|/|\balternatively\b")
_QUESTION = re.compile(r"^(?:which|who|whom|whose|what|when|where|why|how)\b|\?$", re.IGNORECASE)
"""A wording that asks is met by a question."""


def worded(spoken: Spoken, fact: Fact, others: Sequence[Fact], back: Background) -> Finding:
    """Whether one of the fact's wordings is said as so."""
    wanted = " or ".join(repr(str(value)) for value in fact.value[:4])
    kind = "name" if _names_a_person(fact, back) else "text"
    values = [
        *map(str, fact.value),
        *(other for value in fact.value for other in _number_last(str(value))),
        *(_parts(fact, back) if fact.type == "name" else ()),
    ]
    whole = [place for value in fact.value for place in places(spoken, str(value))]
    found = [
        (place, _meant(spoken, place, back))
        for value in values
        for place in places(spoken, value)
        if place in whole or not any(start <= place[0] < end for start, end in whole)
    ]
    refusing = any(_refuses(other) for other in others)  # "location" and "cannot" are one refusal in two lists
    said = [place for place, how in found if how in ("said", "past") or (refusing and how == "denied")]
    if said:
        return _against(spoken, fact, said, values, others, back) or stated(f"says {wanted}")
    if any(how == "unsaid" and not _asked(spoken, place) for place, how in found):
        return stated(f"says {wanted}")
    if any(
        _QUESTION.search(str(value)) and _asked(spoken, place)
        for value in fact.value
        for place in places(spoken, str(value))
    ):
        return stated(f"asks {wanted}")
    if any(how == "denied" and _is_missing(spoken, place, values) for place, how in found):
        return stated(f"says that {wanted} is missing")
    for _, how in found:
        if how == "denied":
            return contrary(f"denies the {kind} {wanted}")
        if how == "withdrawn":
            return contrary(f"takes the {kind} {wanted} back")
    number = _other_number(spoken, values, others) if kind == "text" and not found else None
    if number:
        return contrary(f"says {number!r}, expected {wanted}", number)
    if kind == "name" and not found:
        rival = _other_name(spoken, fact, others, back)
        if rival:
            return contrary(f"names {rival!r}, expected {wanted}", rival)
    return missing(f"only guesses at {wanted}" if found else f"does not say {wanted}")


def _is_missing(spoken: Spoken, place: tuple[int, int], values: Sequence[str]) -> bool:
    """Whether what a user would have to supply is said not to be there: ``without your password``."""
    if not all(value.lower().split()[-1] in _SUPPLIED for value in values if value):
        return False
    lead = spoken.low[spoken.clause_at(place[0]).start : place[0]]
    return _LACKING.search(lead) is not None


_SUPPLIED = frozenset(
    table(
        "number password city town place date time day name address email amount code username recipient destination "
        "title account country currency subject year month"
    )
)
_LACKING = re.compile(
    r"\b(?:no|without|(?:do|does|did|have|has) not (?:have|know|see|find|get|got|told|given|mentioned|said|specified)"
    r"(?: me| us| you)?)(?: (?:the|a|an|any|your|its|his|her|their|which|\w+)){0,2} $"
)
"""Before what is missing."""


def _refuses(fact: Fact) -> bool:
    return fact.type == "text" and any(
        re.search(r"\b(?:can't|cannot|unable|impossible)\b", str(value)) for value in fact.value
    )


def _against(
    spoken: Spoken,
    fact: Fact,
    said: Sequence[tuple[int, int]],
    values: Sequence[str],
    others: Sequence[Fact],
    back: Background,
) -> Finding | None:
    """What takes a wording back that was said: an alternative, a list, another number or name."""
    wanted = " or ".join(repr(str(value)) for value in fact.value[:4])
    if any(_alternative(spoken, place, values) for place in said):
        return contrary(f"offers {wanted} only as one of several")
    if superseded(spoken, said):
        return contrary(f"says that {wanted} is not so any more")
    if not _names_a_person(fact, back):
        number = _other_number(spoken, values, others)
        return contrary(f"says {wanted} and also {number!r}", number) if number else None
    rival = _rival(spoken, fact, said, others, back)
    if rival:
        return contrary(f"says {wanted} and also {rival!r}", rival)
    if len(_listed(spoken, fact, said, others, back)) >= LIST:
        return contrary(f"names {wanted} only in a list of several")
    return None


def _names_a_person(fact: Fact, back: Background) -> bool:
    """Whether a fact's wordings are names, by its type or because the world knows people who have them."""
    known = {part for name in back.names for part in (name.casefold(), *name.casefold().split())}
    return fact.type == "name" or all(str(value).casefold() in known for value in fact.value)


def _meant(spoken: Spoken, place: tuple[int, int], back: Background) -> Standing:
    """How a wording is meant; what is denied of it behind it denies it, where nothing was done about it."""
    how = standing(spoken, *place)
    idle = back.deeds <= {"read", "switch", "convert"}
    opens = not re.search(r"\w", spoken.low[spoken.clause_at(place[0]).start : place[0]])
    return "denied" if how == "said" and idle and opens and _IS_NOT.match(spoken.low, place[1]) else how


_IS_NOT = re.compile(r"(?: \w+)? (?:is|was) not (?:the|your|a|who|where|what|on|in|at) |(?: \w+)? (?:did|does) not ")
"""Behind a wording of which something is denied."""


_NUMBER_AND_WORDS = re.compile(r"(\d+) ([^\W\d_]{3,}.*)")


def _other_number(spoken: Spoken, values: Sequence[str], others: Sequence[Fact]) -> str | None:
    """Another number with the words of a wording that has one, said as so: ``997 Harbor`` where it is 697 Harbor."""
    asked = (*values, *(str(value) for other in others for value in other.value))
    right = {number for value in asked for number in _numbers(value)}
    for value in values:
        wording = _NUMBER_AND_WORDS.fullmatch(_plain(value).lower())
        if wording is None:
            continue
        for start, end in places(spoken, wording[2]):
            before = re.search(r"(?<![\w.,:])(\d+) $", spoken.low[max(0, start - 12) : start])
            if before and before[1] not in right and standing(spoken, start, end) == "said":
                return spoken.text[start - len(before[0]) : end]
    return None


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


def _parts(fact: Fact, back: Background) -> Iterator[str]:
    """The first or last name alone, where no other person that the world knows has it."""
    own = {str(value).casefold() for value in fact.value}
    elsewhere = {
        part for name in back.names if name.casefold() not in own for part in re.findall(r"[^\W_]+", name.casefold())
    }
    for value in fact.value:
        parts = re.findall(r"[^\W_]{3,}", str(value))
        if len(parts) > 1:
            yield from (part for part in parts if part.casefold() not in elsewhere)


_OR_ELSE = (
    r"(?:\W{0,3} or|\W{1,3}if not|\W{1,3}alternatively,?|\W{0,3} versus) (?:it is |else )?"
    r"(?:maybe |perhaps |possibly )?"
)
_NEXT = re.compile(rf"{_OR_ELSE}(?:(?:at|in|by|from|to|with|on|under) )?(?=([^\W_]))")
_PLACED = re.compile(r"\b(at|in|on|to|with|by|from|under|behind|near|beneath|above|inside|below|beside) (?:the )?$")


def _alternative(spoken: Spoken, place: tuple[int, int], values: Sequence[str]) -> bool:
    """Whether ``A or B`` leaves it open; two wordings of the same do not."""
    found = _NEXT.match(spoken.low, place[1])
    if found is None or spoken.quoted(place[0]):
        return False
    start = found.end()
    if any(first == start for value in values for first, _ in places(spoken, value)):
        return False
    same = _PLACED.search(spoken.low[max(0, place[0] - 12) : place[0]])
    if same and re.match(rf"{_OR_ELSE}{same[1]} (?:the|a|an|your|his|her) ", spoken.low[place[1] :]):
        return True
    return (
        spoken.text[start].isupper()
        or spoken.text[start].isdigit()
        or "either" in spoken.low[max(0, place[0] - 20) : place[0]]
    )


def places(spoken: Spoken, wording: str) -> Iterator[tuple[int, int]]:
    """Where a wording stands in a message, as whole words."""
    yield from spoken.find(_tokens(wording))


@lru_cache(maxsize=8192)
def _tokens(wording: str) -> tuple[str, ...]:
    return tuple(WORD.findall(_plain(wording).lower()))


def _asked(spoken: Spoken, place: tuple[int, int]) -> bool:
    clause = spoken.clause_at(place[0])
    return clause.asks or clause.supposes


_INSTEAD = re.compile(
    r"\W*(?:(?:no|actually|or|wait|sorry|rather|well|maybe|then again|make that|in fact)\W+){0,3}"
    r"(?:(?:it|that|he|she|this|the (?:name|answer|sender|person)) (?:was|is|were|came|comes) )?(?:actually "
    r"|really |in fact )?(?:(?:sent |written )?(?:from|by) )?$"
)


_ALONE = re.compile(r"\W*(?:$|\n)|[.,;!?)]| did\b| is (?:also |just |equally )?(?:as )?(?:likely|possible)\b")
"""Behind a name that is all that a clause says."""
LIST = 2
"""With so many further names in its sentence a name stands in a list, and is not an answer."""


def _listed(
    spoken: Spoken, fact: Fact, said: Sequence[tuple[int, int]], others: Sequence[Fact], back: Background
) -> set[str]:
    """The other people named in the same sentence, but for those that the user or a deed brought up."""
    sentences = {spoken.clause_at(place[0]).sentence for place in said}
    brought_up = " ".join((*back.given, *back.touched)).casefold()
    return {
        name
        for name, start, end in _foreign(spoken, fact, others, back)
        if spoken.clause_at(start).sentence in sentences
        and standing(spoken, start, end) != "denied"
        and name.split()[0].casefold() not in brought_up
    }


_BOTH = re.compile(r" both\b")
_STAYS = re.compile(r" (?:is|are|remains?|stays?|was|were) (?:still|also|untouched|unchanged|kept|left)\b")
"""Behind the name of whoever was left as they were."""


def _rival(
    spoken: Spoken, fact: Fact, said: Sequence[tuple[int, int]], others: Sequence[Fact], back: Background
) -> str | None:
    """Another name that is offered as an alternative, or in the same breath as the answer."""
    for name, start, end in _foreign(spoken, fact, others, back):
        if standing(spoken, start, end) not in ("said", "doubted") or _STAYS.match(spoken.low, end):
            continue
        if all(standing(spoken, *place) == "past" for place in said) and standing(spoken, start, end) == "said":
            return name
        for first, last in said:
            early, late = sorted(((first, last), (start, end)))
            between = spoken.low[early[1] : late[0]]
            both = between.strip() == "and" and _BOTH.match(spoken.low, late[1])
            if len(between) < 24 and (both or _OR.search(between)):
                return name
        clause = spoken.clause_at(start)
        later = clause.start > said[0][0] and clause is not spoken.clause_at(said[0][0])
        lead = spoken.low[clause.start : start]
        alone = re.search(r"\w", lead) is not None or _ALONE.match(spoken.low, end)
        if later and alone and _INSTEAD.match(lead):
            return name
    return None


def _other_name(spoken: Spoken, fact: Fact, others: Sequence[Fact], back: Background) -> str | None:
    return next(
        (
            name
            for name, start, end in _foreign(spoken, fact, others, back)
            if standing(spoken, start, end) == "said" and name.casefold() not in " ".join(back.given).casefold()
        ),
        None,
    )


def _foreign(spoken: Spoken, fact: Fact, others: Sequence[Fact], back: Background) -> Iterator[tuple[str, int, int]]:
    """The names in the message that are neither the fact's nor another fact's."""
    own = {
        part
        for item in (fact, *others)
        for value in (*item.value, *item.about)
        for part in re.findall(r"[^\W_]+", str(value).casefold())
    }
    for name in back.names:
        parts = re.findall(r"[^\W_]+", name.casefold())
        if not parts or set(parts) & own:
            continue
        if parts[0] in spoken.low:
            yield from ((name, start, end) for start, end in places(spoken, name))
            if len(parts) > 1 and not any(True for _ in places(spoken, name)):
                yield from ((name, start, end) for start, end in places(spoken, parts[0]))
