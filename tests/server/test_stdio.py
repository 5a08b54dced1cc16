"""The standard streams: whole lines whatever the pieces they come in, and an answer to every one of them."""

import json
import os
import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

import anyio
import pytest
from anyio import to_thread
from hypothesis import given
from hypothesis import strategies as st

from sandbox_mcp.play.server import stdio
from sandbox_mcp.play.server.mcp_server import server_for
from sandbox_mcp.play.server.settings import MAX_BODY
from sandbox_mcp.play.server.stdio import lines_of, send, serve_stdio
from tests.each import each
from tests.server.serving_kit import ENVELOPE, opened


def read_in(pieces: Sequence[bytes], longest: int = 1000) -> list[bytes | None]:
    left = [piece for piece in pieces if piece]
    return [line for lines in lines_of(lambda: left.pop(0) if left else b"", longest) for line in lines]


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=5))
def test_lines_do_not_depend_on_the_pieces_they_come_in(data: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(data)]
    pieces = [data[start:end] for start, end in pairwise(places)]
    assert read_in(pieces) == data.removesuffix(b"\n").split(b"\n") or not data


@given(st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")), max_size=6), st.integers(1, 9))
def test_a_line_that_is_too_long_is_told_and_the_next_is_read(lines: list[bytes], size: int) -> None:
    data = b"".join(line + b"\n" for line in lines)
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    assert read_in(pieces, longest=5) == [line if len(line) <= 5 else None for line in lines]


def test_the_last_line_needs_no_end() -> None:
    assert read_in([b"a\nb"]) == [b"a", b"b"]
    assert read_in([b"a\n", b"toolong"], longest=3) == [b"a", None]


def test_nothing_is_no_line() -> None:
    assert read_in([]) == []


def test_a_long_message_is_written_whole() -> None:
    source, sink = os.pipe()
    text = "x" * 300_000
    writer = threading.Thread(target=lambda: (send(sink, text), os.close(sink)))
    writer.start()
    with os.fdopen(source, "rb") as received:
        assert received.read() == text.encode() + b"\n"
    writer.join()


class Pipes:
    """A served session at the other end of two pipes."""

    def __init__(self) -> None:
        self.their_in, self.my_out = os.pipe()
        self.my_in, self.their_out = os.pipe()
        self.answers = os.fdopen(self.my_in, "rb")

    def tell(self, line: bytes) -> None:
        os.write(self.my_out, line + b"\n")

    async def answer(self) -> Any:
        return json.loads(await to_thread.run_sync(self.answers.readline))

    def close(self) -> None:
        os.close(self.my_out)


@asynccontextmanager
async def served() -> AsyncGenerator[Pipes]:
    pipes = Pipes()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve_stdio, server_for(opened()), pipes.their_in, pipes.their_out)
        yield pipes
        pipes.close()
    pipes.answers.close()
    os.close(pipes.their_in)
    os.close(pipes.their_out)


def call(number: int, arguments: str) -> bytes:
    meta = json.dumps(ENVELOPE)
    params = f'{{"name": "set_wifi_status", "arguments": {arguments}, "_meta": {meta}}}'
    return f'{{"jsonrpc": "2.0", "id": {number}, "method": "tools/call", "params": {params}}}'.encode()


@pytest.mark.anyio
async def test_messages_that_come_together_are_all_answered() -> None:
    async with served() as pipes:
        pipes.tell(call(1, '{"on": 1}') + b"\n" + call(2, '{"on": 2}') + b"\n\n" + call(3, '{"on": 3}'))
        answers = [await pipes.answer() for _ in range(3)]
    assert sorted(answer["id"] for answer in answers) == [1, 2, 3]
    assert all(answer["result"]["isError"] for answer in answers)


@pytest.mark.anyio
@each(
    ("line", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[]", -32600),
        (b"7", -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "method": "ping", "id":null}', -32600),
        (b'{"jsonrpc": "2.0", "id": true, "method": "tools/call", "params": {"name": "set_wifi_status"}}', -32600),
        (b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}', -32600),
    ],
)
async def test_what_is_no_message_is_answered_as_such(line: bytes, code: int) -> None:
    async with served() as pipes:
        pipes.tell(line)
        answer = await pipes.answer()
        pipes.tell(call(1, '{"on": false}'))
        after = await pipes.answer()
    assert (answer["id"], answer["error"]["code"]) == (None, code)
    assert not after["result"]["isError"]


