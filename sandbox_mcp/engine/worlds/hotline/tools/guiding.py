"""Tools of the hotline, and acts of whoever stands in front of the heating."""

from typing import Literal, TypedDict, TypeVar

from sandbox_mcp.engine.world.faults import DuplicateError
from sandbox_mcp.engine.world.tables import Table
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.hotline.world import (
    Bulletin,
    Heating,
    ManualPage,
    PartOrder,
    ServiceRecord,
    SoldUnit,
    hotline,
)

SIZE = 20
KEYS, MOST_WRONG = 4, 3
LOCKED, RUNNING, BURST = "LOCKED", "RUN", "E-99"
HIGHEST = 30
"""Tenths of a bar above which the relief valve opens and the heating is out of order."""
_HeatingKey = Literal["F1", "F2", "F3", "F4", "F5", "F6"]
_R = TypeVar("_R", bound=Table)


class _PageTitle(TypedDict):
    """A page of the manual without its text."""

    number: str
    title: str


class _PageTitles(TypedDict):
    """Titles of the manual, and how many pages the list has."""

    rows: list[_PageTitle]
    total: int
    pages: int


class _BulletinHead(TypedDict):
    """A bulletin without its text."""

    number: str
    day: str
    subject: str


class _BulletinHeads(TypedDict):
    """Bulletins, oldest first, and how many pages the list has."""

    rows: list[_BulletinHead]
    total: int
    pages: int


class _FoundUnits(TypedDict):
    """Heatings of the register, and how many pages the list has."""

    rows: list[SoldUnit]
    total: int
    pages: int


