"""The code that a world consists of, what the names in it stand for, and which parts of it a tool may come to.

Policy: a world's code is the modules that declare its tools, events and gates, and whatever these import from their own
package or folder. A function is played if a tool, an event or a gate names it, or something that these name does; all
other code runs when the module is loaded, if at all.
"""

import ast
import inspect
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
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

    @cached_property
    def imported(self) -> dict[str, str]:
        """Targets of the names that its imports and plain assignments give: ``clock = time.time``."""
        found = imports_in(self.tree, self.module)
        for part in self.tree.body:
            if isinstance(part, ast.Assign) and isinstance(part.value, ast.Attribute | ast.Name):
                path = dotted(part.value, found)
                found |= {target.id: path for target in part.targets if isinstance(target, ast.Name) and path}
        return found

    def classes(self) -> Iterator[type]:
        """The classes that it defines."""
        for value in vars(self.module).values():
            if isinstance(value, type) and value.__module__ == self.module.__name__:
                yield value


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


def played(world: World, sources: Iterable[Source]) -> set[ast.AST]:
    """The functions, lambdas included, that may run while a session is played."""
    known, places = tuple(sources), _places(world)
    defined: dict[str, list[ast.AST]] = defaultdict(list)
    waiting: list[ast.AST] = []
    for source in known:
        for part in source.tree.body:
            _define(part, defined)
            if isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
                waiting += [*part.value.args, *(item.value for item in part.value.keywords)]  # handed to a registry
        functions = [item for item in ast.walk(source.tree) if isinstance(item, Function)]
        own = {item.name for item in functions}
        for item in functions:
            lines = {item.lineno, *(decorator.lineno for decorator in item.decorator_list)}
            declared = not places.isdisjoint((source.module.__name__, line) for line in lines)
            if declared or any(_first_name(decorator) in own for decorator in item.decorator_list):
                waiting.append(item)  # a decorator of the module's own may keep it somewhere
    reached: set[ast.AST] = set()
    named: set[str] = set()
    while waiting:
        root = waiting.pop()
        if root in reached:
            continue
        reached |= {root, *(item for item in ast.walk(root) if isinstance(item, Function | ast.Lambda))}
        for name in set(_mentioned(root)) - named:
            named.add(name)
            waiting += defined[name]
    return reached


def _define(part: ast.stmt, defined: dict[str, list[ast.AST]]) -> None:
    """Note the names by which a statement of a module, or of a class in it, can be reached."""
    if isinstance(part, Function):
        defined[part.name].append(part)
    elif isinstance(part, ast.ClassDef):
        for inner in part.body:
            special = isinstance(inner, Function) and inner.name.startswith("__")
            if special or not isinstance(inner, Function):
                defined[part.name].append(inner)
            _define(inner, defined)
        defined[part.name] += part.bases
    elif isinstance(part, ast.Assign | ast.AnnAssign | ast.AugAssign) and part.value is not None:
        for target in part.targets if isinstance(part, ast.Assign) else [part.target]:
            for item in ast.walk(target):
                if isinstance(item, ast.Name):
                    defined[item.id].append(part.value)
    elif isinstance(part, ast.If | ast.Try | ast.With | ast.For):
        for inner in ast.iter_child_nodes(part):
            if isinstance(inner, ast.stmt):
                _define(inner, defined)


def _places(world: World) -> set[tuple[str, int]]:
    """Places at which the world's tools, events and gates begin, by module and line."""
    written = (inspect.unwrap(function) for function in world.functions.values())
    codes = ((function.__module__, getattr(function, "__code__", None)) for function in written)
    return {(module, code.co_firstlineno) for module, code in codes if code is not None}


def _first_name(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _mentioned(root: ast.AST) -> Iterator[str]:
    """The names used in a piece of code, those in its decorators left out."""
    parts = [root.args, *root.body] if isinstance(root, Function) else [root]
    for part in parts:
        for item in ast.walk(part):
            if isinstance(item, ast.Name):
                yield item.id
            elif isinstance(item, ast.Attribute):
                yield item.attr
            elif isinstance(item, ast.ImportFrom):
                yield from (alias.name for alias in item.names)
