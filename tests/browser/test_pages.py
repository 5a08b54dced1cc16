"""The pages in a real browser: a stranger's path, every key, hostile logs, and the state at every step."""

import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from sandbox_mcp.app.report.index import Index
from sandbox_mcp.app.report.overview import overview
from sandbox_mcp.app.report.report_file import report
from sandbox_mcp.app.report.run_sources import find_runs
from sandbox_mcp.app.report.session_page import session_page
from sandbox_mcp.engine.trajectory import read_trajectory
from sandbox_mcp.engine.world import fold, snapshot_of
from tests.report.sessions import find

DETAIL = "mediocre:late_for_dinner_low_battery-base-s0-t0"
SHOTS = os.environ.get("SANDBOX_MCP_SCREENSHOTS")
STATES = """([places, detail]) => {
  const page = new SessionPage(detail, document.createElement("div"));
  return places.map((place) => { page.go(place); return structuredClone(page.state); });
}"""
FOUND = """async (query) => {
  const source = await EmbeddedSource.open(document.getElementById("data"));
  return (await source.page("mediocre", query, "worst", 0, 500)).rows.map((row) => row.id);
}"""
SQUEEZED = """
[...document.querySelectorAll("main tbody td")].filter((cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  const lines = new Set([...range.getClientRects()].map((line) => Math.round(line.top / 12))).size;
  return lines > 2 && cell.innerText.length / lines < 4;
}).map((cell) => cell.innerText)
"""
"""Texts in cells so narrow that a line has a letter or two."""
UNNAMED = """[...document.querySelectorAll("button, a, input")].filter((element) =>
  element.offsetParent && !element.textContent.trim() && !element.getAttribute("aria-label")).length"""
SHOWN = "(detail) => { window.shown = new SessionPage(detail, document.getElementById('app')); window.shown.go(0); }"


def opened(page: Any, place: Path, hash_: str = "") -> Any:
    page.goto("about:blank")
    page.goto(place.as_uri() + hash_)
    page.wait_for_selector("html[data-ready]")
    return page


def shot(page: Any, name: str) -> None:
    """Keep a picture for whoever wants to look, where SANDBOX_MCP_SCREENSHOTS names a folder."""
    if SHOTS:
        page.screenshot(path=f"{SHOTS}/{name}.png")


def cursor(page: Any) -> int:
    return int(page.inner_text("#position").split("/")[0].lstrip("#"))


def test_the_file_opens_from_disk_with_one_request(page: Any, report_file: Path) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    opened(page, report_file)
    assert [url for url in asked if url != "about:blank"] == [report_file.as_uri()]


def test_from_the_run_to_the_event_where_the_worst_milestone_failed(page: Any, report_file: Path, index: Index) -> None:
    opened(page, report_file, "#/r/mediocre")
    shot(page, "run")
    first = page.locator(".ranked-milestone").first
    name = first.locator("b").inner_text()
    assert name in {item["id"] for item in overview(index, "")["runs"][1]["milestones"]}
    first.click()
    page.wait_for_selector(".session-head")
    shot(page, "session")
    assert page.locator(".milestone.pointed").count() == 1
    assert page.locator(f"#milestone-{name} .bad").count() == 1


def test_a_session_opens_at_its_first_cause(page: Any, report_file: Path, index: Index) -> None:
    trajectory, scores, scenario, run = index.session(DETAIL) or pytest.fail("the session is not there")
    causes = session_page(trajectory, scores, scenario, run, DETAIL)["causes"]
    opened(page, report_file, f"#/s/{DETAIL}")
    known = {event.seq for event in trajectory.events}
    placed = [cause for cause in sorted(causes, key=lambda cause: not cause["voids"]) if cause["seq"] in known]
    assert causes
    assert cursor(page) == (placed[0]["seq"] if placed else max(known) + 1)


