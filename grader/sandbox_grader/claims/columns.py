"""Tables in a message: a column of what was says so in its head alone, which every cell is read with."""

import re

_RULE = re.compile(r"\|?(?:[ \t]*:?-{2,}:?[ \t]*\|)+(?:[ \t]*:?-{2,}:?)?")
"""The line between the head of a table and its rows."""
_OF_BEFORE = re.compile(
    r"\W*(?:the |your )?(?:old|(?:previous|former|original)(?:ly)?|prior|earlier|before|was)\b(?: \w+){0,3}\W*",
    re.IGNORECASE,
)


def with_old_columns_named(text: str) -> str:
    """The text with the head of a column of what was written before each of its cells, as ``Old price: 3 EUR``."""
    lines = text.split("\n")
    heads: dict[int, str] = {}
    for number, line in enumerate(lines):
        if "|" not in line:
            heads = {}
        elif _RULE.fullmatch(line.strip()) and number:
            names = enumerate(_cells(lines[number - 1]))
            heads = {place: name.strip(" *_:") for place, name in names if _OF_BEFORE.fullmatch(name)}
        elif heads:
            cells = enumerate(_cells(line))
            named = (f" {heads[n]}: {cell} " if n in heads and cell.strip() else cell for n, cell in cells)
            lines[number] = f"|{'|'.join(named)}|"
    return "\n".join(lines)


def _cells(line: str) -> list[str]:
    return line.strip().removeprefix("|").removesuffix("|").split("|")
