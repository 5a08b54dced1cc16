"""Typed facts: whether a message states a time, an amount, a number, in any form, as so.

Policy: other values beside the right one are context. It is taken back by an alternative of its kind joined by "or",
by an explicit correction, or by another value in the very words that tell it. Where it is absent, another value of
its kind in its place is a wrong answer, unless the user named that value.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from sandbox_scenarios.model import Fact

from sandbox_grader.claims.background import Background, kind_of
from sandbox_grader.claims.equality import READ_AS, is_value_of, minutes_of
from sandbox_grader.claims.finding import Finding, contrary, doubtful
from sandbox_grader.claims.pairing import labels_of
from sandbox_grader.claims.standing import Standing, comes_to, standing
from sandbox_grader.claims.texts import alike
from sandbox_mcp.engine.talk.clauses import Talk
from sandbox_mcp.engine.talk.patterns import Lazy, one_of
from sandbox_mcp.engine.talk.values import Mention

_TIMES = one_of("day night week hour minute second month year")
_MEASURED = ("money", "percent", "temperature", "quantity", "duration")
"""Types that may be told as a bare number."""
_OR = Lazy(r"\W{0,3}(?:\w+ ){0,2}?or(?: \w+){0,2}\W{0,3}")
_OR_BARE = Lazy(r"(\d[\d.]*)(?:st|nd|rd|th)? or (?:\w+ )?$")
_BARE_OR = Lazy(r" or (?:perhaps |maybe |rather |even )?[$€£¥₹]? ?(\d[\d.]*)(?!\d| ?(?:so|more)\b)")
_CORRECTS = Lazy(
    r"\b(?:actually|correction|no, |wait,? |or rather|make that|i mean|i meant|i misspoke|my mistake|scratch that"
    r"|in fact)"
)
_CORRECTION = Lazy(r"^\W*(?:actually|correction|wait|sorry|no|scratch that|i misspoke|my mistake)\b")
_HEADS_SUMMARY = Lazy(
    r"\W*(?:(?:so|well|and),? )?(?:in (?:short|summary|brief|sum)|to (?:sum (?:(?:it|this|that|everything) )?(?:all"
    r" )?up|summari[sz]e|recap)|summary|tl;?dr|bottom line|final answer)\b"
)
_VALUE_BEFORE = Lazy(r"\d[^\d]{0,3}(?= )")
_NEXT_VALUE = Lazy(r"[,;\n]| and | but ")
_TELLS = Lazy(
    r"\b(?:is|are|was|says|shows|gives|total|totals|makes|only|at|of|have|has|got|found|be|equals?|about) (?:about "
    r"|only |now |just |exactly |roughly )?(?:the |a )?$"
)
_FELT = Lazy(r"\b(?:feel(?:s|ing)?|felt)(?: \w+){0,2}? like (?:about |a )?$|\bapparent \w+ (?:is |of )?$")
_DAYS_NAMED = ("today", "tomorrow", "yesterday", "tonight")
_LISTED = 6
"""A run of so many values of a kind, nothing but commas between them, is a list of candidates."""
_APART = 24
"""Characters between two values that are joined by "or"."""
_TELLING = 4
"""Letters from which the name of a key tells it from others."""
_SAME_WORDS = 12
"""Characters before two values that are equal where the same thing is told twice."""


def typed(talk: Talk, found: Sequence[Mention], fact: Fact, others: Sequence[Fact], back: Background) -> Finding:
    """Whether a message with some values in it states a typed one; ``others`` are asked for in the session, too."""
    values = " or ".join(map(str, fact.value[:3]))
    wanted = " ".join(filter(None, ("the", fact.attribute, fact.type, values, fact.unit)))
    mine = [item for item in found if item.kind in READ_AS[fact.type] and is_value_of(item, fact, talk)]
    peers = list(_peers(talk, found, fact, mine))
    if fact.type in ("count", "number"):
        bare = [item for item in peers if not _is_of_a_name(talk, item, back)]
        if bare:
            mine, peers = [item for item in mine if not _is_of_a_name(talk, item, back)], bare
    asked = [other for other in others if other.type in READ_AS]
    rivals = [
        item for item in peers
        if standing(talk, item.start) in ("said", "hedged")
        and not any(item.kind in READ_AS[other.type] and is_value_of(item, other, talk) for other in asked)
    ]  # fmt: skip
    hows: list[Standing] = []
    for item in mine:
        how = _how(talk, fact, item, mine, peers, rivals, back)
        hows.append("swapped" if how == "said" and _of_another(talk, fact, item, back) else how)
    heard = comes_to(hows, wanted)
    if heard.outcome != "missing":
        return heard
    instead = next((item for item in rivals if _stands_for(talk, fact, item) and not back.was_given(item)), None)
    if instead is None:
        return heard
    shown = talk.text[instead.start : instead.end].strip()
    why = f"says {shown!r}, expected {wanted}"
    return (
        doubtful(why) if fact.type == "date" and any(day in talk.low for day in _DAYS_NAMED) else contrary(why, shown)
    )


def _peers(talk: Talk, found: Sequence[Mention], fact: Fact, mine: Sequence[Mention]) -> Iterator[Mention]:
    """Other values that could be told in the place of a fact's."""
    own = {{"count": "number"}.get(fact.type, fact.type), *(item.kind for item in mine)}
    if fact.type == "count" and fact.unit in _TIMES:
        own.add("duration")
    for item in found:
        if item in mine:
            continue
        bare = fact.type in _MEASURED and item.kind == "number" and not item.unit
        if item.kind in own or (bare and _is_an_answer(talk, item)):
            yield item


