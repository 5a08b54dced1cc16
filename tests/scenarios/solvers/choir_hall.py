"""Solver of ``choir_hall``."""

import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from sandbox_mcp.play.session.session import Session
from tests.scenarios.solvers.driver import Desk, Row, Unsolved, found, solves

FORM = "%Y-%m-%d %H:%M:%S"
HOME = ZoneInfo("Europe/Berlin")
ZONES = {
    "Boston": ZoneInfo("America/New_York"), "Dublin": ZoneInfo("Europe/Dublin"), "Porto": ZoneInfo("Europe/Lisbon"),
    "Turku": ZoneInfo("Europe/Helsinki"), "Linz": ZoneInfo("Europe/Vienna"),
}  # fmt: skip
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Club(Desk):
    """The club's accounts, entered one after the other."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.wish = self.say("Of course. What is it?")
        (self.password,) = found(r"the password (\S+); codes come to me", self.wish)

    def take(self, user: str) -> None:
        """Give an account its password with a code that the user reads out, and log in to it."""
        self.call("SendVerificationCode", username=user, email=f"{user}@vocalis.example")
        told = self.say(f"What is the code that came to you for {user}?")
        (code,) = found(r"\b(\d{6})\b", told)
        self.call("ResetPassword", username=user, verification_code=code, new_password=self.password)
        self.enter(user)

    def enter(self, user: str) -> None:
        """Log in to an account."""
        self.call("LogoutUser")
        self.call("UserLogin", username=user, password=self.password)

    def inbox(self) -> list[Row]:
        """All mails of the account, the newest first, however few come at once."""
        end, mails = f"{self.today + timedelta(1)} 00:00:00", list[Row]()
        while some := self.call("SearchInbox", end_date=end)["emails"]:
            mails += some
            end = (datetime.fromisoformat(some[-1]["date"]) - timedelta(seconds=1)).strftime(FORM)
        return mails

    def calendar(self) -> list[Row]:
        """Entries of this week."""
        first, last = (f"{self.today + timedelta(days)} 00:00:00" for days in (0, 7))
        return self.call("QueryCalendar", start_time=first, end_time=last)["events"]

    def book(self, name: str, when: datetime) -> None:
        """Enter a rehearsal, and look whether it stands if the line drops."""
        given = {"name": name, "event_type": "event"}
        given |= {"start_time": when.strftime(FORM), "end_time": (when + timedelta(hours=2)).strftime(FORM)}
        result = self.session.call("CreateEvent", given)
        self.notices += (result.structured or {}).get("notices", ())
        if result.error is not None and name not in [entry["name"] for entry in self.calendar()]:
            self.book(name, when)


def _wishes(mails: list[Row], today: datetime) -> dict[str, list[datetime]]:
    """Times that each choir asked for last, by the turn of the mail that says so."""
    towns: dict[str, str] = {}
    wishes: dict[str, list[datetime]] = {}
    for mail in reversed(mails):
        times = re.findall(r"(\w+day) at (\d\d):(\d\d) our time", mail["body"])
        if not times:
            continue
        name = found(r"^(?:We are )?(\w+)(?:,| once more)", mail["body"])[0]
        if place := re.search(r"from (\w+),", mail["body"]):
            towns[name] = place[1]
        wishes.pop(name, None)
        wishes[name] = []
        for day, hour, minute in times:
            there = today + timedelta(DAYS.index(day))
            moment = there.replace(hour=int(hour), minute=int(minute), tzinfo=ZONES[towns[name]])
            wishes[name].append(moment.astimezone(HOME).replace(tzinfo=None))
    return wishes


@solves("choir_hall")
def choir_hall(session: Session) -> None:
    """Take over three accounts, book what is asked for and paid, and give on what is given back."""
    club = Club(session)
    tours, cash, hall = found(r"accounts (\w+), (\w+) and (\w+),", club.wish)
    club.take(tours)
    mails = club.inbox()
    club.take(cash)
    money = club.inbox()
    rules = " ".join(mail["body"] for mail in [*mails, *money] if mail["sender"].startswith("board@"))
    (fee,) = found(r"It costs (\d+) euros", rules)
    (young,) = found(r"Youth choirs pay (\d+) euros from this week on", rules)
    paid: dict[str, int] = {}
    for mail in money:
        if mail["subject"] == "Incoming payment":
            amount, name = found(r"^(\d+) euros from (\w+),", mail["body"])
            paid[name] = paid.get(name, 0) + int(amount)
    youth = {found(r"^We are (\w+)", mail["body"])[0] for mail in mails if "a youth choir" in mail["body"]}
    wishes = _wishes(mails, datetime.combine(club.today, datetime.min.time()))
    wishes = {
        name: times for name, times in wishes.items() if paid.get(name, 0) >= int(young if name in youth else fee)
    }
    club.take(hall)
    taken = {datetime.fromisoformat(entry["start_time"]) for entry in club.calendar()}
    booked: dict[str, datetime] = {}
    for name, times in wishes.items():
        if free := [time for time in times if time not in taken]:
            booked[name] = free[0]
            taken.add(free[0])
    club.notices.clear()
    for name, time in booked.items():
        club.book(name, time)
    if not any(f"has come to {tours}@" in notice for notice in club.notices):
        return
    club.enter(tours)
    newest = club.call("SearchInbox", start_date=f"{club.today} 00:00:00")["emails"]
    [gone] = [found(r"^(\w+) has to cancel", mail["body"])[0] for mail in newest if "has to cancel" in mail["body"]]
    club.enter(hall)
    [entry] = [one for one in club.calendar() if one["name"] == gone]
    club.call("DeleteEvent", event_id=entry["event_id"])
    waiting = [name for name, times in wishes.items() if name not in booked and booked[gone] in times]
    if len(waiting) != 1:
        raise Unsolved(f"who of {waiting} gets the time?")
    club.book(waiting[0], booked[gone])
