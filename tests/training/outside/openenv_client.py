"""OpenEnv's own clients on our server: BASE TOKEN; run where openenv is installed."""

import asyncio
import json
import sys
import urllib.request

from openenv.core import GenericEnvClient
from openenv.core.env_server.mcp_types import CallToolAction, Tool
from openenv.core.harness import (
    MCPHarnessAdapter,
    ModelStepResult,
    StepEnvSessionAdapter,
    ToolResult,
    VerifyResult,
    build_harness_rollout_func,
)
from openenv.core.llm_client import LLMResponse, ToolCall
from openenv.core.mcp_client import MCPToolClient

BASE, TOKEN = sys.argv[1:3]
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
OFF = {"type": "call_tool", "tool_name": "set_wifi_status", "arguments": {"on": False}}
DONE = {"type": "say", "message": "Wifi is off now."}


def client(kind=GenericEnvClient):
    return kind(base_url=BASE, headers=HEADERS)


async def generic():
    async with client() as env:
        assert len((await env.step({"type": "list_tools"})).observation["tools"]) > 30
        began = await env.reset(scenario="wifi_off", seed=7, episode_id="e1")
        assert began.observation["message"].startswith("Please turn off") and began.reward is None and not began.done
        wrong = await env.step({**OFF, "arguments": {"on": "maybe"}})
        assert wrong.observation["result"]["isError"] and wrong.reward is None
        assert (await env.step(OFF)).observation["result"]["structuredContent"] == {"result": None}
        ended = await env.step(DONE)
        assert ended.done and ended.reward == 1.0 and ended.metadata["score"]["score"] == 1.0
        state = await env.state()
        assert state["step_count"] == 3 and state["episode_id"] == "e1"
        await env.reset(scenario="wifi_off", rewards="steps")
        assert (await env.step(OFF)).reward + (await env.step(DONE)).reward == 1.0
        await env.reset(scenario="wifi_off")
        assert (await env.step({"type": "finish"})).reward == 0.0
        for wanted in ({"scenario": "nope"}, {"scenari": "x"}):
            try:
                await env.reset(**wanted)
            except RuntimeError as error:
                assert "VALIDATION_ERROR" in str(error)
            else:
                raise AssertionError(wanted)


async def bridge():
    async with client(MCPToolClient) as env:
        await env.reset(scenario="wifi_off", seed=1)
        tools = await env.list_tools()
        assert [tool.name for tool in tools] == ["set_wifi_status", "send_message_to_user"]
        assert tools[0].input_schema["properties"]["on"]
        await env.step(CallToolAction(tool_name="set_wifi_status", arguments={"on": False}))
        said = CallToolAction(tool_name="send_message_to_user", arguments={"content": "Wifi is off now."})
        ended = await env.step(said)
        assert ended.done and ended.reward == 1.0


async def together(count):
    async def one(seed):
        async with client() as env:
            await env.reset(scenario="wifi_off", seed=seed)
            await env.step(OFF)
            return (await env.step(DONE)).reward

    rewards = await asyncio.gather(*(one(seed) for seed in range(count)))
    assert rewards == [1.0] * count
    return count


def synchronous():
    with client().sync() as env:
        first, second = (env.reset(split="train", seed=5).metadata["scenario"] for _ in range(2))
        assert first == second


def tasks():
    def asked(path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(BASE + path, data, {**HEADERS, "Content-Type": "application/json"})
        return json.load(urllib.request.urlopen(request))

    [name] = asked("/list_environments")
    number = asked(f"/{name}/num_tasks", {"split": "test"})["num_tasks"]
    assert len(asked(f"/{name}/tasks", {"split": "test"})["tasks"]) == number > 10


class Factory:
    def create(self, task, seed=None, episode_id=None):
        env = client().sync()
        probe = env.reset(**task)
        specs = [
            Tool(name=tool["name"], description=tool["description"], input_schema=tool["inputSchema"])
            for tool in probe.observation["available_tools"]
        ]

        def verify(transcript, final_state, last, state):
            ended = last if last is not None and last.done else env.step({"type": "finish"})
            return VerifyResult(env_reward=ended.reward, done=True, metrics={"score": ended.metadata["score"]["score"]})

        return StepEnvSessionAdapter(
            env,
            tool_specs=specs,
            reset_kwargs=task,
            action_builder=lambda name, given: {"type": "call_tool", "tool_name": name, "arguments": given},
            initial_messages_builder=lambda began, _: began.observation["messages"],
            tool_result_builder=lambda name, given, made, session: ToolResult(
                data=made.observation["result"]["content"][0]["text"], done=made.done, metadata={}
            ),
            verify_builder=verify,
        )


def harness():
    seen = []
    script = [
        [ToolCall(id="1", name="set_wifi_status", args={"on": False})],
        [ToolCall(id="2", name="send_message_to_user", args={"content": "Wifi is off now."})],
    ]

    def builder(trainer, session):
        turns = iter(script if trainer == "good" else [])

        def step(messages, tools, sampling):
            seen.append(json.dumps(messages, default=str))
            return ModelStepResult(LLMResponse(content="", tool_calls=next(turns, [])), [1], [2], [0.0])

        return step

    rollout = build_harness_rollout_func(
        session_factory=Factory(), harness_adapter=MCPHarnessAdapter(), model_step_builder=builder
    )
    assert rollout([{"scenario": "wifi_off"}], "good")["env_reward"] == [1.0]
    assert rollout([{"scenario": "wifi_off"}], "idle")["env_reward"] == [0.0]
    assert not any("reward" in text for text in seen), "the model must not be told rewards"


if __name__ == "__main__":
    asyncio.run(generic())
    asyncio.run(bridge())
    synchronous()
    tasks()
    harness()
    print(json.dumps({"episodes": asyncio.run(together(50)), "at_1": 50}))
