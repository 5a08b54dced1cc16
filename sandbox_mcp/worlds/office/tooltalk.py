"""ToolTalk's own conversations, played in the office from somebody's checkout of its repository.

Policy: every call of a conversation's ground truth is executed in order on the original's databases, at the one time
that the conversation has, and what comes out is put beside what was recorded. The office's own code runs; the
few things in which the original differs and which its metrics look at are put on from outside, and each is named here:

- ids and session tokens are drawn as the original draws them: from a generator that every tool starts anew with the
  same seed, so that the first tokens of ``UserLogin`` and ``RegisterUser`` collide;
- two accounts' entries may have the same id; here rows are kept apart by their owner;
- the session token is an argument of every tool that needs an account, put in by the executor;
- the weather comes from the databases, in whatever degrees they have.

Source: ToolTalk, section 3.2 and its repository, https://github.com/microsoft/ToolTalk (e05f4ce).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, Literal, cast

from sandbox_mcp.errors import SandboxError
from sandbox_mcp.tools import Outcome, bind, present, run
from sandbox_mcp.world import Clock, IdStream, Running, Snapshot, snapshot_of
from sandbox_mcp.world.state import Cell
from sandbox_mcp.worlds.office.rules import MOMENT
from sandbox_mcp.worlds.office.tools.weather import Almanac
from sandbox_mcp.worlds.office.world import office

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
        """What the call is called in lists of differences."""
        return f"{self.conversation}#{self.number}"

    @property
    def known(self) -> bool:
        """Whether it differs as it does in the original's own replay."""
        return self.difference is not None and KNOWN.get(self.name) == self.difference


@dataclass(frozen=True, slots=True)
class ReplayedConversation:
    """A conversation with its calls executed here: ``document`` is its file with ``predictions``."""

    name: str
    document: Mapping[str, Any]
    calls: tuple[ReplayedCall, ...]


def replay(checkout: Path) -> Iterator[ReplayedConversation]:
    """Play the ground truth of every conversation of a checkout, easy ones first.

    Raises:
        NoCheckoutError: the folder holds no databases or no conversations.
    """
    folder = next((path for path in (checkout, checkout / "data") if (path / "databases").is_dir()), None)
    if folder is None:
        raise NoCheckoutError(
            f"{str(checkout)!r} has no folder 'databases'; expected a checkout of ToolTalk, or its data"
        )
    databases = {path.stem: _read(path) for path in sorted((folder / "databases").glob("*.json"))}
    missing = sorted({"Account", "Weather", "HistoricWeather", *ENTRIES} - databases.keys())
    if missing:
        raise NoCheckoutError(f"{str(folder / 'databases')!r} lacks {missing[0]}.json")
    found = [path for path in sorted(folder.glob("*/*.json")) if path.parent.name != "databases"]
    documents = [(path, document) for path in found if "conversation" in (document := _read(path))]
    if not documents:
        raise NoCheckoutError(f"{str(folder)!r} holds no conversations")
    for path, document in documents:
        try:
            yield _replayed(path.stem, document, databases)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            told = f"{str(path)!r} or a database it needs is not as ToolTalk has it"
            raise NoCheckoutError(f"{told}: {type(error).__name__}: {error}") from error


def _read(path: Path) -> dict[str, Any]:
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NoCheckoutError(f"{str(path)!r} cannot be read: {error}") from error
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _replayed(name: str, document: Mapping[str, Any], databases: Mapping[str, Any]) -> ReplayedConversation:
    now = _moment(document["metadata"]["timestamp"])
    almanac = Almanac(databases["Weather"], databases["HistoricWeather"])
    randoms: dict[str, Random] = {}
    running = Running(_state(document, databases), Clock(now, "UTC", 0.0), IdStream(""), almanac)
    calls: list[ReplayedCall] = []
    turns: list[Mapping[str, Any]] = []
    for turn in document["conversation"]:
        if turn["role"] == "user":
            turns.append(turn)
            continue
        predictions: list[dict[str, Any]] = []
        for recorded in turn.get("apis") or ():
            tool = recorded["request"]["api_name"]
            running.ids = OriginalIds("", tool, randoms)
            given, replayed = _executed(running, tool, recorded["request"]["parameters"])
            predictions.append({"role": "api", "request": {"api_name": tool, "parameters": given}, **replayed})
            outcome = {"response": recorded["response"], "exception": recorded["exception"]}
            calls.append(ReplayedCall(name, len(calls), tool, outcome, replayed, _difference(outcome, replayed)))
        said = {"role": "assistant", "text": turn["text"]}
        turns.append({**turn, "predictions": [*predictions, said]})
    return ReplayedConversation(name, {**document, "conversation": turns}, tuple(calls))


