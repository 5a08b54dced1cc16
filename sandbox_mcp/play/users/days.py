"""Days as a person has them in mind: today's date, unless the brief says otherwise, and the day that was meant.

>>> meant("Thursday the 18th", date(2027, 3, 15))
datetime.date(2027, 3, 18)
"""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from sandbox_scenarios.model import Clock, UserSpec

from sandbox_mcp.engine.talk.patterns import any_case

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NAMED = any_case(rf"\b(?:({'|'.join(_DAYS)})\b(?:,? the)?)? ?(?:(\d{{1,2}})(?:st|nd|rd|th)\b)?|\b(today|tomorrow)\b")
_AHEAD = 800
"""Days within which a person means the next such day."""


def known_today(spec: UserSpec, clock: Clock) -> date | None:
    """The date at the beginning of a scenario; None where its user does not know it."""
    if not spec.knows_date:
        return None
    zone = ZoneInfo(clock.zone) if clock.zone else UTC
    return datetime.fromtimestamp(clock.now, zone).date()


def meant(words: str, today: date) -> date | None:
    """The next day that words mean by a weekday, a day of the month, or both; None where they name none."""
    for found in _NAMED.finditer(words):
        weekday, number, near = found.groups()
        if near:
            return today + timedelta(days=near.lower() == "tomorrow")
        if weekday or number:
            days = (today + timedelta(days=ahead) for ahead in range(_AHEAD))
            fitting = (
                day for day in days
                if (not number or day.day == int(number)) and (not weekday or _DAYS[day.weekday()] == weekday.lower())
            )  # fmt: skip
            return next(fitting, None)
    return None


def spoken(day: date) -> str:
    """A day as people say it: ``Thursday, 18 March 2027``."""
    return f"{day:%A}, {day.day} {day:%B %Y}"
