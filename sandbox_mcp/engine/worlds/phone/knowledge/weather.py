"""The weather of every place and day.

Policy: all of it is invented, and follows from the grid cell and the date alone: the usual weather of that place and
season (``climate``) plus noise that is continuous over the globe and over the days. A forecast is therefore what the
day will bring when it comes, and the "current" weather of an hour lies within its day's minimum and maximum. Days are
those of the place's own time zone.
"""

from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache
from math import cos, exp, log, pi, radians, sin
from statistics import NormalDist
from typing import Any, Protocol

from sandbox_mcp.engine.world.clock import to_local
from sandbox_mcp.engine.worlds.phone.knowledge.climate import grid_cell, normals_at
from sandbox_mcp.engine.worlds.phone.knowledge.distance import check_point
from sandbox_mcp.engine.worlds.phone.knowledge.errors import InvalidQuestionError
from sandbox_mcp.engine.worlds.phone.knowledge.gazetteer import City, metropolis_of, nearest_city
from sandbox_mcp.engine.worlds.phone.knowledge.seeded import field, fraction
from sandbox_mcp.engine.worlds.phone.knowledge.sun import SunDay, moon_phase, sun_on
from sandbox_mcp.engine.worlds.phone.knowledge.tables import by_name

HORIZON_DAYS = 14
"""How far ahead a forecast reaches; today is day 0."""

PLACE_WITHIN_KM = 600
PEAK_AFTER_NOON = 2.5 * 3600
"""When the day is warmest, in seconds after solar noon."""

_SEED = "weather 1"
_WINDS = ["N", "NNE", "NE", "ENE", "E", "ESE", "SE", "SSE", "S", "SSW", "SW", "WSW", "W", "WNW", "NW", "NNW"]
_STANDARD = NormalDist()


@dataclass(frozen=True, slots=True)
class Current:
    """The weather of one moment, in °C, percent and km/h; ``local_time`` as ISO 8601 without a zone."""

    local_time: str
    temperature: float
    apparent_temperature: float
    humidity: int
    wind_speed: float
    condition: str
    is_day: bool


@dataclass(frozen=True, slots=True)
class DayWeather:
    """The weather of one day at one place.

    Temperatures in °C, wind in km/h, precipitation in mm, humidity, chances and moon in percent; ``sunrise`` and
    ``sunset`` as local "HH:MM", None where the sun does not rise or set; ``current`` only for today.
    """

    place: str
    region: str
    country: str
    time_zone: str
    latitude: float
    longitude: float
    date: str
    condition: str
    min_temperature: float
    max_temperature: float
    average_temperature: float
    max_wind_speed: float
    wind_direction: str
    average_humidity: int
    precipitation: float
    chance_of_rain: int
    chance_of_snow: int
    uv_index: int
    sunrise: str | None
    sunset: str | None
    moon_phase: str
    moon_illumination: int
    current: Current | None

    def as_dict(self) -> dict[str, Any]:
        """One flat dictionary; the fields of ``current`` come first, as ``current_temperature`` and so on."""
        day = by_name(self)
        current = day.pop("current")
        of_now = by_name(current) if current else {}
        return {f"current_{name}": value for name, value in of_now.items()} | day


@dataclass(frozen=True, slots=True)
class CellDay:
    """A day of a grid cell before it is put in words; ``wet`` is how hard it rains in [0, 1], 0 on a dry day."""

    low: float
    high: float
    wet: float
    clear: float
    humidity: float
    wind: float
    heading: float


class WeatherSource(Protocol):
    """Anything that knows the weather."""

    def forecast(self, latitude: float, longitude: float, now: float, days: int = 0) -> DayWeather | None:
        """The weather ``days`` days after the local day of ``now``; None beyond what can be forecast."""
        ...


class OfflineWeather:
    """The invented, climate-consistent series."""

    def forecast(self, latitude: float, longitude: float, now: float, days: int = 0) -> DayWeather | None:
        """The weather ``days`` days after the place's local day of the timestamp ``now``; None beyond 14 days.

        Raises:
            InvalidQuestionError: the coordinates name no point, or ``days`` is negative.
        """
        check_point(latitude, longitude)
        if days < 0:
            raise InvalidQuestionError(f"days {days!r} is in the past; expected 0 (today) to {HORIZON_DAYS}")
        if days > HORIZON_DAYS:
            return None
        return _report(latitude, longitude, now, days)


