"""Every link of the documentation leads somewhere, and every page can be reached from the README."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FRONT = ROOT / "README.md"
PAGES = sorted([FRONT, ROOT / "SECURITY.md", ROOT / "packaging" / "README.md", *(ROOT / "docs").rglob("*.md")])
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def links(page: Path) -> list[str]:
    """Where a page leads in the checkout."""
    found = LINK.findall(CODE.sub("", page.read_text(encoding="utf-8")))
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", head) for head in heads)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in links(page):
        place, _, anchor = link.partition("#")
        target = page.parent / place if place else page
        assert target.exists(), f"{link} leads nowhere"
        assert not anchor or anchor in anchors(target), f"{place or page.name} has no heading {anchor!r}"


def test_every_page_can_be_reached_from_the_readme() -> None:
    seen, ahead = set[Path](), [FRONT]
    while ahead:
        page = ahead.pop().resolve()
        if page not in seen:
            seen.add(page)
            ahead += [
                page.parent / link.partition("#")[0] for link in links(page) if link.partition("#")[0][-3:] == ".md"
            ]
    assert [page for page in PAGES if page not in seen and page.name != "README.md"] == []
