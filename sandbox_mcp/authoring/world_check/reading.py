"""What the code of a world's modules says: reaches past the transaction, clocks, chance, files, state that all share.

Policy: the code of every module that declares a tool is read, helpers included.
"""

import ast
import inspect
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import cast, get_origin

from sandbox_mcp.authoring.world_check.findings import WorldFinding
from sandbox_mcp.tools import World
from sandbox_mcp.world.tables import Table, is_table

CLOCKS = {
    "time": {
        "time", "time_ns", "monotonic", "perf_counter", "localtime", "gmtime", "ctime", "strftime", "mktime", "sleep",
    },
    "datetime": {"now", "utcnow", "today"},
    "date": {"today", "fromtimestamp"},
}  # fmt: skip
CHANCES = {"random", "secrets", "uuid", "numpy"}
OUTSIDE = {
    "threading", "multiprocessing", "asyncio", "ctypes", "platform", "getpass", "locale", "requests", "httpx", "urllib",
    "socket", "subprocess", "shutil", "http", "sqlite3", "tempfile", "aiohttp",
}  # fmt: skip
OUTSIDE_CALLS = {"open", "print", "input", "exec", "eval", "__import__"}
FILE_METHODS = {"read_text", "write_text", "read_bytes", "write_bytes", "unlink", "mkdir", "touch", "iterdir", "glob"}
CHANGING = {
    "append", "appendleft", "extend", "extendleft", "add", "update", "insert", "remove", "pop", "popleft", "popitem",
    "clear", "setdefault", "discard", "sort", "reverse", "rotate", "move_to_end", "subtract",
}  # fmt: skip
SET_METHODS = {"union", "intersection", "difference", "symmetric_difference"}
VIEWS = {"keys", "items"}
_TOLD = {"time", "datetime"}
"""Modules whose functions are known by name, whatever an import calls them."""
BYPASSING = {"transaction", "_cells", "_effects"}


def read(world: World) -> Iterator[WorldFinding]:
    """What stands in the modules that declare the world's tools."""
    names = {function.__module__ for function in world.functions.values()}
    for name in sorted(names):
        module = sys.modules.get(name)
        if module is None:
            continue
        try:
            source = inspect.getsource(module)
        except (OSError, TypeError):
            continue
        reader = _Reader(world, module, Path(str(module.__file__)).name)
        reader.visit(ast.parse(source))
        yield from reader.found


