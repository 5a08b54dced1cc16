"""Commands that take logs find the scenario of an imported one in the same way, and judge the state that it has not."""

import csv
import io
import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sandbox_grader.exporters import exporter
from sandbox_scenarios.model import Solution

from sandbox_mcp.app.cli import group
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from tests.each import each
from tests.suite import SUITE


def called(*arguments: object) -> Result:
    done = CliRunner().invoke(group, [*map(str, arguments)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def chat(result: str) -> dict[str, Any]:
    function = {"name": "cancel_order", "arguments": '{"id": "ord_77f3"}'}
    return {
        "messages": [
            {"role": "user", "content": "Please cancel order A-1042."},
            {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": "1", "content": result},
            {"role": "assistant", "content": "It is cancelled."},
        ]
    }


@pytest.fixture
def drafted(tmp_path: Path) -> Path:
    """A folder with a log of other tools, imported, and the scenario drafted from it."""
    (tmp_path / "monday.json").write_text(json.dumps(chat('{"status": "cancelled"}')))
    called("scenarios", "new", "--from", tmp_path / "monday.json", "-o", tmp_path / "mine.yaml")
    called("import", "openai-chat", tmp_path / "monday.json", "-o", tmp_path / "logs")
    return tmp_path


def scored(*arguments: object) -> dict[str, Any]:
    return json.loads(called("grade", *arguments, "--json", "--no-bounds", "--no-keep").stdout)


def goals(*arguments: object, out: Path) -> list[str]:
    called("annotate", *arguments, "-o", out)
    return [row["goal"] for row in csv.DictReader(io.StringIO(out.read_text()))]


def test_a_scenario_drafted_from_a_log_is_its_scenario_in_every_command(drafted: Path) -> None:
    given = (drafted / "logs", "--scenarios", drafted / "mine.yaml")
    assert called("replay", *given).exit_code == 0
    assert scored(*given, "--verify")["score"] == 1
    assert goals(*given, out=drafted / "sheet.csv") == ["Please cancel order A-1042."]


def test_an_answer_that_the_tape_has_not_does_not_replay(drafted: Path) -> None:
    (drafted / "other.json").write_text(json.dumps(chat('{"status": "refused"}')))
    called("import", "openai-chat", drafted / "other.json", "-o", drafted / "others")
    given = (drafted / "others", "--scenarios", drafted / "mine.yaml")
    done = called("replay", *given)
    assert (done.exit_code, "outcome of cancel_order: recorded" in done.output) == (1, True)
    assert "not verified: event 2" in scored(*given, "--verify")["unscored"][0]["reason"]


def test_answers_of_each_trial_of_a_task_replay(tmp_path: Path) -> None:
    for name, answer in {"a": '{"id": "c_1"}', "b": '{"id": "c_2"}', "c": "null", "d": "Error: no such order"}.items():
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / f"{name}.json").write_text(json.dumps(chat(answer)))
    called("scenarios", "new", "--from", tmp_path / "in", "-o", tmp_path / "mine.yaml")
    called("import", "auto", tmp_path / "in", "-o", tmp_path / "logs")
    done = called("replay", tmp_path / "logs", "--scenarios", tmp_path / "mine.yaml")
    assert (done.exit_code, done.output.count(": agrees")) == (0, 4), done.output


def test_a_log_without_a_scenario_is_not_verified_and_the_others_are_graded(drafted: Path) -> None:
    done = called("replay", drafted / "logs")
    assert (done.exit_code, "name the file or folder with --scenarios" in done.output) == (2, True)
    assert "not verified" in scored(drafted / "logs", "--verify")["unscored"][0]["reason"]


@each("name", ["wifi_off@3", "colleagues_to_friends"])
def test_an_imported_session_of_ours_replays_in_the_world_of_its_instance(name: str, tmp_path: Path) -> None:
    scenario = SUITE.get(name)
    log = RehearsalStage(scenario).rehearse(scenario.solutions[0]).log
    (tmp_path / "log.json").write_text(json.dumps(exporter("openai-chat")(log)))
    called("import", "openai-chat", tmp_path / "log.json", "-o", tmp_path / "logs")
    assert called("replay", tmp_path / "logs").exit_code == 0
    assert scored(tmp_path / "logs", "--verify")["score"] == 1
    assert goals(tmp_path / "logs", out=tmp_path / "sheet.csv") == [scenario.user.goal]


@each(("answer", "score"), [("yes", 1.0), ("no", 0.5)])
def test_doubts_of_an_imported_session_are_settled_with_its_state(answer: str, score: float, tmp_path: Path) -> None:
    scenario = SUITE.get("mooring_debt")
    *turns, last = scenario.solutions[0].turns
    solution = Solution((*turns, replace(last, reply="I think it was 240 dollars.")))
    exported = exporter("openai-chat")(RehearsalStage(scenario).rehearse(solution).log)
    function = {"name": "TodoWrite", "arguments": "{}"}
    exported["messages"][1:1] = [
        {"role": "assistant", "tool_calls": [{"id": "todo", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "todo", "content": "noted"},
    ]
    (tmp_path / "log.json").write_text(json.dumps(exported))
    called("import", "openai-chat", tmp_path / "log.json", "-o", tmp_path / "logs")
    called("annotate", tmp_path / "logs", "--doubts", "-o", tmp_path / "doubts.csv")
    [row] = csv.DictReader(io.StringIO((tmp_path / "doubts.csv").read_text()))
    with (tmp_path / "doubts.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, row)
        writer.writeheader()
        writer.writerow({**row, "stated": answer})
    assert scored(tmp_path / "logs", "--verdicts", tmp_path / "doubts.csv")["score"] == score


@each("name", ["monday.json", "my logs"])
def test_the_commands_that_a_draft_ends_with_score_the_logs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = tmp_path / name
    place.parent.mkdir(exist_ok=True)
    if place.suffix:
        place.write_text(json.dumps(chat('{"status": "cancelled"}')))
    else:
        place.mkdir()
        (place / "a.json").write_text(json.dumps(chat('{"status": "cancelled"}')))
    told = called("scenarios", "new", "--from", name, "-o", "mine.yaml").stdout.splitlines()
    commands = [shlex.split(line)[1:] for line in told if line.startswith("sandbox-mcp ")]
    done = [called(*command, *(["--json", "--no-keep"] if command[0] == "grade" else [])) for command in commands]
    assert [command[0] for command in commands] == ["import", "grade"]
    assert json.loads(done[-1].stdout)["score"] == 1.0


def test_acts_that_were_sent_together_are_drafted_one_after_the_other(tmp_path: Path) -> None:
    log = chat('{"status": "cancelled"}')
    function = {"name": "transfer_order", "arguments": '{"to": "a human"}'}
    log["messages"][1]["tool_calls"].append({"id": "2", "type": "function", "function": function})
    log["messages"].insert(3, {"role": "tool", "tool_call_id": "2", "content": "Transferred"})
    (tmp_path / "a.json").write_text(json.dumps(log))
    done = called("scenarios", "new", "--from", tmp_path / "a.json", "-o", tmp_path / "mine.yaml")
    assert (done.exit_code, "its solution scores 1.000" in done.output) == (0, True), done.output
