"""The office as a world: its tables, where its seven plug-ins are declared, and what everybody is told.

Policy: no tool of the office tells the date, so its agent is told at the beginning of a session where and when it is
and who is logged in. Source: ToolTalk, section 4.1 and figure 1, where location, time and user name are part of the
instructions.
"""

from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.tools.hints import Hints
from sandbox_mcp.engine.world import Clock, Snapshot, to_local
from sandbox_mcp.engine.worlds.office.tables import TABLES

PLUG_INS = ("account", "alarm", "calendar", "email", "messages", "reminder", "weather")


def situation(state: Snapshot, clock: Clock, where: str) -> str:
    """Where and when a session begins, and who is logged in."""
    place = f"The user is in {where}. " if where else ""
    moment = f"{to_local(clock.now, clock.zone):%A, %Y-%m-%d %H:%M:%S}"
    accounts = state.table("account")
    names = [accounts[str(row["account"])]["username"] for row in state.table("session").values()]
    return f"{place}It is {moment}. {f'{names[0]} is logged in.' if names else 'Nobody is logged in.'}"


def _hints() -> Hints:
    from sandbox_mcp.engine.worlds.office.hints import hints  # only those who try scenarios ask for them

    return hints()


office = World(
    "office",
    version="2",
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
    situation=situation,
    hints=_hints,
    modules=[f"sandbox_mcp.engine.worlds.office.tools.{plug_in}" for plug_in in PLUG_INS],
)
