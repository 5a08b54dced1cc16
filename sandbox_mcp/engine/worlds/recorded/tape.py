"""The tape: what a server offered and what it answered, one JSON object a line.

A line is of one of three kinds. ``server`` begins a take: who answered, and which arguments are left out. ``tool`` is
one tool as the server listed it. ``call`` is one call with its arguments and the result as it travelled.

Policy: a tool acts unless the server says ``readOnlyHint``, whoever recorded says ``reads``, or it is guessed from the
tape, see :mod:`sandbox_mcp.engine.worlds.recorded.guessing`. A call that the server refused has changed nothing, so it
is not counted as acting. An argument that says what its schema names as the default is as good as left out, because
some agents spell out what others leave to the server. Lines are only ever appended; a last line that was cut off by a
crash is left out.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, cast

from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.world.faults import WorldError
from sandbox_mcp.engine.worlds.recorded.guessing import TapedCall, guessed_to_look

FORMAT = 1
"""The version of the format, in every ``server`` line."""
REDACTED = "[redacted]"
"""What stands on a tape in the place of a secret."""
Deed = tuple[str, str]
"""A tool and the canonical JSON of its arguments: what makes two calls equal."""


class TapeError(WorldError):
    """A file is not a tape, or a line of it cannot be used."""

    def __init__(self, path: Path, line: int | None, problem: str) -> None:
        self.path = path
        self.line = line
        place = f"tape {str(path)!r}" if line is None else f"tape {str(path)!r}, line {line}"
        super().__init__(f"{place}: {problem}")


@dataclass(frozen=True, slots=True)
class TapeTool:
    """One tool as its server listed it, by the names of the protocol: ``inputSchema``, ``annotations`` and so on."""

    name: str
    listed: Mapping[str, Any]
    reads: bool | None = None

    @property
    def acts(self) -> bool:
        """True if it changes the server's state, as far as the server, or else the tape, says."""
        return not self.reads if self.reads is not None else self._hint("readOnlyHint") is not True

    @property
    def said(self) -> bool:
        """True if the server or the tape says if it acts; otherwise that can only be guessed."""
        return self.reads is not None or any(
            isinstance(self._hint(name), bool) for name in ("readOnlyHint", "destructiveHint", "idempotentHint")
        )

    @property
    def destructive(self) -> bool:
        """True if it may overwrite or remove; where the server says nothing, it may."""
        return self.acts and self._hint("destructiveHint") is not False

    @property
    def defaults(self) -> Mapping[str, Any]:
        """Defaults of the server for arguments that are left out, as far as it declares them."""
        schema: Any = self.listed.get("inputSchema")
        properties: Any = cast("Mapping[str, Any]", schema).get("properties") if isinstance(schema, Mapping) else None
        listed = cast("Mapping[str, Any]", properties).items() if isinstance(properties, Mapping) else ()
        return {name: item["default"] for name, item in listed if isinstance(item, Mapping) and "default" in item}

    def _hint(self, name: str) -> Any:
        hints = self.listed.get("annotations")
        return cast("Mapping[str, Any]", hints).get(name) if isinstance(hints, Mapping) else None


@dataclass(frozen=True, slots=True)
class TapeCall:
    """One call on a tape: what was asked, after which acting calls, what came of it, and in which line it stands.

    ``took`` is how many seconds the server needed, where the tape says it.
    """

    deed: Deed
    after: tuple[Deed, ...]
    result: Mapping[str, Any]
    line: int
    took: float | None = None

    @property
    def refused(self) -> bool:
        """True if the server answered with an error."""
        return self.result.get("isError") is True


@dataclass(frozen=True, slots=True)
class Tape:
    """All that a tape holds. Of several takes the last says which tools there are.

    ``guessed`` are the tools that only look as far as the tape shows. ``answers`` are the lines about anything but
    tools, such as prompts and resources.
    """

    path: Path
    digest: str
    server: Mapping[str, Any]
    redacted: frozenset[str]
    tools: Mapping[str, TapeTool]
    calls: tuple[TapeCall, ...]
    guessed: frozenset[str] = frozenset()
    answers: tuple[Mapping[str, Any], ...] = ()

    def plain(self, made: Deed) -> Deed:
        """A call without the arguments that say what the server takes anyway: calls equal in this are one call."""
        return _plain(made, self.tools.get(made[0]))


