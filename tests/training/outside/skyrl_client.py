"""SkyRL's own registry on our environment; run where skyrl-gym is installed, with our source on the path."""

import json
import sys

import skyrl_gym
from skyrl_gym.envs.registration import register

from sandbox_mcp.play.training.skyrl import ENTRY_POINT, BrokenEpisodeError
from tests.suite import SUITE
from tests.training.kit import actions

register(id="sandbox", entry_point=ENTRY_POINT)


def made(name, **config):
    return skyrl_gym.make("sandbox", env_config=config, extras={"extra_info": {"scenario": name, "seed": 3}})


def solved(name):
    """A solution as a model would write it."""
    env = made(name)
    prompt, row = env.init([])
    inner = env.unwrapped if hasattr(env, "unwrapped") else env
    assert row["scenario"] == name and "<tools>" in prompt[0]["content"]
    plan = actions(SUITE.get(name), "base", inner._episode.session.tools)
    action = next(plan)
    while True:
        if isinstance(action, str):
            out, results = env.step(action), []
        else:
            written = [{"name": tool, "arguments": dict(given)} for tool, given in action]
            out = env.step("".join(f"<tool_call>\n{json.dumps(one)}\n</tool_call>" for one in written))
            bodies = [
                item["content"].removeprefix("<tool_response>\n").removesuffix("\n</tool_response>")
                for item in out["observations"]
            ]
            results = [read(body) for body in bodies]
        if out["done"]:
            return out["reward"], env.get_metrics()
        action = plan.send(results)


def read(body):
    try:
        return None, json.loads(body)
    except ValueError:
        return body, None


def stopped(name):
    env = made(name, max_turns=1)
    env.init([])
    return env.step("<tool_call>\nnot JSON\n</tool_call>")


def broken(name):
    env = made(name)
    env.init([])
    inner = env.unwrapped if hasattr(env, "unwrapped") else env
    inner._episode.session.end("user_failed")
    try:
        env.step("Hello?")
    except BrokenEpisodeError:
        return True
    return False


if __name__ == "__main__":
    names = SUITE.names()[:: int(sys.argv[1]) if len(sys.argv) > 1 else 8]
    earned = [solved(name)[0] for name in names]
    out = stopped("wifi_off")
    assert (out["done"], out["reward"]) == (True, 0.0), out
    assert broken("wifi_off")
    print(json.dumps({"episodes": len(earned), "at_1": earned.count(1.0)}))
