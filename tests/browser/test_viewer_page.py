"""The viewer in a real browser, on its own server, while a run goes on."""

import socket
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from sandbox_mcp.app.report.viewer import Viewer, viewer_app
from tests.browser.test_axe import axe, faults
from tests.browser.test_pages import shot
from tests.report.sessions import FEW, Mediocre, a_run, find

__all__ = ["axe"]


@pytest.fixture(scope="module")
def report_file() -> Path:
    """Nothing: the browser of this module shows no report."""
    return Path()


def play(folder: Path, scenarios: Sequence[str]) -> None:
    """Play in a thread of its own: while the browser runs, this one has a loop already."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(a_run, folder, Mediocre(), scenarios=tuple(scenarios)).result()


@pytest.fixture
def followed(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """The folder of a run of two scenarios, and the address of a viewer that follows it."""
    folder = tmp_path / "mediocre"
    play(folder, FEW[:2])
    viewer = Viewer([tmp_path], find)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(16)
    server = uvicorn.Server(uvicorn.Config(viewer_app(viewer), log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    viewer.start()
    thread.start()
    yield folder, f"http://127.0.0.1:{listener.getsockname()[1]}/"
    server.should_exit = True
    thread.join()
    viewer.stop()
    listener.close()


def test_a_run_that_goes_on_is_followed(page: Any, followed: tuple[Path, str]) -> None:
    folder, url = followed
    page.goto(url)
    page.wait_for_function("() => document.querySelectorAll('.sessions tbody a').length === 2")
    play(folder, FEW)
    page.locator(".headline", has_text=f"{len(FEW)} sessions: ").wait_for()
    assert page.locator(".sessions tbody a").count() == 2
    page.get_by_role("button", name="new sessions: show").click()
    page.wait_for_function(f"() => document.querySelectorAll('.sessions tbody a').length === {len(FEW)}")
    shot(page, "view")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_viewer_has_no_fault_that_axe_finds(browser: Any, followed: tuple[Path, str], axe: str, theme: str) -> None:
    context = browser.new_context(color_scheme=theme, bypass_csp=True)
    page = context.new_page()
    page.goto(followed[1])
    page.wait_for_selector(".sessions tbody a")
    assert faults(page, axe) == []
    page.locator(".sessions tbody a").first.click()
    page.wait_for_selector(".session-head")
    assert faults(page, axe) == []
    context.close()
