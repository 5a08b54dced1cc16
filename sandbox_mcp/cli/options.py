"""Options that several commands share, and how they print."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

Command = Callable[..., Any]

scenario_files: Callable[[Command], Command] = click.option(
    "--scenarios",
    "places",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A scenario file or folder of your own, used before the built-in suite. May be repeated.",
)
as_json: Callable[[Command], Command] = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def print_json(value: object) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows in columns; numbers are right-aligned."""
    click.echo(table(headers, rows))


def table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Rows in columns as text, numbers with three decimals and right-aligned."""
    cells = [[_shown(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [list(headers), *cells]) for i in range(len(headers))]
    numeric = [
        all(isinstance(row[i], int | float) or row[i] in (None, "") for row in rows) for i in range(len(headers))
    ]
    return "\n".join(_line(line, widths, numeric) for line in [list(headers), *cells])


def _line(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    placed = zip(cells, widths, numeric, strict=True)
    return "  ".join(cell.rjust(width) if right else cell.ljust(width) for cell, width, right in placed).rstrip()


def _shown(cell: object) -> str:
    if cell is None:
        return "-"
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)
