"""Claims for late parcels, by what the tools tell."""

from collections.abc import Collection
from datetime import date, timedelta
from fractions import Fraction

from sandbox_mcp.play.session.session import Session
from tests.scenarios.solvers.driver import Desk, Row, Unsolved, found, solves


@solves("late_claims")
def late_claims(session: Session) -> None:
    """File what a carrier owes for each parcel of a month."""
    desk = Desk(session)
    carrier, month = found(r"our claims with ([\w ]+) for the parcels it was handed in (\w+) and brought", desk.wish)
    desk.rule(
        "after the day on which our gate handed the parcel over. What is on the label or on a carrier's page is of no",
        "A parcel has arrived when it was scanned at the door; a shop is not a door.",
        "For each working day too late a carrier owes the per cent of the freight that its tariff says, and never more",
        "The tariff is that of the day of the handover. For one parcel we claim once.",
        "We claim in euros, at the rate published on the day of arrival or else the last one before it",
        "what is below a cent is dropped, once, at the end",
    )
    [page] = desk.pages("working day for express")
    express, standard = found(r"has (\d+) working day for express and (\d+) for standard", page["body"])
    granted = {"express": int(express), "standard": int(standard)}
    [page] = desk.pages("Mondays to Fridays")
    free = {*found(r"(\S+) is a holiday here and at all our carriers", page["body"])}
    for mail in desk.mails("no working day"):
        if mail["subject"] == carrier:
            free |= {
                *found(r"They had a strike on (\S+)\. We have agreed to treat that as no working day", mail["body"])
            }
    [page] = desk.pages(f"{carrier} bills in")
    (currency,) = found(rf"{carrier} bills in (\w+):", page["body"])
    rates = {row["day"]: row["per_euro"] for row in desk.all("list_rates", currency=currency)}
    tariffs = list(desk.all("list_tariffs", carrier=carrier))
    claimed = {row["parcel"] for row in desk.all("list_claims")}
    handed = {row["parcel"]: date.fromisoformat(row["day"]) for row in desk.all("list_handovers")}
    for parcel in list(desk.all("list_parcels", carrier=carrier)):
        number, on = parcel["number"], handed[parcel["number"]]
        if number in claimed or f"{on:%B}" != month:
            continue
        [arrived] = [row["day"] for row in desk.all("list_scans", parcel=number) if row["event"] == "at the door"]
        late = _working(on, date.fromisoformat(arrived), free) - granted[parcel["service"]]
        if late > 0:
            tariff = _in_force(tariffs, str(on))
            owed = min(
                Fraction(parcel["freight_cents"] * tariff["percent"] * late, 100), Fraction(tariff["most_cents"])
            )
            rate = rates[max(day for day in rates if day <= arrived)]
            desk.call("file_claim", parcel=number, euro_cents=int(owed * 10_000 / rate))


def _working(after: date, until: date, free: Collection[str]) -> int:
    """Working days after a day, the last one included."""
    days = (after + timedelta(later) for later in range(1, (until - after).days + 1))
    return sum(day.weekday() < 5 and str(day) not in free for day in days)


def _in_force(tariffs: list[Row], day: str) -> Row:
    """Tariff of a day."""
    known = [tariff for tariff in tariffs if tariff["since"] <= day]
    if not known:
        raise Unsolved(f"no tariff is in force on {day}")
    return max(known, key=lambda tariff: tariff["since"])
