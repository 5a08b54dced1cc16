"""Whether a text that was written into the world may stand for those that the reference solutions wrote.

Policy: people word things differently, so that other words are fine; what turns the meaning round is not: a denial
that no model has, an opposite, something taken back, a further time or amount, or much more than was to be
said.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations, product

from sandbox_grader.claims.equality import currency_fits
from sandbox_mcp.engine.talk.clauses import Talk, read
from sandbox_mcp.engine.talk.deeds import stem
from sandbox_mcp.engine.talk.patterns import one_of
from sandbox_mcp.engine.talk.values import Mention, mentions

FUNCTION_WORDS = one_of(
    "the a an is are was were be been will would it its that this there here of in on at to for by with and or but so "
    "no not from as your you i me my we our us he she they them his her their has have had do does did just only also "
    "now then about if when what how can could all am some any more very really too well out up off into again back "
    "one both two"
)
"""Words without a content of their own."""
MOST_MORE = 14
"""So many content words may a text have beyond twice those of the longest model."""


def faults(text: str, models: Sequence[str], synonyms: Sequence[Sequence[str]] = ()) -> str | None:
    """Reason why a text says something else than the models do, in words; None if nothing speaks against it.

    Without models only withdrawals are found; ``synonyms`` are groups of words that may stand for each other.
    """
    talk = read(text)
    compared = [_model(model) for model in models]
    if talk.withdrawn and not any(model.withdrawn for model, _ in compared):
        return "takes back what it says"
    if not models:
        return None
    if all(_denied(talk, synonyms) != _denied(model, synonyms) for model, _ in compared):
        return "denies what it should say, or says what it should deny"
    if _is_opposite(talk.low, " ".join(model.low for model, _ in compared)):
        return "says the opposite"
    if all(_turns_into_a_time(talk, *model) for model in compared):
        return "makes a time of a number"
    further = _further(mentions(talk.text), [item for _, values in compared for item in values])
    if further:
        return f"adds {talk.text[further.start : further.end].strip()!r}"
    longest = max(len(content_words(model)) for model, _ in compared)
    if len(content_words(talk)) > 2 * longest + MOST_MORE:
        return "says much more than was to be said"
    return None


_OPPOSITES = tuple(
    (one_of(one), one_of(other)) for one, other in (
        ("caught catch made reached", "missed miss"), ("early earlier", "late later delayed"),
        ("accept accepted", "decline declined refuse refused"), ("won win", "lost lose"), ("open", "closed shut"),
    )
)  # fmt: skip
"""Words that turn a meaning round."""


def _is_opposite(text: str, models: str) -> bool:
    """True if a text has the opposite of a word that a model has, and neither text nor models have both."""
    said, wanted = (frozenset(re.findall(r"[a-z]+", low)) for low in (text, models))
    return any(
        said & mine and not said & theirs and wanted & theirs and not wanted & mine
        for pair in _OPPOSITES for mine, theirs in (pair, pair[::-1])
    )  # fmt: skip


@lru_cache(maxsize=2048)
def _model(text: str) -> tuple[Talk, tuple[Mention, ...]]:
    talk = read(text)
    return talk, tuple(mentions(talk.text))


def _denied(talk: Talk, synonyms: Sequence[Sequence[str]]) -> bool:
    """True if the text denies on the whole: an odd number of denials, cancelling words counted with them."""
    count = sum(len(clause.denials) for clause in talk.clauses if not clause.asks)
    negative = {"cancelled", "canceled", "off", "called"}
    if any(negative & {word.lower() for word in group} for group in synonyms):
        return False
    return count % 2 == 1


def _further(found: Sequence[Mention], wanted: Sequence[Mention]) -> Mention | None:
    """A time, date, amount or phone number that no model has, where models have one of that kind or none of any."""
    kinds = {item.kind for item in wanted}
    for item in found:
        if item.kind == "number" or item.kind not in kinds:
            continue
        same = [other for other in wanted if other.kind == item.kind]
        if not any(alike(item, other) for other in same):
            return item
    return None


def _turns_into_a_time(talk: Talk, model: Talk, wanted: Sequence[Mention]) -> bool:
    """True if a text has a time of day where a model has the bare number of its hour: twelve people, and 12:00."""
    written = [(item.kind, model.text[item.start : item.end].strip()) for item in wanted]
    if any(kind == "time" and not text.isdigit() for kind, text in written):
        return False
    numbers = {text for _, text in written}
    times = (item for item in mentions(talk.text) if item.kind == "time")
    told = ((item, talk.text[item.start : item.end].strip()) for item in times)
    return any(str(int(item.number // 60)) in numbers and not text.isdigit() for item, text in told)


def alike(first: Mention, second: Mention) -> bool:
    """True if two values may be the same, as far as their days, halves of the day and currencies are told."""
    if isinstance(first.value, tuple) and isinstance(second.value, tuple):
        days = product(first.value, second.value)
        return any(all(one in (0, other) or not other for one, other in zip(*pair, strict=True)) for pair in days)
    if first.kind == "money" and not any(currency_fits(*units) for units in permutations((first.unit, second.unit))):
        return False
    if first.kind == "temperature" and first.unit and second.unit and first.unit != second.unit:
        return False
    if first.value == second.value:
        return True
    if first.kind == "time":
        return not (first.half and second.half) and first.number % 720 == second.number % 720
    return first.kind in ("temperature", "quantity", "money") and abs(first.number - second.number) <= max(
        first.step, second.step, 0.01 * abs(second.number)
    )


def content_words(talk: Talk) -> set[str]:
    """The stems of words with a content of their own."""
    return {stem(word) for word in re.findall(r"[^\W\d_]{3,}", talk.low) if word not in FUNCTION_WORDS}
