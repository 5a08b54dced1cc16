"""Whether a text says something in one of the ways that its author thought of.

Policy: case, typography, punctuation and the way a number is written do not matter; words and numbers do, whole and in
order. Nothing is stemmed and nothing is guessed: a wording that should count has to be listed.
"""

import re
import unicodedata
from functools import lru_cache

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
    """Whether ``wording`` occurs in ``text`` as whole words.

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
