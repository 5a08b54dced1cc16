"""Letters as people write them who do not have them on their keyboard: "Łódź" as "lodz", "Ærø" as "aero"."""

from unicodedata import combining, normalize

_PLAIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "æ": "ae", "œ": "oe"})
"""Letters that are one piece in Unicode, though they look like others with a mark."""


def plain_letters(text: str) -> str:
    """A text in lower case and plain letters, without marks above or below them."""
    parts = normalize("NFKD", text.casefold().translate(_PLAIN))
    return "".join(part for part in parts if not combining(part))
