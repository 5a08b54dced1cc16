"""The mirror over real stdio: what the client sees, what the tape has, and that the tape then answers the same."""

import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.server import Server
from mcp_types import (
    Annotations,
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    ListToolsResult,
    TextContent,
    Tool,
)
from sandbox_scenarios.stage import Stage

from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.tools.calling import Outcome, call, present
from sandbox_mcp.engine.world import Clock, snapshot_of
from sandbox_mcp.engine.worlds import load
from sandbox_mcp.play.server.mirror import mirrored, recording
from sandbox_mcp.play.session.upstream import MOST_PAGES, Upstream
from tests.each import each
from tests.session.full_disks import no_file_beyond
from tests.warm import program

SERVER = [sys.executable, str(Path(__file__).parent / "counter_server.py")]
Call = tuple[str, Mapping[str, Any]]
Called = Callable[[Any, CallToolRequestParams], Awaitable[CallToolResult | InputRequiredResult]]
CALLS: Sequence[Call] = (
    ("read-count", {}),
    ("increase", {"by": 2, "pin": "47110"}),
    ("increase", {"by": -1, "pin": "47110"}),
    ("read-count", {}),
    ("picture", {}),
    ("increase", {"by": 0, "note": "as long as a file " * 100_000}),
)


def seen(server: Sequence[str], calls: Sequence[Call], log: Path | None = None) -> tuple[list[Any], list[Any]]:
    """The tools that a client is offered, and what comes of its calls, as they travel."""

    async def talk() -> tuple[list[Any], list[Any]]:
        with (log or Path("/dev/null")).open("a") as errors:
            from mcp.client.stdio import stdio_client

            started = StdioServerParameters(command=server[0], args=[*server[1:]])
            async with Client(stdio_client(started, errlog=errors)) as client:
                tools = (await client.list_tools()).tools
                results = [await client.call_tool(name, dict(given)) for name, given in calls]
        return wired(tools), wired(results)

    return anyio.run(talk)


def wired(messages: Sequence[Any]) -> list[Any]:
    return [item.model_dump(by_alias=True, mode="json", exclude_none=True) for item in messages]


def given(result: Mapping[str, Any]) -> Any:
    """The object of a result, or its text where it has none."""
    return result.get("structuredContent", result["content"][0]["text"])


def mirror(tape: Path, *options: str, server: Sequence[str] = SERVER) -> list[str]:
    return [program(), "mirror", "-o", str(tape), *options, "--", *server]


def replayed(tape: Path, calls: Sequence[Call]) -> list[Outcome]:
    (world,) = load(tape)
    stage = Stage(world, snapshot_of({}), Clock(0.0, "UTC", 1.0), ("any", "base", 0))
    offered = {name: present(tool) for name, tool in world.agent_tools.items()}
    return [call(stage.running, offered, name, dict(given)) for name, given in calls]


def test_a_client_sees_the_same_through_the_mirror_and_the_tape_answers_the_same(tmp_path: Path):
    tape, log = tmp_path / "counter.jsonl", tmp_path / "stderr.txt"
    through = seen(mirror(tape, "--redact", "pin"), CALLS, log)
    assert through == seen(SERVER, CALLS)
    before, added, refused, after, picture, long = replayed(tape, CALLS)
    assert (before.result, after.result) == ({"count": 0, "note": None}, {"count": 2, "note": None})
    assert added.result == "  2 it is — now\n"
    assert refused.fault is not None
    assert refused.fault.text == "RecordedError: [redacted] may not count down"
    assert picture.result == through[1][-2]["content"]
    assert long.fault is not None
    assert "at most 262144 characters" in long.fault.text
    assert "increase with arguments of more than 262144 characters will be refused" in log.read_text()
    assert "47110" not in tape.read_text(encoding="utf-8")
    assert "results of picture with the content image come as a list of blocks" in log.read_text()


def test_a_second_take_goes_on_where_a_crash_cut_the_first_off(tmp_path: Path):
    tape = tmp_path / "counter.jsonl"
    seen(mirror(tape), CALLS[:2])
    with tape.open("a") as file:
        file.write('{"kind": "call", "tool": "incr')
    seen(mirror(tape), (("increase", {"by": 5}), ("read-count", {})))
    kinds = [json.loads(line)["kind"] for line in tape.read_text(encoding="utf-8").splitlines()]
    assert kinds.count("server") == 2
    assert kinds.count("call") == 4
    assert replayed(tape, (("increase", {"by": 5}), ("read-count", {})))[1].result == {"count": 5, "note": None}
    assert replayed(tape, (CALLS[1], ("increase", {"by": 5})))[1].fault is not None


