"""ToolTalk's own conversations, played in the office from a checkout of its repository.

Policy: every call of a conversation's ground truth is executed in order on the original's databases, at the one time
that the conversation has, and what comes out is put beside what was recorded. The office's own code runs; the
few things in which the original differs and which its metrics look at are put on from outside, and each is named here:

- ids and session tokens are drawn as the original draws them: from a generator with one seed for every kind of entry;
- two accounts' entries may have the same id; here the rows of accounts that a conversation does not log in to are kept
  apart by their owner;
- the session token is an argument of every tool that needs an account, put in by the executor;
- the weather comes from the databases, in whatever degrees they have.

Source: ToolTalk, section 3.2 and its repository, https://github.com/microsoft/ToolTalk (e05f4ce).
"""

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, Literal, cast

from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.tools import Outcome, bind, present, run
from sandbox_mcp.engine.world import Clock, IdStream, Running, Snapshot, snapshot_of
from sandbox_mcp.engine.world.state import Cell, Row
from sandbox_mcp.engine.worlds.office.tools.weather import Almanac
from sandbox_mcp.engine.worlds.office.world import office

SEED = 489
"""What the original seeds every tool's generator with."""
TOKEN = "session_token"  # noqa: S105 - the name of an argument
NAMES = MappingProxyType(
    {
        "alarm": (16, 16),
        "event": (32, 16),
        "email": (8, 16, 32),
        "message": (32, 32),
        "reminder": (8, 16),
        "session": (32, 16, 16),
    }
)
"""The bits of each part of the original's ids, by our table."""
ENTRIES = MappingProxyType(
    {
        "Alarm": ("alarm", "alarm_id", ("time",), ()),
        "Calendar": (
            "event",
            "event_id",
            ("name", "event_type", "location", "description", "attendees"),
            ("start_time", "end_time"),
        ),
        "Email": ("email", "email_id", ("sender", "receivers", "subject", "body"), ("date",)),
        "Message": ("message", "message_id", ("sender", "message"), ("timestamp",)),
        "Reminder": ("reminder", "reminder_id", ("task", "status"), ("due_date",)),
    }
)
"""Of each database whose entries belong to accounts: our table, its key, plain columns, and columns of moments."""
Difference = Literal["more found", "other content or order", "another id", "another outcome"]

_KNOWN: Mapping[Difference, str] = {
    "other content or order": """
        AccountTools-Alarm-Messages-FindAlarm-0#2
        Calendar-Email-Reminder-GetReminder-1#0
        Calendar-Messages-Reminder-ModifyEvent-0#0
        Email-Messages-Reminder-SearchMessage-1#0
        Email-Messages-Reminder-SendMessage-2#0
        Email-Messages-Weather-SendMessage-2#1
        Email-Reminder-Weather-DeleteReminder-0#0
        Email-Reminder-Weather-SearchInbox-1#1
    """,
    "more found": """
        Alarm-Calendar-Email-DeleteAlarm-1#1
        Alarm-Messages-Reminder-GetReminder-2#0
        Calendar-Messages-Reminder-QueryCalendar-2#0
        Calendar-Messages-Weather-DeleteEvent-0#0
        Calendar-Reminder-Weather-CompleteReminder-1#0
        Calendar-Reminder-Weather-CreateEvent-1#2
        Calendar-Reminder-Weather-DeleteEvent-0#0
        Calendar-Reminder-Weather-DeleteEvent-0#4
        Calendar-Reminder-Weather-DeleteReminder-1#2
        Email-Messages-Reminder-DeleteReminder-1#0
        Email-Messages-Reminder-SendEmail-2#0
        Email-Reminder-Weather-CompleteReminder-2#0
        Email-Reminder-Weather-DeleteReminder-0#1
        Email-Reminder-Weather-GetReminder-0#2
        Email-Reminder-Weather-SendEmail-2#0
        Messages-Reminder-Weather-AddReminder-1#2
        Messages-Reminder-Weather-CompleteReminder-1#3
        Messages-Reminder-Weather-ForecastWeather-1#7
        Messages-Reminder-Weather-GetReminder-0#0
        golden_conversation_1#1
        golden_conversation_2#0
    """,
    "another id": """
        Alarm-Messages-Reminder-GetReminder-2#4
        Alarm-Reminder-Weather-AddReminder-1#0
        Alarm-Reminder-Weather-AddReminder-1#1
        Alarm-Reminder-Weather-DeleteAlarm-2#3
        Alarm-Reminder-Weather-FindAlarm-2#2
        Calendar-Messages-Weather-SendMessage-1#5
        Calendar-Messages-Weather-SendMessage-1#6
        Calendar-Messages-Weather-SendMessage-1#7
    """,
}
KNOWN: Mapping[str, Difference] = MappingProxyType(
    {name: kind for kind, names in _KNOWN.items() for name in names.split()}
)
"""What differs in the original's own replay as well, by the conversation and the number of the call (from 0) in it. In
29 searches the databases hold something else by now, and 8 writes draw other ids; its metrics accept all 37."""


