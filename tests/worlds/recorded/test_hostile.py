"""Servers and tapes that answer what none should: each is an error in a line, and nothing waits for ever."""

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError

from sandbox_mcp.app.authoring.server_check.findings import findings
from sandbox_mcp.app.authoring.server_check.seen import seen_of, seen_on
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.worlds.recorded import read_tape
from sandbox_mcp.engine.worlds.recorded.live import LiveServer
from sandbox_mcp.play.server.mirror import mirrored, recording
from sandbox_mcp.play.server.tape_mock import TapeMock, served
from sandbox_mcp.play.session.running_server import RunningServer, learned
from sandbox_mcp.play.session.upstream import Upstream, wire
from tests.each import each
from tests.worlds.recorded.hostile_server import HOWS, LISTS, RESULTS

SERVER = Path(__file__).parent / "hostile_server.py"
READABLE = ("nan", "number")
"""Answers that clients can read: what is no number in JSON becomes null."""
NO_RESULTS = ("blocks", "no_content")
"""Messages that can be read, and whose content is not that of a result."""
SECONDS = 20
"""Much longer than any of this takes: a hang fails, and is not waited for."""


def command(how: str) -> tuple[str, ...]:
    return (sys.executable, str(SERVER), how)


@each("how", RESULTS)
def test_a_mirror_passes_an_error_on_and_records_none_of_it(how: str, tmp_path: Path):
    told: list[str] = []

    async def run() -> Any:
        with anyio.fail_after(SECONDS), recording(tmp_path / f"{how}.jsonl", frozenset()) as recorder:
            async with mirrored(Upstream(command(how)), recorder, told.append) as face, Client(face) as client:
                await client.list_tools()
                return wire(await client.call_tool("look", {}))

    if how in READABLE:
        assert anyio.run(run)["structuredContent"]["n"] is None
    else:
        with pytest.raises(MCPError, match=r"cannot be read|not a result of a tool"):
            anyio.run(run)
        assert any(line.startswith("not on the tape: look was answered") for line in told)
    calls = [line for line in (tmp_path / f"{how}.jsonl").read_text().splitlines() if '"kind": "call"' in line]
    assert len(calls) == (how in READABLE)


@each("how", [how for how in LISTS if how != "nan_schema"])
def test_a_list_that_cannot_be_read_is_told_in_one_line(how: str, tmp_path: Path):
    server = LiveServer.reading({"server": list(command(how)), "observe": ["look"]}, tmp_path)

    async def mirror() -> None:
        with anyio.fail_after(SECONDS), recording(tmp_path / f"{how}.jsonl", frozenset()) as recorder:
            async with mirrored(Upstream(command(how)), recorder, lambda _: None):
                pass

    for attempt in (lambda: seen_of(Upstream(command(how))), lambda: learned(server), lambda: anyio.run(mirror)):
        with pytest.raises(SandboxError, match=r"lists (no tools|its tools in a form)"):
            attempt()


@each("how", HOWS)
def test_a_check_has_findings_or_one_line(how: str):
    if how in LISTS and how != "nan_schema":
        with pytest.raises(SandboxError, match=r"\A[^\n]+\Z"):
            seen_of(Upstream(command(how)))
    else:
        assert findings(seen_of(Upstream(command(how)), calls="all"))


@each("how", RESULTS)
def test_a_live_world_refuses_the_call_or_breaks_and_does_not_wait(how: str, tmp_path: Path):
    server = LiveServer.reading({"server": list(command(how)), "reads": ["look"]}, tmp_path)
    running = RunningServer(server)
    try:
        if how in NO_RESULTS:
            with pytest.raises(Exception, match="not a result of a tool"):
                running.call("look", {}, ())
        else:
            result = running.call("look", {}, ())
            assert (result["isError"] is True) is (how not in READABLE)
    finally:
        running.close()


def test_what_a_server_prints_for_its_author_ends_no_call(tmp_path: Path):
    chatty = tmp_path / "chatty.py"
    chatty.write_text(
        SERVER.read_text().replace(
            'if "id" in message:', 'print("{ready: 1}", flush=True)\n        if "id" in message:'
        )
    )

    async def run() -> Any:
        with anyio.fail_after(SECONDS):
            async with Upstream((sys.executable, str(chatty), "fine")).connected() as client:
                return wire(await client.call_tool("look", {}))

    assert anyio.run(run)["content"][0]["text"] == "fine"


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"x": schema}}
    return schema


OBJECTS = '{"content":[],"structuredContent":' + '{"d":' * 300 + "1" + "}" * 301


def a_tape(path: Path, schema: dict[str, Any], result: str) -> Path:
    lines = (
        json.dumps({"kind": "server", "tape": 1, "name": "hostile"}),
        json.dumps({"kind": "tool", "name": "look", "inputSchema": schema}),
        f'{{"kind":"call","tool":"look","arguments":{{}},"result":{result}}}\n',
    )
    path.write_text("\n".join(lines))
    return path


@each(
    ("schema", "result"),
    [
        ({"type": "object"}, '{"content":[{"type":"text","text":"n"}],"structuredContent":{"n":NaN}}'),
        ({"type": "object"}, '{"content":[{"type":"text","text":"\\ud800"}],"structuredContent":{"t":"\\udfff"}}'),
        ({"type": "object"}, OBJECTS),
        (deep(150), '{"content":[]}'),
        ({"type": "object", "properties": {"x": {"default": float("nan")}}}, '{"content":[]}'),
    ],
)
def test_a_tape_is_checked_and_each_call_of_its_mock_ends(schema: dict[str, Any], result: str, tmp_path: Path):
    tape = a_tape(tmp_path / "hostile.jsonl", schema, result)

    async def run() -> None:
        with anyio.fail_after(SECONDS):
            async with served(TapeMock(read_tape(tape))) as base, Client(f"{base}/mcp") as client:
                with suppress(MCPError):
                    await client.list_tools()
                with suppress(MCPError):
                    await client.call_tool("look", {})

    assert findings(seen_on(tape))
    anyio.run(run)


@each(
    ("schema", "result"),
    [
        ({"type": "object"}, '{"content":null}'),
        ({"type": "object"}, '{"content":[null]}'),
        ({"type": "object"}, "null"),
        ({"type": "object"}, '{"content":[{"type":"text"}]}'),
        (deep(400), '{"content":[]}'),
    ],
)
def test_a_tape_that_no_client_could_read_is_refused_in_one_line(schema: dict[str, Any], result: str, tmp_path: Path):
    with pytest.raises(SandboxError, match=r"\Atape '[^\n]*hostile.jsonl'[^\n]+\Z"):
        TapeMock(read_tape(a_tape(tmp_path / "hostile.jsonl", schema, result)))