@pytest.mark.anyio
@each(
    ("arguments", "why"),
    [
        ('{"on": ' + "1" * 5000 + "}", "number out of range"),
        ('{"on": ' + "[" * 5000 + "]" * 5000 + "}", "recursion limit exceeded"),
        ('{"on": fals}', "expected ident"),
    ],
)
async def test_what_cannot_be_read_is_answered_with_where_and_why(arguments: str, why: str) -> None:
    async with served() as pipes:
        pipes.tell(call(1, arguments))
        answer = await pipes.answer()
    assert answer["error"]["message"].startswith(f"Parse error: {why} at line 1 column ")


@pytest.mark.anyio
async def test_half_a_surrogate_pair_is_a_tool_error() -> None:
    async with served() as pipes:
        pipes.tell(call(1, '{"on": "\\ud800"}'))
        answer = await pipes.answer()
    assert "must be one JSON object" in answer["result"]["content"][0]["text"]


@pytest.mark.anyio
async def test_a_message_beyond_the_limit_is_refused_and_the_next_is_read() -> None:
    async with served() as pipes:
        await to_thread.run_sync(pipes.tell, call(1, '{"on": "' + "x" * MAX_BODY + '"}')[:60_000])
        for _ in range(MAX_BODY // 60_000 + 1):
            await to_thread.run_sync(os.write, pipes.my_out, b"x" * 60_000)
        pipes.tell(b"")
        pipes.tell(call(2, '{"on": false}'))
        answers = [await pipes.answer() for _ in range(3)]
    assert [answer.get("error", {}).get("message", "").partition(":")[0] for answer in answers] == [
        "Parse error", f"a message may have at most {MAX_BODY} bytes", "",
    ]  # fmt: skip


@pytest.mark.anyio
@each("window", [0.0, 0.05])
async def test_what_was_asked_is_answered_though_the_client_has_closed_its_end(window: float) -> None:
    pipes = Pipes()
    pipes.tell(call(1, '{"on": false}') + b"\n" + call(2, '{"on": 1}') + b"\n{")
    pipes.close()
    with anyio.fail_after(100):
        await serve_stdio(server_for(opened(window=window)), pipes.their_in, pipes.their_out)
    os.close(pipes.their_in)
    os.close(pipes.their_out)
    with pipes.answers:
        answers = {answer["id"]: answer for answer in map(json.loads, pipes.answers)}
    assert answers.keys() == {1, 2, None}
    assert not answers[1]["result"]["isError"]


@pytest.mark.anyio
async def test_a_user_who_never_answers_does_not_keep_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "GRACE", 0.05)
    pipes, session = Pipes(), opened()
    pipes.tell(call(1, '{"on": false}'))
    pipes.close()
    with anyio.fail_after(100):
        async with session.turn():
            await serve_stdio(server_for(session), pipes.their_in, pipes.their_out)
    pipes.answers.close()
    os.close(pipes.their_in)
    os.close(pipes.their_out)


@pytest.mark.anyio
async def test_a_stream_that_can_no_longer_be_read_ends_the_server() -> None:
    pipes = Pipes()
    with anyio.fail_after(10):
        await serve_stdio(server_for(opened()), pipes.my_out, pipes.their_out)
    pipes.close()
    pipes.answers.close()
    os.close(pipes.their_in)
    os.close(pipes.their_out)


@pytest.mark.anyio
async def test_a_client_that_no_longer_listens_ends_the_server() -> None:
    pipes = Pipes()
    pipes.answers.close()
    with anyio.fail_after(100):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve_stdio, server_for(opened()), pipes.their_in, pipes.their_out)
            pipes.tell(call(1, '{"on": false}'))
    pipes.close()
    os.close(pipes.their_in)
    os.close(pipes.their_out)
