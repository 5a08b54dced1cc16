"""Days as a person has them in mind: today's date, unless the brief says otherwise, and the day that was meant.

>>> meant("Thursday the 18th", date(2027, 3, 15))
datetime.date(2027, 3, 18)
"""

from calendar import monthrange
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from sandbox_scenarios.model import Clock, UserSpec

from sandbox_mcp.engine.talk.numbers import MONTHS
from sandbox_mcp.engine.talk.patterns import Lazy, any_case

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


def doubted(text: str, wish: str, coming: str, today: date) -> str | None:
    """What a person objects who hears a day that cannot be right; None where none is certainly wrong.

    Wrong is a day of the month that is not the weekday with which it is told, where the ``wish`` names that weekday,
    and one that the next wish contradicts: "it's on the 7th".

    >>> doubted("Moved to Thursday the 17th.", "Move it to Thursday.", "", date(2027, 3, 15))
    "Isn't Thursday the 18th?"
    """
    named = {found[1].lower() for found in _NAMED.finditer(wish) if found[1]}
    for name in named if len(named) == 1 else ():
        told = [(int(found[1] or found[4]), found[2] or found[3]) for found in _dated(name).finditer(text)]
        if told and not any(_falls_on(name, day, month, today) for day, month in told) and (day := meant(name, today)):
            return f"Isn't {name.capitalize()} the {ordinal(day.day)}?"
    known = _IT_IS.search(coming)
    days = {int(found) for pair in _DAY.findall(text) for found in pair if found} if known else set[int]()
    if known and int(known[1]) not in days and any(abs(day - int(known[1])) in _NEAR for day in days):
        return f"Shouldn't that be the {ordinal(int(known[1]))}?"
    return None


_MONTHS = [name[:3] for name in MONTHS]
_MONTH = rf"(?:{'|'.join(_MONTHS)})[a-z]*"
_IT_IS = any_case(r"\b(?:it|that)(?:'s| is)(?: now)?(?: on)? the (\d{1,2})(?:st|nd|rd|th)\b")
_DAY = any_case(rf"\b(\d{{1,2}})(?:(?:st|nd|rd|th)\b|(?= (?:of )?{_MONTH}\b))|\b{_MONTH} (\d{{1,2}})\b(?!:)")
_NEAR = (1, 2)
"""So many days off is a mistake about a day; farther off it is another one."""


@lru_cache(maxsize=7)
def _dated(name: str) -> Lazy:
    """A weekday with the day of the month behind it, and the month where one is told."""
    behind = rf"(?:(?:st|nd|rd|th)\b)?(?: (?:of )?({_MONTH})\b|(?<=[a-z])|(?=[.,;!?)]|$))"
    return any_case(rf"\b{name},? (?:the )?(?:(\d{{1,2}}){behind}|({_MONTH}) (\d{{1,2}})\b)")


def _falls_on(name: str, day: int, month: str | None, today: date) -> bool:
    """True if a day of the month may be this weekday: in the month that is told, or in this one or those beside it."""
    near = range(today.month - 2, today.month + 1)
    months = [(today.year + at // 12, at % 12 + 1) for at in near]
    if month:
        number = _MONTHS.index(month[:3].lower()) + 1
        ahead = (number - today.month + 5) % 12 - 5  # the nearest such month
        months = [((today.year * 12 + today.month - 1 + ahead) // 12, number)]
    return any(day <= monthrange(*at)[1] and _DAYS[date(*at, day).weekday()] == name for at in months)


def ordinal(number: int) -> str:
    """A day of the month as people say it: 7th, 21st."""
    ending = "th" if number in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def spoken(day: date) -> str:
    """A day as people say it: ``Thursday, 18 March 2027``."""
    return f"{day:%A}, {day.day} {day:%B %Y}"
