"""Reading the clock and reckoning with moments, always in the phone's time zone and never in the host's."""

from calendar import monthrange
from datetime import MAXYEAR, MINYEAR, datetime, timedelta
from typing import TypedDict

from sandbox_mcp.engine.world.tables import Moment
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.phone.tools.rules import check_timestamp
from sandbox_mcp.engine.worlds.phone.world import phone


class _DateTimeInfo(TypedDict):
    """A moment as people read it; ``isoweekday`` is 1 for Monday to 7 for Sunday."""

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int
    isoweekday: int


class _Difference(TypedDict):
    """How far apart two moments are; ``seconds`` is the rest after whole days, 0 to 86399."""

    days: int
    seconds: int


class _Duration(TypedDict):
    """A length of time in whole units."""

    hour: int
    minute: int
    second: int


@phone.query(group="time")
def get_current_timestamp(tx: Tx) -> float:
    """Read the clock.

    Returns:
        the current moment in seconds since 1970.
    """
    return tx.now


@phone.query(group="time", computes=True)
def timestamp_to_datetime_info(tx: Tx, timestamp: Moment) -> _DateTimeInfo:
    """Tell date, time and weekday of a moment in the phone's time zone.

    Args:
        timestamp: The moment in seconds since 1970.

    Returns:
        year, month, day, hour, minute, second, and isoweekday from 1 for Monday to 7 for Sunday.

    Raises:
        ValueError: the moment is out of range.
    """
    check_timestamp("timestamp", timestamp)
    wall = tx.local(timestamp)
    return _DateTimeInfo(
        year=wall.year,
        month=wall.month,
        day=wall.day,
        hour=wall.hour,
        minute=wall.minute,
        second=wall.second,
        isoweekday=wall.isoweekday(),
    )


@phone.query(group="time", computes=True)
def datetime_info_to_timestamp(tx: Tx, year: int, month: int, day: int, hour: int, minute: int, second: int) -> float:
    """Turn a date and time in the phone's time zone into a timestamp.

    Args:
        year: Year, four digits.
        month: Month, 1 to 12.
        day: Day of the month.
        hour: Hour, 0 to 23.
        minute: Minute, 0 to 59.
        second: Second, 0 to 59.

    Returns:
        the moment in seconds since 1970.

    Raises:
        ValueError: there is no such date or time.
    """
    # Refused in words of our own, because Python's differ between its versions.
    if max(map(abs, (year, month, day, hour, minute, second))) >= 2**31:
        raise ValueError("a part of the date or time is far out of range")
    if not MINYEAR <= year <= MAXYEAR:
        raise ValueError(f"year {year} is out of range")
    if not 1 <= month <= 12:
        raise ValueError("month must be in 1..12")
    if not 1 <= day <= monthrange(year, month)[1]:
        raise ValueError("day is out of range for month")
    for name, value, last in (("hour", hour, 23), ("minute", minute, 59), ("second", second, 59)):
        if not 0 <= value <= last:
            raise ValueError(f"{name} must be in 0..{last}")
    return tx.moment(datetime(year, month, day, hour, minute, second))  # noqa: DTZ001 (in the phone's zone)


@phone.query(group="time", computes=True)
def shift_timestamp(
    tx: Tx, timestamp: Moment, weeks: int = 0, days: int = 0, hours: int = 0, minutes: int = 0, seconds: int = 0
) -> float:
    """Move a moment forward, or with negative amounts back.

    Weeks and days go by the calendar: a day later is the same time of day, also where clocks change in between. Hours,
    minutes and seconds are lengths of time.

    Args:
        timestamp: The moment to start from, in seconds since 1970.
        weeks: Weeks to add.
        days: Days to add.
        hours: Hours to add.
        minutes: Minutes to add.
        seconds: Seconds to add.

    Returns:
        the new moment in seconds since 1970.

    Raises:
        ValueError: the moment is out of range, or the amounts lead out of the calendar.
    """
    check_timestamp("timestamp", timestamp)
    try:
        calendar = timedelta(weeks=weeks, days=days)
        length = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        day = tx.moment(tx.local(timestamp).replace(tzinfo=None) + calendar) if calendar else timestamp
        shifted = day + length.total_seconds()
        tx.local(shifted)  # fails where no calendar has such a moment
    except (OverflowError, ValueError) as error:
        raise ValueError("the amounts lead out of the calendar") from error
    return shifted


@phone.query(group="time", computes=True)
def timestamp_diff(tx: Tx, timestamp_0: Moment, timestamp_1: Moment) -> _Difference:
    """Tell how much later the second moment is than the first.

    Args:
        timestamp_0: First moment in seconds since 1970.
        timestamp_1: Second moment in seconds since 1970.

    Returns:
        whole days, negative if the second moment is the earlier one, and the seconds left, 0 to 86399.

    Raises:
        ValueError: a moment is out of range.
    """
    check_timestamp("timestamp_0", timestamp_0)
    check_timestamp("timestamp_1", timestamp_1)
    difference = timedelta(seconds=timestamp_1 - timestamp_0)
    return _Difference(days=difference.days, seconds=difference.seconds)


@phone.query(group="time", computes=True)
def seconds_to_hours_minutes_seconds(tx: Tx, seconds: float) -> _Duration:
    """Split a length of time into hours, minutes and seconds; fractions of a second are dropped.

    Args:
        seconds: Length of time in seconds, not negative.

    Returns:
        hours (24 or more where it is that long), minutes and seconds.

    Raises:
        ValueError: the length is negative.
    """
    if seconds < 0:
        raise ValueError(f"`seconds` {seconds!r} is negative; expected a length of time")
    minutes, second = divmod(int(seconds), 60)
    hour, minute = divmod(minutes, 60)
    return _Duration(hour=hour, minute=minute, second=second)
