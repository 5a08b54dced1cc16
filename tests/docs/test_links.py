"""Every link of the documentation leads somewhere, and every page can be reached from the README.

No network is asked: of a link to elsewhere is tried whether it is one that can be followed at all.
"""

import re
from pathlib import Path
from urllib.parse import urlsplit

from tests.each import each

ROOT = Path(__file__).resolve().parents[2]
FRONT = ROOT / "README.md"
OTHERS = (ROOT / "SECURITY.md", ROOT / "CHANGELOG.md", ROOT / "packaging" / "README.md")
PAGES = sorted([FRONT, *OTHERS, *(ROOT / "docs").rglob("*.md")])
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(
    r"\]\(([^)\s]+)(?: \"[^\"\n]*\")?\)|^\[[^]\n]+\]: (\S+)|<(https?:[^>\s]*)>|(?:href|src)=\"([^\"]*)\"", re.MULTILINE
)
"""Where a link leads, in any of the ways in which Markdown writes one: inline, by reference, bare, and as HTML."""
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}", re.IGNORECASE)
PLACEHOLDER = re.compile(r"example\.?|localhost|\.invalid$|\.test$")


def all_links(text: str) -> list[str]:
    return ["".join(found) for found in LINK.findall(CODE.sub("", text))]


def links(page: Path) -> list[str]:
    """Where a page leads in the checkout."""
    return [link for link in all_links(page.read_text(encoding="utf-8")) if not SCHEME.match(link)]


def fault_of(link: str) -> str:
    """Why a link to elsewhere cannot be followed, if so."""
    address = urlsplit(link)
    if address.scheme != "https":
        return "is not https"
    host = address.netloc
    if not HOST.fullmatch(host) or PLACEHOLDER.search(host):
        return "names no host of the world's"
    if re.search(r"[\s<>{}|\\^`…]|\.\.\.|[.,;:]$", link):
        return "has characters that belong to the sentence around it, or stand for others"
    return ""


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", head) for head in heads)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in plain}


@each("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in links(page):
        place, _, anchor = link.partition("#")
        target = page.parent / place if place else page
        assert target.exists(), f"{link} leads nowhere"
        assert not anchor or anchor in anchors(target), f"{place or page.name} has no heading {anchor!r}"


@each("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_to_elsewhere_can_be_followed(page: Path) -> None:
    outward = [link for link in all_links(page.read_text(encoding="utf-8")) if SCHEME.match(link)]
    assert {link: fault_of(link) for link in outward if fault_of(link)} == {}


@each(
    ("text", "link", "sound"),
    [
        ("[a](https://arxiv.org/abs/2408.04682)", "https://arxiv.org/abs/2408.04682", True),
        ('[a](https://a.org/b#c "title")', "https://a.org/b#c", True),
        ("<https://a.org/x?y=1>", "https://a.org/x?y=1", True),
        ("[a]: https://a.org/x.", "https://a.org/x.", False),
        ("[a](http://a.org)", "http://a.org", False),
        ("[a](https://a)", "https://a", False),
        ("[a](https://me:pass@a.org)", "https://me:pass@a.org", False),
        ("[a](https://.../b)", "https://.../b", False),
        ("[a](https://a.org/{name})", "https://a.org/{name}", False),
        ("[a](//a.org)", "//a.org", False),
        ("[a](javascript:alert)", "javascript:alert", False),
        ('<a href="https://docs.example/x">', "https://docs.example/x", False),
    ],
)
def test_a_link_is_found_however_it_is_written_and_judged(text: str, link: str, sound: bool) -> None:
    assert all_links(text) == [link]
    assert (fault_of(link) == "") == sound


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


def test_the_readme_is_read_in_one_go() -> None:
    assert len(FRONT.read_text(encoding="utf-8").splitlines()) <= 120
