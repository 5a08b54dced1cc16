"""The endpoint on the wire: how it fails, that retries are told from new questions, and that it stops when told."""

import json
import socket
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.prompt import Prompt
from sandbox_mcp.app.endpoint.reply import PlannedFault
from sandbox_mcp.app.endpoint.server import EndpointStartError, base_url, bind, running
from sandbox_mcp.app.endpoint.solver import Solver
from tests.clients.sessions import SUITE, WIFI_OFF, scripted, solver
from tests.each import each

CHAT, RESPONSES, MESSAGES = "chat/completions", "responses", "messages"
GEMINI = "models/m:generateContent"
BODIES: Mapping[str, dict[str, Any]] = {
    CHAT: {"model": "m", "messages": [{"role": "user", "content": "Hi"}]},
    RESPONSES: {"model": "m", "input": "Hi"},
    MESSAGES: {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]},
    GEMINI: {"contents": [{"parts": [{"text": "Hi"}]}]},
}
ALL = each("path", BODIES)


@contextmanager
def client(script: str) -> Iterator[httpx2.Client]:
    with running(Endpoint(scripted(script))) as url, httpx2.Client(base_url=f"{url}/", timeout=100) as made:
        yield made


def failing(fault: str) -> str:
    return f"{{repeat: true, steps: [{{say: Hello., fault: {fault}}}]}}"


def said(path: str, answered: httpx2.Response) -> str:
    body = answered.json()
    if path == CHAT:
        return str(body["choices"][0]["message"]["content"])
    if path == GEMINI:
        return str(body["candidates"][0]["content"]["parts"][0]["text"])
    return str((body["output"][0] if path == RESPONSES else body)["content"][0]["text"])


@ALL
def test_it_needs_no_key_and_takes_any(path: str) -> None:
    with client("{repeat: true, steps: [{say: Hello.}]}") as http:
        for headers in ({}, {"Authorization": "Bearer anything"}):
            assert said(path, http.post(path, json=BODIES[path], headers=headers)) == "Hello."


@each("path", [CHAT, RESPONSES])
@each(("status", "kind"), [(400, "invalid_request_error"), (429, "rate_limit_error"), (503, "server_error")])
def test_a_status_comes_with_an_error_of_the_form_that_clients_know(path: str, status: int, kind: str) -> None:
    with client(failing(f"{{status: {status}}}")) as http:
        answered = http.post(path, json=BODIES[path])
    assert (answered.status_code, answered.json()["error"]["type"]) == (status, kind)
    assert "retry-after" not in answered.headers


def test_how_long_to_wait_is_in_a_header() -> None:
    with client(failing("{status: 429, retry_after: 1.5}")) as http:
        assert http.post(CHAT, json=BODIES[CHAT]).headers["retry-after"] == "1.5"


@ALL
def test_the_same_request_fails_as_often_as_it_should_and_then_no_more(path: str) -> None:
    with client(failing("{status: 500, times: 2}")) as http:
        codes = [http.post(path, json=BODIES[path]).status_code for _ in range(4)]
    assert codes == [500, 500, 200, 200]


def test_another_request_fails_anew() -> None:
    with client(failing("{status: 500, times: 1}")) as http:
        first, retried = (http.post(CHAT, json=BODIES[CHAT]).status_code for _ in range(2))
        other = http.post(CHAT, json={**BODIES[CHAT], "model": "other"}).status_code
    assert (first, retried, other) == (500, 200, 500)


@ALL
def test_half_an_answer_breaks_off(path: str) -> None:
    with client(failing("{kind: half}")) as http:
        with pytest.raises(httpx2.RemoteProtocolError):
            http.post(path, json=BODIES[path])
        assert said(path, http.post(path, json=BODIES[path])) == "Hello."


@ALL
def test_an_answer_that_is_no_json(path: str) -> None:
    with client(failing("{kind: invalid_json}")) as http, pytest.raises(json.JSONDecodeError):
        http.post(path, json=BODIES[path]).json()


@each(("path", "key"), [(CHAT, "choices"), (RESPONSES, "output"), (MESSAGES, "content"), (GEMINI, "candidates")])
def test_an_answer_with_nothing_in_it(path: str, key: str) -> None:
    with client(failing("{kind: empty}")) as http:
        assert http.post(path, json=BODIES[path]).json()[key] == []


class Broken:
    """A brain whose endpoint fails in the way that the model is called."""

    async def decide(self, prompt: Prompt, tries: int) -> Any:
        return PlannedFault(prompt.model)


@ALL
def test_a_stream_breaks_off_is_no_json_or_empty_as_an_answer_would(path: str) -> None:
    def post(kind: str) -> str:
        where = path.replace("/m:generate", f"/{kind}:streamGenerate")
        return http.post(where, json={**BODIES[path], "model": kind, "stream": True}).text

    with running(Endpoint(Broken())) as url, httpx2.Client(base_url=f"{url}/") as http:
        with pytest.raises(httpx2.RemoteProtocolError):
            post("half")
        (event,) = post("invalid_json").strip().split("\n\n")
        with pytest.raises(json.JSONDecodeError):
            json.loads(event.partition("data: ")[2])
        assert '"text"' not in post("empty")


