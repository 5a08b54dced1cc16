"""TRL's own machinery on our environments; run where TRL is installed, with our source on the path."""

import json
import os
import sys

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"

from transformers.utils import get_json_schema

from sandbox_mcp.engine.tools import present
from sandbox_mcp.engine.worlds import named, names
from sandbox_mcp.play.session.tool_channel import SEND_TOOL
from sandbox_mcp.play.training import RewardSpec
from sandbox_mcp.play.training.trl import SandboxSpec, environment_class
from tests.training.kit import actions


def same(ours, theirs):
    """Whether a schema that transformers made says what ours does; it writes nullable types in a way of its own."""
    if ours.get("anyOf") or isinstance(ours.get("type"), list):
        kinds = ours["type"] if isinstance(ours.get("type"), list) else [one.get("type") for one in ours["anyOf"]]
        rest = [kind for kind in kinds if kind != "null"]
        if "null" in kinds and not theirs.get("nullable"):
            return False
        return len(rest) > 1 or theirs.get("type") in (rest[0], None)
    if ours.get("enum"):
        return theirs.get("enum") == ours["enum"]
    if ours.get("type") == "array":
        return theirs.get("type") == "array" and ("items" not in ours or same(ours["items"], theirs.get("items", {})))
    return ours.get("type") == theirs.get("type")


def schemas():
    """Every tool of every world through transformers' reader of docstrings and type hints."""
    spec, seen = SandboxSpec(["wifi_off"]), 0
    for world in names():
        for tool in [*map(present, named(world).agent_tools.values()), SEND_TOOL]:
            env = environment_class(spec, [tool], "One")()
            read = get_json_schema(getattr(env, tool.name))["function"]
            ours, theirs = tool.schema, read["parameters"]
            assert read["name"] == tool.name
            assert " ".join(read["description"].split()) == " ".join((tool.description or tool.name).split()), tool.name
            assert set(ours.get("properties", {})) == set(theirs.get("properties", {})), tool.name
            assert set(ours.get("required", [])) == set(theirs.get("required", [])), tool.name
            for name, schema in ours.get("properties", {}).items():
                assert same(schema, theirs["properties"][name]), (tool.name, name, schema, theirs["properties"][name])
                told = " ".join(str(schema.get("description") or name).split())
                assert theirs["properties"][name]["description"] == told, (tool.name, name)
            seen += 1
    return seen


def episodes(selectors, every=1):
    """Solutions through the methods that TRL would call, then nothing at all."""
    spec = SandboxSpec(selectors)
    [reward] = spec.reward_funcs
    earned, idle = [], []
    for row in spec.rows[::every]:
        env = spec.environment_factory[row["environment"]]()
        assert env.reset(**row)
        session = env._episode.session
        plan = actions(env._episode.scenario, "base", session.tools)
        action, last = next(plan), {}
        try:
            while True:
                if isinstance(action, str):
                    if env._episode.over:
                        break
                    last = {"role": "assistant", "content": action}
                    if len(env._episode.scenario.solutions[0].turns) > 1:
                        json.loads(env.send_message_to_user(content=action))
                        last = {"role": "assistant", "content": ""}
                    made = []
                else:
                    made = [called(env, name, arguments) for name, arguments in action]
                action = plan.send(made)
        except StopIteration:
            pass
        earned += reward(completions=[[last]], environments=[env])
        env.reset(**row)
        idle += reward(completions=[[{"role": "assistant", "content": ""}]], environments=[env])
    return earned, idle


def called(env, name, arguments):
    try:
        return None, json.loads(getattr(env, name)(**arguments))
    except ValueError as error:
        return str(error), None


def failures():
    """What broke is None, which TRL leaves out; what the model made wrong is an error that it gets to see."""
    spec = SandboxSpec(["wifi_off"], rewards=RewardSpec(harm=0.5))
    env = spec.environment_factory["tools_0"]()
    [reward] = spec.reward_funcs
    assert reward(completions=[[]], environments=[env]) == [None]
    env.reset(**spec.rows[0])
    try:
        env.set_wifi_status(on="maybe")
    except ValueError as error:
        assert "on" in str(error)
    else:
        raise AssertionError("a wrong argument must be told")
    env._episode.finish("user_failed")
    assert reward(completions=[[{"role": "assistant", "content": "Done."}]], environments=[env]) == [None]


if __name__ == "__main__":
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    failures()
    earned, idle = episodes([], every)
    print(
        json.dumps(
            {"tools": schemas(), "episodes": len(earned), "at_1": earned.count(1.0), "idle_at_0": idle.count(0.0)}
        )
    )
