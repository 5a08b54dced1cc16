"""A real server as the world: started afresh, seen by its own tools, judged by its state, and graded without it."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sandbox_grader import grade
from sandbox_grader.milestones.baselines import refusing
from sandbox_scenarios import Suite
from sandbox_scenarios.errors import ScenarioFileError

from sandbox_mcp.app.authoring.learning import learn
from sandbox_mcp.app.cli import group
from sandbox_mcp.app.run.by_hand import PlayableSuite
from sandbox_mcp.engine.trajectory import ToolCall, Trajectory
from sandbox_mcp.engine.worlds import FILES
from sandbox_mcp.engine.worlds.recorded.live import in_folder, names_folder
from sandbox_mcp.engine.worlds.recorded.observed import Mask, Observation
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from sandbox_mcp.play.session.replay import differences
from tests.each import each

HERE = Path(__file__).parent


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of this folder whose scenarios start their servers with this Python; its name is like a session's."""
    monkeypatch.setenv(FILES, "")
    place = tmp_path / "sandbox-mcp"
    shutil.copytree(HERE, place, ignore=shutil.ignore_patterns("*.py[co]", "__pycache__", "test_*"))
    for path in place.glob("*.yaml"):
        path.write_text(path.read_text().replace("server: python", f"server: {sys.executable}"))
    return place


def invoke(*args: object) -> Result:
    return CliRunner().invoke(group, [str(arg) for arg in args])


def calls(log: Trajectory) -> list[ToolCall]:
    return [event for event in log.events if isinstance(event, ToolCall) and event.caller == "agent"]


def test_nothing_is_started_by_reading_a_file(folder: Path):
    with pytest.raises(ScenarioFileError, match=r"nothing is known yet of the server .* worlds learn"):
        Suite([folder / "lamps.yaml"]).get("light_the_kitchen")
    assert not list(folder.glob("*.jsonl"))


@each(
    ("words", "real"),
    [
        ("ls /sandbox", "ls /tmp/x1"),
        ("cat '/sandbox/a.txt' --out=/sandbox/b", "cat '/tmp/x1/a.txt' --out=/tmp/x1/b"),
        ("It lies in /sandbox. Look there.", "It lies in /tmp/x1. Look there."),
        ("/home/me/sandbox/python", "/home/me/sandbox/python"),
        (
            "/home/me/sandbox-mcp/python /sandbox-mcp {here}/sandbox",
            "/home/me/sandbox-mcp/python /sandbox-mcp {here}/sandbox",
        ),
    ],
)
def test_a_sessions_folder_is_meant_by_the_whole_path_alone(words: str, real: str) -> None:
    assert in_folder(words, "/tmp/x1") == real
    assert names_folder(words) == (words != real)


class TestLamps:
    """A server with state in its process, and no word on which of its tools look."""

    def test_state_is_what_its_tools_say_and_each_session_begins_afresh(self, folder: Path):
        learn([folder / "lamps.yaml"], lambda _: None)
        scenario = Suite([folder / "lamps.yaml"]).get("light_the_kitchen")
        for _ in range(2):
            log = RehearsalStage(scenario).rehearse(scenario.solutions[0]).log
            assert log.started.world is not None
            assert log.started.world["list_lamps"]["kitchen"]["lit"] is False
            [lit] = calls(log)
            [change] = [change for change in lit.changes if change.table == "list_lamps"]
            assert change.after is not None
            assert change.after["lit"] is True
            assert grade(log, scenario).score == 1.0
        assert grade(refusing(scenario), scenario).score == 0.0

    def test_what_was_not_asked_for_is_seen(self, folder: Path):
        learn([folder / "lamps.yaml"], lambda _: None)
        with PlayableSuite([folder / "lamps.yaml"])["light_the_kitchen"].open() as at_hand:
            at_hand.call("set_lamp", name="kitchen", lit=True)
            at_hand.call("set_lamp", name="hall", lit=False)
            scenario = Suite([folder / "lamps.yaml"]).get("light_the_kitchen")
            assert grade(at_hand.log, scenario).score < 1.0

    def test_a_refusal_of_the_server_is_told_to_the_agent(self, folder: Path):
        learn([folder / "lamps.yaml"], lambda _: None)
        with PlayableSuite([folder / "lamps.yaml"])["light_the_kitchen"].open() as at_hand:
            found = at_hand.session.call("set_lamp", {"name": "cellar", "lit": True})
            assert found.error is not None
            assert "burnt out" in found.error

    def test_run_learns_plays_and_the_logs_are_graded_and_replayed_without_the_server(self, folder: Path):
        out = folder / "out"
        played = invoke("run", "light_the_kitchen", "which_lamps_are_lit", "--scenarios", folder / "lamps.yaml",
                        "--agent", "reference", "--threshold", "1", "--out", out)  # fmt: skip
        assert played.exit_code == 0, played.output
        (folder / "lamp_server.py").unlink()
        graded = invoke("grade", out, "--scenarios", folder / "lamps.yaml", "--threshold", "1", "--json")
        assert graded.exit_code == 0, graded.output
        replayed = invoke("replay", out, "--scenarios", folder / "lamps.yaml")
        assert replayed.exit_code == 0, replayed.output
        assert "agreeing with their replay: 2 of 2" in replayed.output


