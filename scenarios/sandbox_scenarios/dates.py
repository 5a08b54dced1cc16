"""The dates of a scenario, moved together by whole weeks: in rows and calls, and as people write them in texts.

Policy: a day keeps its weekday and its time, its season within four weeks, and its distance from every other day down
to the second, so that nothing told of them becomes false but the dates themselves. Those are written anew in the form
that they had. A day without a year is the one nearest to the scenario's now; days of other years than the scenario's
own are history, and where there are some, nothing is moved.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from random import Random

from sandbox_mcp.engine.world import to_timestamp

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_SHORT = tuple(name[:3] for name in MONTHS)
_NUMBER = {**{name: at for at, name in enumerate(MONTHS, 1)}, **{name: at for at, name in enumerate(_SHORT, 1)}}
_MONTH = "|".join((*MONTHS, *_SHORT))
_TH = r"st|nd|rd|th"
DATED = "|".join(
    (
        r"(?P<iso>(?<!\d)20\d\d-\d\d-\d\d(?!\d))",
        rf"(?P<range>(?<![\w$.])\d{{1,2}}(?: to | and |-)\d{{1,2}} (?:{_MONTH})\b)",
        rf"(?P<dm>(?<![\w$.:])\d{{1,2}}(?:{_TH})?(?: of)? (?:{_MONTH})\b(?:,? (?:19|20)\d\d\b)?)",
        rf"(?P<md>\b(?:{_MONTH}) \d{{1,2}}(?:{_TH})?\b(?!:)(?:,? (?:19|20)\d\d\b)?)",
        rf"(?P<nth>(?<![\w$.])\d{{1,2}}(?:{_TH})\b)",
        rf"(?P<month>\b(?:{'|'.join(name for name in MONTHS if name != 'May')})\b|(?<=in )May\b|(?<=from )May\b)",
        r"(?P<year>(?<![\d.,])(?:19|20)\d\d(?!\w|[.,]\d|-\d))",
    )
)
"""Dates as they are written; months by their English names."""
SEASON = timedelta(days=28)
"""How far a day may move within its year."""
_YEARS = range(2012, 2048)
_HISTORY = 3


@dataclass(frozen=True, slots=True)
class Moved:
    """How the days of one instance were moved."""

    days: int = 0
    months: dict[int, int] = field(default_factory=dict[int, int])
    years: dict[int, int] = field(default_factory=dict[int, int])

    def day(self, day: date) -> date:
        """The day in the place of another."""
        return day + timedelta(days=self.days)


class Dates:
    """The days of one scenario, and how far they may be moved."""

    def __init__(self, now: datetime, zone: str, moments: Iterable[datetime], *, years_only: bool = False) -> None:
        """``moments`` are those that are written as such; with ``years_only`` a day changes nothing but its year."""
        self._now = now
        self._zone = zone
        self._moments = tuple(dict.fromkeys((now, *moments)))
        around = (now.replace(hour=12) + timedelta(days=day) for day in range(-3, 12))
        self._times = tuple((moment, to_timestamp(moment, zone)) for moment in (*self._moments, *around))
        self._years_only = years_only
        self._days = {moment.date() for moment in self._moments}
        self._month_alone = False
        self._apart: list[tuple[date, str]] = []  # a day whose month or year a call takes from the clock
        self.historic = any(abs(day.year - now.year) > 1 for day in self._days)

    def is_near(self, moment: float) -> bool:
        """Tell whether a number is a moment, in seconds since 1970, of the scenario's own years."""
        return abs(moment - to_timestamp(self._now, self._zone)) < _HISTORY * 366 * 86400

    def rewritten(self, kind: str, text: str) -> Callable[[Moved], str] | None:
        """A date written in a text as it is written in an instance; None where it stays."""
        if kind == "iso":
            return self._of_iso(text)
        if kind == "year":
            return (lambda moved: str(moved.years.get(int(text), int(text)))) if self._notes_year(int(text)) else None
        if kind == "month":
            self._month_alone = True
            return lambda moved: _named_like(text, moved.months.get(_NUMBER[text], _NUMBER[text]))
        if kind == "range":
            first, last = (int(part) for part in re.findall(r"\d+", text))
            month = _NUMBER[text.rsplit(" ", 1)[1]]
            begins, ends = self._nearest(month, first), self._nearest(month, last)
            if begins is None or ends is None:
                return None
            self._days |= {begins, ends}
            days = begins, ends
            return lambda moved: self._range(text, days, moved)
        return self._of_day(text)

    def fact(self, text: str) -> Callable[[Moved], str] | None:
        """A date that a milestone asks for: ``2026-03-29``, ``03-29`` or ``29``."""
        parts = [int(part) for part in text.split("-")]
        if len(parts) == 3:
            return self._of_iso(text)
        day = self._nearest(parts[0] if len(parts) == 2 else None, parts[-1])
        if day is None:
            return None
        self._days.add(day)
        if len(parts) == 2:
            return lambda moved: moved.day(day).strftime("%m-%d")
        return lambda moved: moved.day(day).strftime("%d")

    def part_of_month(self, text: str) -> Callable[[Moved], str] | None:
        """How a month's name begins, in small letters, as a milestone asks for it; None where no month begins so."""
        month = next((at for at, name in enumerate(MONTHS, 1) if len(text) > 2 and name.lower().startswith(text)), None)
        if month is None:
            return None
        self._month_alone = True
        return lambda moved: MONTHS[moved.months.get(month, month) - 1].lower()[: len(text)]

    def numbers(self, parts: dict[str, object]) -> dict[str, Callable[[Moved], int]]:
        """The numbers of a day under the keys ``year``, ``month`` and ``day``."""
        given = {name: value for name in ("year", "month", "day") if isinstance(value := parts.get(name), int)}
        looked_up = [name for name in ("year", "month") if name in parts and name not in given]
        if "day" not in given or ("month" not in given and "month" not in looked_up):
            return {}
        month = given.get("month", self._now.month)
        day = self._nearest(month, given["day"], given.get("year", self._now.year))
        if day is None:
            return {}
        self._notes(day)
        self._apart += [(day, name) for name in looked_up]
        found: date = day
        return {name: lambda moved, name=name: getattr(moved.day(found), name) for name in given}

    def drawn(self, random: Random) -> Moved:
        """How the days are moved in one instance; not at all where no way was found."""
        if self.historic:
            return Moved()
        own = self._now.date()
        for _ in range(200):
            year = random.choice(_YEARS)
            days = random.randrange(-SEASON.days, SEASON.days + 1) if not self._years_only else 0
            try:
                days += (own.replace(year=year) - own).days
            except ValueError:
                continue
            moved = self._moved(days - days % 7 if not self._years_only else days)
            if moved and moved.days and abs(moved.days) > 27:
                return moved
        return Moved()

    def _moved(self, days: int) -> Moved | None:
        if days % 7:
            return None
        months, years = dict[int, int](), dict[int, int]()
        for day in self._days:
            later = day + timedelta(days=days)
            if self._years_only and (later.month, later.day) != (day.month, day.day):
                return None
            if months.setdefault(day.month, later.month) != later.month and self._month_alone:
                return None
            if years.setdefault(day.year, later.year) != later.year:
                return None
        own = self._now.date()
        later = timedelta(days=days)
        for day, name in self._apart:
            before = getattr(day, name) - getattr(own, name)
            if getattr(day + later, name) - getattr(own + later, name) != before:
                return None
        if any(to_timestamp(moment + later, self._zone) - at != days * 86400 for moment, at in self._times):
            return None
        shift = years[self._now.year] - self._now.year
        if self._month_alone:  # months that are named alone stay as far apart as they were
            further = {(later - month) % 12 for month, later in months.items()}
            if len(further) > 1:
                return None
            months = {month: (month - 1 + next(iter(further))) % 12 + 1 for month in range(1, 13)}
        whole = {year: year + shift for year in range(self._now.year - _HISTORY, self._now.year + _HISTORY + 1)}
        return Moved(days, months, {**whole, **years})

    def _notes(self, day: date) -> None:
        self._days.add(day)
        self.historic |= abs(day.year - self._now.year) > 1

    def _notes_year(self, year: int) -> bool:
        self.historic |= _HISTORY < abs(year - self._now.year) < 60
        return abs(year - self._now.year) <= _HISTORY

    def _of_iso(self, text: str) -> Callable[[Moved], str] | None:
        try:
            day = date.fromisoformat(text)
        except ValueError:
            return None
        self._notes(day)
        return lambda moved: moved.day(day).isoformat()

    def _of_day(self, text: str) -> Callable[[Moved], str] | None:
        number = re.search(r"\d+", text)
        month = next((_NUMBER[word] for word in re.findall(r"[A-Za-z]+", text) if word in _NUMBER), None)
        year = re.search(r"\b(?:19|20)\d\d\b", text)
        if number is None:
            return None
        day = self._nearest(month, int(number[0]), int(year[0]) if year else None)
        if day is None:
            return None
        self._notes(day)
        return lambda moved: _written(text, day, moved.day(day), with_year=year is not None)

    @staticmethod
    def _range(text: str, days: tuple[date, date], moved: Moved) -> str:
        first, last = map(moved.day, days)
        if first.month == last.month:
            between = re.search(r"(?<=\d)\D+(?=\d)", text)
            return f"{first.day}{between[0] if between else ' to '}{last.day} {_named_like(text, last.month)}"
        return f"{first.day} {MONTHS[first.month - 1]} to {last.day} {MONTHS[last.month - 1]}"

    def _nearest(self, month: int | None, number: int, year: int | None = None) -> date | None:
        """The day of that number nearest to now; of days that the scenario has, if one fits."""
        own = self._now.date()

        def fits(day: date) -> bool:
            return day.day == number and month in (None, day.month) and year in (None, day.year)

        near = range(-400, 401) if month else range(-31, 32)
        found = list(filter(fits, self._days)) or list(filter(fits, (own + timedelta(days=at) for at in near)))
        if not found and year and month:
            try:
                return date(year, month, number)
            except ValueError:
                return None
        return min(found, key=lambda day: (abs(day - own), day)) if found else None


def _written(text: str, old: date, new: date, *, with_year: bool) -> str:
    """A date in the form that another one has in a text."""

    def numbered(found: re.Match[str]) -> str:
        return f"{new.day}{_ending(new.day) if found[1] else ''}"

    made = re.sub(rf"(?<!\d)\d{{1,2}}({_TH})?(?!\d)", numbered, text, count=1)
    made = re.sub(rf"\b(?:{_MONTH})\b", lambda found: _named_like(found[0], new.month), made)
    return made.replace(str(old.year), str(new.year)) if with_year else made


def _ending(day: int) -> str:
    return "th" if 10 < day % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _named_like(text: str, month: int) -> str:
    """A month's name, short where the text has a short one."""
    word = next((word for word in re.findall(r"[A-Za-z]+", text) if word in _NUMBER), text)
    return _SHORT[month - 1] if word in _SHORT and word != "May" else MONTHS[month - 1]
