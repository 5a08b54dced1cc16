"""Panels of washing lines: keys that turn lamps over, and the program that is engaged."""

from typing import TypedDict

from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.desk.paging import PageOfRows, page_of
from sandbox_mcp.engine.worlds.desk.tables import Panel
from sandbox_mcp.engine.worlds.desk.world import desk

GROUP = "panels"
KEYS = "ABCDEFG"
LAMPS = 8
MINUTES = 4
"""Minutes until the lamps have settled after a key."""


class PanelShown(TypedDict):
    """A panel as one sees it; ``lit`` are the lamps that are on, ``time`` is the time of day."""

    number: str
    site: str
    lit: str
    state: str
    program: str | None
    time: str


class Panels(PageOfRows):
    """Panels by number."""

    rows: list[PanelShown]


@desk.query(group=GROUP)
def list_panels(tx: Tx, site: str = "", page: int = 1) -> Panels:
    """List the panels with the lamps that are lit. They have the keys A to G and the lamps 1 to 8.

    Args:
        site: Only at this site.
        page: Page of the list.
    """
    found = [one for one in tx.all(Panel) if site in ("", one.site)]
    rows, of = page_of(sorted(found, key=lambda one: one.number), page)
    return {"rows": [_shown(tx, one) for one in rows], **of}


@desk.action(group=GROUP, updates=[Panel.lit], destructive=False, said=["pressed"])
def press_key(tx: Tx, panel: str, key: str) -> PanelShown:
    """Press a key of an idle panel. It takes 4 minutes until the lamps have settled; ``time`` says when that is.

    Args:
        panel: Number of the panel, such as P-17.
        key: A key from A to G.

    Raises:
        ValueError: there is no such key, or the panel is not idle.
    """
    found = _idle(tx, panel)
    if len(key) != 1 or key not in KEYS:
        raise ValueError(f"`key` must be one of {', '.join(KEYS)}")
    tx.wait(60 * MINUTES)
    lamps = bits(found.lit) ^ found.wiring[KEYS.index(key)]
    return _shown(tx, tx.change(found, lit=lit(lamps)), MINUTES)


@desk.action(group=GROUP, updates=[Panel.state, Panel.program], said=["engaged", "started"])
def engage_panel(tx: Tx, panel: str, program: str) -> PanelShown:
    """Engage a program on an idle panel with the lamps as they are. It cannot be undone.

    Args:
        panel: Number of the panel, such as P-17.
        program: Name of the program.

    Raises:
        ValueError: the panel is not idle.
    """
    return _shown(tx, tx.change(_idle(tx, panel), state="engaged", program=program))


def bits(text: str) -> int:
    """Lamps that are lit, as bits."""
    return sum(1 << (int(lamp) - 1) for lamp in text.split())


def lit(lamps: int) -> str:
    """Bits as the lamps that are lit."""
    return " ".join(str(lamp + 1) for lamp in range(LAMPS) if lamps >> lamp & 1)


def _idle(tx: Tx, number: str) -> Panel:
    found = tx.one(Panel, number=number)
    if found.state != "idle":
        raise ValueError(f"panel {number} is {found.state}")
    return found


def _shown(tx: Tx, panel: Panel, later: int = 0) -> PanelShown:
    return {
        "number": panel.number, "site": panel.site, "lit": panel.lit, "state": panel.state, "program": panel.program,
        "time": f"{tx.local(tx.now + 60 * later):%H:%M}",
    }  # fmt: skip
