"""The cities of the world and the address of a point.

Policy: places of at least 5,000 inhabitants from GeoNames are real (name, region, country, coordinates, population,
time zone). A point belongs to the place with the smallest distance / population**0.25, so that a metropolis reaches
further than a suburb. The street of an address is invented, except where a landmark with a known address stands.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from math import cos, floor, hypot, radians, sqrt
from typing import Any, Protocol

from sandbox_mcp.engine.worlds.letters import plain_letters
from sandbox_mcp.engine.worlds.phone.knowledge.distance import check_point, haversine_km
from sandbox_mcp.engine.worlds.phone.knowledge.landmarks import Landmark, landmarks
from sandbox_mcp.engine.worlds.phone.knowledge.streets import street_address
from sandbox_mcp.engine.worlds.phone.knowledge.tables import countries, packed_json

STREETS_WITHIN_KM = 25
"""Closer than this to the nearest place, a point has a street; further out it is only near that place."""

ADDRESS_WITHIN_KM = 100
"""Further than this from every place (at sea, in the desert) a point has no address."""

AT_LANDMARK_KM = 0.15
DISTRICT_RATIO = 4
METROPOLIS = 500_000
KM_PER_DEGREE = 111.2
EXONYMS = {
    "nyc": "new york city",
    "new york": "new york city",
    "la": "los angeles",
    "sf": "san francisco",
    "washington dc": "washington",
    "washington d.c.": "washington",
    "cologne": "koln",
    "saigon": "ho chi minh city",
    "bombay": "mumbai",
    "bangalore": "bengaluru",
    "calcutta": "kolkata",
    "madras": "chennai",
    "peking": "beijing",
    "kiev": "kyiv",
    "cracow": "krakow",
    "seville": "sevilla",
    "lisboa": "lisbon",
    "roma": "rome",
    "wien": "vienna",
    "munchen": "munich",
}  # other names, both sides folded


@dataclass(frozen=True, slots=True)
class City:
    """A populated place: coordinates in degrees, inhabitants, IANA time zone."""

    name: str
    region: str
    country_code: str
    country: str
    latitude: float
    longitude: float
    population: int
    time_zone: str

    def reach(self) -> float:
        """How far a place draws points to itself, compared with others; 1 where its population is not known."""
        return (self.population or 1) ** 0.25


@dataclass(frozen=True, slots=True)
class Address:
    """Where a point is. ``text`` is the whole as one line; ``street`` is invented where ``street_is_invented``."""

    text: str
    street: str
    district: str
    city: str
    region: str
    country: str
    country_code: str
    street_is_invented: bool


class GazetteerSource(Protocol):
    """Anything that can tell the address of a point."""

    def address(self, latitude: float, longitude: float) -> Address | None:
        """The address of a point given in degrees, or None where there is none."""
        ...


class OfflineGazetteer:
    """The vendored GeoNames extract."""

    def address(self, latitude: float, longitude: float) -> Address | None:
        """The address of a point, or None further than 100 km from every place of 5,000 inhabitants.

        Raises:
            InvalidQuestionError: the coordinates name no point.
        """
        check_point(latitude, longitude)
        mark = landmark_at(latitude, longitude)
        if mark is None:
            return _of_point(latitude, longitude)
        country = country_name(mark.country_code)
        text = ", ".join(dict.fromkeys(part for part in (mark.street, mark.city, mark.region, country) if part))
        return Address(text, mark.street, "", mark.city, mark.region, country, mark.country_code, False)


def landmark_at(latitude: float, longitude: float) -> Landmark | None:
    """The closest landmark within 150 m."""
    close = [
        (haversine_km(latitude, longitude, mark.latitude, mark.longitude), mark)
        for mark in landmarks()
        if abs(mark.latitude - latitude) < 0.002
    ]
    distance, mark = min(close, key=lambda pair: pair[0], default=(ADDRESS_WITHIN_KM, None))
    return mark if distance <= AT_LANDMARK_KM else None


def nearest_city(latitude: float, longitude: float, within_km: float = ADDRESS_WITHIN_KM) -> City | None:
    """The place that a point belongs to, if one is within ``within_km``."""
    radius = min(within_km, STREETS_WITHIN_KM)
    while True:
        around = cities_around(latitude, longitude, radius)
        if around or radius >= within_km:
            return min(around, key=lambda pair: pair[0] / pair[1].reach())[1] if around else None
        radius = min(within_km, radius * 3)


def cities_around(latitude: float, longitude: float, radius_km: float) -> list[tuple[float, City]]:
    """The places within a radius, with their distances in km measured on a plane, in the order of the table."""
    reach = radius_km / KM_PER_DEGREE
    narrow = cos(radians(latitude))
    found: list[tuple[float, City]] = []
    for cell in _cells_around(latitude, longitude, reach):
        for city in _cell(cell):
            east = (city.longitude - longitude + 180) % 360 - 180
            degrees = hypot(city.latitude - latitude, east * narrow)
            if degrees <= reach:
                found.append((degrees * KM_PER_DEGREE, city))
    return found


@lru_cache(maxsize=8192)
def metropolis_of(city: City) -> City | None:
    """The big city that a place is a district of: same region, at least four times as large, and close."""
    around = cities_around(city.latitude, city.longitude, 20)
    larger = [
        (distance, other)
        for distance, other in around
        if other.population >= max(METROPOLIS, DISTRICT_RATIO * city.population)
        and (other.country_code, other.region) == (city.country_code, city.region)
        and distance <= 0.0045 * sqrt(other.population)
    ]
    return max(larger, key=lambda pair: pair[1].population)[1] if larger else None


def cities_named(name: str) -> list[City]:
    """The places of that name in any spelling of case and accents, the most populous first."""
    folded = fold(name)
    names = dict.fromkeys((folded, EXONYMS.get(folded, folded)))
    found = [_cell(cell)[n] for each in names for cell, n in _by_name().get(each, ())]
    return sorted(found, key=lambda city: -city.population)


def all_cities() -> Iterator[City]:
    """Every place of the extract, cell by cell."""
    for cell in _table()["cells"]:
        yield from _cell(cell)


def fold(text: str) -> str:
    """Lower case in plain letters, apostrophes as ``'`` and single spaces, for comparing names."""
    return " ".join(plain_letters(text).replace("’", "'").split())


