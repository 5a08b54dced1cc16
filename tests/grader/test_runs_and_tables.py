"""Runs from folders and from files, compared; and scores as CSV, JUnit and JSON."""

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from sandbox_grader.errors import GraderError
from sandbox_grader.runs import GradedRun, GradedSession, certainty, compare_graders, compare_runs, read_run
from sandbox_grader.tables import write_scores
from sandbox_scenarios import Suite

from sandbox_mcp.cli import group
from sandbox_mcp.session import Session as LiveSession
from sandbox_mcp.session import SessionSpec
from sandbox_mcp.trajectory import LogWriter
from sandbox_mcp.users import ScriptedUser

WIFI_OFF = Suite().get("wifi_off")


def record(folder: Path, *, trial: int = 0, does_it: bool = True, ends: bool = True) -> Path:
    """Play one session of a known scenario and leave its log in ``folder``."""
    import anyio

    path = folder / f"trial{trial}.jsonl"
    with LogWriter(path) as log:
        session = LiveSession(SessionSpec(WIFI_OFF, trial=trial), ScriptedUser(WIFI_OFF.user.script), log)
        session.begin()
        if does_it:
            session.call("set_wifi_status", {"on": False})
        if ends:
            anyio.run(session.say, "Wifi is now off.")
    return path


def find(name: str) -> object:
    return Suite().get(name)


def invoke(*arguments: str | Path) -> tuple[int, str]:
    done = CliRunner().invoke(group, [str(argument) for argument in arguments])
    return done.exit_code, done.output


def scored_session(scenario: str) -> dict[str, object]:
    """One session with a full score as ``grade --json`` prints it."""
    metrics = {"toolsandbox": {"score": 1.0}}
    return {"id": scenario, "scenario": scenario, "variant": "base", "trial": 0, "scored": True, "metrics": metrics}


@pytest.fixture
def good(tmp_path: Path) -> Path:
    folder = tmp_path / "good"
    for trial in range(2):
        record(folder, trial=trial)
    return folder


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    folder = tmp_path / "bad"
    record(folder, trial=0, does_it=False)
    record(folder, trial=1)
    return folder


def test_a_folder_and_its_scores_are_the_same_run(good: Path, tmp_path: Path) -> None:
    out = tmp_path / "scores.json"
    assert invoke("grade", good, "--out", out)[0] == 0
    assert read_run(out, find).outcomes == read_run(good, find).outcomes


def test_certainty_names_what_flips(bad: Path) -> None:
    found = certainty(read_run(bad, find))
    assert found["flaky"] == ["wifi_off/base"]
    assert found["pass@2"]["mean"] == 1.0
    assert found["pass^2"]["mean"] == 0.0


def test_compare_says_which_run_is_better(good: Path, bad: Path) -> None:
    code, output = invoke("compare", bad, good, "--json")
    found = json.loads(output)
    assert code == 0
    assert found["difference"]["mean"] == pytest.approx(0.5)
    assert found["better"] == ["wifi_off/base"]


def test_compare_prints_a_table(good: Path, bad: Path) -> None:
    code, output = invoke("compare", bad, good)
    assert code == 0
    assert "one scenario, no interval" in output
    assert "McNemar p = 1" in output


def test_compare_says_where_nothing_varied(tmp_path: Path) -> None:
    sessions = [scored_session(name) for name in ("a", "b")]
    path = tmp_path / "scores.json"
    path.write_text(json.dumps({"mode": "strict", "sessions": sessions}))
    assert json.loads(invoke("compare", path, path, "--json")[1])["smallest_detectable"] is None
    assert "nothing varied from scenario to scenario, so the smallest difference" in invoke("compare", path, path)[1]


def test_sessions_of_only_one_run_are_told(good: Path, bad: Path) -> None:
    record(good, trial=2)
    found = compare_runs(read_run(bad, find), read_run(good, find))
    assert found["warnings"] == ["left out: 1 session that only one of the runs scored"]


def test_runs_of_different_modes_are_told() -> None:
    session = GradedSession("a", "a/base", 0, 1.0)
    found = compare_runs(GradedRun("x", "strict", (session,)), GradedRun("y", "compat", (session,)))
    assert found["warnings"] == ["graded in different modes: strict and compat"]


def test_two_gradings_of_one_run_show_what_flipped_and_why() -> None:
    old = GradedRun(
        "old", "strict", (GradedSession("a", "a/base", 0, 1.0, ("met",)), GradedSession("b", "b/base", 0, 1.0))
    )
    new = GradedRun(
        "new", "strict", (GradedSession("a", "a/base", 0, 0.5, ("missed",)), GradedSession("b", "b/base", 0, 1.0))
    )
    assert compare_graders(old, new) == [{"id": "a", "old": 1.0, "new": 0.5, "gone": ["met"], "come": ["missed"]}]


