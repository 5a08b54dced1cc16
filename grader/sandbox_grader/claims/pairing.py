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
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from sandbox_scenarios.model import Fact

from sandbox_grader.claims.background import Background, ResultCell, ResultRow, kind_of
from sandbox_grader.claims.equality import is_value_of, number_in
from sandbox_grader.claims.texts import FUNCTION_WORDS
from sandbox_mcp.engine.talk.clauses import Talk
from sandbox_mcp.engine.talk.patterns import Lazy
from sandbox_mcp.engine.talk.units import SECONDS
from sandbox_mcp.engine.talk.values import Mention

_LEAST, _MOST = 3, 8
"""Letters of a word by which something is told, and words of a name at most."""
_SAME = 0.7
"""The share of keys that rows of one kind have in common."""
_ALSO: Mapping[str, str] = {
    "min": "low", "max": "high", "apparent": "feel", "start": "from begin", "end": "until till to",
    "opens": "from", "closes": "until till to", "departs": "leave take", "arrives": "land get",
}  # fmt: skip
"""Words by which people tell the word of a key."""
_OTHER = Lazy(r"\b(?:the|its|their|his|her) (?:only )?other\b|\banother\b")
_SUPERLATIVE = Lazy(r"\b(?:\w{2,8}est|first|last|most|least)\b")
_NOT_QUITE = Lazy(r"\b(?:second|third|next|other|by far not|another) (?:\w+ )?$")
WordPair = tuple[frozenset[str], frozenset[str]]
_Pair = tuple[WordPair | tuple[ResultCell, ResultCell], tuple[ResultCell, ResultCell], tuple[ResultCell, ...]]
"""The words for two things, or numbers that were asked about; their values; what had to be so if all were right."""


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
                marks = [_named_at(talk, found, name) for name in names] if all(places) else []
                if all(marks) and marks and _is_crossed(talk, marks, places) and not _is_so(back, *cells):
                    told = (sorted(name) if isinstance(name, frozenset) else [str(name)] for name in names)
                    return " and ".join(repr(" ".join(words)) for words in told)
    return None


def _named_at(talk: Talk, found: Sequence[Mention], name: frozenset[str] | ResultCell) -> list[int]:
    """Where a message has one of the words for a thing, or the number that was asked about."""
    if isinstance(name, frozenset):
        return [at for word in name for at in _starts(talk.low, word if len(word) > 2 else f"{word} ")]
    return _places(talk, found, name)


@lru_cache(maxsize=64)
def _told_rows(talk: Talk, back: Background) -> tuple[ResultRow, ...]:
    """The rows of results, as far as a message may have them: two cells at least."""
    digits = any(map(str.isdigit, talk.low))
    known = {"text": False, "id": False, "number": digits, "date": digits, "time": digits}
    rows = ({
        key: value for key, value in row.items()
        if known[kind_of(value)] or any(word in talk.low for word in _words(str(value).lower()) or [str(value).lower()])
    } for row in back.rows)  # fmt: skip
    return tuple(row for row in rows if len(row) > 1)


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    found = re.findall(r"[^\W\d_]{3,}", text)
    return frozenset(word for word in found if word not in FUNCTION_WORDS) or frozenset(found)


def _written(fact: Fact) -> tuple[Sequence[str], frozenset[float], int]:
    """The values of a fact as texts in lower case and as numbers, and the seconds that it counts in, if any."""
    texts = [str(item).lower() for item in fact.value if len(str(item)) >= _LEAST]
    return texts, frozenset(map(number_in, fact.value)), SECONDS.get(fact.unit, 0) if fact.type == "count" else 0


def _holds(value: ResultCell, own: tuple[Sequence[str], frozenset[float], int]) -> bool:
    texts, numbers, unit = own
    if not isinstance(value, str):
        return value in numbers or (value > unit > 1 and any(abs(value - unit * number) < unit for number in numbers))
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
                cells = (one, other[told], two, row[told])
                if isinstance(one, str) and isinstance(two, str) and {kind_of(one), kind_of(two)} <= {"text", "id"}:
                    yield _telling(one, two), (row[told], other[told]), cells
                elif name.startswith("?") and not isinstance(one, str) and not isinstance(two, str):
                    yield (one, two), (row[told], other[told]), cells


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
        return [item.start for item in found if _is_number(item, value)]
    kind = kind_of(value)
    if kind in ("date", "time"):
        parts = (("date", value[:10]), ("time", value[11:] or "-")) if kind == "date" else (("time", value),)
        facts = [(name, Fact("date" if name == "date" else "time", (part,))) for name, part in parts]
        return [
            item.start for name, fact in facts for item in found if item.kind == name and is_value_of(item, fact, talk)
        ]
    return _starts(talk.low, value.lower()) if kind == "text" and len(value.split()) <= _MOST else []


