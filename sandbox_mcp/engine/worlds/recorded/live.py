"""A real server as a world: its tools, and tables that show its state as its own tools tell it.

Policy: nothing here starts a server. A session brings what answers (:class:`ServerAnswers`); without one the world
answers from its tape, which has the server's tools, its state at the start, and what references were answered. After
every acting call, and before it, the observing tools are asked, and what they say otherwise than before are the call's
changes. So a log has the whole state, and is graded without the server.
"""

import hashlib
import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.tools import Sources, World
from sandbox_mcp.engine.tools.definition import Tool
from sandbox_mcp.engine.world.effects import WHOLE, Effects
from sandbox_mcp.engine.world.faults import WorldError
from sandbox_mcp.engine.world.schema import TableSchema
from sandbox_mcp.engine.world.transaction import Transaction
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.recorded.observed import Mask, Observation
from sandbox_mcp.engine.worlds.recorded.tape import Deed, Tape, TapeTool, canonical_text, deed

FOLDER = "/sandbox"
"""What a session's own folder is called, in commands, arguments and answers alike: it lies elsewhere each time."""
_OWN = re.compile(rf"(?<![\w.~}}/-]){FOLDER}(?![\w-]|\.\w)")
HERE = "{here}"
"""In commands, the folder of the scenario's file."""
LIVE = "live"
"""The key of a tape's ``server`` line under which it says how the server is started and observed."""
OBSERVED, OBSERVED_BEFORE = "observed", "observed_before"
"""Under which names a call on a log has the answers of observing tools that were others than before."""
KEYS = frozenset({"server", "name", "files", "reset", "observe", "reads", "mask", "tape"})
"""What may be said of a live world."""
_LAUNCHERS = frozenset(
    {"uvx", "uv", "npx", "run", "tool", "python", "python3", "node", "docker", "podman", "bash", "sh", "env", "deno"}
)


@dataclass(frozen=True, slots=True)
class LiveServer:
    """How a server is started afresh for each session, and how its state is seen.

    ``given`` is what was written; ``here`` is the folder from which its paths count.
    """

    given: Mapping[str, Any]
    here: Path

    @classmethod
    def reading(cls, written: Mapping[str, Any], here: Path) -> "LiveServer":
        """What a scenario says of its server.

        Raises:
            WorldError: it cannot be understood.
        """
        if unknown := written.keys() - KEYS:
            raise WorldError(f"a live world has no {min(unknown)!r}; known: {', '.join(sorted(KEYS))}")
        found = cls(written, here)
        _ = found.command, found.url, found.reset, found.mask
        for observation in found.observations:
            if not re.fullmatch(r"[a-z][a-z0-9_]*", observation.table) or observation.table == "act":
                told = "expected small letters, digits and _ under 'as', and not act"
                raise WorldError(f"the table {observation.table!r} of an observing tool: {told}")
        return found

    @property
    def command(self) -> tuple[str, ...]:
        """The words of the command; none where it is a URL."""
        server: Any = self.given.get("server")
        if isinstance(server, list) and server and all(isinstance(word, str) for word in cast("list[Any]", server)):
            return tuple(cast("list[str]", server))
        if not isinstance(server, str) or not server.strip():
            raise WorldError(f"server is {server!r}; expected a command or a URL")
        return () if self.url else tuple(shlex.split(server))

    @property
    def url(self) -> str:
        """The address of a server that runs already."""
        server: Any = self.given.get("server")
        return server if isinstance(server, str) and server.startswith(("http://", "https://")) else ""

    @property
    def files(self) -> Path | None:
        """The folder copied for each session."""
        files: Any = self.given.get("files")
        if files is not None and not isinstance(files, str):
            raise WorldError(f"files is {files!r}; expected a folder")
        return None if files is None else self.here / files

    @property
    def reset(self) -> tuple[str | Mapping[str, Any], ...]:
        """What is done for each session: commands before the server starts, calls of tools after."""
        reset: Any = self.given.get("reset") or []
        steps = cast("list[Any]", reset if isinstance(reset, list) else [reset])
        for step in steps:
            if not isinstance(step, str) and not (isinstance(step, Mapping) and "tool" in step):
                raise WorldError(f"reset has {step!r}; expected a command, or {{tool: NAME, arguments: ...}}")
        return tuple(steps)

    @property
    def own_folder(self) -> bool:
        """True if each session has a folder of its own."""
        words = [*self.command, *(step for step in self.reset if isinstance(step, str))]
        return self.files is not None or any(map(names_folder, words))

    @property
    def observations(self) -> tuple[Observation, ...]:
        """The questions about its state, without the columns of their tables."""
        listed: Any = self.given.get("observe") or []
        found: list[Observation] = []
        for item in cast("list[Any]", listed if isinstance(listed, list) else [listed]):
            if isinstance(item, str):
                found.append(Observation(small_name(item), item, {}))
            elif isinstance(item, Mapping) and isinstance(cast("Mapping[str, Any]", item).get("tool"), str):
                said = cast("Mapping[str, Any]", item)
                if unknown := said.keys() - {"tool", "arguments", "as", "by", "columns"}:
                    raise WorldError(
                        f"an observing tool has no {min(unknown)!r}; known: tool, arguments, as, by, columns"
                    )
                name = str(said.get("as") or small_name(said["tool"]))
                given: Any = said.get("columns") or {}
                listed_only = isinstance(given, list)
                columns: Mapping[str, Any] = dict.fromkeys(cast("list[str]", given), "string") if listed_only else given
                found.append(
                    Observation(name, said["tool"], said.get("arguments") or {}, str(said.get("by") or ""), columns)
                )
            else:
                raise WorldError(
                    f"observe has {item!r}; expected a tool's name, or {{tool: NAME, arguments: ..., as: TABLE}}"
                )
        names = [item.table for item in found]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise WorldError(f"two observing tools fill the table {twice!r}; tell them apart with 'as'")
        return tuple(found)

    @property
    def reads(self) -> frozenset[str]:
        """The tools that only look, though the server does not say so."""
        named: Any = self.given.get("reads") or []
        return frozenset(cast("list[str]", named if isinstance(named, list) else [named]))

    @property
    def mask(self) -> Mask:
        """What differs from session to session."""
        listed: Any = self.given.get("mask") or []
        try:
            return Mask.reading(map(str, cast("list[Any]", listed if isinstance(listed, list) else [listed])))
        except re.error as error:
            raise WorldError(f"mask: {error.pattern!r} is no pattern: {error}") from error

    @property
    def config(self) -> Mapping[str, Any]:
        """What was written, but for where its tape lies."""
        return {name: value for name, value in self.given.items() if name != "tape"}

    @property
    def digest(self) -> str:
        """Changes with what was written, and with the files that are copied."""
        whole = hashlib.sha256(canonical_text(self.config).encode())
        if self.files is not None and self.files.is_dir():
            for path in sorted(item for item in self.files.rglob("*") if item.is_file() and ".git" not in item.parts):
                whole.update(f"{path.relative_to(self.files).as_posix()}\0".encode() + path.read_bytes())
        return whole.hexdigest()[:16]

    @property
    def name(self) -> str:
        """Its name, or the first word of its command after any launcher."""
        words = [self.url.partition("://")[2].partition("/")[0]] if self.url else self.command
        told = (Path(word).stem for word in words if not word.startswith("-"))
        found = str(self.given.get("name") or next((word for word in told if word not in _LAUNCHERS), "server"))
        return small_name(found.partition("@")[0] or found)[:40]

    @property
    def tape(self) -> Path:
        """Where its tools, and what references were answered, are kept."""
        return self.here / str(self.given.get("tape") or f"{self.name}-{self.digest[:6]}.jsonl")


