"""Solvers of families of the hard tier that know only what the user says and what the tools tell.

They were written without a look at how instances are made, solved and judged. Rules that a solver keeps are looked up
in the handbook of the instance at hand, so that one that is not told there stops it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

from sandbox_mcp.play.session.session import Session

Row: TypeAlias = Mapping[str, Any]
Plan: TypeAlias = dict[str, str]  # number of a job, number of its crew

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
COLOURS: tuple[str, ...] = ("red", "green", "blue")
DIALS = ("dial_a", "dial_b", "dial_c")


class Unsolved(AssertionError):
    """Stop of a solver: what it was told does not say what to do."""


def found(pattern: str, text: str) -> tuple[str, ...]:
    """Groups of the one place where a pattern occurs in a text."""
    places = list(re.finditer(pattern, text))
    if len(places) != 1:
        raise Unsolved(f"{pattern!r} occurs {len(places)} times in {text!r}")
    return places[0].groups()


class Desk:
    """Agent at the desk: calls tools, reads lists whole and keeps what was announced."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.wish = session.begin()
        (today,) = found(r"It is \w+, (\S+) ", session.spec.instructions)
        self.today = date.fromisoformat(today)
        self.notices: list[str] = []

    def call(self, tool: str, **arguments: object) -> Row:
        """Result of a tool that does not fail."""
        result = self.session.call(tool, arguments)
        if result.error is not None:
            raise Unsolved(f"{tool} {arguments}: {result.error}")
        self.notices += result.structured.get("notices", ())
        return result.structured

    def all(self, tool: str, **arguments: object) -> Iterator[Row]:
        """Rows of all pages of a list."""
        page, pages = 0, 1
        while page < pages:
            page += 1
            told = self.call(tool, page=page, **arguments)
            yield from told["rows"]
            pages = told["pages"]

    def mails(self, text: str) -> list[Row]:
        """Mails with a text, oldest first."""
        mails = [self.call("read_mail", number=row["number"]) for row in self.all("search_mails", text=text)]
        days = [mail["day"] for mail in mails]
        if any(one > other for one, other in pairwise(days)) or len(set(days)) < len(days):
            raise Unsolved(f"which of {mails} is the newest?")
        return mails

    def pages(self, text: str) -> list[Row]:
        """Pages of the handbook with a text."""
        return [self.call("read_handbook", number=row["number"]) for row in self.all("search_handbook", text=text)]

    def rule(self, *sentences: str) -> None:
        """Look sentences up in the handbook."""
        for sentence in sentences:
            if not self.pages(sentence):
                raise Unsolved(f"nothing says {sentence!r}")


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


@dataclass(frozen=True)
class Week:
    """Jobs of a week, and whatever decides who does them at which cost."""

    jobs: list[Row]
    crews: list[Row]
    trips: dict[tuple[str, str], int]
    unwished: set[tuple[str, ...]]  # number of a job, name of a crew
    away: set[tuple[str, ...]]  # number of a crew, day

    def able(self, job: Row, crew: Row) -> bool:
        """Whether a crew may do a job, whatever else it does."""
        return (
            job["skill"] in crew["skills"].split(", ")
            and (job["skill"] != "roofs" or crew["people"] >= 3)
            and (job["number"], crew["name"]) not in self.unwished
            and (crew["number"], job["day"]) not in self.away
        )

    def cheapest(self) -> list[Plan]:
        """Plans that cost the least."""
        best: list[tuple[int, Plan]] = []
        choices = [[crew for crew in self.crews if self.able(job, crew)] for job in self.jobs]

        def go_on(plan: Plan, spent: int, hours: dict[str, int], places: frozenset[tuple[str, str]]) -> None:
            if best and spent > best[0][0]:
                return
            if len(plan) == len(self.jobs):
                if best and spent < best[0][0]:
                    best.clear()
                best.append((spent, plan))
                return
            job = self.jobs[len(plan)]
            for crew in choices[len(plan)]:
                number = crew["number"]
                day, town = (number, job["day"]), (number, job["town"])
                worked = hours.get(number, 0) + job["hours"]
                if day in places or worked > crew["week_hours"]:
                    continue
                trip = 0 if town in places else self.trips[crew["base"], job["town"]]
                cost = spent + job["hours"] * crew["hour_cents"] + trip
                go_on({**plan, job["number"]: number}, cost, {**hours, number: worked}, places | {day, town})

        go_on({}, 0, {}, frozenset())
        if not best:
            raise Unsolved("the rules allow no plan")
        return [plan for _, plan in best]


