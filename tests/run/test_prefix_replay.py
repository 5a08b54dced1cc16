"""``replay`` of prefix logs: every reply's calls come to the same again, or what differs is told."""

import json
from pathlib import Path

from click.testing import CliRunner, Result
from sandbox_clients.function import Asked

from sandbox_mcp import evaluate
from sandbox_mcp.app.benchmarks.tooltalk.conversations import Conversations
from sandbox_mcp.app.cli import group
from sandbox_mcp.app.run.by_hand import PlayableSuite
from tests.each import each
from tests.run.test_conversations import known, written

TALKS = ("car_fixed", "bread_is_out", "plumber_when_locked", "office_tiles_late")
"""A batch, news on the way, a gate, and another world."""


def replay(*arguments: object) -> Result:
    return CliRunner().invoke(group, ["replay", *map(str, arguments)])


async def clumsy(asked: Asked) -> str:
    """Makes every mistake that there is, and changes what the ground truth relies on."""
    await asked.tools.call("no_such_tool", {})
    await asked.tools.call("set_wifi_status", {"of": 1})
    await asked.tools.call("set_cellular_service_status", {"on": False})
    await asked.tools.call("search_contacts", {"name": "a"})
    return "Hm."


@each("variant", ["base", "tool_name_scrambled", "text_actions"])
def test_the_ground_truths_agent_agrees_in_every_variant(tmp_path: Path, variant: str) -> None:
    suite = PlayableSuite().select(*TALKS)
    evaluate("reference", suite, mode="prefix", variants=(variant,), out=tmp_path)
    found = replay(tmp_path)
    assert (found.exit_code, found.stdout.count(": agrees")) == (0, len(TALKS)), found.output


def test_an_agent_that_does_something_else_agrees_as_well(tmp_path: Path) -> None:
    evaluate(clumsy, PlayableSuite().select("car_fixed"), mode="prefix", metric="tooltalk.success", out=tmp_path)
    assert replay(tmp_path).exit_code == 0


def test_what_comes_out_otherwise_is_told_with_its_event(tmp_path: Path) -> None:
    evaluate("reference", PlayableSuite().select("car_fixed"), mode="prefix", metric="tooltalk.success", out=tmp_path)
    [log] = (tmp_path / "logs").iterdir()
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    call = next(line for line in lines if line["event"] == "tool_call" and line["result"])
    call["result"] = "something else"
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    found = replay(log)
    assert found.exit_code == 1
    assert f'event {call["seq"]}, result: recorded "something else"' in found.stdout


def test_a_scenario_that_has_changed_since_is_said_so(tmp_path: Path) -> None:
    evaluate("reference", PlayableSuite().select("car_fixed"), mode="prefix", metric="tooltalk.success", out=tmp_path)
    [log] = (tmp_path / "logs").iterdir()
    first, *rest = log.read_text(encoding="utf-8").splitlines()
    log.write_text("\n".join([json.dumps({**json.loads(first), "digest": "0"}), *rest, ""]), encoding="utf-8")
    found = replay(log)
    assert found.exit_code == 2
    assert "has changed since" in found.stderr


def test_a_conversation_of_tooltalk_needs_its_checkout(tmp_path: Path) -> None:
    checkout = written(tmp_path / "checkout")
    evaluate(known, Conversations(checkout), mode="prefix", out=tmp_path / "run", metric="tooltalk.success")
    assert replay(tmp_path / "run", "--tooltalk", checkout).exit_code == 0
    bare = replay(tmp_path / "run")
    assert bare.exit_code == 2
    assert "--tooltalk" in bare.stderr
