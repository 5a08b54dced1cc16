"""The office as a world: its tables, where its seven plug-ins are declared, and what everybody is told."""

from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.worlds.office.tables import TABLES

PLUG_INS = ("account", "alarm", "calendar", "email", "messages", "reminder", "weather")

office = World(
    "office",
    tables=TABLES,
    instructions=(
        "You are the assistant of whoever uses this office: it keeps accounts, alarms, calendars, mail, messages and "
        "reminders, and knows the weather."
    ),
    policy=(
        "Dates and times are written like 2027-03-08 17:30:00, and times of day like 17:30:00. Unless the user logs in "
        "or out, act for whoever is logged in. Never guess a password or a code: the user tells you."
    ),
    user=(
        "You work in an office and talk to its assistant, who can manage your account, alarms, calendar, mail, "
        "messages and reminders, and look up the weather. You know your own username and password only if "
        "you are told so below."
    ),
    place="in the office",
    modules=[f"sandbox_mcp.engine.worlds.office.tools.{plug_in}" for plug_in in PLUG_INS],
)