@each(
    ("arguments", "problem"),
    [
        (["-o", "tape.txt", "--", "true"], "expected a name that ends in .jsonl"),
        (["-o", "tape.jsonl", "--", "no-such-program"], "the server 'no-such-program': No such file or directory\n"),
        (["-o", "tape.jsonl", "--header", "A=B", "--", "true"], "--header is for a server that is given by its URL"),
        (["-o", "tape.jsonl", "--header", "A=NOT_SET_AT_ALL", "http://127.0.0.1:9/mcp"], "with a variable that is set"),
        (["-o", "tape.jsonl", "http://127.0.0.1:9/mcp"], "cannot reach the server 'http://127.0.0.1:9/mcp'"),
    ],
)
def test_what_cannot_be_mirrored_is_told_in_one_line(tmp_path: Path, arguments: list[str], problem: str):
    done = subprocess.run(
        [program(), "mirror", *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 2
    assert problem in done.stderr
    assert len(done.stderr.splitlines()) == 1


@each(
    ("status", "told"),
    [
        (401, "answered 401 Unauthorized; --header gives it what it asks for"),
        (404, "answered 404 Not Found"),
        (500, "answered 500 Internal Server Error"),
        (200, "cannot reach the server"),
    ],
)
def test_what_a_server_refuses_over_http_is_told_with_its_status(tmp_path: Path, status: int, told: str):
    class Refusing(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name in the library
            pass

    async def mirror() -> None:
        with recording(tmp_path / "tape.jsonl", frozenset()) as recorder:
            async with mirrored(Upstream(url=f"http://127.0.0.1:{server.server_port}/mcp"), recorder, print):
                pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(SandboxError) as raised:
            anyio.run(mirror)
        server.shutdown()
    assert told in str(raised.value)


@pytest.mark.skipif(which("mcp-server-time") is None, reason="no mcp-server-time on the path")
def test_the_reference_server_of_the_time_is_replayed_to_the_byte(tmp_path: Path):
    tape = tmp_path / "time.jsonl"
    calls = (
        ("get_current_time", {"timezone": "Europe/Berlin"}),
        ("convert_time", {"source_timezone": "Europe/Berlin", "time": "16:30", "target_timezone": "Asia/Tokyo"}),
    )
    _, results = seen(mirror(tape, server=["mcp-server-time"]), calls)
    assert [item.result for item in replayed(tape, calls)] == [given(result) for result in results]
    (unknown,) = replayed(tape, [("get_current_time", {"timezone": "Europe/Paris"})])
    assert unknown.fault is not None
    assert 'the nearest recorded call is get_current_time {"timezone": "Europe/Berlin"}' in unknown.fault.text


@pytest.mark.skipif(which("mcp-server-git") is None, reason="no mcp-server-git on the path")
def test_the_reference_server_of_git_is_replayed_to_the_byte(tmp_path: Path):
    tape, home = tmp_path / "git.jsonl", tmp_path / "repository"
    subprocess.run(["git", "init", "-q", str(home)], check=True)
    (home / "new.txt").write_text("new\n")
    path = {"repo_path": str(home)}
    calls = (("git_status", path), ("git_add", {**path, "files": ["new.txt"]}), ("git_status", path))
    _, results = seen(mirror(tape, server=["mcp-server-git"]), calls)
    texts = [given(result) for result in results]
    assert texts[0] != texts[2]
    assert [item.result for item in replayed(tape, calls)] == texts


def through(
    tape: Path,
    tools: Sequence[Tool],
    called: Called,
    talk: Callable[[Client], Awaitable[Any]],
    mode: Any = "auto",
    redacted: frozenset[str] = frozenset(),
) -> Sequence[str]:
    """Has a client talk to a server in this process through a mirror; gives what the mirror told."""
    told: list[str] = []

    async def listed(_: Any, __: Any) -> ListToolsResult:
        return ListToolsResult(tools=[*tools])

    class Inside(Upstream):
        @asynccontextmanager
        async def connected(self):
            async with Client(Server("inside", on_list_tools=listed, on_call_tool=called)) as client:
                yield client

    async def mirror() -> None:
        with recording(tape, redacted) as recorder:
            async with mirrored(Inside(), recorder, told.append) as face, Client(face, mode=mode) as client:
                await talk(client)

    anyio.run(mirror)
    return told


def tool(name: str, schema: Mapping[str, Any] = {"type": "object"}, **more: Any) -> Tool:
    return Tool(name=name, input_schema={**schema}, **more)


def text(said: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=said)])


def calls_on(tape: Path) -> Sequence[str]:
    lines = [json.loads(line) for line in tape.read_text(encoding="utf-8").splitlines()]
    return [line["tool"] for line in lines if line["kind"] == "call"]


def test_a_server_may_list_other_tools_while_it_runs(tmp_path: Path):
    tape, tools = tmp_path / "tape.jsonl", [tool("grow")]

    async def called(_: Any, params: CallToolRequestParams) -> CallToolResult:
        tools.append(tool(f"tool-{len(tools)}"))
        return text(params.name)

    async def talk(client: Client) -> None:
        await client.call_tool("grow")
        await client.call_tool("tool-1")
        listed = await client.list_tools(cache_mode="bypass")
        assert [item.name for item in listed.tools] == ["grow", "tool-1", "tool-2"]
        await client.call_tool("tool-2")

    assert not [line for line in through(tape, tools, called, talk) if "tool-" in line]
    assert calls_on(tape) == ["grow", "tool-1", "tool-2"]
    assert [item.result for item in replayed(tape, [(name, {}) for name in calls_on(tape)])] == calls_on(tape)


@each("mode", ["auto", "legacy"])
def test_a_client_that_knows_objects_alone_still_gets_tools_that_give_other_things(tmp_path: Path, mode: str):
    tape = tmp_path / "tape.jsonl"

    async def called(_: Any, __: Any) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text="[1, 2]")], structured_content=[1, 2])

    async def talk(client: Client) -> None:
        listed = (await client.list_tools()).tools
        result = await client.call_tool("count")
        assert [item.name for item in listed] == ["count", "other"]
        assert result.content[0] == TextContent(type="text", text="[1, 2]")
        assert (result.structured_content, listed[0].output_schema) == {
            "auto": ([1, 2], {"type": "array"}), "legacy": (None, None)
        }[mode]  # fmt: skip

    tools = [tool("count", output_schema={"type": "array"}), tool("other", output_schema={"type": "object"})]
    told = through(tape, tools, called, talk, mode)
    assert [line for line in told if "count" in line and "not passed on" in line] == {
        "auto": [],
        "legacy": [
            "not passed on: what results of count look like, because its client knows objects alone",
            "not passed on: structured results of count, because its client knows objects alone",
        ],
    }[mode]
    assert [item.result for item in replayed(tape, [("count", {})])] == [[1, 2]]


