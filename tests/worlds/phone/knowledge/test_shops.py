"""Invented shops: the same for the same town, branches of one chain close together."""

from collections import Counter

from sandbox_mcp.engine.worlds.phone.knowledge.distance import haversine_km
from sandbox_mcp.engine.worlds.phone.knowledge.gazetteer import City, cities_named
from sandbox_mcp.engine.worlds.phone.knowledge.shops import Shop, kinds, shops_of
from tests.each import each

CITIES = [
    "Cupertino", "San Francisco", "New York City", "Chicago", "Boston", "Seattle", "London", "Paris", "Berlin", "Rome",
    "Madrid", "Tokyo", "Singapore", "Sydney", "Toronto", "Mexico City", "Mumbai", "Cairo",
]  # fmt: skip


def town(name: str) -> City:
    return cities_named(name)[0]


@each("name", CITIES)
def test_a_city_has_dozens_of_places_of_many_kinds(name: str) -> None:
    shops = shops_of(town(name))
    assert 40 <= len(shops) <= 100
    assert len({shop.category for shop in shops}) >= 20


@each("name", CITIES)
def test_a_city_has_chains_with_several_branches_near_each_other(name: str) -> None:
    shops = shops_of(town(name))
    branches = Counter(shop.name for shop in shops)
    several = [chain for chain, count in branches.items() if count >= 2]
    assert len(several) >= 8
    for chain in several:
        first, second = [shop for shop in shops if shop.name == chain][:2]
        assert haversine_km(first.latitude, first.longitude, second.latitude, second.longitude) <= 18


@each("name", CITIES)
def test_branches_can_be_told_apart(name: str) -> None:
    shops = shops_of(town(name))
    assert len({shop.phone_number for shop in shops}) == len(shops)
    assert len({(shop.latitude, shop.longitude) for shop in shops}) == len(shops)
    addresses = Counter((shop.name, shop.street) for shop in shops)
    assert max(addresses.values()) == 1


@each("name", CITIES)
def test_shops_lie_around_their_town(name: str) -> None:
    city = town(name)
    for shop in shops_of(city):
        assert haversine_km(city.latitude, city.longitude, shop.latitude, shop.longitude) <= 9.1


def test_a_village_has_few_shops_and_single_branches() -> None:
    village = next(city for city in cities_named("Sausalito") if city.population < 10_000)
    shops = shops_of(village)
    assert 6 <= len(shops) <= 40
    assert max(Counter(shop.name for shop in shops).values()) == 1


def test_the_same_town_has_the_same_shops() -> None:
    city = town("Cupertino")
    before = shops_of(city)
    shops_of.cache_clear()
    assert shops_of(city) == before


def test_a_shop_in_full() -> None:
    shop = next(shop for shop in shops_of(town("Cupertino")) if shop.name == "Copperleaf Coffee")
    assert shop == Shop(
        name="Copperleaf Coffee",
        category="cafe",
        opening_hours="Mon-Fri 06:30-19:00; Sat-Sun 07:30-18:00",
        street="583 Mill Road",
        phone_number="+14085556627",
        latitude=37.338033,
        longitude=-122.025436,
        number=0,
    )


def test_namesakes_have_different_shops() -> None:
    one, other = cities_named("Springfield")[:2]
    assert {shop.phone_number for shop in shops_of(one)} != {shop.phone_number for shop in shops_of(other)}


def test_every_kind_is_described() -> None:
    for kind in kinds().values():
        assert kind.words
        assert kind.opening_hours


def test_every_shop_is_of_a_known_kind() -> None:
    for name in CITIES:
        assert {shop.category for shop in shops_of(town(name))} <= set(kinds())
