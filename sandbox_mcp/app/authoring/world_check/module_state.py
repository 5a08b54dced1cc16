"""The plain values that a world's modules keep, to see whether a trial changed them.

Policy: looked at are lists, mappings, sets, texts and numbers under a module's names, in its classes, in the defaults
of its functions and as ``tx.knowledge``. State elsewhere shows only where a result follows from it.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from types import FunctionType, ModuleType
from typing import Any

from sandbox_mcp.engine.tools import World

PLAIN: tuple[type[object], ...] = (list, dict, set, tuple, bytearray, deque, str, int, float)
KNOWLEDGE = "tx.knowledge"


def state_of(world: World, modules: Iterable[ModuleType]) -> Mapping[tuple[str, str], str]:
    """Plain values by module and name, as texts; those of a class or a function stand under its name."""
    found: dict[tuple[str, str], Any] = {("", KNOWLEDGE): world.knowledge}
    for module in modules:
        for name, value in list(vars(module).items()):
            found[module.__name__, name] = value
            own = (
                getattr(value, "__module__", "") == module.__name__ if isinstance(value, type | FunctionType) else False
            )
            inside: dict[str, Any] = dict(vars(value)) if own and isinstance(value, type) else {}
            if own and isinstance(value, FunctionType):
                inside = {"defaults": (value.__defaults__, value.__kwdefaults__)}
            found |= {(module.__name__, f"{name}.{item}"): kept for item, kept in inside.items()}
    return {place: _text(value) for place, value in found.items() if "__" not in place[1]}


def _text(value: object) -> str:
    """Plain value as a text, and no text for any other object."""
    try:
        return repr(value) if isinstance(value, PLAIN) else ""
    except Exception:  # noqa: BLE001 - an object may do as it likes when it is looked at
        return ""
