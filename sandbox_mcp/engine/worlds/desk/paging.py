"""Lists by the page: no tool of the desk tells more than 20 rows at once, and none adds anything up."""

from collections.abc import Sequence
from typing import Any, TypedDict, TypeVar

from sandbox_mcp.engine.world.tables import Table

SIZE = 20
_R = TypeVar("_R", bound=Table)


class PageOfRows(TypedDict):
    """How many rows there are, and on how many pages."""

    total: int
    pages: int


def page_of(rows: Sequence[_R], page: int) -> tuple[list[_R], PageOfRows]:
    """The rows of a page, and how many there are in all.

    Raises:
        ValueError: there is no such page.
    """
    pages = max(1, -(-len(rows) // SIZE))
    if not 1 <= page <= pages:
        raise ValueError(f"`page` must be from 1 to {pages}")
    return [*rows[(page - 1) * SIZE : page * SIZE]], {"total": len(rows), "pages": pages}


def asked(**equal: str) -> dict[str, Any]:
    """Columns that a list is narrowed by: those for which a caller named a value."""
    return {name: value for name, value in equal.items() if value}


def has(text: str, *cells: str | None) -> bool:
    """True if a text occurs in one of the cells, in any case."""
    low = text.casefold()
    return any(low in (cell or "").casefold() for cell in cells)
