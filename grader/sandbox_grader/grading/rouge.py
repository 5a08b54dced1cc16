"""ROUGE-L between two texts: the reference implementation's tokens, our own longest common subsequence.

Policy: a text without a token resembles nothing, not even itself. Tokens are cached per text, because a grader holds
the same expected text against every message of a log.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec

_HAS_TOKEN = re.compile("[a-z0-9]")
_TOKEN = re.compile("[a-z0-9]+")
UNSTEMMED = 3
"""Words of at most so many letters are left as they are."""


def rouge_l(target: str, text: str) -> float:
    """The F1 of the longest common subsequence of stemmed tokens, from 0 to 1; 0 when either side has no token.

    With ``l`` the length of that subsequence: precision ``l / tokens(text)``, recall ``l / tokens(target)``, and the
    harmonic mean of the two. Equal to ``rouge_score`` with the Porter stemmer, bit for bit.

    Source: Lin, ROUGE, section 3.1; ToolSandbox, appendix A.7.
    """
    if target == text:  # spares the tokenizer, which is slow to load
        return 1.0 if _HAS_TOKEN.search(text.lower()) else 0.0
    given = tokens(text)
    places, size = _places(target)
    common = lcs_length(places, size, given)
    if not common:
        return 0.0
    precision, recall = common / len(given), common / size
    return 2 * precision * recall / (precision + recall)


@lru_cache(maxsize=8192)
def tokens(text: str) -> tuple[str, ...]:
    """The stemmed lower-case tokens of a text, as ``rouge_score`` makes them."""
    stem = _stemmer()
    return tuple(stem(word) if len(word) > UNSTEMMED else word for word in _TOKEN.findall(text.lower()))


def lcs_length(places: Mapping[str, int], size: int, second: tuple[str, ...]) -> int:
    """The length of the longest common subsequence with a text of so many tokens, whose places are known.

    One machine operation per token of ``second`` and 64 of the other text, instead of one per pair of tokens.

    Source: Hyyrö, Bit-parallel LCS-length computation revisited (2004).
    """
    everywhere = unmatched = (1 << size) - 1
    for token in second:
        here = unmatched & places.get(token, 0)
        if here:  # a token that occurs nowhere changes nothing
            unmatched = ((unmatched + here) | (unmatched - here)) & everywhere
    return size - unmatched.bit_count()


def common_tails(same: Sequence[Sequence[bool]], width: int) -> list[list[int]]:
    """The length of the longest common subsequence of what two sequences have from any two places on.

    ``same`` tells of every item of the first whether it is the same as each of the ``width`` items of the second.
    """
    tails = [[0] * (width + 1) for _ in range(len(same) + 1)]
    for i in reversed(range(len(same))):
        for j in reversed(range(width)):
            tails[i][j] = tails[i + 1][j + 1] + 1 if same[i][j] else max(tails[i + 1][j], tails[i][j + 1])
    return tails


def places_of(text: tuple[str, ...]) -> dict[str, int]:
    """For each token the places where it occurs, as the bits of a number."""
    places: dict[str, int] = {}
    for place, token in enumerate(text):
        places[token] = places.get(token, 0) | 1 << place
    return places


@lru_cache(maxsize=1024)
def _places(target: str) -> tuple[Mapping[str, int], int]:
    """Positions of each token of an expected text, and their number."""
    wanted = tokens(target)
    return places_of(wanted), len(wanted)


@cache
def _stemmer() -> Callable[[str], str]:
    """Porter's stemmer as the reference uses it, imported without what nltk loads when it starts.

    That would be a thousand modules for one of them, and whatever of scipy is installed: 1.5 s of 1.6 s. Whoever
    imports nltk afterwards gets it whole.
    """
    loaded = "nltk" in sys.modules
    try:
        for package in () if loaded else ("nltk", "nltk.stem"):
            spec = find_spec(package)
            if spec is not None:
                sys.modules[package] = module_from_spec(spec)
        stem = import_module("nltk.stem.porter").PorterStemmer().stem
        return lru_cache(maxsize=16_384)(stem)  # words come again more often than texts
    finally:
        for name in () if loaded else [name for name in sys.modules if name.partition(".")[0] == "nltk"]:
            del sys.modules[name]
