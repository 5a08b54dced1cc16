"""NeMo Gym's resources server. Its own models and contract check are tried by ``make test-training``."""

from collections.abc import AsyncGenerator
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from sandbox_mcp.play.training import TrainingTask
from sandbox_mcp.play.training.nemo_gym import last_words
from sandbox_mcp.play.training.rows import FORMS
from tests.suite import SUITE
from tests.training.wire_kit import Serving, training_server

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def server(anyio_backend: str) -> AsyncGenerator[Serving]:
    async with training_server("nemo-gym") as running:
        yield running


@pytest.fixture
async def client(server: Serving) -> AsyncGenerator[httpx2.AsyncClient]:
    """One rollout: what it is given in cookies it sends back."""
    async with httpx2.AsyncClient(base_url=server.base, timeout=100) as http:
        yield http


def answered(*texts: str, **more: Any) -> dict[str, Any]:
    output = [{"type": "message", "content": [{"type": "output_text", "text": text}]} for text in texts]
    return {"id": "r", "output": output, **more}


async def verified(http: httpx2.AsyncClient, row: dict[str, Any], response: dict[str, Any]) -> dict[str, Any]:
    return (await http.post("/verify", json={**row, "response": response})).json()


ROW = FORMS["nemo-gym"](SUITE, TrainingTask("wifi_off", seed=3), 0, "all")


async def test_a_rollout_from_seed_to_reward(client: httpx2.AsyncClient) -> None:
    assert (await client.post("/seed_session", json=ROW)).json() == {}
    wrong = await client.post("/set_wifi_status", json={"on": "x"})
    assert (wrong.status_code, "TypeError" in wrong.text or "on" in wrong.text) == (400, True)
    assert (await client.post("/set_wifi_status", json={"on": False})).json() == {"result": None}
    earned = await verified(client, ROW, answered("Wifi is off now."))
    assert (earned["reward"], earned["mask_sample"], earned["failure_kind"]) == (1.0, False, None)
    assert earned["responses_create_params"] == ROW["responses_create_params"]


async def test_one_that_ends_without_a_word_is_graded(client: httpx2.AsyncClient) -> None:
    await client.post("/seed_session", json=ROW)
    earned = await verified(client, ROW, {"id": "r", "output": []})
    assert (earned["reward"], earned["mask_sample"], earned["ending"]) == (0.0, False, "agent_ended")


async def test_what_broke_is_masked(client: httpx2.AsyncClient) -> None:
    lost = await verified(client, ROW, answered("Wifi is off now."))
    assert (lost["mask_sample"], lost["failure_kind"]) == (True, "session_lost")
    await client.post("/seed_session", json=ROW)
    broken = await verified(client, ROW, {"id": "r", "output": [], "status": "failed"})
    assert (broken["mask_sample"], broken["failure_kind"]) == (True, "sandbox_mcp:agent_failed")


async def test_an_agent_that_speaks_mcp_gets_the_url_of_its_session(
    server: Serving, client: httpx2.AsyncClient
) -> None:
    access = (await client.post("/seed_session", json={**ROW, "mcp": True})).json()["mcp"]
    async with (
        httpx2.AsyncClient(headers=access["headers"], timeout=100) as http,
        Client(streamable_http_client(server.base + access["url_path"], http_client=http)) as agent,
    ):
        await agent.call_tool("set_wifi_status", {"on": False})
    assert (await verified(client, ROW, answered("Wifi is off now.")))["reward"] == 1.0


async def test_a_seed_is_carried_out_once_and_not_after_its_close(client: httpx2.AsyncClient) -> None:
    seed = {"resources_session_id": "rs", "episode_id": {"rollout_id": "1"}, "task_data": {"scenario": "wifi_off"}}
    first, second = [await client.post("/seed_session", json=seed) for _ in range(2)]
    assert first.json() == second.json()
    assert first.headers["set-cookie"] == second.headers["set-cookie"]
    for _ in range(2):
        closed = await client.post("/close_session", json={"resources_session_id": "rs"})
        assert closed.json() == {"resources_session_id": "rs"}
    assert (await client.post("/seed_session", json=seed)).status_code == 409


async def test_masked_samples_are_in_no_mean(client: httpx2.AsyncClient) -> None:
    given = [{"reward": 1.0}, {"reward": 0.0}, {"reward": 0.0, "mask_sample": True}]
    found = (await client.post("/aggregate_metrics", json={"verify_responses": given})).json()
    assert found["key_metrics"] == {"mean/reward": 0.5}


@pytest.mark.parametrize("body", ["[]", "{", "[" * 99_999, "{}", '{"scenario": "nope"}'])
async def test_a_seed_that_cannot_be_done_is_refused(client: httpx2.AsyncClient, body: str) -> None:
    assert (await client.post("/seed_session", content=body)).status_code == 422


def test_the_last_words_are_those_after_which_nothing_is_called() -> None:
    call = {"type": "function_call", "name": "x"}
    assert last_words({"output": [call, *answered("Done.")["output"], {"type": "reasoning"}]}) == "Done."
    assert last_words({"output": [*answered("I will look.")["output"], call]}) == ""
