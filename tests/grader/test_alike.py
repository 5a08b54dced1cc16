"""Logs that differ in nothing but trial and times are graded once, and told the same as if each had been by itself."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sandbox_grader.grading.metric import Mode
from sandbox_grader.reporting.grade_logs import grade_logs
from sandbox_grader.reporting.many import LogOutline, grade_many
from sandbox_grader.reporting.report import Report
from sandbox_grader.reporting.scenario_of_log import SuiteFinder
from sandbox_scenarios import Suite

from sandbox_mcp.engine.trajectory import Message, Trajectory
from sandbox_mcp.engine.trajectory.log import all_lines
from tests.each import each
from tests.scenarios.playing import solved

FIND = SuiteFinder()
WALLS = ({"time": 100.0}, {"time": 101.25})


def lines(log: Trajectory, trial: int = 0, seconds: float = 1.0) -> bytes:
    """The log as that of another trial, which took so long."""
    ended = log.ended and replace(log.ended, wall={"time": 100.0 + seconds})
    session = f"{log.started.scenario}-base-s0-t{trial}"
    started = replace(log.started, session=session, trial=trial, wall={"time": 100.0})
    return all_lines(replace(log, started=started, ended=ended))


def outline(data: bytes) -> LogOutline:
    found = LogOutline.of(data)
    assert found is not None
    return found


def told(report: Report) -> str:
    return json.dumps({**report.to_json(), "paths": [item.path for item in report.sessions]}, sort_keys=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trials of scenarios of several worlds, those of one cut off, without an end, or with another reply."""
    found = tmp_path_factory.mktemp("logs")
    for place, name in enumerate(("wifi_off", "landlord_number", Suite().names("office")[0], "data_farola_rain")):
        for trial in range(12):
            (found / f"{place}-{trial}.jsonl").write_bytes(lines(solved(Suite().get(name)), trial, trial / 8))
    whole = (found / "0-3.jsonl").read_bytes()
    (found / "0-3.jsonl").write_bytes(whole[:-20])
    (found / "0-4.jsonl").write_bytes(whole[: whole.rindex(b'{"event":"end"')])
    (found / "0-5.jsonl").write_bytes(whole.replace(b"ifi is now off", b"ifi is still on"))
    return found


@each("mode", ["strict", "compat"])
@each("jobs", [1, 2])
def test_alike_or_not_each_log_is_told_what_it_would_be_by_itself(folder: Path, mode: Mode, jobs: int) -> None:
    paths = sorted(folder.glob("*.jsonl"))
    by_itself = grade_logs(paths, FIND, mode, skip_unreadable=True)
    assert told(grade_many(paths, FIND, mode, jobs=jobs)) == told(by_itself)
    assert told(grade_many(paths, FIND, mode, jobs=jobs)) == told(by_itself), "from what was kept"


@each("keep", [True, False])
def test_a_summary_is_the_same_without_the_details_that_it_does_not_count(folder: Path, keep: bool) -> None:
    paths = sorted(folder.glob("*.jsonl"))
    whole, light = (grade_many(paths, FIND, details=details, keep=keep, jobs=1) for details in (True, False))
    assert light.summary() == whole.summary()
    assert any(verdict.details for verdict in whole.sessions[0].verdicts.values())
    assert not any(light.sessions[0].verdicts[family].details for family in ("toolsandbox", "tooltalk", "toolscan"))


def test_trials_that_are_alike_are_graded_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graded: list[Path] = []

    def counting(paths: list[Path], *rest: Any, **options: Any) -> Report:
        graded.extend(paths)
        return grade_logs(paths, *rest, **options)

    monkeypatch.setattr("sandbox_grader.reporting.many.grade_logs", counting)
    grade_many(sorted(folder.glob("*.jsonl")), FIND, keep=False, jobs=1)
    assert len(graded) == 4 + 3, "one of each kind, and the three that were changed"


def test_trials_with_equal_events_have_the_same_outline_but_for_what_it_names() -> None:
    log = solved(Suite().get("wifi_off"))
    one, two = outline(lines(log, 3, 0.5)), outline(lines(log, 14, 2.0))
    assert one.rest == two.rest
    assert (one.session, one.trial, one.seconds) == ("wifi_off-base-s0-t3", 3, 0.5)
    assert (two.session, two.trial, two.seconds) == ("wifi_off-base-s0-t14", 14, 2.0)


@each("said", ['{"wall":{"time":1}}', '"wall":{"time":2}}\n', "wifi_off-base-s0-t0", "x\\"])
def test_what_was_said_counts_whatever_it_looks_like(said: str) -> None:
    log = solved(Suite().get("wifi_off"))
    first = log.events[0]
    assert isinstance(first, Message)
    others = [replace(log, events=(replace(first, content=text), *log.events[1:])) for text in (said, said + "!")]
    one, two = (outline(lines(other)) for other in others)
    assert one.rest != two.rest


@each("meta", [{"wall": {"time": 1.0}}, {"a": {"wall": {"time": 1.0}}}])
def test_an_object_named_wall_inside_an_event_counts(meta: dict[str, object]) -> None:
    log = solved(Suite().get("wifi_off"))
    first = log.events[0]
    assert isinstance(first, Message)
    other = replace(log, events=(replace(first, meta=meta), *log.events[1:]))
    assert outline(lines(other)).rest != outline(lines(log)).rest


@each("data", [b"", b"{}\n", b'{"event":"session","schema":1,"session":"a"}\n', b"nonsense"])
def test_what_is_not_written_as_ours_is_like_no_other(data: bytes) -> None:
    assert LogOutline.of(data) is None
