"""The phone's switches and where it is.

Policy: low battery mode switches the three services off and keeps them off; leaving it restores nothing.
"""

from typing import TypedDict, cast

from sandbox_mcp.tools.definition import action, query
from sandbox_mcp.world import Cell, Transaction
from sandbox_mcp.worlds.phone.world import phone

SERVICES = ("cellular", "wifi", "location_service")


class Position(TypedDict):
    """A place on Earth in degrees."""

    latitude: float
    longitude: float


def device(tx: Transaction) -> str:
    """The id of the only row of the settings."""
    return next(iter(tx.base.table("setting")))


def setting(tx: Transaction, column: str) -> Cell:
    """One setting."""
    return tx.cell("setting", device(tx), column)


def _switch(tx: Transaction, column: str, label: str, on: bool) -> None:
    if on and column in SERVICES and setting(tx, "low_battery_mode"):
        raise PermissionError(f"{label} cannot be turned on in low battery mode")
    if setting(tx, column) is on:
        raise ValueError(f"{label} is already {'on' if on else 'off'}")
    tx.update("setting", device(tx), {column: on})


@action("setting")
def set_low_battery_mode_status(tx: Transaction, on: bool) -> None:
    """Turn low battery mode on or off.

    Turning it on also turns cellular service, wifi and location service off. Turning it off leaves them as they are.

    Args:
        on: True to turn it on, false to turn it off.

    Raises:
        ValueError: low battery mode already is in that state.
    """
    _switch(tx, "low_battery_mode", "low battery mode", on)
    if on:
        tx.update("setting", device(tx), dict.fromkeys(SERVICES, False))


@query("setting")
def get_low_battery_mode_status(tx: Transaction) -> bool:
    """Tell whether low battery mode is on.

    Returns:
        true if it is on, false if it is off.
    """
    return bool(setting(tx, "low_battery_mode"))


@action("setting")
def set_wifi_status(tx: Transaction, on: bool) -> None:
    """Turn wifi on or off.

    Args:
        on: True to turn it on, false to turn it off.

    Raises:
        PermissionError: wifi cannot be turned on in low battery mode.
        ValueError: wifi already is in that state.
    """
    _switch(tx, "wifi", "wifi", on)


@query("setting")
def get_wifi_status(tx: Transaction) -> bool:
    """Tell whether wifi is on.

    Returns:
        true if it is on, false if it is off.
    """
    return bool(setting(tx, "wifi"))


@action("setting")
def set_cellular_service_status(tx: Transaction, on: bool) -> None:
    """Turn cellular service on or off.

    Args:
        on: True to turn it on, false to turn it off.

    Raises:
        PermissionError: cellular service cannot be turned on in low battery mode.
        ValueError: cellular service already is in that state.
    """
    _switch(tx, "cellular", "cellular service", on)


@query("setting")
def get_cellular_service_status(tx: Transaction) -> bool:
    """Tell whether cellular service is on.

    Returns:
        true if it is on, false if it is off.
    """
    return bool(setting(tx, "cellular"))


@action("setting")
def set_location_service_status(tx: Transaction, on: bool) -> None:
    """Turn location service on or off.

    Args:
        on: True to turn it on, false to turn it off.

    Raises:
        PermissionError: location service cannot be turned on in low battery mode.
        ValueError: location service already is in that state.
    """
    _switch(tx, "location_service", "location service", on)


@query("setting")
def get_location_service_status(tx: Transaction) -> bool:
    """Tell whether location service is on.

    Returns:
        true if it is on, false if it is off.
    """
    return bool(setting(tx, "location_service"))


@query("setting")
def get_current_location(tx: Transaction) -> Position:
    """Find out where the phone is.

    Returns:
        latitude and longitude in degrees.

    Raises:
        PermissionError: location service is off.
    """
    if not setting(tx, "location_service"):
        raise PermissionError("location service is off")
    return Position(latitude=cast(float, setting(tx, "latitude")), longitude=cast(float, setting(tx, "longitude")))


phone.include(
    set_low_battery_mode_status, get_low_battery_mode_status,
    set_wifi_status, get_wifi_status,
    set_cellular_service_status, get_cellular_service_status,
    set_location_service_status, get_location_service_status,
    get_current_location,
)  # fmt: skip