class _Reader(ast.NodeVisitor):
    """Goes through one module and notes what its functions must not do; what runs on import is left alone."""

    def __init__(self, world: World, module: ModuleType, file: str) -> None:
        self.found: list[WorldFinding] = []
        self._world = world
        self._module = module
        self._file = file
        self._inside: list[str] = []
        self._sets: set[str] = set()
        self._local: set[str] = set()
        self._imported: dict[str, str] = {}
        self._called: set[ast.expr] = set()
        self._tables = set(world.classes)

    def _note(self, node: ast.AST, rule: str, problem: str) -> None:
        place = f"{self._file}:{getattr(node, 'lineno', 0)} in {self._inside[-1] if self._inside else 'the module'}"
        self.found.append(WorldFinding(self._world.name, place, rule, problem))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """A function: its defaults, then its body."""
        self._inside.append(node.name)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None and (
                isinstance(default, ast.List | ast.Dict | ast.Set) or _called(default) in ("list", "dict", "set")
            ):
                self._note(default, "mutable_default", "a default that can change is shared by all calls")
        before = self._sets, self._local, self._imported
        assigned = [item for item in ast.walk(node) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)]
        arguments = [item for item in ast.walk(node.args) if isinstance(item, ast.arg)]
        own = {item.id for item in assigned} | {item.arg for item in arguments}
        self._local = self._local | own  # a function within another has what that one has
        self._imported = {**self._imported, **_imports_in(node)}
        self._sets = (self._sets - own) | {item.arg for item in arguments if _means_set(item.annotation)}
        for item in ast.walk(node):
            if isinstance(item, ast.Assign) and self._is_set(item.value):
                self._sets |= {target.id for target in item.targets if isinstance(target, ast.Name)}
            elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                self._sets |= {item.target.id} if _means_set(item.annotation) else set()
        for part in node.body:
            self.visit(part)
        self._sets, self._local, self._imported = before
        self._inside.pop()

    def visit_Global(self, node: ast.Global) -> None:
        """A name of the module that a function sets."""
        self._note(node, "module_state", f"sets {', '.join(node.names)} of the module")

    def visit_Assign(self, node: ast.Assign) -> None:
        """Something that is put into a place."""
        for target in node.targets:
            self._stored(target)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Something that is added to a place."""
        self._stored(node.target)
        self.generic_visit(node)

    def _stored(self, target: ast.expr) -> None:
        if self._inside and isinstance(target, ast.Subscript | ast.Attribute) and self._is_shared(target.value, target):
            self._note(target, "module_state", f"writes to {ast.unparse(target.value)}, which lies in the module")

    def _is_shared(self, node: ast.expr, whole: ast.expr | None = None) -> bool:
        """Whether an expression is, or is part of, a list, mapping or object that lies in the module and can change.

        A class or a module changes only where something of it is written to, as ``whole`` does.
        """
        inside = isinstance(whole, ast.Attribute)
        while isinstance(node, ast.Attribute | ast.Subscript):
            node, inside = node.value, True
        if isinstance(node, ast.Call) and _called(node) in ("globals", "vars"):
            return True
        if not isinstance(node, ast.Name) or node.id in self._local:
            return False
        value = getattr(self._module, node.id, None)
        if isinstance(value, World) or value is None or is_table(value):
            return False
        if isinstance(value, tuple | type | ModuleType):
            return inside
        return isinstance(value, list | dict | set | bytearray) or hasattr(value, "__dict__")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """A look past the transaction."""
        if (
            self._inside
            and node.attr in BYPASSING
            and isinstance(node.value, ast.Name)
            and node.value.id in self._local
        ):
            self._note(node, "past_the_transaction", f"reaches for {ast.unparse(node)}")
        elif self._inside and node not in self._called:
            name = self._real(ast.unparse(node))
            if name == "os.environ" or name.startswith("sys."):
                self._note(node, "outside_io", f"{name} is the host's")
        self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        """A loop, which must not go through a set."""
        self._gone_through(node.iter)
        self.generic_visit(node)

    def visit_ListComp(self, node: ast.ListComp | ast.DictComp) -> None:
        """A list or a mapping, which keep the order in which they are made."""
        for part in node.generators:
            self._gone_through(part.iter)
        self.generic_visit(node)

    visit_DictComp = visit_ListComp  # noqa: N815 - the name that ast looks for

    def visit_Starred(self, node: ast.Starred) -> None:
        """What is laid out one by one."""
        self._gone_through(node.value)
        self.generic_visit(node)

    def _gone_through(self, node: ast.expr) -> None:
        if isinstance(node, ast.GeneratorExp):
            node = node.generators[0].iter
        if self._inside and self._is_set(node):
            self._note(
                node, "set_order", f"goes through the set {ast.unparse(node)}, whose order differs from run to run"
            )

    def visit_Call(self, node: ast.Call) -> None:
        """A call."""
        self._called.add(node.func)
        if self._inside:
            self._judge_call(node)
            self._judge_stepping(node)
        self.generic_visit(node)

    def _in_module(self, name: str) -> object:
        """What the module has under a name, unless the function has something of its own there."""
        return None if name in self._local else getattr(self._module, name, None)

    def _judge_stepping(self, node: ast.Call) -> None:
        """A call that goes through what it is given, or takes the next of it."""
        name, first = _called(node), node.args[0] if node.args else None
        last = name.rpartition(".")[2]
        if (name in ("list", "tuple", "enumerate", "iter") or last in ("join", "fromkeys")) and first is not None:
            self._gone_through(first)
        elif last == "pop" and first is None and isinstance(node.func, ast.Attribute) and self._is_set(node.func.value):
            self._note(node, "set_order", f"takes whatever comes first out of the set {ast.unparse(node.func.value)}")
        elif name == "next" and isinstance(first, ast.Name) and hasattr(self._in_module(first.id), "__next__"):
            self._note(node, "module_state", f"goes on with {first.id}, which lies in the module")

    def _judge_call(self, node: ast.Call) -> None:
        name = self._real(_called(node))
        root, _, last = name.rpartition(".")
        home = self._home_of(_called(node).partition(".")[0])
        if last in CLOCKS.get(root.rpartition(".")[2], ()) or (home == "time" and last in CLOCKS["time"]):
            self._note(node, "host_clock", f"{name}() tells the host's time")
        elif _in_hosts_zone(root.rpartition(".")[2], last, node):
            self._note(node, "host_clock", f"{name}() without a time zone tells the time in the host's")
        elif home in CHANCES or name == "os.urandom":
            self._note(node, "chance", f"{name}() gives something else each time")
        elif home in OUTSIDE or (not root and name in OUTSIDE_CALLS) or name.startswith(("os.", "sys.")):
            self._note(node, "outside_io", f"{name}() reaches outside the world")
        elif last in FILE_METHODS and root and not self._tables.intersection(_tables_in(node, self._module)):
            self._note(node, "outside_io", f"{name}() reads or writes files")
        elif name in ("setattr", "object.__setattr__", "cells_of"):
            self._note(node, "past_the_transaction", f"{name}() goes past the transaction")
        elif name in ("hash", "id") and not root:
            self._note(node, "set_order", f"{name}() differs from run to run")
        elif last in CHANGING and isinstance(node.func, ast.Attribute) and self._is_shared(node.func.value):
            self._note(node, "module_state", f"{name}() changes what lies in the module")
        for table in _tables_in(node, self._module):
            if table not in self._tables and last in ("get", "find", "all", "one", "add"):
                self._note(node, "undeclared_table", f"uses table {table.__name__!r}, which the world does not have")

    def _is_set(self, node: ast.expr) -> bool:
        """Whether an expression gives a set, as far as the code says."""
        if isinstance(node, ast.Name):
            return node.id in self._sets
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr | ast.BitAnd | ast.BitXor | ast.Sub):
            return any(self._is_set(side) or _is_view(side) for side in (node.left, node.right))
        if isinstance(node, ast.IfExp):
            return self._is_set(node.body) or self._is_set(node.orelse)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SET_METHODS:
            return self._is_set(node.func.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in self._local:
            helper = getattr(self._module, node.func.id, None)
            given = getattr(helper, "__annotations__", {}).get("return")
            return node.func.id in ("set", "frozenset") or bool({given, get_origin(given)} & {set, frozenset})
        return isinstance(node, ast.Set | ast.SetComp)

    def _real(self, name: str) -> str:
        """A dotted name with what an import called otherwise under its own name: ``dt.now`` as ``datetime.now``."""
        first, dot, rest = name.partition(".")
        if first in self._imported:
            return f"{self._imported[first]}{dot}{rest}"
        value = None if first in self._local else getattr(self._module, first, None)
        own = str(getattr(value, "__name__", ""))
        return f"{own}{dot}{rest}" if own and self._home_of(first) in _TOLD else name

    def _home_of(self, name: str) -> str:
        """The top-level package that a name of the module comes from."""
        if name in self._imported:
            return self._imported[name].partition(".")[0]
        value = getattr(self._module, name, None)
        if value is None or name in self._local:
            return ""
        place = value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", "") or "")
        return "random" if isinstance(value, random.Random) else place.partition(".")[0]


def _called(node: ast.AST | None) -> str:
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def _is_view(node: ast.expr) -> bool:
    """Whether an expression is what a mapping has, which with & or | becomes a set."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in VIEWS