def _report(latitude: float, longitude: float, now: float, days: int) -> DayWeather:
    cell = grid_cell(latitude, longitude)
    city, zone = _surroundings(*cell)
    day = to_local(now, zone).date() + timedelta(days=days)
    weather, sun = cell_day(*cell, day), _sun(*cell, zone, day)
    mean = (weather.low + weather.high) / 2
    frozen = mean <= 1
    chance = round(60 + 38 * weather.wet) if weather.wet else round(max(0.0, 35 * (1 - 2 * weather.clear)))
    height = max(0.0, sin(radians(max(0.0, sun.noon_elevation))))
    phase, lit = moon_phase(sun.noon)
    return DayWeather(
        place=city.name if city else "",
        region=city.region if city else "",
        country=city.country if city else "",
        time_zone=zone,
        latitude=latitude,
        longitude=longitude,
        date=day.isoformat(),
        condition=_condition(weather, mean, is_day=True),
        min_temperature=weather.low,
        max_temperature=weather.high,
        average_temperature=round(mean, 1),
        max_wind_speed=weather.wind,
        wind_direction=_WINDS[round(weather.heading * 16) % 16],
        average_humidity=round(weather.humidity),
        precipitation=round(1 - 9 * log(1 - 0.97 * weather.wet), 1) if weather.wet else 0.0,
        chance_of_rain=0 if frozen else chance,
        chance_of_snow=chance if frozen else 0,
        uv_index=round(12.5 * height**2.4 * (0.4 if weather.wet else 0.7 + 0.3 * weather.clear)),
        sunrise=_clock_time(sun.sunrise, zone),
        sunset=_clock_time(sun.sunset, zone),
        moon_phase=phase,
        moon_illumination=lit,
        current=None if days else _current(cell, zone, day, now),
    )


@lru_cache(maxsize=8192)
def cell_day(latitude: float, longitude: float, day: date) -> CellDay:
    """The day of the grid cell with that centre."""
    normals, ordinal, of_year = normals_at(latitude, longitude), day.toordinal(), day.timetuple().tm_yday
    wet_share = normals.wet_share(of_year)
    rank = _STANDARD.cdf(
        0.6 * field(latitude, longitude, ordinal / 3, 2.5, _SEED, "wet spell")
        + 0.8 * field(latitude, longitude, ordinal, 2.5, _SEED, "wet day")
    )
    wet = (wet_share - rank) / wet_share if rank < wet_share else 0.0
    clear = max(0.0, (rank - wet_share) / (1 - wet_share))
    # The day's mean is the normal plus warm and cold spells, wilder where and when winters are cold.
    coldness = (max(normals.means) - normals.mean(of_year)) / max(1.0, normals.seasonality())
    deviation = min(5.0, (0.9 + 0.09 * normals.seasonality()) * (0.7 + 0.5 * coldness))
    spell = field(latitude, longitude, ordinal / 4, 5, _SEED, "warm spell")
    single = field(latitude, longitude, ordinal, 5, _SEED, "warm day")
    mean = normals.mean(of_year) + deviation * (0.85 * spell + 0.53 * single)
    spread = max(1.0, normals.daily_range(of_year) * (0.6 if wet else 0.75 + 0.45 * clear)) / 2
    gust = 0.45 * field(latitude, longitude, ordinal / 2, 2.5, _SEED, "wind")
    return CellDay(
        low=round(mean - spread, 1),
        high=round(mean + spread, 1),
        wet=wet,
        clear=clear,
        humidity=min(
            98.0, max(12.0, 38 + 45 * wet_share + (22 if wet else 14 * (1 - clear)) - (8 if wet_share < 0.05 else 0))
        ),
        wind=round(exp(log(15) + gust) + 8 * wet, 1),
        heading=_STANDARD.cdf(field(latitude, longitude, ordinal / 3, 5, _SEED, "heading")),
    )


