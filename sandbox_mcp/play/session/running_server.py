"""One real server while it runs for one session, and the facts learned of a server before any scenario is played.

Policy: it runs in a thread of its own, because the session that calls it cannot wait otherwise. The session's folder is
called by one name everywhere, so that calls and logs of two sessions are alike.
"""

import atexit
import hashlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TextIO, cast

import anyio
from anyio.from_thread import start_blocking_portal
from mcp import MCPError
from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult
from pydantic import TypeAdapter, ValidationError

from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.whole_files import append_whole, write_whole
from sandbox_mcp.engine.worlds.recorded import FORMAT, Tape, read_tape
from sandbox_mcp.engine.worlds.recorded.live import FOLDER, HERE, LIVE, LiveServer, LiveWorld, ServerAnswers, in_folder
from sandbox_mcp.engine.worlds.recorded.observed import Observation, answered, columns_in, differing
from sandbox_mcp.engine.worlds.recorded.tape import Deed, canonical_text, deed
from sandbox_mcp.play.session.file_lock import FileLock
from sandbox_mcp.play.session.upstream import Upstream, fault_in, tools_of, unreachable, wire

SECONDS = 60.0
"""How long a server may take to answer a call, and a command to reset it."""
_RESULT = TypeAdapter[CallToolResult](CallToolResult)


class ServerLostError(Exception):
    """A live server is gone, or cannot be asked. Not what a tool may raise: the world broke."""


