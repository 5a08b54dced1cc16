"""A model that answers for a tape: asked over real HTTP, marked on the log, kept apart, and played again without it."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from click.testing import CliRunner, Result
from sandbox_scenarios import Suite
from sandbox_scenarios.stage import Stage

from sandbox_mcp.app.cli import group
from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.prompt import Prompt
from sandbox_mcp.app.endpoint.reply import Move
from sandbox_mcp.app.endpoint.server import running
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.tools.calling import call, present
from sandbox_mcp.engine.trajectory import MemoryLog, ToolCall, Trajectory, read_trajectory
from sandbox_mcp.engine.trajectory.finding import logs_at
from sandbox_mcp.engine.world import Clock, snapshot_of
from sandbox_mcp.engine.worlds import load, named
from sandbox_mcp.engine.worlds.recorded import Fill, FillQuestion, Fills, TapeError, world_on
from sandbox_mcp.play.session import Session, SessionSpec
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.session.tape_filling import looked_up
from sandbox_mcp.play.users import ScriptedUser
from tests.server.serving_kit import served

HERE = Path(__file__).parent
UNASKED = {"number": 5}


@dataclass(frozen=True)
class Standing:
    """A model that stands in for the server, and what it was told."""

    answer: Callable[[int], str]
    heard: list[str]

    async def decide(self, prompt: Prompt, tries: int) -> Move:
        self.heard.append(prompt.turns[-1].user)
        return Move(self.answer(len(self.heard)))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The lamps, of which some scenarios may be filled in: those that are played look at a lamp nobody recorded."""
    shutil.copy(HERE / "lamps.jsonl", tmp_path)
    text = (HERE / "lamps.yaml").read_text()
    filled = text.replace("{recorded: lamps.jsonl}", "{recorded: lamps.jsonl, fill: stand-in}")
    filled = filled.replace(
        "      - {tool: set_lamp", "      - {tool: get-lamp, arguments: {number: 5}}\n      - {tool: set_lamp", 1
    )
    (tmp_path / "lamps.yaml").write_text(filled.replace("light_the_second_lamp", "look_elsewhere_first"))
    (tmp_path / "plain.yaml").write_text(text.replace("dark_room", "other_room"))
    return tmp_path


@pytest.fixture
def heard() -> list[str]:
    return []


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, heard: list[str]) -> Iterator[None]:
    with running(Endpoint(Standing(lambda _: 'Sure: {"object": {"lit": true}}', heard))) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        yield


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(group, [str(argument) for argument in arguments])


def played(place: Path, out: str) -> Result:
    return invoke("run", "--scenarios", place, "--agent", "reference", "--out", place / out)


def log_of(place: Path, out: str) -> Trajectory:
    logs = map(read_trajectory, logs_at(place / out))
    return next(log for log in logs if log.started.scenario == "look_elsewhere_first")


def calls_of(log: Trajectory) -> list[ToolCall]:
    return [event for event in log.events if isinstance(event, ToolCall) and event.caller == "agent"]


@pytest.mark.usefixtures("model")
def test_a_filled_answer_is_marked_and_its_session_kept_apart(place: Path, heard: list[str]) -> None:
    done = played(place, "out")
    assert done.exit_code == 0, done.output
    assert "kept apart: 1 session in which a model answered for the tape, mean toolsandbox.score 1.000" in done.output
    calls = calls_of(log_of(place, "out"))
    assert [(call.result, call.meta.get("filled")) for call in calls if call.arguments == UNASKED] == [
        ({"lit": True}, "stand-in")
    ]
    assert [call.meta.get("filled") for call in calls if call.arguments != UNASKED] == [None] * 3
    [told] = heard
    assert "4711" not in told
    assert "You want lamp 2 lit" not in told
    graded = json.loads(invoke("grade", place / "out", "--scenarios", place, "--json").stdout)
    assert (graded["counts"]["scored"], graded["counts"]["unscored"]) == (1, 0)
    assert (graded["tapes"]["filled"], graded["tapes"]["score"]) == (1, 1.0)
    assert {item["scenario"]: item["reason"] for item in graded["sessions"]} == {
        "light_the_second_lamp": None,
        "look_elsewhere_first": "filled: a model answered 1 of 4 calls",
    }


