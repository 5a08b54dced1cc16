"""Names and texts: whether a message states one of a fact's wordings as so, and not as one of several candidates.

Policy: a name may be told in part where no other name has that part. What is joined to it by "or" makes it a guess, and
so does a row of names or short texts where few were asked for: a list of candidates is no answer.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from sandbox_scenarios.model import Fact

from sandbox_grader.claims.background import Background
from sandbox_grader.claims.finding import Finding, stated
from sandbox_grader.claims.pairing import cells_beside, rivals_of
from sandbox_grader.claims.standing import Standing, comes_to, standing
from sandbox_mcp.engine.talk.clauses import Talk
from sandbox_mcp.engine.talk.numbers import MONTHS, figured
from sandbox_mcp.engine.talk.patterns import Lazy, any_case
from sandbox_mcp.engine.talk.values import WEEKDAYS

_NEGATIVE = Lazy(
    r"\b(?:no|not|none|nothing|nobody|never|zero|empty|n't|cannot|unable|wrong|incorrect|refused|without|only)\b"
    r"|n['’]t\b"
)
"""Wordings that deny something themselves."""
_ASKS = Lazy(r".*\?\s*$|(?:which|who|what|when|where|how)\b")
_WORD = Lazy(r"[^\W\d_]+|\d+")
_JOINED = Lazy(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
"""Letters of scripts that put no space between words."""
_SHORT, _TITLE, _SEVERAL, _MANY = 3, 6, 4, 5
"""Words of an item and of a title, other items in doubt and as candidates."""
_SEPARATOR = Lazy(r"\s*[,;/\n]+\s*(?:and |or )?|\s+(?:and|or)\s+")
_LEAD = any_case(
    r"^(?:(?:it |he |she |they )?(?:is|was|are) |or |and |maybe |perhaps |else |either |in |at |from |by |the |an? |to "
    r"|for )*"
)


def _places(value: str, low: str) -> Iterator[re.Match[str]]:
    """Where a wording stands in a text in lower case, whatever its punctuation but a number's sign; a plural counts."""
    first, pattern = _wording(value)
    return pattern.finditer(low) if first in low else iter(())


@lru_cache(maxsize=8192)
def _wording(value: str) -> tuple[str, Lazy]:
    """The first word of a wording, and the pattern for all of it."""
    words = _WORD.findall(figured(value).lower())
    if not words:
        return "", Lazy(r"(?!)")
    parts = [re.escape(words[0])]
    for before, word in pairwise(words):
        parts += (r"[\W_]{0,3}" if before.isdigit() != word.isdigit() else r"[\W_]{1,3}", re.escape(word))
    before = "" if _JOINED.match(words[0]) else r"(?<![^\W_])"
    if words[0].isdigit():
        before = r"(?:(?<!\w)[-\u2212]|\bminus )" if value.strip()[0] in "-\u2212" else rf"{before}(?<!\s[-\u2212])"
    behind = "" if _JOINED.match(words[-1][-1]) else r"(?:s|es|'s)?(?![^\W_])"
    return words[0], Lazy(f"{before}{''.join(parts)}{behind}")


def worded(talk: Talk, fact: Fact, others: Sequence[Fact], back: Background) -> Finding:
    """Whether a message has one of a fact's wordings, said as so."""
    values = list(map(str, fact.value))
    wanted = " or ".join(map(repr, values[:4]))
    named = fact.type == "name"
    places = all_places(values, talk)
    if named and not places:  # where the whole name stands, a part of it says nothing more
        parts = all_places(_parts(values, back), talk)
        places = {at: end for at, end in parts.items() if not _goes_on(talk, end, values)}
    ends = list(places.items())
    places = {at: end for at, end in ends if not any(start < at and end <= stop for start, stop in ends)}
    negative = any(_NEGATIVE.search(value.lower()) for value in values)
    asking = any(_ASKS.match(value.lower()) for value in values)
    hows: list[Standing] = [
        _how(talk, span, fact, others, back, negative=negative, asking=asking) for span in places.items()
    ]
    # a refusal leaves what it is about open
    refused = {"denied"} if named else {"denied", "perhaps denied", "hedged", "unsaid"}
    if refused & set(hows) and any(_refuses(other) for other in others):
        return stated(f"says {wanted}")
    return comes_to(hows, wanted)


