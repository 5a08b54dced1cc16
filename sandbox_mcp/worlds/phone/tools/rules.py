"""Rules that several domains share: what a valid phone number, moment or position is, and what fits a search.

Policy: ranges and thresholds are ToolSandbox's, so that a call that was valid there is valid here.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from math import inf
from typing import Any, cast

from sandbox_mcp.tools.definition import UNSET
from sandbox_mcp.world import Row
from sandbox_mcp.worlds.phone.knowledge.letters import plain_letters

EARLIEST, LATEST = 315529200.0, 2524604400.0
"""The timestamps a phone accepts, both inclusive: 1979-12-31 to 2050-01-01, roughly."""
BEST = 5
"""How many rows a fuzzy search returns at most."""
MANY, CERTAIN, INDEXES = 200, 90.0, 4
"""More texts than ``MANY`` are searched by an index from this threshold on; so many are kept, by their texts."""
WANTED, COMPARED = 500, 10_000
"""How many characters of what is wanted, and of a row's text, a fuzzy search looks at: it costs their product."""
ALIKE, STRANGE = 75.0, 85.0
"""Of 100: how alike two words are that count as the same one, and how alike texts must be that share no word."""
STEM = 4
"""How many letters two words must have in common to be forms of one."""
LONGEST_NUMBER = 250
"""Nothing longer is looked at as a phone number."""


def check_phone_number(number: str) -> None:
    """Refuse what is not a phone number with a country code.

    Raises:
        ValueError: it does not start with ``+`` or cannot be a number of any country.
    """
    if len(number) > LONGEST_NUMBER or not _is_phone_number(number):
        raise ValueError(
            f"{number!r} is not a phone number; expected international form with a country code, such as '+14155550123'"
        )


@lru_cache(maxsize=4096)
def _is_phone_number(number: str) -> bool:
    from phonenumbers import NumberParseException, parse

    try:
        parse(number)
    except NumberParseException:
        return False
    return True


def check_timestamp(name: str, timestamp: float) -> None:
    """Refuse a moment outside the phone's calendar.

    Raises:
        ValueError: it is out of range.
    """
    if not EARLIEST <= timestamp <= LATEST:
        raise ValueError(
            f"`{name}` {timestamp!r} is out of range; expected seconds since 1970 from {EARLIEST} to {LATEST}"
        )


def check_position(latitude: float | None, longitude: float | None, suffix: str = "") -> None:
    """Refuse coordinates that are not on Earth; None passes.

    Raises:
        ValueError: one is out of range.
    """
    _check_range(f"latitude{suffix}", latitude, 90.0)
    _check_range(f"longitude{suffix}", longitude, 180.0)


def _check_range(name: str, value: float | None, limit: float) -> None:
    if value is not None and not -limit <= value <= limit:
        raise ValueError(f"`{name}` {value!r} is out of range; expected degrees from {-limit} to {limit}")


def given(**arguments: Any) -> dict[str, Any]:
    """The arguments that a call did not leave out."""
    return {name: value for name, value in arguments.items() if value is not UNSET}


def within(rows: Sequence[Row], column: str, low: float, high: float) -> list[Row]:
    """The rows whose timestamp lies between the bounds, both inclusive; an unset bound does not bind."""
    least, most = -inf if low is UNSET else low, inf if high is UNSET else high
    return [row for row in rows if least <= cast("float", row[column]) <= most]


def fuzzy(rows: Sequence[Row], column: str, wanted: str, threshold: float, limit: int | None = BEST) -> list[Row]:
    """The best rows whose text resembles ``wanted``, best first, ties in table order; all of them without ``limit``.

    Letters count without case and without what stands above or below them. Resemblance is rapidfuzz's WRatio, kept from
    ``threshold`` (0 to 100) up. It likes any text in which the letters of a short word lie about, so a row that has
    none of the words wanted, nor one like it, must resemble them ``STRANGE``; and rows go by how much of what is wanted
    their words make up, and only then by resemblance. Only the beginnings of very long texts count.
    """
    cells = [row[column] for row in rows]
    texts = tuple(text for text in dict.fromkeys(cells) if isinstance(text, str))
    asked = _folded(wanted[:WANTED])
    look_up = len(texts) > MANY and threshold >= CERTAIN
    found = _indexed(texts).alike(asked, threshold) if look_up else _alike(asked, _read(texts), threshold)
    ranked = {texts[place]: (-_shared(asked.split(), text.split()), -score) for text, score, place in found}
    fitting = {text: rank for text, rank in ranked.items() if rank[0] or -rank[1] >= STRANGE}
    kept = sorted((*fitting[text], place) for place, text in enumerate(cells) if text in fitting)
    return [rows[place] for _, _, place in kept[:limit]]


