"""Names of ToolSandbox, and ours for the same: scenarios, variants, tables, roles and rows.

Policy: whatever comes from its scenarios or its results gets names by the same rules, so that both fit together.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sandbox_scenarios.values import row_id
from sandbox_scenarios.variants import BASE

from sandbox_mcp.engine.trajectory import Role
from sandbox_mcp.engine.worlds import default

VARIANTS: Mapping[str, str] = {
    "3_distraction_tools": "3_distraction_tools",
    "10_distraction_tools": "10_distraction_tools",
    "all_tools": "all_tools",
    "3_distraction_tools_tool_name_scrambled": "tool_name_scrambled",
    "3_distraction_tools_tool_description_scrambled": "tool_description_scrambled",
    "3_distraction_tools_arg_description_scrambled": "argument_description_scrambled",
    "3_distraction_tools_arg_type_scrambled": "argument_type_scrambled",
}
"""What follows the name of a scenario there, and the variant here; alone it is without distraction tools."""
TABLES: Mapping[str, str] = {
    "SETTING": "setting", "CONTACT": "contact", "MESSAGING": "messaging", "REMINDER": "reminder",
}  # fmt: skip
MESSAGES = "SANDBOX"
"""The table of messages."""
ROLES: Mapping[str, Role] = {
    "SYSTEM": "system", "USER": "user", "AGENT": "agent", "EXECUTION_ENVIRONMENT": "environment",
}  # fmt: skip
KEYS: Mapping[str, str] = {
    "setting": "device_id", "contact": "person_id", "messaging": "message_id", "reminder": "reminder_id",
}  # fmt: skip
_WORDLESS = re.compile(r"[^a-z0-9]+")


def split_name(name: str) -> tuple[str, str]:
    """The scenario and the variant that one of its names stands for."""
    for ending, variant in VARIANTS.items():
        if name.endswith(f"_{ending}"):
            return name.removesuffix(f"_{ending}"), variant
    return name, BASE


def label_of(table: str, number: int, row: Mapping[str, Any]) -> str:
    """Label of the row at that place of a table in a scenario file: its name, or else its number."""
    schema = default().tables[table]
    if schema.single:
        return schema.label
    return _WORDLESS.sub("_", str(row.get("name") or "").lower()).strip("_") or f"{table}_{number}"


def ids_of(tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, str]:
    """The ids that rows have here by those that they have there, for the tables at the beginning of a scenario.

    Of rows that share an id, which some messages do there, it is that of the first.
    """
    found: dict[str, str] = {}
    for table, key in KEYS.items():
        for number, row in enumerate(tables.get(table, ())):
            known = row.get(key)
            if isinstance(known, str) and known:
                found.setdefault(known, row_id(table, label_of(table, number, row)))
    return found
