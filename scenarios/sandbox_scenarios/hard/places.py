"""Places in courses: bring the lists of three courses in line with what people wrote.

What makes it hard: some forty mails of which a search shows five, rules scattered over mails, entries and a message,
a deadline in another zone, a join with last year's course, and somebody who gives a place up while the lists are made.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sandbox_scenarios.generating import Draw
from sandbox_scenarios.hard.story import call, exercised
from sandbox_scenarios.pools import POOLS

COURSES = ("Glaze", "Raku", "Throwing", "Casting", "Slipware", "Mosaic", "Enamel", "Kiln")
ROOMS = ("Loft", "Cellar", "Barn", "Orangery", "Chapel")
JOINS = (
    "Please put me down for {course}. {who}",
    "I would love to come to {course}, if there is a place. {who}",
    "Could I have a place in {course}? {who}",
    "{course} for me, please. {who}",
)
MOVES = ("I would rather come to {course} instead. {who}", "Please move me over to {course}. {who}")
LEAVES = ("I can't come after all, please give my place away. {who}", "Something came up, so take me off. {who}")
TALK = (
    "Is there parking near the house? {who}", "Do we have to bring aprons? {who}", "Thank you for the lovely evening. {who}",
    "Will there be lunch on the day? {who}", "Is {course} suitable for beginners? Just asking. {who}",
)  # fmt: skip
RULES = ("moves", "leaves", "deadline", "smaller", "last_year", "order")
"""Rules that decide in every instance: whoever overlooks one has a wrong list."""
Lists = tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class _Wish:
    """What somebody wrote: a course from 0, or -1 to give the place up."""

    at: datetime
    who: str
    course: int
    moves: bool = False


@dataclass(frozen=True, slots=True)
class _Terms:
    """Places of the courses as entered and as they are now, the deadline and how it reads at home, last year's people."""

    entered: tuple[int, ...]
    places: tuple[int, ...]
    deadline: datetime
    misread: datetime
    veterans: frozenset[str]

    def lists(self, wishes: list[_Wish], rules: frozenset[str]) -> Lists:
        """Who has a place in each course by these of the rules."""
        until = self.deadline if "deadline" in rules else self.misread
        stands: dict[str, _Wish] = {}
        for wish in sorted(wishes, key=lambda one: one.at):
            if wish.at > until or (wish.course < 0 and "leaves" not in rules):
                continue
            if wish.moves and "moves" not in rules:
                continue
            stands[wish.who] = wish
        places = self.places if "smaller" in rules else self.entered
        found: list[frozenset[str]] = []
        for course, free in enumerate(places):
            waiting = [wish for wish in stands.values() if wish.course == course]
            if "order" in rules:
                waiting.sort(key=lambda one: one.at)
            else:
                waiting.sort(key=lambda one: one.who)
            if "last_year" in rules:
                waiting.sort(key=lambda one: one.who in self.veterans)
            found.append(frozenset(wish.who for wish in waiting[:free]))
        return tuple(found)


def course_places(draw: Draw, size: Mapping[str, Any]) -> dict[str, Any]:
    """One instance; ``people`` write at least one mail each."""
    given = draw.sample((*POOLS["woman"], *POOLS["man"]), size["people"] + 2)
    names = [f"{name.lower()}{draw.randrange(10, 99)}" for name in given]
    while True:
        made = _instance(draw, names)
        if made is not None:
            return made


