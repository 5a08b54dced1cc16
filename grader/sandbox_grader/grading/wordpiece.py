"""Texts as the numbers of word pieces, the way uncased BERT models were trained on them.

Policy: case and accents do not count, signs stand alone, and a word in no part of the vocabulary is unknown as
a whole. Names of special pieces in a text are words like any others.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

UNKNOWN, START, END = "[UNK]", "[CLS]", "[SEP]"
LONGEST = 100
"""Words of more characters are unknown."""
_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs"})
"""The categories of characters that are left out: control, format, private use and halves of others."""
_IDEOGRAPHS = (
    range(0x4E00, 0xA000), range(0x3400, 0x4DC0), range(0x20000, 0x2A6E0), range(0x2A700, 0x2B740),
    range(0x2B740, 0x2B820), range(0x2B820, 0x2CEB0), range(0xF900, 0xFB00), range(0x2F800, 0x2FA20),
)  # fmt: skip
"""The code points that stand alone as words do; Japanese syllables and Korean ones do not."""


class WordPieces:
    """Splits texts by a vocabulary: its pieces in order, those that do not begin a word with ``##`` before them.

    Source: Devlin et al., BERT, section 3; Wu et al., Google's neural machine translation system, section 4.1.
    """

    def __init__(self, vocabulary: Iterable[str]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}

    def __call__(self, text: str, most: int) -> list[int]:
        """The numbers of at most ``most`` pieces, those of start and end included; longer ones are cut off."""
        pieces = [number for word in words(text) for number in self._split(word)]
        return [self._numbers[START], *pieces[: most - 2], self._numbers[END]]

    def _split(self, word: str) -> Sequence[int]:
        """The longest piece that the word begins with, then the longest that the rest begins with, and so on."""
        found, begin = list[int](), 0
        while begin < len(word):
            mark = "##" if begin else ""
            ends = range(len(word), begin, -1) if len(word) <= LONGEST else ()
            end = next((end for end in ends if mark + word[begin:end] in self._numbers), None)
            if end is None:
                return (self._numbers[UNKNOWN],)
            found.append(self._numbers[mark + word[begin:end]])
            begin = end
        return found


def words(text: str) -> Iterator[str]:
    """The words and signs of a text, without case and accents."""
    spaced = "".join(f" {char} " if _stands_alone(char) else char for char in _readable(text))
    plain = "".join(char for char in unicodedata.normalize("NFD", spaced) if unicodedata.category(char) != "Mn")
    lower = "".join(map(str.lower, plain))  # one by one, for a final sigma to stay a sigma
    return iter("".join(f" {char} " if _is_sign(char) else char for char in lower).split())


def _readable(text: str) -> Iterator[str]:
    """The characters of a text but for control characters; all kinds of space are one."""
    for char in text:
        if char in "\t\n\r":
            yield " "
        elif char != "\ufffd" and unicodedata.category(char) not in _UNSEEN:
            yield " " if char.isspace() else char


def _stands_alone(char: str) -> bool:
    return any(ord(char) in block for block in _IDEOGRAPHS)


def _is_sign(char: str) -> bool:
    return (char.isascii() and char.isprintable() and not char.isalnum() and char != " ") or unicodedata.category(
        char
    ).startswith("P")
