"""Text that any log can hold: what a model wrote need not be Unicode.

Policy: half a surrogate pair becomes the replacement character, never a question mark, because a user that is asked
something answers.
"""

from typing import Any, cast


def readable(text: str) -> str:
    """The text with whatever is not a character replaced."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def cleaned(value: object) -> Any:
    """A value of JSON with all text in it readable."""
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, list):
        return [cleaned(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {readable(key): cleaned(item) for key, item in cast("dict[str, object]", value).items()}
    return value