@pytest.mark.usefixtures("model")
def test_what_was_filled_is_asked_once_and_replays_to_the_byte_without_the_model(
    place: Path, heard: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert played(place, "first").exit_code == 0
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert played(place, "second").exit_code == 0
    one, two = (
        [(call.result, call.error, call.meta) for call in calls_of(log_of(place, out))] for out in ("first", "second")
    )
    assert one == two
    assert len(heard) == 1
    monkeypatch.delenv("OPENAI_BASE_URL")
    replayed = invoke("replay", place / "first", "--world", place / "lamps.jsonl")
    assert replayed.exit_code == 0, replayed.output


@pytest.mark.usefixtures("model")
def test_prefixes_replay_without_the_model_too(place: Path, heard: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    prefixes = ("--mode", "prefix", "--out", place / "out")
    assert invoke("run", "look_elsewhere_first", "--scenarios", place, "--agent", "reference", *prefixes).exit_code == 0
    assert any(call.meta.get("filled") for call in calls_of(log_of(place, "out")))
    asked = len(heard)
    for model in ("http://127.0.0.1:9/v1", None):
        monkeypatch.setenv("OPENAI_BASE_URL", model) if model else monkeypatch.delenv("OPENAI_BASE_URL")
        replayed = invoke("replay", place / "out", "--scenarios", place)
        assert replayed.exit_code == 0, replayed.output
        assert len(heard) == asked


def test_a_model_that_gives_no_usable_answer_ends_the_session_unscored(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = ['{"text": "lit"}', "no idea"]
    with running(Endpoint(Standing(lambda asked: said[asked - 1], []))) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        done = invoke(
            "run", "look_elsewhere_first", "--scenarios", place, "--agent", "reference", "--out", place / "out"
        )
    ended = log_of(place, "out").ended
    assert ended is not None
    assert ended.reason == "world_failed"
    assert "'stand-in' gave no usable answer to get-lamp" in str(ended.detail)
    assert "not scored" in done.output
    assert not (place / "lamps.filled.jsonl").exists()


def test_without_a_key_a_scenario_that_is_to_be_filled_in_is_refused_in_one_line(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    done = played(place, "out")
    assert isinstance(done.exception, SandboxError)
    problem = "'look_elsewhere_first' lets 'stand-in' answer, which cannot be asked: set OPENAI"
    assert problem in str(done.exception)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    missing: Callable[[str], None] = lambda _: None  # noqa: E731 - as short as it is
    monkeypatch.setattr("sandbox_mcp.play.models.asking.find_spec", missing)
    problem = "'stand-in' answer, which cannot be asked: needs the package 'openai'; install it with: pip install"
    assert problem in str(played(place, "out").exception)
    manager = SessionManager(Suite([place / "lamps.yaml"]), log_dir=place / "logs")

    async def asked_for() -> Any:
        async with served(manager) as server:
            return await server.api("POST", "/api/sessions", {"scenario": "look_elsewhere_first"})

    answer = anyio.run(asked_for)
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "cannot_begin")
    assert problem in answer.json()["error"]["message"]
    assert list((place / "logs").iterdir()) == []


def test_nobody_is_asked_when_scenarios_are_tried(place: Path) -> None:
    scenario = Suite([place / "lamps.yaml"]).get("look_elsewhere_first")
    session = Session(SessionSpec(scenario), ScriptedUser.of(scenario.user), MemoryLog())
    session.begin()
    assert "NotRecordedError" in str(session.call("get-lamp", UNASKED).error)


def test_a_scenario_that_names_no_model_never_sees_what_one_answered(place: Path) -> None:
    suite = Suite([place])
    filled, plain = suite.get("look_elsewhere_first"), suite.get("light_the_second_lamp")
    assert filled.home.name == f"{plain.home.name}_filled"
    assert named(filled.home.name) is filled.home
    assert [world.name for world in load(place / "lamps.jsonl")] == [plain.home.name]
    assert looked_up(plain, None) is None
    assert Stage.of(plain).running.knowledge is None


def test_the_first_of_two_answers_in_the_file_counts_for_everybody(tmp_path: Path) -> None:
    tape = Suite([HERE / "lamps.yaml"]).get("light_the_second_lamp").home
    assert tape.name.startswith("recorded_lamps")
    question = FillQuestion(_tool(), ("get-lamp", "{}"), (("set_lamp", "{}"),), ())
    path = tmp_path / "lamps.filled.jsonl"

    def saying(text: str) -> Callable[[FillQuestion], Fill]:
        return lambda _: Fill({"content": [{"type": "text", "text": text}]}, "stand-in")

    one, two = Fills(path, saying("one")), Fills(path, saying("two"))
    late = _racing(path, question)
    assert one.to(question) == two.to(question) == Fills(path).to(question) == late.to(question)
    path.write_bytes(path.read_bytes() + b'{"kind": "fill", "tool"')
    other = FillQuestion(_tool(), ("get-lamp", '{"number": 1}'), (), ())
    assert Fills(path).to(other) is None
    assert Fills(path, saying("three")).to(other) == Fills(path).to(other) != None  # noqa: E711


def test_a_filled_answer_is_found_by_calls_that_spell_out_a_default_and_by_those_that_do_not(tmp_path: Path) -> None:
    tape = tmp_path / "dim.jsonl"
    given = {"type": "object", "properties": {"by": {"type": "integer", "default": 1}}}
    lines = [{"kind": "server", "tape": 1}, {"kind": "tool", "name": "dim", "inputSchema": given}]
    tape.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    answer = {"content": [{"type": "text", "text": "dimmed"}]}
    fill: Mapping[str, Any] = {
        "kind": "fill",
        "tool": "dim",
        "arguments": '{"by": 1}',
        "after": [],
        "model": "stand-in",
        "result": answer,
    }
    again = {**fill, "arguments": "{}", "after": [["dim", "{}"]]}
    (tmp_path / "dim.filled.jsonl").write_text(f"{json.dumps(fill)}\n{json.dumps(again)}\n", encoding="utf-8")
    world = world_on(tape, filled=True)
    stage = Stage(world, snapshot_of({}), Clock(0.0, "UTC", 1.0), ("any", "base", 0))
    offered = {"dim": present(world.agent_tools["dim"])}
    assert [call(stage.running, offered, "dim", given).result for given in ({}, {"by": 1.0})] == ["dimmed"] * 2


def test_a_line_without_what_belongs_to_an_answer_is_told_in_any_language(tmp_path: Path) -> None:
    path = tmp_path / "lamps.filled.jsonl"
    path.write_text('{ "tool": "' + "é" * 99 + '"}\n', encoding="utf-8")
    with pytest.raises(TapeError, match=r"other keys than tool, arguments, after, model and result: .*éé"):
        Fills(path).to(FillQuestion(_tool(), ("get-lamp", "{}"), (), ()))


def _racing(path: Path, question: FillQuestion) -> Fills:
    """One that asked before the file had anything, and is answered after another one was."""

    def slow(_: FillQuestion) -> Fill:
        Fills(path, lambda _: Fill({"content": []}, "first")).to(question)
        return Fill({"content": []}, "late")

    found = Fills(path, slow)
    answer = found.to(question)
    assert answer is not None
    assert answer.model == "first"
    return found


def _tool() -> Any:
    from sandbox_mcp.engine.worlds.recorded import TapeTool

    listed: Mapping[str, Any] = {"name": "get-lamp", "inputSchema": {"type": "object"}}
    return TapeTool("get-lamp", listed)


@pytest.mark.parametrize("written", ["{recorded: lamps.jsonl, fill: 5}", "{recorded: lamps.jsonl, fill: ' '}"])
def test_a_fill_that_names_no_model_is_told_with_its_line(place: Path, written: str) -> None:
    path = place / "plain.yaml"
    path.write_text(path.read_text().replace("{recorded: lamps.jsonl}", written))
    with pytest.raises(SandboxError, match=r"plain\.yaml:5: .*expected the name of a model"):
        Suite([path]).all()


def test_a_manager_asks_the_model_only_for_scenarios_that_name_one(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    suite = Suite([place])
    manager = SessionManager(suite)
    for name, kind in (("look_elsewhere_first", Fills), ("light_the_second_lamp", type(None))):
        scenario = suite.get(name)
        opened = manager.create(SessionSpec(scenario), ScriptedUser.of(scenario.user))
        assert isinstance(opened.session.world.knowledge, kind)


@pytest.mark.usefixtures("model")
def test_a_run_may_fill_in_tapes_whose_scenarios_name_no_model(place: Path, heard: list[str]) -> None:
    path = place / "lamps.yaml"
    path.write_text(path.read_text().replace(", fill: stand-in", ""))
    for out, more in (("plain", ()), ("filled", ("--fill", "stand-in"))):
        invoke("run", "look_elsewhere_first", "--scenarios", path, "--agent", "reference", "--out", place / out, *more)
    assert len(heard) == 1
    told = {out: invoke("grade", place / out, "--scenarios", path).output for out in ("plain", "filled")}
    assert "not on the tape: 1 call in 1 session" in told["plain"]
    assert "kept apart: 1 session in which a model answered for the tape" in told["filled"]
    assert "kept apart" not in told["plain"]
    graded = json.loads(invoke("grade", place / "plain", place / "filled", "--scenarios", path, "--json").stdout)
    assert graded["counts"]["scored"] == 1
    assert {name: graded["tapes"][name] for name in ("filled", "unrecorded_calls")} == {
        "filled": 1,
        "unrecorded_calls": 1,
    }
