"""A record of spaceflight: agencies, rockets, launches with crews and payloads, astronauts, and stays on stations."""

from typing import Literal, Self, TypedDict

from sandbox_mcp.engine.tools.declaring import World
from sandbox_mcp.engine.world.tables import Id, Table, key
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.lookups.looking import first, has_words, known, window

LaunchOutcome = Literal["success", "partial failure", "failure"]
Orbit = Literal["low", "polar", "geostationary", "lunar"]
Seat = Literal["commander", "pilot", "engineer", "specialist"]


class Agency(Table, fixed="data/space_agencies.csv"):
    """Who flies."""

    id: Id[Self] = key()
    name: str
    country: str
    founded: int


class Rocket(Table, fixed="data/space_rockets.csv"):
    """A type of rocket; its height in metres."""

    id: Id[Self] = key()
    name: str
    agency: Id[Agency]
    height: int
    reusable: bool


class Launch(Table, fixed="data/space_launches.csv"):
    """One launch; days are written as 2024-05-31."""

    id: Id[Self] = key()
    mission: str
    rocket: Id[Rocket]
    site: str
    day: str
    outcome: LaunchOutcome


class Payload(Table, fixed="data/space_payloads.csv"):
    """What a launch carries; its mass in kilograms."""

    id: Id[Self] = key()
    launch: Id[Launch]
    name: str
    mass: int
    orbit: Orbit


class Astronaut(Table, fixed="data/space_astronauts.csv"):
    """An astronaut, and the agency they fly for."""

    id: Id[Self] = key()
    name: str
    agency: Id[Agency]
    nationality: str
    born: str


class CrewSeat(Table, fixed="data/space_crews.csv"):
    """Who sits where in a launch."""

    id: Id[Self] = key()
    launch: Id[Launch]
    astronaut: Id[Astronaut]
    seat: Seat


class Station(Table, fixed="data/space_stations.csv"):
    """A place to stay in orbit."""

    id: Id[Self] = key()
    name: str
    agency: Id[Agency]
    opened: str


class Stay(Table, fixed="data/space_stays.csv"):
    """How long an astronaut was on a station."""

    id: Id[Self] = key()
    station: Id[Station]
    astronaut: Id[Astronaut]
    arrived: str
    left: str
    days: int


class _LaunchLine(TypedDict):
    """A launch in a list."""

    launch: str
    mission: str
    day: str


class _LaunchDetails(_LaunchLine):
    """What is known of a launch."""

    site: str
    outcome: LaunchOutcome
    rocket: str
    rocket_name: str
    agency: str


class _SeatLine(TypedDict):
    """An astronaut in a crew."""

    astronaut: str
    name: str
    seat: Seat


class _FlightLine(_LaunchLine):
    """A launch, and the seat that an astronaut had in it."""

    seat: Seat


class _PayloadLine(TypedDict):
    """What a launch carried; the mass in kilograms."""

    name: str
    mass: int
    orbit: Orbit


class _StayLine(TypedDict):
    """A stay on a station."""

    station: str
    station_name: str
    arrived: str
    left: str
    days: int


class _VisitLine(TypedDict):
    """An astronaut's stay, as a station lists it."""

    astronaut: str
    name: str
    arrived: str
    left: str
    days: int


spaceflight = World(
    "spaceflight",
    tables=[Agency, Rocket, Launch, Payload, Astronaut, CrewSeat, Station, Stay],
    instructions="You answer questions with the help of a record of spaceflight.",
    user="You talk to an assistant that can look launches and astronauts up for you.",
    place="in the record of spaceflight",
)


def _launch(tx: Tx, launch: str) -> Launch:
    return known(tx, Launch, launch, "launch")


def _astronaut(tx: Tx, astronaut: str) -> Astronaut:
    return known(tx, Astronaut, astronaut, "astronaut")


def _line(row: Launch) -> _LaunchLine:
    return _LaunchLine(launch=row.id, mission=row.mission, day=row.day)


@spaceflight.query
def find_agency(tx: Tx, name: str | None = None, country: str | None = None) -> list[Agency]:
    """Find space agencies by name or by country.

    Args:
        name: The name, or words of it.
        country: The country that the agency belongs to.
    """
    rows = tx.all(Agency)
    return [row for row in rows if _named(row.name, name) and _named(row.country, country)]


def _check_agency(tx: Tx, agency: Id[Agency] | None) -> None:
    if agency is not None:
        known(tx, Agency, agency, "agency")


def _named(text: str, wanted: str | None) -> bool:
    return wanted is None or has_words(text, wanted)


@spaceflight.query
def find_astronaut(
    tx: Tx, name: str | None = None, agency: Id[Agency] | None = None, nationality: str | None = None
) -> list[Astronaut]:
    """Find astronauts by name, agency or nationality, with the day on which they were born, 25 at most.

    Args:
        name: The name, or a part of it.
        agency: The id of the agency they fly for.
        nationality: Where they come from, such as Norwegian.
    """
    _check_agency(tx, agency)
    rows = [
        row
        for row in tx.all(Astronaut)
        if _named(row.name, name) and agency in (None, row.agency) and _named(row.nationality, nationality)
    ]
    return first(rows, None)