def test_gradings_of_different_runs_are_refused() -> None:
    with pytest.raises(GraderError, match="not two gradings of one run: a in only one"):
        compare_graders(GradedRun("x", "strict", (GradedSession("a", "a/base", 0, 1.0),)), GradedRun("y", "strict", ()))


def test_scores_of_a_folder_with_an_unreadable_log_say_so_when_compared(good: Path, tmp_path: Path) -> None:
    (good / "broken.jsonl").write_text("hello\n")
    out = tmp_path / "scores.json"
    assert invoke("grade", good, "--out", out)[0] == 2
    (warning,) = read_run(out, find).warnings
    assert "is no trajectory log: not JSON" in warning


def test_a_file_without_scores_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    path.write_text("[]")
    with pytest.raises(GraderError, match="holds no scores; expected what 'grade --json' prints"):
        read_run(path, find)


def test_a_threshold_that_is_missed_gives_exit_code_1(bad: Path) -> None:
    code, output = invoke("grade", bad, "--threshold", "0.9")
    assert code == 1
    assert "below the threshold 0.9" in output


def test_a_threshold_that_is_met_gives_exit_code_0(good: Path) -> None:
    assert invoke("grade", good, "--threshold", "0.9")[0] == 0


def test_csv_has_a_row_per_session(good: Path, tmp_path: Path) -> None:
    out = tmp_path / "scores.csv"
    invoke("grade", good, "--out", out)
    table = list(csv.DictReader(io.StringIO(out.read_text())))
    assert [row["toolsandbox.score"] for row in table] == ["1.0", "1.0"]
    assert table[0]["scenario"] == "wifi_off"


def test_junit_fails_what_did_not_score_fully(bad: Path, tmp_path: Path) -> None:
    out = tmp_path / "scores.xml"
    invoke("grade", bad, "--out", out)
    suite = ElementTree.parse(out).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "1", "0")


def test_junit_skips_what_was_not_scored(tmp_path: Path) -> None:
    record(tmp_path / "logs", ends=False)
    out = tmp_path / "scores.xml"
    invoke("grade", tmp_path / "logs", "--out", out)
    assert ElementTree.parse(out).getroot().get("skipped") == "1"


def test_parquet_holds_the_same_rows(good: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the parquet extra is not installed")
    out = tmp_path / "scores.parquet"
    invoke("grade", good, "--out", out)
    assert parquet.read_table(out).column("toolsandbox.score").to_pylist() == [1.0, 1.0]


def test_an_unknown_form_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GraderError, match=r"unknown form '\.txt'; expected \.json, \.csv, \.xml"):
        write_scores(tmp_path / "scores.txt", [], {})


def test_junit_holds_whatever_a_broken_agent_wrote(good: Path, tmp_path: Path) -> None:
    [log, *_] = sorted(good.iterdir())
    *lines, end = log.read_text().splitlines()
    broken = {**json.loads(end), "reason": "agent_failed", "detail": "\x1b[31mno\x00 \ufffe model\x1b[0m"}
    log.write_text("\n".join([*lines, json.dumps(broken)]) + "\n")
    code, _ = invoke("grade", log, "--out", tmp_path / "scores.xml")
    [skipped] = ElementTree.fromstring((tmp_path / "scores.xml").read_text()).iter("skipped")
    assert (code, "[31mno  model[0m" in skipped.attrib["message"]) == (0, True)


def test_two_sessions_of_the_same_place_are_refused() -> None:
    twice = GradedRun("a", "strict", (GradedSession("s1", "x/base", 0, 1.0), GradedSession("s2", "x/base", 0, 0.0)))
    once = GradedRun("b", "strict", (GradedSession("s1", "x/base", 0, 1.0),))
    with pytest.raises(GraderError, match="has 'x/base', trial 0, twice"):
        compare_runs(twice, once)


def test_a_score_that_is_no_number_is_refused(tmp_path: Path) -> None:
    session = {**scored_session("x"), "metrics": {"toolsandbox": {"score": "1.0"}}}
    (tmp_path / "scores.json").write_text(json.dumps({"mode": "strict", "sessions": [session]}))
    with pytest.raises(GraderError, match=r"the score '1\.0' is no number"):
        read_run(tmp_path / "scores.json", find)