class RunningServer(ServerAnswers):
    """A server that was started for one session. See :class:`ServerAnswers`."""

    def __init__(self, server: LiveServer, world: LiveWorld | None = None, *, keep: bool = False) -> None:
        """Start and reset it.

        Raises:
            SandboxError: it cannot be started, or reset, or another session has it.
        """
        self._server = server
        self._tape = _Kept(world.tape) if world is not None and keep else None
        self._held = ExitStack()
        atexit.register(self.close)
        try:
            errors = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 - held until the server is closed
            self._errors = cast("TextIO", self._held.enter_context(errors))
            self._folder = self._made_folder()
            self._run_commands()
            self._portal = self._held.enter_context(start_blocking_portal())
            self.client = self._held.enter_context(
                self._portal.wrap_async_context_manager(self._upstream().connected())
            )
            for step in server.reset:
                if not isinstance(step, str):
                    self._reset_with(step)
        except Exception as error:
            said = self._last_words()
            self.close()
            told = unreachable(server.url or " ".join(server.command).replace(HERE, str(server.here)), error)
            raise SandboxError(f"{told}{said}") from error

    def _made_folder(self) -> Path | None:
        server = self._server
        if server.url:
            name = hashlib.sha256(server.url.encode()).hexdigest()[:16]
            lock = FileLock(Path(tempfile.gettempdir()) / f"sandbox-mcp-{name}.lock")
            if not self._held.enter_context(lock.held(within=0)):
                raise SandboxError(
                    f"another session has the server at {server.url!r}, and it is shared; play with --jobs 1"
                )
            return None
        if not server.own_folder:
            return None
        folder = (
            Path(self._held.enter_context(tempfile.TemporaryDirectory(prefix="sandbox-mcp-"))).resolve() / "sandbox"
        )
        if server.files is None:
            folder.mkdir()
            return folder
        if not server.files.is_dir():
            raise SandboxError(
                f"the folder {str(server.files)!r} does not exist; files is what each session gets a copy of"
            )
        shutil.copytree(server.files, folder, symlinks=True)
        return folder

    def _run_commands(self) -> None:
        for step in self._server.reset:
            if isinstance(step, str):
                command = self._words(step)
                try:
                    done = subprocess.run(  # noqa: S602 - the author's own command, as in a Makefile
                        command,
                        shell=True,
                        cwd=self._place,
                        timeout=SECONDS,
                        capture_output=True,
                        text=True,
                        check=False,
                    )
                except subprocess.TimeoutExpired as error:
                    raise SandboxError(f"the reset command {step!r} takes more than {SECONDS:.0f} seconds") from error
                if done.returncode:
                    said = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["it says nothing"]
                    raise SandboxError(f"the reset command {step!r} fails with {done.returncode}: {said[0]}")

    @property
    def _place(self) -> Path:
        return self._folder or self._server.here

    def _upstream(self) -> Upstream:
        command = tuple(map(self._words, self._server.command))
        return Upstream(command, self._server.url, folder=self._place, errors=self._errors)

    def _reset_with(self, step: Mapping[str, Any]) -> None:
        result = self._asked(str(step["tool"]), step.get("arguments") or {})
        if result.get("isError") is True:
            told = json.dumps(result.get("content"), ensure_ascii=False)[:200]
            raise SandboxError(f"the reset tool {step['tool']!r} refuses: {told}")

    def call(self, tool: str, arguments: Mapping[str, Any], after: tuple[Deed, ...]) -> Mapping[str, Any]:
        """The server's answer.

        Raises:
            ServerLostError: it is gone, or gives none.
        """
        result = self._asked(tool, arguments)
        if self._tape is not None:
            self._tape.keep(tool, arguments, after, result)
        return result

    def look(
        self, observation: Observation, after: tuple[Deed, ...], *, before: bool = False
    ) -> Mapping[str, Any] | None:
        """The server's answer to a question about its state."""
        result = self._asked(observation.tool, observation.arguments)
        if self._tape is not None and not before:
            self._tape.keep(observation.tool, observation.arguments, after, result)
        return result

    def state(self, observation: Observation) -> Mapping[str, Any]:
        """What an observing tool says at this moment."""
        return self._asked(observation.tool, observation.arguments)

    def tools(self) -> list[dict[str, Any]]:
        """What it lists."""
        return self._renamed([wire(tool) for tool in self._portal.call(tools_of, self.client)])

    def close(self) -> None:
        """Stop it, and remove its folder. Closing it twice does no harm."""
        atexit.unregister(self.close)
        with suppress(Exception):  # a server that does not end as it should is no matter of the session's
            self._held.close()

    def _asked(self, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        given = self._real(dict(arguments))
        try:
            return self._renamed(self._portal.call(partial(self._answer, tool, given)))
        except TimeoutError:
            told = f"the server gave no answer to {tool} within {SECONDS:.0f} seconds"
        except MCPError as error:
            told = f"the server refused {tool}: {error}"
        except ValidationError as error:
            raise ServerLostError(
                f"{tool} was answered with what is not a result of a tool: {fault_in(error)}"
            ) from error
        except Exception as error:
            raise ServerLostError(f"the server is gone: {type(error).__name__}: {error}{self._last_words()}") from error
        return {"content": [{"type": "text", "text": told}], "isError": True}

    async def _answer(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=arguments))
        with anyio.fail_after(SECONDS):
            return wire(await self.client.session.send_request(request, _RESULT))

    def _real(self, value: Any) -> Any:
        """A value of the session as the server needs it: with its folder where it really lies."""
        folder = self._folder
        return value if folder is None else _with_texts(value, lambda text: in_folder(text, str(folder)))

    def _words(self, text: str) -> str:
        """A word of a command, or a whole one, with the folders that it names."""
        return self._real(text).replace(HERE, str(self._server.here))

    def _renamed(self, value: Any) -> Any:
        folder = self._folder
        return value if folder is None else _with_texts(value, lambda text: text.replace(str(folder), FOLDER))

    def _last_words(self) -> str:
        return last_words(self._errors)


def last_words(errors: TextIO) -> str:
    """The last line that a server printed for its author, to stand after what became of it; empty without one."""
    with suppress(Exception):
        errors.seek(0)
        lines = [line.strip() for line in errors.read()[-4000:].splitlines() if line.strip()]
        return f"; it says last: {lines[-1][:300]}" if lines else ""
    return ""


def _with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value with each of its texts changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {name: _with_texts(item, change) for name, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list):
        return [_with_texts(item, change) for item in cast("list[Any]", value)]
    return value