@dataclass(frozen=True, slots=True)
class OriginalIds(IdStream):
    """Ids as the original draws them: each tool has a generator of its own, all with the same seed."""

    tool: str
    randoms: dict[str, Random]

    def id(self, table: str, n: int) -> str:
        """The next id that the tool draws."""
        if table not in NAMES:
            return f"{table}-{n}"
        random = self.randoms.setdefault(self.tool, Random(SEED))  # noqa: S311 - as the original has it
        return "-".join(f"{random.randint(0, 2**bits - 1):0{bits // 4}x}" for bits in NAMES[table])


def _executed(running: Running, tool: str, recorded: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A call's arguments as the original's executor completes them, and its outcome as that records it."""
    session = next(iter(running.snapshot.table("session").values()), None)
    given = {name: value for name, value in recorded.items() if name != TOKEN}
    arguments = {name: _own_id(running.snapshot, session, name, value) for name, value in given.items()}
    if TOKEN in recorded:
        given[TOKEN] = session[TOKEN] if session else None
    offered = {name: present(found) for name, found in office.agent_tools.items()}
    bound = bind(offered, tool, arguments)
    outcome = bound if isinstance(bound, Outcome) else run(running, bound)
    told = {"response": _bare(outcome.result), "exception": outcome.fault.message if outcome.fault else None}
    return given, told


def _own_id(state: Snapshot, session: Mapping[str, Cell] | None, name: str, value: Any) -> Any:
    """The row that an id means here: that of whoever is logged in, where there is one."""
    owned = f"{session['account']}/{value}" if session else ""
    return owned if name.endswith("_id") and owned in state.table(name.removesuffix("_id")) else value


def _bare(value: Any) -> Any:
    """A result with ids as the original has them, without their owner."""
    if isinstance(value, list):
        return [_bare(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {name: item.split("/")[-1] if name.endswith("_id") else _bare(item) for name, item in items}
    return value


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


def _state(document: Mapping[str, Any], databases: Mapping[str, Any]) -> Snapshot:
    """The databases as the office's tables, with the conversation's user logged in where the file says so."""
    accounts: dict[str, dict[str, Cell]] = {}
    code = f"{Random(SEED).randint(0, 999_999):06d}"  # noqa: S311 - as the original has it
    for name, entry in databases["Account"].items():
        known = {column: entry.get(column) for column in ("password", "email", "phone", "name")}
        accounts[name] = {"account_id": name, "username": name, **known, "next_code": code}
    tables: dict[str, dict[str, dict[str, Cell]]] = {"account": accounts, "session": {}, "verification": {}}
    user = document["user"]
    if user.get(TOKEN):
        tables["session"][user[TOKEN]] = {TOKEN: user[TOKEN], "account": user["username"]}
    if user.get("verification_code"):
        sent = {"verification_id": "sent", "account": user["username"], "code": user["verification_code"]}
        tables["verification"]["sent"] = sent
    for database, (table, key, plain, moments) in ENTRIES.items():
        rows = tables[table] = {}
        for owner, entries in databases[database].items():
            for id_, entry in entries.items():
                row: dict[str, Cell] = {key: f"{owner}/{id_}", "account": owner}
                row |= {column: _cell(entry.get(column)) for column in plain}
                row |= {column: None if entry.get(column) is None else _moment(entry[column]) for column in moments}
                row |= {"email": {"folder": "inbox"}, "message": {"folder": "inbox", "receiver": owner}}.get(table, {})
                rows[f"{owner}/{id_}"] = row
    return snapshot_of(tables)


def _cell(value: Any) -> Cell:
    return tuple(cast("Sequence[str]", value)) if isinstance(value, list) else value


def _moment(text: str) -> float:
    return datetime.strptime(text, MOMENT).replace(tzinfo=UTC).timestamp()
