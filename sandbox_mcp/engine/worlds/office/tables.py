"""The office's tables: accounts and their sessions, what belongs to an account, and the weather, which is fixed.

Source: ToolTalk, section 2.1 and appendix A: what the seven plug-ins keep. Names of columns are those its tools return.
"""

from typing import Literal, Self

from sandbox_mcp.engine.world.tables import Id, Moment, Secret, Table, Text, column, key

EventType = Literal["meeting", "event"]
Folder = Literal["inbox", "sent"]
Status = Literal["pending", "complete"]


class Account(Table):
    """An account of the office. ``next_code`` is the verification code that a scenario wants to be sent next."""

    account_id: Id[Self] = key()
    username: str
    password: Secret
    email: str
    phone: str | None = None
    name: str | None = None
    next_code: str | None = column(default=None, hidden=True)


class LogIn(Table, name="session"):
    """Who is logged in; there is one at most, because one person at a time uses the office."""

    session_token: Id[Self] = key()
    account: Id[Account]


class Verification(Table):
    """A code that was sent to the address of an account and resets its password once."""

    verification_id: Id[Self] = key()
    account: Id[Account]
    code: Secret


class Alarm(Table):
    """An alarm that rings every day at a time such as 07:30:00."""

    alarm_id: Id[Self] = key()
    account: Id[Account]
    time: str


class Event(Table):
    """An entry of an account's calendar. ``attendees`` are usernames, or names of people from elsewhere."""

    event_id: Id[Self] = key()
    account: Id[Account]
    name: Text
    event_type: EventType
    start_time: Moment
    end_time: Moment
    location: Text | None = None
    description: Text | None = None
    attendees: list[str] | None = None


class Email(Table, lasting=True):
    """A mail in an account's inbox, or one that was sent from it."""

    email_id: Id[Self] = key()
    account: Id[Account]
    folder: Folder = "inbox"
    date: Moment = column(passing=True)
    sender: str
    receivers: list[str]
    subject: Text
    body: Text


class ShortMessage(Table, name="message", lasting=True):
    """A short message between users, as one account has it."""

    message_id: Id[Self] = key()
    account: Id[Account]
    folder: Folder = "inbox"
    timestamp: Moment = column(passing=True)
    sender: str
    receiver: str
    message: Text


class TaskReminder(Table, name="reminder"):
    """A task to be reminded of, perhaps by a moment."""

    reminder_id: Id[Self] = key()
    account: Id[Account]
    task: Text
    due_date: Moment | None = None
    status: Status = "pending"


class WeatherDay(Table, fixed="weather.csv"):
    """The weather of one place on one day, in degrees Celsius."""

    id: Id[Self] = key()
    place: str
    date: str
    high: int
    low: int
    conditions: str


class Climate(Table, fixed="climate.csv"):
    """What a month is usually like in a place: degrees Celsius, rain in millimetres, days with snow."""

    id: Id[Self] = key()
    place: str
    month: str
    min_temp: float
    max_temp: float
    record_min_temp: float
    record_max_temp: float
    avg_rainfall: float
    snow_days: int


OWNED = (LogIn, Verification, Alarm, Event, Email, ShortMessage, TaskReminder)
"""The tables whose rows belong to an account, and go with it."""
TABLES = (Account, *OWNED, WeatherDay, Climate)
