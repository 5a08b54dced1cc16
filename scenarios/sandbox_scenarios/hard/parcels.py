"""Late parcels: claim from a carrier what its tariff owes for each, to the cent.

What makes it hard: three tools that tell three days for the same thing, tariffs of which the one of the day counts,
working days that holidays and a strike thin out, amounts in another currency, and hundreds of scans.
"""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from sandbox_scenarios.generating import Draw
from sandbox_scenarios.hard.papers import day
from sandbox_scenarios.hard.story import Story, call, exercised, paged

CARRIERS = ("Nordpost", "Falk Express", "Vega Parcel", "Brig")
CURRENCIES = ("SEK", "CZK", "PLN")
PARCELS = 11
RULES = ("book", "month", "weekend", "holiday", "strike", "door", "service", "version", "most", "rate", "published", "claimed")  # fmt: skip
Amounts = tuple[int, ...]
"""Cents of euros for each parcel, 0 for none."""


def late_claims(draw: Draw, size: Mapping[str, Any]) -> dict[str, Any]:
    """One instance; the size ``others`` is how many parcels other carriers have."""
    story = Story(draw, date(2027, draw.choice((7, 8, 10, 11)), draw.randrange(20, 29)))
    month = (story.today.replace(day=1) - timedelta(days=1)).replace(day=1)
    carrier, *others = draw.sample(list[str](CARRIERS), len(CARRIERS))
    post = _Post(story, month, carrier, draw.choice(CURRENCIES))
    while not (post.drawn() and exercised(post.amounts, RULES)):
        pass
    return post.told(others, size["others"])


