"""A rota over a long conversation, by what the tools and the user tell."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta

from sandbox_mcp.play.session.session import Session
from tests.scenarios.solvers.driver import Desk, Row, Unsolved, found, solves

NAME = r"(\w+ \w+)"


@dataclass
class Rota:
    """Duties as they stand, and what is known of whom."""

    plan: dict[str, dict[str, object]]
    able: set[str]  # with the ticket
    away: Mapping[str, tuple[str, str]]  # first day, and the first one back
    no_late: set[str] = field(default_factory=set[str])
    most: dict[str, int] = field(default_factory=dict[str, int])

    def of(self, person: str, on: date) -> list[str]:
        """Parts of a day on which a person is on duty."""
        return [str(row["part"]) for row in self.plan.values() if row["person"] == person and row["day"] == str(on)]

    def may(self, person: str, row: Mapping[str, object]) -> bool:
        """Whether a person may take a duty."""
        on, late = date.fromisoformat(str(row["day"])), row["part"] == "late"
        first, back = self.away.get(person, ("", ""))
        if self.of(person, on) or first <= str(on) < back:
            return False
        if late and (
            person not in self.able or person in self.no_late or "early" in self.of(person, on + timedelta(1))
        ):
            return False
        if not late and "late" in self.of(person, on - timedelta(1)):
            return False
        monday = on - timedelta(on.weekday())
        week = sum(len(self.of(person, monday + timedelta(later))) for later in range(7))
        return week < self.most.get(person, 7)


@solves("duty_rota")
def duty_rota(session: Session) -> None:
    """Fill three weeks, as the user says."""
    desk = Desk(session)
    desk.rule(
        "goes to the driver of the depot who has the least time on duty in the quarter, of those who may take it.",
        "of the quarter on the plan count, worked or still to come, and so does each duty from the moment it is given.",
        "Open duties are given in the order of their days.",
        "Quarters begin with January, April, July and October",
        "Nobody has two duties on one day. After a late duty there is no early one on the next day.",
        "Late duties are driven with the lift van, for which one needs the ticket.",
    )
    (depot,) = found(r"I plan the ([\w ]+) depot's duties", desk.wish)
    team = [row["name"] for row in desk.all("list_employees", branch=depot) if row["role"] == "driver"]
    plan = {row["number"]: {**row} for row in desk.all("list_duties", depot=depot)}
    rota = Rota(plan, _tickets(desk), _away(desk, team))
    said = desk.wish
    (promised,) = found(rf"I promised {NAME} no late duties, and that holds until I say otherwise", said)
    rota.no_late.add(promised)
    limited, when = found(rf"{NAME} has an exam in the week from (\S+) and takes no more than one duty in that", said)
    _fill(desk, rota, team, *found(r"fill the open duties of the week from (\d{4}-\d\d-\d\d), by our rules", said))
    said = _next(session, "The duties of the first week are assigned.")
    one, two = found(r"to swap: (S-\d+) for (S-\d+)\.", said)
    again, since = found(rf"{NAME} has just called: late duties are all right again from the week of (\S+) on", said)
    desk.call("swap_duties", duty=one, other=two)
    plan[one]["person"], plan[two]["person"] = plan[two]["person"], plan[one]["person"]
    for _ in range(2):
        (monday,) = found(r"the week from (\d{4}-\d\d-\d\d)", _next(session, "Done."))
        rota.most = {limited: 1} if monday == when else {}
        rota.no_late = {promised} - ({again} if monday >= since else set())
        _fill(desk, rota, team, monday)


def _next(session: Session, reply: str) -> str:
    """Words with which the user goes on."""
    return asyncio.run(session.say(reply)).text or ""


def _tickets(desk: Desk) -> set[str]:
    """People who have the ticket for the lift van."""
    holders: set[str] = set()
    heads = {person["name"] for person in desk.all("list_employees", role="head of training")}
    for mail in desk.mails("ticket"):
        if mail["sender"] not in heads:
            continue
        if "These have" in mail["body"]:
            (listed,) = found(r"These have the ticket for the lift van: (.*)\. Nobody else has it\.", mail["body"])
            holders = set(listed.split(", "))
        else:
            holders -= {*found(rf"^{NAME}'s ticket has run out\.", mail["body"])}
    return holders


def _away(desk: Desk, team: list[str]) -> dict[str, tuple[str, str]]:
    """First days away, and the first ones back."""
    days: dict[str, tuple[str, str]] = {}
    for mail in desk.mails("duties"):
        person, text = mail["sender"], mail["body"]
        if person in team and "I am away" in text:
            first, last = found(r"I am away from (\S+) to (\S+), both days included", text)
            days[person] = first, str(date.fromisoformat(last) + timedelta(1))
        elif person in team:
            (again,) = found(r"I can take duties again from (\S+) on", text)
            days[person] = days[person][0], again
    return days


def _fill(desk: Desk, rota: Rota, team: list[str], monday: str) -> None:
    """Give the open duties of a week."""
    first = date.fromisoformat(monday)
    days = [str(first + timedelta(later)) for later in range(7)]
    quarter = date(first.year, first.month - (first.month - 1) % 3, 1)
    duties: list[Row] = sorted(
        (row for row in rota.plan.values() if row["person"] is None and row["day"] in days), key=lambda row: row["day"]
    )
    if len({row["day"] for row in duties}) < len(duties):
        raise Unsolved("which of two duties on a day is given first?")
    for duty in duties:
        time = Counter[str]()
        for row in rota.plan.values():
            if row["person"] and str(row["day"]) >= str(quarter):
                time[str(row["person"])] += int(str(row["minutes"]))
        able = sorted((time[person], person) for person in team if rota.may(person, duty))
        if not able or (len(able) > 1 and able[0][0] == able[1][0]):
            raise Unsolved(f"who of {able} takes {duty['number']}?")
        desk.call("assign_duty", duty=duty["number"], person=able[0][1])
        rota.plan[duty["number"]]["person"] = able[0][1]