def _is_of_a_name(talk: Talk, item: Mention, back: Background) -> bool:
    """True if a number is part of a name: the 4 of Skua 4 does not say how many flights there were."""
    return any(
        talk.low.startswith(name, item.start - at) for name in back.parts.get(talk.low[item.start : item.end], ())
        if (at := name.find(talk.low[item.start : item.end])) > 0
    )  # fmt: skip


def _stands_for(talk: Talk, fact: Fact, item: Mention) -> bool:
    """True if a value stands where the answer does."""
    if fact.type == "count":
        same_noun = bool(item.unit and fact.unit) and item.unit[:4] == fact.unit[:4]
        return item.kind == "duration" or same_noun or (not item.unit and _is_an_answer(talk, item))
    return fact.type != "number" or _is_an_answer(talk, item)


def _is_an_answer(talk: Talk, item: Mention) -> bool:
    """True if a number stands behind a verb that tells it, or alone in its clause."""
    clause = talk.clause_at(item.start)
    lead = talk.low[clause.start : item.start]
    return not any(map(str.isalnum, lead)) or bool(_TELLS.search(lead))


def _how(
    talk: Talk, fact: Fact, item: Mention, mine: Sequence[Mention], peers: Sequence[Mention],
    rivals: Sequence[Mention], back: Background
) -> Standing:  # fmt: skip
    """How one mention of the right value stands among the others."""
    how = standing(talk, item.start)
    if how not in ("said", "hedged"):
        return how
    if _is_alternative(talk, item, mine, peers):
        return "or"
    if any(_corrects(talk, item, other, mine, peers) for other in rivals):
        return "corrected"
    if (
        fact.type == "temperature"
        and "feel" not in back.user_said
        and _FELT.search(talk.low[max(0, item.start - 32) : item.start])
    ):
        return "swapped"
    sentence = talk.clause_at(item.start).sentence
    run = [other for other in peers if talk.clause_at(other.start).sentence == sentence]
    if how == "said" and len(run) >= _LISTED and len(mine) < len(run) / 2 and _is_run(talk, item, run):
        return "candidate"
    return how


def _is_alternative(talk: Talk, item: Mention, mine: Sequence[Mention], peers: Sequence[Mention]) -> bool:
    """True if another number or value is joined to a value by "or"."""
    for other in peers:
        first, second = (item, other) if item.start < other.start else (other, item)
        if (
            first.end <= second.start
            and second.start - first.end < _APART
            and _OR.fullmatch(talk.low, first.end, second.start)
        ):
            return True
    before = _OR_BARE.search(talk.low, max(0, item.start - 16), item.start)
    behind = _BARE_OR.match(talk.low, item.end)
    if behind and any(other.start <= behind.start(1) < other.end for other in mine):
        behind = None  # the same in another unit
    written = talk.low[item.start : item.end]
    return any(found and found[1].rstrip(".") not in written for found in (before, behind))