def test_the_shown_state_is_the_rebuilt_state_at_every_event_forward_and_back(
    page: Any, report_file: Path, index: Index
) -> None:
    trajectory, *_ = index.session(DETAIL) or pytest.fail("the session is not there")
    opened(page, report_file, f"#/s/{DETAIL}")
    state = snapshot_of(trajectory.started.world or {})
    states = []
    for event in trajectory.events:
        state = fold(state, getattr(event, "changes", ()))
        states.append({table: {key: dict(row) for key, row in rows.items()} for table, rows in state.tables.items()})
    places = [*range(len(states)), *reversed(range(len(states)))]
    trajectory, scores, scenario, run = index.session(DETAIL) or pytest.fail("the session is not there")
    shown = page.evaluate(STATES, [places, session_page(trajectory, scores, scenario, run, DETAIL)])
    assert [{t: r for t, r in found.items() if r} for found in shown] == [
        {t: r for t, r in states[place].items() if r} for place in places
    ]


def test_a_milestone_shows_what_was_expected_and_found(page: Any, report_file: Path) -> None:
    opened(page, report_file, f"#/s/{DETAIL}")
    page.locator(".alignment summary").click()
    shown = page.inner_text(".alignment")
    assert "cellular true" in shown
    assert "cellular false" in shown
    page.locator(".alignment .jump").last.click()
    assert page.locator(".event[aria-selected=true]").count() == 1


def test_hostile_texts_are_shown_and_never_obeyed(page: Any, report_file: Path, index: Index) -> None:
    hostile = [row["id"] for row in index.rows("mediocre", "onerror")]
    assert hostile
    for key in hostile:
        opened(page, report_file, f"#/s/{key}")
        assert page.title() == "Two runs"
        assert page.locator("img").count() == 0
        assert "U+202E" in page.inner_text(".conversation")
        assert "<script>" in page.inner_text(".conversation")


@pytest.mark.parametrize(("keys", "moves"), [("j", 1), ("jjk", 1), ("Home", 0), ("ArrowDown", 1)])
def test_keys_move_the_cursor(page: Any, report_file: Path, keys: str, moves: int) -> None:
    opened(page, report_file, f"#/s/{DETAIL}?e=1")
    for key in [keys] if len(keys) > 3 else keys:
        page.keyboard.press(key)
    assert cursor(page) == 1 + moves


