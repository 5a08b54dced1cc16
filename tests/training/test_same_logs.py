"""The same seed and actions give the same log, byte for byte but for the real clock, over every wire and in process."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from sandbox_mcp.engine.trajectory import Trajectory
from sandbox_mcp.play.training import Episode, TrainingTask
from sandbox_mcp.play.training.openreward import LAST_WORDS, SESSION
from sandbox_mcp.play.training.rows import FORMS
from tests.suite import SUITE
from tests.training.kit import actions, without_wall
from tests.training.wire_kit import Serving, training_server

pytestmark = pytest.mark.anyio
NAMES = [name for name in SUITE.names("*")[::30] if len(SUITE.get(name).solutions[0].turns) == 1][:4]
Call = Callable[[str, Mapping[str, Any]], Awaitable[tuple[str | None, Any]]]


async def calls_of(name: str, call: Call) -> str:
    """Make the calls of a solution, one after the other; the words that it ends with."""
    scenario = SUITE.get(name)
    plan: Any = actions(scenario, "base", Episode(name).session.tools)
    action = next(plan)
    while not isinstance(action, str):
        action = plan.send([await call(tool, given) for tool, given in action])
    return action


async def inside(name: str, agent: str, channel: Any = "tool") -> Trajectory:
    episode = Episode(TrainingTask(name, seed=5), user_channel=channel, agent={"name": agent})

    async def call(tool: str, given: Mapping[str, Any]) -> tuple[str | None, Any]:
        made = episode.call(tool, given)
        return made.error, made.structured

    episode.say(await calls_of(name, call))
    episode.finish()
    return episode.log


async def last_log(server: Serving, before: set[str]) -> Trajectory:
    [opened] = [item for item in server.manager if item.token not in before]
    log = opened.trajectory()
    assert log is not None
    return log


@pytest.fixture(scope="module")
async def nemo(anyio_backend: str) -> AsyncGenerator[Serving]:
    async with training_server("nemo-gym") as running:
        yield running


@pytest.fixture(scope="module")
async def openreward(anyio_backend: str) -> AsyncGenerator[Serving]:
    async with training_server("openreward") as running:
        yield running


@pytest.mark.parametrize("name", NAMES)
async def test_nemo_gym(nemo: Serving, name: str) -> None:
    before = {item.token for item in nemo.manager}
    async with httpx2.AsyncClient(base_url=nemo.base, timeout=100) as http:
        row = FORMS["nemo-gym"](SUITE, TrainingTask(name, seed=5), 0, "all")
        await http.post("/seed_session", json=row)

        async def call(tool: str, given: Mapping[str, Any]) -> tuple[str | None, Any]:
            answer = await http.post(f"/{tool}", json=given)
            return (answer.text, None) if answer.status_code == 400 else (None, answer.json())

        content = [{"type": "output_text", "text": await calls_of(name, call)}]
        response = {"id": "r", "output": [{"type": "message", "content": content}]}
        assert (await http.post("/verify", json={**row, "response": response})).json()["reward"] == 1.0
    assert without_wall(await last_log(nemo, before)) == without_wall(await inside(name, "nemo-gym"))


@pytest.mark.parametrize("name", NAMES)
async def test_openreward(openreward: Serving, name: str) -> None:
    before, headers = {item.token for item in openreward.manager}, {SESSION: f"of-{name}"}
    await openreward.http.post("/create", json={"task_spec": {"scenario": name, "seed": 5}}, headers=headers)

    async def answered(tool: str, given: Mapping[str, Any]) -> Any:
        answer = await openreward.http.post("/call", json={"name": tool, "input": given}, headers=headers)
        return json.loads(answer.text.split("event: end\r\ndata: ")[1])["output"]

    async def call(tool: str, given: Mapping[str, Any]) -> tuple[str | None, Any]:
        text = (await answered(tool, given))["blocks"][0]["text"]
        try:
            return None, json.loads(text)
        except ValueError:
            return text, None

    ended = await answered(LAST_WORDS, {"message": await calls_of(name, call)})
    assert ended["reward"] == 1.0
    assert without_wall(await last_log(openreward, before)) == without_wall(await inside(name, "openreward"))


@pytest.mark.parametrize("name", NAMES[:2])
async def test_the_control_api_beside_mcp_as_verifiers_use_them(nemo: Serving, name: str) -> None:
    before = {item.token for item in nemo.manager}
    wanted = {"scenario": name, "seed": 5, "agent": {"name": "verifiers"}}
    began = (await nemo.http.post("/api/sessions", json=wanted)).json()
    here = f"/api/sessions/{began['id']}"
    async with (
        httpx2.AsyncClient(timeout=100) as http,
        Client(streamable_http_client(began["url"], http_client=http)) as agent,
    ):

        async def call(tool: str, given: Mapping[str, Any]) -> tuple[str | None, Any]:
            result = await agent.call_tool(tool, dict(given))
            text = result.content[0].text  # type: ignore[union-attr]
            return (text, None) if result.is_error else (None, result.structured_content)

        text = await calls_of(name, call)
    await nemo.http.post(f"{here}/messages", json={"text": text})
    await nemo.http.post(f"{here}/end", json={"reason": "agent_ended"})
    assert (await nemo.http.get(f"{here}/scores")).json()["reward"] == 1.0
    log = await last_log(nemo, before)
    assert without_wall(log) == without_wall(await inside(name, "verifiers", "harness"))
