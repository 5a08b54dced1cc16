"""A phone to try tools on."""

from datetime import UTC, datetime
from typing import Any

from sandbox_mcp.engine.tools import Outcome, call, present
from sandbox_mcp.engine.world import Clock, IdStream, Running, snapshot_of
from sandbox_mcp.engine.worlds.phone import phone

ME, ANN, BOB, EVE = "p-me", "p-ann", "p-bob", "p-eve"
NOW = datetime(2025, 5, 16, 14, 30, tzinfo=UTC).timestamp()
"""Friday, half past nine in the morning in Chicago."""
HOUR, DAY = 3600.0, 86400.0
OFFERED = {name: present(tool) for name, tool in phone.agent_tools.items()}


def contact(key: str, name: str, number: str, relationship: str | None, is_self: bool = False) -> dict[str, Any]:
    return {
        "person_id": key,
        "name": name,
        "phone_number": number,
        "relationship": relationship,
        "is_self": is_self,
    }


CONTACTS = (
    contact(ME, "Ingrid Halvorsen", "+13125550142", "self", is_self=True),
    contact(ANN, "Ann Okafor", "+17735550113", "sister"),
    contact(BOB, "Bob Reyes", "+13125550178", "colleague"),
    contact(EVE, "Eve Voss", "+16305550129", "colleague"),
)


def message(key: str, sender: str | None, recipient: str | None, content: str, ago: float) -> dict[str, Any]:
    numbers: dict[str | None, str] = {row["person_id"]: row["phone_number"] for row in CONTACTS}
    return {
        "message_id": key,
        "sender_person_id": sender,
        "sender_phone_number": numbers.get(sender, "+12245550190"),
        "recipient_person_id": recipient,
        "recipient_phone_number": numbers.get(recipient, "+12245550190"),
        "content": content,
        "creation_timestamp": NOW - ago,
    }


MESSAGES = (
    message("m-parcel", None, ME, "Your parcel is waiting at locker 27", 3 * DAY),
    message("m-ask", ANN, ME, "Are we still on for dinner on Saturday?", DAY),
    message("m-answer", ME, ANN, "Yes! I will book a table", HOUR),
)


def reminder(
    key: str, content: str, made: float, due: float, place: tuple[float, float] | None = None
) -> dict[str, Any]:
    latitude, longitude = place or (None, None)
    return {
        "reminder_id": key,
        "content": content,
        "creation_timestamp": NOW - made,
        "reminder_timestamp": NOW + due,
        "latitude": latitude,
        "longitude": longitude,
    }


REMINDERS = (
    reminder("r-books", "Return the library books", 4 * DAY, -DAY),
    reminder("r-dentist", "Dentist appointment", 2 * DAY, 5 * HOUR, (41.8896, -87.6298)),
    reminder("r-plants", "Water the plants", HOUR, 2 * DAY),
)


class Phone:
    """A world with a few rows, and short ways to call its tools."""

    def __init__(
        self, contacts: tuple[dict[str, Any], ...] = CONTACTS, zone: str = "America/Chicago", **on: bool
    ) -> None:
        setting = {
            "device_id": "d", "cellular": True, "wifi": True, "location_service": True, "low_battery_mode": False,
            "latitude": 41.8827, "longitude": -87.6233, **on,
        }  # fmt: skip
        tables = {
            "setting": {"d": setting},
            "contact": {row["person_id"]: row for row in contacts},
            "messaging": {row["message_id"]: row for row in MESSAGES},
            "reminder": {row["reminder_id"]: row for row in REMINDERS},
            "timer": {},
            "account": {"a": {"account_id": "a", "username": "ingrid", "password": "s3cret", "signed_in": False}},
        }
        self.world = Running(snapshot_of(tables), Clock(NOW, zone), IdStream("test"))

    def call(self, tool: str, arguments: object) -> Outcome:
        """Whatever comes of it."""
        return call(self.world, OFFERED, tool, arguments)

    def do(self, tool: str, **arguments: Any) -> Any:
        """The result of a call that works."""
        outcome = self.call(tool, arguments)
        assert outcome.fault is None, outcome.fault
        return outcome.result

    def fails(self, tool: str, **arguments: Any) -> str:
        """What the caller is told of a call that does not work, and leaves no trace."""
        before = self.world.snapshot
        outcome = self.call(tool, arguments)
        assert outcome.fault is not None, outcome.result
        assert outcome.fault.kind == "execution", outcome.fault
        assert outcome.changes == ()
        assert self.world.snapshot is before
        return outcome.fault.text

    def rows(self, table: str) -> list[dict[str, Any]]:
        """All rows of a table."""
        return [dict(row) for row in self.world.snapshot.table(table).values()]

    def row(self, table: str, key: str) -> dict[str, Any]:
        """One row."""
        return dict(self.world.snapshot.table(table)[key])

    def off(self) -> set[str]:
        """The switches that are off."""
        (setting,) = self.rows("setting")
        return {name for name, value in setting.items() if value is False}
