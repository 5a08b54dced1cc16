"""The published figures that the suite is held against.

Source: ToolSandbox, tables 4, 6, 7 and 8. Tables 6 to 8 count every scenario once per variant. ToolTalk, section 2 and
the conversations of its repository.
"""

from collections.abc import Mapping
from types import MappingProxyType

STATISTICS: Mapping[str, float] = MappingProxyType(
    {"average turns": 13.9, "average tool calls": 3.80, "test cases": 1032, "tools": 34}
)
"""Table 4. Turns and calls are those of trajectories of an agent; ours are those of the reference solutions."""

CATEGORIES: Mapping[str, int] = MappingProxyType(
    {
        "single_tool_call": 152, "multiple_tool_call": 656, "single_user_turn": 584, "multiple_user_turn": 224,
        "state_dependency": 192, "canonicalization": 472, "insufficient_information": 224,
    }
)  # fmt: skip
"""Table 6: test cases per category."""

COLUMNS: Mapping[str, int] = MappingProxyType(
    {
        "contact.is_self": 48, "contact.name": 56, "contact.person_id": 136, "contact.phone_number": 88,
        "contact.relationship": 56, "messaging.content": 40, "messaging.recipient_phone_number": 40,
        "reminder.content": 136, "reminder.latitude": 40, "reminder.longitude": 40, "reminder.reminder_id": 32,
        "reminder.reminder_timestamp": 152, "setting.cellular": 56, "setting.location_service": 56,
        "setting.low_battery_mode": 120, "setting.wifi": 136,
    }
)  # fmt: skip
"""Table 7: milestones per table and column."""

TOOLS: Mapping[str, int] = MappingProxyType(
    {
        "calculate_lat_lon_distance": 32, "convert_currency": 16, "datetime_info_to_timestamp": 32,
        "get_cellular_service_status": 8, "get_current_location": 48, "get_current_timestamp": 296,
        "get_wifi_status": 8, "search_contacts": 168, "search_holiday": 56, "search_lat_lon": 24,
        "search_location_around_lat_lon": 48, "search_messages": 104, "search_reminder": 80, "search_stock": 24,
        "search_weather_around_lat_lon": 80, "timestamp_diff": 96, "unit_conversion": 56,
    }
)  # fmt: skip
"""Table 8: milestones per tool."""

TOOLTALK = "office"
"""The world that ToolTalk describes."""

DIALOGUES: Mapping[str, float] = MappingProxyType(
    {
        "easy conversations": 28, "hard conversations": 50, "average turns of a hard one": 7.42,
        "average calls of a hard one": 4.76, "tools": 28, "plug-ins": 7,
    }
)  # fmt: skip
"""ToolTalk, section 2; the two averages are those of its 50 hard conversations."""
