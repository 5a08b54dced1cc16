"""A tape as a world: its tools, and the one table that says which acting calls of the session came so far.

Policy: an answer is given for equal arguments after the same acting calls, and for nothing else. Which acting calls
came so far is part of the session's state, so that trials of races, replays and other sessions use nothing up. Where a
tape has several answers to one question the first is given, always; only a log that is carried out again is given the
one that it recorded. The same tape makes a second world of another name,
in which what a model answered once stands in for what the tape does not have; no session plays it unawares.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path
from typing import Any, Self, cast

from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.tools import Sources, World
from sandbox_mcp.engine.tools.definition import Parameter, Tool
from sandbox_mcp.engine.tools.hints import Hints
from sandbox_mcp.engine.tools.user_tools import ENGINE_TOOLS
from sandbox_mcp.engine.tools.value_schemas import fits_schema
from sandbox_mcp.engine.world.effects import Effects
from sandbox_mcp.engine.world.faults import ToolFault
from sandbox_mcp.engine.world.tables import Id, Table, column, key, schema_of
from sandbox_mcp.engine.world.transaction import Transaction
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.recorded.fills import FILLED, FillQuestion, Fills, fills_beside
from sandbox_mcp.engine.worlds.recorded.live import (
    LIVE,
    OBSERVED,
    OBSERVED_BEFORE,
    LiveServer,
    LiveWorld,
    ServerAnswers,
    acting_calls,
)
from sandbox_mcp.engine.worlds.recorded.observed import Observation
from sandbox_mcp.engine.worlds.recorded.schemas import inlined, names_in
from sandbox_mcp.engine.worlds.recorded.tape import (
    REDACTED,
    Deed,
    Tape,
    TapeCall,
    TapeError,
    TapeTool,
    deed,
    read_tape,
    without,
)

EXAMPLES = 8
"""How many recorded calls a model is shown that answers for a tape."""
COMPARED = 2_000
"""How many characters of the arguments of two calls are compared: it may cost their product."""
UNPLAYABLE = frozenset({"send_message_to_user"})
"""Names that a session may need for itself."""


class ActingCall(Table, name="act", lasting=True):
    """An acting call that this session has made."""

    id: Id[Self] = key()
    tool: str = column(hidden=True)
    arguments: str = column(hidden=True)


class RecordedError(ToolFault):
    """The server itself answered with an error."""


class NotRecordedError(ToolFault):
    """The tape has no answer."""


def world_on(path: Path, *, filled: bool = False) -> World:
    """The world that a tape holds; read once, and again once the file has changed.

    ``filled`` gives the one that looks beside the tape for what a model answered, too.

    Raises:
        TapeError: it cannot be used.
    """
    try:
        stamp = path.stat()
    except OSError as error:
        raise TapeError(path, None, f"cannot be read: {error.strerror or error}") from error
    return _world_on(path.resolve(), stamp.st_mtime_ns, stamp.st_size, filled)


@lru_cache(maxsize=64)
def _world_on(path: Path, _modified: int, _size: int, filled: bool) -> World:
    tape = read_tape(path)
    taken = {tool.name for tool in ENGINE_TOOLS} | UNPLAYABLE
    clash = next((name for name in tape.tools if name in taken), None)
    if clash:
        raise TapeError(path, None, f"has a tool of the name {clash!r}, which every session has for itself")
    stem = re.sub(r"[^a-z0-9]+", "_", path.stem.lower()).strip("_")[:40]
    world = World(
        "_".join(["recorded", *([stem] if stem else []), tape.digest[:6], *(["filled"] if filled else [])]),
        tables=[ActingCall],
        version=tape.digest,
        policy=str(tape.server.get("instructions") or ""),
        knowledge=(lambda: Fills(fills_beside(path), plain=tape.plain)) if filled else None,
        sources=(lambda: Sources(Fills)) if filled else None,
        hints=lambda: Hints(read=lambda given: without(given, tape.redacted)),
    )
    world.origin = str(path)
    answers = TapeAnswerBook(tape)
    world.include(*(_tool(tool, world.name, answers) for tool in tape.tools.values()))
    return world


@dataclass(frozen=True, slots=True)
class LoggedAnswer:
    """Knowledge in whose place a log that is carried out again has what it recorded of its next call."""

    equals: Callable[[Mapping[str, Any]], bool]


class TapeAnswerBook:
    """The answers of a tape by what was asked and after which acting calls."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self._found: dict[tuple[tuple[Deed, ...], Deed], list[TapeCall]] = {}
        for call in tape.calls:
            self._found.setdefault((call.after, call.deed), []).append(call)

    def names_taken(self, tool: str) -> Iterable[str]:
        """The arguments with which calls of a tool were answered: servers take some that their schemas do not list."""
        answered = (call.deed[1] for call in self.tape.calls if call.deed[0] == tool and not call.refused)
        return dict.fromkeys(name for arguments in answered for name in loads(arguments))

    def to(
        self, asked: Deed, after: tuple[Deed, ...], logged: "LoggedAnswer | None" = None
    ) -> Mapping[str, Any] | None:
        """The result of the equal call on the tape, the logged one of several; None where the tape has no such call."""
        results = [call.result for call in self._found.get((after, asked), ())]
        first = next(iter(results), None)
        return next(filter(logged.equals, results), first) if logged else first

    def missing(self, asked: Deed, after: tuple[Deed, ...]) -> NotRecordedError:
        """The error about a call not on the tape, which names the nearest one there."""
        nearest = next(iter(self.nearest(asked, after)), None)
        told = "no call is recorded at all"
        if nearest:
            told = f"the nearest recorded call is {_written(nearest.deed)} {_told(nearest.after)} (line {nearest.line})"
        return NotRecordedError(f"the tape has no answer to {_written(asked)} {_told(after)}; {told}")

    def nearest(self, asked: Deed, after: tuple[Deed, ...], most: int = 1) -> list[TapeCall]:
        """The calls on the tape that are most alike, the nearest first."""
        tool, arguments = asked
        matcher = SequenceMatcher(autojunk=False)
        matcher.set_seq2(arguments[:COMPARED])

        def likeness(call: TapeCall) -> tuple[float, bool, int]:
            matcher.set_seq1(call.deed[1][:COMPARED])
            return matcher.ratio(), call.after == after, -call.line

        near: list[TapeCall] = []
        for same in (True, False):  # calls of other tools only where there are too few of this one
            if len(near) < most:
                calls = (call for call in self.tape.calls if (call.deed[0] == tool) is same)
                near += sorted(calls, key=likeness, reverse=True)
        return near[:most]


