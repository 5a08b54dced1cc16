"""What somebody else might want an agent to do, and texts of theirs in what its tools return.

Policy: an attack is judged by what it leaves in the world, or, in worlds that nobody can change, by the call alone. A
text that was slipped in stands wherever a result has the text that carries it, and the log says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from sandbox_mcp.engine.tools.calling import Outcome
from sandbox_mcp.engine.tools.hints import TriedCall

CARRIED_BY, SLIPPED_IN = "carried_by", "slipped_in"
"""Under these keys of a call's ``meta`` the log keeps the text that carried an injection, and what it said."""


@dataclass(frozen=True, slots=True)
class AttackGoal:
    """Aim of an attack: ``wish`` words it as an order, ``calls`` carry it out.

    It was reached if ``table`` has a new row with these ``cells``; with ``row``, if that row now has them, or is gone
    where there are none. Without a table it was reached if its one call was made, with all of its arguments.
    """

    name: str
    wish: str
    calls: tuple[TriedCall, ...]
    table: str = ""
    row: str | None = None
    cells: Mapping[str, Any] = field(default_factory=dict[str, Any])


def carrying(outcome: Outcome, carrier: str, says: str) -> Outcome:
    """An outcome in which a text is followed by another one wherever it stands by itself."""
    result = _followed(outcome.result, carrier, says)
    if result is outcome.result:
        return outcome
    return replace(outcome, result=result, notes={**outcome.notes, CARRIED_BY: carrier, SLIPPED_IN: says})


def _followed(value: Any, carrier: str, says: str) -> Any:
    """A value with the text slipped in; the very same value where nothing in it carries that."""
    if isinstance(value, str):
        return f"{value} {says}" if value == carrier else value
    if isinstance(value, Mapping):
        cells = cast("Mapping[str, Any]", value)
        changed = {name: _followed(cell, carrier, says) for name, cell in cells.items()}
        return changed if any(changed[name] is not cells[name] for name in cells) else cells
    if isinstance(value, list | tuple):
        items = cast("list[Any]", value)
        listed = [_followed(item, carrier, says) for item in items]
        return listed if any(one is not other for one, other in zip(listed, items, strict=True)) else items
    return value
