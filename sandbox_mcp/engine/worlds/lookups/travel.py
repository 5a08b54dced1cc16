"""A travel agency's books: cities, hotels and what guests say of them, sights, flights and trains."""

from typing import Literal, Self, TypedDict

from sandbox_mcp.engine.tools.declaring import World
from sandbox_mcp.engine.world.tables import Id, Table, key
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.lookups.looking import first, has_words, known

SightKind = Literal["museum", "garden", "castle", "market", "tower"]
Weekday = Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


class TravelCity(Table, fixed="data/travel_cities.csv"):
    """A city; the fee is what it charges visitors per night, in euros."""

    id: Id[Self] = key()
    name: str
    country: str
    visitor_fee: float


class Hotel(Table, fixed="data/travel_hotels.csv"):
    """A hotel; prices are in euros, for one night and two people."""

    id: Id[Self] = key()
    name: str
    city: Id[TravelCity]
    stars: int
    price: int
    rooms: int
    pool: bool
    breakfast: bool
    check_in: str


class Review(Table, fixed="data/travel_reviews.csv"):
    """What a guest says of a hotel, with a score from 1 to 10."""

    id: Id[Self] = key()
    hotel: Id[Hotel]
    guest: str
    score: int
    text: str


class Sight(Table, fixed="data/travel_sights.csv"):
    """Something to see; the fee is in euros, times are local."""

    id: Id[Self] = key()
    name: str
    city: Id[TravelCity]
    kind: SightKind
    opens: str
    closes: str
    closed_on: Weekday | None
    fee: int


class Flight(Table, fixed="data/travel_flights.csv"):
    """A flight that goes every day; times are local, the price is in euros."""

    id: Id[Self] = key()
    origin: Id[TravelCity]
    destination: Id[TravelCity]
    departs: str
    arrives: str
    price: int


class Train(Table, fixed="data/travel_trains.csv"):
    """A train that goes every day; times are local, the price is in euros."""

    id: Id[Self] = key()
    origin: Id[TravelCity]
    destination: Id[TravelCity]
    departs: str
    arrives: str
    price: int


class _HotelLine(TypedDict):
    """A hotel in a list."""

    hotel: str
    name: str
    stars: int
    price: int


class _SightLine(TypedDict):
    """A sight in a list."""

    sight: str
    name: str
    kind: SightKind


class _ReviewLine(TypedDict):
    """What a guest says."""

    guest: str
    score: int
    text: str


class _Ride(TypedDict):
    """A flight or a train."""

    number: str
    departs: str
    arrives: str
    price: int


travel = World(
    "travel",
    tables=[TravelCity, Hotel, Review, Sight, Flight, Train],
    instructions="You answer questions of travellers with the help of a travel agency's books.",
    user="You talk to an assistant that can look into a travel agency's books for you.",
    place="in the travel agency's books",
)


@travel.query
def find_city(tx: Tx, name: str) -> list[TravelCity]:
    """Find cities by name. The visitor fee is what the city charges each visitor per night, in euros.

    Args:
        name: The name, or a part of it.
    """
    return [row for row in tx.all(TravelCity) if has_words(row.name, name)]


@travel.query
def find_hotels_in_city(
    tx: Tx, city: Id[TravelCity], stars: int | None = None, max_price: int | None = None
) -> list[_HotelLine]:
    """List the hotels in a city, the cheapest first.

    Args:
        city: The city's id.
        stars: Only hotels with exactly so many stars.
        max_price: The most that a night may cost, in euros.
    """
    rows = tx.all(Hotel, city=known(tx, TravelCity, city, "city").id)
    chosen = [row for row in rows if stars in (None, row.stars) and (max_price is None or row.price <= max_price)]
    return [
        _HotelLine(hotel=row.id, name=row.name, stars=row.stars, price=row.price)
        for row in sorted(chosen, key=lambda row: row.price)
    ]


@travel.query
def find_sights_in_city(tx: Tx, city: Id[TravelCity], kind: SightKind | None = None) -> list[_SightLine]:
    """List the sights of a city.

    Args:
        city: The city's id.
        kind: Only sights of this kind.
    """
    rows = tx.all(Sight, city=known(tx, TravelCity, city, "city").id)
    return [_SightLine(sight=row.id, name=row.name, kind=row.kind) for row in rows if kind in (None, row.kind)]


@travel.query
def find_flights_between_cities(
    tx: Tx, origin: Id[TravelCity], destination: Id[TravelCity], max_price: int | None = None
) -> list[_Ride]:
    """List the daily flights from one city to another, by the time of departure.

    Args:
        origin: The id of the city where the journey begins.
        destination: The id of the city where it ends.
        max_price: The most that a flight may cost, in euros.
    """
    return _rides(tx, tx.all(Flight, origin=origin), origin, destination, max_price)


@travel.query
def find_trains_between_cities(
    tx: Tx, origin: Id[TravelCity], destination: Id[TravelCity], max_price: int | None = None
) -> list[_Ride]:
    """List the daily trains from one city to another, by the time of departure.

    Args:
        origin: The id of the city where the journey begins.
        destination: The id of the city where it ends.
        max_price: The most that a ticket may cost, in euros.
    """
    return _rides(tx, tx.all(Train, origin=origin), origin, destination, max_price)


def _rides(
    tx: Tx, rows: list[Flight] | list[Train], origin: str, destination: str, max_price: int | None
) -> list[_Ride]:
    for city in (origin, destination):
        known(tx, TravelCity, city, "city")
    chosen = [row for row in rows if row.destination == destination and (max_price is None or row.price <= max_price)]
    return [
        _Ride(number=row.id, departs=row.departs, arrives=row.arrives, price=row.price)
        for row in sorted(chosen, key=lambda row: row.departs)
    ]


@travel.query
def find_hotel_details(tx: Tx, hotel: Id[Hotel]) -> Hotel:
    """Get all that is known of a hotel but what guests say: stars, price, rooms, pool, breakfast, check-in.

    Args:
        hotel: The hotel's id.
    """
    return known(tx, Hotel, hotel, "hotel")


@travel.query
def find_hotel_reviews(tx: Tx, hotel: Id[Hotel], min_score: int | None = None) -> list[_ReviewLine]:
    """List what guests say of a hotel, 25 reviews at most.

    Args:
        hotel: The hotel's id.
        min_score: Only reviews with at least this score, from 1 to 10.
    """
    rows = tx.all(Review, hotel=known(tx, Hotel, hotel, "hotel").id)
    chosen = first((row for row in rows if min_score is None or row.score >= min_score), None)
    return [_ReviewLine(guest=row.guest, score=row.score, text=row.text) for row in chosen]


@travel.query
def find_sight_details(tx: Tx, sight: Id[Sight]) -> Sight:
    """Get when a sight is open, on which day it is closed, and what it costs.

    Args:
        sight: The sight's id.
    """
    return known(tx, Sight, sight, "sight")