class TestRepairs:
    """A server whose ids and moments are random, and whose state lies in a folder."""

    def test_it_plays_in_a_folder_of_its_own_and_replays(self, folder: Path):
        made = learn([folder / "repairs.yaml"], lambda _: None)
        scenario = Suite([folder / "repairs.yaml"]).get("book_and_call_off")
        log = RehearsalStage(scenario).rehearse(scenario.solutions[0]).log
        assert grade(log, scenario).score == 1.0
        assert list(differences(log)) == []
        assert json.loads((folder / "repairs" / "repairs.json").read_text())[0]["status"] == "waiting"
        assert len(made) == 1

    def test_the_folder_has_one_name_for_all(self, folder: Path):
        learn([folder / "repairs.yaml"], lambda _: None)
        with PlayableSuite([folder / "repairs.yaml"])["book_and_call_off"].open() as at_hand:
            found = at_hand.session.call("call_off", {"id": "none"})
            assert found.error is not None
            assert "in /sandbox" in found.error

    def test_what_changes_by_itself_is_named_when_it_is_learned(self, folder: Path):
        text = (folder / "repairs_server.py").read_text()
        unsteady = "return [{**row, 'seen': time.time()} for row in load()]"
        (folder / "repairs_server.py").write_text(text.replace("return load()", unsteady))
        told: list[str] = []
        learn([folder / "repairs.yaml"], told.append)
        assert any("repairs answers the same question differently, in seen" in line for line in told)


def test_two_servers_stand_side_by_side_with_a_built_in_world(folder: Path):
    (folder / "both.yaml").write_text(
        f"""family: both
scenarios:
- name: both
  about: A lamp and a repair.
  categories: [multiple_tool_call, single_user_turn]
  world:
  - {{server: "{sys.executable} lamp_server.py", observe: [list_lamps], reads: [get_lamp, list_lamps]}}
  - server: {sys.executable} {{here}}/repairs_server.py /sandbox
    observe: [{{tool: repairs, by: item, columns: [item, status]}}]
    reads: [repairs]
  - travel
  clock: {{now: 2026-03-02 09:00:00, zone: Europe/Berlin}}
  tools: [set_lamp, book]
  user: {{goal: "Light, and a radio.", opening: "Kitchen lamp on, and book my radio.", knows: [], does_not_know: []}}
  reference:
  - turns:
    - calls:
      - {{tool: set_lamp, arguments: {{name: kitchen, lit: true}}}}
      - {{tool: book, arguments: {{item: radio}}}}
      reply: The kitchen lamp is on, and your radio is booked.
  milestones:
  - {{id: lit, table: list_lamps, updates: {{name: kitchen, lit: true}}}}
  - {{id: booked, table: repairs, adds: {{item: radio}}}}
"""
    )
    learn([folder / "both.yaml"], lambda _: None)
    scenario = Suite([folder / "both.yaml"]).get("both")
    log = RehearsalStage(scenario).rehearse(scenario.solutions[0]).log
    assert grade(log, scenario).score == 1.0
    assert list(differences(log)) == []


@each(
    ("result", "keys"),
    [
        ({"structuredContent": {"result": [{"id": 1, "on": True}, {"id": 2, "on": False}]}}, {"1", "2"}),
        ({"structuredContent": {"kitchen": {"on": True}, "hall": {"on": False}}}, {"kitchen", "hall"}),
        ({"content": [{"type": "text", "text": '[{"name": "a"}, {"name": "b"}]'}]}, {"a", "b"}),
        ({"content": [{"type": "text", "text": "On branch main"}]}, {"only"}),
        ({"structuredContent": {"result": ["x", "y", "x"]}}, {"x", "y", "x (2)"}),
        ({"structuredContent": {"result": []}}, set()),
        ({"content": [{"type": "text", "text": "no"}], "isError": True}, set()),
    ],
)
def test_rows_are_known_by_what_tells_them_apart(result: dict[str, Any], keys: set[str]):
    assert set(Observation("seen", "look", {}).rows(result, Mask.reading(()))) == keys


def test_what_is_masked_is_no_part_of_the_state():
    mask = Mask.reading(["at", r"/[0-9a-f]{7}/"])
    [row] = (
        Observation("seen", "look", {}, columns={"text": "string"})
        .rows({"structuredContent": {"text": "commit 1a2b3c4 done", "at": 5}}, mask)
        .values()
    )
    assert dict(row) == {"row": "only", "text": "commit [masked] done", "more": None}