class Confused:
    """A brain that breaks."""

    async def decide(self, prompt: Prompt, tries: int) -> Any:
        raise LookupError("where am I?")


def test_a_model_that_breaks_says_how() -> None:
    with running(Endpoint(Confused())) as url:
        answered = httpx2.post(f"{url}/{CHAT}", json=BODIES[CHAT])
    assert answered.status_code == 500
    assert answered.json()["error"]["message"] == "the scripted model broke: LookupError: where am I?"


@ALL
def test_a_hang_lasts_until_the_client_gives_up(path: str) -> None:
    with client(failing("{kind: hang}")) as http:
        with pytest.raises(httpx2.ReadTimeout):
            http.post(path, json=BODIES[path], timeout=httpx2.Timeout(100, read=0.2))
        assert said(path, http.post(path, json=BODIES[path])) == "Hello."


def test_it_stops_even_while_a_client_hangs() -> None:
    with running(Endpoint(scripted(failing("{kind: hang, times: always}")))) as url:
        parts = httpx2.URL(url)
        address = (parts.host, parts.port or 0)
        hanging = socket.create_connection(address)
        body = json.dumps(BODIES[CHAT])
        hanging.sendall(f"POST /v1/{CHAT} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
    hanging.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)


def test_a_fault_of_a_stream_is_the_same_fault() -> None:
    with client(failing("{status: 429}")) as http:
        first, second = (http.post(CHAT, json={**BODIES[CHAT], "stream": True}) for _ in range(2))
    assert first.status_code == 429
    assert second.headers["content-type"].startswith("text/event-stream")
    assert second.text.endswith("data: [DONE]\n\n")


def test_every_event_of_a_responses_stream_is_named_and_numbered() -> None:
    with client("steps: [{say: Hello., calls: [{tool: look_up, arguments: {name: Wren}}]}]") as http:
        text = http.post(RESPONSES, json={**BODIES[RESPONSES], "stream": True}).text
    events = [block.split("\n") for block in text.strip().split("\n\n")]
    numbers: list[int] = []
    for name, data in events:
        body = json.loads(data.removeprefix("data: "))
        assert name == f"event: {body['type']}"
        numbers.append(body["sequence_number"])
    assert numbers == list(range(len(events)))


def in_threads(work: Callable[[str], Any], items: list[str]) -> list[Any]:
    with ThreadPoolExecutor(6) as pool:
        return list(pool.map(work, items))


def test_many_conversations_at_the_same_time_do_not_mix() -> None:
    openings = [SUITE.get(name).user.opening for name in ("wifi_off", "landlord_number", "new_neighbour")]
    tools = [
        {"type": "function", "function": {"name": name, "parameters": {"properties": {key: {} for key in keys}}}}
        for name, keys in {
            "set_wifi_status": ["on"],
            "search_contacts": ["name", "relationship", "phone_number", "person_id", "is_self"],
            "add_contact": ["name", "phone_number", "relationship"],
        }.items()
    ]

    def ask(opening: str) -> Any:
        body = {"model": "m", "messages": [{"role": "user", "content": opening}], "tools": tools}
        message = http.post(CHAT, json=body).json()["choices"][0]["message"]
        return [call["function"]["name"] for call in message.get("tool_calls", ())]

    with running(Endpoint(solver())) as url, httpx2.Client(base_url=f"{url}/") as http:
        asked = in_threads(ask, openings * 10)
    assert asked == [["set_wifi_status"], ["search_contacts"], []] * 10


def test_every_request_is_told_to_whoever_wants_to_know() -> None:
    seen: list[Any] = []
    with running(Endpoint(Solver([WIFI_OFF]), seen.append)) as url:
        httpx2.post(f"{url}/{CHAT}", json=BODIES[CHAT])
        httpx2.post(f"{url}/{CHAT}", content="{")
    assert seen == [BODIES[CHAT]]


@each(("method", "path", "status"), [("GET", CHAT, 405), ("POST", "models", 405), ("GET", "x", 404)])
def test_what_is_not_there_is_not_there(method: str, path: str, status: int) -> None:
    with client("steps: [{say: Hello.}]") as http:
        assert http.request(method, path).status_code == status


def test_a_long_conversation_is_taken() -> None:
    long = [{"role": "user", "content": "x" * 100_000}, *[{"role": "assistant", "content": "y"}] * 500]
    with client("steps: [{say: Hello.}]") as http:
        assert http.post(CHAT, json={"model": "m", "messages": long}).status_code == 200


def test_port_0_takes_a_free_one_and_says_which() -> None:
    with bind("127.0.0.1", 0) as listener:
        assert base_url(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


OTHERS = "192.0.2.1"
"""An address for documentation, which no machine has."""


@each(("host", "reason"), [("127.0.0.1", "Address already in use"), (OTHERS, "requested address")])
def test_an_address_that_cannot_be_had_is_told(host: str, reason: str) -> None:
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(EndpointStartError) as caught:
            bind(host, port)
    assert str(caught.value).startswith(f"cannot listen on {host}:{port}: ")
    assert reason in str(caught.value)
    assert str(caught.value).endswith("; choose another with --port")
