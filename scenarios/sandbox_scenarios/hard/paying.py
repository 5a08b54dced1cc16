"""A payment run: pay what saves most before the next run, with the money there is, while payments time out.

What makes it hard: a budget that has to be put together, a choice in which the best bill first is not the best of all,
bills that look as good and must not be paid, people who may not decide, and payments that fail before or after they act.
"""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from sandbox_scenarios.generating import Draw
from sandbox_scenarios.hard.papers import day, euros
from sandbox_scenarios.hard.story import Story, call, exercised, paged

FIRMS = ("Tarn", "Velden", "Kvarn", "Isen", "Marlow", "Quarz", "Rowan", "Umbra", "Alder", "Corvin", "Elster", "Harrow", "Larch", "Mistral", "Sandvik", "Wexford")  # fmt: skip
GOODS = ("Steel", "Timber", "Glass", "Cables", "Paint", "Pumps")
RULES = (
    "reserve", "wages", "receipt", "parts", "duplicate", "disputed", "first", "authority", "fees", "over", "next_run",
)  # fmt: skip
GAP = 1_500
"""The best choice saves at least so many cents more than the next."""
Bill = dict[str, Any]
Chosen = frozenset[tuple[str, int]]
"""Bills and the cents that are paid for each."""


def payment_run(draw: Draw, size: Mapping[str, Any]) -> dict[str, Any]:
    """One instance; the size ``others`` is how many bills there are that lose nothing by waiting."""
    while True:
        story = Story(draw, date(2027, 5, 4) + timedelta(days=7 * draw.randrange(12) + draw.choice((0, 3))))
        until = story.today + timedelta(days=3 if story.today.weekday() == 1 else 4)
        run = _Run(story, until, draw.sample(FIRMS, len(FIRMS)))
        if run.is_hard():
            break
    for _ in range(size["others"]):
        run.bill("waits", status=draw.choice(("open", "paid", "paid")))
    return run.told()


