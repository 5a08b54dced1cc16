"""Rows in columns, as plain text: what a file, a pipe or a notebook gets where a terminal gets a table by ``rich``."""

from collections.abc import Sequence

from sandbox_mcp.engine.shown import one_line


def columns(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Rows under their headers, numbers with three decimals and right-aligned."""
    cells = [list(headers), *([shown(cell) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headers))]
    right = [is_numeric(rows, i) for i in range(len(headers))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in cells
    )


def is_numeric(rows: Sequence[Sequence[object]], column: int) -> bool:
    """True if a column holds numbers and nothing else, or nothing at all."""
    return all(isinstance(row[column], int | float) or row[column] in (None, "") for row in rows)


def shown(cell: object) -> str:
    """A cell as text; a dash for an unknown one."""
    if cell is None:
        return "-"
    return f"{cell:.3f}" if isinstance(cell, float) else one_line(str(cell))