def crew_week(session: Session) -> None:
    """Book the crews of next week, and book anew when something changes."""
    desk = Desk(session)
    (day,) = found(r"a crew for every job of next week, from (\d{4}-\d\d-\d\d) on", desk.wish)
    first = date.fromisoformat(day)
    if not desk.today < first <= desk.today + timedelta(7):
        raise Unsolved(f"{first} is not next week")
    desk.rule(
        "A crew does one job a day and never works more hours in a week than its record says.",
        "It takes only jobs for which it has the skill.",
        "Nobody goes on a roof in a crew of fewer than three.",
        "If a customer asks us not to send somebody again, we do not. Such wishes are kept as notes on the job.",
        "A job costs its hours at the crew's rate, and the trip. Who comes to the same town again in the same week",
        "only the first trip to a town is paid",
    )
    days = [(first + timedelta(number)).isoformat() for number in range(7)]
    jobs = [job for job in desk.all("list_jobs") if job["day"] in days]
    booked: Plan = {row["job"]: row["crew"] for row in desk.all("list_bookings")}
    plan, *others = _week(desk, jobs, days).cheapest()
    while booked != plan:
        wrong = [job for job, crew in booked.items() if plan.get(job) != crew]
        if wrong:
            desk.call("cancel_booking", job=wrong[0])
            booked.pop(wrong[0])
        else:
            job = next(job for job in plan if job not in booked)
            desk.call("book_crew", job=job, crew=plan[job])
            booked[job] = plan[job]
        while desk.notices:
            desk.notices.clear()
            plan, *others = _week(desk, jobs, days).cheapest()
    if others:
        raise Unsolved(f"which of {[plan, *others]} is meant?")


def _week(desk: Desk, jobs: list[Row], days: list[str]) -> Week:
    """Week as it is known now."""
    crews = list(desk.all("list_crews"))
    unwished: set[tuple[str, ...]] = set()
    for job in jobs:
        for note in desk.all("list_notes", about=job["number"]):
            if note["text"].startswith("Please not "):
                unwished.add((job["number"], *found(r"^Please not (\w+) again, ", note["text"])))
    away: set[tuple[str, ...]] = set()
    for crew in crews:
        for note in desk.all("list_notes", about=crew["number"]):
            (name,) = found(r"^Van in the workshop all (\w+), the crew stays in the yard\.$", note["text"])
            if (date.fromisoformat(days[0]) - date.fromisoformat(note["day"])).days > 7:
                raise Unsolved(f"which {name}?")
            away.add((crew["number"], days[DAYS.index(name)]))
        for mail in desk.mails(crew["number"]):
            text = mail["body"]
            if "called off" in text:
                away.remove(found(r"^The training was called off, (F-\d+) is there on (\S+) after all\.$", text))
            elif "training" in text:
                away.add(found(r"^The crew (F-\d+) is at a training on (\S+) and cannot take a job\.$", text))
            else:
                ill = r"^Two of (F-\d+) are ill\. The crew takes no job on (\S+); until then all of them are there\.$"
                away.add(found(ill, text))
    trips = {(row["base"], row["town"]): row["price_cents"] for row in desk.all("list_trips")}
    return Week(jobs, crews, trips, unwished, away)