def _part(rows: list[_R], page: int) -> tuple[list[_R], int]:
    pages = max(1, -(-len(rows) // SIZE))
    if not 1 <= page <= pages:
        raise ValueError(f"`page` must be from 1 to {pages}")
    return rows[(page - 1) * SIZE : page * SIZE], pages


@hotline.query(group="register")
def find_units(tx: Tx, serial: str = "", model: str = "", page: int = 1) -> _FoundUnits:
    """Find heatings in the register of those that were sold, by serial number.

    Args:
        serial: Text that occurs in the serial number, such as HK-4 or 17.
        model: Only of this model, such as K20.
        page: Page of the list.
    """
    found = [one for one in tx.all(SoldUnit) if serial in one.serial and model in ("", one.model)]
    rows, pages = _part(sorted(found, key=lambda one: one.serial), page)
    return {"rows": rows, "total": len(found), "pages": pages}


@hotline.query(group="manual")
def list_manual(tx: Tx, text: str = "", page: int = 1) -> _PageTitles:
    """List the pages of the manual, by number.

    Args:
        text: Only those in whose title or text this occurs.
        page: Page of the list.
    """
    low = text.casefold()
    found = [one for one in tx.all(ManualPage) if low in f"{one.title}\n{one.body}".casefold()]
    rows, pages = _part(sorted(found, key=lambda one: int(one.number.partition("-")[2])), page)
    heads: list[_PageTitle] = [{"number": one.number, "title": one.title} for one in rows]
    return {"rows": heads, "total": len(found), "pages": pages}


@hotline.query(group="manual")
def read_manual(tx: Tx, number: str) -> ManualPage:
    """Read a page of the manual.

    Args:
        number: Number of the page, such as P-12.
    """
    return tx.one(ManualPage, number=number)


@hotline.query(group="bulletins")
def list_bulletins(tx: Tx, text: str = "", page: int = 1) -> _BulletinHeads:
    """List the bulletins for the hotline, oldest first.

    Args:
        text: Only those in whose subject or text this occurs.
        page: Page of the list.
    """
    low = text.casefold()
    found = [one for one in tx.all(Bulletin) if low in f"{one.subject}\n{one.body}".casefold()]
    rows, pages = _part(sorted(found, key=lambda one: one.day), page)
    heads: list[_BulletinHead] = [{"number": one.number, "day": one.day, "subject": one.subject} for one in rows]
    return {"rows": heads, "total": len(found), "pages": pages}


@hotline.query(group="bulletins")
def read_bulletin(tx: Tx, number: str) -> Bulletin:
    """Read a bulletin.

    Args:
        number: Number of the bulletin, such as B-104.
    """
    return tx.one(Bulletin, number=number)


@hotline.action(group="service", adds=[PartOrder], said=["ordered"])
def order_part(tx: Tx, serial: str, part: str) -> PartOrder:
    """Order a part for a heating of the register.

    Args:
        serial: Serial number of the heating, such as HK-40172.
        part: Number of the part, such as T-31.

    Raises:
        DuplicateError: the part was ordered for it already.
    """
    unit = tx.one(SoldUnit, serial=serial)
    if tx.all(PartOrder, serial=serial, part=part):
        raise DuplicateError(f"part {part} was ordered for {serial} already")
    return tx.add(PartOrder, serial=unit.serial, part=part)


@hotline.action(group="service", adds=[ServiceRecord], said=["recorded", "entered"])
def record_service(tx: Tx, serial: str, code: str, tenths: int) -> ServiceRecord:
    """Enter that a heating runs again.

    Args:
        serial: Serial number of the heating, such as HK-40172.
        code: The code that it showed when its owner called, such as E-41.
        tenths: The pressure at which it was started, in tenths of a bar.
    """
    unit = tx.one(SoldUnit, serial=serial)
    return tx.add(ServiceRecord, serial=unit.serial, code=code, tenths=tenths)


@hotline.user_action
def read_plate(tx: Tx) -> str:
    """Read what the plate on the heating says."""
    return tx.one(Heating).plate


@hotline.user_action
def read_display(tx: Tx) -> str:
    """Read what the display shows."""
    return _shown(tx.one(Heating))


@hotline.user_action
def read_firmware(tx: Tx) -> str:
    """Open the flap and read the version of the firmware."""
    return tx.one(Heating).firmware


@hotline.user_action
def read_gauge(tx: Tx) -> str:
    """Read the pressure from the gauge."""
    return f"{tx.one(Heating).tenths / 10:.1f} bar"


@hotline.user_action(updates=[Heating.pressed, Heating.code, Heating.wrong])
def press(tx: Tx, button: _HeatingKey) -> str:
    """Press a key of the heating.

    Args:
        button: Name of the key, such as F1.
    """
    here = tx.one(Heating)
    if here.code in (LOCKED, RUNNING, BURST):
        return _shown(here)
    pressed = [*here.pressed.split(), button]
    if len(pressed) < KEYS:
        return _shown(tx.change(here, pressed=" ".join(pressed)))
    sequence, starting = " ".join(pressed), here.code == here.after
    if starting and sequence == here.start and (here.tenths, here.falls) == (here.full, here.airs):
        return _shown(tx.change(here, pressed="", code=RUNNING))
    if not starting and sequence == here.unlock:
        return _shown(tx.change(here, pressed="", code=here.after))
    wrong = here.wrong + 1
    return _shown(tx.change(here, pressed="", wrong=wrong, code=LOCKED if wrong == MOST_WRONG else here.code))


@hotline.user_action(updates=[Heating.tenths, Heating.code])
def turn_valve(tx: Tx, quarters: int) -> str:
    """Turn the filling valve open by some quarter turns and shut it again, which lets water in.

    Args:
        quarters: How many quarter turns.
    """
    here = tx.one(Heating)
    tenths = here.tenths + 2 * quarters
    changed = tx.change(here, tenths=tenths, code=BURST if tenths > HIGHEST else here.code)
    return f"{changed.tenths / 10:.1f} bar"


def _shown(here: Heating) -> str:
    """What the display shows: the code, the keys since the last sequence, and how many sequences were wrong."""
    keys = f", keys {here.pressed}" if here.pressed else ""
    wrong = f", wrong {here.wrong} of {MOST_WRONG}" if here.wrong and here.code != RUNNING else ""
    return f"{here.code}{keys}{wrong}"
