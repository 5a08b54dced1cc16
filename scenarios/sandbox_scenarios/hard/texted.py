"""Meetings that people texted about: a calendar at work brought in line with the texts on a phone, and reminders there.

What makes it hard: two worlds at once, times that people say in their own zones in the weeks in which summer time is
not the same everywhere, words of people who may not decide, a move that fits nowhere, rules of travel that a later mail
changes, and a text that comes once the first meeting was moved.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from sandbox_scenarios.generating import Draw
from sandbox_scenarios.hard.story import call
from sandbox_scenarios.pools import POOLS

HOME = "Europe/Berlin"
WEEKS = ((2027, 3, 15), (2027, 3, 22), (2027, 11, 1), (2028, 3, 13), (2028, 3, 20), (2028, 10, 30))
"""Mondays of weeks in which New York is five hours behind Berlin, and not six."""
PLACES = {"New York": "America/New_York", "London": "Europe/London", "Tokyo": "Asia/Tokyo", "Lisbon": "Europe/Lisbon"}
PREFIXES = {"New York": "+1212555{:04}", "London": "+447700900{:03}", "Tokyo": "+8190123456{:02}", "Lisbon": "+3519120004{:02}"}  # fmt: skip
KINDS = ("moved", "twice", "back", "off", "proxy", "stranger", "clash", "later")
HOURS = {"New York": range(14, 19), "London": range(9, 18), "Tokyo": range(8, 11), "Lisbon": range(10, 18)}
"""Hours at home at which people there would meet."""
OUTER = "Outer office"
CHATTER = (
    "Did you see the match?", "Thanks for the flowers!", "Running late, start without me.", "The plumber was here.",
    "Happy birthday to your sister!", "Can you send me that recipe again?", "Our meeting last week was good fun.",
    "Parcel for you at the counter.", "Shall we go for a swim on Sunday?", "I moved the sofa, finally.",
)  # fmt: skip


@dataclass(slots=True)
class _Talk:
    """A meeting with somebody: when it is, when it will be (None if it is called off), and what was written of it."""

    kind: str
    name: str
    place: str
    number: str
    start: datetime
    minutes: int
    location: str
    end_start: datetime | None
    texts: list[tuple[int, str, str]] = field(default_factory=list[tuple[int, str, str]])
    """Minutes ago, number and words of texts."""

    def runs_into(self, start: datetime, minutes: int) -> bool:
        """True if a meeting then would overlap this one, as it is or as it will be."""
        mine = {self.start, self.end_start or self.start}
        return any(
            start < one + timedelta(minutes=self.minutes) and one < start + timedelta(minutes=minutes) for one in mine
        )


def texted_meetings(draw: Draw, size: Mapping[str, Any]) -> dict[str, Any]:
    """One instance; ``chatter`` texts have nothing to do with it."""
    monday = datetime(*draw.choice(WEEKS), 7, 30)  # noqa: DTZ001  (wall time at home)
    firsts = draw.sample((*POOLS["woman"], *POOLS["man"]), len(KINDS) + 2)
    lasts = draw.sample(POOLS["last"], len(KINDS) + 3)
    firsts[4] = firsts[0]  # two people of one first name: one moves, the other does not
    people = [f"{first} {last}" for first, last in zip(firsts, lasts, strict=False)]
    while True:
        talks = _talks(draw, monday, people)
        if talks is not None:
            break
    bridge = monday.replace(hour=0, minute=0) + timedelta(days=3)
    leads = {talk.name: _lead(talk, bridge) for talk in talks if talk.end_start is not None}
    me = people[len(KINDS)]
    username = f"{me.split()[0].lower()}{draw.randrange(10, 99)}"
    rows = _rows(draw, monday, talks, people, username, bridge, size["chatter"])
    by_kind = {talk.kind: talk for talk in talks}
    moved, later = by_kind["moved"], by_kind["later"]
    label = {talk.kind: f"with_{talk.kind}" for talk in talks}
    text = _received(later.number, f"@contact.{later.kind}", monday, "Could we start half an hour later than it is in your calendar? That would suit me.")  # fmt: skip
    return {
        "clock": {"now": monday, "zone": HOME},
        "state": rows,
        "events": [
            {
                "id": "asks_late",
                "when": {"table": "event", "has": {"event_id": f"@event.{label['moved']}", "start_time": moved.end_start}},
                "adds": {"messaging": {"late": text}},
                "notice": f"A new text message has come from {later.number}.",
            }
        ],
        "user": {
            "goal": "You want the meetings in your calendar in line with what people texted you, and a reminder on your phone before each of this week's meetings.",
            "opening": (
                "People texted me about this week's meetings. Please bring my calendar in line with that: a meeting moves, or goes, if the person it is with "
                "asked for it from the number that I have for them, and their last word counts. It keeps its length. If it would run into another meeting, leave it "
                "where it is and text that person that it stays. Then put a reminder on my phone for each meeting of this week: for the moment at which I have to leave or be "
                "ready, as the travel desk wrote to me by mail. If anything new comes in meanwhile, see to it as well."
            ),
        },
        "reference": [{"turns": [_solution(talks, by_kind, leads, monday, list(rows["event"]))]}],
        "milestones": _milestones(talks, label, leads),
    }  # fmt: skip


def _milestones(talks: list[_Talk], label: Mapping[str, str], leads: Mapping[str, datetime]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for talk in talks:
        event = f"@event.{label[talk.kind]}"
        if talk.end_start is None:
            found.append({"id": f"gone_{talk.kind}", "table": "event", "removes": {"event_id": event}})
            continue
        if talk.end_start != talk.start:
            cells = {"event_id": event, "start_time": talk.end_start, "end_time": talk.end_start + timedelta(minutes=talk.minutes)}  # fmt: skip
            found.append({"id": f"moved_{talk.kind}", "table": "event", "updates": cells})
        cells = {"content": {"any": True}, "reminder_timestamp": leads[talk.name]}
        found.append({"id": f"reminds_{talk.kind}", "table": "phone_reminder", "adds": cells})
        if talk.kind == "clash":
            told = {"recipient_phone_number": talk.number, "content": {"any": True}}
            found.append({"id": "stays", "table": "messaging", "adds": told})
    return found


def _lead(talk: _Talk, bridge: datetime) -> datetime:
    start = talk.end_start or talk.start
    far = 110 if start >= bridge else 75
    return start - timedelta(minutes=far if talk.location == OUTER else 10)


def _local(moment: datetime, place: str) -> str:
    """A moment at home as somebody elsewhere says it."""
    there = moment.replace(tzinfo=ZoneInfo(HOME)).astimezone(ZoneInfo(PLACES[place]))
    return f"{there:%A} at {there:%H:%M}"


def _talks(draw: Draw, monday: datetime, people: list[str]) -> list[_Talk] | None:
    """A meeting of each kind, none in the way of another; None if these draws do not fit."""
    made: list[_Talk] = []
    places = ["New York", "Tokyo", "London", "Lisbon", "New York", "London", "New York", "London"]
    numbers = draw.sample(range(10, 99), 2 * len(KINDS))

    def free(place: str, minutes: int) -> datetime:
        for _ in range(50):
            day = monday.replace(hour=0, minute=0) + timedelta(days=draw.randrange(1, 5))
            start = day + timedelta(hours=draw.choice(HOURS[place]), minutes=draw.choice((0, 30)))
            if not any(talk.runs_into(start, minutes + 30) for talk in made):
                return start
        raise _NoRoomError

    try:
        for order, kind in enumerate(KINDS):
            place, minutes = places[order], draw.choice((30, 45, 60))
            start = free(place, minutes)
            number = PREFIXES[place].format(numbers[order])
            talk = _Talk(kind, people[order], place, number, start, minutes, draw.choice(("Video", "Main office", OUTER)), start)  # fmt: skip
            made.append(talk)
            _write(draw, talk, made, free, numbers[len(KINDS) + order])
    except _NoRoomError:
        return None
    bridge = monday.replace(hour=0, minute=0) + timedelta(days=3)
    outer = [talk.end_start for talk in made if talk.location == OUTER and talk.end_start is not None]
    leads = [_lead(talk, bridge) for talk in made if talk.end_start is not None]
    if not (any(start < bridge for start in outer) and any(start >= bridge for start in outer)):
        return None
    return made if len(set(leads)) == len(leads) else None


class _NoRoomError(Exception):
    """No time of the week is free any more."""


def _write(draw: Draw, talk: _Talk, made: list[_Talk], free: Callable[[str, int], datetime], other: int) -> None:
    """Texts of a kind, and what becomes of the meeting."""
    ask = "Could we meet on {when} my time instead?"
    new = free(talk.place, talk.minutes)
    wanted = ask.format(when=_local(new, talk.place))
    if talk.kind == "moved":
        talk.end_start = new
        talk.texts = [(draw.randrange(100, 2000), talk.number, wanted)]
    elif talk.kind == "twice":
        last = talk.end_start = free(talk.place, talk.minutes)
        again = f"Sorry, that does not work after all. {_local(last, talk.place)} my time would."
        talk.texts = [(draw.randrange(2000, 3000), talk.number, wanted), (draw.randrange(100, 1900), talk.number, again)]  # fmt: skip
    elif talk.kind == "back":
        keep = "Forget what I wrote about another time, let us keep what we had."
        talk.texts = [(draw.randrange(2000, 3000), talk.number, wanted), (draw.randrange(100, 1900), talk.number, keep)]
    elif talk.kind == "off":
        talk.end_start = None
        talk.texts = [(draw.randrange(100, 2000), talk.number, "I have to call our meeting off this week, sorry.")]
    elif talk.kind == "proxy":
        said = f"{talk.name} would like to meet you on {_local(new, talk.place)} our time instead, please move it."
        talk.texts = [(draw.randrange(100, 2000), "", said)]
    elif talk.kind == "stranger":
        said = f"Hi, {talk.name} here from another phone. {wanted}"
        talk.texts = [(draw.randrange(100, 2000), PREFIXES[talk.place].format(other), said)]
    elif talk.kind == "clash":
        fixed = next(one for one in made if one.kind == "proxy")
        talk.texts = [(draw.randrange(100, 2000), talk.number, ask.format(when=_local(fixed.start, talk.place)))]
    else:
        talk.end_start = talk.start + timedelta(minutes=30)


def _received(number: str, person: str | None, when: datetime, words: str) -> dict[str, Any]:
    return {
        "sender_person_id": person, "sender_phone_number": number, "recipient_person_id": "@contact.me",
        "recipient_phone_number": "+4915550100017", "content": words, "creation_timestamp": when,
    }  # fmt: skip


def _rows(
    draw: Draw, monday: datetime, talks: list[_Talk], people: list[str], username: str, bridge: datetime, chatter: int
) -> dict[str, dict[str, Any]]:
    me, helper = people[len(KINDS)], people[len(KINDS) + 1]
    contacts: dict[str, dict[str, Any]] = {
        talk.kind: {"name": talk.name, "phone_number": talk.number, "relationship": f"client in {talk.place}", "is_self": False}
        for talk in talks
    }  # fmt: skip
    contacts["helper"] = {"name": helper, "phone_number": "+12125550199", "relationship": "assistant of a client in New York", "is_self": False}  # fmt: skip
    contacts["me"] = {"name": me, "phone_number": "+4915550100017", "relationship": "self", "is_self": True}
    known = {row["phone_number"]: label for label, row in contacts.items()}
    texts = [(ago, number or "+12125550199", words) for talk in talks for ago, number, words in talk.texts]
    senders = [row["phone_number"] for label, row in contacts.items() if label != "me"]
    texts += [(draw.randrange(60, 20_000), draw.choice(senders), draw.choice(CHATTER)) for _ in range(chatter)]
    draw.shuffle(texts)
    messages = {
        f"text_{place}": _received(number, f"@contact.{known[number]}" if number in known else None, monday - timedelta(minutes=ago), words)
        for place, (ago, number, words) in enumerate(texts)
    }  # fmt: skip
    mine = {"account": "@office_account.me"}
    events = {
        f"with_{talk.kind}": {**mine, "name": f"Meeting with {talk.name}", "event_type": "meeting", "start_time": talk.start,
                              "end_time": talk.start + timedelta(minutes=talk.minutes), "location": talk.location, "attendees": [talk.name, username]}
        for talk in talks
    }  # fmt: skip
    order = list(events)
    draw.shuffle(order)
    inbox = {**mine, "folder": "inbox", "receivers": [f"{username}@fairlead.example"]}
    mails = {
        "leads": {**inbox, "date": monday - timedelta(days=24), "sender": "travel@fairlead.example", "subject": "When to leave",
                  "body": "For a meeting in the outer office leave 75 minutes before it begins. For all others be ready 10 minutes before."},
        "bridge": {**inbox, "date": monday - timedelta(days=3), "sender": "travel@fairlead.example", "subject": "Bridge",
                   "body": f"The bridge to the outer office is closed for good from {bridge:%A, %d %B} on, that day included. Leave 110 minutes before from then on."},
        "rumour": {**inbox, "date": monday - timedelta(days=2), "sender": "sports@fairlead.example", "subject": "Bus on Friday",
                   "body": "I hear the bridge opens again on Thursday, so the bus to the match will take its usual 75 minutes."},
        "lunch": {**inbox, "date": monday - timedelta(hours=16), "sender": "sports@fairlead.example", "subject": "Lunch", "body": "Who joins?"},
    }  # fmt: skip
    rows: dict[str, dict[str, Any]] = {
        "setting": {"wifi": True, "cellular": True, "location_service": True, "low_battery_mode": False, "latitude": 52.5163, "longitude": 13.3777},
        "contact": contacts,
        "messaging": messages,
        "office_account": {"me": {"username": username, "password": "half-hitch-3", "email": f"{username}@fairlead.example", "name": me}},
        "session": {"now": mine},
        "event": {label: events[label] for label in order},
        "email": mails,
    }  # fmt: skip
    return rows


def _solution(
    talks: list[_Talk], by_kind: Mapping[str, _Talk], leads: Mapping[str, datetime], monday: datetime, listed: list[str]
) -> dict[str, Any]:
    week = f"{monday:%Y-%m-%d} 00:00:00", f"{monday + timedelta(days=6):%Y-%m-%d} 23:59:59"
    looks = [
        call("search_contacts"),
        call("search_messages"),
        {**call("QueryCalendar", start_time=week[0], end_time=week[1]), "as": "week"},
        call("SearchInbox", sender="travel@fairlead.example"),
    ]

    def event(kind: str) -> str:
        return f"$week.events.{listed.index(f'with_{kind}')}.event_id"

    def move(talk: _Talk) -> dict[str, Any]:
        start = talk.end_start or talk.start
        end = start + timedelta(minutes=talk.minutes)
        return call("ModifyEvent", event_id=event(talk.kind), new_start_time=f"{start:%Y-%m-%d %H:%M:%S}", new_end_time=f"{end:%Y-%m-%d %H:%M:%S}")  # fmt: skip

    deeds = [
        move(by_kind["moved"]),
        call("search_messages", sender_phone_number=by_kind["later"].number),
        *(move(by_kind[kind]) for kind in ("twice", "later")),
        call("DeleteEvent", event_id=event("off")),
        call("send_message_with_phone_number", phone_number=by_kind["clash"].number, content="Then I have another meeting, so ours stays where it is."),
        *(
            call("add_reminder", content=f"Meeting with {talk.name}", reminder_timestamp=leads[talk.name])
            for talk in talks
            if talk.end_start is not None
        ),
    ]  # fmt: skip
    return {"calls": [*looks, *deeds], "reply": "Calendar and reminders are up to date, and I texted whoever has to stay where they are."}  # fmt: skip