def test_what_comes_of_a_call_and_is_no_result_is_told_in_one_line(tmp_path: Path):
    tape = tmp_path / "tape.jsonl"

    async def called(_: Any, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        if params.name == "ask":
            form = ElicitRequestFormParams(message="Who?", requested_schema={"type": "object", "properties": {}})
            return InputRequiredResult(input_requests={"who": ElicitRequest(params=form)})
        if params.name == "wait":
            await anyio.sleep_forever()
        raise MCPError(-32000, "no")

    async def talk(client: Client) -> None:
        for name in ("ask", "refuse"):
            with pytest.raises(MCPError):
                await client.call_tool(name)
        with pytest.raises(MCPError, match="imed out"):
            await client.call_tool("wait", read_timeout_seconds=0.2)

    told = through(tape, [tool("ask"), tool("refuse"), tool("wait")], called, talk)
    assert [line for line in told if "not on the tape" in line] == [
        "not on the tape: ask was answered with a question to the client, which a mirror cannot pass on",
        "not on the tape: refuse was answered with a protocol error: no",
        "not on the tape: wait, which the client gave up; what it may have changed will be missing",
    ]
    assert calls_on(tape) == []


def test_what_a_replay_will_not_have_is_told_whatever_the_server_lists(tmp_path: Path):
    async def called(_: Any, __: Any) -> CallToolResult:
        block = TextContent(type="text", text="hello", annotations=Annotations(priority=1.0))
        return CallToolResult(content=[block], _meta={"trace": "a1"})

    async def talk(client: Client) -> None:
        await client.call_tool("twice", {"x": 1})
        await client.call_tool("count", {"by": "2", "to": 3})

    number = {"N": {"type": "integer"}}
    counting = {"type": "object", "properties": {"by": {"$ref": "#/$defs/N"}, "to": {}}, "$defs": number}
    tools = [tool("twice"), tool("twice", {"type": "object", "properties": None}), tool("count", counting)]
    told = through(tmp_path / "tape.jsonl", tools, called, talk)
    assert told[0] == "not passed on: the server lists twice 2 times, and the last stands for all"
    assert [line for line in told if "not unchanged" in line] == [
        "not unchanged at replay: annotations of the text that twice gives will be missing",
        "not unchanged at replay: _meta of results of twice will be missing",
        "not unchanged at replay: twice is listed with x, too, with which it was called",
        "not unchanged at replay: annotations of the text that count gives will be missing",
        "not unchanged at replay: _meta of results of count will be missing",
        "not unchanged at replay: count with such by, which its schema does not allow, will be refused",
    ]


def test_a_server_that_lists_its_tools_without_end_is_not_asked_for_ever():
    asked = 0

    async def page(_: Any, __: Any) -> ListToolsResult:
        nonlocal asked
        asked += 1
        return ListToolsResult(tools=[Tool(name=f"t{asked}", input_schema={"type": "object"})], next_cursor=str(asked))

    class Endless(Upstream):
        @asynccontextmanager
        async def connected(self):
            async with Client(Server("endless", on_list_tools=page)) as client:
                yield client

    async def mirror(tape: Path) -> None:
        with recording(tape, frozenset()) as recorder:
            async with mirrored(Endless(), recorder, lambda _: None):
                pass

    with TemporaryDirectory() as folder, pytest.raises(SandboxError, match="without end"):
        anyio.run(mirror, Path(folder) / "tape.jsonl")
    assert asked == MOST_PAGES


def test_a_name_to_be_left_out_that_no_tool_lists_is_told(tmp_path: Path):
    async def called(_: Any, __: Any) -> CallToolResult:
        return text("you are in")

    async def talk(client: Client) -> None:
        await client.call_tool("log-in", {"auth": {"pin": "47110"}, "pni": "47110"})

    schema = {"type": "object", "properties": {"auth": {"properties": {"pin": {"type": "string"}}}}}
    told = through(tmp_path / "t.jsonl", [tool("log-in", schema)], called, talk, redacted=frozenset({"pin", "pni"}))
    assert [line for line in told if "left out" in line] == [
        "no tool lists 'pni', which is to be left out; calls and answers are searched for it anyhow"
    ]
    assert "47110" not in (tmp_path / "t.jsonl").read_text()


PIN = 'pa"ss\\wörd'
HIDDEN = {"pin": "[redacted]"}


@each(
    ("arguments", "answered", "secret"),
    [
        ({"auth": {"pin": 903817}}, {"structuredContent": {"pin": 903817, "of": {"903817": "you"}}}, "903817"),
        ({"pin": PIN}, {"content": [{"type": "text", "text": json.dumps({"said": PIN})}]}, PIN),
        ({"pin": PIN}, {"content": [{"type": "text", "text": json.dumps({"said": PIN}, ensure_ascii=False)}]}, PIN),
        ({"pin": 47110.0}, {"structuredContent": {"pin": 47110, "said": "47110 it is"}}, "47110"),
        ({"pin": 47110}, {"structuredContent": {"pin": 47110.0, "said": "47110.0 it is"}}, "47110"),
        ({"pin": "47110"}, {"structuredContent": {"pin": 47110.0}}, "47110"),
        ({"pin": {"old": "x", "new": [PIN]}}, {"structuredContent": {PIN: [f"x{PIN}y"]}}, PIN),
    ],
)
def test_a_secret_is_in_no_answer_on_the_tape_in_whatever_form(
    tmp_path: Path, arguments: Mapping[str, Any], answered: Mapping[str, Any], secret: str
):
    tool = Tool(name="log-in", input_schema={"type": "object"})
    with recording(tmp_path / "tape.jsonl", frozenset({"pin"})) as tape:
        tape.record(tool, arguments, answered)
        tape.record(tool, {}, answered)
    whole = (tmp_path / "tape.jsonl").read_text(encoding="utf-8")
    for written in (secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]):
        assert written not in whole
        assert json.dumps(written, ensure_ascii=False)[1:-1] not in whole


