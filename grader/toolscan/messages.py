"""What a ToolScan model's message says: an action and its input, read without ever running it.

Policy: the original evaluates the input as Python; :func:`read_literal` reads what is a literal and gives the
original's verdict on everything else but expressions such as ``1 + 1``, which it takes for format errors.
Source: ToolScan, appendix B.2; ``toolscan/utils/tool/helpers.py`` of the authors' code.
"""

import ast
import re
import warnings
from dataclasses import dataclass
from typing import Any

_SAID = r"\s*(?P<name>.*?)\s*with\s*Action Input:\s*(?P<input>.*?)$"
_FORMS = (re.compile("Action:" + _SAID), re.compile(_SAID))


@dataclass(frozen=True, slots=True)
class Said:
    """The action a message names and the text of its input."""

    name: str
    input: str


def split(message: str) -> Said | None:
    """The action and input of a message, with or without a leading ``Action:``, or None where there are none."""
    text = message.strip()
    for form in _FORMS:
        if found := form.search(text):
            return Said(found["name"], found["input"])
    return None


def read_literal(text: str) -> Any:
    """An input as the original takes it: a Python literal, closed by a quote and a brace where it does not end in one.

    Raises:
        ValueError: it is empty or no literal.
    """
    if not text:
        raise ValueError("is empty")
    closed = text if text.endswith("}") else text + '"}'
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.literal_eval(closed)
    except (SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError(f"is no Python literal: {error}") from error