class _Post:
    """Parcels of a carrier, and what decides on the claims for them. Days are counted from the first of the month."""

    def __init__(self, story: Story, month: date, carrier: str, currency: str) -> None:
        self.story, self.month, self.carrier, self.currency = story, month, carrier, currency
        draw = story.draw
        self.length = (story.today.replace(day=1) - month).days
        self.off = [place for place in range(-20, 60) if (month + timedelta(days=place)).weekday() > 4]
        base = {"SEK": 112_000, "CZK": 251_000, "PLN": 43_000}[currency]
        self.rates = {
            place: base + draw.randrange(-base // 40, base // 40) for place in range(-8, 50) if place not in self.off
        }

    def drawn(self) -> bool:
        """Draw the parcels and the rules' figures."""
        draw = self.story.draw
        weekdays = [place for place in range(2, self.length) if place not in self.off]
        self.holiday = draw.choice(weekdays)
        self.strike = draw.choice([place for place in weekdays if abs(place - self.holiday) > 4])
        self.changed = draw.choice(weekdays[6:-6])
        self.days = {"express": 1, "standard": 3}
        self.tariffs = [
            (draw.randrange(5, 9), 100_000 * draw.randrange(8, 14)),
            (draw.randrange(9, 15), 100_000 * draw.randrange(8, 14)),
        ]
        self.parcels: list[dict[str, Any]] = []
        for place in range(PARCELS):
            handed = draw.choice([-1, *weekdays]) if place > 1 else (self.length, -1)[place]
            service = draw.choice(("express", "standard"))
            door = handed + draw.randrange(1, 4) + draw.choice((0, 2, 3, 5, 7)) + self.days[service]
            self.parcels.append(
                {"handed": handed, "labelled": handed - draw.choice((0, 1, 1, 2)), "service": service, "door": door,
                 "shop": door - draw.choice((0, 1, 2)), "freight": 10_000 * draw.randrange(180, 900), "claimed": place == 2}
            )  # fmt: skip
        self.parcels[0]["labelled"] = self.length - 2
        return sum(amount > 0 for amount in self.amounts(frozenset(RULES))) in (6, 7, 8)

    def amounts(self, rules: frozenset[str]) -> Amounts:
        """Cents to claim for each parcel by these of the rules."""
        return tuple(self._amount(parcel, rules) for parcel in self.parcels)

    def _amount(self, parcel: dict[str, Any], rules: frozenset[str]) -> int:
        handed = parcel["handed" if "book" in rules else "labelled"]
        if (not 0 <= handed < self.length and "month" in rules) or (parcel["claimed"] and "claimed" in rules):
            return 0
        arrived = parcel["door" if "door" in rules else "shop"]
        took = sum(
            not (place in self.off and "weekend" in rules)
            and not (place == self.holiday and "holiday" in rules)
            and not (place == self.strike and "strike" in rules)
            for place in range(handed + 1, arrived + 1)
        )
        late = took - self.days[parcel["service"] if "service" in rules else "standard"]
        if late < 1:
            return 0
        at = handed if "version" in rules else 60
        percent, most = self.tariffs[at >= self.changed]
        amount = parcel["freight"] * percent * late // 100
        amount = min(amount, most) if "most" in rules else amount
        if "rate" not in rules:
            return amount
        published = max(place for place in self.rates if place <= arrived)
        if "published" not in rules and arrived in self.off:
            published = min(place for place in self.rates if place > arrived)
        return amount * 10_000 // self.rates[published]

    def _day(self, place: int) -> str:
        return day(self.month, place)

    def told(self, others: list[str], count: int) -> dict[str, Any]:
        """The scenario, with so many parcels of other carriers."""
        story, draw, carrier = self.story, self.story.draw, self.carrier
        staff = story.staff(freight="head of freight", gate="gatekeeper", clerk="freight clerk")
        numbers = story.numbers("T", PARCELS)
        for number, parcel in zip(numbers, self.parcels, strict=True):
            self._parcel(number, carrier, parcel)
        for _ in range(count):
            handed = draw.randrange(-4, self.length + 2)
            door = handed + draw.randrange(1, 9)
            self._parcel(story.number("T"), draw.choice(others), {"handed": handed, "labelled": handed - draw.randrange(2), "service": draw.choice(("express", "standard")), "door": door, "shop": door - draw.randrange(2), "freight": 100 * draw.randrange(400, 3_000)})  # fmt: skip
        story.shuffled("parcel", "handover", "scan")
        since = day(self.month, -200), self._day(self.changed)
        for one in [carrier, *others]:
            for on, (percent, most) in zip(since, self.tariffs, strict=True):
                ours = one == carrier
                story.add("tariff", carrier=one, service="all", since=on, percent=percent if ours else draw.randrange(3, 20), most_cents=most if ours else 100_000 * draw.randrange(2, 9))  # fmt: skip
        for place, rate in self.rates.items():
            story.add("rate", currency=self.currency, day=self._day(place), per_euro=rate)
            story.add("rate", currency="DKK", day=self._day(place), per_euro=74_500 + draw.randrange(-200, 200))
        [had] = [number for number, parcel in zip(numbers, self.parcels, strict=True) if parcel["claimed"]]
        story.add("claim", parcel=had, euro_cents=100 * draw.randrange(10, 90))
        for parcel in draw.sample(list(story.rows["parcel"].values()), 9):
            if parcel["carrier"] != carrier:
                story.add("claim", parcel=parcel["number"], euro_cents=100 * draw.randrange(10, 90))
        self._rules(staff)
        wanted = [
            (number, cents) for number, cents in zip(numbers, self.amounts(frozenset(RULES)), strict=True) if cents
        ]
        name = f"{self.month:%B}"
        looks = [
            *story.papers(list(staff.values())),
            call("list_parcels", carrier=carrier),
            *(call("list_handovers", parcel=number) for number in numbers[:2]),
            call("list_tariffs", carrier=carrier),
            *paged(len(self.rates), "list_rates", currency=self.currency),
            call("list_claims"),
            *(call("list_scans", parcel=number) for number in numbers[3:]),
        ]
        files = [call("file_claim", parcel=number, euro_cents=cents) for number, cents in wanted]
        return story.entry(
            (
                f"You want the claims filed for what {carrier} brought too late of the parcels it was handed in {name}, by the rules of the firm.",
                f"Please file our claims with {carrier} for the parcels it was handed in {name} and brought too late. They have to be right to the cent, or {carrier} rejects the lot.",
            ),
            [{"calls": [*looks, *files], "reply": f"The claims with {carrier} for {name} are filed."}],
            [("adds", "claim", {"parcel": number, "euro_cents": cents}) for number, cents in wanted],
        )  # fmt: skip

    def _parcel(self, number: str, carrier: str, parcel: Mapping[str, Any]) -> None:
        story, draw = self.story, self.story.draw
        story.add("parcel", number=number, carrier=carrier, service=parcel["service"], labelled=self._day(parcel["labelled"]), freight_cents=parcel["freight"])  # fmt: skip
        story.add("handover", day=self._day(parcel["handed"]), parcel=number)
        between = range(parcel["handed"], parcel["shop"] + 1)
        for event in ("taken over", "sorted"):
            story.add("scan", parcel=number, day=self._day(draw.choice(between)), event=event)
        if parcel["shop"] < parcel["door"]:
            story.add("scan", parcel=number, day=self._day(parcel["shop"]), event="left at shop")
        story.add("scan", parcel=number, day=self._day(parcel["door"]), event="at the door")

    def _rules(self, staff: Mapping[str, str]) -> None:
        story = self.story
        story.page(
            "Parcels on their way",
            f"A carrier has {self.days['express']} working day for express and {self.days['standard']} for standard, after the day on which our gate handed the parcel over. What is on the label or on a carrier's page is of no account. A parcel has arrived when it was scanned at the door; a shop is not a door.",
        )
        story.page(
            "Working days", f"Mondays to Fridays. {self._day(self.holiday)} is a holiday here and at all our carriers."
        )
        story.page(
            "Claims",
            "For each working day too late a carrier owes the per cent of the freight that its tariff says, and never more than the most it says for one parcel. The tariff is that of the day of the handover. For one parcel we claim once.",
        )
        story.page(
            "Other currencies",
            f"{self.carrier} bills in {self.currency}: its freight and its tariff are in hundredths of that. We claim in euros, at the rate published on the day of arrival or else the last one before it; what is below a cent is dropped, once, at the end.",
        )
        story.mail(-2, staff["freight"], f"{self.carrier}", f"They had a strike on {self._day(self.strike)}. We have agreed to treat that as no working day.")  # fmt: skip
