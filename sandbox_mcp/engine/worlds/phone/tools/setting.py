"""The phone's switches and where it is.

Policy: low battery mode switches the three services off and keeps them off; leaving it restores nothing.
"""

from typing import TypedDict

from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.phone.tables import Setting
from sandbox_mcp.engine.worlds.phone.world import phone

SERVICES = ("cellular", "wifi", "location_service")


class _Position(TypedDict):
    """A place on Earth in degrees."""

    latitude: float
    longitude: float


def _switch(tx: Tx, column: str, label: str, on: bool) -> None:
    setting = tx.one(Setting)
    if on and column in SERVICES and setting.low_battery_mode:
        raise PermissionError(f"{label} cannot be turned on in low battery mode")
    if getattr(setting, column) is on:
        raise ValueError(f"{label} is already {'on' if on else 'off'}")
    tx.change(setting, **{column: on})


@phone.action(
    group="setting",
    destructive=False,
    updates=[Setting.low_battery_mode, Setting.cellular, Setting.wifi, Setting.location_service],
    said=["turned", "switched", "enabled", "disabled", "activated", "deactivated"],
)
def set_low_battery_mode_status(tx: Tx, on: bool) -> None:
    """Turn low battery mode on or off.

    Turning it on also turns cellular service, wifi and location service off. Turning it off leaves them as they are.

    Args:
        on: True to turn it on, false to turn it off.

    Raises:
        ValueError: low battery mode already is in that state.
    """
    _switch(tx, "low_battery_mode", "low battery mode", on)
    if on:
        tx.change(tx.one(Setting), **dict.fromkeys(SERVICES, False))


@phone.query(group="setting")
def get_low_battery_mode_status(tx: Tx) -> bool:
    """Tell whether low battery mode is on.

    Returns:
        true if it is on, false if it is off.
    """
    return tx.one(Setting).low_battery_mode


@phone.action(
    group="setting",
    destructive=False,
    updates=[Setting.wifi],
    said=["turned", "switched", "enabled", "disabled", "activated", "deactivated"],
)
def set_wifi_status(tx: Tx, on: bool) -> None:
    """Turn wifi on or off.

    Args:
        on: True to turn it on, false to turn it off.

    Raises:
        PermissionError: wifi cannot be turned on in low battery mode.
        ValueError: wifi already is in that state.
    """
    _switch(tx, "wifi", "wifi", on)


@phone.query(group="setting")
def get_wifi_status(tx: Tx) -> bool:
    """Tell whether wifi is on.

    Returns:
        true if it is on, false if it is off.
    """
    return tx.one(Setting).wifi


@phone.action(
    group="setting",
    destructive=False,
    updates=[Setting.cellular],
    said=["turned", "switched", "enabled", "disabled", "activated", "deactivated"],
)
def set_cellular_service_status(tx: Tx, on: bool) -> None:
    """Turn cellular service on or off.

    Args:
        on: True to turn it on, false to turn it off.

    Raises:
        PermissionError: cellular service cannot be turned on in low battery mode.
        ValueError: cellular service already is in that state.
    """
    _switch(tx, "cellular", "cellular service", on)


@phone.query(group="setting")
def get_cellular_service_status(tx: Tx) -> bool:
    """Tell whether cellular service is on.

    Returns:
        true if it is on, false if it is off.
    """
    return tx.one(Setting).cellular


@phone.action(
    group="setting",
    destructive=False,
    updates=[Setting.location_service],
    said=["turned", "switched", "enabled", "disabled", "activated", "deactivated"],
)
def set_location_service_status(tx: Tx, on: bool) -> None:
    """Turn location service on or off.

    Args:
        on: True to turn it on, false to turn it off.

    Raises:
        PermissionError: location service cannot be turned on in low battery mode.
        ValueError: location service already is in that state.
    """
    _switch(tx, "location_service", "location service", on)


@phone.query(group="setting")
def get_location_service_status(tx: Tx) -> bool:
    """Tell whether location service is on.

    Returns:
        true if it is on, false if it is off.
    """
    return tx.one(Setting).location_service


@phone.query(group="setting")
def get_current_location(tx: Tx) -> _Position:
    """Find out where the phone is.

    Returns:
        latitude and longitude in degrees.

    Raises:
        PermissionError: location service is off.
    """
    setting = tx.one(Setting)
    if not setting.location_service:
        raise PermissionError("location service is off")
    return _Position(latitude=setting.latitude, longitude=setting.longitude)