def _corrects(talk: Talk, item: Mention, other: Mention, mine: Sequence[Mention], peers: Sequence[Mention]) -> bool:
    """True if another value behind the right one, which does not come again, takes its place."""
    if other.start <= item.end or other.kind != item.kind or any(later.start > other.start for later in mine):
        return False
    clause, own = talk.clause_at(other.start), talk.clause_at(item.start)
    if clause.quoted:
        return False
    begin = max(talk.sentence(clause.sentence)[0].start, item.end)
    if _CORRECTS.search(talk.low, begin, other.start):
        return True
    if clause.sentence == own.sentence:
        return False
    lead, same = talk.low[clause.start : other.start].strip(), talk.low[own.start : item.start].strip()
    if len(lead) >= _SAME_WORDS and lead == same:
        return True
    between = [talk.sentence(number) for number in range(own.sentence + 1, clause.sentence + 1)]
    if _last_words(lead) == _last_words(same) and any(here and _CORRECTION.match(here[0].text) for here in between):
        return True
    if other.unit != item.unit or not any(here and _HEADS_SUMMARY.match(talk.low, here[0].start) for here in between):
        return False
    beside = [one for one in peers if one.kind in ("number", item.kind) and one.start != other.start]
    return all(talk.clause_at(one.start).sentence != clause.sentence for one in beside)  # else these may be its parts


def summed_up_otherwise(talk: Talk, found: Sequence[Mention], back: Background) -> str | None:
    """A time in a summary that the message does not state before it, where it states others; None without one."""
    heads = (
        here[0] for number in talk.sentences if _HEADS_SUMMARY.match(talk.low, (here := talk.sentence(number))[0].start)
    )
    start = next((clause.start for clause in heads), len(talk.text))
    times = [item for item in found if item.kind == "time"]
    before = [item for item in times if item.start < start]
    known = {minutes_of(text) for text in back.known if kind_of(text) == "time"}
    for item in times if before else ():
        new = item.start > start and item.number not in known and not back.was_given(item)
        if new and not any(alike(item, one) for one in before):
            return talk.text[item.start : item.end].strip()
    return None


def _last_words(lead: str) -> list[str]:
    return lead.split()[-2:]


def _of_another(talk: Talk, fact: Fact, item: Mention, back: Background) -> bool:
    """True if a value is told under the name of another: an excluded attribute, or its neighbour in the results.

    As in the audience's 81 for the critics': that name stands before the value in its clause, and its own not near it.
    """
    clause = talk.clause_at(item.start)
    own, lead = fact.attribute.lower(), _VALUE_BEFORE.split(talk.low[clause.start : item.start])[-1]
    if fact.excludes:
        behind = _NEXT_VALUE.split(talk.low[item.end :][:_APART])[0]
        wrong = max(lead.rfind(str(word).lower()) for word in fact.excludes)
        return lead.rfind(own) < wrong and own not in behind
    if not isinstance(item.value, int | float) or (own and own in talk.sentence_text(clause.sentence)):
        return False
    words = {found for found in re.findall(r"\w+", lead) if len(found) > _TELLING} - _TIMES
    labels = labels_of(item.number / item.factor, back) if words else ()
    return bool(labels) and all(
        siblings & words and not any(word in clause.text for word in mine) for mine, siblings in labels
    )


def _is_run(talk: Talk, item: Mention, run: Sequence[Mention]) -> bool:
    """True if nothing but commas stands between a value and most of its neighbours."""
    ordered = sorted({*run, item}, key=lambda one: one.start)
    gaps = (talk.low[one.end : other.start].strip(" ,;") for one, other in pairwise(ordered))
    return sum(gap in ("", "and", "or") for gap in gaps) >= _LISTED
