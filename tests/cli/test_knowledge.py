"""Live sources, recorded and replayed through the command line."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sandbox_mcp.app.cli import group
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.trajectory import ToolCall, read_trajectory
from sandbox_mcp.engine.worlds import FILES

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
from sandbox_mcp.engine.worlds.phone.knowledge import Knowledge
from sandbox_mcp.engine.worlds.phone.knowledge.stocks import OfflineStocks

class Live:
    def search(self, query, now):
        return replace(OfflineStocks().search(query, now), price=1234.5)

def make():
    return Knowledge(stocks=Live())

def broken():
    return 1 / 0

nonsense = 5
"""
TIDES = '''
"""A harbour whose tides are known to it, or asked of a live source."""

import json
from pathlib import Path
from typing import Self

from sandbox_mcp import Id, Table, Tx, World, key
from sandbox_mcp.engine.tools import NoDataError, Sources, ToolFault


class Tides:
    """The offline table."""

    def height(self, port):
        return 2.5


class Measured(Tides):
    """What a gauge says."""

    def height(self, port):
        return 7.5


class Kept(Tides):
    """What a gauge said."""

    def __init__(self, path, source=None):
        self.path, self.source = path, source
        if source is None and not path.read_text().startswith("{"):
            raise ToolFault(f"{path} holds no tides")

    def height(self, port):
        if self.source is None:
            return json.loads(self.path.read_text())[port]
        found = self.source.height(port)
        self.path.write_text(json.dumps({port: found}))
        return found


class Ship(Table):
    """A ship."""

    id: Id[Self] = key()
    name: str


harbour = World(
    "harbour", tables=[Ship], knowledge=Tides,
    sources=lambda: Sources(Tides, lambda live, path: Kept(path, live), lambda path: Kept(path)),
)


@harbour.query
def get_tide(tx: Tx, port: str) -> float:
    """Get how high the water stands in a port, in metres."""
    return tx.knowledge.height(port)
'''
HARBOUR = """
family: harbour
scenarios:
  - name: how_high
    world: harbour
    clock: {now: 2026-03-02 09:00:00, zone: Europe/Berlin}
    categories: [single_tool_call, single_user_turn]
    tools: [get_tide]
    user: {goal: You want the tide in Husum., opening: How high is the water in Husum?}
    reference:
      - turns: [{calls: [{tool: get_tide, arguments: {port: Husum}, as: found}], reply: That is the tide.}]
    milestones:
      - {id: looked, tool: get_tide}
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


def tide(place: Path, out: str, *more: str) -> float:
    options = ["--world", "tides.py", "--scenarios", "harbour.yaml", "--agent", "reference", "--out", out, *more]
    played = CliRunner().invoke(group, ["run", "how_high", *options])
    assert (played.exit_code, played.exception) == (0, None)
    (log,) = (place / out / "logs").glob("*.jsonl")
    (call,) = (e for e in read_trajectory(log).events if isinstance(e, ToolCall) and e.caller == "agent")
    return call.result


class TestAnotherWorld:
    """Sources that a world of one's own declares are named, recorded and replayed like the phone's."""

    @pytest.fixture(autouse=True)
    def _harbour(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        (place / "tides.py").write_text(TIDES)
        (place / "harbour.yaml").write_text(HARBOUR)
        (place / "gauge.py").write_text(
            "from sandbox_mcp.engine.worlds import named\n\n\ndef read():\n    home = named('harbour')\n"
            "    return type(home.knowledge).__subclasses__()[0]()\n"
        )
        monkeypatch.setenv(FILES, "")
        yield
        sys.modules.pop("gauge", None)

    def test_live_sources_answer_are_recorded_and_replayed(self, place: Path) -> None:
        assert tide(place, "offline") == 2.5
        assert tide(place, "live", "--knowledge", "gauge:read", "--record", "tides.json") == 7.5
        assert tide(place, "again", "--replay", "tides.json") == 7.5

    def test_what_is_meant_for_the_phone_does_not_reach_it(self, place: Path) -> None:
        assert tide(place, "offline", "--knowledge", "live_sources:make") == 2.5

    def test_a_recording_that_no_world_reads_is_refused_by_all(self, place: Path) -> None:
        (place / "tides.json").write_text("high\n")
        options = [
            "--world",
            "tides.py",
            "--scenarios",
            "harbour.yaml",
            "--agent",
            "reference",
            "--replay",
            "tides.json",
        ]
        error = str(CliRunner().invoke(group, ["run", "how_high", "--out", "out", *options]).exception)
        assert "tides.json holds no tides" in error
        assert "not a record of a question" in error


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
        (("--knowledge", "live_sources:nonsense"), "gives a int; expected a Knowledge for the world 'phone'"),
        (("--knowledge", "live_sources:broken"), "'live_sources:broken' failed: ZeroDivisionError"),
        (("--replay", "mine.yaml"), "mine.yaml"),
    ],
)
def test_options_that_do_not_fit(place: Path, options: tuple[str, ...], problem: str) -> None:
    error = run("out", *options).exception
    assert isinstance(error, SandboxError)
    assert problem in str(error)
