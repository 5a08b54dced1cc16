"""Writes the reference in docs/python.md from the docstrings. A test checks that it is current."""

import inspect
from pathlib import Path
from typing import Any

import sandbox_mcp

PAGE = Path(__file__).parent / "python.md"
MARK = "<!-- from here on: written by docs/reference.py -->"
ELSEWHERE = {
    "Scores": ("sandbox_grader.grading.scores", "What `grade` returns and a report holds, one per session."),
    "Comparison": ("sandbox_grader.reporting.comparison", "What `report.compare` returns."),
    "Estimate": ("sandbox_grader.reporting.statistics", "What `report.estimate` and `report.pass_k` return."),
    "SessionAtHand": ("sandbox_mcp.app.run.by_hand", "What `Suite()[name].open()` gives."),
}
"""Public classes that are met, not imported."""
DECLARING = frozenset(
    {"UNSET", "DuplicateError", "Id", "Moment", "NoDataError", "Secret", "Table", "Text", "ToolFault", "Tx", "World",
     "column", "key"}
)  # fmt: skip
"""Names for those who declare a world: docs/worlds.md tells of them."""


def reference() -> str:
    """All public names with their docstrings."""
    from importlib import import_module

    names = [name for name in sandbox_mcp.__all__ if not name.startswith("_") and name not in DECLARING]
    parts = [_section(f"`sandbox_mcp.{name}`", getattr(sandbox_mcp, name)) for name in names]
    for name, (module, said) in ELSEWHERE.items():
        parts.append(_section(f"`{name}`", getattr(import_module(module), name), said))
    return "\n".join(parts)


def _section(title: str, found: Any, said: str = "") -> str:
    lines = [f"### {title}", "", *([said, ""] if said else []), _text(found)]
    if inspect.isclass(found):
        lines += [f"- **`{name}`**: {_first(member)}" for name, member in _members(found)]
        lines.append("")
    return "\n".join(lines)


def _text(found: Any) -> str:
    shown = f"```text\n{inspect.getdoc(found)}\n```\n"
    if not inspect.isfunction(found):
        return shown
    options = ", ".join(inspect.signature(found).parameters)
    return f"`{found.__name__}({options})`\n\n{shown}"


def _members(kind: Any) -> list[tuple[str, Any]]:
    public = [(name, member) for name, member in vars(kind).items() if not name.startswith("_")]
    return [(name, m) for name, m in public if isinstance(m, property | classmethod) or inspect.isfunction(m)]


def _first(member: Any) -> str:
    return (inspect.getdoc(member) or "").split("\n\n")[0].replace("\n", " ")


def page() -> str:
    """The page as it should be."""
    written = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    return f"{written}{MARK}\n\n{reference()}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
