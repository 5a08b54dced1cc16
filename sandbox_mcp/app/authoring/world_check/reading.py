"""Reads a world's code for what makes sessions differ: ways round the transaction, clocks, chance, files, shared state.

Policy: what may run while a session is played is read for all of these, helpers in other modules included, whether a
function is called or only handed on. What runs while a module is loaded may read files and build what it likes, but
asks neither clock nor chance, or the world would be another one in every process.
"""

import ast
import random
import re
from collections.abc import Iterator, Sequence
from datetime import date
from inspect import getattr_static
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, cast, get_origin

from sandbox_mcp.app.authoring.world_check.findings import WorldFinding
from sandbox_mcp.app.authoring.world_check.sources import Function, Source, dotted, imports_in, played
from sandbox_mcp.app.authoring.world_check.unrepeatable import BUILT_IN, Sin, is_judged_by_name, sin_of, sin_of_call
from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.world.tables import Table, is_table

FILE_METHODS = {"read_text", "write_text", "read_bytes", "write_bytes", "unlink", "mkdir", "touch", "iterdir", "glob"}
PATH_METHODS = FILE_METHODS | {
    "open", "exists", "is_file", "is_dir", "stat", "resolve", "absolute", "expanduser", "rglob", "rename", "rmdir",
}  # fmt: skip
CHANGING = {
    "append", "appendleft", "extend", "extendleft", "add", "update", "insert", "remove", "pop", "popleft", "popitem",
    "clear", "setdefault", "discard", "sort", "reverse", "rotate", "move_to_end", "subtract",
}  # fmt: skip
CHANGING_FIRST = {
    *(f"heapq.{name}" for name in ("heappush", "heappop", "heapify", "heapreplace", "heappushpop")),
    *(f"bisect.{name}" for name in ("insort", "insort_left", "insort_right")),
    *("operator.setitem", "operator.delitem", "random.shuffle"),
}
"""Functions that change their first argument."""
CHANGEABLE = {"list", "dict", "set", "bytearray", "deque", "defaultdict", "Counter", "OrderedDict"}
"""What makes something that can change."""
STEPPING = {"list", "tuple", "dict", "enumerate", "iter", "str", "repr", "deque", "Counter"}
"""What goes through what it is given, and keeps or shows the order."""
HANDING_ON = {"map", "filter", "zip", "chain", "islice", "starmap"}
"""What hands on what it is given one by one, in whatever order."""
CHOOSING = {"sorted", "min", "max"}
"""What keeps, where a key calls two equal, the one that comes first."""
SET_METHODS = {"union", "intersection", "difference", "symmetric_difference", "copy"}
VIEWS = {"keys", "items"}
BYPASSING = {"transaction", "_cells", "_effects"}


def read(world: World, sources: Sequence[Source]) -> Iterator[WorldFinding]:
    """Read the modules that a world's code consists of."""
    runs = played(world, sources)
    for source in sources:
        reader = _Reader(world, source, runs)
        reader.visit(source.tree)
        yield from reader.found


