"""Credit holds, by what the tools tell."""

import re
from datetime import date
from fractions import Fraction

from sandbox_mcp.play.session.session import Session
from tests.scenarios.solvers.driver import Desk, Row, Unsolved, found, solves


@solves("credit_holds")
def credit_holds(session: Session) -> None:
    """Put the holds of a branch's customers right."""
    desk = Desk(session)
    (branch,) = found(r"credit holds of our (\w+) customers right as of today", desk.wish)
    desk.rule(
        "A customer who stands above their limit is put on hold. At the limit, to the cent, they are not above it.",
        "There is no other reason for a hold, so one that is not needed is lifted.",
        "A customer owes what we billed, less our credit notes and less what came in.",
        "The payment stays on the list with the status returned; the money is no longer with us.",
        "heads of region decide: their note on the record says how much and until when, that day included",
        "we carry half, and only our half stands against the limit",
        "the insurer writes to us and each mail replaces the one before",
    )
    insured = set(re.findall(r"C-\d+", desk.mails("we insure these of your customers")[-1]["body"]))
    heads = {person["name"] for person in desk.all("list_employees", role="head of region")}
    for customer in list(desk.all("list_customers", branch=branch)):
        number = customer["number"]
        owed = Fraction(_owed(desk, number))
        above = (owed / 2 if number in insured else owed) > _limit(desk, customer, heads)
        if above != (customer["status"] == "hold"):
            desk.call("hold_customer" if above else "release_customer", number=number)


def _owed(desk: Desk, customer: str) -> int:
    """Cents that a customer owes."""
    invoices = list(desk.all("list_invoices", customer=customer))
    payments = list(desk.all("list_payments", customer=customer))
    if any(date.fromisoformat(row["day"]) > desk.today for row in [*invoices, *payments]):
        raise Unsolved(f"something of {customer} is of a day that has not come")
    signs = {"invoice": 1, "credit": -1}
    billed = sum(signs[row["kind"]] * row["amount_cents"] for row in invoices)
    return billed - sum(row["amount_cents"] for row in payments if row["status"] == "booked")


def _limit(desk: Desk, customer: Row, heads: set[str]) -> int:
    """Limit of a customer today, in cents."""
    limits: list[int] = []
    for note in desk.all("list_notes", about=customer["number"]):
        if note["author"] in heads:
            euros, until = found(r"^Limit is ([\d,]+) euros until (\d{4}-\d\d-\d\d)\.$", note["text"])
            if date.fromisoformat(until) >= desk.today:
                limits.append(int(euros.replace(",", "")) * 100)
    if len(limits) > 1:
        raise Unsolved(f"which of the limits {limits} of {customer['number']} holds?")
    return limits[0] if limits else customer["limit_cents"]
