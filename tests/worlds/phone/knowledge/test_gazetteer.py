"""Towns of the world, and the address of a point."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_mcp.engine.world.clock import zone_info
from sandbox_mcp.engine.worlds.phone.knowledge import InvalidQuestionError
from sandbox_mcp.engine.worlds.phone.knowledge.distance import haversine_km
from sandbox_mcp.engine.worlds.phone.knowledge.gazetteer import (
    Address,
    OfflineGazetteer,
    all_cities,
    cities_around,
    cities_named,
    country_name,
    fold,
    metropolis_of,
    nearest_city,
)
from tests.each import each

address = OfflineGazetteer().address
EVERYWHERE = list(all_cities())
LATITUDES, LONGITUDES = st.floats(-90, 90), st.floats(-180, 180)


@each(
    ("latitude", "longitude", "city", "region", "country"),
    [
        (37.3300, -122.0100, "Cupertino", "California", "United States"),
        (37.7700, -122.4300, "San Francisco", "California", "United States"),
        (40.7500, -73.9900, "New York City", "New York", "United States"),
        (40.7282, -74.0776, "Jersey City", "New Jersey", "United States"),
        (42.3650, -71.1000, "Cambridge", "Massachusetts", "United States"),
        (45.5000, -73.5700, "Montréal", "Quebec", "Canada"),
        (19.4300, -99.1400, "Mexico City", "Mexico City", "Mexico"),
        (-22.9100, -43.1800, "Rio de Janeiro", "Rio de Janeiro", "Brazil"),
        (48.8600, 2.3400, "Paris", "Île-de-France", "France"),
        (51.5100, -0.1300, "London", "England", "United Kingdom"),
        (52.5200, 13.4050, "Berlin", "State of Berlin", "Germany"),
        (41.9000, 12.4900, "Rome", "Lazio", "Italy"),
        (30.0500, 31.2400, "Cairo", "Cairo", "Egypt"),
        (-1.2900, 36.8200, "Nairobi", "Nairobi County", "Kenya"),
        (25.0800, 55.3100, "Dubai", "Dubai", "United Arab Emirates"),
        (35.6700, 139.7600, "Tokyo", "Tokyo", "Japan"),
        (1.3000, 103.8500, "Singapore", "", "Singapore"),
        (-33.8700, 151.2100, "Sydney", "New South Wales", "Australia"),
    ],
)
def test_points_in_big_cities(latitude: float, longitude: float, city: str, region: str, country: str) -> None:
    found = address(latitude, longitude)
    assert found is not None
    assert (found.city, found.region, found.country) == (city, region, country)


def test_an_address_in_full() -> None:
    assert address(37.3301, -122.0101) == Address(
        text="397 Juniper Street, Cupertino, California, United States",
        street="397 Juniper Street",
        district="",
        city="Cupertino",
        region="California",
        country="United States",
        country_code="US",
        street_is_invented=True,
    )


def test_a_landmark_has_the_address_it_really_has() -> None:
    found = address(37.334606, -122.009102)
    assert found is not None
    assert found.text == "1 Apple Park Way, Cupertino, California, United States"
    assert not found.street_is_invented


def test_a_landmarks_address_reaches_150_metres() -> None:
    near, far = address(37.3355, -122.009102), address(37.3365, -122.009102)
    assert near is not None
    assert far is not None
    assert (near.street, far.street_is_invented) == ("1 Apple Park Way", True)


def test_a_district_is_named_with_its_city() -> None:
    found = address(40.7680, -73.9930)
    assert found is not None
    assert (found.district, found.city) == ("Hell's Kitchen", "New York City")
    assert found.text.endswith("Hell's Kitchen, New York City, New York, United States")


def test_a_city_state_is_named_once() -> None:
    found = address(1.3, 103.85)
    assert found is not None
    assert found.text.count("Singapore") == 1


def test_out_of_town_there_is_no_street() -> None:
    found = address(36.1, -112.1)
    assert found is not None
    assert (found.text, found.street) == ("near Tuba City, Arizona, United States", "")
    assert not found.street_is_invented


@each(("latitude", "longitude"), [(0, -30), (40, -40), (-50, -130), (90, 0), (-90, 0), (23, 10)])
def test_at_sea_at_the_poles_and_in_the_desert_there_is_no_address(latitude: float, longitude: float) -> None:
    assert address(latitude, longitude) is None


@each(("latitude", "longitude"), [(90.5, 0), (-91, 0), (0, 181), (0, -999), (float("nan"), 0)])
def test_coordinates_off_the_globe_are_refused(latitude: float, longitude: float) -> None:
    with pytest.raises(InvalidQuestionError, match="is outside"):
        address(latitude, longitude)


@each(
    ("name", "country", "population"),
    [
        ("Paris", "FR", 2_000_000),
        ("paris", "FR", 2_000_000),
        ("PARIS", "FR", 2_000_000),
        ("New York", "US", 8_000_000),
        ("nyc", "US", 8_000_000),
        ("São Paulo", "BR", 10_000_000),
        ("sao paulo", "BR", 10_000_000),
        ("Zurich", "CH", 400_000),
        ("Köln", "DE", 1_000_000),
        ("Cologne", "DE", 1_000_000),
        ("Munich", "DE", 1_000_000),
        ("Montreal", "CA", 1_500_000),
        ("Bombay", "IN", 10_000_000),
        ("Kiev", "UA", 2_000_000),
        ("Reykjavik", "IS", 100_000),
        ("Lodz", "PL", 500_000),
        ("Tromso", "NO", 30_000),
        ("Wroclaw", "PL", 500_000),
    ],
)
def test_the_largest_town_of_a_name_comes_first(name: str, country: str, population: int) -> None:
    first = cities_named(name)[0]
    assert first.country_code == country
    assert first.population >= population


def test_namesakes_follow_by_size() -> None:
    sizes = [city.population for city in cities_named("Springfield")]
    assert len(sizes) >= 5
    assert sizes == sorted(sizes, reverse=True)


def test_an_unknown_name_has_no_towns() -> None:
    assert cities_named("Atlantis of the Sea") == []


def test_the_nearest_town_is_weighed_by_its_size() -> None:
    """At the Golden Gate Bridge, Sausalito's centre is closer, and San Francisco is meant."""
    city = nearest_city(37.8199, -122.4786)
    assert city is not None
    assert city.name == "San Francisco"


