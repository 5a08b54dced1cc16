"""The phone's tables."""

from types import MappingProxyType

from sandbox_mcp.world import Column, TableSchema

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