def test_the_whole_way_without_a_mouse(page: Any, report_file: Path) -> None:
    opened(page, report_file, "#/r/mediocre")
    page.keyboard.press("f")
    page.wait_for_function("() => document.querySelector('#filter').value === 'is:failed'")
    page.wait_for_function("() => document.querySelectorAll('.sessions tbody a').length > 1")
    for key in ("j", "j", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector(".session-head")
    second = page.url
    page.keyboard.press("[")
    page.wait_for_function("(url) => location.href.split('?')[0] !== url.split('?')[0]", arg=second)
    for key in ("n", "m", "s", "x", "1", "t"):
        page.keyboard.press(key)
    assert page.get_attribute("html", "data-theme") in ("light", "dark")
    page.keyboard.press("?")
    assert page.locator("dialog[open]").count() == 1
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.wait_for_selector("#filter")
    assert page.input_value("#filter") == "is:failed"


def test_an_unusable_filter_says_so_and_keeps_the_list(page: Any, report_file: Path) -> None:
    opened(page, report_file, "#/r/mediocre")
    before = page.locator(".sessions tbody tr").count()
    page.fill("#filter", "size:3")
    page.wait_for_function("() => document.querySelector('[role=alert]').textContent.includes('unknown key')")
    assert page.locator(".sessions tbody tr").count() == before


@pytest.mark.parametrize(
    "query",
    ["is:failed", "scenario:wifi", "score:<0.5", "tool:set_wifi_status", "variant:base errors:>0", "cause:mile"],
)
def test_file_and_server_find_the_same(page: Any, report_file: Path, index: Index, query: str) -> None:
    opened(page, report_file, "#/r/mediocre")
    assert page.evaluate(FOUND, query) == [row["id"] for row in index.rows("mediocre", query)]


def test_two_runs_beside_each_other_and_a_pair_of_sessions(page: Any, report_file: Path) -> None:
    opened(page, report_file, "#/compare/mediocre/reference")
    assert "B is better." in page.inner_text("main") or "No difference" in page.inner_text("main")
    shot(page, "compare")
    page.locator(".sessions a").first.click()
    page.wait_for_selector(".aligned")
    shot(page, "pair")
    assert page.locator(".divergence").count() == 1


@pytest.mark.parametrize("width", [360, 1400])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("place", ["#/", "#/r/mediocre", f"#/s/{DETAIL}"])
def test_nothing_sticks_out_and_every_control_has_a_name(
    page: Any, report_file: Path, width: int, theme: str, place: str
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=theme)
    opened(page, report_file, place)
    shot(page, f"{re.sub('[^a-z]+', '-', place)}-{width}-{theme}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(UNNAMED) == 0


@pytest.mark.parametrize("place", ["#/", "#/r/mediocre", "#/compare/mediocre/reference"])
def test_on_a_narrow_screen_words_and_figures_of_tables_stay_whole(page: Any, report_file: Path, place: str) -> None:
    page.set_viewport_size({"width": 360, "height": 800})
    opened(page, report_file, place)
    assert page.locator("main tbody td").count()
    assert page.evaluate(SQUEEZED) == []


def test_a_pair_leads_back_to_the_runs_that_it_is_of(page: Any, report_file: Path) -> None:
    opened(page, report_file, "#/compare/mediocre/reference")
    page.locator(".sessions a").first.click()
    page.wait_for_selector(".aligned")
    page.get_by_role("link", name="mediocre against reference").click()
    page.wait_for_selector(".dots")


def test_a_log_of_thousands_of_events_is_stepped_through(page: Any, report_file: Path, index: Index) -> None:
    trajectory, scores, scenario, run = index.session(DETAIL) or pytest.fail("the session is not there")
    detail = session_page(trajectory, scores, scenario, run, DETAIL)
    opening, *events, end = detail["log"]
    many = [{**event, "seq": n + 1} for n, event in enumerate((events * 400)[:2000])]
    detail["log"] = [opening, *many, {**end, "seq": 2001}]
    opened(page, report_file)
    page.evaluate(SHOWN, detail)
    page.evaluate("window.shown.go(1999)")
    assert cursor(page) == 2000


def test_logs_are_read_as_they_were_written(runs: Path) -> None:
    assert all(read_trajectory(path).complete for path in runs.rglob("*.jsonl"))


def test_two_runs_open_on_their_difference_with_the_largest_first(page: Any, report_file: Path) -> None:
    opened(page, report_file)
    assert "against B" in page.inner_text("h1")
    told = page.locator("table.sessions tbody tr td:nth-child(3)").all_inner_texts()
    sizes = [abs(float(text.replace("−", "-"))) for text in told]
    assert sizes == sorted(sizes, reverse=True)
    page.get_by_role("link", name="All runs").first.click()
    page.wait_for_function("location.hash === '#/'")
    assert page.get_by_role("link", name="mediocre").count()


def test_a_lone_session_opens_directly(page: Any, runs: Path, tmp_path: Path) -> None:
    log = min((runs / "reference" / "logs").glob("*.jsonl"))
    (tmp_path / "one" / "logs").mkdir(parents=True)
    shutil.copy(runs / "reference" / "run.json", tmp_path / "one")
    shutil.copy(log, tmp_path / "one" / "logs")
    index = Index(None, find)
    list(index.add(find_runs([tmp_path / "one"])))
    place = tmp_path / "one.html"
    place.write_text(report(index, "One"), encoding="utf-8")
    opened(page, place)
    assert page.locator("#position").count() == 1
    page.get_by_role("link", name="Sessions").first.click()
    page.wait_for_selector("table.sessions")


def test_what_fails_most_is_read_whole_on_a_laptop(page: Any, report_file: Path) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    opened(page, report_file, "#/r/mediocre")
    cut = "[...document.querySelectorAll('.ranked li')].filter((it) => it.scrollWidth > it.clientWidth + 1).length"
    assert page.locator(".ranked li").count()
    assert page.evaluate(cut) == 0