def all_places(values: Iterable[str], talk: Talk) -> dict[int, int]:
    """Where any of some wordings stand, with where the longest that begins there ends."""
    places = dict[int, int]()
    for value in values:
        for found in _places(value, talk.low):
            places[found.start()] = max(places.get(found.start(), 0), found.end())
    return places


def _goes_on(talk: Talk, end: int, values: Sequence[str]) -> bool:
    """True if a part of a name goes on as another name does: the Osprey of Osprey Meadows, for Osprey Cycles."""
    found = _NEXT_PART.match(talk.text, end)
    own = " ".join(values).lower()
    return (
        found is not None and found[2].lower() not in own and not found[2].lower().startswith(_CALENDAR)
        and (not found[1] or any(sign in own for sign in ("&", " and ")))
    )  # fmt: skip


def _how(
    talk: Talk, span: tuple[int, int], fact: Fact, others: Sequence[Fact], back: Background, *, negative: bool,
    asking: bool
) -> Standing:  # fmt: skip
    how = standing(talk, span[0], bounded=False)
    clause = talk.clause_at(span[0])
    if how in ("denied", "perhaps denied") and negative:
        how = "said"
    if how == "hedged" and _refuses(fact):
        how = "said"  # "I can't find out" refuses, and leaves open only what it is about
    if how == "denied" and fact.type != "name" and clause.denied(span[0])[1] > 1:
        how = "perhaps denied"
    if how == "unsaid" and asking:
        how = "said"
    if how not in ("said", "hedged") or clause.quoted:
        return how
    kind = _among_candidates(talk, span, fact, others, back)
    if kind:
        return kind
    return how


def _among_candidates(
    talk: Talk, span: tuple[int, int], fact: Fact, others: Sequence[Fact], back: Background
) -> Standing | None:
    """Whether a wording stands in a row of short items as one that may be right, or among many nobody asked for."""
    before = _NAME_BEFORE.search(talk.text[max(0, span[0] - 40) : span[0]])
    behind = _NAME_BEHIND.match(talk.text, span[1])
    span = (span[0] - len(before[0]) if before else span[0], behind.end() if behind else span[1])
    own = talk.low[slice(*span)]
    together = [text for text in back.known if own in text]
    for text in together:  # the whole of what a tool answered
        start = span[0] - text.find(own)
        if len(text) > len(own) and start >= 0 and talk.low.startswith(text, start):
            span, own = (start, start + len(text)), text
            break
    items, either = _row(talk, span)
    if any(item.lower() == own for item in items):
        return None  # the row, and the answer behind it
    either = either or bool(_ONE_OF.search(talk.text, max(0, span[0] - _REACH), span[0]))
    asked = [
        item for item in items
        if any(any(_places(str(value), item.lower())) for other in others for value in other.value)
    ]  # fmt: skip
    foreign = [
        item for item in items
        if not any(item.lower() in text for text in together)  # as in an address, which is one value
        and item.lower() not in own and own not in item.lower() and item not in asked
    ]  # fmt: skip
    if foreign:  # its author and its number are no candidates beside a title
        cells = cells_beside((own, *[item.lower() for item in asked]), back)
        foreign = [item for item in foreign if item.lower() not in cells]
    if either and any(_is_candidate(item, back) for item in foreign):
        return "or"
    if not any(map(str.isalpha, own)):
        return None  # a date and a time are a row, too
    foreign = [item for item in foreign if any(map(str.isalpha, item.split()[0]))]  # another name is one, a date is not
    if not foreign:
        return None
    candidates = sum(_is_candidate(item, back) for item in foreign)
    if len(foreign) >= max(_SEVERAL, 2 + 2 * sum(other.type in ("name", "text") for other in others)):
        return "candidate" if candidates >= _MANY else "listed"
    rivals = rivals_of(fact, back)
    beside = sum(any(name in item.lower() for name in rivals) for item in foreign)
    return "listed" if beside >= max(2, 1 + len(asked)) else None


