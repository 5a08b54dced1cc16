"""Printing of results: as JSON, or in a table of as many rows as a person reads."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

import click

from sandbox_mcp.app.cli.options import Command, together
from sandbox_mcp.engine.columns import columns, is_numeric, shown
from sandbox_mcp.engine.shown import behind, json_text

T = TypeVar("T")
SCREENFUL, FEW = 20, 10
"""Up to how many sessions each gets a line, and how many of the worst are listed where there are more."""
NAME, BETWEEN = 8, 2
"""Characters in a line that a name gets at least, and that stand between two columns."""
as_json: Callable[[Command], Command] = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def print_json(value: object) -> None:
    """Print one JSON document."""
    click.echo(json_text(value))


def print_table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows in columns, numbers right-aligned; a terminal gets a table that fits its width.

    Where it is narrow, names and headers go on in the next line, but a figure never does, or 0.342 would be read as
    0.3. Where not even the figures fit side by side, every row is a list of its own.
    """
    if not sys.stdout.isatty():
        click.echo(columns(headers, rows))
        return
    from rich.box import SIMPLE_HEAD
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=behind(sys.stdout))
    cells = [[shown(cell) for cell in row] for row in rows]
    figures = [is_numeric(rows, number) for number in range(len(headers))]
    longest = [max((cell_len(row[number]) for row in cells), default=0) for number in range(len(headers))]
    least = [wide if figure else min(wide, NAME) for wide, figure in zip(longest, figures, strict=True)]
    widths = [max(cell_len(header), wide, 1) for header, wide in zip(headers, longest, strict=True)]
    room = console.width - BETWEEN * (len(headers) - 1)
    if sum(least) <= room:
        while sum(widths) > room:
            widest = max((n for n, width in enumerate(widths) if width > least[n]), key=widths.__getitem__)
            widths[widest] -= 1
        table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True, header_style="bold")
        for header, figure, width in zip(headers, figures, widths, strict=True):
            table.add_column(Text(header), justify="right" if figure else "left", overflow="fold", width=width)
        for row in cells:
            table.add_row(*map(Text, row))
        console.print(table)
        return
    for number, row in enumerate(cells):
        listed = Table.grid(padding=(0, BETWEEN))
        listed.add_column(style="bold", overflow="fold")
        listed.add_column(overflow="fold")
        for header, cell in zip(headers, row, strict=True):
            listed.add_row(Text(header), Text(cell))
        console.print(*([""] if number else []), listed, sep="\n")


@dataclass(frozen=True, slots=True)
class RowChoice:
    """Choice of the sessions or scenarios that a command shows, and their order."""

    everything: bool
    failed: bool
    sort: str

    def of(
        self, items: Sequence[T], score: Callable[[T], float | None], turns: Callable[[T], float | None]
    ) -> tuple[list[T], str]:
        """Those to show, and what to say of the others; one without a score did not pass."""
        passes = 1 - 1e-9
        failed = [item for item in items if (score(item) or 0.0) < passes]
        many = len(items) > SCREENFUL and not self.everything and not self.failed
        chosen = failed if many or self.failed else list(items)
        order = self.sort or ("score" if many else "name")
        if order == "score":
            chosen.sort(key=lambda item: (score(item) is not None, score(item) or 0.0))
        elif order == "turns":
            chosen.sort(key=lambda item: -(turns(item) or 0.0))
        shown = chosen[:FEW] if many else chosen
        if len(shown) == len(items):
            return shown, ""
        if not failed:
            return shown, f"all {len(items)} passed; --all lists them"
        if len(failed) > len(shown):
            told = f"{len(shown)} of the {len(failed)} that did not pass, of {len(items)}"
            return shown, f"{told}; --failed lists them, --all every one"
        return shown, f"those that did not pass, {len(shown)} of {len(items)}; --all lists every one"


def row_options(command: Command) -> Command:
    """Give a command ``--all``, ``--failed`` and ``--sort``, as one argument ``listed``."""

    @wraps(command)
    def chosen(everything: bool, failed: bool, sort: str | None, **options: Any) -> Any:
        return command(listed=RowChoice(everything, failed, sort or ""), **options)

    orders = click.Choice(["name", "score", "turns"])
    told = f"List every one.  [default: the worst {FEW} where there are more than {SCREENFUL}]"
    return together(
        click.option("--sort", type=orders, help="The order of the list; scores from the lowest up."),
        click.option("--failed", is_flag=True, help="List only those that did not pass."),
        click.option("--all", "everything", is_flag=True, help=told),
    )(chosen)
