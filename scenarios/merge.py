"""What ``extends`` means: a branch says only what is different.

Policy: mappings merge key by key, a null row or key removes what was inherited, lists and texts replace what was
inherited, except under a key written with ``+`` (``tools+``), which adds to it.
"""

from typing import Any, cast

RESERVED = ("name", "abstract", "extends", "about")
"""What a branch never inherits."""
_MERGED = ("world", "clock", "user", "script", "allows")


def merge(base: dict[str, Any], branch: dict[str, Any]) -> dict[str, Any]:
    """A branch on top of what it extends. Neither argument is changed."""
    merged = {key: value for key, value in base.items() if key not in RESERVED}
    for key, value in branch.items():
        if key.endswith("+"):
            plain = key[:-1]
            merged[plain] = [*_items(merged.get(plain)), *_items(value)]
        elif key in _MERGED and isinstance(value, dict):
            merged[key] = _deep(merged.get(key), cast("dict[str, Any]", value))
        else:
            merged[key] = value
    return merged


def _deep(base: Any, branch: dict[str, Any]) -> dict[str, Any]:
    merged: dict[str, Any] = dict(cast("dict[str, Any]", base)) if isinstance(base, dict) else {}
    for key, value in branch.items():
        if key.endswith("+"):
            merged[key[:-1]] = [*_items(merged.get(key[:-1])), *_items(value)]
        elif value is None:
            merged.pop(key, None)
        elif isinstance(value, dict):
            merged[key] = _deep(merged.get(key), cast("dict[str, Any]", value))
        else:
            merged[key] = value
    return merged


def _items(value: Any) -> list[Any]:
    return list(cast("list[Any]", value)) if isinstance(value, list) else []
