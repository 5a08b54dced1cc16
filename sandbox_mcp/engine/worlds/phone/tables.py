"""The phone's tables."""

from typing import Annotated, Self

from sandbox_mcp.engine.world.tables import Id, Moment, Secret, Table, Text, Tolerance, column, key

Degrees = Annotated[float, Tolerance(0.001)]
"""Latitude or longitude."""

CELLULAR = (
    "cellular", "cellular service", "cellular data", "cellular network", "cell", "cell service", "cell data",
    "cell network", "mobile service", "mobile network", "mobile data",
)  # fmt: skip
LOCATION = ("location", "location service", "location services", "location access", "GPS")
SAVING = (
    "low battery mode", "battery mode", "low power mode", "power mode", "low power", "saving mode", "battery saving",
    "battery saving mode", "power saving", "power saving mode", "battery saver", "battery saver mode", "power saver",
    "power saver mode",
)  # fmt: skip


class Setting(Table, single=True, label="phone"):
    """The phone's switches and where it is."""

    device_id: Id[Self] = key()
    cellular: bool = column(called=CELLULAR)
    wifi: bool = column(called=["wi-fi", "wireless", "wireless network", "WLAN"])
    location_service: bool = column(called=LOCATION)
    low_battery_mode: bool = column(called=SAVING)
    latitude: Degrees = column(unsaid=True)
    longitude: Degrees = column(unsaid=True)


class Contact(Table, owner="is_self"):
    """A person whom the phone's owner knows, or the owner."""

    person_id: Id[Self] = key()
    name: str = column(person=True)
    phone_number: str = column(unsaid=True)
    relationship: Text | None
    is_self: bool


class Messaging(Table, lasting=True):
    """A text message that was sent or received."""

    message_id: Id[Self] = key()
    sender_person_id: Id[Contact] | None
    sender_phone_number: str = column(unsaid=True)
    recipient_person_id: Id[Contact] | None
    recipient_phone_number: str = column(unsaid=True)
    content: Text = column(unsaid=True)
    creation_timestamp: Moment = column(passing=True)


class Reminder(Table):
    """Something to be reminded of."""

    reminder_id: Id[Self] = key()
    content: Text
    creation_timestamp: Moment = column(passing=True)
    reminder_timestamp: Moment
    latitude: Degrees | None
    longitude: Degrees | None


class Timer(Table):
    """A timer, running or gone off."""

    timer_id: Id[Self] = key()
    label: str
    creation_timestamp: Moment = column(passing=True)
    due_timestamp: Moment


class PhoneAccount(Table, name="account", single=True, optional=True, label="phone"):
    """The account that some phones demand to be signed in to."""

    account_id: Id[Self] = key()
    username: str
    password: Secret
    signed_in: bool


TABLES = (Setting, Contact, Messaging, Reminder, Timer, PhoneAccount)
