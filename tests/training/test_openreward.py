"""OpenReward's wire, request by request. Its own client is tried by ``make test-training``."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from sandbox_mcp.play.training.openreward import LAST_WORDS, SESSION
from tests.training.wire_kit import Serving, training_server

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def server(anyio_backend: str) -> AsyncGenerator[Serving]:
    async with training_server("openreward") as running:
        yield running


class Client:
    """One session, by the requests of OpenReward's client."""

    def __init__(self, server: Serving, name: str) -> None:
        self.server = server
        self.headers = {SESSION: name}

    @classmethod
    async def begun(cls, server: Serving, **asked: Any) -> "Client":
        named = dict(events((await server.http.post("/create_session")).text))
        client = cls(server, named["task_id"])
        created = await client.post("/create", **(asked or {"task_spec": {"scenario": "wifi_off"}}))
        assert created.status_code == 200, created.text
        return client

    async def post(self, path: str, **body: Any) -> Any:
        return await self.server.http.post(path, json=body, headers=self.headers)

    async def call(self, tool: str, **given: Any) -> Any:
        answer = await self.post("/phone/call", name=tool, input=given)
        return json.loads(events(answer.text)[-1][1])


def events(text: str) -> list[tuple[str, str]]:
    pairs = [block.split("\r\n") for block in text.split("\r\n\r\n") if block]
    return [(kind.removeprefix("event: "), data.removeprefix("data: ")) for kind, data in pairs]


async def test_the_last_words_end_an_episode_and_bring_the_reward(server: Serving) -> None:
    client = await Client.begun(server)
    done = await client.call("set_wifi_status", on=False)
    assert done["output"]["reward"] is None
    ended = await client.call(LAST_WORDS, message="Wifi is off now.")
    assert (ended["output"]["reward"], ended["output"]["finished"]) == (1.0, True)
    again = await client.call("set_wifi_status", on=True)
    assert again["reason"] == "episode_finished"


async def test_a_user_who_leaves_ends_it_too(server: Serving) -> None:
    client = await Client.begun(server)
    await client.call("set_wifi_status", on=False)
    ended = await client.call("send_message_to_user", content="Wifi is off now.")
    assert (ended["output"]["reward"], ended["output"]["finished"]) == (1.0, True)


async def test_an_answer_is_given_again_to_who_lost_it(server: Serving) -> None:
    client = await Client.begun(server)
    first = await client.post("/call", name="set_wifi_status", input={"on": False})
    number = dict(events(first.text))["task_id"]
    again = await client.post("/call", name="set_wifi_status", input={"on": False}, task_id=number)
    assert again.text == first.text
    lost = await client.post("/call", name="set_wifi_status", input={}, task_id="nothing")
    assert events(lost.text) == [("error", "unknown task_id")]


async def test_what_broke_is_an_error_and_no_reward(server: Serving) -> None:
    client = await Client.begun(server)
    token = [*server.manager._open][-1]
    await server.manager.get(token).end("user_failed")
    answer = await client.post("/call", name=LAST_WORDS, input={"message": "Hello?"})
    assert events(answer.text)[-1][0] == "error"
    assert "cannot be scored" in events(answer.text)[-1][1]


async def test_sessions_that_are_gone_are_told(server: Serving) -> None:
    client = await Client.begun(server)
    assert (await client.post("/ping")).json() == {"status": "ok"}
    await client.post("/delete")
    assert [(await client.post(path)).status_code for path in ("/ping", "/phone/call")] == [410, 410]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"task_spec": {"scenario": "nope"}}, "nope"),
        ({"task_spec": {}}, "needs the name of a scenario"),
        ({"split": "test", "index": 10_000}, "10000"),
        ({"split": "nowhere", "index": 0}, "unknown split"),
    ],
)
async def test_a_wrong_task_is_refused(server: Serving, asked: dict[str, Any], told: str) -> None:
    answer = await Client(server, "mine").post("/create", **asked)
    assert answer.status_code == 422
    assert told in answer.json()["detail"]


async def test_the_prompt_says_nothing_of_a_reward(server: Serving) -> None:
    client = await Client.begun(server, split="test", index=0)
    told = [(await server.http.get(f"/phone/{name}", headers=client.headers)).text for name in ("prompt", "task_tools")]
    assert not any(word in text for text in told for word in ("milestone", 'score"', "reward"))
