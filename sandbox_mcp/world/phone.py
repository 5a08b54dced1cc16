"""The phone's tables: the columns a scenario may fill, a tool may write and a milestone may compare."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

ColumnType = Literal["string", "number", "boolean", "timestamp"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, what its cells hold and whether a cell may be null."""

    name: str
    type: ColumnType
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class TableSchema:
    """One table; ``key`` is the column that holds the row id.

    ``single`` means that it has one row, ``optional`` that it may have none.
    """

    name: str
    key: str
    columns: tuple[Column, ...]
    single: bool = False
    optional: bool = False

    def column(self, name: str) -> Column | None:
        """The column of that name, if the table has one."""
        return next((column for column in self.columns if column.name == name), None)


SETTING = TableSchema(
    "setting",
    "device_id",
    (
        Column("device_id", "string"),
        Column("cellular", "boolean"),
        Column("wifi", "boolean"),
        Column("location_service", "boolean"),
        Column("low_battery_mode", "boolean"),
        Column("latitude", "number"),
        Column("longitude", "number"),
    ),
    single=True,
)
CONTACT = TableSchema(
    "contact",
    "person_id",
    (
        Column("person_id", "string"),
        Column("name", "string"),
        Column("phone_number", "string"),
        Column("relationship", "string", nullable=True),
        Column("is_self", "boolean"),
    ),
)
MESSAGING = TableSchema(
    "messaging",
    "message_id",
    (
        Column("message_id", "string"),
        Column("sender_person_id", "string", nullable=True),
        Column("sender_phone_number", "string"),
        Column("recipient_person_id", "string", nullable=True),
        Column("recipient_phone_number", "string"),
        Column("content", "string"),
        Column("creation_timestamp", "timestamp"),
    ),
)
REMINDER = TableSchema(
    "reminder",
    "reminder_id",
    (
        Column("reminder_id", "string"),
        Column("content", "string"),
        Column("creation_timestamp", "timestamp"),
        Column("reminder_timestamp", "timestamp"),
        Column("latitude", "number", nullable=True),
        Column("longitude", "number", nullable=True),
    ),
)

TIMER = TableSchema(
    "timer",
    "timer_id",
    (
        Column("timer_id", "string"),
        Column("label", "string"),
        Column("creation_timestamp", "timestamp"),
        Column("due_timestamp", "timestamp"),
    ),
)
ACCOUNT = TableSchema(
    "account",
    "account_id",
    (
        Column("account_id", "string"),
        Column("username", "string"),
        Column("password", "string"),
        Column("signed_in", "boolean"),
    ),
    single=True,
    optional=True,
)

SCHEMAS = MappingProxyType({schema.name: schema for schema in (SETTING, CONTACT, MESSAGING, REMINDER, TIMER, ACCOUNT)})
"""Every table of the phone by name."""