def names_folder(text: str) -> bool:
    """True if a text names a session's own folder; a longer path that has these letters in it does not."""
    return _OWN.search(text) is not None


def in_folder(text: str, place: str) -> str:
    """A text with the place at which a session's own folder lies in this session."""
    return _OWN.sub(lambda _: place, text)


def small_name(name: str) -> str:
    """A name in small letters, digits and underscores, as tables and worlds have it."""
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()).strip("_") or "server"


class ServerAnswers:
    """What answers in the place of a live world's server: the server itself, its tape, or a log of a session."""

    def call(self, tool: str, arguments: Mapping[str, Any], after: tuple[Deed, ...]) -> Mapping[str, Any]:
        """The result of a call, as it travelled; ``after`` are the acting calls of the session so far."""
        raise NotImplementedError

    def look(
        self, observation: Observation, after: tuple[Deed, ...], *, before: bool = False
    ) -> Mapping[str, Any] | None:
        """The answer to a question about the state; None where it is as it was."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of it."""


@dataclass(frozen=True, slots=True)
class _LoggedCall:
    """A call as a log tells it: ``result`` is its value, ``error`` its text where it was refused."""

    tool: str
    arguments: Mapping[str, Any]
    result: Any
    error: str | None
    notes: Mapping[str, Any]


