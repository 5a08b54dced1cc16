"""The commands for authors: lint, stats and new, with their exit codes and what they print where."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sandbox_scenarios import Suite

from sandbox_mcp.app.cli import group
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.engine.trajectory import LogWriter
from sandbox_mcp.engine.worlds import FILES
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from tests.suite import SUITE

CLAIMED = """\
family: mine
scenarios:
  - name: claimed
    extends: wifi_off
    about: Claiming is enough.
    user: {goal: You want wifi to be off., opening: Wifi off!}
    milestones:
      - {id: switched, table: setting, is: {wifi: false}}
      - {id: told, message: {content: {facts: [["off"]]}}}
"""


def run(*arguments: object) -> Result:
    return CliRunner().invoke(group, ["scenarios", *map(str, arguments)])


@pytest.fixture
def claimed(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(CLAIMED, encoding="utf-8")
    return path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A recorded session."""
    path = tmp_path / "session.jsonl"
    scenario = SUITE.get("forget_number")
    played = RehearsalStage(scenario).rehearse(scenario.solutions[0]).log
    with LogWriter(path) as writer:
        for event in (played.started, *played.events, *((played.ended,) if played.ended else ())):
            writer.write(event)
    return path


def test_lint_says_how_many_scenarios_it_looked_at_and_that_nothing_is_wrong() -> None:
    done = run("lint", "wifi_off", "forget_number", "forget_number_no_remov*")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "3 scenarios, 0 complaints\n"


def test_lint_complains_with_exit_code_1(claimed: Path) -> None:
    done = run("lint", "--scenarios", claimed)
    assert done.exit_code == 1
    assert done.stdout.startswith(f"{claimed}:9: claimed: milestone 'told' is a reply that rests on nothing")
    assert done.stdout.endswith("[reply_rests_on_nothing]\n")
    assert "1 scenario, 1 complaint" in done.stderr


def test_deep_lint_also_plays(claimed: Path) -> None:
    done = run("lint", "--deep", "--scenarios", claimed)
    assert done.exit_code == 1
    assert "[claim:1]" in done.stdout
    assert " mutants, " in done.stderr


def test_lint_as_json(claimed: Path) -> None:
    found = json.loads(run("lint", "--deep", "--json", "--scenarios", claimed).stdout)
    assert (found["scenarios"], found["mutants"] > 20) == (1, True)
    assert {"scenario", "file", "line", "rule", "problem", "mend", "mutant"} == set(found["complaints"][0])
    assert {item["mutant"] for item in found["complaints"]} >= {"", "claim:1"}


def test_a_mutant_is_shown_with_its_conversation_and_milestones() -> None:
    done = run("lint", "wifi_off", "--mutant", "undo:1:1")
    assert done.exit_code == 0
    assert done.stdout.startswith("An agent that in the end undoes what it achieved: set_wifi_status")
    assert "agent calls set_wifi_status(on=true)" in done.stdout
    assert "milestone wifi_off: 0.000" in done.stdout
    assert done.stdout.endswith("expected less than 1\n")


def test_what_voids_a_score_is_shown_too() -> None:
    shown = run("lint", "wifi_off", "--mutant", "unwanted:1:1").stdout
    assert "unwanted: remove_contact removed a row of contact" in shown
    assert shown.endswith("score 0.000, expected 0\n")


def test_a_minefield_that_was_hit_is_shown() -> None:
    shown = run("lint", "castle_in_miles_no_position", "--mutant", "mine:1:guessed:1").stdout
    assert "minefield guessed: hit" in shown


def test_a_mutant_belongs_to_one_scenario() -> None:
    done = run("lint", "--mutant", "idle")
    assert done.exit_code == 2
    assert "--mutant needs exactly one scenario" in done.stderr


def test_an_unknown_mutant_is_an_error_that_names_those_there_are() -> None:
    assert isinstance(run("lint", "wifi_off", "--mutant", "nothing").exception, RunError)


def test_stats_print_tables(claimed: Path) -> None:
    done = run("stats", "--scenarios", claimed)
    assert done.exit_code == 0
    for part in ("statistics", "categories", "columns", "tools", "scenarios that have", "similarity of tool names"):
        assert part in done.stdout


def test_stats_of_another_world_stand_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = Path(__file__).resolve().parents[1] / "worlds" / "declared"
    monkeypatch.setenv(FILES, str(declared / "ward.py"))
    done = run("stats", "--world", "ward", "--scenarios", declared / "ward.yaml")
    assert ("ward_three" in done.stdout, "ToolSandbox" in done.stdout) == (True, False)


