"""Rules that several domains share: what a valid phone number, moment or position is, and what fits a search.

Policy: ranges and thresholds are ToolSandbox's, so that a call that was valid there is valid here.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, lru_cache
from math import inf
from typing import Any, TypeVar

from sandbox_mcp.engine.tools.definition import UNSET
from sandbox_mcp.engine.worlds.letters import plain_letters

_T = TypeVar("_T")

EARLIEST, LATEST = 315529200.0, 2524604400.0
"""The timestamps a phone accepts, both inclusive: 1979-12-31 to 2050-01-01, roughly."""
BEST = 5
"""How many rows a fuzzy search returns at most."""
MANY, CERTAIN, INDEXES = 200, 90.0, 4
"""Of more texts than ``MANY`` not all are compared from this threshold on; so many indexes are kept, by their texts."""
LONGER = 1.5
"""So many times as long as another text one is at least for WRatio to look for the other among its parts."""
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


def within(rows: Sequence[_T], moment: Callable[[_T], float], low: float, high: float) -> list[_T]:
    """The rows whose moment lies between the bounds, both inclusive; an unset bound does not bind."""
    least, most = -inf if low is UNSET else low, inf if high is UNSET else high
    return [row for row in rows if least <= moment(row) <= most]


def fuzzy(
    rows: Sequence[_T],
    text_of: Callable[[_T], str | None],
    wanted: str,
    threshold: float,
    limit: int | None = BEST,
) -> list[_T]:
    """The best rows whose text resembles ``wanted``, best first, ties in table order; all of them without ``limit``.

    Letters count without case and without what stands above or below them. Resemblance is rapidfuzz's WRatio, kept from
    ``threshold`` (0 to 100) up. It likes any text in which the letters of a short word lie about, so a row that has
    none of the words wanted, nor one like it, must resemble them ``STRANGE``; and rows go by how much of what is wanted
    their words make up, and only then by resemblance. Only the beginnings of very long texts count.
    """
    cells = [text_of(row) for row in rows]
    texts = tuple([text for text in dict.fromkeys(cells) if text is not None])
    asked = _folded(wanted[:WANTED])
    found = _indexed(texts).alike(asked, threshold)
    ranked = {texts[place]: (-_shared(asked.split(), text.split()), -score) for text, score, place in found}
    fitting = {text: rank for text, rank in ranked.items() if rank[0] or -rank[1] >= STRANGE}
    kept = sorted((*fitting[text], place) for place, text in enumerate(cells) if text in fitting)
    return [rows[place] for _, _, place in kept[:limit]]


def _alike(asked: str, texts: Sequence[str] | Mapping[int, str], threshold: float) -> list[tuple[str, float, int]]:
    """The texts that resemble the wanted one, with their resemblance and their place."""
    from rapidfuzz import fuzz, process

    return process.extract(asked, texts, scorer=fuzz.WRatio, score_cutoff=threshold, limit=None)


def _read(texts: Sequence[str]) -> list[str]:
    from rapidfuzz import utils

    plain, cut = utils.default_process, [text[:COMPARED] for text in texts]
    if "".join(cut).isascii():
        return list(map(plain, cut))
    return [plain(text) if text.isascii() else _folded(text) for text in cut]


class _Index:
    """Texts as they are compared, many of them so that most need not be: by length, by words from the second search on.

    From ``CERTAIN`` on, WRatio finds a text alike that is ``LONGER`` than the other only if it has the other as a part,
    because what has parts alike counts 0.95 times 0.9 at most. It finds texts of about the same length alike only if
    they are, as they stand or with each word once and in order, or have a word in common.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = _read(texts)
        self._searched = False

    def alike(self, asked: str, threshold: float) -> list[tuple[str, float, int]]:
        """The texts that are like another one, as comparing it with every text would find them."""
        texts, words = self._texts, asked.split()
        if len(texts) <= MANY or threshold < CERTAIN or _is_irregular(asked, words):
            return _alike(asked, texts, threshold)
        again, self._searched = self._searched, True
        likely = self._likely(asked, words, threshold) if again else self._about_as_long(asked)
        if len(likely) > len(texts) // 2:
            return _alike(asked, texts, threshold)
        places = {*likely, *(place for place, text in enumerate(texts) if asked in text or text in asked)}
        return _alike(asked, {place: texts[place] for place in sorted(places)}, threshold)

    def _about_as_long(self, asked: str) -> Collection[int]:
        """The texts that may be alike without having the other as a part."""
        shortest, longest = len(asked) / LONGER, len(asked) * LONGER
        return [place for place, size in enumerate(map(len, self._texts)) if shortest <= size <= longest]

    def _likely(self, asked: str, words: Sequence[str], threshold: float) -> Collection[int]:
        """Fewer texts, among them those of about the same length that are alike without having the other as a part."""
        from rapidfuzz import fuzz, process

        irregular, in_order, with_word = self._words
        found = set(irregular).union(*(with_word.get(word, ()) for word in words))
        for wanted, texts in ((asked, self._texts), (" ".join(sorted(words)), in_order)):
            near = process.extract(wanted, texts, scorer=fuzz.ratio, score_cutoff=threshold - 1, limit=None)
            found.update(place for _, _, place in near)
        return found

    @cached_property
    def _words(self) -> tuple[Sequence[int], Sequence[str], Mapping[str, Sequence[int]]]:
        """The irregular texts, all texts with their words in order, and the texts that have a word."""
        irregular, in_order, with_word = list[int](), list[str](), dict[str, list[int]]()
        for place, text in enumerate(self._texts):
            words = text.split()
            in_order.append(" ".join(sorted(words)))
            for word in words:
                with_word.setdefault(word, []).append(place)
            if _is_irregular(text, words):
                irregular.append(place)
        return irregular, in_order, with_word


def _is_irregular(text: str, words: Sequence[str]) -> bool:
    """True if the words of a text, with one space between them, may be another text than the same words each once."""
    return "  " in text or len(set(words)) < len(words)


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
    """Number of letters of the wanted words that stand in the text, exactly or in a similar form."""
    from rapidfuzz import fuzz, process

    known = set(words)
    return sum(
        len(word)
        for word in dict.fromkeys(wanted)
        if word in known
        or process.extractOne(word, words, scorer=fuzz.ratio, score_cutoff=ALIKE)
        or any(_inflected(word, other) for other in known if word[:STEM] == other[:STEM])
    )


def _inflected(word: str, other: str) -> bool:
    """True if one word begins with the other, as "swimming" does with "swim"."""
    return min(len(word), len(other)) >= STEM and (word.startswith(other) or other.startswith(word))