def _alike(asked: str, texts: Sequence[str] | Mapping[int, str], threshold: float) -> list[tuple[str, float, int]]:
    """The texts that resemble what is asked for, with their resemblance and their place."""
    from rapidfuzz import fuzz, process

    return process.extract(asked, texts, scorer=fuzz.WRatio, score_cutoff=threshold, limit=None)


def _read(texts: Sequence[str]) -> list[str]:
    from rapidfuzz import utils

    plain, cut = utils.default_process, (text[:COMPARED] for text in texts)
    return [plain(text) if text.isascii() else _folded(text) for text in cut]


class _Index:
    """Many texts, arranged from the second search on so that most of them need not be compared.

    From ``CERTAIN`` on, WRatio finds two texts alike only if they have a word in common, one is a part of the other, or
    they are of nearly the same letters, in whatever order: what has parts alike counts 0.95 times 0.9 at most.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = _read(texts)
        self._searched = False

    def alike(self, asked: str, threshold: float) -> list[tuple[str, float, int]]:
        """The same as comparing all of them."""
        from rapidfuzz import fuzz, process

        again, self._searched = self._searched, True
        if not again or "  " in asked:  # WRatio puts one space between words, so that letters tell nothing beside two
            return _alike(asked, self._texts, threshold)
        asked_letters, cutoff = "".join(sorted(asked)), threshold - 1
        near = process.extract(asked_letters, self._letters, scorer=fuzz.ratio, score_cutoff=cutoff, limit=None)
        places = {place for _, _, place in near}
        places.update(place for word in asked.split() for place in self._with_word.get(word, ()))
        places.update(place for place, text in enumerate(self._texts) if asked in text or text in asked or "  " in text)
        return _alike(asked, {place: self._texts[place] for place in places}, threshold)

    @cached_property
    def _letters(self) -> list[str]:
        return ["".join(sorted(text)) for text in self._texts]

    @cached_property
    def _with_word(self) -> Mapping[str, Sequence[int]]:
        found: dict[str, list[int]] = {}
        for place, text in enumerate(self._texts):
            for word in set(text.split()):
                found.setdefault(word, []).append(place)
        return found


@lru_cache(maxsize=INDEXES)
def _indexed(texts: tuple[str, ...]) -> _Index:
    return _Index(texts)


def _folded(text: str) -> str:
    """A text as lower-case words of plain letters: "Théo Østergård" as "theo ostergard"."""
    from rapidfuzz import utils

    return utils.default_process(text) if text.isascii() else _folded_letters(text)


@lru_cache(maxsize=4096)
def _folded_letters(text: str) -> str:
    """A text with other letters than plain ones as lower-case words of plain letters."""
    from rapidfuzz import utils

    return utils.default_process(plain_letters(text))


def _shared(wanted: Sequence[str], words: Sequence[str]) -> int:
    """How many letters of what is wanted are in words that the text has too, or has one like it."""
    from rapidfuzz import fuzz, process

    known = set(words)
    return sum(
        len(word)
        for word in dict.fromkeys(wanted)
        if word in known
        or process.extractOne(word, words, scorer=fuzz.ratio, score_cutoff=ALIKE)
        or any(_inflected(word, other) for other in known)
    )


def _inflected(word: str, other: str) -> bool:
    """Whether one word begins with the other, as "swimming" does with "swim"."""
    return min(len(word), len(other)) >= STEM and (word.startswith(other) or other.startswith(word))
