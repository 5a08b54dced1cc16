"""A real browser, where the machine has one: Chromium of the system, driven by playwright."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox_mcp.app.report.index import Index
from sandbox_mcp.app.report.report_file import report
from sandbox_mcp.app.report.run_sources import find_runs
from tests.report.sessions import Mediocre, a_run, find

CHROMIUM = shutil.which(os.environ.get("SANDBOX_MCP_CHROMIUM") or "chromium") or shutil.which("chromium-browser")
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("runs")
    a_run(place / "mediocre", Mediocre(), variants=("base", "all_tools"))
    a_run(place / "reference")
    return place


@pytest.fixture(scope="session")
def index(runs: Path) -> Index:
    index = Index(None, find)
    list(index.add(find_runs([runs])))
    return index


@pytest.fixture(scope="session")
def report_file(index: Index, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("report") / "report.html"
    place.write_text(report(index, "Two runs"), encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def browser(report_file: Path) -> Iterator[Any]:
    """Chromium without a window. It stops with its module: while it runs, no other test here can run a loop."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed; SANDBOX_MCP_CHROMIUM may name it")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page that fails the test on any error, dialog or request but those for the page itself."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("dialog", lambda dialog: (wrong.append("a dialog opened"), dialog.dismiss()))
    yield page
    context.close()
    assert wrong == []
