"""Invented streets and phone numbers: the same for the same point, plausible for the country."""

import re

import phonenumbers
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_mcp.engine.worlds.phone.knowledge.streets import phone_number, street_address
from tests.each import each


@each(
    ("country", "pattern"),
    [
        ("US", r"^\d+ [A-Z]\w+ (Street|Avenue|Road|Lane|Drive)$"),
        ("FR", r"^\d+ (rue|avenue|allée) (des|du|de la) \w+$"),
        ("ES", r"^(Calle|Avenida|Paseo) .+ \d+$"),
        ("BR", r"^(Rua|Avenida|Travessa) .+, \d+$"),
        ("DE", r"^\w+(straße|weg|allee) \d+$"),
        ("IT", r"^(Via|Viale) .+, \d+$"),
        ("NL", r"^\w+(straat|laan|weg) \d+$"),
        ("JP", r"^\d+ [A-Z]\w+ (Street|Avenue|Road|Lane|Drive)$"),
    ],
)
def test_streets_are_written_as_in_the_country(country: str, pattern: str) -> None:
    assert re.match(pattern, street_address(12.3456, 65.4321, country))


def test_neighbours_share_a_street_and_numbers_rise_eastwards() -> None:
    west, east = (street_address(48.1001, longitude, "US").split(" ", 1) for longitude in (11.5001, 11.5101))
    assert west[1] == east[1]
    assert int(west[0]) < int(east[0])


def test_the_two_sides_of_a_street_have_odd_and_even_numbers() -> None:
    south, north = (int(street_address(latitude, 11.505, "US").split()[0]) for latitude in (48.1001, 48.1019))
    assert (south % 2, north % 2) == (1, 0)


@given(st.floats(-90, 90), st.floats(-180, 180), st.sampled_from(["US", "DE", "JP", "FR"]))
@settings(deadline=None)
def test_house_numbers_are_small_and_positive(latitude: float, longitude: float, country: str) -> None:
    numbers = re.findall(r"\d+", street_address(latitude, longitude, country))
    assert len(numbers) == 1
    assert 1 <= int(numbers[0]) <= 800


@each("region", sorted(phonenumbers.SUPPORTED_REGIONS))
def test_every_country_gets_numbers_that_parse(region: str) -> None:
    for number in (0, 57, 99):
        parsed = phonenumbers.parse(phone_number(region, 12.3, 45.6, number))
        assert phonenumbers.is_possible_number(parsed)


def test_nearly_all_of_them_are_valid() -> None:
    numbers = [phonenumbers.parse(phone_number(region, 1.2, 3.4, 5)) for region in phonenumbers.SUPPORTED_REGIONS]
    assert sum(map(phonenumbers.is_valid_number, numbers)) >= 0.95 * len(numbers)


@each("country", ["US", "CA", "GB", "FR", "DE", "AU", "JP", "IN", "BR", "KE"])
def test_the_numbers_of_a_town_differ(country: str) -> None:
    assert len({phone_number(country, 10.5, 20.5, number) for number in range(100)}) == 100


@each(
    ("latitude", "longitude", "country", "area"),
    [
        (37.32, -122.03, "US", "408"),
        (37.77, -122.42, "US", "415"),
        (40.75, -73.99, "US", "212"),
        (41.88, -87.63, "US", "312"),
        (43.65, -79.38, "CA", "416"),
        (21.31, -157.86, "US", "808"),
    ],
)
def test_american_numbers_have_the_areas_code_and_the_unused_exchange(
    latitude: float, longitude: float, country: str, area: str
) -> None:
    assert phone_number(country, latitude, longitude, 0).startswith(f"+1{area}555")


@given(st.integers(0, 99), st.floats(25, 49), st.floats(-125, -67))
@settings(deadline=None)
def test_american_numbers_in_use_are_left_out(number: int, latitude: float, longitude: float) -> None:
    line = int(phone_number("US", latitude, longitude, number)[-4:])
    assert 2000 <= line <= 8999
    assert not 4300 <= line <= 4399


@each(("country", "prefix"), [("GB", "+4420794600"), ("FR", "+3319900"), ("DE", "+493023125")])
def test_elsewhere_the_numbers_for_fiction_are_used(country: str, prefix: str) -> None:
    assert phone_number(country, 50, 5, 3).startswith(prefix[:9])


def test_an_unknown_country_has_a_number_too() -> None:
    assert phonenumbers.is_possible_number(phonenumbers.parse(phone_number("ZZ", 0, 0, 7)))
