"""The phone is named in its own folder; the places elsewhere that name its tools have a reason, and are all listed."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from sandbox_mcp.engine.worlds import BUILT_IN, named

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("sandbox_mcp", "scenarios/sandbox_scenarios", "grader/sandbox_grader", "clients/sandbox_clients")
PUBLISHED = {
    "scenarios/sandbox_scenarios/stats/published.py",
    "sandbox_mcp/app/benchmarks/toolsandbox/planning.py",
    "sandbox_mcp/app/benchmarks/toolsandbox/writing.py",
    "grader/sandbox_grader/papers/toolsandbox/names.py",
    "grader/sandbox_grader/milestones/history.py",
}
"""What a paper printed, what reads ToolSandbox's own material, and what reckons as its code does: theirs is a phone."""
OF_WORLDS = ("sandbox_mcp/engine/worlds/", "scenarios/sandbox_scenarios/hard/")
"""Worlds, and the generators of scenarios in them, which are no less about their world than a scenario file is."""
COMMON = {"phone_number"}
"""What any world may call the column that says who is reached."""


def sources(words: Iterable[str]) -> Iterator[tuple[str, ast.Module]]:
    """The modules outside of the worlds and their families that hold one of these words, wherever it stands in them."""
    any_word = re.compile("|".join(map(re.escape, words)))
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            if not place.startswith(OF_WORLDS):
                source = path.read_text(encoding="utf-8")
                if any_word.search(source):
                    yield place, ast.parse(source)


def names_in(world: str) -> set[str]:
    """The columns and arguments of a world."""
    found = named(world)
    columns = {column.name for table in found.tables.values() for column in table.columns}
    return columns | {item.name for tool in found.tools.values() for item in tool.parameters}


def test_no_other_module_names_a_tool_or_a_column_of_the_phone_or_imports_from_it() -> None:
    tools = {name for name, tool in named("phone").agent_tools.items() if "_" in name and tool.domain != "account"}
    elsewhere = {name for world in BUILT_IN if world != "phone" for name in names_in(world)}
    columns = {column.name for table in named("phone").tables.values() for column in table.columns}
    words = {*tools, *(name for name in columns - elsewhere - COMMON if "_" in name)}
    found: set[str] = set()
    for place, tree in sources([*words, "phone"]):
        for node in ast.walk(tree):
            told = isinstance(node, ast.Constant) and node.value in words
            module = node.module if isinstance(node, ast.ImportFrom) else None
            if told or str(module).startswith("sandbox_mcp.engine.worlds.phone"):
                found.add(place)
    assert found - PUBLISHED == set()
