"""Conversions: units, money, and coordinates into distance. Only money needs the network."""

from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.phone.tables import Degrees
from sandbox_mcp.engine.worlds.phone.tools.rules import check_position
from sandbox_mcp.engine.worlds.phone.tools.sources import knowledge, need_wifi
from sandbox_mcp.engine.worlds.phone.world import phone


@phone.query(group="conversion", computes=True, slow=True)
def unit_conversion(tx: Tx, amount: float, from_unit: str, to_unit: str) -> float:
    """Convert an amount from one unit of measurement to another.

    Args:
        amount: How much.
        from_unit: The unit it is in, such as "kilometer", "lb" or "celsius".
        to_unit: The unit wanted, which must measure the same thing.

    Returns:
        the amount in the unit wanted.

    Raises:
        UnknownUnitError: there is no such unit.
        IncompatibleUnitsError: the units measure different things.
    """
    return knowledge(tx).units.convert(amount, from_unit, to_unit)


@phone.query(group="conversion")
def convert_currency(tx: Tx, amount: float, from_currency_code: str, to_currency_code: str) -> float:
    """Convert an amount of money into another currency at today's rate.

    Args:
        amount: How much.
        from_currency_code: ISO 4217 code of the currency it is in, such as "EUR".
        to_currency_code: ISO 4217 code of the currency wanted.

    Returns:
        the amount in the currency wanted.

    Raises:
        UnknownCurrencyError: there is no such currency.
        ConnectionError: wifi is off.
        NoRateError: nobody quotes that currency today.
    """
    from sandbox_mcp.engine.worlds.phone.knowledge.currency import currency

    for code in (from_currency_code, to_currency_code):
        currency(code)
    need_wifi(tx)
    return knowledge(tx).currency.convert(amount, from_currency_code, to_currency_code, tx.now).result


@phone.query(group="conversion", computes=True)
def calculate_lat_lon_distance(
    tx: Tx, latitude_0: Degrees, longitude_0: Degrees, latitude_1: Degrees, longitude_1: Degrees
) -> float:
    """Measure how far two places on Earth are apart, as the crow flies.

    Args:
        latitude_0: Latitude of the first place in degrees.
        longitude_0: Longitude of the first place in degrees.
        latitude_1: Latitude of the second place in degrees.
        longitude_1: Longitude of the second place in degrees.

    Returns:
        the distance in kilometers.

    Raises:
        ValueError: a coordinate is out of range.
    """
    check_position(latitude_0, None, "_0")
    check_position(latitude_1, None, "_1")
    check_position(None, longitude_0, "_0")
    check_position(None, longitude_1, "_1")
    return knowledge(tx).distance.kilometers(latitude_0, longitude_0, latitude_1, longitude_1)
