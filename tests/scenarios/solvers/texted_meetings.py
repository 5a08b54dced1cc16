"""Solver of ``texted_meetings``."""

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
WORD = r"(Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday) at (\d\d:\d\d)"


def _home(text: str) -> datetime:
    return datetime.strptime(text, FORM).replace(tzinfo=HOME)


class Calendar:
    """Meetings of the week, as they were entered and as they are now; None for one that is gone."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        days = (f"{desk.today + timedelta(number)} 00:00:00" for number in (0, 7))
        entries = desk.call("QueryCalendar", **dict(zip(("start_time", "end_time"), days, strict=True)))["events"]
        self.entries: list[Row] = entries
        self.was = {entry["name"]: (_home(entry["start_time"]), _home(entry["end_time"])) for entry in entries}
        self.now = dict(self.was)

    def wanted(self, person: Row, texts: list[Row]) -> tuple[datetime, datetime] | None:
        """Time of the meeting with a person by their texts, oldest first; None if it is called off."""
        begin, end = self.was[f"Meeting with {person['name']}"]
        length, answer = end - begin, (begin, end)
        for text in texts:
            words = text["content"]
            if "call our meeting off" in words:
                return None
            if words.startswith("Forget what I wrote about another time"):
                answer = (begin, end)
            elif "half an hour later than it is in your calendar" in words:
                answer = (begin + timedelta(minutes=30), end + timedelta(minutes=30))
            elif "my time instead?" in words or words.startswith("Sorry, that does not work after all."):
                day, hour = found(WORD, words)
                zone = ZONES[found(r"client in (.+)$", person["relationship"])[0]]
                there = self.desk.today + timedelta(DAYS.index(day) - self.desk.today.weekday())
                start = datetime.fromisoformat(f"{there} {hour}:00").replace(tzinfo=zone).astimezone(HOME)
                answer = (start, start + length)
        return answer

    def settle(self, people: list[Row], texts: list[Row]) -> list[Row]:
        """Move and delete as was asked for; people whose wish runs into another meeting."""
        wishes: dict[str, tuple[datetime, datetime] | None] = {}
        for person in people:
            own = [text for text in texts if text["sender_phone_number"] == person["phone_number"]]
            wishes[f"Meeting with {person['name']}"] = self.wanted(person, own)
        refused: list[Row] = []
        for person in people:
            name = f"Meeting with {person['name']}"
            wish = wishes[name]
            others = [other for title, other in wishes.items() if title != name and other is not None]
            if wish and wish != self.was[name] and any(wish[0] < last and first < wish[1] for first, last in others):
                refused.append(person)
                continue
            self.put(name, wish)
        return refused

    def put(self, name: str, wish: tuple[datetime, datetime] | None) -> None:
        """Bring a meeting to a time, or take it out."""
        if wish == self.now[name]:
            return
        self.now[name] = wish  # pyright: ignore[reportArgumentType]
        [entry] = [entry for entry in self.entries if entry["name"] == name]
        if wish is None:
            self.desk.call("DeleteEvent", event_id=entry["event_id"])
            return
        start, end = (moment.strftime(FORM) for moment in wish)
        self.desk.call("ModifyEvent", event_id=entry["event_id"], new_start_time=start, new_end_time=end)


def _texts(desk: Desk) -> list[Row]:
    found: list[Row] = desk.call("search_messages")["result"]
    return sorted(found, key=lambda text: text["creation_timestamp"])


@solves("texted_meetings")
def texted_meetings(session: Session) -> None:
    """Bring the calendar in line with texts, answer who cannot be served, and set reminders."""
    desk = Desk(session)
    calendar = Calendar(desk)
    contacts: list[Row] = desk.call("search_contacts")["result"]
    people = [person for person in contacts if f"Meeting with {person['name']}" in calendar.was]
    refused = calendar.settle(people, _texts(desk))
    while desk.notices:
        desk.notices.clear()
        again = calendar.settle(people, _texts(desk))
        if again != refused:
            raise Unsolved(f"{refused} or {again}?")
    for person in refused:
        desk.call("send_message_with_phone_number", phone_number=person["phone_number"], content="It stays.")
    mails = desk.call("SearchInbox", sender="travel@fairlead.example")["emails"]
    newest, oldest = (mail["body"] for mail in mails)
    outer, other = found(r"in the outer office leave (\d+) minutes .* all others be ready (\d+) minutes before", oldest)
    since, longer = found(r"from \w+, (\d+ \w+) on, that day included\. Leave (\d+) minutes before", newest)
    closed = datetime.strptime(f"{since} {desk.today.year}", "%d %B %Y").replace(tzinfo=HOME)
    for entry in calendar.entries:
        time = calendar.now[entry["name"]]
        if time:
            minutes = other if entry["location"] != "Outer office" else longer if time[0] >= closed else outer
            due = time[0].timestamp() - 60 * int(minutes)
            desk.call("add_reminder", content=entry["name"], reminder_timestamp=due)