@each(
    "told",
    [
        {"structuredContent": {"session": {"pin": PIN}}},
        {"structuredContent": {"session": [{"pin": [903817]}]}},
        {"content": [{"type": "text", "text": json.dumps({"pin": PIN})}]},
        {"content": [{"type": "text", "text": f" [{json.dumps({'pin': PIN}, ensure_ascii=False)}]"}]},
    ],
)
def test_a_secret_that_an_answer_tells_by_its_name_is_on_no_line_of_the_tape(tmp_path: Path, told: Mapping[str, Any]):
    tool, secret = Tool(name="log-in", input_schema={"type": "object"}), 903817 if "903817" in str(told) else PIN
    with recording(tmp_path / "tape.jsonl", frozenset({"pin"})) as tape:
        tape.record(tool, {}, told)
        tape.record(tool, {"note": f"it is {secret}, is it", "deep": [{"pin": secret}]}, {"content": []})
    whole = (tmp_path / "tape.jsonl").read_text(encoding="utf-8")
    assert "903817" not in whole
    assert "rd" not in whole
    assert json.loads(whole.splitlines()[1])["arguments"] == {"note": "it is [redacted], is it", "deep": [HIDDEN]}


def test_a_text_that_only_looks_like_json_hides_nothing_and_breaks_nothing(tmp_path: Path):
    tool = Tool(name="log-in", input_schema={"type": "object"})
    texts = ["{pin: 47110}", "[" * 100_000, '{"pin": "47110"', "[]", "{}"]
    with recording(tmp_path / "tape.jsonl", frozenset({"pin"})) as tape:
        for text in texts:
            tape.record(tool, {"note": text}, {"content": [{"type": "text", "text": text}]})
    lines = [json.loads(line) for line in (tmp_path / "tape.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["arguments"]["note"] for line in lines] == texts


def test_no_value_of_a_header_reaches_the_tape_though_the_server_repeats_it(tmp_path: Path):
    async def listed(_: Any, __: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="who-am-i", description="Of s3cret.", input_schema={"type": "object"})])

    async def called(_: Any, __: Any) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text="you are s3cret, by 'Bearer s3cret' and k3y5")])

    class Telling(Upstream):
        @asynccontextmanager
        async def connected(self):
            behind = Server("s3cret", instructions="Go on as s3cret.", on_list_tools=listed, on_call_tool=called)
            async with Client(behind) as client:
                yield client

    async def mirror() -> str:
        upstream = Telling(url="http://x", headers={"Authorization": "Bearer s3cret", "X-Key": "k3y5", "X-Mode": "y"})
        with recording(tmp_path / "tape.jsonl", frozenset()) as tape:
            async with mirrored(upstream, tape, lambda _: None) as face, Client(face) as client:
                return wired([await client.call_tool("who-am-i", {})])[0]["content"][0]["text"]

    assert anyio.run(mirror) == "you are s3cret, by 'Bearer s3cret' and k3y5"
    whole = (tmp_path / "tape.jsonl").read_text(encoding="utf-8")
    assert "s3cret" not in whole
    assert "k3y5" not in whole
    assert "you are [redacted], by '[redacted]' and [redacted]" in whole


