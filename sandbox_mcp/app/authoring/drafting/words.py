"""Words of a text that matter, and wordings of states.

Policy: a draft's replies accept any of the usual wordings; what was said in the recorded session is one of them.
"""

import re
from collections.abc import Container
from itertools import chain, count

from sandbox_mcp.engine.talk.numbers import figured

_WORD = re.compile(r"(?<!\w)-?\d+(?:[.,:]\d+)*(?!\w)|[^\W_]+(?:['’][^\W_]+)?")
LONG = 4
_COMMON = """
about after again also been before could does done from have here into just like more most much need only over please
should some such than that their them then there these they this those very want were what when where which will with
would your yours you're i'll i've it's that's
"""
COMMON = frozenset(_COMMON.split())
"""Words that say little."""

ON = ("on", "enabled", "activated")
OFF = ("off", "disabled", "deactivated")
NEGATIVE = ("can't", "cannot", "can not", "unable", "not able", "not possible", "no way", "don't have")


def words(text: str) -> list[str]:
    """The words of a text that say something, in lower case, each once."""
    found = (word.casefold() for word in _WORD.findall(text))
    telling = (word for word in found if word.lstrip("-")[:1].isdigit() or (len(word) >= LONG and word not in COMMON))
    return list(dict.fromkeys(telling))


def graded_words(text: str) -> list[str]:
    """The :func:`words` of a reply that the grader finds in it: those of "at half eight" are a time to it."""
    return [word for word in words(text) if has(figured(text), word)]


def has(text: str, word: str) -> bool:
    """True if a text has a word, whole and in any case."""
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None


def free_name(stem: str, taken: Container[str]) -> str:
    """A name not taken: the stem, or the stem with a number from 2 on."""
    numbered = (f"{stem}_{number}" for number in count(2))
    return next(name for name in chain((stem,), numbered) if name not in taken)


def snake(name: str) -> str:
    """A tool's, table's or column's name as in ids: ``SendMessage`` and ``send-message`` are ``send_message``."""
    plain = re.sub(r"[^a-z0-9_]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower())
    return plain if plain[:1].isalpha() else f"call_{plain}"