def _is_number(item: Mention, value: float) -> bool:
    """True if a mention has a number of the results, rounded in its unit, or seconds in minutes."""
    if item.kind == "duration":
        rounded = item.step <= _MINUTE <= value and abs(item.number - value) < item.step
        return rounded or math.isclose(item.number / (item.step or 1.0), value)
    written, step = item.number / item.factor, item.step / item.factor
    return math.isclose(written, value) or (step >= _CENT and abs(written - value) <= step / 2)


_CENT, _MINUTE = 0.001, 60
"""Numbers are told to the cent, the tenth or the unit, whatever digits a result has."""


def _starts(low: str, name: str) -> list[int]:
    """Where words that begin with a name stand."""
    found, at = list[int](), low.find(name)
    while at >= 0:
        if not low[at - 1 : at].isalnum():
            found.append(at)
        at = low.find(name, at + 1)
    return found


def _is_crossed(talk: Talk, names: Sequence[Sequence[int]], values: Sequence[Sequence[int]]) -> bool:
    """True if both values stand beside the other's name.

    Each in a sentence with that name alone, or all of them read in the order in which the first of the four stands.
    """
    marks = sorted(
        (at, side, named) for named, both in ((True, names), (False, values)) for side in (0, 1) for at in both[side]
    )
    row = [(side, named) for _, side, named in marks]
    behind = {(one[0], two[0]) for one, two in pairwise(row) if one[1] and not two[1]}
    before = {(two[0], one[0]) for one, two in pairwise(row) if two[1] and not one[1]}
    read, other = (behind, before) if row[0][1] else (before, behind)
    if read == _EXCHANGED and other != {(0, 0), (1, 1)}:
        return True
    sides = dict[int, tuple[set[int], set[int]]]()
    for at, side, named in marks:
        sides.setdefault(talk.clause_at(at).sentence, (set[int](), set[int]()))[not named].add(side)
    return {(name, value) for one, two in sides.values() for name in one for value in two} == _EXCHANGED


_EXCHANGED = {(0, 1), (1, 0)}


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


def cells_beside(names: Sequence[str], back: Background) -> frozenset[str]:
    """The texts, in lower case, that stand in a row of the results with one of some names."""
    rows = ([str(cell).lower() for cell in row.values()] for row in back.rows)
    return frozenset(cell for row in rows if not set(names).isdisjoint(row) for cell in row)


def _alike(row: ResultRow, other: ResultRow) -> bool:
    return len(row.keys() & other.keys()) > _SAME * len(row.keys() | other.keys())


def set_aside(talk: Talk, fact: Fact, back: Background) -> str | None:
    """The clause that speaks of another than the right thing as of what was asked for, such as the longest.

    It says so of another, and none says so of the right one; or the right one is only "the other".
    """
    wanted = frozenset(word for word in back.user_words if _SUPERLATIVE.fullmatch(word))
    other = "other" in talk.low and "other" not in back.user_words
    rivals = {name for name in rivals_of(fact, back) if name in talk.low} if wanted or other else set[str]()
    own = _words(" ".join(map(str, fact.value)).lower())
    rivals |= {word for name in rivals for word in _words(name) - own if back.parts.get(word, {name}) == {name}}
    said: str | None = None
    for clause in talk.clauses if rivals else ():
        low = talk.low[clause.start : clause.end]
        at = max(low.find(str(value).lower()) for value in fact.value)
        found = next((item for item in _SUPERLATIVE.finditer(low) if item[0] in wanted), None)
        claims = found and clause.states and not clause.denials and not _NOT_QUITE.search(low, 0, found.start())
        if clause.quoted:
            continue
        if at >= 0 and (claims or (other and not _OTHER.search(low, 0, at))):
            return None
        if at >= 0 if other else claims and any(name in low for name in rivals):
            said = said or f"not the one of {talk.shown(clause)!r}"
    return said