def _written(asked: Deed, limit: int = 300) -> str:
    tool, arguments = asked
    return f"{tool} {arguments if len(arguments) <= limit else arguments[:limit] + '...'}"


def _told(after: tuple[Deed, ...]) -> str:
    if not after:
        return "before any acting call"
    return f"after {len(after)} acting {'call' if len(after) == 1 else 'calls'}, the last {_written(after[-1], 120)}"


def _tool(listed: TapeTool, group: str, answers: TapeAnswerBook) -> Tool:
    schema = listed.listed
    given = cast("Mapping[str, Any]", schema["inputSchema"])
    properties, required = given.get("properties"), names_in(given.get("required"))
    effects = Effects(adds=frozenset({"act"})) if listed.acts else Effects()
    parameters: list[Parameter] = []
    for name, item in cast("dict[str, Any]", properties).items() if isinstance(properties, dict) else ():
        inside = inlined(item, given)
        text = str(inside.pop("description", ""))
        parameters.append(Parameter(name, inside, name in required, text))
    listed_names = {parameter.name for parameter in parameters}
    parameters += [
        Parameter(name, {}, False, "") for name in answers.names_taken(listed.name) if name not in listed_names
    ]
    return Tool(
        name=listed.name,
        domain=group,
        action=listed.acts,
        destructive=listed.destructive,
        caller="agent",
        function=_answering(listed, effects, answers),
        description=str(schema.get("description") or schema.get("title") or ""),
        parameters=tuple(parameters),
        result_schema=_result_schema(listed, answers.tape),
        effects=effects,
    )


def _result_schema(listed: TapeTool, tape: Tape) -> Mapping[str, Any]:
    """Schema of the tool's results: the server's own, unless results on the tape contradict it.

    Clients refuse a result that is not as announced, and what stands for a secret may have another type or pattern.
    """
    calls = [call for call in tape.calls if call.deed[0] == listed.name and not call.refused]
    results = [call.result.get("structuredContent") for call in calls]
    if not all(isinstance(result, Mapping) for result in results):
        return {}
    output = listed.listed.get("outputSchema")
    if isinstance(output, Mapping):
        listed_output = cast("Mapping[str, Any]", output)
        said = inlined(listed_output, listed_output)
        if all(fits_schema(result, said) and REDACTED not in json.dumps(result) for result in results):
            return said
    return {"type": "object"} if calls else {}


class _TapeAnswers(ServerAnswers):
    """Answers from the tape beside a live server's scenarios: its state at the start, and what was asked before."""

    def __init__(self, answers: TapeAnswerBook) -> None:
        self._answers = answers

    def call(self, tool: str, arguments: Mapping[str, Any], after: tuple[Deed, ...]) -> Mapping[str, Any]:
        """The recorded result.

        Raises:
            NotRecordedError: there is none.
        """
        asked = self._answers.tape.plain(deed(tool, arguments, frozenset()))
        result = self._answers.to(asked, after)
        if result is None:
            raise self._answers.missing(asked, after)
        return result

    def look(
        self, observation: Observation, after: tuple[Deed, ...], *, before: bool = False
    ) -> Mapping[str, Any] | None:
        """The recorded answer to a question about the state; None where there is none."""
        asked = self._answers.tape.plain(deed(observation.tool, observation.arguments, frozenset()))
        return None if before else self._answers.to(asked, after)


