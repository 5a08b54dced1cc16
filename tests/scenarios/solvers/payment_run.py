"""A payment run, by what the tools tell."""

from collections import Counter
from datetime import timedelta

from sandbox_mcp.play.session.session import Session
from tests.scenarios.solvers.driver import Desk, Row, Unsolved, found, solves

TUESDAY, FRIDAY = 1, 4


@solves("payment_run")
def payment_run(session: Session) -> None:
    """Pay what has to go out, and what saves most."""
    desk = Desk(session)
    (account,) = found(r"payment run from account (K-\d+):", desk.wish)
    desk.rule(
        "Bills are paid on Tuesdays and Fridays and on no other day.",
        "A bill that loses nothing if it waits for the next run waits for it.",
        "A discount is taken off if we pay on its last day or before",
        "otherwise in full, never in part",
        "after the due day charges us what the supplier's record says, once for each bill; on the due day it is",
        "A bill is paid once all of it has come in, in however many parts.",
        "For one purchase we pay one bill, the one that came first.",
        "is in dispute about with the supplier is not paid before that is settled; a note on the bill says so",
        "What has to go out whatever it costs is said by the head of purchasing, in a note on the bill.",
        "Whether a payment was taken is seen in the list of today's payments.",
    )
    days = (desk.today + timedelta(later) for later in range(1, 8))
    then = next(day for day in days if day.weekday() in (TUESDAY, FRIDAY)).isoformat()
    today, charges = desk.today.isoformat(), {row["number"]: row["late_cents"] for row in desk.all("list_suppliers")}
    come = Counter[str]()
    for row in desk.all("list_receipts"):
        come[row["purchase"]] += row["quantity"]
    heads = {person["name"] for person in desk.all("list_employees", role="head of purchasing")}
    left, pays, may, seen = _money(desk, account), list[tuple[str, int]](), list[tuple[int, int, str]](), set[str]()
    for bill in [*desk.all("list_bills")]:
        again, notes = bill["purchase"] in seen, list(desk.all("list_notes", about=bill["number"]))
        seen.add(bill["purchase"])
        if bill["status"] == "paid" or again or come[bill["purchase"]] < bill["quantity"]:
            continue
        if any("credit note" in note["text"] for note in notes):
            continue
        off = bill["amount_cents"] * bill["discount_percent"] / 100 if today <= bill["discount_until"] else 0
        if off != int(off):
            raise Unsolved(f"how is {off} rounded?")
        cents = bill["amount_cents"] - int(off)
        if any(note["author"] in heads and "Has to go out" in note["text"] for note in notes):
            pays.append((bill["number"], cents))
            left -= cents
            continue
        saved = int(off) * (bill["discount_until"] < then) + charges[bill["supplier"]] * (bill["due"] < then)
        if saved:
            may.append((cents, saved, bill["number"]))
    for number, cents in [*pays, *_most(may, left)]:
        _pay(desk, number, cents)


def _money(desk: Desk, account: str) -> int:
    """Cents that may be spent."""
    [balance] = [row["balance_cents"] for row in desk.all("list_accounts") if row["number"] == account]
    [page] = desk.pages("On the account for suppliers")
    (stays,) = found(r"On the account for suppliers ([\d,]+) euros stay", page["body"])
    wages = [mail for mail in desk.mails("wages of the yard leave") if mail["day"] == desk.today.isoformat()]
    (leave,) = found(r"leave the suppliers' account tonight: ([\d,]+) euros\.", wages[-1]["body"])
    return balance - sum(int(euros.replace(",", "")) * 100 for euros in (stays, leave))


def _most(may: list[tuple[int, int, str]], left: int) -> list[tuple[str, int]]:
    """Bills that together save most, by what can be saved with every sum of money."""
    best: dict[int, tuple[int, list[tuple[str, int]], bool]] = {0: (0, [], False)}
    for cents, saved, number in may:
        for spent, (total, plan, twice) in sorted(best.items(), reverse=True):
            sum_, more = spent + cents, total + saved
            if sum_ > left:
                continue
            known = best.get(sum_)
            if known is None or more > known[0]:
                best[sum_] = (more, [*plan, (number, cents)], twice)
            elif more == known[0]:
                best[sum_] = (more, known[1], True)
    total = max(one[0] for one in best.values())
    plans = [one for one in best.values() if one[0] == total]
    if len(plans) > 1 or plans[0][2]:
        raise Unsolved(f"{len(plans)} plans save {total}")
    return plans[0][1]


def _pay(desk: Desk, bill: str, cents: int) -> None:
    """Pay a bill, again if it was not taken."""
    while True:
        result = desk.session.call("pay_bill", {"bill": bill, "amount_cents": cents})
        if result.error is None or _taken(desk, bill):
            return


def _taken(desk: Desk, bill: str) -> Row | None:
    """Payment of a bill that was taken."""
    return next(desk.all("list_payouts", bill=bill), None)