class _Reader(ast.NodeVisitor):
    """Goes through one module and notes what must not be done there."""

    def __init__(self, world: World, source: Source, runs: set[ast.AST]) -> None:
        self.found: list[WorldFinding] = []
        self._world = world
        self._source = source
        self._module = source.module
        self._runs = runs
        self._inside: list[str] = []
        self._plays = False
        self._sets: set[str] = set()
        self._local: set[str] = set()
        self._shared: set[str] = set()
        self._imported = source.imported
        self._called: set[ast.AST] = set()
        self._self = ""
        self._tables = set(world.classes)
        self._columns = {name for table in world.classes for name in vars(table)}
        self._methods = {name for kind in source.classes() for name in vars(kind)}

    def _note(self, node: ast.AST, rule: str, problem: str) -> None:
        place = (
            f"{self._source.file}:{getattr(node, 'lineno', 0)} in {self._inside[-1] if self._inside else 'the module'}"
        )
        self.found.append(WorldFinding(self._world.name, place, rule, problem))

    def _note_host(self, node: ast.AST, sin: Sin | None) -> bool:
        """Note what depends on the host; on import, only what would give another world every time."""
        if sin is None or not (self._plays or sin[0] in ("host_clock", "chance")):
            return False
        self._note(node, *sin)
        return True

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """A class. If the module holds an object of it, what its methods write is kept for all sessions."""
        kind = getattr(self._module, node.name, None)
        kept = any(kind in type(value).__mro__ for value in vars(self._module).values())
        for part in node.body:
            before = self._shared, self._self
            if isinstance(part, Function) and part.args.args:
                first, decorators = part.args.args[0].arg, {ast.unparse(item) for item in part.decorator_list}
                self._self = "" if is_table(kind) else first
                makes = part.name in ("__init__", "__post_init__")
                if not makes and ("classmethod" in decorators or (kept and "staticmethod" not in decorators)):
                    self._shared |= {first}
            self.visit(part)
            self._shared, self._self = before
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)

    def visit_FunctionDef(self, node: Function) -> None:
        """A function: what decorates it and its defaults, which are made on import, then its body."""
        for part in node.decorator_list:
            self.visit(part)
        keeps = any(re.search(r"\b(lru_)?cache\b", ast.unparse(part)) for part in node.decorator_list)
        if keeps and any(_is_transaction(item) for item in node.args.args):
            self._note(node, "module_state", f"keeps what {node.name}() found in one session for all others")
        self._enter(node, node.name, node.body, imports_in(node, self._module))

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - the name that ast looks for

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """A function without a name."""
        self._enter(node, "a lambda", [node.body], {})

    def _enter(self, node: Function | ast.Lambda, name: str, body: list[Any], imported: dict[str, str]) -> None:
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self._inside.append(name)
            made = isinstance(default, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp)
            if made or _called(default).rpartition(".")[2] in CHANGEABLE:
                self._note(default, "mutable_default", "a default that can change is shared by all calls")
            self._inside.pop()
            self.visit(default)
        before = self._plays, self._sets, self._local, self._shared, self._imported
        self._inside.append(name)
        assigned = [item for item in ast.walk(node) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)]
        arguments = [item for item in ast.walk(node.args) if isinstance(item, ast.arg)]
        own = {item.id for item in assigned} | {item.arg for item in arguments}
        first = node.args.args[0].arg if node.args.args else ""
        self._plays = node in self._runs
        self._shared = (self._shared - own) | (self._shared & {first})
        self._local = (self._local | own) - self._shared  # a function within another has what that one has
        self._imported = {name: path for name, path in self._imported.items() if name not in own} | imported
        self._sets = (self._sets - own) | {item.arg for item in arguments if _means_set(item.annotation)}
        self._shared |= self._lent(node)
        for item in ast.walk(node):
            if isinstance(item, ast.Assign) and self._is_set(item.value):
                self._sets |= {target.id for target in item.targets if isinstance(target, ast.Name)}
            elif isinstance(item, ast.NamedExpr) and self._is_set(item.value):
                self._sets.add(item.target.id)
            elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                self._sets |= {item.target.id} if _means_set(item.annotation) else set()
        for part in body:
            self.visit(part)
        self._plays, self._sets, self._local, self._shared, self._imported = before
        self._inside.pop()

    def _lent(self, node: Function | ast.Lambda) -> set[str]:
        """The names of a function's own that only stand for what lies in the module: defaults, and ``seen = SEEN``."""
        ordered = [*node.args.posonlyargs, *node.args.args]
        pairs = [*zip(reversed(ordered), reversed(node.args.defaults), strict=False)]
        pairs += [(arg, value) for arg, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if value]
        found = {arg.arg for arg, value in pairs if isinstance(value, ast.Name) and self._is_shared(value)}
        assigned = [item for item in ast.walk(node) if isinstance(item, ast.Assign)]
        stores = [item.id for item in ast.walk(node) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)]
        for item in assigned:
            if isinstance(item.value, ast.Name | ast.Attribute | ast.Subscript) and self._is_shared(item.value):
                names = [target.id for target in item.targets if isinstance(target, ast.Name)]
                found |= {name for name in names if stores.count(name) == 1}
        return found

    def visit_Global(self, node: ast.Global) -> None:
        """A name of the module that a function sets."""
        if self._plays:
            self._note(node, "module_state", f"sets {', '.join(node.names)} of the module")

    def visit_Assign(self, node: ast.Assign) -> None:
        """Something that is put into a place."""
        for target in node.targets:
            self._stored(target)
            if isinstance(target, ast.Tuple | ast.List):
                self._gone_through(node.value)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Something that is put into a place with an annotation, or an annotation alone, which does nothing."""
        self._stored(node.target)
        if node.value is not None:
            self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Something that is added to a place."""
        self._stored(node.target)
        if isinstance(node.op, ast.Add):
            self._gone_through(node.value)
        self.generic_visit(node)

    def visit_Delete(self, node: ast.Delete) -> None:
        """Something that is taken out of a place."""
        for target in node.targets:
            self._stored(target)
        self.generic_visit(node)

    def _stored(self, target: ast.expr) -> None:
        if self._plays and isinstance(target, ast.Subscript | ast.Attribute) and self._is_shared(target.value, target):
            self._note(target, "module_state", f"writes to {ast.unparse(target.value)}, which lies in the module")

    def _is_shared(self, node: ast.expr, whole: ast.expr | None = None) -> bool:
        """True if an expression is, or is part of, a list, mapping or object that lies in the module and can change.

        A class or a module changes only where something of it is written to, as ``whole`` does.
        """
        inside = isinstance(whole, ast.Attribute)
        while isinstance(node, ast.Attribute | ast.Subscript):
            node, inside = node.value, True
        if isinstance(node, ast.Call):
            cached = isinstance(node.func, ast.Name) and hasattr(self._in_module(node.func.id), "cache_info")
            return cached or _called(node) in ("globals", "vars")
        if not isinstance(node, ast.Name):
            return False
        if node.id in self._shared:
            return True
        value = self._in_module(node.id)
        if isinstance(value, World) or value is None or is_table(value):
            return False
        if isinstance(value, tuple | type | ModuleType):
            return inside
        return isinstance(value, list | dict | set | bytearray) or hasattr(value, "__dict__")

    def visit_Name(self, node: ast.Name) -> None:
        """A name that stands for something of the host's."""
        if not isinstance(node.ctx, ast.Load) or node in self._called or self._note_host(node, self._sin(node)):
            return
        name = node.id
        if not self._plays or name in self._local or name in self._imported or hasattr(self._module, name):
            return
        if name in BUILT_IN:
            self._note(node, "outside_io", f"{name}() reaches outside the world")
        elif name in ("hash", "id"):
            self._note(node, "set_order", f"{name}() differs from run to run")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """A look past the transaction, or something of the host's."""
        if self._plays and node.attr in BYPASSING and self._is_the_worlds(node):
            self._note(node, "past_the_transaction", f"reaches for {ast.unparse(node)}")
        elif node.attr == "__hash__" and self._plays:
            self._note(node, "set_order", f"{ast.unparse(node)} differs from run to run")
        elif self._plays and node not in self._called and ast.unparse(node) == "object.__setattr__":
            self._note(node, "past_the_transaction", "object.__setattr__() goes past the transaction")
        elif node not in self._called and not self._note_host(node, self._sin(node)) and not any(self._paths(node)):
            self.generic_visit(node)

    def _is_the_worlds(self, node: ast.Attribute) -> bool:
        """True if an attribute may be one of the transaction or a row: no column, and no part of another object."""
        on = node.value.id if isinstance(node.value, ast.Name) else ""
        return on in self._local and on != self._self and (on == "tx" or node.attr not in self._columns)

    def _path(self, node: ast.AST) -> str:
        """The full name of what a dotted name stands for, by its imports; nothing where these do not say."""
        return dotted(node, self._imported)

    def _paths(self, node: ast.AST) -> tuple[str, ...]:
        """The full names of what a dotted name stands for: by its imports, and by what it is, however it came there."""
        path = self._path(node)
        return (path,) if is_judged_by_name(path) else (path, self._true_name(node))

    def _sin(self, node: ast.AST) -> Sin | None:
        """Fault of something that is named."""
        return next((sin for path in self._paths(node) if (sin := sin_of(path))), None)

    def _true_name(self, node: ast.AST) -> str:
        """The full name that a function or class has where it was made, such as ``Day.today`` of a kind of date."""
        if isinstance(node, ast.Attribute):
            on = self._value(node.value)
            kind = cast("type[Any] | None", on if isinstance(on, type) else type(on) if isinstance(on, date) else None)
            for above in kind.__mro__ if kind else ():
                if node.attr in vars(above):
                    return f"{above.__module__}.{above.__qualname__}.{node.attr}"
        value = self._value(node)
        if not isinstance(value, type | FunctionType | BuiltinFunctionType | MethodType):
            return ""
        made = value.__module__ or type(getattr(value, "__self__", None)).__module__
        return f"{made}.{value.__qualname__}"

    def _value(self, node: ast.AST) -> Any:
        """Value of a dotted name of the module; None where only a session would tell."""
        if isinstance(node, ast.Name):
            return self._in_module(node.id)
        if not isinstance(node, ast.Attribute):
            return None
        on = self._value(node.value)
        found: Any = getattr_static(on, node.attr, None) if isinstance(on, ModuleType | type) else None
        return getattr_static(found, "__wrapped__", found)  # the function of a static method

    def visit_For(self, node: ast.For) -> None:
        """A loop, which must not go through a set, nor go on with what lies in the module."""
        self._gone_through(node.iter)
        self._gone_on_with(node.iter)
        self.generic_visit(node)

    def visit_ListComp(self, node: ast.ListComp | ast.DictComp) -> None:
        """A list or a mapping, which keep the order in which they are made."""
        for part in node.generators:
            self._gone_through(part.iter)
            self._gone_on_with(part.iter)
        self.generic_visit(node)

    visit_DictComp = visit_ListComp  # noqa: N815 - the name that ast looks for

    def visit_Starred(self, node: ast.Starred | ast.YieldFrom | ast.FormattedValue) -> None:
        """Record values that are laid out or given one by one, or written into a text."""
        self._gone_through(node.value)
        self.generic_visit(node)

    visit_YieldFrom = visit_FormattedValue = visit_Starred  # noqa: N815 - the names that ast looks for

    def _gone_through(self, node: ast.expr) -> None:
        while isinstance(node, ast.GeneratorExp):
            node = node.generators[0].iter
        if isinstance(node, ast.Call) and _called(node).rpartition(".")[2] in HANDING_ON:
            for part in node.args:
                self._gone_through(part)
        elif self._plays and self._is_set(node):
            self._note(
                node, "set_order", f"goes through the set {ast.unparse(node)}, whose order differs from run to run"
            )

    def _gone_on_with(self, node: ast.expr) -> None:
        """Note a step of an iterator that lies in the module: what it gives is gone for all sessions."""
        if self._plays and isinstance(node, ast.Name) and hasattr(self._in_module(node.id), "__next__"):
            self._note(node, "module_state", f"goes on with {node.id}, which lies in the module")

    def visit_Call(self, node: ast.Call) -> None:
        """A call."""
        path, first = self._path(node.func), next(iter(node.args), None)
        wrong = (sin_of_call(path, node) for path in self._paths(node.func))
        if self._note_host(node, self._sin(node.func) or next(filter(None, wrong), None)):
            self._called.add(node.func)
        elif isinstance(first, ast.Name) and first.id == self._self and _called(node) == "object.__setattr__":
            self._called.add(node.func)  # an object that sets up itself
        elif _called(node) == "getattr" and isinstance(named := next(iter(node.args[1:]), None), ast.Constant):
            self.visit(ast.copy_location(ast.Attribute(node.args[0], str(named.value), ast.Load()), node))
        if self._plays:
            self._judge_call(node, path)
            self._judge_stepping(node)
        self.generic_visit(node)

    def _in_module(self, name: str) -> Any:
        """Value under a name in the module, unless the function has something of its own there."""
        return None if name in self._local else getattr(self._module, name, None)

    def _judge_stepping(self, node: ast.Call) -> None:
        """Note a call that iterates over its argument, if that is a set, or takes items from a shared iterator."""
        name, first = _called(node), node.args[0] if node.args else None
        last = name.rpartition(".")[2]
        by_key = last in CHOOSING and any(item.arg == "key" for item in node.keywords)
        if (last in STEPPING or by_key or last in ("join", "fromkeys", "extend")) and first is not None:
            self._gone_through(first)
        elif last == "reduce" and len(node.args) > 1:
            self._gone_through(node.args[1])
        elif last == "pop" and first is None and isinstance(node.func, ast.Attribute) and self._is_set(node.func.value):
            self._note(node, "set_order", f"takes whatever comes first out of the set {ast.unparse(node.func.value)}")
        if name == "next" or last in HANDING_ON or last in STEPPING:
            for part in node.args:
                self._gone_on_with(part)
        elif last == "send" and isinstance(node.func, ast.Attribute):
            self._gone_on_with(node.func.value)

    def _judge_call(self, node: ast.Call, path: str) -> None:
        name = _called(node)
        last = name.rpartition(".")[2]
        on = node.func.value if isinstance(node.func, ast.Attribute) else None
        if last == "astimezone" and all(map(_is_none, [*node.args, *(item.value for item in node.keywords)])):
            self._note(node, "host_clock", f"{name}() without a time zone tells the time in the host's")
        elif isinstance(self._in_module(name.partition(".")[0]), random.Random):
            self._note(node, "chance", f"{name}() gives something else each time")
        elif on is not None and self._reads_files(node, on, last):
            self._note(node, "outside_io", f"{name}() reads or writes files")
        elif name == "cells_of":
            self._note(node, "past_the_transaction", f"{name}() goes past the transaction")
        elif on is not None and last in CHANGING and self._is_shared(on) and not self._is_own_method(on, last):
            self._note(node, "module_state", f"{name}() changes what lies in the module")
        elif path in CHANGING_FIRST and node.args and self._is_shared(node.args[0]):
            self._note(node, "module_state", f"{name}() changes {ast.unparse(node.args[0])}, which lies in the module")
        for table in _tables_in(node, self._module):
            if table not in self._tables and last in ("get", "find", "all", "one", "add"):
                self._note(node, "undeclared_table", f"uses table {table.__name__!r}, which the world does not have")

    def _reads_files(self, node: ast.Call, on: ast.expr, method: str) -> bool:
        """True if a method is that of a path, as far as the code says."""
        if self._is_path(on):
            return method in PATH_METHODS
        own_table = self._tables.intersection(_tables_in(node, self._module))
        return method in FILE_METHODS and method not in self._methods and not own_table

    def _is_path(self, node: ast.expr) -> bool:
        """True if an expression gives a path, as far as the code says: ``Path(x)``, ``HERE / x``, ``HERE.parent``."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            return self._is_path(node.left)
        if isinstance(node, ast.Call):
            on = node.func.value if isinstance(node.func, ast.Attribute) else None
            return self._path(node.func).startswith("pathlib.") or (on is not None and self._is_path(on))
        above = isinstance(node, ast.Attribute) and node.attr == "parent" and self._is_path(node.value)
        return above or isinstance(self._value(node), PurePath)

    def _is_own_method(self, on: ast.expr, method: str) -> bool:
        """True if a method is written in a world's code, where it is read by itself."""
        value = self._in_module(on.id) if isinstance(on, ast.Name) else None
        kind = cast("type[Any]", type(value))
        return isinstance(getattr(kind, method, None), FunctionType)

    def _is_set(self, node: ast.expr) -> bool:
        """True if an expression gives a set, as far as the code says."""
        if isinstance(node, ast.Name):
            return node.id in self._sets or isinstance(self._in_module(node.id), set | frozenset)
        if isinstance(node, ast.NamedExpr):
            return self._is_set(node.value)
        if isinstance(node, ast.Attribute):
            return isinstance(self._value(node), set | frozenset)
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


def _called(node: ast.AST | None) -> str:
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def _is_view(node: ast.expr) -> bool:
    """True if an expression is what a mapping has, which with & or | becomes a set."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in VIEWS


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_transaction(item: ast.arg) -> bool:
    """True if an argument is the transaction, by its annotation or, without one, by its name."""
    said = ast.unparse(item.annotation).strip("'\"") if item.annotation else item.arg
    return said.rpartition(".")[2] in ("Tx", "tx")


def _means_set(annotation: ast.expr | None) -> bool:
    """True if an annotation is that of a set."""
    return annotation is not None and re.match(r"(set|frozenset)\b", ast.unparse(annotation)) is not None


def _tables_in(node: ast.Call, module: ModuleType) -> list[type[Table]]:
    """The tables that a call is given first, such as ``tx.all(Order)``."""
    first = node.args[0] if node.args else None
    value = getattr(module, first.id, None) if isinstance(first, ast.Name) else None
    return [cast("type[Table]", value)] if is_table(value) else []
