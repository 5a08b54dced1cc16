"""OpenReward's own client on our server: BASE TOKEN; run where openreward is installed."""

import asyncio
import json
import sys

from openreward.api.environments.client import AsyncEnvironmentsAPI
from openreward.api.environments.types import ToolCallError

BASE, TOKEN = sys.argv[1:3]


async def refused(what, kind):
    try:
        await what
    except kind as error:
        return str(error)
    raise AssertionError("that must be refused")


async def tasks(env):
    assert await env.list_splits() == ["train", "validation", "test", "all"]
    number = await env.num_tasks("test")
    listed = await env.list_tasks("test")
    assert len(listed) == number > 10
    assert (await env.get_task("test", 3)).task_spec == listed[3].task_spec
    assert [one.task_spec for one in await env.get_task_range("test", 2, 5)] == [one.task_spec for one in listed[2:5]]
    assert len(await env.list_tools()) > 30
    async with env.session(split="test", index=0) as session:
        assert (await session.get_messages())[0].role == "system"


async def episode(env, task, *, lasting):
    async with env.session(task=task) as session:
        prompt = await session.get_prompt()
        assert prompt[-1].text.startswith("Please turn off")
        assert [tool.name for tool in await session.list_tools()] == ["set_wifi_status", "send_message_to_user"]
        wrong = await session.call_tool("set_wifi_status", {"on": "maybe"})
        assert "on" in wrong.blocks[0].text and wrong.reward is None and not wrong.finished
        done = await session.call_tool("set_wifi_status", {"on": False})
        assert json.loads(done.blocks[0].text) == {"result": None} and done.reward is None
        if lasting:
            assert await session.is_assistant_message_final()
            ended = await session.call_terminal_tool("Wifi is off now.")
        else:
            ended = await session.call_tool("send_message_to_user", {"content": "Wifi is off now."})
        assert ended.finished and ended.metadata["score"]["score"] == ended.reward
        assert "episode_finished" in await refused(session.call_tool("set_wifi_status", {"on": True}), ToolCallError)
        return ended.reward


async def main():
    async with AsyncEnvironmentsAPI(base_url=BASE, api_key=TOKEN) as api:
        env = api.get("phone")
        await tasks(env)
        [task] = [one for one in await env.list_tasks("all") if one.task_spec["scenario"] == "wifi_off"]
        async with env.session(task=task) as session:
            idle = await session.call_terminal_tool("")
            assert idle.finished and idle.reward == 0.0
        earned = await asyncio.gather(*(episode(env, task, lasting=bool(number % 2)) for number in range(50)))
    print(json.dumps({"episodes": len(earned), "at_1": earned.count(1.0)}))


if __name__ == "__main__":
    asyncio.run(main())