class _Kept:
    """Appends to a tape what it does not have yet."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._known = {(call.after, call.deed) for call in tape.calls}

    def keep(self, tool: str, arguments: Mapping[str, Any], after: tuple[Deed, ...], result: Mapping[str, Any]) -> None:
        """Append one call with what was done before it."""
        place = (after, self._tape.plain(deed(tool, arguments, frozenset())))
        if place in self._known:
            return
        self._known.add(place)
        line = {"kind": "call", "tool": tool, "arguments": arguments, "after": [*map(list, after)], "result": result}
        with self._tape.path.open("ab", buffering=0) as file:
            append_whole(
                file.fileno(), f"{json.dumps(line, ensure_ascii=False, default=dict)}\n".encode(), self._tape.path
            )


@contextmanager
def started(server: LiveServer) -> Generator[RunningServer]:
    """A server that runs while the context is open.

    Raises:
        SandboxError: it cannot be started, or is lost in between.
    """
    running = RunningServer(server)
    try:
        yield running
    except ServerLostError as error:
        raise SandboxError(str(error)) from error
    finally:
        running.close()


def learned(server: LiveServer) -> tuple[Path, tuple[str, ...]]:
    """Start a server once, and write the tape that its scenarios need: its tools, and its state at the start.

    Gives the tape, and notes on it: fields that differ though nothing was done.

    Raises:
        SandboxError: it cannot be started, or an observing tool cannot be asked.
    """
    with started(server) as running:
        tools = running.tools()
        info = running.client.server_info
        told = {"instructions": running.client.instructions} if running.client.instructions else {}
        named = {"name": info.name, "version": info.version} if info else {}
        schemas = {tool["name"]: tool for tool in tools}
        tables: dict[str, Any] = {}
        first: list[tuple[Observation, Mapping[str, Any]]] = []
        for seen in server.observations:
            if seen.tool not in schemas:
                known = ", ".join(schemas) or "none"
                raise SandboxError(f"observe names {seen.tool!r}, which the server does not list; it lists {known}")
            result = running.state(seen)
            first.append((seen, result))
            value: Any = [] if result.get("isError") is True else server.mask.of(answered(result))
            found = columns_in(value, seen.by, schemas[seen.tool].get("outputSchema"))
            masked = server.mask.names
            tables[seen.table] = {name: kind for name, kind in {**found, **seen.columns}.items() if name not in masked}
        unsteady = tuple(_unsteady(server, running, first))
    begin: Mapping[str, Any] = {"kind": "server", "tape": FORMAT, **named, **told, "redacted": []}
    lines: list[Mapping[str, Any]] = [{**begin, LIVE: {"config": server.config, "tables": tables}}]
    lines += ({"kind": "tool", **tool} for tool in tools)
    for seen, result in first:
        lines.append({"kind": "call", "tool": seen.tool, "arguments": seen.arguments, "after": [], "result": result})
    write_whole(server.tape, "".join(f"{json.dumps(line, ensure_ascii=False, default=dict)}\n" for line in lines))
    tape = read_tape(server.tape)
    unseen = [seen.tool for seen in server.observations if tape.tools[seen.tool].acts and seen.tool not in server.reads]
    acting = (
        f"{name} observes, and the server does not say that it only looks; 'reads: [{name}]' says so" for name in unseen
    )
    empty = (
        f"{seen.table} shows nothing yet, so that its columns are not known; name them with 'columns: [...]'"
        for seen in server.observations
        if not tables[seen.table]
    )
    return server.tape, (*unsteady, *acting, *empty)


def _unsteady(
    server: LiveServer, running: RunningServer, first: Sequence[tuple[Observation, Mapping[str, Any]]]
) -> Iterator[str]:
    """The observing tools that say something else when they are asked again, and in which fields."""
    for seen, result in first:
        again = running.state(seen)
        one, other = (server.mask.of(answered(item)) for item in (result, again))
        if canonical_text(one) != canonical_text(other):
            fields = ", ".join(dict.fromkeys(differing(one, other))) or "its text"
            yield f"{seen.tool} answers the same question differently, in {fields}; 'mask' leaves that out"
