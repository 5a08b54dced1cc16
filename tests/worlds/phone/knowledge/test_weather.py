"""Weather: forecasts that come true, hours within their day, a climate that shows in the long run."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from statistics import fmean, pstdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_mcp.engine.world.clock import to_local
from sandbox_mcp.engine.worlds.phone.knowledge import InvalidQuestionError
from sandbox_mcp.engine.worlds.phone.knowledge.climate import grid_cell, normals_at
from sandbox_mcp.engine.worlds.phone.knowledge.weather import HORIZON_DAYS, DayWeather, OfflineWeather, cell_day
from tests.each import each

WEATHER = OfflineWeather()
CUPERTINO = (37.334606, -122.009102)
NOON = datetime(2024, 5, 18, 19, tzinfo=UTC).timestamp()
DAY = 86400
LATITUDES, LONGITUDES = st.floats(-90, 90), st.floats(-180, 180)
MOMENTS = st.floats(946_684_800, 2_524_608_000)


def forecast(place: tuple[float, float], now: float, days: int = 0) -> DayWeather:
    found = WEATHER.forecast(*place, now, days)
    assert found is not None
    return found


def test_today_in_full() -> None:
    today = forecast(CUPERTINO, NOON)
    assert (today.place, today.region, today.country) == ("Cupertino", "California", "United States")
    assert (today.date, today.time_zone) == ("2024-05-18", "America/Los_Angeles")
    assert (today.min_temperature, today.max_temperature, today.average_temperature) == (13.7, 23.3, 18.5)
    assert today.condition == "Overcast"
    assert (today.sunrise, today.sunset) == ("05:56", "20:11")
    assert today.current is not None
    assert today.current.local_time == "2024-05-18T12:00:00"
    assert today.current.temperature == 20.4


def test_the_flat_form_has_every_field_once() -> None:
    flat = forecast(CUPERTINO, NOON).as_dict()
    assert flat["current_temperature"] == 20.4
    assert flat["min_temperature"] == 13.7
    assert "current" not in flat
    assert "current_temperature" not in forecast(CUPERTINO, NOON, 1).as_dict()


def test_only_today_has_current_weather() -> None:
    assert forecast(CUPERTINO, NOON).current is not None
    assert all(forecast(CUPERTINO, NOON, days).current is None for days in range(1, HORIZON_DAYS + 1))


def test_days_beyond_the_horizon_are_unknown() -> None:
    assert WEATHER.forecast(*CUPERTINO, NOON, HORIZON_DAYS) is not None
    assert WEATHER.forecast(*CUPERTINO, NOON, HORIZON_DAYS + 1) is None
    assert WEATHER.forecast(*CUPERTINO, NOON, 10**6) is None


def test_the_past_is_refused() -> None:
    with pytest.raises(InvalidQuestionError, match="days -1 is in the past"):
        WEATHER.forecast(*CUPERTINO, NOON, -1)


@each(("latitude", "longitude"), [(91, 0), (0, -181), (float("nan"), 0)])
def test_coordinates_off_the_globe_are_refused(latitude: float, longitude: float) -> None:
    with pytest.raises(InvalidQuestionError, match="is outside"):
        WEATHER.forecast(latitude, longitude, NOON)


@each("days", range(HORIZON_DAYS + 1))
def test_a_forecast_comes_true(days: int) -> None:
    predicted = forecast(CUPERTINO, NOON, days).as_dict()
    actual = forecast(CUPERTINO, NOON + days * DAY).as_dict()
    assert {name: actual[name] for name in predicted} == predicted


@given(LATITUDES, LONGITUDES, MOMENTS, st.integers(0, HORIZON_DAYS))
@settings(deadline=None)
def test_a_forecast_comes_true_everywhere(latitude: float, longitude: float, now: float, days: int) -> None:
    earlier = forecast((latitude, longitude), now, days)
    for later in range(days + 1):
        again = WEATHER.forecast(latitude, longitude, now + later * DAY, days - later)
        if again is not None and again.date == earlier.date:
            assert (again.min_temperature, again.max_temperature) == (earlier.min_temperature, earlier.max_temperature)
            assert again.condition == earlier.condition


@given(LATITUDES, LONGITUDES, MOMENTS)
@settings(deadline=None)
def test_now_lies_within_the_day(latitude: float, longitude: float, now: float) -> None:
    today = forecast((latitude, longitude), now)
    assert today.current is not None
    assert today.min_temperature <= today.current.temperature <= today.max_temperature
    assert today.min_temperature <= today.average_temperature <= today.max_temperature
    assert 0 <= today.current.wind_speed <= today.max_wind_speed
    assert 0 <= today.current.humidity <= 100


@given(LATITUDES, LONGITUDES, MOMENTS)
@settings(deadline=None)
def test_the_date_is_the_places_own(latitude: float, longitude: float, now: float) -> None:
    today = forecast((latitude, longitude), now)
    assert today.current is not None
    assert today.date == to_local(now, today.time_zone).date().isoformat()
    assert today.current.local_time.startswith(today.date)


@given(LATITUDES, LONGITUDES, MOMENTS, st.integers(0, HORIZON_DAYS))
@settings(deadline=None)
def test_the_fields_agree_with_each_other(latitude: float, longitude: float, now: float, days: int) -> None:
    day = forecast((latitude, longitude), now, days)
    wet = any(word in day.condition for word in ("rain", "snow", "sleet", "Thunder"))
    assert wet is (day.precipitation > 0)
    assert day.chance_of_rain == 0 or day.chance_of_snow == 0
    assert not wet or max(day.chance_of_rain, day.chance_of_snow) >= 60
    assert wet or max(day.chance_of_rain, day.chance_of_snow) <= 35
    assert 0 <= day.average_humidity <= 100
    assert 0 <= day.uv_index <= 13
    assert (day.sunrise is None) is (day.sunset is None)


def test_a_dry_day_has_no_wet_hour() -> None:
    start = datetime(2024, 1, 1, tzinfo=UTC).timestamp()
    for hour in range(24 * 60):
        today = forecast((51.5, -0.1), start + hour * 3600)
        assert today.current is not None
        if today.precipitation == 0:
            assert not any(word in today.current.condition for word in ("rain", "snow", "sleet", "Thunder"))


def test_at_night_it_is_not_sunny() -> None:
    start = datetime(2024, 6, 1, tzinfo=UTC).timestamp()
    seen = set[tuple[str, bool]]()
    for hour in range(24 * 20):
        current = forecast((36.17, -115.14), start + hour * 3600).current
        assert current is not None
        seen.add((current.condition, current.is_day))
    assert {("Sunny", True), ("Clear", False)} <= seen
    assert not {("Sunny", False), ("Clear", True)} & seen


def test_temperature_falls_until_sunrise_and_peaks_in_the_afternoon() -> None:
    midnight = datetime(2024, 5, 18, 7, tzinfo=UTC).timestamp()
    hours = [forecast(CUPERTINO, midnight + hour * 3600) for hour in range(24)]
    curve = [hour.current.temperature for hour in hours if hour.current]
    assert curve.index(min(curve)) in (5, 6)
    assert curve.index(max(curve)) in (15, 16)
    assert curve[6:16] == sorted(curve[6:16])


def test_the_temperature_has_no_jumps_within_a_day() -> None:
    midnight = datetime(2024, 5, 18, 7, tzinfo=UTC).timestamp()
    days = [forecast(CUPERTINO, midnight + minute * 600) for minute in range(144)]
    curve = [day.current.temperature for day in days if day.current]
    assert max(abs(b - a) for a, b in pairwise(curve)) <= 0.4


def test_neighbours_share_the_weather_and_antipodes_do_not() -> None:
    here = [forecast(CUPERTINO, NOON, day).average_temperature for day in range(15)]
    near = [forecast((37.38, -122.08), NOON, day).average_temperature for day in range(15)]
    assert max(abs(a - b) for a, b in zip(here, near, strict=True)) < 1.5
    assert here != near


def test_one_grid_cell_has_one_weather() -> None:
    one, other = forecast((37.31, -122.02), NOON), forecast((37.34, -121.98), NOON)
    assert (one.min_temperature, one.max_temperature, one.condition) == (
        other.min_temperature,
        other.max_temperature,
        other.condition,
    )


@pytest.mark.parametrize(
    ("place", "month"),
    [
        ((37.3, -122.0), 1),
        ((37.3, -122.0), 7),
        ((55.8, 37.6), 1),
        ((55.8, 37.6), 7),
        ((1.4, 103.8), 4),
        ((51.5, -0.1), 10),
        ((-33.9, 151.2), 1),
    ],
)
def test_in_the_long_run_the_weather_is_the_climate(place: tuple[float, float], month: int) -> None:
    cell = grid_cell(*place)
    days = [cell_day(*cell, date(year, month, day)) for year in range(2000, 2030) for day in range(1, 31)]
    normals, middle = normals_at(*cell), (date(2001, month, 15) - date(2000, 12, 31)).days
    means = [(day.low + day.high) / 2 for day in days]
    assert fmean(means) == pytest.approx(normals.mean(middle), abs=0.8)
    assert 0.5 < pstdev(means) < 5.5
    assert fmean(day.wet > 0 for day in days) == pytest.approx(normals.wet_share(middle), abs=0.06)


def test_days_follow_each_other_in_spells() -> None:
    """Tomorrow is more like today than next month is."""
    cell, start = grid_cell(48.86, 2.35), date(2020, 1, 1)
    means = [day.low + day.high for n in range(600) for day in [cell_day(*cell, start + timedelta(days=n))]]
    after = fmean(abs(a - b) for a, b in pairwise(means))
    later = fmean(abs(a - b) for a, b in zip(means, means[30:], strict=False))
    assert after < 0.75 * later


@each(
    ("place", "month", "low", "high"),
    [
        ((62.03, 129.73), 1, -58, -12),  # Yakutsk in January
        ((25.2, 55.27), 7, 25, 50),  # Dubai in July
        ((1.35, 103.82), 1, 20, 36),  # Singapore
        ((27.988, 86.925), 1, -55, -15),  # Everest in January
        ((-33.87, 151.21), 7, 2, 28),  # Sydney in July
    ],
)
def test_extremes_stay_plausible(place: tuple[float, float], month: int, low: float, high: float) -> None:
    days = [cell_day(*grid_cell(*place), date(year, month, day)) for year in range(2015, 2025) for day in range(1, 29)]
    assert low <= min(day.low for day in days)
    assert max(day.high for day in days) <= high


def test_it_snows_where_it_freezes_and_nowhere_else() -> None:
    winter = [forecast((55.75, 37.62), datetime(2024, 1, 3, tzinfo=UTC).timestamp(), n) for n in range(15)]
    tropics = [forecast((1.35, 103.82), datetime(2024, 1, 3, tzinfo=UTC).timestamp(), n) for n in range(15)]
    assert any("snow" in day.condition for day in winter)
    assert not any("snow" in day.condition or "sleet" in day.condition for day in tropics)


def test_polar_summer_has_no_sunset() -> None:
    day = forecast((78.22, 15.63), datetime(2024, 6, 21, 12, tzinfo=UTC).timestamp())
    assert (day.sunrise, day.sunset) == (None, None)
    assert day.current is not None
    assert day.current.is_day


@each(
    ("place", "zone"),
    [
        ((0, -30), "Etc/GMT+2"),
        ((-40, 100), "Etc/GMT-7"),
        ((-60, 0), "Etc/GMT"),
        ((-17.7, 178.0), "Pacific/Fiji"),
        ((27.7, 85.3), "Asia/Kathmandu"),
    ],
)
def test_at_sea_the_nautical_time_zone_holds(place: tuple[float, float], zone: str) -> None:
    assert forecast(place, NOON).time_zone == zone


def test_both_sides_of_the_date_line_have_their_own_day() -> None:
    now = datetime(2024, 5, 18, 11, 30, tzinfo=UTC).timestamp()
    assert forecast((-18.14, 178.44), now).date == "2024-05-18"
    assert forecast((-13.83, -171.77), now + 13 * 3600).date == "2024-05-19"
    assert forecast((-14.28, -170.70), now).date == "2024-05-18"
