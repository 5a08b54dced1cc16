"""The table of real places: complete rows, known kinds, and positions that agree with the gazetteer."""

import phonenumbers

from sandbox_mcp.engine.worlds.phone.knowledge.distance import haversine_km
from sandbox_mcp.engine.worlds.phone.knowledge.gazetteer import cities_named, country_name
from sandbox_mcp.engine.worlds.phone.knowledge.landmarks import Landmark, landmarks
from sandbox_mcp.engine.worlds.phone.knowledge.shops import kinds
from tests.each import each

MARKS = landmarks()
OUT_OF_TOWN = {"national park", "mountain", "lake", "airport", "landmark", "attraction"}


def named(name: str) -> Landmark:
    return next(mark for mark in MARKS if mark.name == name)


def test_there_are_many_in_many_cities() -> None:
    assert len(MARKS) >= 300
    assert len({(mark.city, mark.country_code) for mark in MARKS}) >= 100


def test_at_least_a_dozen_cities_have_several() -> None:
    cities = [(mark.city, mark.country_code) for mark in MARKS]
    assert sum(cities.count(city) >= 5 for city in set(cities)) >= 12


def test_no_two_share_a_name_and_a_city() -> None:
    assert len({(mark.name, mark.city) for mark in MARKS}) == len(MARKS)


@each("mark", MARKS, ids=lambda mark: mark.name)
def test_every_row_is_complete(mark: Landmark) -> None:
    assert mark.category in kinds()
    assert mark.street
    assert mark.city
    assert country_name(mark.country_code) != mark.country_code
    assert -90 <= mark.latitude <= 90
    assert -180 <= mark.longitude <= 180


@each("mark", [mark for mark in MARKS if mark.phone_number], ids=lambda mark: mark.name)
def test_phone_numbers_are_valid_for_the_country(mark: Landmark) -> None:
    number = phonenumbers.parse(mark.phone_number)
    assert phonenumbers.is_valid_number(number)
    assert phonenumbers.region_code_for_number(number) == mark.country_code


@each("mark", [mark for mark in MARKS if mark.category not in OUT_OF_TOWN], ids=lambda mark: mark.name)
def test_a_place_in_town_is_close_to_the_town(mark: Landmark) -> None:
    towns = [city for city in cities_named(mark.city) if city.country_code == mark.country_code]
    nearest = min((haversine_km(mark.latitude, mark.longitude, t.latitude, t.longitude) for t in towns), default=0)
    assert nearest <= 40


@each(
    ("name", "latitude", "longitude"),
    [
        ("Golden Gate Bridge", 37.8199, -122.4786),
        ("Eiffel Tower", 48.8584, 2.2945),
        ("Statue of Liberty", 40.6892, -74.0445),
        ("Taj Mahal", 27.1751, 78.0421),
        ("Sydney Opera House", -33.8568, 151.2153),
        ("Machu Picchu", -13.1631, -72.5450),
        ("Great Pyramid of Giza", 29.9792, 31.1342),
        ("Mount Everest", 27.9881, 86.9250),
    ],
)
def test_famous_positions(name: str, latitude: float, longitude: float) -> None:
    mark = named(name)
    assert haversine_km(mark.latitude, mark.longitude, latitude, longitude) < 0.2


def test_no_phone_number_is_invented_for_a_real_place() -> None:
    assert named("Tower Bridge").phone_number == ""
    assert not any("555" in mark.phone_number[4:8] for mark in MARKS)
