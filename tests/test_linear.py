"""No text from outside can make a pattern or a function of ours work more than in proportion to its length.

Every pattern of every package is found, those in tables and those written where they are used, and attacked at each of
its open repetitions; so is every function that takes a text and nothing else. What is counted are steps of a matcher
and lines of Python, so that no machine is too slow for this test.
"""

import ast
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from types import ModuleType
from typing import Any, cast

import pytest

from tests.counted_steps import Matcher, TooManyStepsError, attacks, lines, pieces

PACKAGES = ("sandbox_mcp", "sandbox_scenarios", "sandbox_grader", "sandbox_clients")
SIGNS = 14
"""Length of the smaller of the two texts that are compared; the other is twice as long."""
FACTOR = 2.9
"""Steps may grow by so much at twice the length: 2 is linear, 4 quadratic."""
TRUSTED = {"sandbox_grader.milestones.measures"}
"""Modules whose patterns read nothing from outside: names of our own columns."""
INDENTED = re.compile(r"^\s.*\bre\.[a-z]+\(", re.MULTILINE)
"""Where a pattern may be written inside of a function."""


@cache
def modules(package: str) -> tuple[ModuleType, ...]:
    root = importlib.import_module(package)
    found: list[ModuleType] = []
    for info in pkgutil.walk_packages(root.__path__, package + "."):
        if ".workers" in info.name or ".cli" in info.name or info.name.endswith("__main__") or info.name in TRUSTED:
            continue
        try:
            found.append(importlib.import_module(info.name))
        except ModuleNotFoundError as missing:
            assert not (missing.name or "").startswith("sandbox_")  # noqa: PT017 - it is a package of an extra
    return tuple(found)


def patterns(package: str) -> Iterator[tuple[str, str, int, bool]]:
    """Each pattern once: where it stands, what it says, its flags, and whether only the start of a text is matched."""
    for module in modules(package):
        source = module.__spec__.loader.get_source(module.__name__) or ""
        held = [found for name, value in vars(module).items() for found in _inside(name, value)]
        written_inside = INDENTED.search(source)
        if not held and not written_inside:
            continue
        nodes = list(ast.walk(ast.parse(source)))
        used = _methods(nodes)
        for name, is_used_as, pattern in held:
            if isinstance(pattern.pattern, str):
                at_start = used.get(is_used_as, {"search"}) <= {"match", "fullmatch"}
                yield f"{module.__name__}.{name}", pattern.pattern, pattern.flags, at_start
        inner = [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
        for call in (node for function in inner if written_inside for node in ast.walk(function)):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and isinstance(call.func.value, ast.Name)
                and call.func.value.id == "re"
                and call.func.attr in ("match", "fullmatch", "search", "sub", "split", "findall", "finditer", "compile")
            ):
                written = _written(call.args[0], module)
                if written:
                    where = f"{module.__name__}:{call.lineno}"
                    yield where, written, _flags(call), call.func.attr in ("match", "fullmatch")


def _inside(name: str, value: Any, is_used_as: str = "", depth: int = 0) -> Iterator[tuple[str, str, re.Pattern[Any]]]:
    """The patterns in a value, with the name of the value and that by which code gets at the pattern, if it has one."""
    if isinstance(value, re.Pattern):
        yield name, is_used_as if depth else name, value
        return
    items: list[tuple[str, Any]] = []
    if depth < 4 and isinstance(value, dict):
        table = cast("dict[Any, Any]", value)
        items = [("", item) for item in (*table, *table.values())]
    elif depth < 4 and isinstance(value, (tuple, list, set, frozenset)):
        items = [("", item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    elif depth < 4 and is_dataclass(value) and not isinstance(value, type):
        items = [(item.name, getattr(value, item.name)) for item in fields(value)]
    for inner, item in items:
        yield from _inside(name, item, inner, depth + 1)


def _methods(nodes: Sequence[ast.AST]) -> dict[str, set[str]]:
    """By which methods each name and attribute of a module is used; handing one on counts as searching."""
    used: dict[str, set[str]] = {}
    methods = {id(node.value): node.attr for node in nodes if isinstance(node, ast.Attribute)}
    for node in nodes:
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            name = node.id if isinstance(node, ast.Name) else node.attr
            used.setdefault(name, set()).add(methods.get(id(node), "search"))
    return used


def _written(node: ast.expr, module: ModuleType) -> str:
    """The pattern that an expression makes; what only a call knows, which is escaped wherever it is text, is a word."""
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) else _written(part.value, module)  # type: ignore[attr-defined]
            for part in node.values
        )
    try:
        value = eval(compile(ast.Expression(node), "pattern", "eval"), dict(vars(module)))
    except Exception:  # noqa: BLE001 - names of a function are not known here
        return "word"
    return value if isinstance(value, str) else ""


