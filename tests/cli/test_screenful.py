"""What commands print fits a screen however many sessions there are, and says how to see the rest."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sandbox_mcp.app.cli import group
from tests.grader.test_runs_and_tables import record, scored_session

SCREEN = 42
"""Lines that a terminal of modest size shows."""
SESSIONS = 45
FAILED = 15
PLAYED = ("wifi_off*", "bread_*", "castle_*", "--agent", "refuse", "--variant", "base", "--variant", "all_tools")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    for trial in range(SESSIONS):
        record(folder, trial=trial, does_it=trial % 3 > 0)
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    folder = tmp_path_factory.mktemp("run")
    return folder, invoke(
        "run", "wifi_off*", "bread_*", "castle_*", "--agent", "refuse", "--trials", "2", "--out", folder
    )


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(group, [*map(str, arguments)])


def rows(text: str, name: str = "wifi_off") -> list[str]:
    return [line for line in text.splitlines() if line.startswith(name)]


def test_grading_shows_the_worst_and_says_how_to_see_the_others(logs: Path) -> None:
    shown = invoke("grade", logs).stdout
    assert len(shown.splitlines()) <= SCREEN
    assert len(rows(shown)) == 10
    assert f"10 of the {FAILED} that did not pass, of {SESSIONS}; --failed lists them, --all every one" in shown


def test_failed_and_all_list_more(logs: Path) -> None:
    assert len(rows(invoke("grade", logs, "--failed").stdout)) == FAILED
    assert len(rows(invoke("grade", logs, "--all").stdout)) == SESSIONS


def test_sessions_are_sorted_as_it_was_asked(logs: Path) -> None:
    scores = [float(row.split()[1]) for row in rows(invoke("grade", logs, "--all", "--sort", "score").stdout)]
    assert scores == sorted(scores)
    assert len(set(scores)) > 1


def test_every_figure_of_a_family_is_there_for_whoever_wants_it(logs: Path) -> None:
    assert "macro action_precision" not in invoke("grade", logs).stdout
    assert "macro action_precision" in invoke("grade", logs, "--all").stdout


def test_a_few_sessions_are_all_listed(tmp_path: Path) -> None:
    for trial in range(3):
        record(tmp_path, trial=trial)
    assert len(rows(invoke("grade", tmp_path).stdout)) == 3


def test_a_large_run_fits_a_screen(run: tuple[Path, Result]) -> None:
    _, played = run
    assert len(played.stdout.splitlines()) <= SCREEN
    assert len(played.stderr.splitlines()) <= SCREEN
    assert " that did not pass, of " in played.stdout


def test_a_large_run_is_listed_when_it_is_asked_for(run: tuple[Path, Result]) -> None:
    folder, _ = run
    again = invoke(
        "run", "wifi_off*", "bread_*", "castle_*", "--agent", "refuse", "--trials", "2", "--out", folder, "--all"
    )
    assert "wifi_off_polite" in again.stdout
    assert again.stderr.count("played before") > 20


def test_a_comparison_names_the_first_scenarios_that_differ(tmp_path: Path) -> None:
    names = [f"scenario_{number}" for number in range(60)]
    for run, score in (("a", 0.0), ("b", 1.0)):
        sessions = [{**scored_session(name), "metrics": {"toolsandbox": {"score": score}}} for name in names]
        (tmp_path / f"{run}.json").write_text(json.dumps({"mode": "strict", "sessions": sessions}))
    short, long = (
        invoke("compare", tmp_path / "a.json", tmp_path / "b.json", *options).stdout for options in ((), ("--all",))
    )
    assert "higher in B (60): scenario_0, " in short
    assert "and 50 more, which --all names" in short
    assert max(map(len, short.splitlines())) < 300
    assert all(name in long for name in names)


def test_quiet_shows_no_progress(tmp_path: Path) -> None:
    told = invoke("run", "wifi_off", "--agent", "reference", "--out", tmp_path, "--quiet").stderr
    assert told.splitlines() == ["honesty: 0 false claims in 1 session (0.000 a session)"]


@pytest.mark.parametrize(
    "command",
    [
        ("grade", "LOG"),
        ("compare", "LOG", "LOG"),
        ("table", "toolsandbox/table5", "LOG", "--quiet"),
        ("export", "training", "--min-score", "0", "LOG"),
    ],
    ids=lambda command: command[0],
)
def test_a_log_whose_scenario_is_not_known_says_where_to_name_it(command: tuple[str, ...], tmp_path: Path) -> None:
    log = record(tmp_path)
    log.write_text(log.read_text().replace('"wifi_off"', '"my_own"'))
    told = invoke(*(str(log) if part == "LOG" else part for part in command)).stderr
    assert "'my_own', which is not known here; name the file or folder with --scenarios PATH" in told