class NoCheckoutError(SandboxError):
    """A folder does not hold ToolTalk's conversations and databases."""


@dataclass(frozen=True, slots=True)
class ReplayedCall:
    """One call of the ground truth, and what became of it here."""

    conversation: str
    number: int
    tool: str
    recorded: Mapping[str, Any]
    replayed: Mapping[str, Any]
    difference: Difference | None

    @property
    def name(self) -> str:
        """Name of the call in lists of differences."""
        return f"{self.conversation}#{self.number}"

    @property
    def known(self) -> bool:
        """True if it differs as it does in the original's own replay."""
        return self.difference is not None and KNOWN.get(self.name) == self.difference


@dataclass(frozen=True, slots=True)
class ReplayedConversation:
    """A conversation with its calls executed here: ``document`` is its file with ``predictions``."""

    name: str
    document: Mapping[str, Any]
    calls: tuple[ReplayedCall, ...]


@dataclass(frozen=True, slots=True)
class Checkout:
    """Checkout of ToolTalk: its databases, and the files of its conversations, easy ones first."""

    databases: Mapping[str, Any]
    documents: tuple[tuple[Path, Mapping[str, Any]], ...]
    _entries: dict[str | None, Mapping[str, Mapping[str, Row]]] = field(default_factory=dict[Any, Any], repr=False)

    def entries(self, own: str | None) -> Mapping[str, Mapping[str, Row]]:
        """The rows of all tables that belong to accounts, for conversations about the entries of one account."""
        if own not in self._entries:
            self._entries[own] = {
                table: {str(row[key]): row for row in _rows(self.databases[name], name, own)}
                for name, (table, key, _, _) in ENTRIES.items()
            }
        return self._entries[own]

    @property
    def almanac(self) -> Almanac:
        """The weather as the databases have it."""
        return Almanac(self.databases["Weather"], self.databases["HistoricWeather"])


def read_checkout(folder: Path) -> Checkout:
    """Read a checkout of ToolTalk, or its data alone.

    Raises:
        NoCheckoutError: the folder holds no databases or no conversations, or they cannot be read.
    """
    data = next((path for path in (folder, folder / "data") if (path / "databases").is_dir()), None)
    if data is None:
        raise NoCheckoutError(
            f"{str(folder)!r} has no folder 'databases'; expected a checkout of ToolTalk, or its data"
        )
    databases = {path.stem: _read(path) for path in sorted((data / "databases").glob("*.json"))}
    missing = sorted({"Account", "Weather", "HistoricWeather", *ENTRIES} - databases.keys())
    if missing:
        raise NoCheckoutError(f"{str(data / 'databases')!r} lacks {missing[0]}.json")
    found = [path for path in sorted(data.glob("*/*.json")) if path.parent.name != "databases"]
    documents = tuple((path, document) for path in found if "conversation" in (document := _read(path)))
    if not documents:
        raise NoCheckoutError(f"{str(data)!r} holds no conversations")
    return Checkout(databases, documents)


@contextmanager
def as_tooltalk_has_it(path: Path) -> Generator[None]:
    """Turn a part missing in a conversation's file, or a database it needs, into an error that names the file.

    Raises:
        NoCheckoutError: something was not found.
    """
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, LookupError) as error:
        told = f"{str(path)!r} or a database it needs is not as ToolTalk has it"
        raise NoCheckoutError(f"{told}: {type(error).__name__}: {error}") from error


def replay(folder: Path) -> Iterator[ReplayedConversation]:
    """Play the ground truth of every conversation of a checkout, easy ones first.

    Raises:
        NoCheckoutError: the folder holds no databases or no conversations.
    """
    checkout = read_checkout(folder)
    for path, document in checkout.documents:
        with as_tooltalk_has_it(path):
            replayed = _replayed(path.stem, document, checkout)
        yield replayed


def _read(path: Path) -> dict[str, Any]:
    try:
        found: Any = loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NoCheckoutError(f"{str(path)!r} cannot be read: {error}") from error
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _replayed(name: str, document: Mapping[str, Any], checkout: Checkout) -> ReplayedConversation:
    """A conversation with its calls executed; a call's arguments are completed as the original's executor does."""
    running = Running(state_of(document, checkout), clock_of(document), OriginalIds(""), checkout.almanac)
    offered = {name: present(tool) for name, tool in office.agent_tools.items()}
    calls: list[ReplayedCall] = []
    turns: list[Mapping[str, Any]] = []
    for turn in document["conversation"]:
        if turn["role"] == "user":
            turns.append(turn)
            continue
        predictions: list[dict[str, Any]] = []
        for recorded in turn.get("apis") or ():
            tool = recorded["request"]["api_name"]
            parameters = recorded["request"]["parameters"]
            session = next(iter(running.snapshot.table("session").values()), None)
            given = {name: value for name, value in parameters.items() if name != TOKEN}
            bound = bind(offered, tool, given)
            done = bound if isinstance(bound, Outcome) else run(running, bound)
            replayed = {"response": done.result, "exception": done.fault.message if done.fault else None}
            given |= {TOKEN: session and session[TOKEN]} if TOKEN in parameters else {}
            predictions.append({"role": "api", "request": {"api_name": tool, "parameters": given}, **replayed})
            outcome = {"response": recorded["response"], "exception": recorded["exception"]}
            calls.append(ReplayedCall(name, len(calls), tool, outcome, replayed, _difference(outcome, replayed)))
        said = {"role": "assistant", "text": turn["text"]}
        turns.append({**turn, "predictions": [*predictions, said]})
    return ReplayedConversation(name, {**document, "conversation": turns}, tuple(calls))


