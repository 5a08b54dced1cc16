"""One entry of a scenario file without the others, so that loading one scenario does not cost its whole family.

Policy: the others become empty lines, so that the rest is a file with the same line numbers. Only a file in the
plainest layout is cut, in which every entry begins with its name; any other has to be read whole.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

_LIST = re.compile(r"^scenarios:(?: +#.*| *)\n(?: *(?:#.*)?\n)*( *)- ", re.MULTILINE)
_NAME = r"(?:name: ([a-z][a-z0-9_]*) *(?=\n))?"
_BREAKS = "\r\x85\u2028\u2029"
"""What also ends a line in YAML."""
_ALIAS = re.compile(r"\*([\w-]+)")


def excerpt(text: str, name: str) -> str | None:
    """The text of a file with no entry but that of ``name``, and those that hold what its aliases stand for.

    None where the file is not laid out plainly, or does not have exactly one entry of that name. What is returned may
    have faults that the file has not; the other way round only in entries that were left out.
    """
    first = _LIST.search(text)
    if first is None or any(end in text for end in _BREAKS):
        return None
    starts = list(re.compile(rf"\n{first[1]}- {_NAME}").finditer(text, first.start()))
    names = [start[1] for start in starts]
    if None in names or names.count(name) != 1:
        return None
    entries = [text[begin:end] for begin, end in pairwise((*(start.start() for start in starts), len(text)))]
    kept = _with_anchors(entries, names.index(name))
    lines = (entry if index in kept else "\n" * entry.count("\n") for index, entry in enumerate(entries))
    return text[: starts[0].start()] + "".join(lines)


def _with_anchors(entries: Sequence[str], index: int) -> set[int]:
    """An entry, and those before it that its aliases refer to."""
    kept: set[int] = set()
    waiting = [index]
    while waiting:
        index = waiting.pop()
        kept.add(index)
        for alias in set(_ALIAS.findall(entries[index])):
            anchor = re.compile(rf"&{alias}(?![\w-])")
            nearest = next((before for before in range(index, -1, -1) if anchor.search(entries[before])), index)
            if nearest not in kept:
                waiting.append(nearest)
    return kept
