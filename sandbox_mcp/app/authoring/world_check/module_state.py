"""The state of a world's modules, in a form that shows whether anything in it changed while tools ran.

Policy: looked at are a module's names, with those inside lists, mappings and objects of its own classes, the classes
themselves, what functions keep in defaults, in names of the functions around them and in attributes, and how far
iterators are. What ``functools`` keeps so as not to work it out again is left alone: it changes no result.
"""

import random
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import cached_property
from io import BytesIO, StringIO
from types import FunctionType, GeneratorType, ModuleType
from typing import Any, cast

from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.world.tables import is_table

DEEPEST, MOST = 12, 20_000
"""How deep things are looked into, and how many of them in all."""


KNOWLEDGE = "tx.knowledge"


def state_of(world: World, modules: Iterable[ModuleType]) -> Mapping[tuple[str, str], object]:
    """By module and name the values kept there, as plain ones; what functions keep stands under their names.

    What tools look things up in stands under its own.
    """
    known = tuple(modules)
    own = frozenset(module.__name__ for module in known)
    found: dict[tuple[str, str], object] = {("", KNOWLEDGE): _Look(own).at(world.knowledge)}
    for module in known:
        look = _Look(own)
        for name, value in list(vars(module).items()):
            if not name.startswith("__"):
                found[module.__name__, name] = look.at(value)
        for name, function in world.functions.items():
            if function.__module__ == module.__name__ and vars(module).get(function.__name__) is not function:
                found[module.__name__, name] = look.at(function)
    return found


class _Look:
    """One look at what a module keeps."""

    def __init__(self, own: frozenset[str]) -> None:
        self._own = own  # the names of the world's modules
        self._seen: dict[int, tuple[int, Any]] = {}  # with the value, so that no other one gets its id

    def at(self, value: Any, depth: int = 0) -> object:
        """A value as something that is equal as long as nothing in it changes."""
        if value is None or isinstance(value, str | bytes | int):
            return value
        if isinstance(value, float | complex):
            return repr(value)  # NaN would not even equal itself
        if isinstance(value, ModuleType | World) or is_table(value) or depth > DEEPEST or len(self._seen) > MOST:
            return type(value).__name__
        if id(value) in self._seen:
            return "seen", self._seen[id(value)][0]
        self._seen[id(value)] = len(self._seen), value
        try:
            return type(value).__name__, [(name, self.at(part, depth + 1)) for name, part in self._parts(value)]
        except Exception:  # noqa: BLE001 - an object may do as it likes when it is looked at
            return type(value).__name__

    def _parts(self, value: Any) -> Iterator[tuple[object, object]]:
        if isinstance(value, Mapping):
            yield from ((repr(key), part) for key, part in list(cast("Mapping[Any, Any]", value).items()))
        elif isinstance(value, set | frozenset):
            yield from ((text, None) for text in sorted(map(repr, cast("set[Any]", value))))
        elif isinstance(value, list | tuple) or type(value).__name__ == "deque":
            yield from enumerate(list(cast("Iterable[Any]", value)))
        elif isinstance(value, random.Random):
            yield "state", hash(value.getstate())
        elif isinstance(value, GeneratorType):
            frame = cast("GeneratorType[Any, Any, Any]", value).gi_frame
            yield "line", None if frame is None else frame.f_lasti
            yield from () if frame is None else sorted(frame.f_locals.items())
        elif isinstance(value, FunctionType):
            yield from self._kept_by(value)
        elif isinstance(value, type) and value.__module__ in self._own:
            yield from ((name, part) for name, part in list(vars(value).items()) if not name.startswith("__"))
        elif type(value).__module__ in self._own:
            yield from _attributes(value)
        else:
            yield from _in_the_librarys(value)

    def _kept_by(self, function: FunctionType) -> Iterator[tuple[str, object]]:
        """Objects that a function keeps from call to call."""
        if function.__module__ in self._own:
            yield "defaults", (function.__defaults__ or (), function.__kwdefaults__ or {})
            yield "attributes", {name: part for name, part in vars(function).items() if name != "__wrapped__"}
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
                try:
                    yield name, cell.cell_contents
                except ValueError:  # nothing is in it yet
                    yield name, None


def _in_the_librarys(value: Any) -> Iterator[tuple[str, object]]:
    """Content of an object of a kind that Python's library has for keeping things or giving them one by one."""
    if isinstance(value, StringIO | BytesIO):
        yield "text", value.getvalue()
    elif type(value).__module__ in ("array", "queue", "_queue"):
        yield "items", list(getattr(value, "queue", value))
    elif isinstance(value, ContextVar):
        yield "now", cast("ContextVar[Any]", value).get(None)
    elif type(value).__module__ in ("builtins", "itertools") and hasattr(value, "__next__"):
        try:
            yield "so far", repr(value.__reduce__())
        except TypeError:  # it does not say how far it is
            yield "so far", repr(value)


def _attributes(value: Any) -> Iterator[tuple[str, object]]:
    """Attributes of an object, without what it has worked out and keeps."""
    kind = cast("type[Any]", type(value))
    for name, part in list(getattr(value, "__dict__", {}).items()):
        if not isinstance(getattr(kind, name, None), cached_property):
            yield name, part
    for above in kind.__mro__:
        slots = above.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                yield name, getattr(value, name)
