"""Strict comparison of a value with what was expected: the measures, and the one that each column gets.

Policy: what people would word differently is compared by ROUGE-L, measured quantities with a tolerance, everything else
exactly. Something expected and nothing found is 0, never left out. Whether a text says a wording that its author
listed does not hang on case, typography, punctuation or the way a number is written; words and numbers do count, whole
and in order. Nothing is stemmed and nothing is guessed.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import product
from typing import Any

from sandbox_scenarios.model import Expected, Measure, ValueRef

from sandbox_grader.claims.texts import faults
from sandbox_grader.grading.rouge import rouge_l
from sandbox_grader.grading.values import is_number, same_set, same_value
from sandbox_grader.milestones.cells import PLACEHOLDER, as_text, converted

Tokens = tuple[str, ...]

_QUOTES = dict.fromkeys(map(ord, "‘’‚‛`´ʼ"), "'")
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−"), "-")
_TYPOGRAPHY = _QUOTES | _DASHES
_TOKEN = re.compile(
    r"""
    (?P<number> (?:(?<![\w.)\]])-)? (?:\d{1,3}(?:,\d{3})+(?!\d)|\d+) (?:\.\d+)? )
  | (?P<sign> [぀-ヿ㐀-䶿一-鿿] | [%$€£¥°] )
  | (?P<ending> (?<=[^\W\d_])'[^\W\d_]+ )
  | (?P<word> [^\W\d_぀-ヿ㐀-䶿一-鿿]+ )
    """,
    re.VERBOSE,
)


def says(text: str, wording: str) -> bool:
    """True if ``wording`` occurs in ``text`` as whole words.

    "1,200", "1200" and "1200.0" are the same number; "wi-fi" and "Wi Fi" are the same words, "wifi" is another. A
    wording without any word says nothing and never occurs.
    """
    wanted, given = tokens(wording), tokens(text)
    size = len(wanted)
    if not size:
        return False
    return any(given[start : start + size] == wanted for start in range(len(given) - size + 1))


@lru_cache(maxsize=8192)
def tokens(text: str) -> Tokens:
    """A text as words in lower case and numbers in one form. Chinese and Japanese signs stand for themselves."""
    plain = unicodedata.normalize("NFKC", text.translate(_TYPOGRAPHY)).translate(_TYPOGRAPHY).casefold()
    return tuple(_number(found[0]) if found.lastgroup == "number" else found[0] for found in _TOKEN.finditer(plain))


def _number(text: str) -> str:
    """One form for all ways to write a number, without rounding: no separators, no zeros that say nothing."""
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    whole, _, fraction = digits.replace(",", "").partition(".")
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    number = f"{whole}.{fraction}" if fraction else whole
    return number if number == "0" else sign + number


Lookup = Callable[[ValueRef], tuple[Any, ...]]
"""The acceptable values that a reference stands for; none where nothing was matched, or nothing found there."""

DEFAULTS: tuple[tuple[str, Expected], ...] = (
    (r"content|relationship", Expected(measure="rouge")),
    (r".*timestamp.*", Expected(measure="close", within=1.0)),
    (r"(latitude|longitude)(_\d)?", Expected(measure="close", within=0.001)),
    (r".*", Expected(measure="exact")),
)
"""Measure and tolerance by the name of a column or argument; the first pattern that fits the whole name counts.
Timestamps in seconds, coordinates in degrees."""

_DEFAULTS = tuple((re.compile(pattern), default) for pattern, default in DEFAULTS)


def similarity(expected: Expected, name: str, actual: Any, lookup: Lookup) -> float:
    """Similarity of ``actual``, the value of the column or argument ``name``, to what was expected: 0 to 1.

    ``exact``: equal JSON values, where true is not 1. ``close``: numbers at most ``within`` apart. ``contains``: the
    text occurs, in any case. ``one_of``: exactly one of the values. ``set``: a list of these values and no others, in
    any order. ``rouge``: the ROUGE-L F1, and 1 for equal texts.
    ``any``: 1. ``facts``: the share of facts with some wording in the text; 0 if a wording to avoid is there. A
    text that turns round what the reference solutions write is 0 whatever it resembles. A target of null asks for null.
    Several acceptable targets (written forms of a number) count by the best.
    """
    if expected.models and isinstance(actual, str) and faults(actual, expected.models, expected.synonyms):
        return 0.0
    if expected.measure == "facts":
        return facts(expected, actual, lookup)
    kind, within = judged_by(expected, name)
    measure = MEASURES[kind]
    if expected.ref is None:
        return measure(expected.value, actual, within)
    return max((measure(target, actual, within) for target in lookup(expected.ref)), default=0.0)


def judged_by(expected: Expected, name: str) -> tuple[Measure, float | None]:
    """The measure and the tolerance: those stated, else those of the column, else those that its name suggests."""
    if expected.usual is not None:
        usual, usual_within = expected.usual, expected.usual_within
    else:
        default = default_of(name)
        usual, usual_within = default.measure or "exact", default.within
    return expected.measure or usual, usual_within if expected.within is None else expected.within


@lru_cache(maxsize=1024)
def default_of(name: str) -> Expected:
    """The measure, and the tolerance if it has one, of a column or argument that states none."""
    return next(default for pattern, default in _DEFAULTS if pattern.fullmatch(name))


def referred(expected: Expected) -> tuple[ValueRef, ...]:
    """The values from elsewhere that an expectation needs."""
    return (*((expected.ref,) if expected.ref else ()), *expected.values.values())


def is_fuzzy(expected: Expected, name: str) -> bool:
    """True if a value can be partly right."""
    return judged_by(expected, name)[0] in ("rouge", "facts")


def _exact(target: Any, actual: Any, _within: float | None = None) -> float:
    if isinstance(target, str):
        return 1.0 if target == actual else 0.0
    return 1.0 if same_value(target, actual) else 0.0


def _close(target: Any, actual: Any, within: float | None) -> float:
    if is_number(target) and is_number(actual) and within is not None:
        with suppress(OverflowError):  # whole numbers may be larger than any float
            return 1.0 if abs(target - actual) <= within else 0.0
    return _exact(target, actual)


def _rouge(target: Any, actual: Any, _within: float | None) -> float:
    if isinstance(target, str) and isinstance(actual, str):
        return 1.0 if target.strip() == actual.strip() else rouge_l(target, actual)
    return _exact(target, actual)


MEASURES: Mapping[str, Callable[[Any, Any, float | None], float]] = {
    "exact": _exact,
    "close": _close,
    "contains": lambda target, actual, _: float(
        actual is not None and str(target).casefold() in str(actual).casefold()
    ),
    "one_of": lambda target, actual, _: float(any(same_value(option, actual) for option in target)),
    "set": lambda target, actual, _: float(same_set(target, actual)),
    "rouge": _rouge,
    "any": lambda _target, _actual, _: 1.0,
}
"""From the target, the actual value and the tolerance to the similarity."""


def facts(expected: Expected, text: Any, lookup: Lookup) -> float:
    """The share of facts that a text states, 0 if it says anything to avoid; without facts 1 unless it does."""
    if not isinstance(text, str) or avoided(expected, text, lookup):
        return 0.0
    total = len(expected.value)
    return 1 - len(missing(expected, text, lookup)) / total if total else 1.0


def missing(expected: Expected, text: str, lookup: Lookup) -> list[tuple[str, ...]]:
    """The facts that a text does not state, each as its acceptable wordings."""
    return [
        wordings
        for wordings in expected.value
        if not any(says(text, form) for wording in wordings for form in forms(wording, expected.values, lookup))
    ]


def avoided(expected: Expected, text: str, lookup: Lookup) -> list[str]:
    """List what a text says although it must not."""
    return [form for wording in expected.avoid for form in forms(wording, expected.values, lookup) if says(text, form)]


def forms(wording: str, values: Mapping[str, ValueRef], lookup: Lookup) -> Iterator[str]:
    """A wording with its placeholders filled, in every acceptable way; nothing if one of them has no value."""
    names = tuple(dict.fromkeys(name for name in PLACEHOLDER.findall(wording) if name in values)) if values else ()
    if not names:
        yield wording
        return
    for chosen in product(*(lookup(values[name]) for name in names)):
        filling = dict(zip(names, map(written, chosen), strict=True))
        yield PLACEHOLDER.sub(lambda found, filling=filling: filling.get(found[1], found[0]), wording)


def written(value: Any) -> str:
    """A value as it would be written in a sentence; nothing for a number too long to write."""
    return as_text(value).lower() if isinstance(value, bool) else as_text(value)


def taken(ref: ValueRef, source: Any) -> tuple[Any, ...]:
    """The acceptable values that a reference finds in a call's result or arguments; none where a step fails."""
    value = source
    try:
        for step in ref.path:
            value = value[step]
        value = converted(value, ref.to)
        if ref.decimals:
            return tuple(dict.fromkeys(f"{float(value):.{places}f}" for places in ref.decimals))
    except (KeyError, IndexError, TypeError, ValueError, OverflowError):
        return ()
    return (value,)
