"""No module needs another one that needs it, be it only once it is called: what is imported within functions counts."""

import ast
from collections.abc import Iterator

import networkx as nx

from tests.conftest import ROOT

PLACES = {
    "sandbox_mcp": ROOT,
    "sandbox_grader": ROOT / "grader",
    "sandbox_scenarios": ROOT / "scenarios",
    "sandbox_clients": ROOT / "clients",
}
MODULES = {
    ".".join(path.relative_to(place).with_suffix("").parts).removesuffix(".__init__"): path
    for package, place in PLACES.items()
    for path in (place / package).rglob("*.py")
}


def imported(node: ast.AST) -> Iterator[str]:
    """The modules that code imports when it runs, at once or later; what is for type checkers alone does not run."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.ImportFrom) and node.module:
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            yield inner if inner in MODULES else node.module
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    for child in ast.iter_child_nodes(node):
        yield from imported(child)


def test_no_module_needs_one_that_needs_it() -> None:
    arrows = [
        (module, other)
        for module, path in MODULES.items()
        for other in imported(ast.parse(path.read_text(encoding="utf-8")))
        if other in MODULES and other != module
    ]
    circles = [sorted(found) for found in nx.strongly_connected_components(nx.DiGraph(arrows)) if len(found) > 1]
    assert len(arrows) > 1000
    assert circles == []
