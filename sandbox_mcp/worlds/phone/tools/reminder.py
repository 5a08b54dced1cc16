"""Reminders, due at a moment and perhaps at a place. Changing one makes it new: its creation time is reset."""

from typing import Any, TypedDict, cast

from sandbox_mcp.tools.definition import UNSET, NoDataError, action, query
from sandbox_mcp.world import Transaction
from sandbox_mcp.worlds.phone.tools.messaging import FUZZY
from sandbox_mcp.worlds.phone.tools.rules import check_position, check_timestamp, fuzzy, given, within
from sandbox_mcp.worlds.phone.world import phone


class FoundReminder(TypedDict):
    """One reminder."""

    reminder_id: str
    content: str
    creation_timestamp: float
    reminder_timestamp: float
    latitude: float | None
    longitude: float | None


def _none(value: Any) -> Any:
    return None if value is UNSET else value


@action("reminder")
def add_reminder(
    tx: Transaction,
    content: str,
    reminder_timestamp: float,
    latitude: float | None = None,
    longitude: float | None = None,
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
    row = {
        "content": content,
        "creation_timestamp": tx.now,
        "reminder_timestamp": float(reminder_timestamp),
        "latitude": latitude,
        "longitude": longitude,
    }
    return tx.insert("reminder", "reminder_id", row)


@action("reminder", destructive=True)
def modify_reminder(
    tx: Transaction,
    reminder_id: str,
    content: str = UNSET,
    reminder_timestamp: float = UNSET,
    latitude: float | None = UNSET,
    longitude: float | None = UNSET,
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
    if tx.row("reminder", reminder_id) is None:
        raise NoDataError(f"no reminder has the id {reminder_id!r}")
    tx.update("reminder", reminder_id, {**values, "creation_timestamp": tx.now})


@query("reminder")
def search_reminder(
    tx: Transaction,
    reminder_id: str = UNSET,
    content: str = UNSET,
    creation_timestamp_lowerbound: float = UNSET,
    creation_timestamp_upperbound: float = UNSET,
    reminder_timestamp_lowerbound: float = UNSET,
    reminder_timestamp_upperbound: float = UNSET,
    latitude: float = UNSET,
    longitude: float = UNSET,
) -> list[FoundReminder]:
    """Find reminders that fit everything that is given.

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
        ValueError: nothing to search for was given, or a time bound or place is out of range.
    """
    bounds = given(
        creation_timestamp_lowerbound=creation_timestamp_lowerbound,
        creation_timestamp_upperbound=creation_timestamp_upperbound,
        reminder_timestamp_lowerbound=reminder_timestamp_lowerbound,
        reminder_timestamp_upperbound=reminder_timestamp_upperbound,
    )
    for name, bound in bounds.items():
        check_timestamp(name, bound)
    check_position(_none(latitude), _none(longitude))
    wanted = given(reminder_id=reminder_id, latitude=latitude, longitude=longitude)
    if not wanted and content is UNSET and not bounds:
        raise ValueError("nothing to search for was given; expected at least one argument")
    rows = [row for row in tx.rows("reminder") if all(row[column] == value for column, value in wanted.items())]
    rows = within(rows, "creation_timestamp", creation_timestamp_lowerbound, creation_timestamp_upperbound)
    rows = within(rows, "reminder_timestamp", reminder_timestamp_lowerbound, reminder_timestamp_upperbound)
    if content is not UNSET:
        rows = fuzzy(rows, "content", content, FUZZY)
    return [cast("FoundReminder", dict(row)) for row in rows]


@action("reminder", destructive=True)
def remove_reminder(tx: Transaction, reminder_id: str) -> None:
    """Remove a reminder.

    Args:
        reminder_id: Id of the reminder to remove.

    Raises:
        NoDataError: there is no reminder with that id.
    """
    if tx.row("reminder", reminder_id) is None:
        raise NoDataError(f"no reminder has the id {reminder_id!r}")
    tx.delete("reminder", reminder_id)


phone.include(add_reminder, modify_reminder, search_reminder, remove_reminder)
