"""Pairs: whether a message gives two things of the results each other's values, or speaks of the right one as another.

Policy: values are context wherever they stand, so a pair is wrong only where it is certain: two names, or two keys, and
their two values are all in the message, each value stands beside the other's name, and reading the names behind the
values instead of before them does not set it right. That the right thing is called "the other one" puts it in doubt.

>>> from sandbox_scenarios.facts import facts_of
>>> from sandbox_grader.claims import Background, hear
>>> reviews = [{"guest": "Lorenzo", "score": 9}, {"guest": "Chiara", "score": 6}]
>>> back = Background(answers=[({"hotel": "h23"}, reviews)])
>>> hear("Chiara gave it 9 points, Lorenzo 6.", facts_of({"name": "Lorenzo"}), back).findings[0].why
"gives 'lorenzo' and 'chiara' each other's values"
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from sandbox_scenarios.model import Fact

from sandbox_grader.claims.background import Background, ResultCell, ResultRow, kind_of
from sandbox_grader.claims.equality import is_value_of, number_in
from sandbox_grader.claims.texts import FUNCTION_WORDS
from sandbox_mcp.engine.talk.clauses import Talk
from sandbox_mcp.engine.talk.patterns import Lazy
from sandbox_mcp.engine.talk.values import Mention

_LEAST, _MOST = 3, 8
"""Letters of a word by which something is told, and words of a name at most."""
_SAME = 0.7
"""The share of keys that rows of one kind have in common."""
_ALSO: Mapping[str, str] = {
    "min": "low", "max": "high", "apparent": "feel", "start": "from begin", "end": "until till", "opens": "from",
    "closes": "until till",
}  # fmt: skip
"""Words by which people tell the word of a key."""
_OTHER = Lazy(r"\b(?:the|its|their|his|her) (?:only )?other\b(?: one\b)?|\banother\b")
_SUPERLATIVE = Lazy(r"\b(?:\w{2,8}est|first|last|most|least)\b")
_NOT_QUITE = Lazy(r"\b(?:second|third|next|other|by far not|another) (?:\w+ )?$")
_CONTRASTS = (
    ("longer longest", "shorter shortest"), ("cheapest cheaper", "dearest dearer priciest expensive"),
    ("highest higher most best", "lowest lower least fewest worst"), ("nearest closest", "farthest furthest"),
    ("biggest bigger largest larger", "smallest smaller"),
    ("first earliest earlier oldest older", "last latest later newest"),
)  # fmt: skip
"""Words with which something is asked for, and those with which another than that is spoken of, or the reverse."""
WordPair = tuple[frozenset[str], frozenset[str]]
_Pair = tuple[WordPair, tuple[ResultCell, ResultCell], tuple[ResultCell, ...]]
"""The words for two things, their values, and the pairs that would have to be so if they were not exchanged."""


def crossed(talk: Talk, found: Sequence[Mention], fact: Fact, back: Background) -> str | None:
    """The two things whose values a message exchanges, one of which has the value of a fact; None if it does not."""
    own = _written(fact)
    if not any(_holds(value, own) for row in back.rows for value in row.values()):
        return None
    rows = _told_rows(talk, back)
    for row in rows:
        for key in [key for key, value in row.items() if _holds(value, own)]:
            for names, values, cells in (*_by_key(row, key), *_by_name(row, key, rows)):
                places = [_places(talk, found, value) for value in values]
                if all(places) and _is_crossed(talk, names, places) and not _is_so(back, *cells):
                    return " and ".join(repr(" ".join(sorted(words))) for words in names)
    return None


@lru_cache(maxsize=64)
def _told_rows(talk: Talk, back: Background) -> tuple[ResultRow, ...]:
    """The rows of results, as far as a message may have them: two cells at least."""
    digits = any(map(str.isdigit, talk.low))
    known = {"text": False, "id": False, "number": digits, "date": digits, "time": digits}
    rows = ({
        key: value for key, value in row.items()
        if known[kind_of(value)] or any(word in talk.low for word in _words(str(value).lower()))
    } for row in back.rows)  # fmt: skip
    return tuple(row for row in rows if len(row) > 1)


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    found = re.findall(r"[^\W\d_]{3,}", text)
    return frozenset(word for word in found if word not in FUNCTION_WORDS) or frozenset(found)


def _written(fact: Fact) -> tuple[Sequence[str], frozenset[float]]:
    """The values of a fact as texts in lower case, and as numbers."""
    texts = [str(item).lower() for item in fact.value if len(str(item)) >= _LEAST]
    return texts, frozenset(map(number_in, fact.value))


def _holds(value: ResultCell, own: tuple[Sequence[str], frozenset[float]]) -> bool:
    texts, numbers = own
    if not isinstance(value, str):
        return value in numbers
    low = value.lower()
    return any(text in low for text in texts)


def _by_key(row: ResultRow, key: str) -> Iterator[_Pair]:
    """A value and another of its kind in its row, by the words of their keys."""
    for other, value in row.items():
        if (
            "?" not in (key[:1], other[:1])
            and other != key
            and value != row[key]
            and kind_of(value) == kind_of(row[key]) not in ("text", "id")
        ):
            own, foreign = (frozenset(name.lower().split("_")) for name in (key, other))
            names = tuple(_also(one - two) for one, two in ((own, foreign), (foreign, own)))
            yield (names[0], names[1]), (row[key], value), ()


def _also(words: frozenset[str]) -> frozenset[str]:
    return words.union(*(_ALSO.get(word, "").split() for word in words))


def _by_name(row: ResultRow, key: str, rows: Sequence[ResultRow]) -> Iterator[_Pair]:
    """A value and a name in its row, and the same in another row."""
    for other in rows:
        if other is row or other.get(key, row[key]) == row[key]:
            continue
        for beside, value in row.items():
            if beside == key or other.get(beside, value) == value:
                continue
            for name, told in ((key, beside), (beside, key)):
                one, two = row[name], other[name]
                if isinstance(one, str) and isinstance(two, str) and kind_of(one) == kind_of(two) == "text":
                    yield _telling(one, two), (row[told], other[told]), (one, other[told], two, row[told])


@lru_cache(maxsize=2048)
def _telling(one: str, two: str) -> WordPair:
    """The words of each of two names that the other does not have; the names themselves where there are none."""
    own, foreign = _words(one.lower()), _words(two.lower())
    if own - foreign and foreign - own:
        return own - foreign, foreign - own
    return frozenset({one.lower()}), frozenset({two.lower()})


def _is_so(back: Background, *cells: ResultCell) -> bool:
    """True if the results have one of two pairs of cells in a row, too: a pilot of several missions."""
    pairs = tuple(zip(cells[::2], cells[1::2], strict=True))
    return any(one in row.values() and other in row.values() for row in back.rows for one, other in pairs)


def _places(talk: Talk, found: Sequence[Mention], value: ResultCell) -> list[int]:
    """Where a message has a value: a number as it was written, a day or an hour in any form, a text as it is."""
    if not isinstance(value, str):
        return [
            item.start for item in found
            if math.isclose(item.number / ((item.step or 1.0) if item.kind == "duration" else item.factor), value)
        ]  # fmt: skip
    kind = kind_of(value)
    if kind in ("date", "time"):
        parts = (("date", value[:10]), ("time", value[11:] or "-")) if kind == "date" else (("time", value),)
        facts = [(name, Fact("date" if name == "date" else "time", (part,))) for name, part in parts]
        return [
            item.start for name, fact in facts for item in found if item.kind == name and is_value_of(item, fact, talk)
        ]
    return _starts(talk.low, value.lower()) if kind == "text" and len(value.split()) <= _MOST else []


def _starts(low: str, name: str) -> list[int]:
    """Where words that begin with a name stand."""
    found, at = list[int](), low.find(name)
    while at >= 0:
        if not low[at - 1 : at].isalnum():
            found.append(at)
        at = low.find(name, at + 1)
    return found


def _is_crossed(talk: Talk, names: WordPair, values: Sequence[Sequence[int]]) -> bool:
    """True if both values stand beside the other's name, read in the order in which the first of all four stands."""
    marks = [(at, side, True) for side in (0, 1) for name in names[side] for at in _starts(talk.low, name)]
    if {side for _, side, _ in marks} != {0, 1}:
        return False
    row = [(side, named) for _, side, named in sorted(marks + [(a, s, False) for s in (0, 1) for a in values[s]])]
    behind = {(one[0], two[0]) for one, two in pairwise(row) if one[1] and not two[1]}
    before = {(two[0], one[0]) for one, two in pairwise(row) if two[1] and not one[1]}
    read, other = (behind, before) if row[0][1] else (before, behind)
    return read == {(0, 1), (1, 0)} and other != {(0, 0), (1, 1)}


