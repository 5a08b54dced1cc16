"""JSON values, their parts, and when one is the wanted one: one rule for every metric that compares calls.

Policy: values are JSON values; true is not 1, 1 is 1.0, and null is the same as not given. What people would word
differently is compared as text, everything else exactly.
"""

import math
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import lru_cache, wraps
from typing import Any, TypeGuard, TypeVar

FREE_TEXT = frozenset(
    {
        "body", "comment", "content", "description", "message", "note", "notes", "reason", "subject", "summary",
        "task", "text", "title",
    }
)  # fmt: skip
"""Names of arguments whose value is free text, in whatever tool they occur."""

_PLAIN = (str, int, float, type(None), list)
"""What most values are, and what a look at their abstract base classes would take long to say."""
_Read = TypeVar("_Read")


def remembered(most: int, longest: int = 2000) -> Callable[[Callable[[str], _Read]], Callable[[str], _Read]]:
    """Keep what the last ``most`` texts were read as; those of ``longest`` characters or more are read anew."""

    def keep(read: Callable[[str], _Read]) -> Callable[[str], _Read]:
        known = lru_cache(maxsize=most)(read)

        @wraps(read)
        def reading(text: str) -> _Read:
            return known(text) if len(text) < longest else read(text)

        return reading

    return keep


def same_value(first: Any, second: Any) -> bool:
    """True if two JSON values are equal, where a null entry equals an absent one."""
    if isinstance(first, str):
        return bool(first == second)
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if is_object(first) and is_object(second):
        return all(same_value(first.get(name), second.get(name)) for name in first.keys() | second.keys())
    if is_array(first) and is_array(second):
        return len(first) == len(second) and all(map(same_value, first, second))
    return first == second


def form_of(value: Any) -> Hashable:
    """Hashable form that two JSON values share exactly if :func:`same_value` holds, to look values up by."""
    if isinstance(value, str):
        return value
    if is_object(value):
        return "object", frozenset((name, form_of(item)) for name, item in value.items() if item is not None)
    if is_array(value):
        return "array", tuple(map(form_of, value))
    return (bool, value) if isinstance(value, bool) else value


def same_set(first: Any, second: Any) -> bool:
    """True if two arrays hold the same values, in whatever order and however often; other values must be equal."""
    if not (is_array(first) and is_array(second)):
        return same_value(first, second)
    return _covers(first, second) and _covers(second, first)


def says_nothing(value: Any) -> bool:
    """True if a value holds no information: null, an empty text or array, or an object of nothing but such values."""
    if is_object(value):
        return all(map(says_nothing, value.values()))
    if is_array(value):
        return not value
    return value is None or value == ""


def is_object(value: Any) -> TypeGuard[Mapping[str, Any]]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict) or (not isinstance(value, _PLAIN) and isinstance(value, Mapping))


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether a JSON value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_array(value: Any) -> TypeGuard[Sequence[Any]]:
    """Whether a JSON value is an array."""
    return isinstance(value, list | tuple)


def leaves(value: Any) -> Iterator[Any]:
    """The values inside a JSON value that have no parts."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):  # as most of them are
            yield item
        elif is_object(item):
            stack.extend(item.values())
        elif is_array(item):
            stack.extend(item)
        else:
            yield within_floats(item)


def within_floats(value: Any) -> Any:
    """A value; a whole number beyond all floats as infinity, because it is compared with measures."""
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        return math.inf if value > 0 else -math.inf
    return value


def _covers(whole: Sequence[Any], part: Sequence[Any]) -> bool:
    return all(any(same_value(item, other) for other in whole) for item in part)
