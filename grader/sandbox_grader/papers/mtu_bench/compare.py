"""Equality of two sets of arguments: as the authors' code has it, and as the paper means it.

Policy: the authors' comparison is a substring test over rewritten text and has a direction; ours compares values,
forgives only how a number, a truth value or a text is written, and takes null for absent.
"""

from collections.abc import Mapping
from decimal import Decimal
from math import isfinite
from typing import Any

from sandbox_grader.grading.values import is_array, is_object

_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_IGNORED = "hotel"
_NUMBER_LENGTH = 64


def contained(inner: Mapping[str, Any], outer: Mapping[str, Any]) -> bool:
    """True if the authors' code passes ``inner`` against ``outer``.

    Values are compared as text in lower case. Entries that say just ``hotel`` are dropped on both sides; what is left
    must be equally many, each name of ``inner`` in ``outer``, and each value a substring of its counterpart. So an
    empty value fits anything, and a 1 fits a 21.
    """
    left, right = _texts(inner), _texts(outer)
    return len(left) == len(right) and all(
        name in right and normalised(value) in normalised(right[name]) for name, value in left.items()
    )


def normalised(value: str) -> str:
    """A value as the authors compare it.

    ``my`` goes, every digit becomes a word wherever it stands (10 is ``onezero``), ``FindProvider`` passes for
    ``BookAppointment``, today is Monday. Their table of dates never applies, for its digits are words by then.
    """
    value = value.replace("my ", "")
    for digit, word in enumerate(_DIGITS):
        value = value.replace(str(digit), word)
    return value.replace("findprovider.", "bookappointment.").replace("today", "monday")


def same_arguments(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    """True if two calls were given the same: equal names, equal values, null as good as absent."""
    given, wanted = given_arguments(left), given_arguments(right)
    return given.keys() == wanted.keys() and all(same_value(given[name], wanted[name]) for name in given)


def given_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that say something."""
    return {name: value for name, value in arguments.items() if value is not None}


def same_value(left: Any, right: Any) -> bool:
    """True if two values mean the same.

    ``5``, ``5.0`` and ``"5"`` do, as do ``true`` and ``"True"``, and texts that differ in case and blanks. A leading
    zero makes a text, so codes and telephone numbers stay what they are. Lists keep their order.
    """
    if is_object(left) and is_object(right):
        return same_arguments(left, right)
    if is_array(left) and is_array(right):
        return len(left) == len(right) and all(map(same_value, left, right))
    return _plain(left) == _plain(right)


def _texts(arguments: Mapping[str, Any]) -> dict[str, str]:
    lowered = {name: str(value).lower() for name, value in arguments.items()}
    return {name: value for name, value in lowered.items() if value != _IGNORED}


def _plain(value: Any) -> Any:
    """A scalar that compares: a number as exact decimal, a text or truth value folded, anything else as its repr."""
    if not isinstance(value, bool | str | int | float):
        return repr(value)
    if isinstance(value, float) and isfinite(value):
        return Decimal(repr(value))
    text = " ".join(str(value).split()).casefold()
    return Decimal(text) if _is_number(text) else text


def _is_number(text: str) -> bool:
    whole, _, part = text.removeprefix("-").partition(".")
    plain = whole.isascii() and whole.isdigit() and (whole == "0" or whole[0] != "0")
    return plain and len(text) <= _NUMBER_LENGTH and (not part or (part.isascii() and part.isdigit()))