@lru_cache(maxsize=4096)
def _of_point(latitude: float, longitude: float) -> Address | None:
    city = nearest_city(latitude, longitude)
    if city is None:
        return None
    whole = metropolis_of(city)
    near = haversine_km(latitude, longitude, city.latitude, city.longitude) <= STREETS_WITHIN_KM
    street = street_address(latitude, longitude, city.country_code) if near else ""
    district, town = (city.name, whole.name) if whole else ("", city.name)
    parts = (street, district, town if near else f"near {town}", city.region, city.country)
    text = ", ".join(dict.fromkeys(part for part in parts if part))
    return Address(text, street, district, town, city.region, city.country, city.country_code, near)


def country_name(code: str) -> str:
    """The English name of an ISO 3166 country code; the code itself where it is unknown."""
    return countries()[code]["name"] if code in countries() else code


@cache
def _table() -> Any:
    """The extract as it is stored: lists of ``regions`` and ``zones``, and of each one-degree cell the rows as text."""
    return packed_json("gazetteer.json.gz")


@lru_cache(maxsize=8192)
def _cell(cell: str) -> tuple[City, ...]:
    """The places of the one-degree cell whose south-west corner is ``"latitude,longitude"``."""
    table, found = _table(), list[City]()
    for line in table["cells"][cell].split("\n") if cell in table["cells"] else ():
        name, region, country, latitude, longitude, population, zone = line.split("\t")
        place = name, table["regions"][int(region)], country, country_name(country), float(latitude), float(longitude)
        found.append(City(*place, int(population), table["zones"][int(zone)]))
    return tuple(found)


def _cells_around(latitude: float, longitude: float, reach: float) -> Iterator[str]:
    """The cells that a circle of ``reach`` degrees touches; longitudes wrap around at the date line."""
    south, north = max(-90, floor(latitude - reach)), min(89, floor(latitude + reach))
    for row in range(south, north + 1):
        narrow = max(0.01, cos(radians(min(90.0, max(abs(latitude), abs(row), abs(row + 1))))))
        width = min(180.0, reach / narrow)
        west, east = floor(longitude - width), floor(longitude + width)
        for column in range(west, min(east, west + 359) + 1):
            yield f"{row},{(column + 180) % 360 - 180}"


@cache
def _by_name() -> dict[str, list[tuple[str, int]]]:
    """For each folded name, the cells and positions of the places that have it."""
    index: dict[str, list[tuple[str, int]]] = {}
    for cell, text in _table()["cells"].items():
        for n, line in enumerate(text.split("\n")):
            name = line[: line.index("\t")]
            index.setdefault(name.lower() if name.isascii() else fold(name), []).append((cell, n))
    return index
