"""The calendar: events, and meetings, which have attendees. Source: ToolTalk, appendix A, plug-in Calendar."""

from typing import Any, TypedDict, cast

from sandbox_mcp.engine.world.tables import Id, Text
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.office.rules import SUCCESS, Success, check_range, me, mine, moment, written
from sandbox_mcp.engine.worlds.office.tables import Account, Event, EventType
from sandbox_mcp.engine.worlds.office.world import office

GROUP = "calendar"


class _Created(TypedDict):
    """The id of an event that was created."""

    event_id: str


class _Entry(TypedDict):
    """One event or meeting."""

    event_id: str
    name: str
    event_type: EventType
    start_time: str
    end_time: str
    location: str | None
    description: str | None
    attendees: list[str] | None


class Entries(TypedDict):
    """Events, in the order in which they were entered."""

    events: list[_Entry]


@office.action(
    name="CreateEvent", group=GROUP, adds=[Event], reaches="attendees", said=["created", "scheduled", "added"]
)
def create_event(
    tx: Tx,
    name: Text,
    event_type: EventType,
    start_time: str,
    end_time: str,
    description: Text | None = None,
    location: Text | None = None,
    attendees: list[str] | None = None,
) -> _Created:
    """Enter an event or a meeting into the calendar. It must lie in the future.

    Args:
        name: What it is called.
        event_type: "meeting" for one with others, which needs attendees, or "event".
        start_time: When it begins, such as 2027-03-08 17:30:00.
        end_time: When it ends.
        description: What it is about.
        location: Where it is.
        attendees: Usernames of those who take part; whoever is logged in does so anyhow.
    """
    owner = me(tx)
    if not name.strip():
        raise ValueError("`name` must not be empty")
    if event_type == "meeting" and not attendees:
        raise ValueError("a meeting needs `attendees`")
    start, end = _span(tx, "start_time", start_time, "end_time", end_time)
    event = tx.add(
        Event,
        account=owner.account_id,
        name=name,
        event_type=event_type,
        start_time=start,
        end_time=end,
        description=description,
        location=location,
        attendees=_with(owner, attendees),
    )
    return {"event_id": event.event_id}


@office.action(
    name="ModifyEvent",
    group=GROUP,
    updates=[Event.name, Event.start_time, Event.end_time, Event.description, Event.location, Event.attendees],
    reaches="new_attendees",
    said=["moved", "changed", "updated"],
)
def modify_event(
    tx: Tx,
    event_id: Id[Event],
    new_name: Text | None = None,
    new_start_time: str | None = None,
    new_end_time: str | None = None,
    new_description: Text | None = None,
    new_location: Text | None = None,
    new_attendees: list[str] | None = None,
) -> Success:
    """Change an event or a meeting. What is not given stays as it is.

    Args:
        event_id: Id of the event.
        new_name: What it is to be called.
        new_start_time: When it is to begin; needs `new_end_time`.
        new_end_time: When it is to end; needs `new_start_time`.
        new_description: What it is about.
        new_location: Where it is to be.
        new_attendees: Usernames of all who are to take part, in place of those who did.
    """
    owner, event = me(tx), mine(tx, Event, event_id)
    if new_name is not None and not new_name.strip():
        raise ValueError("`new_name` must not be empty")
    given = {
        "name": new_name,
        "description": new_description,
        "location": new_location,
        "attendees": _with(owner, new_attendees),
    }
    changed: dict[str, Any] = {column: value for column, value in given.items() if value is not None}
    if (new_start_time is None) != (new_end_time is None):
        raise ValueError("give `new_start_time` and `new_end_time` together")
    if new_start_time is not None:
        span = _span(tx, "new_start_time", new_start_time, "new_end_time", cast(str, new_end_time))
        changed |= dict(zip(("start_time", "end_time"), span, strict=True))
    if not changed:
        raise ValueError("give at least one thing that is to change")
    if event.event_type == "meeting" and new_attendees == []:
        raise ValueError("a meeting needs attendees")
    tx.change(event, **changed)
    return SUCCESS


@office.action(name="DeleteEvent", group=GROUP, removes=[Event], said=["deleted", "removed", "cancelled"])
def delete_event(tx: Tx, event_id: Id[Event]) -> Success:
    """Delete an event or a meeting from the calendar.

    Args:
        event_id: Id of the event.
    """
    tx.remove(mine(tx, Event, event_id))
    return SUCCESS


@office.query(name="QueryCalendar", group=GROUP)
def query_calendar(tx: Tx, start_time: str, end_time: str) -> Entries:
    """Find what is in the calendar between two moments, also what only begins or ends between them.

    Args:
        start_time: The first moment, such as 2027-03-08 00:00:00.
        end_time: The last moment, such as 2027-03-08 23:59:59.
    """
    owner = me(tx)
    start, end = moment(tx, "start_time", start_time), moment(tx, "end_time", end_time)
    check_range("start_time", start, "end_time", end)
    return {
        "events": [
            {
                "event_id": event.event_id,
                "name": event.name,
                "event_type": event.event_type,
                "start_time": cast(str, written(tx, event.start_time)),
                "end_time": cast(str, written(tx, event.end_time)),
                "location": event.location,
                "description": event.description,
                "attendees": event.attendees,
            }
            for event in tx.all(Event, account=owner.account_id)
            if event.start_time <= end and event.end_time >= start
        ]
    }


def _span(tx: Tx, start_name: str, start_text: str, end_name: str, end_text: str) -> tuple[float, float]:
    start, end = moment(tx, start_name, start_text), moment(tx, end_name, end_text)
    check_range(start_name, start, end_name, end)
    if start < tx.now:
        raise ValueError(f"`{start_name}` is {start_text!r}, which is in the past; it is {written(tx, tx.now)}")
    return start, end


def _with(owner: Account, attendees: list[str] | None) -> list[str] | None:
    """The attendees, among them the account that is logged in."""
    if not attendees or owner.username in attendees:
        return attendees
    return [*attendees, owner.username]
