"""The pages held against axe, which checks what WCAG 2.2 asks at level AA and can be told by a machine."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.test_pages import DETAIL, opened

ROOT = Path(__file__).resolve().parents[2]
ASKED = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
FAULTS = """async (tags) => (await axe.run(document, {runOnly: tags})).violations.map((rule) => ({
  rule: rule.id, why: rule.help,
  where: rule.nodes.slice(0, 3).map((node) => `${node.target}: ${node.html.slice(0, 90)}`),
}))"""
PAIR = f"#/pair/{DETAIL}/{DETAIL.replace('mediocre', 'reference')}"
PLACES = ("#/", "#/r/mediocre", f"#/s/{DETAIL}", "#/compare/mediocre/reference", PAIR, "#/nowhere")


@pytest.fixture(scope="module")
def axe() -> str:
    folder = Path(os.environ.get("SANDBOX_MCP_NODE_MODULES") or ROOT / ".node" / "node_modules")
    place = folder / "axe-core" / "axe.min.js"
    if not place.exists():
        pytest.skip(f"{place} is not there; `make test-browser` fetches it where there is npm")
    return place.read_text(encoding="utf-8")


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page that takes a script of ours, which the policy of the page would keep out."""
    context = browser.new_context(viewport={"width": 1400, "height": 900}, bypass_csp=True, reduced_motion="reduce")
    yield context.new_page()
    context.close()


def faults(page: Any, axe: str) -> list[Any]:
    page.evaluate(axe)
    return page.evaluate(FAULTS, list(ASKED))


@pytest.mark.parametrize(("theme", "width"), [("light", 1400), ("dark", 1400), ("light", 360)])
@pytest.mark.parametrize("place", PLACES, ids=("runs", "run", "session", "comparison", "pair", "nowhere"))
def test_a_page_has_no_fault_that_axe_finds(
    page: Any, report_file: Path, axe: str, place: str, theme: str, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=theme)
    assert faults(opened(page, report_file, place), axe) == []


def test_the_keys_and_what_is_folded_have_no_fault_either(page: Any, report_file: Path, axe: str) -> None:
    opened(page, report_file, f"#/s/{DETAIL}")
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert faults(page, axe) == []
    page.keyboard.press("?")
    assert faults(page, axe) == []


def test_axe_would_find_a_fault(page: Any, report_file: Path, axe: str) -> None:
    opened(page, report_file)
    page.evaluate("document.querySelector('main').append(document.createElement('img'))")
    assert [fault["rule"] for fault in faults(page, axe)] == ["image-alt"]
