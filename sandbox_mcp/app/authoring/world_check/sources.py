"""The modules that a world's code consists of, and the meaning of the names in them.

Policy: a world's code is the modules that declare its tools, events and gates, and whatever these import from their own
package or folder.
"""

import ast
import inspect
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from sandbox_mcp.engine.own_code import OURS
from sandbox_mcp.engine.tools import World

Function = ast.FunctionDef | ast.AsyncFunctionDef
"""A function with a name."""


@dataclass(frozen=True)
class Source:
    """One module of a world, with its code as a tree."""

    module: ModuleType
    tree: ast.Module

    @property
    def file(self) -> str:
        """The name of its file."""
        return Path(str(self.module.__file__)).name


def imports_in(tree: ast.AST, module: ModuleType) -> dict[str, str]:
    """Imports of a piece of code: local name to what it is."""
    found: dict[str, str] = {}
    for item in ast.walk(tree):
        if isinstance(item, ast.Import):
            for alias in item.names:
                bound = alias.name if alias.asname else alias.name.partition(".")[0]
                found[alias.asname or bound] = bound
        elif isinstance(item, ast.ImportFrom):
            home = _home(item, module)
            found |= {alias.asname or alias.name: f"{home}.{alias.name}" for alias in item.names}
    return found


def _home(item: ast.ImportFrom, module: ModuleType) -> str:
    """The module that a ``from`` names, also relative to where it stands."""
    if not item.level:
        return item.module or ""
    package = (module.__package__ or module.__name__).split(".")
    above = package[: len(package) - item.level + 1]
    return ".".join([*above, *([item.module] if item.module else [])])


def dotted(node: ast.AST, known: dict[str, str]) -> str:
    """Meaning of ``a.b.c`` by its first name; nothing for any other expression and for unknown names."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in known:
        return ""
    return ".".join([known[node.id], *parts])


def sources_of(world: World) -> tuple[Source, ...]:
    """The modules of a world's code, by name."""
    found: dict[str, Source] = {}
    waiting = sorted({function.__module__ for function in world.functions.values()})
    while waiting:
        name = waiting.pop()
        module = sys.modules.get(name)
        if name in found or module is None:
            continue
        try:
            source = found[name] = Source(module, ast.parse(inspect.getsource(module)))
        except (OSError, TypeError, SyntaxError):  # it has no code in Python
            continue
        if name.partition(".")[0] not in OURS:
            waiting += _beside(source)
    return tuple(found[name] for name in sorted(found))


def _beside(source: Source) -> Iterator[str]:
    """The modules that a module imports from its own package or its own folder."""
    package, folder = source.module.__name__.partition(".")[0], Path(str(source.module.__file__)).parent
    for path in imports_in(source.tree, source.module).values():
        for name in (path, path.rpartition(".")[0]):
            file = getattr(sys.modules.get(name), "__file__", None)
            if file and (name.partition(".")[0] == package or Path(file).parent == folder):
                yield name


def runs_on_import(world: World, sources: Sequence[Source]) -> set[str]:
    """Names that module code uses outside a world's tools, and those that what they name uses in turn."""
    defined: dict[str, list[ast.stmt]] = defaultdict(list)
    waiting: list[str] = []
    for part in (part for source in sources for part in source.tree.body):
        if isinstance(part, Function | ast.ClassDef):
            defined[part.name].append(part)
        else:
            waiting += _mentioned(part)
    tools = {function.__name__ for function in world.functions.values()}
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found | tools:
            found.add(name)
            waiting += (inner for part in defined[name] for inner in _mentioned(part))
    return found


def _mentioned(part: ast.AST) -> Iterator[str]:
    """Names and attributes used in a piece of code."""
    for item in ast.walk(part):
        if isinstance(item, ast.Name | ast.Attribute):
            yield item.id if isinstance(item, ast.Name) else item.attr
