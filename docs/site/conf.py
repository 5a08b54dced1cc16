"""How Sphinx makes the documentation site: ``make docs``.

Policy: the pages are those that are read in the checkout, and nothing is written twice. The README is the first page. A
link that leads nowhere, and a page that is in no list, fail the build. Sphinx with MyST, because it tells both by
itself, reads the Markdown as it stands, and brings a search that needs no server.
"""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
project = "sandbox-mcp"
author = "the authors of sandbox-mcp"
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = [
    "README.md", "SECURITY.md", "CHANGELOG.md", "packaging/README.md",
    "docs/*.md", "docs/papers/*.md", "docs/decisions/*.md",
]  # fmt: skip
myst_heading_anchors = 4
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
html_theme = "furo"
html_title = project
html_show_sphinx = False
html_copy_source = False
SECTIONS = {
    "Use it": (
        "running", "faults", "injections", "training", "training-trl", "training-openenv", "training-others", "agents",
        "adapters", "serving", "inspect", "users", "python", "api", "telemetry",
    ),
    "Read what happened": ("report", "grading", "grade-what-you-have", "sessions"),
    "The papers' tables": ("papers/README",),
    "Worlds and scenarios": (
        "suite", "scenarios", "authoring", "worlds", "tools", "knowledge", "office", "lookups",
    ),
    "How it is made": ("architecture", "conformance", "decisions/README"),
}  # fmt: skip
"""The pages by what they are for, in the order of the list beside every page; the others come last."""


def contents() -> str:
    """The lists of all pages, hidden in the text, from which Sphinx makes the navigation."""
    pages = [path.relative_to(ROOT / "docs").with_suffix("").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    named = [name for names in SECTIONS.values() for name in names]
    further = sorted(name for name in pages if name not in named and "/" not in name)
    sections = {name: [page for page in names if page in pages] for name, names in SECTIONS.items()}
    lists = {**sections, "And": [*further, "/SECURITY", "/packaging/README", "/CHANGELOG"]}
    return "".join(
        f"\n```{{toctree}}\n:hidden:\n:caption: {name}\n\n"
        + "".join(f"{page if page.startswith('/') else f'/docs/{page}'}\n" for page in names)
        + "```\n"
        for name, names in lists.items()
    )


def below(page: str) -> str:
    """The list of the pages in the folder that a page is about."""
    folder = (ROOT / page).parent
    names = sorted(path.stem for path in folder.glob("*.md") if path.stem != "README")
    return "\n```{toctree}\n:hidden:\n\n" + "".join(f"{name}\n" for name in names) + "```\n"


def read(_: Any, page: str, source: list[str]) -> None:
    """Give the first page, and those about a folder, their lists."""
    if page == root_doc:
        source[0] = re.sub(r"^<!--.*?-->\n", "", source[0]) + contents()
    elif page in ("docs/decisions/README", "docs/papers/README"):
        source[0] += below(page)


def front_page(app: Any, error: Exception | None) -> None:
    """Lead from the address of the site to its first page."""
    if error is None:
        target = f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={root_doc}.html">'
        (Path(app.outdir) / "index.html").write_text(f"{target}<title>{project}</title>\n", encoding="utf-8")


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", read)
    app.connect("build-finished", front_page)
