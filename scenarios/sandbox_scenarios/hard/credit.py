"""Credit holds: put the holds of a branch right, by rules that no page says all of.

What makes it hard: amount (some 300 rows of these customers among 1,500, and nothing that adds up), rules scattered over
pages, mails and notes, and people whose word counts for more or less than it sounds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from sandbox_scenarios.generating import Draw
from sandbox_scenarios.hard.papers import DeskRows, at, day, euros, handbook, mailbox, reading

BRANCHES = ("Rostock", "Kiel", "Emden", "Bremen", "Stade", "Husum")
TRADES = ("Roofs", "Windows", "Pipes", "Joinery", "Boatyard", "Bakery", "Stables", "Laundry", "Nursery", "Glassworks")
STEP = 50_000
"""Limits are multiples of so many cents."""
PAGES = (
    ("What a customer owes", "A customer owes what we billed, less our credit notes and less what came in. It makes no difference which invoice a payment names, or whether it names one."),
    ("Returned by the bank", "A bank may take a payment back within eight weeks. The payment stays on the list with the status returned; the money is no longer with us."),
    ("Holds", "A customer who stands above their limit is put on hold. At the limit, to the cent, they are not above it. There is no other reason for a hold, so one that is not needed is lifted."),
    ("Insured customers", "Of what an insured customer owes, we carry half, and only our half stands against the limit. Who is insured changes; the insurer writes to us and each mail replaces the one before."),
    ("Limits", "The limit is on the customer's record. Account managers ask for more, and heads of region decide: their note on the record says how much and until when, that day included. Without it the record holds."),
)  # fmt: skip


@dataclass(slots=True)
class _Account:
    """A customer with what was billed and what came in."""

    row: dict[str, Any]
    invoices: list[dict[str, Any]]
    payments: list[dict[str, Any]]

    @property
    def owes(self) -> int:
        billed = sum(item["amount_cents"] * (1 if item["kind"] == "invoice" else -1) for item in self.invoices)
        return billed - sum(item["amount_cents"] for item in self.payments if item["status"] == "booked")

    def bring_to(self, cents: int) -> None:
        """Have the customer owe exactly this, by what the largest invoice is of."""
        largest = max(
            (item for item in self.invoices if item["kind"] == "invoice"), key=lambda one: one["amount_cents"]
        )
        largest["amount_cents"] += cents - self.owes


def credit_holds(draw: Draw, size: Mapping[str, Any]) -> dict[str, Any]:
    """One instance; sizes are ``others`` (customers elsewhere) and ``rows`` (invoices of each customer of the branch)."""
    today = date(2027, 3, 1 + draw.randrange(26))
    branch, *elsewhere = draw.sample(BRANCHES, len(BRANCHES))
    people = {name: draw.person() for name in ("chief", "first", "second", "clerk", "insurer")}
    numbers = draw.sample(range(1100, 9900), len(_MAKERS) + size["others"])
    listed = [_account(draw, number, branch, people, today, size["rows"]) for number in numbers[: len(_MAKERS)]]
    notes: list[dict[str, str]] = []
    status: dict[str, str] = {}
    insured = {"now": list[str](), "before": list[str]()}
    for (kind, make), account in zip(_MAKERS.items(), listed, strict=True):
        excess = draw.randrange(700, 24_000)
        wanted = make(draw, account, excess)
        if wanted:
            status[account.row["number"]] = wanted
        if kind in ("now", "before"):
            insured[kind].append(account.row["number"])
        note = _note(kind, account, excess, people, today)
        notes += [note] if note else []
    others = [
        _account(draw, number, draw.choice(elsewhere), people, today, size["rows"] // 2)
        for number in numbers[len(_MAKERS) :]
    ]
    for account in others:
        account.row["limit_cents"] = max(STEP, round(account.owes / STEP) * STEP)
        account.row["status"] = draw.choice(("active", "active", "hold"))
    for kind in insured:
        insured[kind] += [account.row["number"] for account in draw.sample(others, 3)]
        draw.shuffle(insured[kind])
    notes += [_chatter(draw, account, people, today) for account in draw.sample([*listed, *others], 12)]
    covers = [
        _cover(insured["before"], people["insurer"], day(today, -80)),
        _cover(insured["now"], people["insurer"], day(today, -9)),
    ]
    accounts = [*listed, *others]
    draw.shuffle(accounts)
    invoices = _numbered("I", [item for account in accounts for item in account.invoices])
    for account in accounts:
        for paid in account.payments:
            if paid["invoice"] == "":
                paid["invoice"] = draw.choice(account.invoices)["number"]
    pages = handbook(draw, PAGES)
    return {
        "clock": {"now": at(today, 9, 10), "zone": "Europe/Berlin"},
        "state": {
            "page": pages,
            "mail": mailbox(draw, covers, today, list(people.values())),
            "note": {f"note_{place}": note for place, note in enumerate(notes)},
            "employee": _employees(people, branch, elsewhere),
            "customer": {account.row["number"].lower().replace("-", "_"): account.row for account in accounts},
            "invoice": invoices,
            "payment": _numbered("P", [item for account in accounts for item in account.payments]),
        },
        "user": {
            "goal": f"You want the holds of the customers of the {branch} branch put right as of today, by the rules of the firm.",
            "opening": (
                f"Please put the credit holds of our {branch} customers right as of today: whoever has to be on hold by our "
                "rules goes on hold, and whoever need not be is released. The other branches do theirs themselves."
            ),
        },
        "reference": [{"turns": [_solution(branch, listed, status, reading(pages, PAGES))]}],
        "milestones": [
            {"id": f"{wanted}_{number[2:]}", "table": "customer", "updates": {"number": number, "status": wanted}}
            for number, wanted in status.items()
        ],
    }  # fmt: skip


def _limit(account: _Account) -> int:
    return max(2 * STEP, round(account.owes / STEP) * STEP)


def _above(account: _Account, excess: int, status: str) -> None:
    """Have a customer owe a little more than the limit."""
    account.row.update(limit_cents=_limit(account), status=status)
    account.bring_to(account.row["limit_cents"] + excess)


def _returned(draw: Draw, account: _Account, excess: int) -> str:
    """Above the limit only because a payment went back."""
    back = draw.choice(account.payments)
    back.update(status="returned", amount_cents=excess + draw.randrange(2_000, 90_000))
    _above(account, excess, "active")
    return "hold"


def _insured(draw: Draw, account: _Account, excess: int) -> str:  # noqa: ARG001  (all makers are alike)
    account.row.update(limit_cents=max(2 * STEP, _limit(account) // 2 // STEP * STEP), status="hold")
    account.bring_to(2 * (account.row["limit_cents"] - excess))
    return "active"


def _insured_no_more(draw: Draw, account: _Account, excess: int) -> str:  # noqa: ARG001
    _above(account, excess, "active")
    return "hold"


def _unnamed(draw: Draw, account: _Account, excess: int) -> str:
    """Below the limit only with a payment that names no invoice."""
    paid = draw.choice(account.payments)
    paid.update(invoice=None, amount_cents=excess + draw.randrange(5_000, 90_000))
    account.row.update(limit_cents=_limit(account), status="hold")
    account.bring_to(account.row["limit_cents"] - excess)
    return "active"


def _raised(draw: Draw, account: _Account, excess: int) -> str:  # noqa: ARG001
    _above(account, excess, "hold")
    return "active"


def _raised_in_vain(draw: Draw, account: _Account, excess: int) -> str:  # noqa: ARG001
    _above(account, excess, "active")
    return "hold"


def _at_the_limit(draw: Draw, account: _Account, excess: int) -> str:  # noqa: ARG001
    _above(account, 0, "active")
    return ""


_MAKERS: Mapping[str, Callable[[Draw, _Account, int], str]] = {
    "returned": _returned,
    "now": _insured,
    "before": _insured_no_more,
    "unnamed": _unnamed,
    "by_chief": _raised,
    "by_manager": _raised_in_vain,
    "lapsed": _raised_in_vain,
    "even": _at_the_limit,
}
"""A customer of each kind, with what has to become of its status; empty where it stays."""


def _account(draw: Draw, number: int, branch: str, people: Mapping[str, str], today: date, rows: int) -> _Account:
    name = f"{draw.choice(TRADES)} {number}"
    customer = f"C-{number}"
    row: dict[str, Any] = {
        "number": customer, "name": name, "branch": branch, "manager": people[draw.choice(("first", "second"))],
        "limit_cents": 2 * STEP, "status": "active",
    }  # fmt: skip
    kinds = ["invoice"] * rows + ["credit"] * draw.randrange(1, 4)
    invoices = [
        {
            "customer": customer, "day": day(today, -draw.randrange(3, 150)), "kind": kind,
            "amount_cents": draw.randrange(9_000, 260_000) if kind == "invoice" else draw.randrange(2_000, 30_000),
        }
        for kind in kinds
    ]  # fmt: skip
    invoices[0]["amount_cents"] = draw.randrange(420_000, 560_000)
    payments = [
        {
            "customer": customer, "day": day(today, -draw.randrange(1, 120)), "status": "booked",
            "amount_cents": draw.randrange(9_000, 150_000), "invoice": "",
        }
        for _ in range(rows * 2 // 3)
    ]  # fmt: skip
    return _Account(row, invoices, payments)


def _numbered(letter: str, items: list[dict[str, Any]]) -> DeskRows:
    """DeskRows with numbers by day."""
    items.sort(key=lambda item: item["day"])
    for place, item in enumerate(items):
        item["number"] = f"{letter}-{1000 + place}"
    return {f"{letter.lower()}_{1000 + place}": item for place, item in enumerate(items)}


def _employees(people: Mapping[str, str], branch: str, elsewhere: Sequence[str]) -> DeskRows:
    roles = {
        "chief": "head of region",
        "first": "account manager",
        "second": "account manager",
        "clerk": "credit clerk",
    }
    branches = {"chief": branch, "first": branch, "second": elsewhere[0], "clerk": branch}
    return {name: {"name": people[name], "role": role, "branch": branches[name]} for name, role in roles.items()}


def _note(kind: str, account: _Account, excess: int, people: Mapping[str, str], today: date) -> dict[str, str] | None:
    more = euros(account.row["limit_cents"] + (excess // STEP + 1) * STEP)
    about = account.row["number"]
    if kind == "by_chief":
        return {
            "about": about,
            "day": day(today, -20),
            "author": people["chief"],
            "text": f"Limit is {more} until {day(today, 12)}.",
        }
    if kind == "lapsed":
        return {
            "about": about,
            "day": day(today, -40),
            "author": people["chief"],
            "text": f"Limit is {more} until {day(today, -1)}.",
        }
    if kind == "by_manager":
        text = f"Limit is {more} until {day(today, 30)}, the customer is good for it."
        return {"about": about, "day": day(today, -5), "author": account.row["manager"], "text": text}
    return None


def _chatter(draw: Draw, account: _Account, people: Mapping[str, str], today: date) -> dict[str, str]:
    texts = (
        "Wants invoices by mail from now on.", "Asked for a catalogue.", "The gate is locked at noon.",
        "Moved to the new yard last autumn.", "Prefers deliveries before ten.", "Spoke to the owner, all is well.",
    )  # fmt: skip
    return {
        "about": account.row["number"], "day": day(today, -draw.randrange(1, 90)),
        "author": people[draw.choice(("first", "second", "clerk"))], "text": draw.choice(texts),
    }  # fmt: skip


def _cover(numbers: list[str], insurer: str, of: str) -> dict[str, str]:
    listed = f"{', '.join(numbers[:-1])} and {numbers[-1]}"
    return {
        "day": of,
        "sender": insurer,
        "subject": "Your cover",
        "body": f"From today we insure these of your customers: {listed}.",
    }


def _solution(
    branch: str, listed: list[_Account], status: Mapping[str, str], papers: list[dict[str, Any]]
) -> dict[str, Any]:
    calls: list[dict[str, Any]] = [
        *papers,
        {"tool": "list_customers", "arguments": {"branch": branch}},
        {"tool": "search_notes", "arguments": {"text": "limit"}},
        {"tool": "list_employees", "arguments": {"role": "region"}},
        {"tool": "search_mails", "arguments": {"text": "insure"}},
    ]
    for account in listed:
        number = account.row["number"]
        pages = range(1, 1 + -(-len(account.invoices) // 20))
        calls += [{"tool": "list_invoices", "arguments": {"customer": number, "page": page}} for page in pages]
        calls.append({"tool": "list_payments", "arguments": {"customer": number}})
    for number, wanted in status.items():
        tool = "hold_customer" if wanted == "hold" else "release_customer"
        calls.append({"tool": tool, "arguments": {"number": number}})
    held = ", ".join(number for number, wanted in status.items() if wanted == "hold")
    freed = ", ".join(number for number, wanted in status.items() if wanted != "hold")
    return {
        "calls": calls,
        "reply": f"I put {held} on hold and lifted the holds of {freed}. The others of {branch} stay as they are.",
    }
