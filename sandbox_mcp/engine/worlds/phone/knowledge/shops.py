"""Shops, restaurants and services of every town: all invented.

Policy: a town's shops follow from its name and coordinates alone. Chains have up to three branches in a town, so that
"which one?" is a fair question; the rest exist once. They lie around the centre, more widely in a larger town. No
chain is meant to be a real one.
"""

from dataclasses import dataclass
from functools import cache, lru_cache
from math import cos, pi, radians, sin, sqrt

from sandbox_mcp.engine.worlds.phone.knowledge.gazetteer import City
from sandbox_mcp.engine.worlds.phone.knowledge.seeded import choice, fraction, integer
from sandbox_mcp.engine.worlds.phone.knowledge.streets import phone_number, street_address
from sandbox_mcp.engine.worlds.phone.knowledge.tables import rows

KM_PER_DEGREE = 111.2
_SINGLES = (
    "cafe", "bakery", "pharmacy", "book store", "french restaurant", "seafood restaurant", "vegetarian restaurant",
    "pizza restaurant", "indian restaurant", "japanese restaurant", "mexican restaurant", "chinese restaurant", "bar",
    "hair salon", "dry cleaner", "florist", "dentist", "urgent care clinic", "veterinary clinic", "bicycle shop",
    "post office", "library", "hotel", "gym", "hardware store", "pet store", "movie theater", "ice cream shop",
)  # fmt: skip
_FIRST = (
    "Amber", "Crooked", "Velvet", "Little", "Gilded", "Quiet", "Painted", "Wandering", "Salted", "Hidden", "Paper",
    "Stone", "Scarlet", "Twin", "Lucky",
)  # fmt: skip
_SECOND = (
    "Fig", "Heron", "Lantern", "Anchor", "Thistle", "Magpie", "Orchard", "Compass", "Clover", "Badger", "Sparrow",
    "Plum", "Juniper", "Otter", "Wren",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kind:
    """What a category is also called, and when such a place is usually open."""

    category: str
    words: str
    opening_hours: str


@dataclass(frozen=True, slots=True)
class Shop:
    """One invented place; ``number`` counts the places of its town."""

    name: str
    category: str
    opening_hours: str
    street: str
    phone_number: str
    latitude: float
    longitude: float
    number: int


@cache
def kinds() -> dict[str, Kind]:
    """Every category by its name."""
    return {row["category"]: Kind(row["category"], row["words"], row["opening_hours"]) for row in rows("kinds.tsv")}


@lru_cache(maxsize=512)
def shops_of(city: City) -> tuple[Shop, ...]:
    """The at most 100 shops of a town, chains first, at random points of a disc whose radius grows with the town."""
    key = f"{city.name} {city.latitude} {city.longitude}"
    plan = [
        (row["name"], row["category"], row["opening_hours"])
        for row in _chains()
        for _ in range(_branches(key, row["name"], city.population))
    ]
    for category in _SINGLES[: min(len(_SINGLES), 6 + round(sqrt(city.population) / 20))]:
        name = f"{choice(_FIRST, 'first', key, category)} {choice(_SECOND, 'second', key, category)}"
        title = f"The {name} {category.replace(' restaurant', ' kitchen').title()}"
        plan.append((title, category, kinds()[category].opening_hours))
    outskirts = min(9.0, max(0.8, 0.008 * sqrt(city.population)))
    shops: list[Shop] = []
    for number, entry in enumerate(plan):
        radius = outskirts * sqrt(fraction("distance", key, number))
        angle = 2 * pi * fraction("direction", key, number)
        latitude = round(city.latitude + radius * sin(angle) / KM_PER_DEGREE, 6)
        east = radius * cos(angle) / (KM_PER_DEGREE * cos(radians(city.latitude)))
        longitude = round((city.longitude + east + 180) % 360 - 180, 6)
        street = street_address(latitude, longitude, city.country_code)
        phone = phone_number(city.country_code, city.latitude, city.longitude, number)
        shops.append(Shop(*entry, street, phone, latitude, longitude, number))
    return tuple(shops)


def _branches(key: str, chain: str, population: int) -> int:
    """Number of branches of a chain in a town: at least two in towns of 50,000 that have it at all."""
    present = 0.9 if population >= 100_000 else 0.7 if population >= 20_000 else 0.4
    if fraction("chain", key, chain) > present:
        return 0
    if population < 20_000:
        return 1
    return (2 if population >= 50_000 else 1) + integer("branches", key, chain) % 2


@cache
def _chains() -> tuple[dict[str, str], ...]:
    return tuple(rows("chains.tsv"))
