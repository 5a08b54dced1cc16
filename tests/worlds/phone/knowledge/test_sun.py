"""Sunrise, sunset and the moon, against published almanac times."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_mcp.engine.world.clock import to_local, to_timestamp
from sandbox_mcp.engine.worlds.phone.knowledge.sun import PHASES, moon_phase, sun_on
from tests.each import each

MINUTES = 60


def local(zone: str, day: date, clock: str) -> float:
    return to_timestamp(datetime.fromisoformat(f"{day}T{clock}"), zone)


@each(
    ("latitude", "longitude", "zone", "day", "sunrise", "sunset"),
    [
        (40.71, -74.01, "America/New_York", date(2024, 6, 20), "05:25", "20:31"),
        (40.71, -74.01, "America/New_York", date(2024, 12, 21), "07:17", "16:32"),
        (51.51, -0.13, "Europe/London", date(2024, 6, 20), "04:43", "21:21"),
        (51.51, -0.13, "Europe/London", date(2024, 12, 21), "08:04", "15:53"),
        (35.69, 139.69, "Asia/Tokyo", date(2024, 3, 20), "05:45", "17:53"),
        (-33.87, 151.21, "Australia/Sydney", date(2024, 12, 21), "05:41", "20:05"),
        (1.35, 103.82, "Asia/Singapore", date(2024, 3, 20), "07:09", "19:16"),
        (64.15, -21.94, "Atlantic/Reykjavik", date(2024, 12, 21), "11:22", "15:30"),
    ],
)
def test_almanac_times(latitude: float, longitude: float, zone: str, day: date, sunrise: str, sunset: str) -> None:
    sun = sun_on(latitude, longitude, day)
    assert sun.sunrise is not None
    assert sun.sunset is not None
    assert abs(sun.sunrise - local(zone, day, sunrise)) <= 3 * MINUTES
    assert abs(sun.sunset - local(zone, day, sunset)) <= 3 * MINUTES


def test_at_the_equator_noon_stands_high_at_the_equinox() -> None:
    assert sun_on(0, 0, date(2024, 3, 20)).noon_elevation == pytest.approx(90, abs=1)
    assert sun_on(51.5, 0, date(2024, 12, 21)).noon_elevation == pytest.approx(15, abs=1)


@each(("day", "up"), [(date(2024, 6, 21), True), (date(2024, 12, 21), False)])
def test_beyond_the_polar_circle_the_sun_neither_rises_nor_sets(day: date, up: bool) -> None:
    sun = sun_on(75, 20, day)
    assert (sun.sunrise, sun.sunset) == (None, None)
    assert (sun.noon_elevation > 0) is up


@given(st.floats(-89, 89), st.floats(-180, 180), st.dates(date(1990, 1, 1), date(2060, 1, 1)))
@settings(deadline=None)
def test_noon_lies_midway_between_rise_and_set(latitude: float, longitude: float, day: date) -> None:
    sun = sun_on(latitude, longitude, day)
    if sun.sunrise and sun.sunset:
        assert sun.sunrise < sun.noon < sun.sunset
        assert sun.noon - sun.sunrise == pytest.approx(sun.sunset - sun.noon)


@given(st.floats(1, 60), st.dates(date(2000, 1, 1), date(2040, 1, 1)))
@settings(deadline=None)
def test_day_and_night_swap_between_the_hemispheres(latitude: float, day: date) -> None:
    north, south = sun_on(latitude, 0, day), sun_on(-latitude, 0, day)
    if north.sunrise and north.sunset and south.sunrise and south.sunset:
        both = (north.sunset - north.sunrise) + (south.sunset - south.sunrise)
        assert both == pytest.approx(86400, abs=45 * MINUTES)


@given(st.floats(-180, 180), st.dates(date(2000, 1, 1), date(2040, 1, 1)))
@settings(deadline=None)
def test_noon_is_around_midday_of_the_solar_clock(longitude: float, day: date) -> None:
    noon = sun_on(10, longitude, day).noon
    solar = to_local(noon, "UTC") + timedelta(minutes=4 * longitude)
    midday = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    assert abs((solar - midday).total_seconds()) <= 20 * MINUTES


@each(
    ("moment", "phase"),
    [
        (datetime(2024, 1, 11, 11, 57, tzinfo=UTC), "New Moon"),
        (datetime(2024, 4, 8, 18, 21, tzinfo=UTC), "New Moon"),
        (datetime(2024, 4, 23, 23, 49, tzinfo=UTC), "Full Moon"),
        (datetime(2024, 10, 17, 11, 26, tzinfo=UTC), "Full Moon"),
        (datetime(2024, 5, 15, 11, 48, tzinfo=UTC), "First Quarter"),
        (datetime(2024, 5, 30, 17, 13, tzinfo=UTC), "Last Quarter"),
    ],
)
def test_published_phases_of_the_moon(moment: datetime, phase: str) -> None:
    assert moon_phase(moment.timestamp())[0] == phase


@given(st.floats(0, 4e9))
@settings(deadline=None)
def test_how_much_of_the_moon_is_lit_fits_its_phase(timestamp: float) -> None:
    phase, lit = moon_phase(timestamp)
    assert phase in PHASES
    assert 0 <= lit <= 100
    assert phase != "Full Moon" or lit >= 85
    assert phase != "New Moon" or lit <= 15
