"""What an index says of logs: the same as ``grade``, in however many processes, and worked out once."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sandbox_grader.reporting.grade_logs import read_report
from sandbox_grader.reporting.many import grade_many
from sandbox_grader.reporting.scenario_of_log import SuiteFinder

from sandbox_mcp.app.report import reading
from sandbox_mcp.app.report.index import Index
from sandbox_mcp.app.report.run_sources import find_runs
from sandbox_mcp.app.report.session_page import session_page
from sandbox_mcp.engine.trajectory import read_trajectory
from sandbox_mcp.engine.trajectory.finding import find_logs, log_stamp, stamped_logs
from sandbox_mcp.engine.trajectory.log import all_lines
from tests.report.sessions import FEW, a_run, find
from tests.trajectory.test_packs import log_of, packed

Rewrite = Callable[[Any], Any]


def rows(place: Path) -> list[dict[str, Any]]:
    """Everything that an index says of a folder's sessions."""
    index = Index(None, SuiteFinder())
    list(index.add(find_runs([place])))
    return [row for source in index.runs() for row in index.rows(source.key)]


def without_state(run: Path, place: Path) -> Path:
    """The sessions of a run as another harness would have logged them: without the world and its changes."""
    place.mkdir()
    for path in find_logs([run]):
        log = read_trajectory(path)
        events = tuple(replace(event, changes=()) if hasattr(event, "changes") else event for event in log.events)
        bare = replace(log, started=replace(log.started, world=None, clock={}), events=events)
        (place / path.name).write_bytes(all_lines(bare))
    return place


def test_sessions_without_state_score_as_grade_scores_them(tmp_path: Path) -> None:
    bare = without_state(a_run(tmp_path / "run"), tmp_path / "bare")
    graded = {scores.session: scores.value() for scores in read_report(bare, find).sessions}
    assert set(graded.values()) == {1.0}
    index = Index(None, find)
    list(index.add(find_runs([bare])))
    assert {row["id"].partition(":")[2]: row["score"] for row in index.rows("bare")} == graded


def test_the_page_of_a_session_without_state_has_the_state_that_was_rebuilt(tmp_path: Path) -> None:
    bare = without_state(a_run(tmp_path / "run", scenarios=("wifi_off",)), tmp_path / "bare")
    index = Index(None, find)
    list(index.add(find_runs([bare])))
    found = index.session("bare:wifi_off-base-s0-t0")
    assert found
    log = session_page(*found, "")["log"]
    assert log[0]["world"]["setting"]
    assert any(event.get("changes") for event in log)


def test_several_processes_say_what_one_says(two_runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = rows(two_runs)
    monkeypatch.setattr(reading, "ALONE", 1)
    monkeypatch.setattr(reading, "cores", lambda: 2)
    monkeypatch.setattr(reading, "TOGETHER", 4)
    assert rows(two_runs) == alone
    assert len(alone) == 3 * len(FEW)


@pytest.mark.parametrize("keeper", ["grade", "report"])
def test_scores_that_are_kept_are_not_worked_out_again(
    keeper: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = a_run(tmp_path / "run", trials=7)
    for kept in run.rglob(".scores.db"):
        kept.unlink()
    anew = rows(run)
    if keeper == "grade":
        for kept in run.rglob(".scores.db"):
            kept.unlink()
        grade_many(find_logs([run]), SuiteFinder())

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("graded again")

    monkeypatch.setattr(reading, "graded", refuse)
    assert rows(run) == anew


def test_a_scenario_file_that_cannot_be_used_is_the_reason_of_every_session(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run", scenarios=("wifi_off",))
    broken = tmp_path / "broken.yaml"
    broken.write_text("family: own\nscenarios:\n  - {name: wifi_off, user: 3}\n", encoding="utf-8")
    index = Index(None, SuiteFinder((broken,)))
    list(index.add(find_runs([run])))
    [row] = index.rows("run")
    assert row["state"] == "unscored"
    assert "broken.yaml" in row["cause"]


def test_logs_are_found_with_their_stamps(tmp_path: Path) -> None:
    packed(tmp_path / "deep" / "er", log_of("s0"), log_of("s1"))
    (tmp_path / "own.jsonl").write_bytes(log_of("own"))
    (tmp_path / "other.txt").write_text("not a log", encoding="utf-8")
    found = sorted(stamped_logs(tmp_path))
    assert found == sorted((str(log), log_stamp(log)) for log in find_logs([tmp_path]))
    assert list(stamped_logs(tmp_path / "own.jsonl")) == [found[-1]]
    assert list(stamped_logs(tmp_path / "nowhere")) == []
