"""OpenEnv's wire, message by message. Its own clients are tried by ``make test-training``."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest
from sandbox_scenarios import Suite
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from sandbox_mcp.engine.trajectory import read_trajectory
from sandbox_mcp.engine.trajectory.finding import find_logs
from sandbox_mcp.play.session.tool_channel import SEND
from sandbox_mcp.play.training import Episode, TrainingTask
from tests.suite import SUITE
from tests.training.kit import actions, played, without_wall
from tests.training.wire_kit import Serving, Socket, training_server

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def server(anyio_backend: str) -> AsyncGenerator[Serving]:
    async with training_server() as running:
        yield running


@pytest.fixture
async def socket(server: Serving) -> AsyncGenerator[Socket]:
    async with server.socket() as connected:
        yield connected


async def test_an_episode_from_reset_to_reward(socket: Socket) -> None:
    began = await socket.reset(scenario="wifi_off", seed=7, episode_id="e1")
    assert began["observation"]["message"] == "Please turn off the wifi on my phone."
    assert [tool["name"] for tool in began["observation"]["available_tools"]] == [
        "set_wifi_status", "send_message_to_user",
    ]  # fmt: skip
    wrong = await socket.call("set_wifi_status", on="maybe")
    assert wrong["observation"]["result"]["isError"]
    assert wrong["reward"] is None
    done = await socket.call("set_wifi_status", on=False)
    assert done["observation"]["result"]["structuredContent"] == {"result": None}
    ended = await socket.step(type="say", message="Wifi is off now.")
    assert (ended["done"], ended["reward"], ended["observation"]["message"]) == (True, 1.0, None)
    assert ended["metadata"]["score"]["score"] == 1.0
    state = await socket.ask("state")
    assert (state["step_count"], state["episode_id"], state["reason"]) == (3, "e1", "user_ended")


async def test_steps_are_paid_where_they_are_asked_for(socket: Socket) -> None:
    await socket.reset(scenario="wifi_off", rewards="steps")
    paid = [
        (await socket.call("set_wifi_status", on=False))["reward"],
        (await socket.step(message="Wifi is off."))["reward"],
    ]
    assert paid == [0.5, 0.5]
    again = await socket.step(message="Hello?")
    assert (again["done"], again["reward"]) == (True, None)


async def test_a_policy_that_stops_is_graded(socket: Socket) -> None:
    await socket.reset(scenario="wifi_off")
    ended = await socket.step(type="finish")
    assert (ended["done"], ended["reward"], ended["metadata"]["score"]["ending"]) == (True, 0.0, "agent_ended")


async def test_nothing_of_a_reward_or_of_the_answer_is_in_an_observation(socket: Socket) -> None:
    for name in SUITE.names()[::40]:
        scenario = SUITE.get(name)
        seen = [
            await socket.reset(scenario=name, rewards="steps"),
            await socket.step(message="Hm?"),
            await socket.step(type="finish"),
        ]
        told = json.dumps([item["observation"] for item in seen])
        assert scenario.user.goal not in told
        assert "reward" not in told
        assert "milestone" not in told


async def test_a_reset_may_name_a_split_and_an_index_or_leave_the_choice_to_the_seed(
    server: Serving, socket: Socket
) -> None:
    listed = (await server.http.post("/openenv/phone/phone/tasks", json={"split": "test"})).json()["tasks"]
    third = await socket.reset(split="test", index=3)
    assert (
        third["metadata"]["scenario"]
        == listed[3]["scenario"]
        == (await socket.reset(task=listed[3]))["metadata"]["scenario"]
    )
    first, second = [(await socket.reset(seed=5))["metadata"]["scenario"] for _ in range(2)]
    assert first == second


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"scenario": "nope"}, "unknown scenario 'nope'"),
        ({"scenari": "wifi_off"}, "unknown in reset: scenari"),
        ({"scenario": "wifi_off", "seed": -1}, "seed is -1"),
        ({"scenario": "wifi_off", "variant": "none"}, "variant"),
        ({"scenario": "wifi_off", "rewards": {"harm": -1}}, "the weight harm is -1"),
        ({"scenario": "wifi_off", "user_channel": "phone"}, "user_channel"),
        ({"split": "dev"}, "unknown split"),
        ({"split": "test", "index": 10_000}, "there is no task 10000"),
        ({"task": 3}, "task is 3"),
    ],
)
async def test_a_reset_that_cannot_be_done_says_why(socket: Socket, data: dict[str, object], says: str) -> None:
    answer = await socket.reset(**data)
    assert answer["data"]["code"] == "VALIDATION_ERROR"
    assert says in answer["data"]["message"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "INVALID_JSON"),
        ("[]", "VALIDATION_ERROR"),
        ('{"type": "dance"}', "UNKNOWN_TYPE"),
        ('{"type": "step", "data": {"type": "call_tool"}}', "EXECUTION_ERROR"),
        ('{"type": "step", "data": {"type": "dance"}}', "EXECUTION_ERROR"),
        ("[" * 100_000, "INVALID_JSON"),
    ],
)
async def test_a_message_that_cannot_be_used_is_answered(socket: Socket, text: str, code: str) -> None:
    assert (await socket.raw(text))["data"]["code"] == code


async def test_tools_are_listed_before_the_first_reset(socket: Socket) -> None:
    assert len((await socket.step(type="list_tools"))["observation"]["tools"]) > 30


async def test_calls_that_are_sent_together_race(socket: Socket) -> None:
    await socket.reset(scenario="wifi_off", variant="all_tools")
    calls = [{"tool_name": "set_wifi_status", "arguments": {"on": False}}, {"tool_name": "get_wifi_status"}]
    raced = await socket.step(type="call_tools", calls=calls)
    assert [one["result"].get("data") for one in raced["observation"]["results"]] == [None, True]


async def test_the_mcp_bridge_reaches_the_same_episode(server: Serving) -> None:
    async def rpc(method: str, **params: object) -> dict[str, object]:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return (await server.http.post("/openenv/phone/mcp", json=body)).json()

    name = (await rpc("openenv/session/create"))["result"]["session_id"]  # type: ignore[index]
    async with server.socket(f"/openenv/phone/ws?session_id={name}") as socket:
        await socket.reset(scenario="wifi_off")
        listed = await rpc("tools/list", session_id=name)
        assert listed["result"]["tools"][0]["name"] == "set_wifi_status"  # type: ignore[index]
        await rpc("tools/call", session_id=name, name="set_wifi_status", arguments={"on": False})
        ended = await socket.step(message="Wifi is off now.")
        assert ended["reward"] == 1.0
        own = await socket.ask("mcp", {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create"})
        assert own["result"]["session_id"] == name
    assert (await rpc("openenv/session/close", session_id=name))["result"]["closed"]  # type: ignore[index]
    assert (await rpc("openenv/session/close", session_id=name))["error"]["code"] == -32602  # type: ignore[index]


async def test_an_episode_goes_by_http_alone(server: Serving) -> None:
    post = server.http.post
    await post("/openenv/phone/reset", json={"scenario": "wifi_off", "episode_id": "h1"})
    await post(
        "/openenv/phone/step",
        json={"episode_id": "h1", "action": {"tool_name": "set_wifi_status", "arguments": {"on": False}}},
    )
    ended = (await post("/openenv/phone/step", json={"episode_id": "h1", "action": {"message": "Wifi is off."}})).json()
    assert ended["reward"] == 1.0
    assert (await post("/openenv/phone/step", json={"action": {"message": "x"}})).status_code == 422


async def test_a_connection_that_closes_takes_its_episode_with_it(server: Serving, tmp_path: Path) -> None:
    async with training_server(rollouts=tmp_path) as own:
        async with own.socket() as socket:
            await socket.reset(scenario="wifi_off")
            assert len(own.manager) == 1
            gone = anyio.Event()
            next(iter(own.manager)).when_forgotten(gone.set)
        with anyio.fail_after(20):
            await gone.wait()
        [log] = [read_trajectory(path) for path in find_logs([tmp_path])]
    assert log.ended is not None
    assert log.ended.reason == "abandoned"


async def test_token_ids_are_kept_in_the_log_as_the_client_sent_them(tmp_path: Path) -> None:
    call, said = {"token_ids": [5, 8, 13], "logprobs": [-0.5, 0.0, -1.25]}, {"token_ids": [21]}
    async with training_server(rollouts=tmp_path) as own, own.socket() as first:
        await first.reset(scenario="wifi_off")
        await first.step(type="call_tool", tool_name="set_wifi_status", arguments={"on": False}, metadata=call)
        refused = await first.step(type="say", message="x", metadata=[1])
        told = {"content": "Wifi is off now."}
        ended = await first.step(type="call_tool", tool_name=SEND, arguments=told, metadata=said)
    [log] = [read_trajectory(path) for path in find_logs([tmp_path])]
    assert ended["reward"] == 1.0
    assert [event.meta["client"] for event in log.events if "client" in event.meta] == [call, said]
    assert refused["data"]["code"] == "VALIDATION_ERROR"


async def test_no_more_episodes_than_sessions_are_allowed() -> None:
    async with training_server(max_sessions=1) as own, own.socket() as first:
        await first.reset(scenario="wifi_off")
        async with own.socket() as second:
            refused = json.loads(await second.connection.recv())
        assert refused["data"]["code"] == "CAPACITY_REACHED"


async def test_the_log_is_that_of_an_episode_in_process(socket: Socket, server: Serving) -> None:
    for name in SUITE.names("*")[::60]:
        scenario = SUITE.get(name)
        async with server.socket(f"/openenv/{scenario.home.name}/ws") as own:
            before = {item.token for item in server.manager}  # those of clients that have just gone
            await own.reset(scenario=name, seed=3, user_channel="harness")
            [opened] = [item for item in server.manager if item.token not in before]
            plan = actions(scenario, "base", opened.session.tools)
            action = next(plan)
            while not opened.session.over:
                if isinstance(action, str):
                    made = []
                    ended = await own.step(message=action)
                else:
                    calls = [{"tool_name": tool, "arguments": given} for tool, given in action]
                    results = (await own.step(type="call_tools", calls=calls))["observation"]["results"]
                    made = [_made(one["result"]) for one in results]
                if opened.session.over:
                    break
                action = plan.send(made)  # type: ignore[attr-defined]
            assert ended["reward"] == 1.0
            log = opened.trajectory()
        inside = played(Episode(TrainingTask(name, seed=3), user_channel="harness", agent={"name": "openenv"}))
        assert log is not None
        assert without_wall(log) == without_wall(inside.log)


def _made(result: dict[str, object]) -> tuple[str | None, object]:
    if result["isError"]:
        return result["content"][0]["text"], None  # type: ignore[index]
    return None, result["structuredContent"]


async def refused(url: str, **more: Any) -> int:
    """The status with which a WebSocket is refused."""
    with pytest.raises(InvalidStatus) as caught:
        await connect(url, **more)
    return caught.value.response.status_code


async def test_who_shows_no_token_is_refused(server: Serving) -> None:
    assert await refused(server.base.replace("http", "ws", 1) + "/openenv/phone/ws") == 401
    plain = await server.http.post("/openenv/phone/mcp", json={}, headers={"Authorization": "Bearer wrong"})
    assert plain.status_code == 401


async def test_websockets_are_guarded_as_requests_are(server: Serving) -> None:
    token = {"Authorization": f"Bearer {server.settings.api_token}"}
    path, port = "/openenv/phone/ws", server.base.rpartition(":")[2]
    assert await refused(f"ws://127.0.0.1:{port}{path}", additional_headers=token, origin="http://evil.example") == 403
    assert await refused(f"ws://evil.example:{port}{path}", additional_headers=token, host="127.0.0.1") == 421


async def test_what_the_validator_asks_for_is_there() -> None:
    async with training_server("openenv") as root:
        get = root.http.get
        assert (await get("/health")).json() == {"status": "healthy"}
        assert (await get("/openapi.json")).json()["info"]["version"]
        assert set((await get("/schema")).json()) >= {"action", "observation", "state"}
        assert (await get("/metadata")).json()["name"] == "phone"
        assert (await root.http.post("/mcp", json={})).json()["jsonrpc"] == "2.0"
        assert (await get("/list_environments")).json() == ["phone"]
        assert (await get("/healthz")).json()["status"] == "ok"
        assert (await get("/openenv/nowhere/metadata")).status_code == 404


async def test_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    """They are read on first use, and may have changed since the server began."""
    file = tmp_path / "own.yaml"
    file.write_text("scenarios: [{name: own, extends: wifi_off}]")
    suite = Suite([file])
    async with training_server(suite=suite) as running:
        file.write_text("scenarios: {")
        answer = await running.http.get("/openenv/phone/metadata")
        async with running.socket() as connected:
            told = json.loads(await connected.connection.recv())
    assert answer.status_code == 500
    assert "own.yaml" in answer.json()["detail"]
    assert told["data"]["code"] == "EXECUTION_ERROR"
