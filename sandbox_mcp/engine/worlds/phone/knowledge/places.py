"""Places by name or kind near a point: sights, shops, restaurants, towns.

Policy: sights and a few well-known addresses are real (``landmarks``), towns are real (``gazetteer``), everything
else is invented (``shops``); each result lists which of its fields are made up. Places that go by the words asked
come before places of the kind asked, and among equals the nearer one first. Sights are found by name from anywhere;
by kind, places within reach only. "in Paris", "near the Louvre Museum" and ", Boston" move the search there.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Protocol

from sandbox_mcp.engine.worlds.phone.knowledge.bundle import LONGEST_NAME
from sandbox_mcp.engine.worlds.phone.knowledge.distance import OfflineDistance, check_point, haversine_km
from sandbox_mcp.engine.worlds.phone.knowledge.gazetteer import (
    City,
    OfflineGazetteer,
    cities_around,
    cities_named,
    fold,
)
from sandbox_mcp.engine.worlds.phone.knowledge.landmarks import Landmark, landmarks
from sandbox_mcp.engine.worlds.phone.knowledge.seeded import integer
from sandbox_mcp.engine.worlds.phone.knowledge.shops import Kind, Shop, kinds, shops_of
from sandbox_mcp.engine.worlds.phone.knowledge.tables import by_name

LIMIT = 4
"""How many places an answer has at most."""

SHOPS_WITHIN_KM = 20
KINDS_WITHIN_KM = 50
TOWNS_SEARCHED = 12
WORD_MATCH = 82
TOWNS_WITHIN_KM = 100
WELL_KNOWN = 100_000
"""Further than that from the search, a town needs this many inhabitants to be what its bare name means."""

EXACT, NAMED, KIND, LOOSE, NOTHING = 4, 3, 2, 1, 0
"""How well a place fits the words: its whole name; words of its name; words of name, kind and street; a kind ("park")
that is only in its name ("Apple Park"); not at all."""

_STOPWORDS = frozenset({
    "a", "an", "the", "of", "on", "at", "to", "for", "and", "or", "in", "by", "with", "near", "nearest", "closest",
    "nearby", "around", "here", "me", "my", "any", "some", "best", "good",
})  # fmt: skip
_ANCHOR = re.compile(r"^(?P<what>.+?)(?:, ?| (?:in|near|around|close to|next to) )(?P<where>[^,]+.*)$")


@dataclass(frozen=True, slots=True)
class Place:
    """A place; an unknown field is None, and made-up fields are named in ``invented``.

    Coordinates in degrees, ``rating`` from 1 to 5, ``distance_km`` from where the search took place.
    """

    name: str
    address: str
    phone_number: str | None
    latitude: float
    longitude: float
    category: str
    opening_hours: str | None
    rating: float | None
    distance_km: float
    invented: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The fields by name, ``invented`` as a list."""
        return {**by_name(self), "invented": list(self.invented)}


class PlaceSource(Protocol):
    """Anything that finds places."""

    def search(self, text: str, latitude: float, longitude: float) -> list[Place]:
        """At most four places that fit the text, the best first; empty where there are none."""
        ...


@dataclass(frozen=True, slots=True)
class _Hit:
    """A place that fits; hits are ordered by fit, then standing (0 before 1), then distance on a sphere, then name."""

    fit: int
    standing: int
    distance: float
    what: Landmark | Shop | City

    def order(self) -> tuple[int, int, float, str, float, float]:
        """Best first."""
        return -self.fit, self.standing, self.distance, self.what.name, self.what.latitude, self.what.longitude


class OfflinePlaces:
    """Real sights and towns among invented shops."""

    def search(self, text: str, latitude: float, longitude: float) -> list[Place]:
        """At most four places that fit the text around a point, the best first.

        Raises:
            InvalidQuestionError: the coordinates name no point.
        """
        check_point(latitude, longitude)
        asked = " ".join(text.split())
        return list(_search(asked, latitude, longitude)) if len(asked) <= LONGEST_NAME else []


@lru_cache(maxsize=1024)
def _search(text: str, latitude: float, longitude: float) -> tuple[Place, ...]:
    what = fold(text)
    if found := _ANCHOR.match(what):
        where = _anchor(re.sub(r"^the\s+", "", found["where"]), latitude, longitude)
        if where:
            what, latitude, longitude = found["what"], where.latitude, where.longitude
    hits = sorted(_hits(what, latitude, longitude), key=_Hit.order)
    measure = partial(OfflineDistance().kilometers, latitude, longitude)
    return tuple(_place(hit, round(measure(hit.what.latitude, hit.what.longitude), 2)) for hit in hits[:LIMIT])


def _anchor(name: str, latitude: float, longitude: float) -> Landmark | City | None:
    """The landmark or town of exactly that name, with or without what follows its first comma."""
    for spelling in (name, name.split(",")[0]):
        marks = [mark for mark in landmarks() if fold(mark.name) == spelling]
        options: list[Landmark | City] = [*marks, *_towns(spelling, latitude, longitude)[:1]]
        if options:
            return min(options, key=lambda p: haversine_km(latitude, longitude, p.latitude, p.longitude))
    return None


