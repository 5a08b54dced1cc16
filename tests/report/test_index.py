"""The index: what it lists, what it finds, and that it reads a log once."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandbox_clients.reference import RefuseAgent

from sandbox_mcp.app.report.errors import ReportError
from sandbox_mcp.app.report.filters import FilterError
from sandbox_mcp.app.report.index import ORDERS, Index
from sandbox_mcp.app.report.overview import overview
from sandbox_mcp.app.report.run_sources import find_runs
from tests.each import each
from tests.report.sessions import FEW, a_run, find


def test_runs_are_found_by_their_manifests(two_runs: Path) -> None:
    assert [source.key for source in find_runs([two_runs])] == ["mediocre", "reference"]


def test_a_path_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"nowhere' does not exist; expected the folder of a run"):
        find_runs([tmp_path / "nowhere"])


def test_runs_of_one_name_are_told_apart_by_the_folders_above_them(tmp_path: Path) -> None:
    for place in ("a/first", "b/first", "c/b/first"):
        a_run(tmp_path / place, scenarios=("wifi_off",))
    assert [source.key for source in find_runs([tmp_path])] == ["first", "first in b", "first in c/b"]


def test_logs_beside_runs_that_belong_to_none_are_runs_as_well(tmp_path: Path) -> None:
    a_run(tmp_path / "run", scenarios=("wifi_off",))
    [log] = (tmp_path / "run" / "logs").iterdir()
    for place in (tmp_path / "imported", tmp_path / "imported" / "more", tmp_path):
        place.mkdir(exist_ok=True)
        (place / f"of_{place.name}.jsonl").write_bytes(log.read_bytes())
    found = find_runs([tmp_path])
    assert {source.path: [Path(path).name for path, _ in source.logs()] for source in found} == {
        tmp_path / "run": [log.name],
        tmp_path: [f"of_{tmp_path.name}.jsonl"],
        tmp_path / "imported": ["of_imported.jsonl"],
        tmp_path / "imported" / "more": ["of_more.jsonl"],
    }


def test_logs_of_one_name_in_several_folders_are_sessions_of_their_own(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run", scenarios=("wifi_off",))
    [log] = (run / "logs").iterdir()
    for folder in ("one", "other", "other/more"):
        (tmp_path / "imported" / folder).mkdir(parents=True)
        (tmp_path / "imported" / folder / "session.jsonl").write_bytes(log.read_bytes())
    index = Index(None, find)
    list(index.add(find_runs([tmp_path / "imported"])))
    names = ["imported:one/session", "imported:other/more/session", "imported:other/session"]
    assert [row["id"] for row in index.rows("imported", sort="scenario")] == names
    assert [index.session(name) is not None for name in names] == [True] * 3
    assert list(index.add(find_runs([tmp_path / "imported"]))) == []
    single = tmp_path / "imported" / "one" / "session.jsonl"
    list(index.add(find_runs([single])))
    assert [row["id"] for row in index.rows("session.jsonl")] == ["session.jsonl:session"]
    assert index.total("imported") == 0


def test_a_manifest_of_another_program_is_left_aside(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run", scenarios=("wifi_off",))
    told = json.loads((run / "run.json").read_text())
    for change in ({"agent": "gpt"}, {"user": None}, {"scenarios": ["wifi_off"]}):
        (run / "run.json").write_text(json.dumps({**told, **change, "trials": "many"}))
        index = Index(None, find)
        list(index.add(find_runs([run])))
        [found] = overview(index, "")["runs"]
        assert (found["agent"], found["trials"], found["counts"]["scored"]) == ("", 1, 1)


def test_an_index_in_a_file_keeps_nobody_waiting(tmp_path: Path) -> None:
    run, place = a_run(tmp_path / "run", scenarios=("wifi_off",)), tmp_path / "index.sqlite"
    first = Index(place, find)
    list(first.add(find_runs([run])))
    a_run(tmp_path / "other", scenarios=("wifi_off",))
    first.known(find_runs([tmp_path]))
    other = Index(place, find)
    other.store.execute("PRAGMA busy_timeout = 0")
    other.known(find_runs([run]))
    assert [source.key for source in first.runs()] == ["run"]


def test_every_session_is_listed_worst_first(index: Index) -> None:
    scores = [row["score"] for row in index.rows("mediocre")]
    assert len(scores) == 2 * len(FEW)
    assert scores[-1] == max(scores)


def test_a_session_that_did_not_pass_says_why(index: Index) -> None:
    failed = index.rows("mediocre", "is:failed")
    assert failed
    assert all(row["cause"] and row["cause_group"] for row in failed)


def test_a_passed_session_has_no_cause(index: Index) -> None:
    assert {(row["state"], row["cause"]) for row in index.rows("reference")} == {("passed", "")}


@each(
    ("query", "names"),
    [
        ("scenario:wifi", {"wifi_off"}),
        ("tool:set_wifi_status", {"wifi_off"}),
        ("category:multiple_user_turn scenario:friends", {"colleagues_to_friends"}),
        ("score:>=1 scenario:wifi", {"wifi_off"}),
        ("score:<0", set()),
        ("score:0.99999999999 scenario:wifi", {"wifi_off"}),
        ("is:PASSED scenario:wifi run:reference", {"wifi_off"}),
        ("Wifi:off", {"wifi_off"}),
        ('"landlord"', {"landlord_number"}),
        ("scenario:%", set()),
    ],
)
def test_filters(index: Index, query: str, names: set[str]) -> None:
    assert {row["scenario"] for row in index.rows("reference", query)} == names


@each(("query", "told"), [("size:3", "unknown key 'size'; known:"), ("score:<x", "expected a number")])
def test_a_filter_that_cannot_be_used_says_why(index: Index, query: str, told: str) -> None:
    with pytest.raises(FilterError, match=told):
        index.rows("reference", query)


@given(query=st.text(max_size=60), sort=st.sampled_from([*ORDERS, "nonsense"]))
def test_no_filter_breaks_the_index(index: Index, query: str, sort: str) -> None:
    try:
        assert len(index.rows("mediocre", query, sort)) == index.total("mediocre", query)
    except FilterError:
        return


def test_a_log_is_read_once_and_again_when_it_has_changed(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run", scenarios=("wifi_off",))
    index = Index(tmp_path / "index.sqlite", find)
    assert list(index.add(find_runs([run]))) == [(1, 1)]
    assert list(index.add(find_runs([run]))) == []
    (log,) = (run / "logs").iterdir()
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    log.write_text("".join(lines[:-1]), encoding="utf-8")
    assert list(index.add(find_runs([run]))) == [(1, 1)]
    assert [row["ending"] for row in index.rows("run")] == ["cut off"]


def test_an_index_that_was_kept_shows_what_is_asked_for_and_there_now(tmp_path: Path) -> None:
    one = a_run(tmp_path / "a" / "run", scenarios=("wifi_off", "landlord_number"))
    other = a_run(tmp_path / "b" / "run", scenarios=("landlord_number",))
    index = Index(tmp_path / "index.sqlite", find)
    list(index.add(find_runs([tmp_path / "a"])))
    next((one / "logs").glob("wifi*")).unlink()
    list(index.add(find_runs([tmp_path / "a"])))
    assert [row["scenario"] for row in index.rows("run")] == ["landlord_number"]
    list(index.add(find_runs([other])))
    assert [source.path for source in index.runs()] == [other]
    assert index.total("run") == 1


def test_an_index_kept_in_a_file_is_there_the_next_time(tmp_path: Path) -> None:
    run, place = a_run(tmp_path / "run", scenarios=("wifi_off",)), tmp_path / "index.sqlite"
    first = Index(place, find)
    list(first.add(find_runs([run])))
    first.close()
    assert [row["scenario"] for row in Index(place, find).rows("run")] == ["wifi_off"]


@each("place", ["text.db", "folder", "nowhere/index.db"])
def test_a_file_that_cannot_be_an_index_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "text.db").write_text("This is a diary and no database.\n" * 99, encoding="utf-8")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ReportError, match=f"{place}' cannot be used as an index"):
        Index(tmp_path / place, find)


def test_the_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "diary.db") as store:
        store.execute("CREATE TABLE sessions (of_mine TEXT)")
    with pytest.raises(ReportError, match="the database of something else"):
        Index(tmp_path / "diary.db", find)
    assert store.execute("SELECT of_mine FROM sessions").fetchall() == []


@each("name", ["broken.jsonl", "broken.jsonl.zst"])
def test_a_log_or_pack_that_cannot_be_read_is_a_row_that_says_so(tmp_path: Path, name: str) -> None:
    run = a_run(tmp_path / "run", scenarios=("wifi_off",))
    (run / "logs" / name).write_text("{}\n" * 9, encoding="utf-8")
    index = Index(None, find)
    list(index.add(find_runs([run])))
    (row,) = index.rows("run", "is:unscored")
    assert (row["scenario"].removesuffix(".jsonl"), row["cause_group"]) == ("broken", "cannot be read")


def test_a_scenario_that_passes_in_some_trials_is_flaky(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run", scenarios=("wifi_off",))
    a_run(tmp_path / "other", RefuseAgent(), scenarios=("wifi_off",))
    failed = next((tmp_path / "other" / "logs").iterdir()).read_text(encoding="utf-8")
    (run / "logs" / "wifi_off-base-s0-t1.jsonl").write_text(failed.replace('"trial":0', '"trial":1'), encoding="utf-8")
    index = Index(None, find)
    list(index.add(find_runs([run])))
    assert [row["flaky"] for row in index.rows("run", "is:flaky")] == [True, True]


def test_what_is_known_of_a_run_is_worked_out_again_only_when_a_session_comes(tmp_path: Path) -> None:
    a_run(tmp_path / "runs" / "one", scenarios=("wifi_off",))
    index = Index(tmp_path / "index.db", find)
    list(index.add(find_runs([tmp_path / "runs"])))
    [source] = index.runs()
    made: list[int] = []

    def work() -> dict[str, Any]:
        made.append(len(made))
        return {"made": len(made)}

    assert [index.kept(source, work)["made"] for _ in range(2)] == [1, 1]
    index.close()
    index = Index(tmp_path / "index.db", find)
    assert index.kept(source, work)["made"] == 1
    a_run(tmp_path / "runs" / "one", scenarios=("wifi_off", "landlord_number"))
    list(index.add(find_runs([tmp_path / "runs"])))
    assert index.kept(index.runs()[0], work)["made"] == 2
    index.close()


def test_a_session_that_has_changed_counts_as_it_is_now(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run", scenarios=("wifi_off",))
    index = Index(None, find)
    list(index.add(find_runs([run])))
    before = overview(index, "")["runs"][0]["counts"]
    (log,) = (run / "logs").iterdir()
    log.write_text("".join(log.read_text(encoding="utf-8").splitlines(keepends=True)[:4]), encoding="utf-8")
    list(index.add(find_runs([run])))
    assert (before["unscored"], overview(index, "")["runs"][0]["counts"]["unscored"]) == (0, 1)
    assert index.rows("run", "wifi_status") == []


def test_the_reference_is_a_ceiling_only_where_it_does_not_get_everything(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run")
    summary = run / "summary.json"
    told = []
    for score in (1.0, 0.9, None):
        bounds = {"ceiling": {"score": score}} if score else None
        summary.write_text(json.dumps({**json.loads(summary.read_text()), "bounds": bounds}))
        index = Index(None, find)
        list(index.add(find_runs([run])))
        told.append(overview(index, "")["runs"][0]["ceiling"])
    assert told == [None, 0.9, None]


def test_a_run_says_how_long_its_sessions_took(index: Index) -> None:
    assert all(run["seconds"] > 0 for run in overview(index, "")["runs"])
