"""Which of MTU-Bench's hard cases a dialogue is, told from its rows; the published files do not say.

Policy: a dialogue is of a class if one of its turns is. Classes are told by what the rows hold and not by judgement, so
they approximate the authors' labels. A name is nonsense if it is one letter repeated or a run of the alphabet; no tool
fits where a dialogue of one turn wants no call; a value is inherited if all its words were said before this turn and
not all of them in it.
Source: MTU-Bench, table 8.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from sandbox_grader.importers.rows.files import BenchmarkRow, DialogueRows
from sandbox_grader.importers.rows.prompt import OfferedTool
from sandbox_grader.mtu_bench.hearing import HeardSoFar, words_of

MOST_PARAMETERS, MOST_TOOLS, LONGEST_NONSENSE = 6, 4, 5
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz"
_REPEATED: Final = re.compile(r"(.)\1+")


def hard_classes(dialogue: DialogueRows) -> tuple[str, ...]:
    """The classes that a dialogue belongs to, in the order of :data:`HARD`."""
    rows = [row for row, _ in dialogue.rows]
    return tuple(name for name, is_of in HARD.items() if is_of(rows))


def _many_parameters(rows: Sequence[BenchmarkRow]) -> bool:
    return any(len(arguments) > MOST_PARAMETERS for row in rows for arguments in row.answer.values())


def _nonsense_names(rows: Sequence[BenchmarkRow]) -> bool:
    names = {name.strip() for row in rows for name in (*row.answer, *(tool.name for tool in _offered(row)))}
    return any(map(_is_nonsense, names))


def _is_nonsense(name: str) -> bool:
    plain = name.lower()
    return len(name) <= LONGEST_NONSENSE and bool(_REPEATED.fullmatch(plain) or (len(plain) > 2 and plain in _ALPHABET))


def _choices(rows: Sequence[BenchmarkRow]) -> bool:
    return any(
        name in arguments and "enum" in schema
        for row in rows
        for tool, arguments in _wanted(row)
        for name, schema in tool.schema["properties"].items()
    )


def _no_tool(rows: Sequence[BenchmarkRow]) -> bool:
    return len(rows) == 1 and not any(name.strip() for name in rows[0].answer)


def _many_tools(rows: Sequence[BenchmarkRow]) -> bool:
    return any(len(row.answer) > MOST_TOOLS for row in rows)


def _inherited(rows: Sequence[BenchmarkRow]) -> bool:
    return any(
        _heard(row).only_before(value)
        for row in rows
        if row.question.history
        for arguments in row.answer.values()
        for value in arguments.values()
    )


HARD: Final[Mapping[str, Callable[[Sequence[BenchmarkRow]], bool]]] = MappingProxyType(
    {
        "many_parameters": _many_parameters,
        "nonsense_names": _nonsense_names,
        "choices": _choices,
        "no_tool": _no_tool,
        "many_tools": _many_tools,
        "inherited_parameters": _inherited,
    }
)
"""Name of the class to what tells it."""


def _offered(row: BenchmarkRow) -> Sequence[OfferedTool]:
    return row.question.tools or ()


def _wanted(row: BenchmarkRow) -> Iterator[tuple[OfferedTool, Mapping[str, Any]]]:
    """The calls of the ground truth whose tool the question describes."""
    tools = {tool.name: tool for tool in _offered(row)}
    for name, arguments in row.answer.items():
        if name.strip() in tools:
            yield tools[name.strip()], arguments


def _heard(row: BenchmarkRow) -> HeardSoFar:
    before = frozenset(words_of(row.question.history))
    now = frozenset(words_of(row.question.user or ""))
    return HeardSoFar(before.__contains__, now.__contains__)