@dataclass(frozen=True, slots=True)
class OriginalIds(IdStream):
    """Ids as the original draws them: every kind of entry from a generator of its own, all with the same seed.

    The original keeps a generator for every tool, so there a token is drawn again where an account is registered, left,
    and logged in to, which no conversation does.
    """

    def id(self, table: str, n: int) -> str:
        """The n-th id of a kind of entry."""
        if table not in NAMES:
            return f"{table}-{n}"
        random = Random(SEED)  # noqa: S311 - as the original has it
        drawn = [[random.randint(0, 2**bits - 1) for bits in NAMES[table]] for _ in range(n + 1)]
        return "-".join(f"{part:0{bits // 4}x}" for part, bits in zip(drawn[-1], NAMES[table], strict=True))


def _difference(recorded: Mapping[str, Any], replayed: Mapping[str, Any]) -> Difference | None:
    if recorded == replayed:
        return None
    before, after = recorded["response"], replayed["response"]
    if recorded["exception"] != replayed["exception"] or not before or not after:
        return "another outcome"
    if all(name.endswith("_id") for name in (*before, *after)):
        return "another id"
    old, new = _ids(before), _ids(after)
    if old and old == new:
        return "other content or order"
    return "more found" if old is not None and new is not None and old < new else "another outcome"


def _ids(response: Mapping[str, Any]) -> frozenset[str] | None:
    """The ids of the entries that a search found, or None where it found none of ours."""
    (found,) = response.values() if len(response) == 1 else (None,)
    if not isinstance(found, list):
        return None
    entries = cast("list[dict[str, Any]]", found)
    return frozenset(value for entry in entries for name, value in entry.items() if name.endswith("_id"))


def clock_of(document: Mapping[str, Any]) -> Clock:
    """The one time that a conversation has."""
    return Clock(_moment(document["metadata"]["timestamp"]), "UTC", 0.0)


def state_of(document: Mapping[str, Any], checkout: Checkout) -> Snapshot:
    """The databases as the office's tables, with the conversation's user logged in where the file says so."""
    accounts: dict[str, dict[str, Cell]] = {}
    code = f"{Random(SEED).randint(0, 999_999):06d}"  # noqa: S311 - as the original has it
    for name, entry in checkout.databases["Account"].items():
        known = {column: entry.get(column) for column in ("password", "email", "phone", "name")}
        accounts[name] = {"account_id": name, "username": name, **known, "next_code": code}
    user = document["user"]
    session: dict[str, Row] = {}
    if token := user.get(TOKEN):
        session[token] = {TOKEN: token, "account": user["username"]}
    verification: dict[str, Row] = {}
    if sent := user.get("verification_code"):
        verification["sent"] = {"verification_id": "sent", "account": user["username"], "code": sent}
    own = checkout.entries(_logged_in(document))
    return snapshot_of({"account": accounts, "session": session, "verification": verification, **own})


def _rows(database: Mapping[str, Mapping[str, Mapping[str, Any]]], name: str, own: str | None) -> Iterator[Row]:
    """The rows of a database's table; the ids of entries of accounts other than the own one begin with their owner."""
    table, key, plain, moments = ENTRIES[name]
    for owner, entries in database.items():
        for id_, entry in entries.items():
            row: dict[str, Cell] = {key: id_ if owner == own else f"{owner}/{id_}", "account": owner}
            for column in plain:
                cell = entry.get(column)
                row[column] = tuple(cast("list[str]", cell)) if isinstance(cell, list) else cell
            row |= {column: None if entry.get(column) is None else _moment(entry[column]) for column in moments}
            row |= {"email": {"folder": "inbox"}, "message": {"folder": "inbox", "receiver": owner}}.get(table, {})
            yield row


def _logged_in(document: Mapping[str, Any]) -> str | None:
    """Whose entries a conversation is about: the account it begins with, or else logs in to."""
    if document["user"].get(TOKEN):
        return document["user"]["username"]
    calls = (call["request"] for turn in document["conversation"] for call in turn.get("apis") or ())
    return next((call["parameters"].get("username") for call in calls if call["api_name"] == "UserLogin"), None)


def _moment(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