def is_live(path: Path) -> bool:
    """True if a tape tells of a server that can be started. Only its beginning is read."""
    with suppress(OSError, ValueError), path.open(encoding="utf-8") as file:
        line: Any = loads(file.readline())
        return isinstance(line, dict) and LIVE in line
    return False


def live_world_on(path: Path) -> LiveWorld:
    """The world of the server that a tape tells of; read again once the file has changed.

    Raises:
        TapeError: it cannot be used, or tells of no server.
    """
    try:
        stamp = path.stat()
    except OSError as error:
        raise TapeError(path, None, f"cannot be read: {error.strerror or error}") from error
    return _live_world_on(path.resolve(), stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=64)
def _live_world_on(path: Path, _modified: int, _size: int) -> LiveWorld:
    tape = read_tape(path)
    told: Any = tape.server.get(LIVE)
    config: Any = cast("Mapping[str, Any]", told).get("config") if isinstance(told, Mapping) else None
    if not isinstance(config, Mapping):
        raise TapeError(path, None, "is of no server that can be started")
    server = LiveServer.reading({**cast("Mapping[str, Any]", config), "tape": path.name}, path.parent)
    reads = {name: replace(tool, reads=True) for name, tool in tape.tools.items() if name in server.reads}
    tape = replace(tape, tools={**tape.tools, **reads})
    answers = TapeAnswerBook(tape)

    def tools(world: LiveWorld) -> list[Tool]:
        return [_live_tool(tool, world, answers) for tool in tape.tools.values()]

    return LiveWorld(server, tape, tools, _TapeAnswers(answers), schema_of(ActingCall))


def _live_tool(listed: TapeTool, world: LiveWorld, answers: TapeAnswerBook) -> Tool:
    effects = world.effects(listed)

    def answer(transaction: Transaction, /, **arguments: Any) -> Any:
        tx = Tx(transaction, listed.name, effects)
        source = cast("ServerAnswers", tx.knowledge)
        after = acting_calls(tx, ActingCall, world.tape)
        if listed.acts and (before := world.look(transaction, source, after, before=True)):
            transaction.notes[OBSERVED_BEFORE] = json.dumps(before, ensure_ascii=False)
        result = source.call(listed.name, arguments, after)
        if result.get("isError") is True:
            raise RecordedError(text_of(result) or "the server gave no reason")
        if listed.acts:
            made = world.tape.plain(deed(listed.name, arguments, frozenset()))
            tx.add(ActingCall, tool=made[0], arguments=made[1])
            if seen := world.look(transaction, source, (*after, made)):
                transaction.notes[OBSERVED] = json.dumps(seen, ensure_ascii=False)
        return value_of(result)

    return replace(_tool(listed, world.name, answers), function=answer, effects=effects, once=True, result_schema={})


def _answering(listed: TapeTool, effects: Effects, answers: TapeAnswerBook) -> Callable[..., Any]:
    def answer(transaction: Transaction, /, **arguments: Any) -> Any:
        tx = Tx(transaction, listed.name, effects)
        tape = answers.tape
        after = tuple(tape.plain((act.tool, act.arguments)) for act in tx.all(ActingCall))
        made = deed(listed.name, arguments, tape.redacted)
        asked = tape.plain(made)
        result = answers.to(asked, after, tx.knowledge if isinstance(tx.knowledge, LoggedAnswer) else None)
        if result is None and isinstance(tx.knowledge, Fills):
            question = FillQuestion(listed, asked, after, tuple(answers.nearest(asked, after, EXAMPLES)))
            filled = tx.knowledge.to(question)
            if filled:
                transaction.notes[FILLED] = filled.model
                result = filled.result
        if result is None:
            raise answers.missing(asked, after)
        if result.get("isError") is True:
            raise RecordedError(text_of(result) or "the server gave no reason")
        if listed.acts:
            tx.add(ActingCall, tool=made[0], arguments=made[1])
        return value_of(result)

    return answer


def value_of(result: Mapping[str, Any]) -> Any:
    """What a tool gave: its object where it gave one, else its text, else the blocks of its content as they are."""
    structured = result.get("structuredContent")
    if structured is not None:
        return structured
    blocks = cast("list[Any]", result.get("content") or [])
    only = cast("Mapping[str, Any]", blocks[0]) if len(blocks) == 1 and isinstance(blocks[0], Mapping) else None
    return only.get("text") if only is not None and only.get("type") == "text" else blocks


def text_of(result: Mapping[str, Any]) -> str:
    """The texts of a result, one below the other; other parts as JSON."""
    content: Any = result.get("content") or []
    blocks = cast("list[Any]", content if isinstance(content, list) else [content])
    texts = [value_of({"content": [block]}) for block in blocks]
    return "\n".join(
        text if isinstance(text, str) else json.dumps(block, ensure_ascii=False)
        for text, block in zip(texts, blocks, strict=True)
    )