def test_stats_of_an_unknown_world_are_no_zeros() -> None:
    assert "no scenario is of world 'zoo'" in str(run("stats", "--world", "zoo").exception)


def test_a_folder_without_scenarios_is_told_as_that(tmp_path: Path) -> None:
    assert "there are no scenarios here" in str(run("lint", "--scenarios", tmp_path).exception)


def test_stats_check_what_falls_short(claimed: Path) -> None:
    done = run("stats", "--check", "--scenarios", claimed)
    assert done.exit_code == 1
    assert done.stderr.startswith("short of published figures: test cases, ")


def test_stats_as_json(claimed: Path) -> None:
    found = json.loads(run("stats", "--json", "--scenarios", claimed).stdout)
    assert found["statistics"]["test cases"] == {"ours": 8, "toolsandbox": 1032}


def test_stats_write_a_page_and_its_picture(claimed: Path, tmp_path: Path) -> None:
    page = tmp_path / "suite.md"
    page.write_text("# Mine\n", encoding="utf-8")
    assert run("stats", "--markdown", page, "--scenarios", claimed).exit_code == 0
    assert page.read_text(encoding="utf-8").startswith("# Mine\n\n<!-- figures -->\n")
    assert (tmp_path / "suite.svg").read_text(encoding="utf-8").startswith("<svg")


def test_a_page_that_is_not_text_stays_as_it_is(claimed: Path, tmp_path: Path) -> None:
    (tmp_path / "suite.md").write_bytes(b"\xff\xfe")
    done = run("stats", "--markdown", tmp_path / "suite.md", "--scenarios", claimed)
    assert (done.exit_code, "suite.md is not UTF-8 text (byte 0)" in done.stderr) == (2, True)
    assert (tmp_path / "suite.md").read_bytes() == b"\xff\xfe"


def test_a_page_that_cannot_be_written_is_bad_usage(claimed: Path, tmp_path: Path) -> None:
    done = run("stats", "--markdown", tmp_path / "none" / "suite.md", "--scenarios", claimed)
    assert done.exit_code == 2
    assert "cannot be written" in done.stderr


def test_new_prints_a_draft(log: Path) -> None:
    done = run("new", "--from", log)
    assert done.exit_code == 0
    assert "- name: forget_number_draft\n" in done.stdout


def test_new_writes_a_draft_that_proves_itself_and_never_overwrites(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "draft.yaml"
    done = run("new", "--from", log, "--name", "drafted", "-o", out)
    assert done.exit_code == 0
    assert "its solution scores 1.000, and the user ends the conversation" in done.stderr
    assert Suite([out]).get("drafted").solutions
    again = run("new", "--from", log, "-o", out)
    assert again.exit_code == 2
    assert "exists already" in again.stderr


def test_new_says_where_it_cannot_write(log: Path, tmp_path: Path) -> None:
    done = run("new", "--from", log, "-o", tmp_path / "none" / "draft.yaml")
    assert done.exit_code == 2
    assert "cannot be written" in done.stderr


def listed(*arguments: object) -> list[str]:
    return [item["name"] for item in json.loads(run("list", *arguments, "--json").stdout)]


def test_a_scenario_is_found_by_any_words_of_its_task_in_any_order_and_case() -> None:
    goal = SUITE.get("late_for_dinner_low_battery").user.goal
    words = " ".join(sorted(goal.upper().split(), reverse=True)[:4])
    assert "late_for_dinner_low_battery" in listed("--search", words)


def test_a_scenario_is_found_by_a_tool_and_by_words_of_its_name() -> None:
    found = listed("--search", "set_wifi_status wifi off")
    assert "wifi_off" in found
    assert len(found) < len(listed())


def test_a_search_that_finds_nothing_says_what_to_try() -> None:
    done = run("list", "--search", "wifi zebra-in-space")
    assert (done.exit_code, "try fewer" in done.output) == (2, True)


def test_scenarios_are_listed_by_the_selectors_of_run() -> None:
    late = listed("late_*")
    assert late
    assert all(name.startswith("late_") for name in late)
    tagged = json.loads(run("list", "irrelevance:*", "--json").stdout)
    assert tagged
    assert all(any(tag.startswith("irrelevance:") for tag in item["tags"]) for item in tagged)


def test_selectors_and_words_narrow_each_other() -> None:
    assert set(listed("late_*", "--search", "battery")) < set(listed("late_*"))
