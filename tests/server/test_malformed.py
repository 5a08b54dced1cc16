"""Mending: what strict readers refuse becomes readable, and what they read is not touched."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message, Receive

from sandbox_mcp.play.server.malformed import UnanswerableError, check_answerable, mended, whole_body
from tests.each import each

broken_text = st.text(st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF) | st.characters(), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | broken_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(broken_text, inner, max_size=3),
    max_leaves=6,
)


async def handed_on(receive: Receive, limit: int) -> Message:
    read = await whole_body(receive, limit)
    assert read is not None
    return await read()


def request(arguments: Any, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"arguments": arguments, **params}}


@given(values)
def test_whatever_is_sent_can_be_read_and_the_arguments_are_still_told(arguments: Any) -> None:
    sent = request(arguments, name="t")
    read = json.loads(mended(json.dumps(sent).encode()).decode("utf-8"))
    json.dumps(read, ensure_ascii=False).encode()  # no half of a surrogate pair is left
    seen = read["params"]["arguments"]
    assert seen == arguments or json.loads(seen) == arguments


@given(st.text())
def test_sound_bodies_are_not_touched(text: str) -> None:
    for body in (json.dumps(request({"x": text})), json.dumps(request({"x": text}), ensure_ascii=False)):
        assert mended(body.encode()) == body.encode()
        assert mended(f"{body}\n".encode()) == f"{body}\n".encode()


@given(st.binary(max_size=40))
def test_what_is_no_json_is_somebody_elses_business(body: bytes) -> None:
    assert mended(body) == body or b"\\u" in body


def test_a_pair_is_not_half_a_pair() -> None:
    line = b'{"params": {"arguments": {"x": "\\ud83d\\ude00"}}}\n'
    assert mended(line) == line


@each("text", ['"\\ud800"', '["\\ud800"]', '{"params": ["\\ud800"]}', '{"x": "\\ud800"}', "{\\ud800"])
def test_what_is_no_call_is_at_least_readable_or_left_alone(text: str) -> None:
    found = mended(text.encode()).decode()
    assert found == text or "?" in found


@each("number", ["1.5", "-1e3", "null", "true", "[1]", "{}"])
def test_a_request_that_no_answer_could_name_is_refused(number: str) -> None:
    with pytest.raises(UnanswerableError, match="text or a whole number"):
        check_answerable(f'{{"jsonrpc": "2.0", "method": "ping", "id" : {number}}}'.encode())


def test_a_batch_is_refused_in_words() -> None:
    with pytest.raises(UnanswerableError, match="one by one"):
        check_answerable(b' [{"jsonrpc": "2.0", "id": 1, "method": "ping"}]')


@each(
    "body",
    [
        b'{"id": 7, "method": "ping"}',
        b'{"id": -7, "method": "ping"}',
        b'{"id": "1.5", "method": "ping"}',
        b'{"id": null, "method": "notifications/initialized"}',
        b'{"id": null, "error": {"code": 1, "message": ""}}',
        b'{"id": 1, "method": "tools/call", "params": {"arguments": {"id": 1.5}}}',
        b'{"id": nope',
        b"",
        b"7",
    ],
)
def test_other_messages_are_left_to_those_who_answer_them(body: bytes) -> None:
    check_answerable(body)


@pytest.mark.anyio
@each("cut", [1, 30, 60, 500])
async def test_a_body_in_pieces_is_mended_as_a_whole(cut: int) -> None:
    body = json.dumps(request({"x": "\ud800"}, name="t")).encode()
    pieces = [body[:cut], body[cut:]]

    async def receive() -> Message:
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    message = await handed_on(receive, 10_000)
    assert not message["more_body"]
    assert isinstance(json.loads(message["body"])["params"]["arguments"], str)


@pytest.mark.anyio
async def test_a_body_beyond_the_limit_is_not_gathered() -> None:
    async def receive() -> Message:
        return {"type": "http.request", "body": b"x" * 100, "more_body": True}

    message = await handed_on(receive, 250)
    assert message["more_body"]
    assert len(message["body"]) == 300


@pytest.mark.anyio
async def test_a_client_that_leaves_has_no_body() -> None:
    messages: list[Message] = [
        {"type": "http.request", "body": b"x", "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive() -> Message:
        return messages.pop(0)

    assert await whole_body(receive, 250) is None