def mixer_by_trial(session: Session) -> None:
    """Learn what a mixer's dials do, set them and start the batch."""
    desk = Desk(session)
    recipe, hall = found(r"start a batch of ([\w ]+) in the (\w+) hall,", desk.wish)
    desk.rule(
        "A sample is right if all three of its readings are what the recipe says, with whatever applies to it today.",
        "Dials move in whole marks and do the same to a mixer at every time of day",
        "A mixer with a green plate makes paint for toys and is not set without the master's leave.",
    )
    mixers = [mixer for mixer in desk.all("list_mixers", hall=hall) if not _plated(desk, mixer)]
    if len(mixers) != 1:
        raise Unsolved(f"which of {mixers}?")
    mixer = mixers[0]["number"]
    marks = [int(mixers[0][dial]) for dial in DIALS]

    def sample(marks: list[int]) -> list[int]:
        desk.call("set_dials", mixer=mixer, **dict(zip(DIALS, marks, strict=True)))
        told = desk.call("take_sample", mixer=mixer)
        return [told[colour] for colour in COLOURS]

    wanted, start = _wanted(desk, recipe, hall), sample(marks)
    gains: list[list[Fraction]] = []  # by dial
    for dial, mark in enumerate(marks):
        step = 10 if mark <= 50 else -10
        moved = sample([*marks[:dial], mark + step, *marks[dial + 1 :]])
        gains.append([Fraction(new - old, step) for new, old in zip(moved, start, strict=True)])
    missing = [Fraction(want - old) for want, old in zip(wanted, start, strict=True)]
    right = [mark + turn for mark, turn in zip(marks, _combined(gains, missing), strict=True)]
    if any(mark.denominator > 1 or not 0 <= mark <= 60 for mark in right):
        raise Unsolved(f"no marks are {right}")
    if sample([int(mark) for mark in right]) != wanted:
        raise Unsolved("dials do not do the same everywhere")
    desk.call("start_batch", mixer=mixer, recipe=recipe)


def _plated(desk: Desk, mixer: Row) -> bool:
    """Whether a note tells of a mixer's green plate."""
    return any("green plate" in note["text"] for note in desk.all("list_notes", about=mixer["number"]))


def _wanted(desk: Desk, recipe: str, hall: str) -> list[int]:
    """Readings that a sample has to have today."""
    [page] = [page for page in desk.pages(f"Recipe {recipe}") if page["title"] == f"Recipe {recipe}"]
    readings = found(r"^A sample reads red (-?\d+), green (-?\d+), blue (-?\d+)\.$", page["body"])
    wanted = dict(zip(COLOURS, map(int, readings), strict=True))
    for page in desk.pages("unheated"):
        first, last, more, colour, cold = found(
            r"^From (\w+) to (\w+) a batch that stands in an unheated hall needs (\d+) more (\w+) than the recipe\."
            r" The (\w+) hall is unheated\.$",
            page["body"],
        )
        since, until, month = MONTHS.index(first), MONTHS.index(last), desk.today.month - 1
        if cold == hall and (month - since) % 12 <= (until - since) % 12:
            wanted[colour] += int(more)
    for mail in desk.mails("Pigment"):
        if not mail["body"].endswith("It is used up by now."):
            colour, less = found(
                r"^From yesterday's delivery on our (\w+) is strong\. Take (\d+) off what a recipe says\.$",
                mail["body"],
            )
            wanted[colour] -= int(less)
    return [wanted[colour] for colour in COLOURS]


def _combined(vectors: list[list[Fraction]], wanted: list[Fraction]) -> list[Fraction]:
    """Parts of three vectors that together are a fourth one, by Cramer's rule."""

    def volume(a: list[Fraction], b: list[Fraction], c: list[Fraction]) -> Fraction:
        across = (b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0])
        return sum((one * other for one, other in zip(a, across, strict=True)), Fraction())

    a, b, c = vectors
    whole = volume(a, b, c)
    if not whole:
        raise Unsolved("the dials do not reach every colour")
    return [volume(wanted, b, c) / whole, volume(a, wanted, c) / whole, volume(a, b, wanted) / whole]


SOLVERS: Mapping[str, Callable[[Session], None]] = {
    "credit_holds": credit_holds,
    "crew_week": crew_week,
    "mixer_by_trial": mixer_by_trial,
}