class _LogAnswers(ServerAnswers):
    """Answers from one session's log, as from a tape: for equal arguments after the same acting calls."""

    def __init__(self, calls: Sequence[_LoggedCall], tape: Tape, mask: Mask) -> None:
        self._found: dict[tuple[tuple[Deed, ...], Deed], list[_LoggedCall]] = {}
        self._seen: dict[tuple[tuple[Deed, ...], bool], Mapping[str, Any]] = {}
        self._asked: dict[tuple[tuple[Deed, ...], Deed], int] = {}
        self._mask = mask
        after: tuple[Deed, ...] = ()
        for call in calls:
            made = tape.plain(deed(call.tool, call.arguments, tape.redacted))
            self._found.setdefault((after, made), []).append(call)
            tool = tape.tools.get(call.tool)
            acts = tool is not None and tool.acts
            if acts and OBSERVED_BEFORE in call.notes:
                self._seen[after, True] = loads(call.notes[OBSERVED_BEFORE])
            if acts and call.error is None:
                after = (*after, made)
            if acts and OBSERVED in call.notes:
                self._seen[after, False] = loads(call.notes[OBSERVED])

    def call(self, tool: str, arguments: Mapping[str, Any], after: tuple[Deed, ...]) -> Mapping[str, Any]:
        """The logged result; of several answers to one question the first, unless they differ in masked parts."""
        asked = (tool, canonical_text(arguments))
        found = self._found.get((after, asked))
        if not found:
            raise WorldError(f"the log has no call of {tool} with {asked[1]} at this place")
        place = self._asked[after, asked] = self._asked.get((after, asked), -1) + 1
        now = found[min(place, len(found) - 1)]
        call = now if self._mask.of(now.result) == self._mask.of(found[0].result) else found[0]
        if call.error is not None:
            return {"content": [{"type": "text", "text": call.error}], "isError": True}
        return result_of(call.result)

    def look(
        self, observation: Observation, after: tuple[Deed, ...], *, before: bool = False
    ) -> Mapping[str, Any] | None:
        """The logged answer, where it was another one than before."""
        return self._seen.get((after, before), {}).get(observation.table)


def result_of(value: Any) -> Mapping[str, Any]:
    """A result as it may have travelled, of what a log keeps of it."""
    if isinstance(value, str):
        return {"content": [{"type": "text", "text": value}]}
    if isinstance(value, Mapping):
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=dict)
        return {"content": [{"type": "text", "text": text}], "structuredContent": value}
    return {"content": value}


class LiveWorld(World):
    """The world of a server that a tape tells of: how it is started, which tools it has, and which tables."""

    def __init__(
        self,
        server: LiveServer,
        tape: Tape,
        tools: Callable[["LiveWorld"], Sequence[Tool]],
        kept: ServerAnswers,
        acting: TableSchema,
    ) -> None:
        columns: Mapping[str, Any] = tape.server[LIVE].get("tables") or {}
        listed = canonical_text([[dict(tool.listed), tool.acts] for tool in tape.tools.values()])
        version = hashlib.sha256(f"{server.digest} {canonical_text(columns)} {listed}".encode()).hexdigest()[:16]
        super().__init__(
            f"live_{server.name}_{version[:6]}"[:64],
            version=version,
            policy=str(tape.server.get("instructions") or ""),
            sources=lambda: Sources(ServerAnswers),
        )
        self.origin = str(tape.path)
        self.server = server
        self.tape = tape
        self.observations = tuple(
            Observation(item.table, item.tool, item.arguments, item.by, columns.get(item.table, {}))
            for item in server.observations
        )
        self._kept = kept
        self._acting = acting
        self.include(*tools(self))

    @cached_property
    def tables(self) -> Mapping[str, TableSchema]:
        """The acting calls of the session, and a table for each observing tool."""
        seen = (item.schema() for item in self.observations)
        return MappingProxyType({schema.name: schema for schema in (self._acting, *seen)})

    @cached_property
    def knowledge(self) -> object:
        """What answers where a session brings nothing: the tape."""
        return self._kept

    @property
    def free(self) -> frozenset[str]:
        """The tables whose changes nobody judges: where the state is seen, what was called is not a state."""
        return frozenset({"act"} if self.observations else ())

    def begin(self, transaction: Transaction) -> None:
        """Take up the state of the server as it is at the start."""
        self.look(transaction, transaction.knowledge, ())

    def retold(self, calls: Sequence[Any]) -> object | None:
        """What answers as a log says."""
        told = [_LoggedCall(*call) for call in calls]
        return _LogAnswers(told, self.tape, self.server.mask)

    def look(
        self, transaction: Transaction, source: object, after: tuple[Deed, ...], *, before: bool = False
    ) -> Mapping[str, Any]:
        """Ask the observing tools, and write new answers; gives the answers that were others than before."""
        new: dict[str, Any] = {}
        mask = self.server.mask
        for observation in self.observations:
            result = cast("ServerAnswers", source).look(observation, after, before=before)
            if result is None:
                continue
            rows, seen = observation.rows(result, mask), transaction.seen(observation.table)
            changed = {key: rows.get(key) for key in (*seen, *rows) if seen.get(key) != rows.get(key)}
            for key, row in changed.items():
                transaction.put(observation.table, key, row)
            if changed:
                new[observation.table] = result
        return new

    def effects(self, listed: TapeTool) -> Effects:
        """What a tool may write: anything that can be seen, if it acts."""
        if not listed.acts:
            return Effects()
        seen = [item.table for item in self.observations]
        return Effects(frozenset({"act", *seen}), frozenset(seen), {name: frozenset({WHOLE}) for name in seen})


def acting_calls(tx: Tx, table: Any, tape: Tape) -> tuple[Deed, ...]:
    """The acting calls that a session has made."""
    return tuple(tape.plain((act.tool, act.arguments)) for act in tx.all(table))
