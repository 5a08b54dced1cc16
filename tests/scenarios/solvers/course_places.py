"""Solver of ``course_places``."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from sandbox_mcp.play.session.session import Session
from tests.scenarios.solvers.driver import Desk, Row, Unsolved, found, solves

FORM = "%Y-%m-%d %H:%M:%S"
HOME, LONDON = ZoneInfo("Europe/Berlin"), ZoneInfo("Europe/London")
HOUSE = "house@claythings.example"


def mailbox(desk: Desk) -> Iterator[Row]:
    """Every mail of the inbox, newest first."""
    end = f"{desk.today + timedelta(1)} 00:00:00"
    while mails := desk.call("SearchInbox", end_date=end)["emails"]:
        yield from mails
        end = (_moment(mails[-1]) - timedelta(seconds=1)).strftime(FORM)


def _moment(mail: Row) -> datetime:
    return datetime.strptime(mail["date"], FORM).replace(tzinfo=HOME)


@solves("course_places")
def course_places(session: Session) -> None:  # noqa: C901  (one story, from top to bottom)
    """Enter who has a place in three courses, mail that a list is done, and enter it anew if somebody gives up."""
    desk = Desk(session)
    first, second, third = found(r"The courses (\w+), (\w+) and (\w+) are in my calendar", desk.wish)
    subject, done = found(r'subject "(List of (\w+))"', desk.wish)
    names = (first, second, third)
    mails = list(mailbox(desk))
    rules = " ".join(mail["body"] for mail in mails if mail["sender"] == HOUSE)
    for sentence in (
        "Places go by the time at which a mail came",
        "what somebody wrote last counts, also for their turn",
        "except that a place may always be given up",
        "comes after all those who were not, whenever they wrote",
    ):
        if sentence not in rules:
            raise Unsolved(f"nothing says {sentence!r}")
    (closes,) = found(r"until noon London time on \w+, (\d+ \w+) count, that minute included", rules)
    noon = datetime.strptime(f"{closes} {desk.today.year} 12:00", "%d %B %Y %H:%M").replace(tzinfo=LONDON)
    long_ago, soon = (f"{desk.today + timedelta(days)} 00:00:00" for days in (-400, 20))
    calendar = desk.call("QueryCalendar", start_time=long_ago, end_time=soon)["events"]
    [before] = [event for event in calendar if event["name"].endswith("(course)")]
    courses = {event["name"]: event for event in calendar if event["name"] in names}
    places = {name: int(found(r"^(\d+) places$", event["description"])[0]) for name, event in courses.items()}
    notes = desk.call("SearchMessages", start_date=f"{desk.today - timedelta(60)} 00:00:00")["messages"]
    for note in notes:
        if "benches" in note["message"]:
            (room,) = found(r"^The (\w+) has lost two of its benches, so it takes two people fewer", note["message"])
            [smaller] = [name for name, event in courses.items() if event["location"] == room]
            places[smaller] -= 2

    def lists(mails: list[Row]) -> dict[str, list[str]]:
        last: dict[str, tuple[datetime, str]] = {}
        for mail in reversed(mails):
            when = _moment(mail)
            wish = _wish(mail["body"], names)
            if mail["sender"] == HOUSE or wish is None or (wish and when >= noon + timedelta(minutes=1)):
                continue
            last[mail["body"].rpartition(" ")[2]] = (when, wish)
        found: dict[str, list[str]] = {}
        for name in names:
            waiting = [(who in before["attendees"], when, who) for who, (when, wish) in last.items() if wish == name]
            found[name] = [who for _, _, who in sorted(waiting)[: places[name]]]
        return found

    entered = lists(mails)
    for name in names:
        desk.call("ModifyEvent", event_id=courses[name]["event_id"], new_attendees=entered[name])
    desk.call("SendEmail", to=[HOUSE], subject=subject, body=", ".join(entered[done]))
    if desk.notices:
        for name, who in lists(list(mailbox(desk))).items():
            if who != entered[name]:
                desk.call("ModifyEvent", event_id=courses[name]["event_id"], new_attendees=who)


def _wish(text: str, names: tuple[str, ...]) -> str | None:
    """The course that somebody wants now, empty for none any more, None where nothing is asked for."""
    if re.search(r"can't come|take me off", text):
        return ""
    if re.search(r"put me down|love to come|have a place|for me, please|rather come|move me", text):
        return found(f"({'|'.join(names)})", text)[0]
    return None