def labels_of(number: float, back: Background) -> Sequence[WordPair]:
    """The words of the keys under which results have a number, each with those of the numbers beside it."""
    found = list[WordPair]()
    for row in back.rows:
        words = {
            key: frozenset(key.lower().replace("_", " ").split())
            for key, value in row.items()
            if not isinstance(value, str)
        }
        for key in [key for key in words if row[key] == number]:
            beside = frozenset[str]().union(*(words[other] for other in words if other != key))
            if words[key] - beside and beside - words[key]:
                found.append((words[key] - beside, beside - words[key]))
    return found


@lru_cache(maxsize=256)
def rivals_of(fact: Fact, back: Background) -> frozenset[str]:
    """The names, in lower case, that stand in other rows of the results in the place of a fact's.

    Rows are of one kind where most of their keys are the same.
    """
    found, own = set[str](), _written(fact)
    for row in back.rows:
        for key in [key for key, value in row.items() if kind_of(value) == "text" and _holds(value, own)]:
            for other in back.rows:
                name = other.get(key, 0)
                if kind_of(name) == "text" and not _holds(name, own) and _alike(row, other):
                    found.add(str(name).lower())
    return frozenset(found)


def _alike(row: ResultRow, other: ResultRow) -> bool:
    return len(row.keys() & other.keys()) > _SAME * len(row.keys() | other.keys())


