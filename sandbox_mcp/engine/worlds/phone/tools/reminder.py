"""Reminders, due at a moment and perhaps at a place. Changing one makes it new: its creation time is reset."""

from operator import attrgetter
from typing import Any

from sandbox_mcp.engine.tools.definition import UNSET
from sandbox_mcp.engine.world.faults import NoDataError
from sandbox_mcp.engine.world.tables import Id, Moment, Text
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.phone.tables import Degrees, Reminder
from sandbox_mcp.engine.worlds.phone.tools.messaging import FUZZY
from sandbox_mcp.engine.worlds.phone.tools.rules import check_position, check_timestamp, fuzzy, given, within
from sandbox_mcp.engine.worlds.phone.world import phone


def _reminder(tx: Tx, reminder_id: str) -> Reminder:
    found = tx.find(Reminder, Id(reminder_id))
    if found is None:
        raise NoDataError(f"no reminder has the id {reminder_id!r}")
    return found


def _none(value: Any) -> Any:
    return None if value is UNSET else value


@phone.action(
    group="reminder", adds=[Reminder], said=["reminder", "remind", "set", "added", "scheduled", "created", "saved"]
)
def add_reminder(
    tx: Tx,
    content: Text,
    reminder_timestamp: Moment,
    latitude: Degrees | None = None,
    longitude: Degrees | None = None,
) -> str:
    """Add a reminder.

    Args:
        content: What to be reminded of.
        reminder_timestamp: When, in seconds since 1970.
        latitude: Latitude of the place to be reminded at, in degrees.
        longitude: Longitude of the place to be reminded at, in degrees.

    Returns:
        the id of the new reminder.

    Raises:
        ValueError: the moment or the place is out of range.
    """
    check_timestamp("reminder_timestamp", reminder_timestamp)
    check_position(latitude, longitude)
    added = tx.add(
        Reminder,
        content=content,
        creation_timestamp=tx.now,
        reminder_timestamp=reminder_timestamp,
        latitude=latitude,
        longitude=longitude,
    )
    return added.reminder_id


@phone.action(
    group="reminder",
    updates=[
        Reminder.content, Reminder.reminder_timestamp, Reminder.latitude, Reminder.longitude,
        Reminder.creation_timestamp,
    ],
)  # fmt: skip
def modify_reminder(
    tx: Tx,
    reminder_id: str,
    content: Text = UNSET,
    reminder_timestamp: Moment = UNSET,
    latitude: Degrees | None = UNSET,
    longitude: Degrees | None = UNSET,
) -> None:
    """Change a reminder. What is not given stays as it is.

    Args:
        reminder_id: Id of the reminder to change.
        content: New text.
        reminder_timestamp: New moment, in seconds since 1970.
        latitude: New latitude in degrees, or null for no place.
        longitude: New longitude in degrees, or null for no place.

    Raises:
        ValueError: nothing to change was given, or the moment or the place is out of range.
        NoDataError: there is no reminder with that id.
    """
    values = given(content=content, reminder_timestamp=reminder_timestamp, latitude=latitude, longitude=longitude)
    if reminder_timestamp is not UNSET:
        check_timestamp("reminder_timestamp", reminder_timestamp)
    check_position(_none(latitude), _none(longitude))
    if not values:
        expected = "at least one of `content`, `reminder_timestamp`, `latitude`, `longitude`"
        raise ValueError(f"nothing to change was given; expected {expected}")
    tx.change(_reminder(tx, reminder_id), **values, creation_timestamp=tx.now)


@phone.query(group="reminder")
def search_reminder(
    tx: Tx,
    reminder_id: str = UNSET,
    content: Text = UNSET,
    creation_timestamp_lowerbound: Moment = UNSET,
    creation_timestamp_upperbound: Moment = UNSET,
    reminder_timestamp_lowerbound: Moment = UNSET,
    reminder_timestamp_upperbound: Moment = UNSET,
    latitude: Degrees = UNSET,
    longitude: Degrees = UNSET,
) -> list[Reminder]:
    """Find reminders that fit everything that is given; all of them if nothing is.

    The content need only resemble what is given, and then at most the five best reminders are returned, best first.
    The rest must be equal; time bounds include their ends.

    Args:
        reminder_id: Id of the reminder.
        content: What it is about.
        creation_timestamp_lowerbound: Earliest moment it may have been made, in seconds since 1970.
        creation_timestamp_upperbound: Latest moment it may have been made, in seconds since 1970.
        reminder_timestamp_lowerbound: Earliest moment it may be due, in seconds since 1970.
        reminder_timestamp_upperbound: Latest moment it may be due, in seconds since 1970.
        latitude: Latitude of its place in degrees.
        longitude: Longitude of its place in degrees.

    Returns:
        the reminders found, which may be none.

    Raises:
        ValueError: the place is out of range.
    """
    check_position(_none(latitude), _none(longitude))
    wanted = given(reminder_id=reminder_id, latitude=latitude, longitude=longitude)
    rows = tx.all(Reminder, **wanted)
    rows = within(rows, attrgetter("creation_timestamp"), creation_timestamp_lowerbound, creation_timestamp_upperbound)
    rows = within(rows, attrgetter("reminder_timestamp"), reminder_timestamp_lowerbound, reminder_timestamp_upperbound)
    if content is not UNSET:
        rows = fuzzy(rows, attrgetter("content"), content, FUZZY)
    return rows


@phone.action(
    group="reminder", removes=[Reminder], said=["removed", "deleted", "gone", "cancelled", "cleared", "erased"]
)
def remove_reminder(tx: Tx, reminder_id: str) -> None:
    """Remove a reminder.

    Args:
        reminder_id: Id of the reminder to remove.

    Raises:
        NoDataError: there is no reminder with that id.
    """
    tx.remove(_reminder(tx, reminder_id))
