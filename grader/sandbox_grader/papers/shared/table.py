"""A table of a paper, and what becomes of it when it is filled from runs.

Policy: rows and columns are the paper's. A row is a model; what several runs of one model played is one row. Beside a
figure stand its 95 % interval and what the paper prints for that model in that place. A cell that these runs cannot
fill says which command would, or why nothing can.
"""

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from sandbox_grader.grading.metric import Mode
from sandbox_grader.grading.scores import Scores
from sandbox_grader.papers.shared.figures import PaperFigure
from sandbox_grader.reporting.report import Report
from sandbox_grader.reporting.statistics import Estimate


@dataclass(frozen=True, slots=True)
class LabelledRun:
    """A graded run, and the name of its row where one was given."""

    report: Report
    label: str = ""


Grouped = Callable[[Sequence[LabelledRun]], Mapping[str, Sequence[Scores]]]
"""Makes the rows of a table: the sessions of each under its label."""


@dataclass(frozen=True, slots=True)
class PaperColumn:
    """A column: its name as printed, the figure in it, and what it is multiplied by and rounded to when shown.

    ``command`` is what fills a missing cell where that differs from the table's; ``never`` says why nothing can. An
    ``optional`` column is left out where no row has anything in it, and is not missed. Where there are sessions that it
    ``rests_on`` and still nothing to show, ``undecided`` says why, because no other run is missing.
    """

    name: str
    figure: PaperFigure
    scale: float = 100
    digits: int = 2
    command: str = ""
    never: str = ""
    optional: bool = False
    rests_on: Callable[[Scores], bool] | None = None
    undecided: str = ""

    def why_open(self, sessions: Sequence[Scores]) -> str:
        """Reason for which the column stays empty although there are sessions for it; empty where there are none."""
        return self.undecided if self.rests_on is not None and any(map(self.rests_on, sessions)) else ""


def by_model(runs: Sequence[LabelledRun]) -> dict[str, list[Scores]]:
    """The sessions of each model; of each agent where no model is named, of each run where neither is."""
    found: dict[str, list[Scores]] = {}
    for run in runs:
        for scores in run.report.ordered:
            label = run.label or scores.agent.get("model") or scores.agent.get("name") or run.report.name
            found.setdefault(str(label), []).append(scores)
    return found


@dataclass(frozen=True, slots=True)
class PaperTable:
    """One table or figure of a paper. ``PAPER/NAME`` is what it is asked for by.

    ``needs`` says in words which runs fill it, ``command`` how such a run is made. ``mode`` is how sessions are graded
    unless asked otherwise: as the authors did. ``rows`` makes the rows. ``printed`` is off where the paper has a
    picture, so that there are no figures to put beside. ``most`` is how many rows a page shows; 0 shows all.
    """

    paper: str
    name: str
    title: str
    columns: tuple[PaperColumn, ...]
    needs: str
    command: str
    mode: Mode = "compat"
    rows: Grouped = by_model
    printed: bool = True
    note: str = ""
    most: int = 0

    @property
    def asked(self) -> str:
        """The name by which a command asks for the table."""
        return f"{self.paper}/{self.name}"

    @property
    def published(self) -> Mapping[str, Mapping[str, float]]:
        """The figures that the paper prints, by model and column."""
        return published(self.paper, self.name) if self.printed else {}

    def filled(self, runs: Sequence[LabelledRun]) -> "FilledTable":
        """The table with what these runs have to say; they are taken as graded, in whatever mode."""
        published = self.published
        rows: list[PaperRow] = []
        for label, sessions in self.rows(runs).items():
            printed = {
                name: value
                for model, row in published.items()
                if plain(model) == plain(label)
                for name, value in row.items()
            }
            cells = (PaperCell(c.figure.of(sessions), printed.get(c.name), c.why_open(sessions)) for c in self.columns)
            rows.append(PaperRow(label, tuple(cells)))
        played = {plain(row.label) for row in rows}
        others = tuple(
            PaperRow(name, tuple(PaperCell(None, printed.get(column.name)) for column in self.columns))
            for name, printed in published.items()
            if plain(name) not in played
        )
        cells = list(zip(*(row.cells for row in (*rows, *others)), strict=True))
        said = [any(cell.found or cell.printed is not None for cell in column) for column in cells]
        kept = [n for n, column in enumerate(self.columns) if not column.optional or (said and said[n])]
        shown = replace(self, columns=tuple(self.columns[n] for n in kept))
        own, printed_only = (
            tuple(PaperRow(row.label, tuple(row.cells[n] for n in kept)) for row in side) for side in (rows, others)
        )
        return FilledTable(shown, own, printed_only, runs[0].report.mode if runs else self.mode, bool(runs))