def _instance(draw: Draw, names: list[str]) -> dict[str, Any] | None:
    now = datetime(2027, 4, 5, 8, 30) + timedelta(days=7 * draw.randrange(20))  # noqa: DTZ001  (a Monday at home)
    deadline = (now - timedelta(days=3)).replace(hour=13, minute=0)  # noon in London is one o'clock in Berlin
    courses: list[str] = draw.sample(COURSES, 3)
    rooms: list[str] = draw.sample(ROOMS, 3)
    me, house, *guests = names
    veterans = frozenset(draw.sample(guests, len(guests) // 4))
    wishes = _wishes(draw, guests, deadline)
    entered = tuple(draw.randrange(5, 8) for _ in range(3))
    less = draw.randrange(3)
    places = tuple(free - (2 if course == less else 0) for course, free in enumerate(entered))
    terms = _Terms(entered, places, deadline, deadline.replace(hour=12), veterans)
    before = terms.lists(wishes, frozenset(RULES))
    on_list = sorted(before[2])
    if not all(before) or not exercised(lambda rules: terms.lists(wishes, rules), RULES):
        return None
    quits = draw.choice(on_list)
    after = terms.lists([wish for wish in wishes if wish.who != quits], frozenset(RULES))
    if after[2] == before[2] - {quits} or after[:2] != before[:2]:  # somebody has to come up
        return None
    rows = _rows(draw, now, terms, (courses, rooms), (me, house, guests), wishes, less)
    told = {name: row for name, row in rows["email"].items() if row["folder"] == "inbox"}
    own = {"account": "@account.me", "folder": "inbox", "receivers": [f"{me}@claythings.example"]}
    mail = {**own, "date": now, "sender": f"{quits}@mailhost.example", "subject": "Sorry",
            "body": f"I can't come to {courses[2]} after all, my daughter is ill. Please give my place to whoever is next, although it is past the deadline. {quits}"}  # fmt: skip
    return {
        "clock": {"now": now, "zone": "Europe/Berlin"},
        "state": rows,
        "events": [
            {
                "id": "gives_up",
                "when": {"table": "email", "has": {"subject": f"List of {courses[2]}"}},
                "adds": {"email": {"late": mail}},
                "notice": f"A new mail has come from {quits}@mailhost.example.",
            }
        ],
        "user": {
            "goal": f"You want the attendees of the courses {', '.join(courses)} entered in your calendar, by the rules that apply, and the list of {courses[2]} mailed to the house.",
            "opening": (
                f"The courses {courses[0]}, {courses[1]} and {courses[2]} are in my calendar, for next week. Please enter as attendees whoever has a "
                f"place now, by what people wrote to me and by the rules of the house. When the list of {courses[2]} is done, mail house@claythings.example "
                f"that you have it: subject \"List of {courses[2]}\", the names in the text. If anything changes after that, put it right in the calendar; no second mail."
            ),
        },
        "reference": [{"turns": [_solution(now, courses, told, before, after, me)]}],
        "milestones": [
            *({"id": f"list_{place}", "table": "event", "updates": {"event_id": f"@event.course_{place}", "attendees": {"set": sorted([*who, me])}}} for place, who in enumerate(after)),
            {"id": "mailed", "table": "email", "adds": {"receivers": {"set": ["house@claythings.example"]}, "subject": f"List of {courses[2]}", "body": {"any": True}}},
        ],
    }  # fmt: skip


def _wishes(draw: Draw, guests: list[str], deadline: datetime) -> list[_Wish]:
    """Wishes of guests; some change them, and a few come close to the deadline."""
    found: list[_Wish] = []
    free = {-1: draw.sample(range(5, 900), len(guests)), 0: draw.sample(range(5, 55), 12), 1: draw.sample(range(80, 5000), len(guests)), 2: draw.sample(range(6000, 20_000), len(guests))}  # fmt: skip

    def when(kind: int) -> datetime:
        """A minute before the deadline that nobody else has, or with -1 after it."""
        minutes = free[kind].pop()
        return deadline + timedelta(minutes=minutes if kind < 0 else -minutes)

    for place, guest in enumerate(guests):
        course = draw.choice((0, 1, 2))
        if place % 6 == 0:  # in the hour that the zones differ by, or just too late
            found.append(_Wish(when(0), guest, course))
            continue
        if place % 6 == 1 and place > 6:
            found.append(_Wish(when(-1), guest, course))
            continue
        found.append(_Wish(when(2), guest, course))
        if place % 6 == 2:
            found.append(_Wish(when(1), guest, (course + 1) % 3, moves=True))
        if place % 6 == 3 and place % 4:
            found.append(_Wish(when(1), guest, -1))
    return found


def _rows(
    draw: Draw, now: datetime, terms: _Terms, kinds: tuple[list[str], list[str]],
    people: tuple[str, str, list[str]], wishes: list[_Wish], less: int,
) -> dict[str, dict[str, dict[str, Any]]]:  # fmt: skip
    (courses, rooms), (me, house, guests) = kinds, people
    mine = {"account": "@account.me"}
    inbox = {**mine, "folder": "inbox", "receivers": [f"{me}@claythings.example"]}
    mails: list[dict[str, Any]] = []
    for wish in wishes:
        texts = LEAVES if wish.course < 0 else MOVES if wish.moves else JOINS
        body = draw.choice(texts).format(course=courses[wish.course], who=wish.who)
        mails.append({"date": wish.at, "sender": f"{wish.who}@mailhost.example", "subject": draw.choice(("Course", "Place", "Courses next week")), "body": body})  # fmt: skip
    mails += [
        {"date": terms.deadline - timedelta(minutes=draw.randrange(60, 20_000)), "sender": f"{guest}@mailhost.example",
         "subject": "Question", "body": draw.choice(TALK).format(course=draw.choice(courses), who=guest)}
        for guest in draw.sample(guests, 6)
    ]  # fmt: skip
    mails += [
        {"date": now - timedelta(days=20, minutes=17), "sender": "house@claythings.example", "subject": "Rules for courses",
         "body": f"Places go by the time at which a mail came, and each person has one place at most: what somebody wrote last counts, also for their turn. Mails that came until noon London time on {now - timedelta(days=3):%A, %d %B} count, that minute included; the list is closed then, except that a place may always be given up."},
        {"date": now - timedelta(days=15, minutes=41), "sender": "house@claythings.example", "subject": "One more thing about courses",
         "body": "I forgot: whoever was in the course of last year (the list is in your calendar) comes after all those who were not, whenever they wrote."},
    ]  # fmt: skip
    seen = {wish.at for wish in wishes}  # a search tells no two mails of one minute apart
    for mail in mails[len(wishes) :]:
        while mail["date"] in seen:
            mail["date"] += timedelta(minutes=1)
        seen.add(mail["date"])
    draw.shuffle(mails)
    week = now + timedelta(days=7)
    events: dict[str, dict[str, Any]] = {
        f"course_{place}": {**mine, "name": name, "event_type": "event", "start_time": (week + timedelta(days=place)).replace(hour=18, minute=0),
                            "end_time": (week + timedelta(days=place)).replace(hour=21, minute=0), "location": room,
                            "description": f"{terms.entered[place]} places"}
        for place, (name, room) in enumerate(zip(courses, rooms, strict=True))
    }  # fmt: skip
    past = (now - timedelta(days=364)).replace(hour=18, minute=0)
    events["last_year"] = {**mine, "name": f"{draw.choice([name for name in COURSES if name not in courses])} (course)", "event_type": "meeting",
                           "start_time": past, "end_time": past + timedelta(hours=3), "location": draw.choice(ROOMS), "attendees": sorted([*terms.veterans, me])}  # fmt: skip
    accounts = {"me": me, "house": house}
    return {
        "account": {key: {"username": name, "password": "kaolin-88", "email": f"{name}@claythings.example"} for key, name in accounts.items()},
        "session": {"now": mine},
        "event": events,
        "email": {f"mail_{place}": {**inbox, **mail} for place, mail in enumerate(mails)},
        "message": {
            "chairs": {**mine, "timestamp": now - timedelta(days=2, minutes=9), "sender": house, "receiver": me,
                       "message": f"The {rooms[less]} has lost two of its benches, so it takes two people fewer than your calendar says."},
            "keys": {**mine, "timestamp": now - timedelta(days=9), "sender": house, "receiver": me, "message": "The keys hang in the hall."},
        },
    }  # fmt: skip


def _solution(
    now: datetime, courses: list[str], told: dict[str, dict[str, Any]], before: Lists, after: Lists, me: str
) -> dict[str, Any]:
    """Read the mailbox from its end, five at a time, then the rest, and enter the lists."""
    written = "%Y-%m-%d %H:%M:%S"
    dates = sorted((mail["date"] for mail in told.values()), reverse=True)
    looks = [call("SearchInbox", end_date=f"{now:%Y-%m-%d %H:%M:%S}")]
    ends = [dates[place] - timedelta(seconds=1) for place in range(4, len(dates), 5)]
    looks += [call("SearchInbox", end_date=end.strftime(written)) for end in ends]
    week, past = now + timedelta(days=7), now - timedelta(days=400)
    calendar = [
        {**call("QueryCalendar", start_time=f"{past:%Y-%m-%d} 00:00:00", end_time=f"{now:%Y-%m-%d} 23:59:59")},
        {
            **call("QueryCalendar", start_time=f"{week:%Y-%m-%d} 00:00:00", end_time=f"{week + timedelta(days=6):%Y-%m-%d} 23:59:59"),
            "as": "week",
        },
        call("SearchMessages", start_date=f"{now - timedelta(days=30):%Y-%m-%d} 00:00:00"),
    ]  # fmt: skip

    def entered(place: int, who: frozenset[str]) -> dict[str, Any]:
        return call("ModifyEvent", event_id=f"$week.events.{place}.event_id", new_attendees=sorted([*who, me]))

    mail = call("SendEmail", to=["house@claythings.example"], subject=f"List of {courses[2]}", body=", ".join(sorted(before[2])))  # fmt: skip
    newest = call("SearchInbox", start_date=f"{now:%Y-%m-%d %H:%M:%S}")
    lists = [entered(place, who) for place, who in enumerate(before)]
    return {"calls": [*looks, *calendar, *lists, mail, newest, entered(2, after[2])], "reply": "The lists are in your calendar, and the house has the mail."}  # fmt: skip