def test_the_centre_of_a_suburb_is_the_suburb() -> None:
    for name in ("Daly City", "Sausalito", "Oakland"):
        suburb = next(city for city in cities_named(name) if city.region == "California")
        assert nearest_city(suburb.latitude, suburb.longitude) == suburb


def test_districts_belong_to_their_metropolis_and_suburbs_do_not() -> None:
    shibuya = next(city for city in cities_named("Shibuya") if city.country_code == "JP")
    whole = metropolis_of(shibuya)
    assert whole is not None
    assert whole.name == "Tokyo"
    assert metropolis_of(cities_named("Oakland")[0]) is None
    assert metropolis_of(whole) is None


def test_towns_are_found_across_the_date_line() -> None:
    eastern = {city.name for _, city in cities_around(-16.8, 179.99, 80)}
    western = {city.name for _, city in cities_around(-16.8, -179.99, 80)}
    assert eastern
    assert eastern == western


def test_distances_to_towns_around() -> None:
    for distance, city in cities_around(48.86, 2.34, 30):
        exact = haversine_km(48.86, 2.34, city.latitude, city.longitude)
        assert distance == pytest.approx(exact, rel=0.01, abs=0.05)


def test_the_extract_covers_the_world() -> None:
    cities = list(all_cities())
    assert len(cities) > 60_000
    assert len({city.country_code for city in cities}) > 230
    assert all(-90 <= city.latitude <= 90 and -180 <= city.longitude <= 180 for city in cities)


def test_every_time_zone_exists() -> None:
    zones = {city.time_zone for city in all_cities()}
    assert len({str(zone_info(zone)) for zone in zones}) > 300


def test_country_names() -> None:
    assert country_name("DE") == "Germany"
    assert country_name("ZZ") == "ZZ"


@each(
    ("text", "folded"),
    [("São  Paulo", "sao paulo"), ("ZÜRICH", "zurich"), ("Xi’an", "xi'an"), ("Reykjavík", "reykjavik"), ("", "")],
)
def test_folding(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(LATITUDES, LONGITUDES)
@settings(deadline=None)
def test_every_point_has_one_answer(latitude: float, longitude: float) -> None:
    assert address(latitude, longitude) == address(latitude, longitude)


@given(LATITUDES, LONGITUDES, st.floats(1, 150))
@settings(deadline=None)
def test_only_towns_within_the_radius_are_around(latitude: float, longitude: float, radius: float) -> None:
    for distance, city in cities_around(latitude, longitude, radius):
        assert distance <= radius
        assert haversine_km(latitude, longitude, city.latitude, city.longitude) <= radius * 1.2 + 1


@given(st.floats(-60, 70), LONGITUDES)
@settings(deadline=None)
def test_no_town_nearby_is_missed(latitude: float, longitude: float) -> None:
    """The cells that are looked at hold every town that a scan of the whole table finds."""
    near = {city for city in EVERYWHERE if _close(city.latitude, city.longitude, latitude, longitude)}
    assert near <= {city for _, city in cities_around(latitude, longitude, 60)}


def _close(north: float, east: float, latitude: float, longitude: float) -> bool:
    return abs(north - latitude) < 0.5 and haversine_km(north, east, latitude, longitude) < 55
