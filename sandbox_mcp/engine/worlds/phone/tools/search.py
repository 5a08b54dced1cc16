"""Looking things up: holidays, addresses, places, weather, stocks. All of it needs wifi.

Policy: where a tool may be asked about "here", the phone's own position is used, and that needs location service.
"""

from typing import NotRequired, TypedDict, cast

from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.phone.tables import Degrees, Setting
from sandbox_mcp.engine.worlds.phone.tools.rules import check_position
from sandbox_mcp.engine.worlds.phone.tools.sources import here, knowledge, need_wifi
from sandbox_mcp.engine.worlds.phone.world import phone


class _PlaceFound(TypedDict):
    """A place; what is not known is null."""

    name: str
    address: str
    phone_number: str | None
    latitude: float
    longitude: float
    category: str
    opening_hours: str | None
    rating: float | None
    distance_km: float


WEATHER_UNITS = {"temperature_unit": "°C", "wind_speed_unit": "km/h", "precipitation_unit": "mm"}
"""Said with every result, because a number without its unit cannot be converted."""


class _WeatherFound(TypedDict):
    """The weather of one day, in degrees Celsius, km/h, mm and percent; of this moment too where the day is today."""

    current_local_time: NotRequired[str]
    current_temperature: NotRequired[float]
    current_apparent_temperature: NotRequired[float]
    current_humidity: NotRequired[int]
    current_wind_speed: NotRequired[float]
    current_condition: NotRequired[str]
    current_is_day: NotRequired[bool]
    place: str
    region: str
    country: str
    time_zone: str
    latitude: float
    longitude: float
    date: str
    condition: str
    min_temperature: float
    max_temperature: float
    average_temperature: float
    max_wind_speed: float
    wind_direction: str
    average_humidity: int
    precipitation: float
    chance_of_rain: int
    chance_of_snow: int
    uv_index: int
    sunrise: str | None
    sunset: str | None
    moon_phase: str
    moon_illumination: int
    temperature_unit: str
    wind_speed_unit: str
    precipitation_unit: str


class _StockFound(TypedDict):
    """A share's price on its last trading day, in the exchange's currency."""

    symbol: str
    name: str
    exchange: str
    currency: str
    price: float
    previous_close: float
    change: float
    change_percent: float
    trading_day: str


@phone.query(group="search", slow=True)
def search_holiday(tx: Tx, holiday_name: str, year: int | None = None) -> float | None:
    """Find out when a holiday is.

    The holiday meant is one of the country the phone is in, unless its name says otherwise.

    Args:
        holiday_name: What the holiday is called.
        year: Which year's; this year's if left out.

    Returns:
        midnight at the start of that day in seconds since 1970, or null if there is no such holiday.

    Raises:
        ConnectionError: wifi is off.
    """
    from sandbox_mcp.engine.worlds.phone.knowledge.gazetteer import nearest_city

    need_wifi(tx)
    city = nearest_city(*here(tx))
    wanted = year if year is not None else tx.local(tx.now).year
    country = city.country_code if city else "US"
    found = knowledge(tx).holidays.search(holiday_name, wanted, tx.zone, country)
    return found.timestamp if found else None


@phone.query(group="search")
def search_lat_lon(tx: Tx, latitude: Degrees, longitude: Degrees) -> str | None:
    """Find the address of a place on Earth.

    Args:
        latitude: Latitude in degrees.
        longitude: Longitude in degrees.

    Returns:
        the address, or null if there is none near.

    Raises:
        ValueError: a coordinate is out of range.
        ConnectionError: wifi is off.
    """
    check_position(latitude, longitude)
    need_wifi(tx)
    found = knowledge(tx).gazetteer.address(latitude, longitude)
    return found.text if found else None


def _around(tx: Tx, latitude: float | None, longitude: float | None) -> tuple[float, float]:
    check_position(latitude, longitude)
    if (latitude is None) != (longitude is None):
        raise ValueError("`latitude` and `longitude` go together; give both or neither")
    if latitude is not None and longitude is not None:
        return latitude, longitude
    if not tx.one(Setting).location_service:
        raise PermissionError("location service is off, so there is no telling where the phone is")
    return here(tx)


@phone.query(group="search")
def search_location_around_lat_lon(
    tx: Tx, location: str, latitude: Degrees | None = None, longitude: Degrees | None = None
) -> list[_PlaceFound]:
    """Find places by name or kind, near a point or near the phone.

    Args:
        location: What to look for: a name, a kind of place, a town.
        latitude: Latitude of where to look, in degrees; where the phone is if left out.
        longitude: Longitude of where to look, in degrees; where the phone is if left out.

    Returns:
        at most four places, best first, which may be none.

    Raises:
        ValueError: a coordinate is out of range, or only one of the two is given.
        PermissionError: no coordinates are given and location service is off.
        ConnectionError: wifi is off.
    """
    point = _around(tx, latitude, longitude)
    need_wifi(tx)
    found = knowledge(tx).places.search(location, *point)
    shown = _PlaceFound.__annotations__
    return [cast(_PlaceFound, {name: getattr(place, name) for name in shown}) for place in found]


@phone.query(group="search")
def search_weather_around_lat_lon(
    tx: Tx, days: int = 0, latitude: Degrees | None = None, longitude: Degrees | None = None
) -> _WeatherFound | None:
    """Look up the weather of today or of a day to come, near a point or near the phone.

    Args:
        days: How many days from today; 0 is today.
        latitude: Latitude of where, in degrees; where the phone is if left out.
        longitude: Longitude of where, in degrees; where the phone is if left out.

    Returns:
        the weather of that day, and for today also that of this moment, in degrees Celsius, kilometers per hour,
        millimeters and percent; null beyond the forecast.

    Raises:
        ValueError: a coordinate is out of range, only one of the two is given, or the day is in the past.
        PermissionError: no coordinates are given and location service is off.
        ConnectionError: wifi is off.
    """
    point = _around(tx, latitude, longitude)
    if days < 0:
        raise ValueError(f"`days` {days!r} is in the past; expected 0 or more")
    need_wifi(tx)
    found = knowledge(tx).weather.forecast(*point, tx.now, days)
    return cast(_WeatherFound, found.as_dict() | WEATHER_UNITS) if found else None


@phone.query(group="search")
def search_stock(tx: Tx, query: str) -> _StockFound | None:
    """Look up a share by the name of its company or by its symbol.

    Args:
        query: Company name or ticker symbol.

    Returns:
        symbol, name, exchange and prices of the best match, or null if nothing matches.

    Raises:
        ConnectionError: wifi is off.
    """
    need_wifi(tx)
    found = knowledge(tx).stocks.search(query, tx.now)
    return cast(_StockFound, found.as_dict()) if found else None