@dataclass(frozen=True, slots=True)
class PaperCell:
    """A figure not scaled yet, or a text, and what the paper prints in its place; None for a gap.

    ``open`` is why the figure is missing although its sessions are there.
    """

    found: Estimate | str | None
    printed: float | None = None
    open: str = ""

    def shown(self, column: PaperColumn) -> str:
        """The figure with its interval, then the printed one."""

        def number(value: float) -> str:
            return f"{value * column.scale:.{column.digits}f}"

        found = self.found
        if found is None or isinstance(found, str):
            own = found or ""
        elif found.low is None or found.high is None:
            own = number(found.mean)
        else:
            own = f"{number(found.mean)} [{number(found.low)}, {number(found.high)}]"
        paper = "" if self.printed is None else f"paper {self.printed:.{column.digits}f}"
        return f"{own} ({paper})" if own and paper else own or paper

    def to_json(self, column: PaperColumn) -> dict[str, Any]:
        """The cell as one JSON object, scaled as the paper has it."""
        found = self.found
        if isinstance(found, str):
            return {"value": found, "low": None, "high": None, "printed": self.printed}
        numbers = (None,) * 3 if found is None else (found.mean, found.low, found.high)
        value, low, high = (None if n is None else round(n * column.scale, column.digits) for n in numbers)
        counts = {} if found is None else {"observations": found.sessions, "clusters": found.clusters}
        return {"value": value, "low": low, "high": high, "printed": self.printed, **counts}


@dataclass(frozen=True, slots=True)
class PaperRow:
    """A row: its label and a cell per column."""

    label: str
    cells: tuple[PaperCell, ...]


@dataclass(frozen=True, slots=True)
class FilledTable:
    """A table with the rows of some runs, and with the paper's rows of the models that these runs did not play."""

    table: PaperTable
    rows: tuple[PaperRow, ...]
    others: tuple[PaperRow, ...]
    mode: Mode
    played: bool = True
    """Whether there were any runs to fill it from."""

    @property
    def missing(self) -> tuple["MissingCells", ...]:
        """Cells that the runs leave empty."""
        table = self.table
        nothing = PaperRow("every row", (PaperCell(None),) * len(table.columns))
        found: list[MissingCells] = []
        for row in self.rows if self.played else (nothing,):
            ways: dict[tuple[str, str], list[str]] = {}
            for column, cell in zip(table.columns, row.cells, strict=True):
                if cell.found is None and not column.optional:
                    never = column.never or cell.open
                    command = "" if never else column.command or table.command
                    ways.setdefault((command, never), []).append(column.name)
            found += [MissingCells(row.label, tuple(names), command, never) for (command, never), names in ways.items()]
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        """The table as one JSON object."""
        columns = self.table.columns

        def told(row: PaperRow) -> dict[str, Any]:
            cells = zip(columns, row.cells, strict=True)
            return {"row": row.label, "cells": {column.name: cell.to_json(column) for column, cell in cells}}

        return {
            "table": self.table.asked,
            "title": self.table.title,
            "mode": self.mode,
            "rows": [told(row) for row in self.rows],
            "printed_only": [told(row) for row in self.others],
            "missing": [missing.to_json() for missing in self.missing],
            "note": self.table.note,
        }


@dataclass(frozen=True, slots=True)
class MissingCells:
    """Cells of one row that the runs leave empty, and the command that fills them, or why nothing can."""

    row: str
    columns: tuple[str, ...]
    command: str
    never: str = ""

    def to_json(self) -> dict[str, Any]:
        """The cells as one JSON object."""
        return {"row": self.row, "columns": list(self.columns), "command": self.command or None, "why": self.never}

    def __str__(self) -> str:
        named = ", ".join(self.columns)
        return f"{self.row}: {named}: {self.never or f'filled by: {self.command}'}"


def plain(label: str) -> str:
    """A model's name as names are compared: ``gpt4`` is ``GPT-4``."""
    return re.sub(r"[^a-z0-9.]+", "", label.lower())


@cache
def published(paper: str, name: str) -> Mapping[str, Mapping[str, float]]:
    """The figures that a paper prints in a table, by row and column; empty cells are left out."""
    room = files("sandbox_grader.papers") / paper.replace("-", "_")
    text = (room / "printed" / f"{name}.csv").read_text(encoding="utf-8")
    rows = list(csv.reader(text.splitlines()))
    return {
        row[0]: {column: float(value) for column, value in zip(rows[0][1:], row[1:], strict=True) if value}
        for row in rows[1:]
    }