@spaceflight.query
def find_launch(
    tx: Tx,
    mission: str | None = None,
    after: str | None = None,
    before: str | None = None,
    outcome: LaunchOutcome | None = None,
) -> list[_LaunchLine]:
    """Find launches by mission, day or outcome, the earliest first, 25 at most.

    Args:
        mission: The name of the mission, or words of it.
        after: The first day that counts, such as 2021-06-30.
        before: The last day that counts.
        outcome: How the launch ended.
    """
    counts = window(after, before)
    rows = [
        row
        for row in tx.all(Launch)
        if _named(row.mission, mission) and counts(row.day) and outcome in (None, row.outcome)
    ]
    return [_line(row) for row in first(rows, None)]


@spaceflight.query
def find_rocket(tx: Tx, name: str | None = None, agency: Id[Agency] | None = None) -> list[Rocket]:
    """Find types of rockets by name or agency, with their height in metres.

    Args:
        name: The name, or a part of it.
        agency: The id of the agency that flies them.
    """
    _check_agency(tx, agency)
    return [row for row in tx.all(Rocket) if _named(row.name, name) and agency in (None, row.agency)]


@spaceflight.query
def find_station(tx: Tx, name: str | None = None) -> list[Station]:
    """Find space stations by name, with the day on which they were opened.

    Args:
        name: The name, or a part of it.
    """
    return [row for row in tx.all(Station) if _named(row.name, name)]


@spaceflight.query
def find_launches_with_astronaut(tx: Tx, astronaut: Id[Astronaut]) -> list[_FlightLine]:
    """List the launches that an astronaut was on, the earliest first.

    Args:
        astronaut: The astronaut's id.
    """
    seats = tx.all(CrewSeat, astronaut=_astronaut(tx, astronaut).id)
    rows = sorted(((_launch(tx, seat.launch), seat) for seat in seats), key=lambda pair: pair[0].day)
    return [_FlightLine(launch=row.id, mission=row.mission, day=row.day, seat=seat.seat) for row, seat in rows]


@spaceflight.query
def find_stays_with_astronaut(tx: Tx, astronaut: Id[Astronaut]) -> list[_StayLine]:
    """List an astronaut's stays on space stations, the earliest first.

    Args:
        astronaut: The astronaut's id.
    """
    rows = sorted(tx.all(Stay, astronaut=_astronaut(tx, astronaut).id), key=lambda row: row.arrived)
    return [
        _StayLine(
            station=row.station,
            station_name=known(tx, Station, row.station, "station").name,
            arrived=row.arrived,
            left=row.left,
            days=row.days,
        )
        for row in rows
    ]


@spaceflight.query
def find_crew_with_launch(tx: Tx, launch: Id[Launch]) -> list[_SeatLine]:
    """List who was aboard a launch, and in which seat; nobody if it carried no crew.

    Args:
        launch: The launch's id.
    """
    rows = tx.all(CrewSeat, launch=_launch(tx, launch).id)
    return [_SeatLine(astronaut=row.astronaut, name=_astronaut(tx, row.astronaut).name, seat=row.seat) for row in rows]


@spaceflight.query
def find_details_with_launch(tx: Tx, launch: Id[Launch]) -> _LaunchDetails:
    """Get a launch's day, site, outcome and rocket, and the agency that flew it.

    Args:
        launch: The launch's id.
    """
    row = _launch(tx, launch)
    rocket = known(tx, Rocket, row.rocket, "rocket")
    return _LaunchDetails(
        launch=row.id, mission=row.mission, day=row.day, site=row.site, outcome=row.outcome, rocket=rocket.id,
        rocket_name=rocket.name, agency=rocket.agency,
    )  # fmt: skip


@spaceflight.query
def find_payloads_with_launch(tx: Tx, launch: Id[Launch]) -> list[_PayloadLine]:
    """List what a launch carried, with mass in kilograms and orbit.

    Args:
        launch: The launch's id.
    """
    rows = tx.all(Payload, launch=_launch(tx, launch).id)
    return [_PayloadLine(name=row.name, mass=row.mass, orbit=row.orbit) for row in rows]


@spaceflight.query
def find_launches_with_rocket(tx: Tx, rocket: Id[Rocket], outcome: LaunchOutcome | None = None) -> list[_LaunchLine]:
    """List the launches of a type of rocket, the earliest first, 25 at most.

    Args:
        rocket: The rocket's id.
        outcome: Only launches that ended so.
    """
    rows = tx.all(Launch, rocket=known(tx, Rocket, rocket, "rocket").id)
    return [_line(row) for row in first((row for row in rows if outcome in (None, row.outcome)), None)]


@spaceflight.query
def find_stays_with_station(
    tx: Tx, station: Id[Station], after: str | None = None, before: str | None = None
) -> list[_VisitLine]:
    """List who stayed on a space station, by the day of arrival.

    Args:
        station: The station's id.
        after: The first day of arrival that counts, such as 2021-06-30.
        before: The last day of arrival that counts.
    """
    counts = window(after, before)
    rows = tx.all(Stay, station=known(tx, Station, station, "station").id)
    chosen = sorted((row for row in rows if counts(row.arrived)), key=lambda row: row.arrived)
    return [
        _VisitLine(
            astronaut=row.astronaut,
            name=_astronaut(tx, row.astronaut).name,
            arrived=row.arrived,
            left=row.left,
            days=row.days,
        )
        for row in chosen
    ]
