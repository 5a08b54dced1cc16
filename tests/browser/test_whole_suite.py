"""The path of somebody who has never seen these pages, through a run of every scenario of the phone."""

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sandbox_mcp.app.report.index import Index
from sandbox_mcp.app.report.report_file import report
from sandbox_mcp.app.report.run_sources import find_runs
from tests.browser.test_pages import cursor, opened, shot
from tests.clients.sessions import SUITE
from tests.report.sessions import Mediocre, a_run, find

pytest.importorskip("playwright", reason="playwright is not installed: pip install playwright")  # before all is played


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    run = a_run(tmp_path_factory.mktemp("runs") / "mediocre", Mediocre(), scenarios=tuple(SUITE.names()))
    index = Index(None, find)
    list(index.add(find_runs([run])))
    return index


@pytest.fixture(scope="module")
def report_file(index: Index, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("report") / "report.html"
    place.write_text(report(index, "The whole suite"), encoding="utf-8")
    return place


def test_from_385_sessions_to_the_step_where_what_fails_most_went_wrong(
    page: Any, report_file: Path, index: Index
) -> None:
    began = time.monotonic()
    opened(page, report_file)
    first = page.locator(".ranked-milestone").first
    assert first.bounding_box()["y"] < 900, "it is on the first screen"
    worst = first.locator("b").inner_text()
    shot(page, "whole-suite")
    first.click()
    page.wait_for_selector(".session-head")
    shot(page, "whole-suite-session")
    took = time.monotonic() - began
    kinds = Counter(
        kind for row, facts in index.facts("mediocre") if row["score"] is not None for _, _, kind in facts["missed"]
    )
    del kinds[""]
    assert kinds[worst] == max(kinds.values())
    key = page.url.partition("#/s/")[2].partition("?")[0].replace("%3A", ":")
    _, scores, *_ = index.session(key) or pytest.fail("the session is not there")
    pointed = page.locator(".milestone.pointed").get_attribute("id").removeprefix("milestone-")
    [missed] = [item for item in scores.verdicts["toolsandbox"].details if item.get("id") == pointed]
    seqs = [missed["seq"], *(reason["seq"] for reason in missed["reasons"])]
    where = next((seq for seq in seqs if seq is not None), None)
    assert missed["effective"] < 1
    assert where is None or cursor(page) == where
    assert took < 60, "a stranger has a minute, and reads more slowly than this"


def test_the_file_stays_small(report_file: Path) -> None:
    assert report_file.stat().st_size < 3_000_000