def _means_set(annotation: ast.expr | None) -> bool:
    """Whether an annotation is that of a set."""
    return annotation is not None and re.match(r"(set|frozenset)\b", ast.unparse(annotation)) is not None


def _imports_in(function: ast.FunctionDef) -> dict[str, str]:
    """What a function imports for itself: by the name that it has there, what it is."""
    found: dict[str, str] = {}
    for item in ast.walk(function):
        if isinstance(item, ast.Import):
            for alias in item.names:
                bound = alias.name if alias.asname else alias.name.partition(".")[0]
                found[alias.asname or bound] = bound
        elif isinstance(item, ast.ImportFrom) and item.module:
            found |= {alias.asname or alias.name: f"{item.module}.{alias.name}" for alias in item.names}
    return found


def _in_hosts_zone(kind: str, method: str, node: ast.Call) -> bool:
    """Whether a call turns a moment into a wall time by the host's zone, because it names none."""
    if method == "astimezone":
        return not node.args and not node.keywords
    named = len(node.args) > 1 or any(item.arg == "tz" for item in node.keywords)
    return kind == "datetime" and method == "fromtimestamp" and not named


def _tables_in(node: ast.Call, module: ModuleType) -> list[type[Table]]:
    """The tables that a call is given first, such as ``tx.all(Order)``."""
    first = node.args[0] if node.args else None
    value = getattr(module, first.id, None) if isinstance(first, ast.Name) else None
    return [cast("type[Table]", value)] if is_table(value) else []