def _towns(name: str, latitude: float, longitude: float) -> list[City]:
    """The towns of that name: those within 100 km, then the most populous, then the others by distance."""

    def order(city: City) -> tuple[int, float]:
        distance = haversine_km(latitude, longitude, city.latitude, city.longitude)
        return 0 if distance <= TOWNS_WITHIN_KM else 1 if city is largest else 2, distance

    towns = cities_named(name)
    largest = towns[0] if towns else None
    return sorted(towns, key=order)


def _hits(what: str, latitude: float, longitude: float) -> Iterator[_Hit]:
    words = tuple(word for word in re.findall(r"\w+", what.replace("'", "")) if word not in _STOPWORDS)
    if not words:
        return
    for mark in landmarks():
        fit = _fit(what, words, mark)
        if fit:
            distance = haversine_km(latitude, longitude, mark.latitude, mark.longitude)
            if fit > KIND or distance <= KINDS_WITHIN_KM:
                yield _Hit(fit, 0, distance, mark)
    for n, city in enumerate(_towns(what, latitude, longitude)):
        distance = haversine_km(latitude, longitude, city.latitude, city.longitude)
        near = distance <= TOWNS_WITHIN_KM
        if near or not _is_kind(words):
            yield _Hit(
                EXACT if near or city.population >= WELL_KNOWN else NAMED, int(n > 0 and not near), distance, city
            )
    towns = _towns_around(round(latitude, 2), round(longitude, 2))
    for shop in (shop for town in towns for shop in shops_of(town)):
        fit = _fit(what, words, shop)
        distance = haversine_km(latitude, longitude, shop.latitude, shop.longitude) if fit else SHOPS_WITHIN_KM + 1
        if distance <= SHOPS_WITHIN_KM:
            yield _Hit(fit, 0, distance, shop)


@lru_cache(maxsize=256)
def _towns_around(latitude: float, longitude: float) -> tuple[City, ...]:
    """The closest towns, given a point rounded to about a kilometre."""
    around = sorted(cities_around(latitude, longitude, SHOPS_WITHIN_KM), key=lambda pair: (pair[0], pair[1].name))
    return tuple(city for _, city in around[:TOWNS_SEARCHED])


def _fit(what: str, words: tuple[str, ...], place: Landmark | Shop) -> int:
    """Similarity of a place to the words asked."""
    fit, missing = _fit_name(what, words, place.name, place.category)
    if fit or len(missing) == len(words):
        return fit
    return KIND if _all_in(missing, _words(place.street)) else NOTHING


@lru_cache(maxsize=8192)
def _fit_name(what: str, words: tuple[str, ...], title: str, category: str) -> tuple[int, tuple[str, ...]]:
    """Similarity of a name and a kind, and the words that are in neither."""
    name, kind = _words(title), _kind_words(category)
    if words == name or fold(title) == what:
        return EXACT, ()
    missing = tuple(word for word in words if not _in(word, name + kind))
    if missing:
        return NOTHING, missing
    if _is_kind(words):
        return (KIND if _all_in(words, kind) else LOOSE), ()
    return (NAMED if _all_in(words, name) else KIND), ()


@lru_cache(maxsize=65536)
def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in re.findall(r"\w+", fold(text).replace("'", "")) if word not in _STOPWORDS)


@lru_cache(maxsize=256)
def _kind_words(category: str) -> tuple[str, ...]:
    kind = kinds().get(category, Kind(category, "", ""))
    return _words(f"{kind.category} {kind.words}")


@lru_cache(maxsize=4096)
def _is_kind(words: tuple[str, ...]) -> bool:
    """True if everything asked for is a kind of place, such as "bank"."""
    return any(_all_in(words, _kind_words(category)) for category in kinds())


def _all_in(words: tuple[str, ...], others: tuple[str, ...]) -> bool:
    return all(_in(word, others) for word in words)


@lru_cache(maxsize=65536)
def _in(word: str, others: tuple[str, ...]) -> bool:
    return any(_alike(word, other) for other in others)


@lru_cache(maxsize=65536)
def _alike(word: str, other: str) -> bool:
    if word == other or word.rstrip("s") == other.rstrip("s"):
        return True
    if min(len(word), len(other)) < 5:
        return False
    from rapidfuzz import fuzz

    return fuzz.ratio(word, other) >= WORD_MATCH


def _place(hit: _Hit, distance: float) -> Place:
    """A place as it is told, with its geodesic distance; hits are ranked by the one on a sphere."""
    what = hit.what
    point = what.latitude, what.longitude
    if isinstance(what, City):
        text = ", ".join(dict.fromkeys(part for part in (what.name, what.region, what.country) if part))
        return Place(what.name, text, None, *point, "city", None, None, distance, ())
    if isinstance(what, Landmark):
        hours, least, invented = kinds()[what.category].opening_hours, 4.1, ("opening_hours", "rating")
    else:
        hours, least = what.opening_hours, 3.1
        invented = ("name", "address", "phone_number", "latitude", "longitude", "opening_hours", "rating")
    address = OfflineGazetteer().address(*point)
    steps = round((4.9 - least) * 10)
    rating = round(least + integer("rating", what.name, *map(str, point)) % (steps + 1) / 10, 1)
    text, phone = address.text if address else "", what.phone_number or None
    return Place(what.name, text, phone, *point, what.category, hours, rating, distance, invented)
