"""A week of crews, by what the tools tell."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TypeAlias

from sandbox_mcp.play.session.session import Session
from tests.scenarios.solvers.driver import Desk, Row, Unsolved, found, solves

Plan: TypeAlias = dict[str, str]  # number of a job, number of its crew
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


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


@solves("crew_week")
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