def deed(tool: str, arguments: Mapping[str, Any], redacted: frozenset[str]) -> Deed:
    """Key that two equal calls share: numbers by value, keys in any order, secrets not at all."""
    return tool, canonical_text(without(arguments, redacted))


def is_secret(name: str, redacted: Collection[str]) -> bool:
    """True if a name is one of those whose values are left out, in small or capital letters."""
    return name in redacted or any(name.casefold() == other.casefold() for other in redacted)


def without(value: Any, redacted: frozenset[str]) -> Any:
    """A JSON value with what stands under secret names, however deep, left out."""
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, Any]", value).items()
        return {name: REDACTED if is_secret(name, redacted) else without(item, redacted) for name, item in pairs}
    if isinstance(value, list | tuple):
        return [without(item, redacted) for item in cast("Sequence[Any]", value)]
    return value


def _plain(made: Deed, tool: TapeTool | None) -> Deed:
    if tool is None or not tool.defaults:
        return made
    defaults = tool.defaults
    given = cast("dict[str, Any]", loads(made[1]))
    needless = {
        name for name in given.keys() & defaults.keys() if canonical_text(given[name]) == canonical_text(defaults[name])
    }
    return made[0], canonical_text({name: value for name, value in given.items() if name not in needless})


def canonical_text(value: Any) -> str:
    """A JSON value as the text in which equal values are equal."""
    return json.dumps(_canonical(value), sort_keys=True, ensure_ascii=False)


def _canonical(value: Any) -> Any:
    """2.0 is 2, as JSON has one kind of number."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {name: _canonical(item) for name, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_canonical(item) for item in cast("Sequence[Any]", value)]
    return value


def read_tape(path: Path) -> Tape:
    """Read a tape.

    Raises:
        TapeError: the file cannot be read, or a line does not belong on a tape.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TapeError(path, None, f"cannot be read: {error.strerror or error}") from error
    reading = _Reading(path)
    texts = data.split(b"\n")
    for number, text in enumerate(texts, 1):
        if not text.strip():
            continue
        try:
            line: Any = loads(text)
        except (ValueError, RecursionError) as error:
            if number == len(texts):  # a whole line ends with a newline: this one was being written
                break
            raise TapeError(path, number, "is not JSON") from error
        if not isinstance(line, dict):
            raise TapeError(path, number, "is not a JSON object")
        reading.take(number, cast("dict[str, Any]", line))
    if not reading.server:
        raise TapeError(path, None, "is empty; expected a line of the kind 'server' first")
    if not reading.tools:
        raise TapeError(path, None, "has no tool")
    digest = sha256(data).hexdigest()[:16]
    guessed = reading.guess()
    return Tape(
        path, digest, reading.server, reading.redacted, reading.tools, reading.calls(), guessed, tuple(reading.answers)
    )