def _current(cell: tuple[float, float], zone: str, day: date, now: float) -> Current:
    """The weather of a moment of ``day``; it gets colder until sunrise, then warmer until the afternoon.

    How warm it feels is Steadman's formula of 1994 without radiation.
    """
    weather, sun = cell_day(*cell, day), _sun(*cell, zone, day)
    coldest, warmest = sun.sunrise or sun.noon - 6 * 3600, sun.noon + PEAK_AFTER_NOON
    if now < coldest:
        before = cell_day(*cell, day - timedelta(days=1))
        value = _between(before.high, weather.low, (now - warmest + 86400) / (coldest - warmest + 86400))
    elif now <= warmest:
        value = _between(weather.low, weather.high, (now - coldest) / (warmest - coldest))
    else:
        after = cell_day(*cell, day + timedelta(days=1))
        value = _between(weather.high, after.low, (now - warmest) / (coldest + 86400 - warmest))
    temperature = round(min(weather.high, max(weather.low, value)), 1)
    is_day = sun.sunrise <= now < sun.sunset if sun.sunrise and sun.sunset else sun.noon_elevation > 0
    warmth = (temperature - weather.low) / max(0.1, weather.high - weather.low)
    humidity = round(min(100.0, max(8.0, weather.humidity + 24 * (0.5 - warmth))))
    vapour = humidity / 100 * 6.105 * exp(17.27 * temperature / (237.7 + temperature))
    wind = round(weather.wind * (0.55 + 0.35 * warmth), 1)
    raining = fraction(_SEED, "hour", *map(str, cell), int(now // 3600)) < 0.35 + 0.5 * weather.wet
    moment = weather if weather.wet and raining else replace(weather, wet=0.0)
    return Current(
        local_time=to_local(now, zone).replace(tzinfo=None, microsecond=0).isoformat(),
        temperature=temperature,
        apparent_temperature=round(temperature + 0.33 * vapour - 0.7 * wind / 3.6 - 4, 1),
        humidity=humidity,
        wind_speed=wind,
        condition=_condition(moment, temperature, is_day=is_day),
        is_day=is_day,
    )


def _between(start: float, end: float, share: float) -> float:
    return start + (end - start) * (1 - cos(pi * min(1.0, max(0.0, share)))) / 2


def _condition(weather: CellDay, temperature: float, *, is_day: bool) -> str:
    if weather.wet:
        if temperature > 22 and weather.wet > 0.75:
            return "Thunderstorm"
        kind = "snow" if temperature <= 0.5 else "sleet" if temperature <= 2 else "rain"
        return f"{'Light' if weather.wet < 0.45 else 'Moderate' if weather.wet < 0.8 else 'Heavy'} {kind}"
    if weather.clear >= 0.6:
        return "Sunny" if is_day else "Clear"
    return "Partly cloudy" if weather.clear >= 0.35 else "Cloudy" if weather.clear >= 0.15 else "Overcast"


def _clock_time(timestamp: float | None, zone: str) -> str | None:
    return None if timestamp is None else to_local(timestamp, zone).strftime("%H:%M")


@lru_cache(maxsize=4096)
def _sun(latitude: float, longitude: float, zone: str, day: date) -> SunDay:
    """The sun of a local day; zones across the date line from their longitude are one solar day off."""
    candidates = [sun_on(latitude, longitude, day + timedelta(days=shift)) for shift in (0, -1, 1)]
    return next((sun for sun in candidates if to_local(sun.noon, zone).date() == day), candidates[0])


@lru_cache(maxsize=4096)
def _surroundings(latitude: float, longitude: float) -> tuple[City | None, str]:
    """The nearest place (a district's city) and its time zone; far from all places, the nautical time zone."""
    city = nearest_city(latitude, longitude, PLACE_WITHIN_KM)
    if city:
        return metropolis_of(city) or city, city.time_zone
    hours = round(longitude / 15)
    return None, f"Etc/GMT{-hours:+d}" if hours else "Etc/GMT"
