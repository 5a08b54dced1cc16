"""A week of crews: book a crew for every job at the least cost that the rules allow, and plan again when one falls ill.

What makes it hard: optimisation in which the cheapest crew for each job is not the cheapest week (trips to the same town
are paid once, hours of a week are limited), rules scattered over pages, mails and notes, one of them taken back, and an
event in the midst of booking.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from sandbox_scenarios.generating import Draw
from sandbox_scenarios.hard.papers import at, day, handbook, mailbox, reading

TOWNS = ("Plau", "Malchow", "Teterow", "Waren", "Lychen", "Templin", "Rheinsberg", "Zehdenick")
BASES = ("Neustrelitz", "Wittstock", "Prenzlau", "Neuruppin")
SKILLS = ("roofs", "boilers", "wiring")
SITES = ("Mill", "School", "Quarry", "Chapel", "Dairy", "Old station", "Boathouse", "Sawmill", "Town hall", "Brewery")
DAYS = 4
PAGES = (
    ("Crews and days", "A crew does one job a day and never works more hours in a week than its record says. It takes only jobs for which it has the skill."),
    ("What a week costs", "A job costs its hours at the crew's rate, and the trip. Who comes to the same town again in the same week has left the tools there and drives along with the supplier, so only the first trip to a town is paid."),
    ("On roofs", "Nobody goes on a roof in a crew of fewer than three."),
    ("Customers' wishes", "If a customer asks us not to send somebody again, we do not. Such wishes are kept as notes on the job."),
)  # fmt: skip
GAP = 1_500
"""The cheapest week is at least so many cents cheaper than the next."""
RULES = ("roofs", "hours", "trips", "day", "skill")
"""Rules of the handbook: in every instance at least four of them decide, and each in at least half of all instances."""
CrewPlan = tuple[int, ...]
"""A crew for every job, by place."""


@dataclass(frozen=True, slots=True)
class _Week:
    """The jobs, the crews and the rules; crews and jobs are known by their places."""

    jobs: Sequence[Mapping[str, Any]]
    crews: Sequence[Mapping[str, Any]]
    trips: Mapping[tuple[str, str], int]
    forbidden: frozenset[tuple[int, int]]
    """Pairs of a job and a crew."""
    rules: frozenset[str] = frozenset(RULES)

    def may(self, job: int, crew: int) -> bool:
        wanted, able = self.jobs[job], self.crews[crew]
        skilled = wanted["skill"] in able["skills"].split(", ") or "skill" not in self.rules
        many = wanted["skill"] != "roofs" or able["people"] >= 3 or "roofs" not in self.rules
        return skilled and many and (job, crew) not in self.forbidden

    def best(self) -> CrewPlan | None:
        """The cheapest week; None where there is none, or another one costs nearly the same."""
        found = self.cheapest()
        if not found or (len(found) > 1 and found[1][0] - found[0][0] < GAP):
            return None
        return found[0][1]

    def cheapest(self) -> Sequence[tuple[int, CrewPlan]]:
        """The two cheapest weeks with their costs.

        Branch and bound: the jobs that are left cost at least their hours at the lowest rate of whoever may do them, and
        with the trip where nobody has been to the town before. Weeks that cost :data:`GAP` more are of no interest.
        """
        jobs, places = self.jobs, range(len(self.jobs))
        able = [[crew for crew in range(len(self.crews)) if self.may(job, crew)] for job in places]
        if not all(able):
            return ()
        works = [[job["hours"] * crew["hour_cents"] for crew in self.crews] for job in jobs]
        drives = [[self.trips[crew["base"], job["town"]] for crew in self.crews] for job in jobs]
        for place, crews in enumerate(able):  # the cheapest first, so that a good week is found early
            crews.sort(key=lambda crew: works[place][crew] + drives[place][crew])
        once = "trips" in self.rules
        fresh = [
            not once or all(jobs[other]["town"] != jobs[place]["town"] for other in range(place)) for place in places
        ]
        least = [0]
        for place in reversed(places):
            costs = (works[place][crew] + (drives[place][crew] if fresh[place] else 0) for crew in able[place])
            least.append(least[-1] + min(costs))
        least.reverse()
        together = [[other for other in range(place) if jobs[other]["day"] == jobs[place]["day"]] for place in places]
        counted = "hours" in self.rules
        needed = [job["hours"] if counted else 0 for job in jobs]
        left = [crew["week_hours"] for crew in self.crews]
        towns = [[f"{crew} {job['town']}" for crew in range(len(self.crews))] for job in jobs]
        been: set[str] = set()
        plan: list[int] = []
        found: list[tuple[int, CrewPlan]] = []
        enough = float("inf")

        def go_on(cost: int) -> None:
            nonlocal enough
            place = len(plan)
            if place == len(jobs):
                found.append((cost, tuple(plan)))
                found.sort()
                del found[2:]
                enough = min(found[0][0] + GAP, found[-1][0] if len(found) > 1 else found[0][0] + GAP)
                return
            busy = [plan[other] for other in together[place]] if "day" in self.rules else ()
            needs, work, drive, there, rest = needed[place], works[place], drives[place], towns[place], least[place + 1]
            for crew in able[place]:
                if left[crew] < needs or crew in busy:
                    continue
                new = there[crew] not in been
                spent = cost + work[crew] + (drive[crew] if new or not once else 0)
                if spent + rest < enough:
                    plan.append(crew)
                    left[crew] -= needs
                    been.add(there[crew])
                    go_on(spent)
                    if new:
                        been.discard(there[crew])
                    left[crew] += needs
                    plan.pop()

        go_on(0)
        return found

    def one_by_one(self) -> CrewPlan | None:
        """The week of whoever takes the cheapest crew for each job in turn; None where that leads nowhere."""
        hours, plan = [crew["week_hours"] for crew in self.crews], list[int]()
        for place, job in enumerate(self.jobs):
            busy = {plan[other] for other in range(place) if self.jobs[other]["day"] == job["day"]}
            fitting = [
                crew for crew in range(len(self.crews))
                if self.may(place, crew) and crew not in busy and hours[crew] >= job["hours"]
            ]  # fmt: skip
            if not fitting:
                return None

            def costs(crew: int, job: Mapping[str, Any] = job) -> int:
                able = self.crews[crew]
                return job["hours"] * able["hour_cents"] + self.trips[able["base"], job["town"]]

            plan.append(min(fitting, key=costs))
            hours[plan[-1]] -= job["hours"]
        return tuple(plan)


def crew_week(draw: Draw, size: Mapping[str, Any]) -> dict[str, Any]:
    """One instance; the size ``jobs`` is how many there are on a day."""
    monday = date(2027, 3, 1 + 7 * draw.randrange(4))
    while True:
        week = _drawn(draw, monday, size["jobs"])
        jobs, last = range(len(week.jobs)), len(week.jobs) - size["jobs"]
        plan = week.best()
        if plan is None:
            continue
        ill = plan[-1 - draw.randrange(size["jobs"])]
        found = _told(draw, week, plan, ill, last)
        if found is not None:
            break
    named, shunned, van, absent, final = found
    today = day(monday, -3)
    people = {name: draw.person() for name in ("fitter", "clerk", "yard")}
    crews, listed = week.crews, week.jobs
    pages = handbook(draw, PAGES)
    mails = [
        {"day": day(monday, -12), "sender": people["fitter"], "subject": f"{crews[named[1]]['name']}, {listed[named[0]]['day']}", "body": f"The crew {crews[named[1]]['number']} is at a training on {listed[named[0]]['day']} and cannot take a job."},
        {"day": day(monday, -6), "sender": people["fitter"], "subject": "Training", "body": f"The training was called off, {crews[named[1]]['number']} is there on {listed[named[0]]['day']} after all."},
    ]  # fmt: skip
    rows = mailbox(draw, mails, monday, list(people.values()))
    sick = {
        "number": "M-190", "day": today, "sender": people["fitter"], "subject": "Ill",
        "body": f"Two of {crews[ill]['number']} are ill. The crew takes no job on {listed[last]['day']}; until then all of them are there.",
    }  # fmt: skip
    notes = {
        "shunned": {"about": listed[shunned[0]]["number"], "day": day(monday, -15), "author": people["clerk"], "text": f"Please not {crews[shunned[1]]['name']} again, they left a mess."},
        "van": {"about": crews[van]["number"], "day": day(monday, -4), "author": people["yard"], "text": f"Van in the workshop all {date.fromisoformat(absent):%A}, the crew stays in the yard."},
        "key": {"about": listed[draw.choice(jobs)]["number"], "day": day(monday, -8), "author": people["clerk"], "text": "The key is with the neighbour."},
        "dog": {"about": listed[draw.choice(jobs)]["number"], "day": day(monday, -9), "author": people["clerk"], "text": "Mind the dog."},
    }  # fmt: skip
    booked = [(listed[job]["number"], crews[crew]["number"]) for job, crew in enumerate(final)]
    return {
        "clock": {"now": at(date.fromisoformat(today), 10, 0), "zone": "Europe/Berlin"},
        "state": {
            "page": pages, "mail": rows, "note": notes,
            "crew": {crew["number"].lower().replace("-", "_"): crew for crew in crews},
            "job": {job["number"].lower().replace("-", "_"): job for job in listed},
            "trip": {f"{base}_{town}".lower(): {"base": base, "town": town, "price_cents": cents} for (base, town), cents in week.trips.items()},
        },
        "events": [{"id": "illness", "when": {"table": "booking", "has": {}, "least": 4}, "adds": {"mail": {"ill": sick}}, "notice": f"A new mail from {people['fitter']} has come."}],
        "user": {
            "goal": "You want a crew booked for every job of next week, at the least cost in all that the rules allow, as things stand in the end.",
            "opening": f"Please book a crew for every job of next week, from {day(monday)} on, so that the week costs as little as our rules allow. If something changes while you are at it, plan anew: what counts is the plan that stands in the end.",
        },
        "reference": [{"turns": [_solution(booked, week, reading(pages, PAGES))]}],
        "milestones": [
            {"id": f"job_{job[2:]}", "table": "booking", "adds": {"job": job, "crew": crew}} for job, crew in booked
        ],
    }  # fmt: skip


def _drawn(draw: Draw, monday: date, each: int) -> _Week:
    """A week without the rules that notes and mails tell."""
    numbers = draw.sample(range(110, 990), 5 + DAYS * each)
    towns, sites = draw.sample(TOWNS, 5), draw.sample(SITES, min(len(SITES), DAYS * each))
    crews = [
        {
            "number": f"F-{numbers.pop()}", "name": name, "base": base, "people": people,
            "skills": ", ".join(sorted(draw.sample(SKILLS, 2))), "hour_cents": 100 * draw.randrange(52, 84),
            "week_hours": draw.choice((12, 14, 16, 18)),
        }
        for name, base, people in (
            zip(draw.sample(("Amber", "Birch", "Cobalt", "Dune", "Ember", "Fern"), 5), draw.sample([*BASES, *BASES], 5), draw.sample((2, 2, 3, 4, 3), 5), strict=True)
        )
    ]  # fmt: skip
    jobs = [
        {
            "number": f"J-{numbers.pop()}", "day": day(monday, number // each), "site": sites[number],
            "town": draw.choice(towns), "skill": draw.choice(SKILLS), "hours": draw.randrange(4, 9),
        }
        for number in range(DAYS * each)
    ]  # fmt: skip
    trips = {(base, town): 100 * draw.randrange(60, 300) for base in BASES for town in towns}
    return _Week(jobs, crews, trips, frozenset())


_Told = tuple[tuple[int, int], tuple[int, int], int, str, CrewPlan]


def _told(draw: Draw, week: _Week, plan: CrewPlan, ill: int, last: int) -> _Told | None:
    """Rules of notes and mails, each changing the cheapest week; None where there are none here.

    They are a pair that a mail forbids and a later one allows, a pair that a note forbids, a crew without a van and the
    day of that, and the cheapest week in the end.
    """
    jobs = draw.sample(range(last), 3)
    shunned, vanless, named = jobs
    without_van = {
        (job, plan[vanless]) for job in range(len(week.jobs)) if week.jobs[job]["day"] == week.jobs[vanless]["day"]
    }
    lying = {(job, ill) for job in range(last, len(week.jobs))}
    rules = [{(shunned, plan[shunned])}, without_van, lying]
    final = _under(week, *rules)
    if final is None or any(final == _under(week, *rules[:out], *rules[out + 1 :]) for out in range(len(rules))):
        return None
    taken_back = {
        (job, final[named]) for job in range(len(week.jobs)) if week.jobs[job]["day"] == week.jobs[named]["day"]
    }
    whole = _Week(week.jobs, week.crews, week.trips, frozenset(set[tuple[int, int]]().union(*rules)))
    if final in (whole.one_by_one(), _under(week, *rules, taken_back)):
        return None

    def under(kept: frozenset[str]) -> CrewPlan:
        return replace(whole, rules=kept).cheapest()[0][1]

    decided = under(frozenset(RULES))
    if sum(under(frozenset(RULES) - {rule}) == decided for rule in RULES) > 1:  # all five would be rare
        return None
    return (named, final[named]), (shunned, plan[shunned]), plan[vanless], week.jobs[vanless]["day"], final


def _under(week: _Week, *rules: set[tuple[int, int]]) -> CrewPlan | None:
    return _Week(week.jobs, week.crews, week.trips, frozenset(set[tuple[int, int]]().union(*rules))).best()


def _solution(booked: list[tuple[str, str]], week: _Week, papers: list[dict[str, Any]]) -> dict[str, Any]:
    looks: list[dict[str, Any]] = [
        *papers,
        {"tool": "list_jobs", "arguments": {}},
        {"tool": "list_crews", "arguments": {}},
        *({"tool": "list_trips", "arguments": {"page": page}} for page in range(1, 1 + -(-len(week.trips) // 20))),
        {"tool": "search_notes", "arguments": {"text": ""}},
        {"tool": "search_mails", "arguments": {"text": "training"}},
    ]
    books = [{"tool": "book_crew", "arguments": {"job": job, "crew": crew}} for job, crew in booked]
    ill = {"tool": "read_mail", "arguments": {"number": "M-190"}}
    told = ", ".join(f"{crew} for {job}" for job, crew in booked)
    return {"calls": [*looks, *books[:4], ill, *books[4:]], "reply": f"I booked {told}."}
