"""Imports the folders in which ToolSandbox keeps what it played: one session per ``execution_context.json`` in them.

Policy: state is taken from the snapshots that it kept, as changes at the answer of a call. The user's first message is
the one after the demonstrations. Rows get the ids that the imported suite gives them, so that its milestones fit. What
its own evaluator said stands in the origin; a session in which it saw an exception is kept as far as it came.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sandbox_grader.errors import NothingToImportError
from sandbox_grader.importers.base import Faults, Imported
from sandbox_grader.importers.reading.build import CallOutcome, Names, OpenCall, SessionBuilder
from sandbox_grader.importers.reading.json_values import is_array, is_object, load, loads
from sandbox_grader.importers.reading.values import Given, arguments_of, failure
from sandbox_grader.papers.toolsandbox.names import KEYS, MESSAGES, ROLES, TABLES, ids_of, split_name
from sandbox_mcp.engine.trajectory import Event, Role, ToolCall
from sandbox_mcp.engine.world.state import Change

FORMAT = "toolsandbox-results"
CONTEXT, SUMMARY = "execution_context.json", "result_summary.json"
_BEGAN = re.compile(r"_(\d\d)_(\d\d)_(\d{4})_(\d\d)_(\d\d)_(\d\d)$")
_PARAMETERS = re.compile(r"^\w*_parameters = (\{.*\})$", re.MULTILINE | re.ASCII)
_FUNCTION = re.compile(r"_response = (\w+)\(", re.MULTILINE)
RoleName = Literal["SYSTEM", "USER", "AGENT", "EXECUTION_ENVIRONMENT"]
_Row = Mapping[str, Any]
_Cell = bool | int | float | str | None


class _Message(BaseModel):
    """A row of the table of messages."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    sandbox_message_index: int
    sender: RoleName
    recipient: RoleName
    content: str = ""
    openai_tool_call_id: str | None = None
    openai_function_name: str | None = None
    tool_call_exception: str | None = None
    tool_trace: list[str] | None = None
    visible_to: list[RoleName] | None = None


class _Tables(BaseModel):
    """The tables of the file: messages, and the state with the snapshots of it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    messages: list[dict[str, Any]] = Field(alias=MESSAGES)
    setting: list[dict[str, _Cell]] = Field(alias="SETTING", default=[])
    contact: list[dict[str, _Cell]] = Field(alias="CONTACT", default=[])
    messaging: list[dict[str, _Cell]] = Field(alias="MESSAGING", default=[])
    reminder: list[dict[str, _Cell]] = Field(alias="REMINDER", default=[])


class _Context(BaseModel):
    """The part of the file read."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    tables: _Tables = Field(alias="_dbs")


def read(paths: Sequence[Path]) -> Iterator[Imported]:
    """Read the given folders of results, or single files from them.

    Raises:
        ImportFormatError: a folder has no session, or a file is not one of ToolSandbox's.
    """
    names = Names()
    for path in paths:
        files = sorted(path.rglob(CONTEXT)) if path.is_dir() else [path]
        if not files:
            raise NothingToImportError(str(path), None, f"holds no {CONTEXT}; expected a folder that ToolSandbox wrote")
        faults = Faults()
        for file in files:
            with faults.aside():
                yield _session(file, names)
        faults.tell()


def _session(file: Path, names: Names) -> Imported:
    loaded = load(file)
    try:
        context = _Context.model_validate(loaded.document.members())
        rows = [row for row in context.tables.messages if row.get("sender") is not None]
        messages = [_Message.model_validate({k: v for k, v in row.items() if v is not None}) for row in rows]
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = ".".join(map(str, fault["loc"])) or "document"
        raise loaded.document.fail(f"{place}: {str(fault['msg']).splitlines()[0]}") from error
    messages.sort(key=lambda item: item.sandbox_message_index)
    name = file.parent.name
    scenario, variant = split_name(name)
    builder = SessionBuilder(FORMAT, str(file), scenario, loaded.losses)
    _tell_run(builder, file, name)
    opening = (index for index, item in enumerate(messages) if item.sender == "USER" and item.visible_to != ["USER"])
    first = next(opening, None)
    if first is None:
        raise loaded.document.fail("has no message of the user")
    states = _States.of(context, messages[first].sandbox_message_index)
    ended = _play(builder, messages[first:], states)
    builder.head = replace(builder.head, variant=variant, world=states.at(messages[first].sandbox_message_index))
    if builder.whole and not ended:
        ended = "the log stops after a reply"
    imported = builder.finish(names.unique(name), "recorded" if ended else None, ended)
    return replace(imported, events=tuple(_with_changes(imported.events, states)))


def _tell_run(builder: SessionBuilder, file: Path, name: str) -> None:
    """Name who played, when the run began, and what its own evaluator said, where folder and summary tell."""
    for folder in file.parents:
        found = _BEGAN.search(folder.name)
        agent, _, user = folder.name[: found.start() if found else 0].removeprefix("agent_").partition("_user_")
        if found is None or not user:
            continue
        month, day, year, hour, minute, second = found.groups()
        builder.head = replace(builder.head, agent={"name": agent, "model": agent}, user={"kind": "llm", "model": user})
        builder.origin["began"] = f"{year}-{month}-{day}T{hour}:{minute}:{second}"
        break
    summary = file.parent.parent.parent / SUMMARY
    if not summary.is_file():
        return
    results = load(summary).document.members().get("per_scenario_results")
    listed = filter(is_object, results if is_array(results) else ())
    told = next((item for item in listed if item.get("name") == name), None)
    if told is not None:
        builder.origin["reported"] = {key: told.get(key) for key in ("similarity", "turn_count", "exception_type")}
        if told.get("exception_type"):
            builder.lose(
                "end", f"{told['exception_type']} ended it there, which counted as 0; here counts what was done"
            )


