"""Distances: published geodesics, and the laws of a metric."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sandbox_mcp.engine.worlds.phone.knowledge import InvalidQuestionError
from sandbox_mcp.engine.worlds.phone.knowledge.distance import OfflineDistance, haversine_km
from tests.each import each

kilometers = OfflineDistance().kilometers
LATITUDES, LONGITUDES = st.floats(-90, 90), st.floats(-180, 180)
POINTS = st.tuples(LATITUDES, LONGITUDES)


@each(
    ("start", "end", "expected"),
    [
        ((0, 0), (0, 1), 111.319491),
        ((0, 0), (1, 0), 110.574389),
        ((-90, 0), (90, 0), 20003.931459),
        ((0, 0), (0, 180), 20003.931459),
    ],
)
def test_lengths_along_the_axes_of_the_ellipsoid(
    start: tuple[float, float], end: tuple[float, float], expected: float
) -> None:
    assert kilometers(*start, *end) == expected


@each(
    ("start", "end", "expected"),
    [
        ((40.6413, -73.7781), (51.4700, -0.4543), 5555),  # Kennedy airport to Heathrow
        ((48.8584, 2.2945), (51.5007, -0.1246), 341),  # Eiffel Tower to Big Ben
        ((37.334606, -122.009102), (37.8199, -122.4786), 68),  # Apple Park to the Golden Gate
        ((-33.8568, 151.2153), (35.6586, 139.7454), 7792),  # Sydney's opera to Tokyo Tower
    ],
)
def test_well_known_distances(start: tuple[float, float], end: tuple[float, float], expected: float) -> None:
    assert kilometers(*start, *end) == pytest.approx(expected, rel=3e-3)


def test_nearly_antipodal_points_have_a_distance() -> None:
    """Where Vincenty's iteration fails to converge."""
    assert kilometers(0, 0, 0.5, 179.7) == pytest.approx(19944.127421, abs=1e-6)


def test_all_longitudes_meet_at_a_pole() -> None:
    assert kilometers(90, 0, 90, 123) == 0


def test_the_date_line_is_no_wall() -> None:
    assert kilometers(0, 179.9, 0, -179.9) == pytest.approx(kilometers(0, 0, 0, 0.2), abs=1e-6)


def test_distances_are_given_to_the_millimetre() -> None:
    value = kilometers(37.334606, -122.009102, 37.8199, -122.4786)
    assert value == round(value, 6)


@each(
    ("point", "message"),
    [
        ((90.1, 0), r"latitude 90.1 is outside \[-90, 90\] degrees"),
        ((-91, 0), "latitude -91"),
        ((0, 180.5), r"longitude 180.5 is outside \[-180, 180\] degrees"),
        ((0, -1e9), "longitude"),
        ((float("nan"), 0), "latitude nan"),
        ((0, float("inf")), "longitude inf"),
    ],
)
@each("first", [True, False])
def test_coordinates_off_the_globe_are_refused(point: tuple[float, float], message: str, first: bool) -> None:
    points = (*point, 0, 0) if first else (0, 0, *point)
    with pytest.raises(InvalidQuestionError, match=message):
        kilometers(*points)


@given(POINTS, POINTS)
@settings(deadline=None)
def test_there_is_as_far_as_back(a: tuple[float, float], b: tuple[float, float]) -> None:
    assert kilometers(*a, *b) == pytest.approx(kilometers(*b, *a), abs=2e-6)


@given(POINTS)
@settings(deadline=None)
def test_a_point_is_no_distance_from_itself(point: tuple[float, float]) -> None:
    assert kilometers(*point, *point) == 0


@given(POINTS, POINTS, POINTS)
@settings(deadline=None)
def test_no_detour_is_shorter(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> None:
    assert kilometers(*a, *c) <= kilometers(*a, *b) + kilometers(*b, *c) + 1e-5


@given(POINTS, POINTS)
@settings(deadline=None)
def test_no_distance_exceeds_half_a_meridian(a: tuple[float, float], b: tuple[float, float]) -> None:
    assert 0 <= kilometers(*a, *b) <= 20003.931459


@given(POINTS, POINTS)
@settings(deadline=None)
def test_the_sphere_is_a_close_approximation(a: tuple[float, float], b: tuple[float, float]) -> None:
    exact = kilometers(*a, *b)
    assume(exact > 0.001)
    assert haversine_km(*a, *b) == pytest.approx(exact, rel=0.006)
