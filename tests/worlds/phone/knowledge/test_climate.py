"""Normals: what the stations say, how they are carried to places between and above them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_mcp.engine.worlds.phone.knowledge.climate import Normals, elevation_at, grid_cell, normals_at
from tests.each import each

LATITUDES, LONGITUDES = st.floats(-90, 90), st.floats(-180, 180)
JANUARY, APRIL, JULY, OCTOBER = 15, 105, 196, 288


def climate(latitude: float, longitude: float) -> Normals:
    return normals_at(*grid_cell(latitude, longitude))


@each(
    ("latitude", "longitude", "january", "july"),
    [
        (37.33, -122.00, 10, 21),  # Cupertino
        (40.71, -74.01, 1, 25),  # New York
        (51.51, -0.13, 6, 19),  # London
        (55.75, 37.62, -6, 20),  # Moscow
        (62.03, 129.73, -37, 20),  # Yakutsk
        (1.35, 103.82, 27, 28),  # Singapore
        (30.04, 31.24, 14, 29),  # Cairo
        (-33.87, 151.21, 23, 13),  # Sydney
        (-34.60, -58.38, 25, 11),  # Buenos Aires
        (-90.00, 0.00, -28, -60),  # South Pole
    ],
)
def test_stations_have_their_own_normals(latitude: float, longitude: float, january: float, july: float) -> None:
    normals = climate(latitude, longitude)
    assert normals.mean(JANUARY) == pytest.approx(january, abs=1.5)
    assert normals.mean(JULY) == pytest.approx(july, abs=1.5)


@each(
    ("latitude", "longitude", "january", "july"),
    [
        (38.25, -122.64, 9, 20),  # Petaluma, between San Francisco and Sacramento
        (47.38, 0.68, 5, 21),  # Tours
        (53.55, 9.99, 2, 18),  # Hamburg
        (34.05, -6.80, 13, 23),  # Rabat
        (-22.90, -47.06, 24, 18),  # Campinas
        (35.18, 136.91, 5, 27),  # Nagoya
        (12.30, 76.64, 23, 24),  # Mysuru
    ],
)
def test_between_stations_the_climate_is_in_between(
    latitude: float, longitude: float, january: float, july: float
) -> None:
    normals = climate(latitude, longitude)
    assert normals.mean(JANUARY) == pytest.approx(january, abs=3.5)
    assert normals.mean(JULY) == pytest.approx(july, abs=3.5)


@each(
    ("low", "high"),
    [
        ((46.20, 6.14), (45.83, 6.87)),  # Geneva, Mont Blanc
        ((47.60, -122.33), (46.8523, -121.7603)),  # Seattle, Mount Rainier
        ((27.70, 85.32), (27.99, 86.93)),  # Kathmandu, Everest
        ((35.69, 139.69), (35.36, 138.73)),  # Tokyo, Mount Fuji
        ((-1.29, 36.82), (-3.07, 37.36)),  # Nairobi, Kilimanjaro
        ((39.74, -104.99), (39.19, -106.82)),  # Denver, Aspen
    ],
)
def test_mountains_are_colder_than_the_plain(low: tuple[float, float], high: tuple[float, float]) -> None:
    plain, mountain = climate(*low), climate(*high)
    assert mountain.elevation > plain.elevation + 500
    assert mountain.mean(JULY) < plain.mean(JULY) - 3


@each(
    ("latitude", "longitude", "height"),
    [
        (27.9881, 86.9250, 8849),
        (45.8326, 6.8652, 4806),
        (-3.0674, 37.3556, 5895),
        (39.74, -104.99, 1609),
        (19.43, -99.13, 2240),
        (-16.50, -68.15, 3640),
        (52.37, 4.90, 0),
        (0, -30, 0),
    ],
)
def test_heights(latitude: float, longitude: float, height: float) -> None:
    assert elevation_at(*grid_cell(latitude, longitude)) == pytest.approx(height, abs=60)


@each(
    ("latitude", "longitude", "wet_day", "dry_day"),
    [
        (37.77, -122.42, JANUARY, JULY),  # San Francisco: wet winters
        (19.08, 72.88, JULY, JANUARY),  # Mumbai: the monsoon
        (-12.46, 130.84, JANUARY, JULY),  # Darwin
        (-33.92, 18.42, JULY, JANUARY),  # Cape Town
        (9.03, 38.74, JULY, JANUARY),  # Addis Ababa
    ],
)
def test_wet_seasons(latitude: float, longitude: float, wet_day: int, dry_day: int) -> None:
    normals = climate(latitude, longitude)
    assert normals.wet_share(wet_day) > 2 * normals.wet_share(dry_day)


def test_deserts_are_dry_and_rainforests_wet() -> None:
    assert max(climate(24.09, 32.90).wet_days) < 1
    assert min(climate(1.35, 103.82).wet_days) > 10


def test_seasons_are_strong_inland_in_the_north_and_weak_at_the_equator() -> None:
    assert climate(62.03, 129.73).seasonality() > 50
    assert climate(-0.18, -78.47).seasonality() < 2


@each(
    ("point", "cell"),
    [
        ((37.334606, -122.009102), (37.3, -122.0)),
        ((0.04, -0.04), (0.0, 0.0)),
        ((-89.99, 179.99), (-90.0, -180.0)),
        ((90, 180), (90.0, -180.0)),
        ((51.56, 0.06), (51.6, 0.1)),
    ],
)
def test_grid_cells(point: tuple[float, float], cell: tuple[float, float]) -> None:
    assert grid_cell(*point) == cell


@given(LATITUDES, LONGITUDES)
@settings(deadline=None)
def test_a_cells_centre_is_in_the_cell(latitude: float, longitude: float) -> None:
    cell = grid_cell(latitude, longitude)
    assert grid_cell(*cell) == cell
    assert abs(cell[0] - latitude) <= 0.0501


@given(LATITUDES, LONGITUDES, st.integers(1, 366))
@settings(deadline=None)
def test_normals_are_of_this_earth(latitude: float, longitude: float, day: int) -> None:
    normals = climate(latitude, longitude)
    assert -75 <= normals.mean(day) <= 42
    assert 0 <= normals.daily_range(day) <= 25
    assert 0 <= normals.wet_share(day) <= 0.95
    assert -10 <= normals.elevation <= 8849


@given(LATITUDES, LONGITUDES, st.integers(1, 365))
@settings(deadline=None)
def test_the_year_has_no_jumps(latitude: float, longitude: float, day: int) -> None:
    normals = climate(latitude, longitude)
    assert abs(normals.mean(day + 1) - normals.mean(day)) < 1.2
    assert abs(normals.wet_share(day + 1) - normals.wet_share(day)) < 0.02