def _flags(call: ast.Call) -> int:
    written = [*call.args[1:], *(word.value for word in call.keywords)]
    names = {node.attr for arg in written for node in ast.walk(arg) if isinstance(node, ast.Attribute)}
    return sum(int(getattr(re, name)) for name in names if name.isupper() and hasattr(re, name))


def growth(pattern: str, flags: int, *, at_start: bool) -> tuple[float, tuple[str, str, str]]:
    """By how much the steps grow at twice the length, for the worst attack, and that attack."""
    worst = (0.0, ("", "", ""))
    flags, found = pieces(f"(?:{pattern})\\Z" if at_start and "(?m)" not in pattern else pattern, flags)
    for piece in found:
        attacked = list(attacks(piece, flags))
        matcher = Matcher(piece if attacked else [], flags)
        for lead, body, end in attacked:
            times = max(6, SIGNS // len(body))
            try:
                small = matcher.count(lead + body * times + end, everywhere=not at_start)
                large = matcher.count(lead + body * 2 * times + end, everywhere=not at_start)
            except TooManyStepsError:
                return float("inf"), (lead, body, end)
            worst = max(worst, (large / small, (lead, body, end)))
    return worst


@pytest.fixture(autouse=True)
def _deep() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize(
    ("pattern", "grows"),
    [(r"(?<!\w)\w+", False), (r"\w+@", True), (r"(a+)+b", True), (r"what.*done", True), (r"what.{0,40}done", False),
     (r"\{[^}]*\}", True), (r"\{[^{}]*\}", False), (r"(?>a+)b", True), (r"(?:a|a)*b", True)],
)  # fmt: skip
def test_what_grows_faster_than_a_text_is_found(pattern: str, grows: bool) -> None:
    assert (growth(pattern, 0, at_start=False)[0] > FACTOR) == grows


@pytest.mark.parametrize("package", PACKAGES)
def test_every_pattern_is_linear_in_the_length_of_a_text(package: str) -> None:
    faults: dict[str, str] = {}
    seen: set[tuple[str, int, bool]] = set()
    for where, pattern, flags, at_start in patterns(package):
        if (pattern, flags, at_start) in seen:
            continue
        seen.add((pattern, flags, at_start))
        factor, attack = growth(pattern, flags, at_start=at_start)
        if factor > FACTOR:
            faults[f"{where} {len(faults)}"] = (
                f"{factor:.1f} times the steps at twice the length of {attack}: {pattern[:80]}"
            )
    assert not faults, "\n".join(f"{where}: {why}" for where, why in faults.items())


TEXTS = {"text", "message", "content", "said", "line", "words", "asked", "wording", "query", "written", "reply"}
"""Names of parameters that hold what was written elsewhere."""
PIECES = (
    "a", "1", " ", "\n", "'", '"', "(", "{", "[", "a.", "a, ", "\\", "`", "- a\n", "shall I? ", "not ", "and ", "{a:",
    "ignore that. ", "on 5 May at 14:40 ", "1,000 ", "OK-123456 ", "Action: a\n",
)  # fmt: skip
LETTERS = 100
ANYWAY = 60
"""Lines that a function may take whatever it is given."""


def functions(package: str) -> Iterator[tuple[str, Callable[[str], Any]]]:
    """Each function whose only necessary argument is a text."""
    for module in modules(package):
        for name, value in vars(module).items():
            function = inspect.unwrap(value) if callable(value) else None
            if not inspect.isfunction(function) or function.__module__ != module.__name__:
                continue
            if inspect.iscoroutinefunction(function):
                continue
            needed = [
                parameter
                for parameter in inspect.signature(function).parameters.values()
                if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
            ]
            if len(needed) == 1 and needed[0].annotation is str and needed[0].name in TEXTS:
                yield f"{module.__name__}.{name}", function


def test_lines_are_counted() -> None:
    def pairs(text: str) -> int:
        total = 0
        for first in text:
            for second in text:
                total += first == second
        return total

    assert lines(pairs, "a" * 40) > 3.5 * lines(pairs, "a" * 20)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_function_of_a_text_is_linear_in_its_length(package: str) -> None:
    found = dict(functions(package))
    faults: list[str] = []
    for where, function in found.items():
        with suppress(Exception):
            function("a word")  # what is made once is not growth
        for piece in PIECES:
            times = max(8, LETTERS // len(piece))
            small, large = lines(function, piece * times), lines(function, piece * 2 * times)
            if large > FACTOR * small + ANYWAY:
                faults.append(f"{where}: {small} lines, {large} at twice the length of {piece!r}")
    assert not faults, "\n".join(faults)
