"""The gate in front of a model: what passes, what it counts, and when it closes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest
from sandbox_clients.workers.gate import ModelGate, gate_to

from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.server import running
from tests.clients.sessions import scripted

HELLO = "steps: [{say: Hello.}]"
ASKED = {"model": "m", "input": "Hi"}


@contextmanager
def gated(script: str = HELLO, **parameters: Any) -> Iterator[tuple[ModelGate, list[Any]]]:
    """A gate that lets two answers pass, and what the model behind it is sent."""
    seen: list[Any] = []
    with running(Endpoint(scripted(script), seen.append)) as url, gate_to(f"{url}/", parameters, 5) as gate:
        gate.open(2)
        yield gate, seen


def ask(gate: ModelGate, **more: Any) -> httpx2.Response:
    return httpx2.post(f"{gate.url}/responses", json={**ASKED, **more})


def test_what_passes_is_as_it_was() -> None:
    with gated() as (gate, seen):
        answered = ask(gate)
    assert seen == [ASKED]
    assert answered.json()["output"][0]["content"][0]["text"] == "Hello."
    assert answered.headers["content-type"] == "application/json"


def test_a_stream_passes_as_a_stream() -> None:
    with gated() as (gate, _):
        answered = ask(gate, stream=True)
    assert answered.headers["content-type"].startswith("text/event-stream")
    assert answered.text.rstrip().rpartition("event: ")[2].startswith("response.completed")


def test_parameters_of_the_run_are_added() -> None:
    with gated(temperature=0) as (gate, seen):
        ask(gate, temperature=1)
    assert seen == [{**ASKED, "temperature": 0}]


def test_behind_the_last_answer_it_is_closed_until_it_is_opened_again() -> None:
    with gated() as (gate, seen):
        statuses = [ask(gate).status_code for _ in range(3)]
        assert (statuses, gate.answers, gate.closed) == ([200, 200, 400], 2, True)
        gate.open(2)
        assert (ask(gate).status_code, gate.answers, gate.closed) == (200, 1, False)
    assert len(seen) == 3


def test_an_answer_is_counted_before_its_end_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that whoever asks again at once meets a gate that knows of it."""

    def breaks(_: ModelGate) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(ModelGate, "count", breaks)
    with gated() as (gate, _), pytest.raises(httpx2.RemoteProtocolError):
        ask(gate)


def test_only_answers_of_the_model_count() -> None:
    with gated() as (gate, _):
        assert httpx2.get(f"{gate.url}/models").json()["data"][0]["id"] == "scripted"
        assert gate.answers == 0


def test_a_refusal_passes_and_is_no_answer() -> None:
    with gated("steps: [{fault: {status: 429, retry_after: 7}}]") as (gate, _):
        refused = ask(gate)
        assert (refused.status_code, refused.headers["retry-after"], gate.answers) == (429, "7", 0)


@pytest.mark.filterwarnings("ignore")
def test_half_an_answer_stays_half_and_is_no_answer() -> None:
    with gated("steps: [{fault: {kind: half}}]") as (gate, _):
        with pytest.raises(httpx2.RemoteProtocolError):
            ask(gate)
        assert gate.answers == 0


def test_a_model_that_cannot_be_reached_is_a_bad_gateway() -> None:
    with gate_to("http://127.0.0.1:1", {}, 5) as gate:
        gate.open(1)
        answered = ask(gate)
    assert answered.status_code == 502
    assert "cannot be reached" in answered.json()["error"]["message"]
