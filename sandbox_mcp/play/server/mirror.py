"""A mirror: stands between a client and a real MCP server, passes tools and calls on, and writes all of it on a tape.

Policy: a call's line is written before its answer is passed on, so that a crash loses nothing that the client has
seen. Calls go to the server one after another, so that the tape says what came before what. What cannot be passed on
unchanged is named once; what must not be kept (headers, and what stands under a name to be left out, in arguments and
answers alike) never reaches the tape, not even where another call or answer repeats it.
"""

import json
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, cast

import anyio
from mcp import Client, MCPError
from mcp.server import Server
from mcp_types import (
    INTERNAL_ERROR,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    ServerCapabilities,
    Tool,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from sandbox_mcp.engine.errors import SandboxError, inner_errors
from sandbox_mcp.engine.tools.calling import MAX_ARGUMENT_CHARACTERS
from sandbox_mcp.engine.tools.value_schemas import fits_schema
from sandbox_mcp.engine.trajectory import mend_log
from sandbox_mcp.engine.whole_files import append_whole, check_regular
from sandbox_mcp.engine.worlds.recorded import FORMAT, TapeTool, read_tape, without
from sandbox_mcp.engine.worlds.recorded.hiding import SHORTEST, cleaned, secrets_in
from sandbox_mcp.engine.worlds.recorded.schemas import inlined
from sandbox_mcp.play.server.context import Context
from sandbox_mcp.play.server.empty_lists import ABSENT
from sandbox_mcp.play.session.file_lock import FileLock
from sandbox_mcp.play.session.upstream import Upstream, fault_in, tools_of, unreachable, wire

NOT_OFFERED = "questions of the server to its client (sampling, elicitation, roots), and news of progress"
"""What no server can do through a mirror, whatever it says."""
_STAMPS = "io.modelcontextprotocol/"
"""How the names begin under which the protocol itself puts something beside a result."""
LONGEST = 256 * 1024 * 1024
"""How many bytes a message of the client may have: whole files are passed to some tools."""
Tell = Callable[[str], None]
_ANSWER = TypeAdapter[CallToolResult | InputRequiredResult](CallToolResult | InputRequiredResult)


@contextmanager
def writing(path: Path) -> Generator[None]:
    """Turn an error of the system into one that names the tape.

    Raises:
        SandboxError: it cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise SandboxError(f"cannot write the tape {str(path)!r}: {error.strerror or error}") from error


class TapeWriter:
    """Writes takes on a tape, line by line. All of it raises SandboxError where the tape cannot be written."""

    def __init__(
        self, path: Path, descriptor: int, redacted: frozenset[str], reads: frozenset[str] = frozenset()
    ) -> None:
        """``reads`` are tools that only look, though the server does not say so."""
        self._reads = reads
        self._path = path
        self._descriptor = descriptor
        self._redacted = redacted
        self._secrets = set[str]()
        self._listed = dict[str, Mapping[str, Any]]()
        self._acted = 0

    def begin(self, client: Client) -> None:
        """Write who answers."""
        info = client.server_info
        named = {"name": info.name, "version": info.version} if info else {}
        told = {"instructions": client.instructions} if client.instructions else {}
        said = cleaned({**named, **told}, self._secrets)
        self._write({"kind": "server", "tape": FORMAT, **said, "redacted": sorted(self._redacted)})

    def list(self, tools: Iterable[Tool]) -> None:
        """Write the tools that are new, or listed in another way than before."""
        for tool in tools:
            listed = wire(tool)
            if self._listed.get(tool.name) != listed:
                self._listed[tool.name] = listed
                said = {"reads": True} if tool.name in self._reads else {}
                self._write({"kind": "tool", **cleaned(listed, self._secrets), "name": tool.name, **said})

    def hide(self, headers: Mapping[str, str]) -> None:
        """Write the values of these headers nowhere, nor what stands in one behind its scheme, as in ``Bearer ...``."""
        for value in headers.values():
            self._secrets.update(part for part in (value, *value.split(" ", 1)[1:]) if len(part) >= SHORTEST)

    def unlisted(self, tools: Iterable[Tool]) -> Sequence[str]:
        """The names to be left out that none of these tools mentions: they may be misspelt."""
        schemas = json.dumps([[tool.input_schema, tool.output_schema] for tool in tools])
        return [name for name in sorted(self._redacted) if json.dumps(name) not in schemas]

    def unknown_reads(self) -> Sequence[str]:
        """The tools said to look that the server does not list: they may be misspelt."""
        return sorted(self._reads - self._listed.keys())

    def record(
        self, tool: Tool, arguments: Mapping[str, Any], result: Mapping[str, Any], took: float | None = None
    ) -> None:
        """Write a call and what came of it; what was secret in one call is so in all calls and answers from then on."""
        if self._redacted:
            self._secrets.update(secrets_in([arguments, result], self._redacted))
        given = cleaned(without(arguments, self._redacted), self._secrets)
        clean = cleaned(result, self._secrets)
        line = {"kind": "call", "tool": tool.name, "arguments": given, "before": self._acted, "result": clean}
        self._write({**line, **({} if took is None else {"took": round(took, 4)})})
        if tool.name not in self._reads and TapeTool(tool.name, wire(tool)).acts and result.get("isError") is not True:
            self._acted += 1

    def _write(self, line: Mapping[str, Any]) -> None:
        with writing(self._path):
            append_whole(self._descriptor, f"{json.dumps(line, ensure_ascii=False)}\n".encode(), self._path)


@contextmanager
def recording(path: Path, redacted: frozenset[str], reads: frozenset[str] = frozenset()) -> Generator[TapeWriter]:
    """A recorder at the end of a tape, new or old; a last line that was cut off by a crash is taken away.

    Raises:
        TapeError: the file is not a tape.
        SandboxError: it cannot be written, or another mirror writes on it.
    """
    with ExitStack() as held:
        with writing(path):
            if not held.enter_context(FileLock(path.with_name(f".{path.name}.lock")).held(within=0)):
                raise SandboxError(f"another mirror writes on the tape {str(path)!r}; give each its own")
            if path.exists() and path.stat().st_size:
                known = read_tape(path).redacted
                if known != redacted:
                    listed = " ".join(f"--redact {name}" for name in sorted(known)) or "no --redact"
                    told = f"the tape {str(path)!r} was begun with {listed}; go on with the same, or use another tape"
                    raise SandboxError(told)
                mend_log(path)
            file = held.enter_context(check_regular(path).open("ab", buffering=0))
        try:
            yield TapeWriter(path, file.fileno(), redacted, reads)
        finally:
            if not path.stat().st_size:  # as where the server could not be reached
                path.unlink()


@asynccontextmanager
async def mirrored(upstream: Upstream, recorder: TapeWriter, tell: Tell) -> AsyncGenerator[Server[Any]]:
    """A server that offers what the one behind it offers, and records all calls.

    ``tell`` is told what cannot be passed on unchanged.

    Raises:
        SandboxError: the server behind cannot be reached.
    """
    entered = False
    try:
        async with upstream.connected() as client:
            recorder.hide(upstream.headers)
            mirror = _Mirror(client, recorder, tell)
            tools = await mirror.listed()
            recorder.begin(client)
            recorder.list(tools)
            for what in _kept_back(client.server_capabilities):
                tell(f"not passed on: {what}")
            for name in recorder.unknown_reads():
                tell(f"the server lists no tool {name!r}, which --reads names")
            for name in recorder.unlisted(tools):
                tell(f"no tool lists {name!r}, which is to be left out; calls and answers are searched for it anyhow")
            entered = True
            yield mirror.server()
    except Exception as error:
        if entered:
            raise inner_errors(error)[0] from error
        raise unreachable(upstream.url or " ".join(upstream.command), error) from error


class _Mirror:
    """Tools that the client is offered, and the calls that go through."""

    def __init__(self, client: Client, recorder: TapeWriter, tell: Tell) -> None:
        self._client = client
        self._recorder = recorder
        self._tools: Mapping[str, Tool] = {}
        self._tell = tell
        self._one_by_one = anyio.Lock()
        self._told = set[str]()

    def server(self) -> Server[Any]:
        info = self._client.server_info
        handlers: Mapping[str, Any] = ABSENT
        return Server(
            info.name if info else "mirror",
            version=info.version if info else "",
            instructions=self._client.instructions,
            on_list_tools=self._list,
            on_call_tool=self._call,
            **handlers,
        )

    async def listed(self) -> Sequence[Tool]:
        """List what the server lists at this moment; of several tools of one name the last."""
        found = await tools_of(self._client)
        self._tools = {tool.name: tool for tool in found}
        for name, times in Counter(tool.name for tool in found).items():
            if times > 1:
                self._once(f"not passed on: the server lists {name} {times} times, and the last stands for all")
        return [*self._tools.values()]

    async def _list(self, context: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        tools = await self.listed()
        self._recorder.list(tools)
        if context.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
            tools = [self._without_other_than_objects(tool) for tool in tools]
        return ListToolsResult(tools=[*tools])

    def _without_other_than_objects(self, tool: Tool) -> Tool:
        """The tool for a client whose version of the protocol knows objects alone as structured results."""
        if tool.output_schema is None or tool.output_schema.get("type") == "object":
            return tool
        self._once(f"not passed on: what results of {tool.name} look like, because its client knows objects alone")
        return tool.model_copy(update={"output_schema": None})

    async def _call(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        async with self._one_by_one:
            if params.name not in self._tools:
                self._recorder.list(await self.listed())
            begun = time.perf_counter()
            result = await self._answer(params)
            took = time.perf_counter() - begun
            tool = self._tools.get(params.name)
            if tool is None:
                self._once(f"not on the tape: calls of {params.name}, which the server does not list")
            else:
                arguments, sent = params.arguments or {}, wire(result)
                self._recorder.record(tool, arguments, sent, took)
                for what in _changed_at_replay(tool, arguments, sent):
                    self._once(f"not unchanged at replay: {what}")
        structured = result.structured_content
        if context.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS and not isinstance(structured, Mapping | None):
            self._once(f"not passed on: structured results of {params.name}, because its client knows objects alone")
            return result.model_copy(update={"structured_content": None})
        return result

    async def _answer(self, params: CallToolRequestParams) -> CallToolResult:
        """Answer of the server; anything else that comes of a call is told, because it does not go onto the tape."""
        name = params.name
        request = CallToolRequest(params=CallToolRequestParams(name=name, arguments=params.arguments))
        try:
            answer = await self._client.session.send_request(request, _ANSWER)
        except ValidationError as error:
            told = f"{name} was answered with what is not a result of a tool: {fault_in(error)}"
        except MCPError as error:
            self._tell(f"not on the tape: {name} was answered with a protocol error: {error}")
            raise
        except anyio.get_cancelled_exc_class():
            self._tell(f"not on the tape: {name}, which the client gave up; what it may have changed will be missing")
            raise
        else:
            if isinstance(answer, CallToolResult):
                return answer
            told = f"{name} was answered with a question to the client, which a mirror cannot pass on"
        self._tell(f"not on the tape: {told}")
        raise MCPError(INTERNAL_ERROR, told)

    def _once(self, what: str) -> None:
        if what not in self._told:
            self._told.add(what)
            self._tell(what)


def _changed_at_replay(tool: Tool, arguments: Mapping[str, Any], result: Mapping[str, Any]) -> Iterator[str]:
    """Changes that a recorded world would make."""
    blocks = cast("list[Mapping[str, Any]]", result.get("content") or [])
    kinds = [str(block.get("type")) for block in blocks]
    if result.get("isError") is True:
        if kinds != ["text"] or "structuredContent" in result:
            yield f"errors of {tool.name} come as their texts alone"
    elif "structuredContent" not in result and kinds != ["text"]:
        yield f"results of {tool.name} with the content {' and '.join(kinds) or 'none'} come as a list of blocks"
    elif "structuredContent" in result:
        compact = json.dumps(result["structuredContent"], ensure_ascii=False, separators=(",", ":"))
        if [block.get("text") for block in blocks] != [compact]:
            yield f"the content beside the object that {tool.name} gives is written as the object's JSON in one line"
    elif beside := blocks[0].keys() - {"type", "text"}:
        yield f"{' and '.join(sorted(beside))} of the text that {tool.name} gives will be missing"
    if any(not name.startswith(_STAMPS) for name in result.get("_meta", ())):
        yield f"_meta of results of {tool.name} will be missing"
    if result.get("isError") is True:
        return
    properties: Any = tool.input_schema.get("properties")
    listed = cast("Mapping[str, Any]", properties if isinstance(properties, Mapping) else {})
    if len(json.dumps(arguments, ensure_ascii=False)) > MAX_ARGUMENT_CHARACTERS:
        yield f"{tool.name} with arguments of more than {MAX_ARGUMENT_CHARACTERS} characters will be refused"
    if unknown := arguments.keys() - listed.keys():
        yield f"{tool.name} is listed with {', '.join(sorted(unknown))}, too, with which it was called"
    given = {name: arguments[name] for name in listed.keys() & arguments.keys()}
    if wrong := [n for n, value in given.items() if not fits_schema(value, inlined(listed[n], tool.input_schema))]:
        yield f"{tool.name} with such {', '.join(sorted(wrong))}, which its schema does not allow, will be refused"


def _kept_back(offered: ServerCapabilities) -> Iterator[str]:
    named = {name: getattr(offered, name, None) for name in ("prompts", "resources", "completions", "logging", "tasks")}
    yield from (name for name, value in named.items() if value is not None)
    if offered.tools is not None and offered.tools.list_changed:
        yield "news that the list of tools has changed; a client that asks again gets the new one"
    yield from (f"the extension {name}" for name in {**(offered.extensions or {}), **(offered.experimental or {})})
    yield NOT_OFFERED
