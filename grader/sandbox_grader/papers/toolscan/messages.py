"""Messages of ToolScan's models: an action and its input, read without ever running it.

Policy: the original evaluates the input as Python; :func:`read_literal` reads literals and gives the
original's verdict on everything else but expressions such as ``1 + 1``, which it takes for format errors.
Source: ToolScan, appendix B.2; ``toolscan/utils/tool/helpers.py`` of the authors' code.
"""

import ast
import re
import warnings
from dataclasses import dataclass
from typing import Any

_START = "Action:"
_END = re.compile(r"with\s*Action Input:\s*")


@dataclass(frozen=True, slots=True)
class NamedAction:
    """The action a message names and the text of its input."""

    name: str
    input: str


def split(message: str) -> NamedAction | None:
    """The action and input of a message, with or without a leading ``Action:``, or None where there are none.

    Name and input are each on one line, and nothing comes after the input. The original searches with lazy
    expressions, which takes it the third power of a run of blanks; this finds the same in one pass.
    """
    text = message.strip()
    last = text.rfind("\n")
    ends = [found for found in _END.finditer(text) if found.end() > last]
    if not ends:
        return None
    start = text.find(_START)  # of the first that has an input after a name of one line
    for end in ends:
        while 0 <= start <= end.start() - len(_START):
            name = text[start + len(_START) : end.start()].strip()
            if "\n" not in name:
                return NamedAction(name, text[end.end() :])
            start = text.find(_START, start + 1)
    before = text[: ends[0].start()].rstrip()
    return NamedAction(before[before.rfind("\n") + 1 :].lstrip(), text[ends[0].end() :])


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
        raise ValueError(f"is not a Python literal: {error}") from error
