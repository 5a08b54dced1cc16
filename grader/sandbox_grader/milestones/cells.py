"""Measures by which ToolSandbox's evaluator compares cells and rows, one function each.

Policy: oddities included. A measure answers None where that evaluator leaves the column out of the mean, which it does
for an empty cell that something was expected in.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import Any

from sandbox_grader.grading.rouge import rouge_l
from sandbox_grader.grading.values import same_set
from sandbox_grader.milestones.case import MESSAGES, CaseConstraint, Cells, Extraction, Measured, RecordedCall

CellMeasure = Callable[[Any], float | None]
TargetRow = tuple[tuple[str, CellMeasure], ...]
"""One expected row: each named column with how its cell is judged."""

USUAL: Mapping[tuple[str, str], Measured] = {
    (MESSAGES, "content"): Measured("rouge_l"),
    (MESSAGES, "tool_calls"): Measured("trace_exact"),
    ("contact", "relationship"): Measured("rouge_l"),
    ("messaging", "content"): Measured("rouge_l"),
    ("reminder", "content"): Measured("rouge_l"),
}
"""How the cells of a table's column are compared unless a constraint says; those of all others must be equal."""
PLACEHOLDER = re.compile(r"\{(\w+)\}")
"""Where a text takes a value, by its name."""


def targets(constraint: CaseConstraint, rows: Sequence[Cells]) -> tuple[TargetRow, ...]:
    """The expected rows of a constraint, ready to be compared."""
    return tuple(
        tuple((column, _cell_measure(constraint, column, value)) for column, value in row.items()) for row in rows
    )


def similarity(target: TargetRow, row: Cells) -> float | None:
    """The geometric mean of a row's columns; None if every one is left out."""
    total, count = 1.0, 0
    for column, measure in target:
        value = measure(row[column]) if column in row else 0.0
        if value == 0.0:
            return 0.0
        if value is not None:
            total *= value
            count += 1
    return total ** (1 / count) if count else None


def _cell_measure(constraint: CaseConstraint, column: str, value: Any) -> CellMeasure:
    usual = USUAL.get((constraint.table, column), Measured("exact"))
    measured = (constraint.measures or {}).get(column) or usual
    if measured.measure == "exact":
        if value is None:
            return lambda cell: 1.0 if cell is None else 0.0
        return lambda cell: None if cell is None else (1.0 if cell == value else 0.0)
    if measured.measure == "close":
        return lambda cell: 0.0 if cell is None else float(_near(value, cell, measured.tolerance))
    if measured.measure == "trace_exact":
        return _trace(value, measured.tolerance or {})
    return _SIMPLE[measured.measure](value)


def _mentions(alternatives: Any) -> CellMeasure:
    """Of several lists of texts one that occurs as a whole, in any case. Ours; the original has none."""
    wanted = [[str(text).casefold() for text in texts] for texts in alternatives]

    def measure(cell: Any) -> float:
        given = str(cell).casefold()
        return 1.0 if cell is not None and any(all(text in given for text in texts) for texts in wanted) else 0.0

    return measure


_SIMPLE: Mapping[str, Callable[[Any], CellMeasure]] = {
    "contains": lambda value: lambda cell: None if cell is None else float(str(value) in str(cell)),
    "mentions": _mentions,
    "one": lambda _value: lambda _cell: 1.0,
    "one_of": lambda values: lambda cell: 1.0 if cell in values else 0.0,
    "rouge_l": lambda value: lambda cell: 0.0 if None in (cell, value) else rouge_l(str(value), str(cell)),
    "set": lambda values: lambda cell: 1.0 if same_set(values, cell) else 0.0,
}


def counts_as_number(value: Any) -> bool:
    """True if the original treats a value as a number, which booleans are too."""
    return isinstance(value, int | float)


def _near(first: Any, second: Any, tolerance: Any) -> bool:
    if tolerance is not None and counts_as_number(first) and counts_as_number(second):
        with suppress(OverflowError):  # whole numbers may be larger than any float
            return abs(first - second) <= tolerance
    return bool(first == second)


def _trace(alternatives: Any, tolerance: Mapping[str, float]) -> CellMeasure:
    golden = tuple((item["tool"], item["arguments"]) for item in alternatives or ())

    def measure(calls: Sequence[RecordedCall] | None) -> float:
        for call in calls or ():
            for tool, given in golden:
                if call.tool == tool and _same_arguments(call.arguments, given, tolerance):
                    return 1.0
        return 0.0

    return measure


def _same_arguments(given: Mapping[str, Any], wanted: Mapping[str, Any], tolerance: Mapping[str, float]) -> bool:
    return all(name in given and _near(value, given[name], tolerance.get(name)) for name, value in wanted.items())


def value_sets(extract: Sequence[Extraction], call: RecordedCall) -> list[dict[str, Any]]:
    """Sets of named values that a call yields, one per written form of a number; none if a step fails."""
    forms: list[list[Any]] = []
    try:
        for item in extract:
            value: Any = call.arguments if item.source == "arguments" else call.result
            for step in item.path:
                value = value[step]
            value = converted(value, item.convert)
            forms.append([f"{value:.{places}f}" for places in item.decimals] if item.decimals else [value])
    except (KeyError, IndexError, TypeError, ValueError, OverflowError):
        return []
    names = [extraction.to for extraction in extract]
    return [dict(zip(names, chosen, strict=True)) for chosen in product(*forms)]


def converted(value: Any, conversion: str) -> Any:
    """A value as another type; ValueError, TypeError or OverflowError where it has no such form."""
    if conversion == "float":
        return float(value)
    if conversion == "int":
        return int(value)
    return str(value) if conversion == "text" else value


def filled(constraint: CaseConstraint, values: Mapping[str, Any]) -> Iterator[Cells]:
    """The expected row of a constraint with values put in: one row, or none where a placeholder has no value."""
    row = dict(constraint.rows[0])
    if constraint.fill == "tool_calls":
        row["tool_calls"] = [
            {"tool": golden["tool"], "arguments": arguments}
            for golden in row.get("tool_calls") or ()
            for arguments in ({**golden["arguments"], **values}, {**values, **golden["arguments"]})
        ]
        yield row
    elif isinstance(row["content"], str):
        if _fillable(row["content"], values):
            row["content"] = _filled_text(row["content"], values)
            yield row
    else:
        row["content"] = [
            [_filled_text(text, values) for text in texts]
            for texts in row["content"]
            if all(_fillable(text, values) for text in texts)
        ]
        yield row


def _filled_text(text: str, values: Mapping[str, Any]) -> str:
    return PLACEHOLDER.sub(lambda found: as_text(values[found[1]]), text)


def _fillable(text: str, values: Mapping[str, Any]) -> bool:
    return all(name in values for name in PLACEHOLDER.findall(text))


def shape(values: object, number: int) -> str:
    """A text shared by equal values only; ``number`` stands in for values that cannot be written."""
    try:
        return repr(values)
    except ValueError:  # a whole number of thousands of digits
        return f"#{number}"


def as_text(value: object) -> str:
    """A value as text; nothing for a number too long to write."""
    try:
        return str(value)
    except ValueError:
        return ""