def _row(talk: Talk, span: tuple[int, int]) -> tuple[list[str], bool]:
    """The other items of the row in which a wording stands, and whether "or" joins them to it."""
    begin = max(talk.low.rfind("\n\n", 0, span[0]) + 1, span[0] - _REACH, 0)
    stop = talk.low.find("\n\n", span[1])
    stop = min(len(talk.low) if stop < 0 else stop, span[1] + _REACH)
    gaps = list(_SEPARATOR.finditer(talk.low, begin, stop))
    own = sum(gap.end() <= span[0] for gap in gaps)
    items, either = list[str](), False
    before = talk.low[gaps[own - 1].end() if own else begin : span[0]]
    behind = talk.low[span[1] : gaps[own].start() if own < len(gaps) else stop]
    if not _LEAD.sub("", before).strip(" \"'*"):
        for place in range(own - 1, -1, -1):
            start = gaps[place - 1].end() if place else begin
            words = _ITEM_END.split(talk.text[start : gaps[place].start()])[-1].split()
            whole = _is_item(words)
            item = _LEAD.sub("", " ".join(words)) if whole else " ".join(words[-1:])
            items += [item] if item else []
            either = either or "or" in gaps[place][0].split()
            if not whole or _ITEM_END.search(talk.text, start, gaps[place].start()):
                break
    if not behind.strip(" \"'*.!"):
        for place in range(own, len(gaps)):
            end = gaps[place + 1].start() if place + 1 < len(gaps) else stop
            item = talk.text[gaps[place].end() : end]
            if "or" not in gaps[place][0].split() and _PLACED.match(item):
                break  # "the café, at 7 Harbour Lane, Cape Town"
            words = _ITEM_END.split(_LEAD.sub("", item))[0].split()
            whole = _is_item(words)
            items += [" ".join(words if whole else words[:1])] if words else []
            either = either or "or" in gaps[place][0].split()
            if not whole or _ITEM_END.search(talk.text, gaps[place].end(), end):
                break
    return items, either


_ONE_OF = Lazy(
    r"\b[Oo]ne of (?:(?:[A-Z][\w'-]*,? (?:and )?)*|(?:these|those|them|the following)\b[^.!?\n:]{0,40}:[^\n]*)$"
)
"""Before a name that is one of several."""


def _is_item(words: Sequence[str]) -> bool:
    """True if words may be an item of a row as a whole: few, or some more that begin as a title does."""
    return 0 < len(words) <= (_TITLE if words[0][0].isupper() else _SHORT)


_PLACED = any_case(r"(?:in|at|from|by|to|for|on|with|of|near|\d)\b")
_NAME_BEFORE = Lazy(r"(?:(?<!\w)[A-Z\u00c0-\u00de][\w'-]*\s)+$")
_NAME_BEHIND = Lazy(r"(?:\s[A-Z\u00c0-\u00de][\w'-]*)+")
"""The rest of a name of which a wording is a part."""
_NEXT_PART = Lazy(r" (and |& )?([A-Z\u00c0-\u00de][\w-]+)(?!')")
_CALENDAR = (*WEEKDAYS, *MONTHS)
_REACH = 400
"""Characters on both sides of a wording in which its row is looked for."""
_ITEM_END = Lazy(r"[.!?():–](?:\s|$)|\s(?:but|is|are|was|were|who|which|that|as|because|if|so|–)\s|[()]")


def _is_candidate(item: str, back: Background) -> bool:
    """True if an item of a row is a name, a number or something that a tool answered."""
    words = item.split()
    return bool(words) and (words[0][0].isupper() or words[0][0].isdigit() or item.lower() in back.known)


def _refuses(fact: Fact) -> bool:
    return fact.type == "cannot" or (
        fact.type == "text"
        and any(word in str(value) for value in fact.value for word in ("can't", "cannot", "unable"))
    )


def _parts(values: Sequence[str], back: Background) -> Iterator[str]:
    """The parts of names that no other name of the world has."""
    own = {value.lower() for value in values}
    for value in values:
        parts = [part for part in _WORD.findall(value) if len(part) >= _SHORT]
        if len(parts) > 1:
            yield from (part for part in parts if back.parts.get(part.lower(), own) <= own)
