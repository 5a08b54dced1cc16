"""Text that any log can hold: what a model wrote need not be Unicode.

Policy: half a surrogate pair becomes the replacement character, never a question mark, because a user that is asked
something answers.
"""


def readable(text: str) -> str:
    """The text with whatever is no character replaced."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