@dataclass(slots=True)
class _Reading:
    """A tape as far as it has been read."""

    path: Path
    server: Mapping[str, Any] = field(default_factory=dict[str, Any])
    redacted: frozenset[str] = frozenset()
    tools: dict[str, TapeTool] = field(default_factory=dict[str, TapeTool])
    takes: "list[list[_CallLine]]" = field(default_factory=list[Any])
    answers: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    listing: bool = False

    def take(self, number: int, line: Mapping[str, Any]) -> None:
        kind = line.get("kind")
        if kind in ("tool", "call", "answer") and not self.server:
            raise TapeError(self.path, number, "stands before any line of the kind 'server'")
        match kind:
            case "server":
                self._begin(number, line)
            case "tool":
                self._list(number, line)
            case "call":
                self._call(number, line)
            case "answer":
                self.answers.append(line)
            case _:
                raise TapeError(self.path, number, f"has the kind {kind!r}; expected server, tool, call or answer")

    def _begin(self, number: int, line: Mapping[str, Any]) -> None:
        if line.get("tape") != FORMAT:
            raise TapeError(self.path, number, f"is of format {line.get('tape')!r}; this version reads {FORMAT}")
        names: Any = line.get("redacted", [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in cast("list[Any]", names)):
            raise TapeError(self.path, number, f"'redacted' is {names!r}; expected a list of names")
        redacted = frozenset(cast("list[str]", names))
        if self.server and redacted != self.redacted:
            raise TapeError(self.path, number, "leaves out other arguments than the take before; use one tape for each")
        self.server, self.redacted, self.listing = line, redacted, True
        self.takes.append([])

    def _list(self, number: int, line: Mapping[str, Any]) -> None:
        name, schema = line.get("name"), line.get("inputSchema")
        if not isinstance(name, str) or not name:
            raise TapeError(self.path, number, f"names a tool {name!r}; expected a text")
        if not isinstance(schema, dict):
            raise TapeError(self.path, number, f"tool {name!r} has no inputSchema that is an object")
        if self.listing:
            self.tools, self.listing = {}, False
        reads = line.get("reads")
        if reads is not None and not isinstance(reads, bool):
            raise TapeError(self.path, number, f"tool {name!r} has 'reads' {reads!r}; expected true or false")
        listed = {key: value for key, value in line.items() if key not in ("kind", "reads")}
        self.tools[name] = TapeTool(name, listed, reads)

    def _call(self, number: int, line: Mapping[str, Any]) -> None:
        name, arguments, result = line.get("tool"), line.get("arguments", {}), line.get("result")
        if not isinstance(name, str) or name not in self.tools:
            raise TapeError(self.path, number, f"calls {name!r}, which the lines before it do not list")
        if not isinstance(arguments, dict) or not isinstance(result, dict):
            raise TapeError(self.path, number, "lacks 'arguments' or 'result'; expected a JSON object for each")
        after: Any = line.get("after")
        self.takes[-1].append(
            _CallLine(
                number, name, cast("dict[str, Any]", arguments), cast("dict[str, Any]", result), _deeds(after),
                line.get("took"),
            )
        )  # fmt: skip

    def guess(self) -> frozenset[str]:
        """Decide which tools only look where neither server nor tape says it."""
        unsaid = [tool.name for tool in self.tools.values() if not tool.said]
        looking = [tool.name for tool in self.tools.values() if not tool.acts]
        takes = [
            [
                TapedCall(
                    call.tool,
                    f"{call.tool} {canonical_text(call.arguments)}",
                    canonical_text(call.result),
                    call.refused,
                )
                for call in take
                if call.after is None
            ]
            for take in self.takes
        ]
        guessed = guessed_to_look(unsaid, looking, takes)
        self.tools |= {name: replace(self.tools[name], reads=True) for name in self.tools if name in guessed}
        return frozenset(guessed)

    def calls(self) -> tuple[TapeCall, ...]:
        """The calls, each with the acting calls of its take that came before it."""
        found: list[TapeCall] = []
        for take in self.takes:
            acted: list[Deed] = []
            for call in take:
                tool = self.tools.get(call.tool)
                asked = _plain(deed(call.tool, call.arguments, self.redacted), tool)
                after = (
                    tuple(acted)
                    if call.after is None
                    else tuple(_plain(made, self.tools.get(made[0])) for made in call.after)
                )
                found.append(TapeCall(asked, after, call.result, call.line, call.took))
                if call.after is None and tool is not None and tool.acts and not call.refused:
                    acted.append(asked)
        return tuple(found)


class _CallLine(NamedTuple):
    """A line of a call: ``after`` are the acting calls before it where the line itself says so."""

    line: int
    tool: str
    arguments: dict[str, Any]
    result: dict[str, Any]
    after: tuple[Deed, ...] | None
    took: Any

    @property
    def refused(self) -> bool:
        return self.result.get("isError") is True


def _deeds(after: Any) -> tuple[Deed, ...] | None:
    if not isinstance(after, list):
        return None
    return tuple((str(tool), str(arguments)) for tool, arguments in cast("list[Any]", after))
