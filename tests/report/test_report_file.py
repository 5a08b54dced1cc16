"""The file to mail: whole, small, and closed to whatever a log holds."""

import base64
import gzip
import json
import re
from pathlib import Path

from click.testing import CliRunner

from sandbox_mcp.app.cli import group
from sandbox_mcp.app.report import report_file
from sandbox_mcp.app.report.index import Index
from sandbox_mcp.app.report.report_file import report
from sandbox_mcp.app.report.run_sources import find_runs
from tests.report.sessions import FEW, find


def data_of(html: str) -> dict:
    packed = re.search(r'id="data" data-kind="embedded">([^<]*)<', html)
    assert packed
    return json.loads(gzip.decompress(base64.b64decode(packed[1])))


def test_nothing_of_a_log_stands_in_the_file_as_it_is(index: Index) -> None:
    html = report(index, "Two <runs>")
    assert html.count("<script") == 2
    assert "onerror" not in html
    assert "Two &lt;runs&gt;" in html


def test_nothing_is_loaded_from_anywhere(index: Index) -> None:
    html = report(index, "Runs")
    assert "default-src &#x27;none&#x27;; script-src &#x27;sha256-" in html
    assert not re.search(r"(src|href)=\"?https?:", html)


def test_the_same_logs_give_the_same_file_whichever_was_read_first(two_runs: Path) -> None:
    made: list[str] = []
    for order in (1, -1):
        index, sources = Index(None, find), find_runs([two_runs])
        todo, _ = index.unread(sources, index.known(sources))
        for read in [*index.reading.all(todo)][::order]:
            index.take(read)
        index.settle()
        made.append(report(index, "Runs"))
    assert made[0] == made[1]


def test_two_runs_are_compared_both_ways(index: Index) -> None:
    found = data_of(report(index, "Runs"))["comparisons"]
    assert found["mediocre/reference"]["difference"]["value"] == -found["reference/mediocre"]["difference"]["value"] > 0
    assert "5 sessions left out" in found["mediocre/reference"]["left_out"]


def test_of_many_sessions_those_that_failed_are_whole_and_the_file_says_so(index: Index, monkeypatch) -> None:
    monkeypatch.setattr(report_file, "WHOLE", 1)
    monkeypatch.setattr(report_file, "SAMPLE", 1)
    found = data_of(report(index, "Runs"))
    rows = {row["id"]: row for row in found["rows"]}
    assert all(row["detail"] for row in rows.values() if row["state"] != "passed")
    assert not all(row["detail"] for row in rows.values())
    assert {key for key, row in rows.items() if row["detail"]} == set(found["details"])
    assert all(run["sample"] for run in found["overview"]["runs"] if run["key"] == "reference")


def test_a_session_has_edges_reasons_and_names(index: Index) -> None:
    found = data_of(report(index, "Runs"))["details"]["reference:late_for_dinner_low_battery-base-s0-t0"]
    assert any(item["after"] for item in found["milestones"])
    assert found["labels"]
    assert found["brief"]["goal"] == found["goal"]


def test_the_command_writes_the_file_and_says_how_large_it_is(two_runs: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(group, ["report", str(two_runs / "reference"), "-o", str(tmp_path / "r.html")])
    assert done.exit_code == 0
    assert f"{len(FEW)} sessions" in done.stderr
    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_folder_without_logs_is_named(tmp_path: Path) -> None:
    done = CliRunner().invoke(group, ["report", str(tmp_path), "-o", str(tmp_path / "r.html")])
    assert "holds no log" in str(done.exception)


def test_a_log_that_cannot_be_read_is_named_and_the_others_are_shown(tmp_path: Path, two_runs: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text("{\n", encoding="utf-8")
    done = CliRunner().invoke(
        group, ["report", str(two_runs / "reference"), str(broken), "-o", str(tmp_path / "r.html")]
    )
    assert (done.exit_code, done.stderr.count("is not a trajectory log: not JSON")) == (2, 1)
    (tmp_path / "packs").mkdir()
    (tmp_path / "packs" / "broken-1.jsonl.zst").write_bytes(b"not a pack")
    packed = ["report", str(two_runs / "reference"), str(tmp_path / "packs"), "-o", str(tmp_path / "r.html")]
    before = CliRunner().invoke(group, packed)
    assert (before.exit_code, "broken-1.jsonl.zst: is not a pack of logs" in before.stderr) == (2, True)
    assert done.stderr.splitlines()[-1].split(",")[0] == before.stderr.splitlines()[-1].split(",")[0]
