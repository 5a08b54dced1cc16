"""Solver of ``tour_calls``."""

import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from sandbox_mcp.play.session.session import Session
from tests.scenarios.solvers.driver import Desk, Row, Unsolved, found, solves

FORM = "%Y-%m-%d %H:%M:%S"
HOME = ZoneInfo("Europe/Berlin")
ZONES = {
    "New York": ZoneInfo("America/New_York"),
    "London": ZoneInfo("Europe/London"),
    "Tokyo": ZoneInfo("Asia/Tokyo"),
    "Lisbon": ZoneInfo("Europe/Lisbon"),
}
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Tour(Desk):
    """What the user said at first, where they are, and what was booked."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.first, self.last = map(
            int, found(r"calls from (\d+) on and until (\d+) at the latest to begin", self.wish)
        )
        self.short, self.since = found(r"On (\w+) I take none that begins at (\d+) or later there", self.wish)
        self.far, self.lead, self.other = found(
            r"For people in ([\w ]+) I need (\d+) minutes .* others (\d+)\.", self.wish
        )
        self.people: dict[str, Row] = {}
        for one in self.call("search_contacts")["result"]:
            if one["relationship"].startswith("client in "):
                self.people[one["phone_number"]] = one
        self.booked: dict[str, datetime] = {}

    def place(self, number: str) -> str:
        """Where somebody is."""
        return self.people[number]["relationship"].removeprefix("client in ")

    def read_tour(self) -> None:
        """Where the user is on which day, by what the travel desk wrote last."""
        (newest, *_) = self.call("SearchInbox", sender="travel@fairlead.example")["emails"]
        stays = r"[Yy]ou are in (\w+) until the end of (\w+), and in ([\w ]+) from (\w+) on"
        one, until, other, since = found(stays, newest["body"])
        self.stays = ((one, 0, DAYS.index(until)), (other, DAYS.index(since), 4))

    def suits(self, slot: datetime) -> bool:
        """True if the user takes a call at a moment."""
        for city, first, last in self.stays:
            mine = slot.astimezone(ZONES[city])
            day = (mine.date() - self.today).days
            short = DAYS[mine.weekday()] == self.short and mine.hour >= int(self.since)
            if first <= day <= last and self.first <= mine.hour <= self.last and not short:
                return True
        return False

    def offers(self) -> dict[str, list[datetime]]:
        """Times that people offered last, by turn."""
        texts: list[Row] = []
        for _ in range(2):  # the line may cut an answer off
            texts = max(texts, self.call("search_messages")["result"], key=len)
        wanted: dict[str, list[datetime]] = {}
        for text in sorted(texts, key=lambda row: row["creation_timestamp"]):
            times = re.findall(r"(\w+day) at (\d\d):(\d\d) my time", text["content"])
            number = text["sender_phone_number"]
            if times and number in self.people:
                wanted.pop(number, None)
                wanted[number] = [self._moment(day, int(hour), number) for day, hour, _ in times]
        return wanted

    def _moment(self, day: str, hour: int, number: str) -> datetime:
        there = datetime.combine(
            self.today + timedelta(DAYS.index(day)), datetime.min.time(), ZONES[self.place(number)]
        )
        return there.replace(hour=hour).astimezone(HOME)

    def calendar(self) -> list[Row]:
        """Entries of the week."""
        first, last = (f"{self.today + timedelta(days)} 00:00:00" for days in (0, 7))
        return self.call("QueryCalendar", start_time=first, end_time=last)["events"]

    def book(self, number: str, slot: datetime) -> None:
        """Enter a call, and look whether it stands where the line fails."""
        name = f"Call with {self.people[number]['name']}"
        begins, ends = (moment.strftime(FORM) for moment in (slot, slot + timedelta(hours=1)))
        given = {"name": name, "event_type": "event", "start_time": begins, "end_time": ends}
        result = self.session.call("CreateEvent", given)
        self.notices += (result.structured or {}).get("notices", ())
        if result.error is not None and name not in [entry["name"] for entry in self.calendar()]:
            self.book(number, slot)
        self.booked[number] = slot


@solves("tour_calls")
def tour_calls(session: Session) -> None:  # noqa: C901  (one story, from top to bottom)
    """Book, put right, remind and tell."""
    tour = Tour(session)
    tour.read_tour()
    busy = {datetime.fromisoformat(entry["start_time"]).replace(tzinfo=HOME) for entry in tour.calendar()}
    offers = tour.offers()
    for number, times in offers.items():
        taken = {*busy, *tour.booked.values()}
        if able := [time for time in times if tour.suits(time) and time not in taken]:
            tour.book(number, able[0])
    if tour.notices:  # somebody wrote meanwhile, about a time that nobody else wants
        latest = tour.offers()
        [number] = [one for one in latest if latest[one] != offers.get(one)]
        offers = latest
        [time] = [time for time in latest[number] if tour.suits(time) and time not in {*busy, *tour.booked.values()}]
        [entry] = [one for one in tour.calendar() if one["name"] == f"Call with {tour.people[number]['name']}"]
        _move(tour, number, entry["event_id"], time)
    again = tour.say("The calls are in your calendar.")
    if changed := re.search(r"for people in ([\w ]+) it has to be (\d+) minutes", again):
        tour.far, tour.lead = changed.groups()
        again = tour.say("The calls are all entered, and I have noted that.")
    if "my flight was moved" not in again:
        raise Unsolved("nothing about a flight")
    tour.read_tour()
    events = {entry["name"]: entry["event_id"] for entry in tour.calendar()}
    for number, times in offers.items():
        if (now := tour.booked.get(number)) is None or tour.suits(now):
            continue
        event = events[f"Call with {tour.people[number]['name']}"]
        others = {*busy, *tour.booked.values()}
        able = [time for time in times if time != now and tour.suits(time) and time not in others]
        if able:
            _move(tour, number, event, able[0])
        else:
            tour.call("DeleteEvent", event_id=event)
            del tour.booked[number]
    if "reminder" not in tour.say("The calendar is in line with your new flight."):
        raise Unsolved("nothing about reminders")
    for number, time in tour.booked.items():
        lead = int(tour.lead if tour.place(number) == tour.far else tour.other)
        content = f"Call with {tour.people[number]['name']}"
        tour.call("add_reminder", content=content, reminder_timestamp=time.timestamp() - 60 * lead)
    (words,) = found(r'has no call now "(.+?)"', tour.say("The reminders are set."))
    for number in offers:
        if number not in tour.booked:
            tour.call("send_message_with_phone_number", phone_number=number, content=words)


def _move(tour: Tour, number: str, event: str, time: datetime) -> None:
    begins, ends = (moment.strftime(FORM) for moment in (time, time + timedelta(hours=1)))
    tour.call("ModifyEvent", event_id=event, new_start_time=begins, new_end_time=ends)
    tour.booked[number] = time