def _play(builder: SessionBuilder, messages: Sequence[_Message], states: "_States") -> str | None:
    """Put what was said and called into the builder; gives how it ended, if told."""
    waiting: list[OpenCall] = []
    batch = ""
    for item in messages:
        sender, recipient = ROLES[item.sender], ROLES[item.recipient]
        if recipient == "environment":
            if sender == "user":
                return "the user ended the conversation"
            if not batch:
                batch = builder.batch()
            code = states.in_our_ids(item.content)
            function, parameters = _FUNCTION.search(item.content), _PARAMETERS.search(code)
            name = item.openai_function_name or (function[1] if function else "code")
            given = arguments_of(parameters[1]) if parameters else Given({}, code, free=True)
            waiting.append(builder.call(name, given, batch=batch, id_=item.openai_tool_call_id, offered=True))
        elif sender == "environment" and waiting:
            opened = next((call for call in waiting if call.id == item.openai_tool_call_id), waiting[0])
            waiting.remove(opened)
            states.answered[opened.index] = item.sandbox_message_index
            _answer(builder, opened, item, states)
            batch = batch if waiting else ""
        else:
            seen: tuple[Role, ...] = tuple(ROLES[role] for role in item.visible_to or ())
            builder.say(sender, recipient, states.in_our_ids(item.content), seen_by=seen)
    return None


def _answer(builder: SessionBuilder, opened: OpenCall, item: _Message, states: "_States") -> None:
    if item.tool_call_exception is not None:
        builder.answer(opened, CallOutcome(error=failure(item.tool_call_exception), stated=True))
        return
    trace = next(iter(item.tool_trace or ()), None)
    try:
        told: Any = None if trace is None else loads(states.in_our_ids(trace))[0]
    except ValueError:
        told = None
    if not is_object(told):
        builder.answer(opened, CallOutcome(result=item.content, stated=True))
        return
    states.traces[opened.index] = told
    builder.answer(opened, CallOutcome(result=told.get("result"), stated=True))


@dataclass(frozen=True, slots=True)
class _States:
    """The tables at every message that changed them, and what calls turned out to be."""

    tables: Mapping[str, Mapping[int, Mapping[str, _Row]]]
    ids: Mapping[str, str]
    answered: dict[int, int]
    traces: dict[int, Mapping[str, Any]]

    @classmethod
    def of(cls, context: _Context, first: int) -> "_States":
        kept: dict[str, dict[int, list[_Row]]] = {}
        for table in TABLES.values():
            snapshots: list[dict[str, _Cell]] = getattr(context.tables, table)
            for row in snapshots:
                index = row.get("sandbox_message_index")
                number = index if isinstance(index, int) else 0
                rows = kept.setdefault(table, {}).setdefault(number, [])
                cells = {name: value for name, value in row.items() if name != "sandbox_message_index"}
                if any(value is not None for value in cells.values()):
                    rows.append(cells)
        start = {table: rows[_latest(rows, first)] for table, rows in kept.items()}
        ids = ids_of(start)
        states = {
            table: {index: _keyed(table, rows, ids) for index, rows in snapshots.items()}
            for table, snapshots in kept.items()
        }
        return cls(states, ids, {}, {})

    def at(self, index: int) -> dict[str, Mapping[str, _Row]]:
        """All tables as they are at a message."""
        return {table: states[_latest(states, index)] for table, states in self.tables.items()}

    def changes(self, before: int, after: int) -> Iterator[Change]:
        """Differences between two messages."""
        then, now = self.at(before), self.at(after)
        for table in self.tables:
            for key in dict.fromkeys((*then[table], *now[table])):
                was, came = then[table].get(key), now[table].get(key)
                if was != came:
                    yield Change(table, key, was, came)

    def in_our_ids(self, text: str) -> str:
        """A text with the ids that rows have here."""
        for theirs, ours in self.ids.items():
            text = text.replace(theirs, ours)
        return text


def _latest(snapshots: Mapping[int, Any], index: int) -> int:
    """The last snapshot up to a message, or else the first there is."""
    return max((number for number in snapshots if number <= index), default=min(snapshots))


def _keyed(table: str, rows: Sequence[_Row], ids: Mapping[str, str]) -> dict[str, _Row]:
    """Rows by their ids; of those that share one, the second and later ones by their number too."""
    found: dict[str, _Row] = {}
    for number, row in enumerate(rows):
        cells = {name: ids.get(value, value) if isinstance(value, str) else value for name, value in row.items()}
        key = str(cells.get(KEYS[table]))
        found[key if key not in found else f"{key}#{number}"] = cells
    return found


def _with_changes(events: Sequence[Event], states: _States) -> Iterator[Event]:
    """The events, calls with their canonical names and with what they changed, all of a batch at its first answer."""
    for index, event in enumerate(events, start=-1):  # the first line of a log comes before the session's events
        answered = states.answered.get(index)
        if not isinstance(event, ToolCall) or answered is None:
            yield event
            continue
        trace = states.traces.get(index, {})
        tool, arguments = trace.get("tool_name"), trace.get("arguments")
        yield replace(
            event,
            tool=tool if isinstance(tool, str) else event.tool,
            arguments=arguments if is_object(arguments) else event.arguments,
            changes=tuple(states.changes(answered - 1, answered)),
        )
