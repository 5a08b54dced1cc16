"""Live sources, recorded and replayed through the command line."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sandbox_mcp.cli import group
from sandbox_mcp.errors import SandboxError
from sandbox_mcp.trajectory import ToolCall, read_trajectory

SCENARIO = """
family: mine
scenarios:
  - name: apple_price
    extends: lakeside
    categories: [single_tool_call, single_user_turn]
    tools: [search_stock]
    user: {goal: You want the price of Apple., opening: What does Apple cost?}
    reference:
      - turns: [{calls: [{tool: search_stock, arguments: {query: Apple}, as: found}], reply: "${found.price} dollars."}]
    milestones:
      - {id: looked, tool: search_stock}
"""
LIVE = """
from dataclasses import replace
from sandbox_mcp.worlds.phone.knowledge import Knowledge
from sandbox_mcp.worlds.phone.knowledge.stocks import OfflineStocks

class Live:
    def search(self, query, now):
        return replace(OfflineStocks().search(query, now), price=1234.5)

def make():
    return Knowledge(stocks=Live())

nonsense = 5
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "mine.yaml").write_text(SCENARIO)
    (tmp_path / "live_sources.py").write_text(LIVE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    sys.modules.pop("live_sources", None)


def run(out: str, *more: str) -> Result:
    return CliRunner().invoke(
        group, ["run", "apple_price", "--scenarios", "mine.yaml", "--agent", "reference", "--out", out, *more]
    )


def price(place: Path, out: str) -> float:
    (log,) = (place / out / "logs").glob("*.jsonl")
    (call,) = (e for e in read_trajectory(log).events if isinstance(e, ToolCall) and e.tool == "search_stock")
    return call.result["price"]


def test_live_sources_answer_are_recorded_and_replayed(place: Path) -> None:
    assert run("live", "--knowledge", "live_sources:make", "--record", "tape.jsonl").exit_code == 0
    assert price(place, "live") == 1234.5
    assert json.loads((place / "tape.jsonl").read_text().splitlines()[-1])
    assert run("again", "--replay", "tape.jsonl").exit_code == 0
    assert price(place, "again") == 1234.5


def test_without_them_the_offline_sources_answer(place: Path) -> None:
    run("offline")
    assert price(place, "offline") != 1234.5


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--record", "tape.jsonl"), "--record needs live sources"),
        (("--replay", "t", "--knowledge", "live_sources:make"), "--replay takes every answer from the recording"),
        (("--knowledge", "no_such_module:make"), "module 'no_such_module' cannot be imported"),
        (("--knowledge", "live_sources:missing"), "module 'live_sources' has no 'missing'"),
        (("--knowledge", "live_sources:OfflineStocks"), "gives a OfflineStocks; expected a Knowledge"),
        (("--replay", "mine.yaml"), "mine.yaml"),
    ],
)
def test_options_that_do_not_fit(place: Path, options: tuple[str, ...], problem: str) -> None:
    error = run("out", *options).exception
    assert isinstance(error, SandboxError)
    assert problem in str(error)
