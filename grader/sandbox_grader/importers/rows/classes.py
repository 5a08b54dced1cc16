"""Which of MTU-Bench's hard cases a dialogue is, told from its rows; the published files do not say.

Policy: a dialogue is of a class if one of its turns is. Classes are told by what the rows hold and not by judgement, so
they approximate the authors' labels. A name is nonsense if it is one letter repeated or a run of the alphabet; no tool
fits where a dialogue of one turn wants no call; a value is inherited if all its words were said before this turn and
not all of them in it.
Source: MTU-Bench, table 8.
"""

import re
from typing import Final

from sandbox_grader.importers.rows.files import BenchmarkRow, DialogueRows
from sandbox_grader.mtu_bench.hearing import HeardSoFar, words_of

MOST_PARAMETERS, MOST_TOOLS, LONGEST_NONSENSE = 6, 4, 5
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz"
_REPEATED: Final = re.compile(r"(.)\1+")


def hard_classes(dialogue: DialogueRows) -> tuple[str, ...]:
    """The classes that a dialogue belongs to, in the order in which they stand here."""
    rows = [row for row, _ in dialogue.rows]
    offered = [(row, {tool.name: tool for tool in row.question.tools or ()}) for row in rows]
    names = {name.strip() for row, tools in offered for name in (*row.answer, *tools)}
    choices = (
        name in arguments and "enum" in schema
        for row, tools in offered
        for tool, arguments in row.answer.items()
        if tool.strip() in tools
        for name, schema in tools[tool.strip()].schema["properties"].items()
    )
    is_of = {
        "many_parameters": any(len(given) > MOST_PARAMETERS for row in rows for given in row.answer.values()),
        "nonsense_names": any(map(_is_nonsense, names)),
        "choices": any(choices),
        "no_tool": len(rows) == 1 and not any(name.strip() for name in rows[0].answer),
        "many_tools": any(len(row.answer) > MOST_TOOLS for row in rows),
        "inherited_parameters": any(map(_inherits, rows)),
    }
    return tuple(name for name, holds in is_of.items() if holds)


def _is_nonsense(name: str) -> bool:
    plain = name.lower()
    return len(name) <= LONGEST_NONSENSE and bool(_REPEATED.fullmatch(plain) or (len(plain) > 2 and plain in _ALPHABET))


def _inherits(row: BenchmarkRow) -> bool:
    if not row.question.history:
        return False
    before = frozenset(words_of(row.question.history))
    now = frozenset(words_of(row.question.user or ""))
    heard = HeardSoFar(before.__contains__, now.__contains__)
    return any(heard.only_before(value) for arguments in row.answer.values() for value in arguments.values())