def test_a_last_line_that_lacks_only_its_end_stays_on_the_tape(tmp_path: Path):
    whole, tape = (Path(__file__).parent / "lamps.jsonl").read_bytes(), tmp_path / "tape.jsonl"
    tape.write_bytes(whole.removesuffix(b"\n"))
    with recording(tape, frozenset({"pin"})):
        assert tape.read_bytes() == whole


def test_a_tape_that_cannot_be_written_is_told_as_such_and_nothing_else_is(tmp_path: Path):
    tool, path = Tool(name="log-in", input_schema={"type": "object"}), tmp_path / "tape.jsonl"
    with recording(path, frozenset()) as tape:
        tape.record(tool, {}, {"content": []})
        before = path.read_bytes()
        with no_file_beyond(len(before) + 40), pytest.raises(SandboxError, match=r"cannot write the tape .*tape.jsonl"):
            tape.record(tool, {"text": "x" * 400}, {"content": []})
        assert path.read_bytes() == before
    with pytest.raises(ConnectionError), recording(tmp_path / "other.jsonl", frozenset()):
        raise ConnectionError


def test_what_is_secret_is_no_part_of_a_number_or_a_word_like_it(tmp_path: Path):
    tool = Tool(name="log-in", input_schema={"type": "object"})
    answered = {"structuredContent": {"pin": 1, "on": True, "none": None}}
    with recording(tmp_path / "tape.jsonl", frozenset({"pin"})) as tape:
        tape.record(tool, {"pin": True}, answered)
        tape.record(tool, {"pin": 1}, answered)
    lines = [json.loads(line) for line in (tmp_path / "tape.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["result"] for line in lines] == [answered, answered]


def test_what_is_hidden_is_hidden_in_every_copy():
    from base64 import b64encode
    from urllib.parse import quote

    from sandbox_mcp.engine.worlds.recorded.hiding import cleaned, secrets_in

    secret = "p\u00e4ss wort/9!"
    secrets = frozenset(secrets_in({"PassWord": secret}, frozenset({"password"})))
    assert secrets == {secret}
    login = b64encode(f"user:{secret}".encode()).decode()
    for copy in (secret.upper(), secret[::-1], quote(secret, safe=""), b64encode(secret.encode()).decode(), login):
        kept = cleaned({"told": f"it is {copy}."}, secrets)["told"]
        assert "[redacted]" in kept, copy
