"""The weather: today, the next days, and what a month is usually like. Source: ToolTalk, appendix A, plug-in Weather.

Policy: no log-in is needed. What is not stored is not made up. A session that brings an almanac of its own, such as one
that plays others' data, is told from that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TypedDict

from sandbox_mcp.engine.world.faults import NoDataError
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.letters import plain_letters
from sandbox_mcp.engine.worlds.office.tables import Climate, WeatherDay
from sandbox_mcp.engine.worlds.office.world import office

GROUP = "weather"
DAYS = 3
"""How many days a forecast has."""


class Day(TypedDict):
    """The weather of one day, in degrees Celsius."""

    date: str
    high: int
    low: int
    conditions: str


class Month(TypedDict):
    """What a month is usually like: degrees Celsius, millimetres of rain, days with snow."""

    min_temp: float
    max_temp: float
    record_min_temp: float
    record_max_temp: float
    avg_rainfall: float
    snow_days: int


class Today(TypedDict):
    """The weather today."""

    weather: Day


class _Forecast(TypedDict):
    """The weather of the days to come."""

    forecast: list[Day]


class _Usual(TypedDict):
    """The usual weather of a month."""

    weather: Month


@dataclass(frozen=True, slots=True)
class Almanac:
    """Weather that a session brings with it: by place in small letters, then by date or by month in small letters."""

    days: dict[str, dict[str, Day]]
    months: dict[str, dict[str, Month]]


@office.query(name="CurrentWeather", group=GROUP)
def current_weather(tx: Tx, location: str) -> Today:
    """Tell today's weather in a city: the highest and lowest temperature in degrees Celsius, and the conditions.

    Args:
        location: The name of the city.
    """
    return {"weather": _day(tx, location, 0)}


@office.query(name="ForecastWeather", group=GROUP)
def forecast_weather(tx: Tx, location: str) -> _Forecast:
    """Tell the weather of the next three days in a city, tomorrow first, with temperatures in degrees Celsius.

    Args:
        location: The name of the city.
    """
    return {"forecast": [_day(tx, location, ahead) for ahead in range(1, DAYS + 1)]}


@office.query(name="HistoricWeather", group=GROUP)
def historic_weather(tx: Tx, location: str, month: str) -> _Usual:
    """Tell what the weather of a city is usually like in a month.

    Temperatures are in degrees Celsius, rain in millimetres.

    Args:
        location: The name of the city.
        month: The full English name of the month.
    """
    wanted = _plain(month)
    known: Mapping[str, Month] = {}
    for place in _spellings(location):
        if isinstance(tx.knowledge, Almanac):
            known = tx.knowledge.months.get(place, {})
        else:
            known = {row.month: _month(row) for row in tx.all(Climate, place=place)}
        if known:
            break
    if not known:
        raise NoDataError(f"no usual weather is known for {location!r}; {_known(tx)}")
    if wanted not in known:
        raise NoDataError(f"no usual weather of {month!r} is known for {location!r}; expected a month such as 'March'")
    return {"weather": known[wanted]}


def _month(row: Climate) -> Month:
    return Month(
        min_temp=row.min_temp,
        max_temp=row.max_temp,
        record_min_temp=row.record_min_temp,
        record_max_temp=row.record_max_temp,
        avg_rainfall=row.avg_rainfall,
        snow_days=row.snow_days,
    )


def _plain(name: str) -> str:
    return name.strip().casefold()


def _spellings(location: str) -> tuple[str, ...]:
    """How a place may be stored: as it is written, without its country or region, and without accents."""
    whole = _plain(location)
    city = whole.partition(",")[0].strip()
    return tuple(dict.fromkeys((whole, city, plain_letters(city))))


def _known(tx: Tx) -> str:
    """The places whose weather is known."""
    if isinstance(tx.knowledge, Almanac):
        places = {*tx.knowledge.days, *tx.knowledge.months}
    else:
        places = {row.place for row in tx.all(WeatherDay)}
    return f"known: {', '.join(name.title() for name in sorted(places))}"


def _day(tx: Tx, location: str, ahead: int) -> Day:
    """The weather so many days from today."""
    date = (tx.local(tx.now).date() + timedelta(days=ahead)).isoformat()
    known: Mapping[str, Day] = {}
    for place in _spellings(location):
        if isinstance(tx.knowledge, Almanac):
            known = tx.knowledge.days.get(place, {})
        else:
            known = {row.date: _weather(row) for row in tx.all(WeatherDay, place=place)}
        if known:
            break
    if not known:
        raise NoDataError(f"no weather is known for {location!r}; {_known(tx)}")
    if date not in known:
        raise NoDataError(f"no weather is known for {location!r} on {date}")
    return known[date]


def _weather(row: WeatherDay) -> Day:
    return Day(date=row.date, high=row.high, low=row.low, conditions=row.conditions)