def set_aside(talk: Talk, fact: Fact, back: Background) -> str | None:
    """The words by which a message speaks of the right thing as another than the one asked for; None if it does not.

    It names one that stands in its place in another row of the results. Of the right one it says only that it is "the
    other", or, asked for the longest, that it is the shorter, or that the other is the longest.
    """
    asked = back.user_words
    opposed = {
        word for pair in _CONTRASTS for mine, theirs in (pair, pair[::-1])
        if asked & set(mine.split()) for word in theirs.split()
    } - asked  # fmt: skip
    wanted = frozenset(word for word in asked if _SUPERLATIVE.fullmatch(word))
    if not opposed and not wanted and "other" not in talk.low:
        return None
    rivals = {name for name in rivals_of(fact, back) if name in talk.low}
    if not rivals:
        return None
    said: str | None = None
    for at in sorted(at for value in fact.value for at in _starts(talk.low, str(value).lower())):
        clause = next((one for one in talk.clauses if not one.quoted and one.start <= at < one.end), None)
        if clause is None:
            return None
        other = None if "other" in asked else _OTHER.search(clause.text, 0, at - clause.start)
        behind = "" if " than " in clause.text else clause.text[at - clause.start :]
        word = other[0] if other else next((word for word in re.findall(r"[a-z]+", behind) if word in opposed), None)
        if word is None and not wanted & set(_SUPERLATIVE.findall(clause.text)):
            word = _claimed(talk, rivals, wanted)
        if word is None:
            return None
        said = said or word
    return said


def _claimed(talk: Talk, rivals: Iterable[str], wanted: frozenset[str]) -> str | None:
    """The clause that says of a rival that it is the longest, or whatever was asked for."""
    for clause in talk.clauses:
        if clause.quoted or not clause.states or clause.denials:
            continue
        low = talk.low[clause.start : clause.end]
        found = next((item for item in _SUPERLATIVE.finditer(low) if item[0] in wanted), None)
        if found and not _NOT_QUITE.search(low, 0, found.start()) and any(name in low for name in rivals):
            return f"not the one of {talk.shown(clause)!r}"
    return None
