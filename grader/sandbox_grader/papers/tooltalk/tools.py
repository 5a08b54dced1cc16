"""The 28 tools of ToolTalk: suite, whether a tool is an action, and how calls of it are compared, as tables.

Source: ToolTalk, section 2.1 and appendix A; the comparisons of ``COMPAT`` are those of the authors' code.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

FORMAT = "tooltalk"
"""``origin.format`` of sessions imported from ToolTalk's conversation files."""


@dataclass(frozen=True, slots=True)
class ToolTalkTool:
    """A tool's suite, and whether it changes the world."""

    suite: str
    action: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """Comparison of two calls of a tool by the authors' code, beyond their outcome.

    ``only`` are the arguments looked at (None: all that the reference has), ``ignored`` those that are not. ``text``
    maps free-text arguments to the likeness they need, ``sets`` compare without order, ``dates`` by their day alone.
    ``result``: not looked at, equal, or each reference id (second of ``ids``) in the list (first of ``ids``) also
    among those of the call. ``whole``: the arguments as a whole must be equal. ``nulls``: whether null equals null.
    """

    result: Literal["ignored", "equal", "ids"] = "equal"
    ids: tuple[str, str] = ("", "")
    only: frozenset[str] | None = None
    ignored: frozenset[str] = frozenset()
    text: Mapping[str, float] = field(default_factory=dict[str, float])
    sets: frozenset[str] = frozenset()
    dates: frozenset[str] = frozenset()
    whole: bool = False
    nulls: bool = True


_ACTIONS = {
    "AccountTools": (
        "ChangePassword", "DeleteAccount", "LogoutUser", "RegisterUser", "ResetPassword", "SendVerificationCode",
        "UpdateAccountInformation", "UserLogin",
    ),
    "Alarm": ("AddAlarm", "DeleteAlarm"),
    "Calendar": ("CreateEvent", "DeleteEvent", "ModifyEvent"),
    "Email": ("SendEmail",),
    "Messages": ("SendMessage",),
    "Reminder": ("AddReminder", "CompleteReminder", "DeleteReminder"),
}  # fmt: skip
_QUERIES = {
    "AccountTools": ("GetAccountInformation", "QueryUser"),
    "Alarm": ("FindAlarms",),
    "Calendar": ("QueryCalendar",),
    "Email": ("SearchInbox",),
    "Messages": ("SearchMessages",),
    "Reminder": ("GetReminders",),
    "Weather": ("CurrentWeather", "ForecastWeather", "HistoricWeather"),
}

TOOLS: Mapping[str, ToolTalkTool] = MappingProxyType(
    {name: ToolTalkTool(suite, True) for suite, names in _ACTIONS.items() for name in names}
    | {name: ToolTalkTool(suite, False) for suite, names in _QUERIES.items() for name in names}
)
"""Every tool by name."""

FREE_TEXT: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "CreateEvent": frozenset({"name", "description", "location"}),
        "ModifyEvent": frozenset({"new_name", "new_description", "new_location"}),
        "SendEmail": frozenset({"subject", "body"}),
        "SendMessage": frozenset({"message"}),
        "AddReminder": frozenset({"task"}),
    }
)
"""The free-text arguments of each tool. Source: ToolTalk, section 3.1."""

PEOPLE = frozenset({"to", "attendees", "new_attendees"})
"""Arguments that list people, whose order says nothing. Source: ToolTalk, section 3.1."""

_TOKEN = frozenset({"session_token"})
_MODIFIED = {"new_name": 0.9, "new_description": 0.9, "new_location": 0.9}

COMPAT: Mapping[str, Rule] = MappingProxyType(
    {
        "AddAlarm": Rule("ignored"),
        "CreateEvent": Rule("ignored", text={"name": 0.9, "description": 0.9, "location": 0.9}, nulls=False),
        "ModifyEvent": Rule("equal", text=_MODIFIED, nulls=False),
        "SendEmail": Rule("ignored", text={"subject": 0.9, "body": 0.8}, sets=frozenset({"to"})),
        "SendMessage": Rule("ignored", text={"message": 0.8}, ignored=frozenset({"receiver"})),
        "AddReminder": Rule("ignored", text={"task": 0.9}, dates=frozenset({"due_date"})),
        "FindAlarms": Rule("ids", ids=("alarms", "alarm_id"), only=_TOKEN),
        "QueryCalendar": Rule("ids", ids=("events", "event_id"), only=_TOKEN),
        "SearchInbox": Rule("ids", ids=("emails", "email_id"), only=_TOKEN),
        "SearchMessages": Rule("ids", ids=("messages", "message_id"), only=_TOKEN),
        "GetReminders": Rule("ids", ids=("reminders", "reminder_id"), whole=True),
    }
)
"""The comparison of each tool in the authors' code; a tool that is not listed has the default."""
