"""A filled table as text: Markdown, CSV, HTML or LaTeX.

Policy: all forms hold the same cells. CSV is one line per cell, so that several tables fit into one file and every
number is a number; the others look like the paper's table.
"""

import csv
import html
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from sandbox_grader.papers.shared.table import FilledTable, PaperRow
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.shown import cell as safe
from sandbox_mcp.engine.shown import one_line

CSV_HEAD: Final[tuple[str, ...]] = (
    "table", "row", "column", "value", "low", "high", "printed", "observations", "clusters", "mode", "row_of_paper",
)  # fmt: skip
LATEX = str.maketrans(
    {"&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}",
     "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _PageOfTable:
    """Content of a page about a table: its title, its head and rows, and its gaps below it."""

    title: str
    head: list[str]
    body: list[list[str]]
    remarks: list[str]


def _pages(tables: Sequence[FilledTable], everything: bool, safe: Callable[[str], str]) -> Iterator[_PageOfTable]:
    """Each table, its cells made ``safe`` for a form."""
    for filled in tables:
        table, rows = filled.table, [row for row, _ in _rows(filled, everything)]
        shown = rows[: table.most] if table.most and not everything else rows
        body: list[list[str]] = []
        for row in shown:
            cells = (cell.shown(column) for column, cell in zip(table.columns, row.cells, strict=True))
            body.append([safe(one_line(row.label)), *(safe(one_line(text) or "-") for text in cells)])
        head = [safe(name) for name in ("", *(column.name for column in table.columns))]
        title = f"{table.asked}: {table.title} ({filled.mode})"
        left = len(rows) - len(shown)
        more = [f"and {counted(left, 'row')} more; --all shows them"] if left else []
        note = [table.note] if table.note else []
        yield _PageOfTable(title, head, body, [*more, *note, *(one_line(str(missing)) for missing in filled.missing)])


def markdown(tables: Sequence[FilledTable], *, everything: bool = False) -> str:
    """The tables as Markdown, each under its title, with the missing parts below it."""
    parts: list[str] = []
    for page in _pages(tables, everything, lambda text: text.replace("|", r"\|")):
        lines = [f"| {' | '.join(line)} |" for line in (page.head, *page.body)]
        lines.insert(1, "|" + "---|" * len(page.head))
        remarks = [f"- {remark}" for remark in page.remarks]
        parts.append("\n".join([f"### {page.title}", "", *lines, *([""] if remarks else []), *remarks]))
    return "\n\n".join(parts) + "\n"


def comma_separated(tables: Sequence[FilledTable], *, everything: bool = False) -> str:
    """The cells of all tables, one a line; a table's printed rows have no value of their own."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_HEAD)
    for filled in tables:
        for row, of_paper in _rows(filled, everything):
            for column, cell in zip(filled.table.columns, row.cells, strict=True):
                told = cell.to_json(column)
                place = {"table": filled.table.asked, "row": row.label, "column": column.name}
                kind = {"mode": filled.mode, "row_of_paper": int(of_paper)}
                writer.writerow([safe({**place, **told, **kind}.get(name)) for name in CSV_HEAD])
    return text.getvalue()


def hypertext(tables: Sequence[FilledTable], *, everything: bool = False) -> str:
    """The tables as a part of an HTML page."""
    parts: list[str] = []
    for page in _pages(tables, everything, html.escape):
        rows = [f"<tr><th>{line[0]}</th>{''.join(f'<td>{text}</td>' for text in line[1:])}</tr>" for line in page.body]
        remarks = "".join(f"<li>{html.escape(remark)}</li>" for remark in page.remarks)
        parts.append(
            f"<table>\n<caption>{html.escape(page.title)}</caption>\n"
            f"<thead><tr>{''.join(f'<th>{text}</th>' for text in page.head)}</tr></thead>\n"
            f"<tbody>\n{chr(10).join(rows)}\n</tbody>\n</table>" + (f"\n<ul>{remarks}</ul>" if remarks else "")
        )
    return "\n\n".join(parts) + "\n"


def latex(tables: Sequence[FilledTable], *, everything: bool = False) -> str:
    """The tables as LaTeX, each a ``table`` with its caption; gaps stand in comments."""
    parts: list[str] = []
    for page in _pages(tables, everything, lambda text: text.translate(LATEX)):
        lines = [f"{' & '.join(line)} \\\\" for line in (page.head, *page.body)]
        lines.insert(1, r"\hline")
        begin = [r"\begin{table}", rf"\caption{{{page.title.translate(LATEX)}}}"]
        begin.append(rf"\begin{{tabular}}{{l{'r' * (len(page.head) - 1)}}}")
        remarks = (f"% {remark}" for remark in page.remarks)
        parts.append("\n".join([*begin, *lines, r"\end{tabular}", r"\end{table}", *remarks]))
    return "\n\n".join(parts) + "\n"


_Form = Callable[..., str]
FORMS: MappingProxyType[str, _Form] = MappingProxyType(
    {"md": markdown, "csv": comma_separated, "html": hypertext, "latex": latex}
)
"""The forms by the names that a command line knows them by."""


def _rows(filled: FilledTable, everything: bool) -> list[tuple[PaperRow, bool]]:
    """The rows to show, each with whether it is the paper's: those of models that were not played on demand only."""
    others = filled.others if everything or not filled.rows else ()
    return [*((row, False) for row in filled.rows), *((row, True) for row in others)]