class _Run:
    """Bills of each kind, and the choice among them."""

    def __init__(self, story: Story, until: date, firms: list[str]) -> None:
        self.story, self.until, self.firms = story, until, firms
        self.bills: list[tuple[str, Bill]] = []
        self.received: dict[str, list[int]] = {}
        self.fees: dict[str, int] = {}
        draw = story.draw
        kinds = ("plain", "plain", "plain", "plain", "plain", "due", "due", "due", "parts", "parts", "over", "later", "first", "not_first", "missing", "disputed")  # fmt: skip
        for kind in kinds:
            self.bill(kind)
        twin = self.bills[0][1]
        self.bills.append(("duplicate", {**twin, "number": story.number("B"), "received": day(story.today, -1)}))
        self.reserve, self.wages = 500_000 * draw.randrange(3, 9), 10_000 * draw.randrange(120, 260)
        [first] = [bill for kind, bill in self.bills if kind == "first"]
        worth = sum(bill["amount_cents"] for kind, bill in self.bills if kind in ("plain", "due", "parts", "over"))
        self.budget = first["amount_cents"] + 10_000 * (worth * draw.randrange(45, 65) // 1_000_000)

    def bill(self, kind: str, status: str = "open") -> None:
        draw, today = self.story.draw, self.story.today
        if len(self.fees) < len(self.firms):
            supplier = self.story.number("L")
            self.fees[supplier] = 500 * draw.randrange(16, 60)
        else:
            supplier = draw.choice(list(self.fees))
        soon, late = day(today, draw.randrange((self.until - today).days)), day(self.until, draw.randrange(5, 30))
        gone = day(today, -draw.randrange(1, 6))
        due = soon if kind in ("due", "over") else late
        ends = {"over": gone, "later": day(self.until, draw.randrange(3)), "due": draw.choice((soon, gone))}.get(
            kind, soon
        )
        nothing = kind in ("first", "not_first", "waits")
        bill: Bill = {
            "number": self.story.number("B"), "supplier": supplier, "purchase": self.story.number("Q"),
            "quantity": draw.randrange(20, 200), "amount_cents": 10_000 * draw.randrange(12, 90),
            "received": day(today, -draw.randrange(3, 20)), "due": due, "discount_percent": 0 if nothing else draw.choice((2, 3, 4)),
            "discount_until": ends, "status": status,
        }  # fmt: skip
        if kind in ("missing", "disputed"):
            bill["amount_cents"], bill["discount_percent"] = 10_000 * draw.randrange(12, 30), 4
        self.bills.append((kind, bill))
        part = draw.randrange(4, bill["quantity"] - 4)
        parts = {"parts": [part, bill["quantity"] - part], "missing": [part]}.get(kind, [bill["quantity"]])
        self.received[bill["purchase"]] = parts

    def pays(self, bill: Bill, rules: frozenset[str]) -> tuple[int, int]:
        """Cents that a bill takes today, and cents that paying it saves."""
        today, until = day(self.story.today), day(self.until)
        runs = bill["discount_until"] >= today or "over" not in rules
        off = bill["amount_cents"] * bill["discount_percent"] // 100 if runs else 0
        lost = bill["discount_until"] < until or "next_run" not in rules
        fee = self.fees[bill["supplier"]] if bill["due"] < until and "fees" in rules else 0
        return bill["amount_cents"] - off, (off if lost else 0) + fee

    def chosen(self, rules: frozenset[str]) -> list[Chosen]:
        """The best choices by these of the rules: the best, and the next where it saves nearly as much."""
        left, must, may = self.budget, list[tuple[str, int]](), list[tuple[int, int, str]]()
        left += self.reserve if "reserve" not in rules else 0
        left += self.wages if "wages" not in rules else 0
        for kind, bill in self.bills:
            come = self.received[bill["purchase"]]
            enough = max(come) if "parts" not in rules else sum(come)
            if (
                bill["status"] == "paid"
                or (kind == "duplicate" and "duplicate" in rules)
                or (kind == "disputed" and "disputed" in rules)
                or (enough < bill["quantity"] and "receipt" in rules)
            ):
                continue
            cents, saved = self.pays(bill, rules)
            if (kind == "first" and "first" in rules) or (kind == "not_first" and "authority" not in rules):
                must.append((bill["number"], cents))
                left -= cents
            elif saved:
                may.append((cents, saved, bill["number"]))
        return [frozenset([*must, *plan]) for plan in _best(may, left)]

    def is_hard(self) -> bool:
        """True if one choice is the best, every rule decides something, and taking the best bill first is wrong."""
        every = frozenset(RULES)
        best = self.chosen(every)
        may = [bill for kind, bill in self.bills if kind in ("plain", "due", "parts", "over")]
        if len(best) != 1 or not 6 <= len(best[0]) <= 10:
            return False
        for by_rate in (True, False):
            left, taken = self.budget, 0
            for bill in sorted(may, key=lambda one: -self.pays(one, every)[1] / (self.pays(one, every)[0] if by_rate else 1)):  # fmt: skip
                cents = self.pays(bill, every)[0]
                if (bill["number"], cents) not in best[0] and cents <= left:
                    taken += 1
                left -= cents if cents <= left else 0
            if not taken:
                return False
        return exercised(lambda rules: self.chosen(rules)[0], RULES)

    def told(self) -> dict[str, Any]:
        """The scenario."""
        story, draw = self.story, self.story.draw
        staff = story.staff(finance="head of finance", buying="head of purchasing", selling="head of sales", clerk="purchasing clerk")  # fmt: skip
        own, other = story.numbers("K", 2)
        story.add("bank_account", number=own, name="Suppliers", balance_cents=self.budget + self.reserve + self.wages)
        story.add("bank_account", number=other, name="Rents", balance_cents=10_000 * draw.randrange(300, 900))
        for (number, fee), firm in zip(self.fees.items(), self.firms, strict=True):
            story.add("supplier", number=number, name=f"{firm} {draw.choice(GOODS)}", late_cents=fee)
        for kind, bill in self.bills:
            story.add("bill", **bill)
            texts = {
                "first": (staff["buying"], "They deliver no more before this is paid. Has to go out with the next run."),
                "not_first": (staff["selling"], "Their sales people are good friends of ours. Has to go out with the next run."),
                "disputed": (staff["clerk"], "Half of it was broken, I am waiting for their credit note."),
                "later": (staff["clerk"], "Came in a day early, all fine."),
            }  # fmt: skip
            if kind in texts:
                story.note(bill["number"], -draw.randrange(1, 4), *texts[kind])
        for purchase, parts in self.received.items():
            for part in parts:
                story.add("receipt", purchase=purchase, day=day(story.today, -draw.randrange(3, 25)), quantity=part)
        story.shuffled("supplier", "bill", "receipt")
        _rules(story, self, staff)
        return self._entry(own, list(staff.values()))

    def _entry(self, account: str, people: list[str]) -> dict[str, Any]:
        story = self.story
        [best] = self.chosen(frozenset(RULES))
        payments = sorted(best)
        after, before = story.draw.sample(range(1, len(payments)), 2)
        if after == before + 1:
            after, before = before, after
        pays: list[dict[str, Any]] = []
        for bill, cents in payments:
            paying = call("pay_bill", bill=bill, amount_cents=cents)
            pays.append(paying)
            number = sum(one["tool"] == "pay_bill" for one in pays)
            if number in (after, before):
                pays.append(call("list_payouts"))
            if number == before:
                pays.append(paying)
        looks = [
            *story.papers(people),
            *paged(sum(bill["status"] == "open" for _, bill in self.bills), "list_bills", status="open"),
            *paged(len(story.rows["receipt"]), "list_receipts"),
            *paged(len(self.fees), "list_suppliers"),
            call("list_accounts"),
            call("search_notes", text="next run"),
            call("search_notes", text="credit note"),
            call("list_employees"),
        ]
        return story.entry(
            (
                f"You want the bills paid today from account {account} that ought to be, so that the firm loses as little as possible until the next run, by its rules.",
                f"Please do today's payment run from account {account}: pay whatever has to go out, and with the money that is left whatever saves us most until the next run. What we lose by discounts that are gone and by charges for paying late should be as little as our rules allow.",
            ),
            [{"calls": [*looks, *pays], "reply": "Today's payments are ordered: " + ", ".join(bill for bill, _ in payments) + "."}],
            [("adds", "payout", {"bill": bill, "amount_cents": cents}) for bill, cents in payments],
            faults=[{"tool": "pay_bill", "kind": "after", "call": after}, {"tool": "pay_bill", "kind": "before", "call": before}],
        )  # fmt: skip


def _best(may: list[tuple[int, int, str]], budget: int) -> list[list[tuple[str, int]]]:
    """The choice that saves most, and the next one if it saves less than :data:`GAP` less; branch and bound."""
    may = sorted(may, key=lambda one: -one[1] / one[0])
    found: list[tuple[int, list[tuple[str, int]]]] = []

    def bound(place: int, left: int) -> float:
        total = 0.0
        for cents, saved, _ in may[place:]:
            if cents > left:
                return total + saved * left / cents
            total, left = total + saved, left - cents
        return total

    def go_on(place: int, left: int, saved: int, plan: list[tuple[str, int]]) -> None:
        if len(found) > 1 and saved + bound(place, left) <= found[1][0]:
            return
        if place == len(may):
            found.append((saved, plan))
            found.sort(key=lambda one: -one[0])
            del found[2:]
            return
        cents, more, number = may[place]
        if cents <= left:
            go_on(place + 1, left - cents, saved + more, [*plan, (number, cents)])
        go_on(place + 1, left, saved, plan)

    go_on(0, budget, 0, [])
    return [plan for saved, plan in found if saved > found[0][0] - GAP]


def _rules(story: Story, run: _Run, staff: Mapping[str, str]) -> None:
    story.page(
        "Payment runs",
        "Bills are paid on Tuesdays and Fridays and on no other day. A bill that loses nothing if it waits for the next run waits for it.",
    )
    story.page(
        "Discounts and charges",
        "A discount is taken off if we pay on its last day or before; the bill is then paid less its discount, otherwise in full, never in part. Who gets the money after the due day charges us what the supplier's record says, once for each bill; on the due day it is still in time.",
    )
    story.page(
        "What is due to nobody",
        "A bill is paid once all of it has come in, in however many parts. For one purchase we pay one bill, the one that came first. What somebody here is in dispute about with the supplier is not paid before that is settled; a note on the bill says so.",
    )
    story.page(
        "Going first",
        "What has to go out whatever it costs is said by the head of purchasing, in a note on the bill. It comes before everything else, and the rest of the money goes where it saves most.",
    )
    story.page(
        "Keeping something back",
        f"On the account for suppliers {euros(run.reserve)} stay, whatever happens; no less, to the cent.",
    )
    story.page(
        "Payments without an answer",
        "The bank's line drops now and then. Whether a payment was taken is seen in the list of today's payments.",
    )
    story.mail(0, staff["finance"], "Wages", f"The wages of the yard leave the suppliers' account tonight: {euros(run.wages)}. The balance does not show it yet, so do not spend them.")  # fmt: skip
    story.mail(-31, staff["finance"], "Wages", f"This month the yard's wages of {euros(run.wages - 110_000)} leave from the account for rents, nothing to mind.")  # fmt: skip
