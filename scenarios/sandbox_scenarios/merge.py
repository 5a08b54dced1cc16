"""Inheritance by ``extends``: a branch states only its differences.

Policy: mappings merge key by key, a null row or key removes what was inherited, lists and texts replace what was
inherited, except under a key written with ``+`` (``tools+``), which adds to it.
"""

from collections.abc import Sequence
from typing import Any, cast

RESERVED = ("name", "abstract", "extends", "about", "tags", "choose")
"""What a branch never inherits."""
_MERGED = ("world", "state", "clock", "user", "script", "allows", "draws", "generate")


def merge(base: dict[str, Any], branch: dict[str, Any]) -> dict[str, Any]:
    """A branch on top of what it extends. Neither argument is changed."""
    merged = {key: value for key, value in base.items() if key not in RESERVED}
    for key, value in branch.items():
        if is_addition(key, value):
            merged[key[:-1]] = [*_items(merged.get(key[:-1])), *value]
        elif key in _MERGED and isinstance(value, dict):
            merged[key] = _deep(merged.get(key), cast("dict[str, Any]", value))
        else:
            merged[key] = value
    return merged


def alternative(merged: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """A merged entry with an alternative of its own ``choose`` on top; it stays the same scenario."""
    own = {key: merged[key] for key in RESERVED if key in merged and key != "choose"}
    return {**own, **merge(merged, change)}


def is_addition(key: str, value: Any) -> bool:
    """True if a key adds to a list; a ``+`` on anything else is left there, and then is an unknown key."""
    return isinstance(value, list) and key.endswith("+")


def _deep(base: Any, branch: dict[str, Any]) -> dict[str, Any]:
    merged: dict[str, Any] = dict(cast("dict[str, Any]", base)) if isinstance(base, dict) else {}
    for key, value in branch.items():
        if value is None:
            merged.pop(key, None)
        elif type(value) is str or type(value) is int:  # most cells of the thousand rows that a generator makes
            merged[key] = value
        elif isinstance(value, dict):
            merged[key] = _deep(merged.get(key), cast("dict[str, Any]", value))
        elif is_addition(key, value):
            merged[key[:-1]] = [*_items(merged.get(key[:-1])), *value]
        else:
            merged[key] = value
    return merged


def _items(value: Any) -> list[Any]:
    return list(cast("list[Any]", value)) if isinstance(value, list) else []


def written_as(entry: dict[str, Any], base: dict[str, Any], path: Sequence[str | int]) -> tuple[str | int, ...]:
    """A path in the merged scenario as it is written in ``entry``, which extends ``base``.

    It ends where what it leads to was inherited; a position in a list that was added to is counted from what was added.
    """
    written: list[str | int] = []
    here: Any = entry
    inherited: Any = base
    for index, part in enumerate(path):
        if not isinstance(here, dict) or not isinstance(part, str):
            return (*written, *path[index:])
        inherited = cast("dict[str, Any]", inherited).get(part) if isinstance(inherited, dict) else None
        if f"{part}+" in here:
            rest, skipped = path[index + 1 :], len(_items(inherited))
            if not rest or not isinstance(rest[0], int):
                return (*written, f"{part}+")
            return (*written, f"{part}+", rest[0] - skipped, *rest[1:]) if rest[0] >= skipped else tuple(written)
        if part not in here:
            break
        written.append(part)
        here = cast("dict[str, Any]", here)[part]
    return tuple(written)
