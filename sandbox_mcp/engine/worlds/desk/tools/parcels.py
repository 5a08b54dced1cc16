"""Parcels and their carriers: three views of where they were, tariffs, rates and claims."""

from typing import TypedDict

from sandbox_mcp.engine.world.faults import DuplicateError
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.desk.paging import PageOfRows, asked, page_of
from sandbox_mcp.engine.worlds.desk.tables import CarrierClaim, DailyRate, Handover, Parcel, ParcelScan, Tariff
from sandbox_mcp.engine.worlds.desk.world import desk

GROUP = "parcels"


class Parcels(PageOfRows):
    """Parcels by the day on the label."""

    rows: list[Parcel]


class Handovers(PageOfRows):
    """Lines of the book, oldest first."""

    rows: list[Handover]


class Scans(PageOfRows):
    """Scans, oldest first."""

    rows: list[ParcelScan]


class Tariffs(PageOfRows):
    """Tariffs, oldest first."""

    rows: list[Tariff]


class Rates(PageOfRows):
    """Rates, oldest first."""

    rows: list[DailyRate]


class Claims(PageOfRows):
    """Claims in the order in which they were filed."""

    rows: list[CarrierClaim]


class Tracked(TypedDict):
    """A parcel as its carrier shows it to everybody."""

    number: str
    carrier: str
    sent: str
    status: str
    since: str


@desk.query(group=GROUP)
def list_parcels(tx: Tx, carrier: str = "", service: str = "", page: int = 1) -> Parcels:
    """List parcels by the day on their label.

    Args:
        carrier: Only of this carrier.
        service: Only with this service.
        page: Page of the list.
    """
    rows, of = page_of(tx.ordered(Parcel, "labelled", "number", **asked(carrier=carrier, service=service)), page)
    return {"rows": rows, **of}


@desk.query(group=GROUP)
def track_parcel(tx: Tx, parcel: str) -> Tracked:
    """Look a parcel up on its carrier's page, as a customer sees it.

    Args:
        parcel: Number of the parcel, such as T-17.
    """
    found = tx.one(Parcel, number=parcel)
    scans = sorted(tx.all(ParcelScan, parcel=parcel), key=_day)
    arrived = [one for one in scans if one.event in ("left at shop", "at the door")]
    status, since = (
        ("delivered", arrived[0].day) if arrived else ("under way", scans[-1].day if scans else found.labelled)
    )
    return {"number": found.number, "carrier": found.carrier, "sent": found.labelled, "status": status, "since": since}


@desk.query(group=GROUP)
def list_scans(tx: Tx, parcel: str = "", page: int = 1) -> Scans:
    """List what carriers scanned, oldest first.

    Args:
        parcel: Only of the parcel of this number.
        page: Page of the list.
    """
    rows, of = page_of(tx.ordered(ParcelScan, "day", **asked(parcel=parcel)), page)
    return {"rows": rows, **of}


@desk.query(group=GROUP)
def list_handovers(tx: Tx, parcel: str = "", day: str = "", page: int = 1) -> Handovers:
    """List the book at our gate, oldest first: when a parcel was handed to its carrier.

    Args:
        parcel: Only the parcel of this number.
        day: Only on this day.
        page: Page of the list.
    """
    rows, of = page_of(tx.ordered(Handover, "day", "parcel", **asked(parcel=parcel, day=day)), page)
    return {"rows": rows, **of}


@desk.query(group=GROUP)
def list_tariffs(tx: Tx, carrier: str = "", page: int = 1) -> Tariffs:
    """List what carriers pay for late parcels, oldest tariff first.

    Args:
        carrier: Only of this carrier.
        page: Page of the list.
    """
    rows, of = page_of(tx.ordered(Tariff, "since", **asked(carrier=carrier)), page)
    return {"rows": rows, **of}


@desk.query(group=GROUP)
def list_rates(tx: Tx, currency: str = "", page: int = 1) -> Rates:
    """List the published rates, oldest first; ``per_euro`` is in ten-thousandths.

    Args:
        currency: Only of this currency, such as SEK.
        page: Page of the list.
    """
    rows, of = page_of(tx.ordered(DailyRate, "day", "currency", **asked(currency=currency)), page)
    return {"rows": rows, **of}


@desk.query(group=GROUP)
def list_claims(tx: Tx, parcel: str = "", page: int = 1) -> Claims:
    """List the claims that were filed.

    Args:
        parcel: Only for the parcel of this number.
        page: Page of the list.
    """
    rows, of = page_of([one for one in tx.all(CarrierClaim) if parcel in ("", one.parcel)], page)
    return {"rows": rows, **of}


@desk.action(group=GROUP, adds=[CarrierClaim], said=["filed", "claimed"])
def file_claim(tx: Tx, parcel: str, euro_cents: int) -> CarrierClaim:
    """File a claim for a parcel with its carrier.

    Args:
        parcel: Number of the parcel, such as T-17.
        euro_cents: Amount that is claimed, in cents of euros.

    Raises:
        DuplicateError: there is a claim for the parcel.
        ValueError: the amount is not above 0.
    """
    found = tx.one(Parcel, number=parcel)
    if tx.all(CarrierClaim, parcel=parcel):
        raise DuplicateError(f"there is a claim for the parcel {parcel}")
    if euro_cents <= 0:
        raise ValueError("`euro_cents` must be above 0")
    return tx.add(CarrierClaim, parcel=found.number, euro_cents=euro_cents)


@desk.action(group=GROUP, removes=[CarrierClaim], said=["withdrawn"])
def withdraw_claim(tx: Tx, parcel: str) -> None:
    """Withdraw the claim for a parcel.

    Args:
        parcel: Number of the parcel, such as T-17.
    """
    tx.remove(tx.one(CarrierClaim, parcel=parcel))


def _day(scan: ParcelScan) -> str:
    return scan.day
