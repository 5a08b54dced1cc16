"""Conversion between units of measurement.

Policy: a name means what the ``pint`` registry says it means, once everyday wording ("degrees Celsius", "sq ft", "fl
oz", "nautical miles") is put in pint's terms; tried as written, then in lower case. ``C``, ``F`` and ``K`` mean what
pint says they mean; only where that reading fails and reading them as temperatures does not, they are temperatures.
What people name most is read from a table that says the same, without the registry; run as a program, this writes it.
"""

import json
import re
import sys
from functools import cache, lru_cache
from importlib import import_module
from math import isfinite
from pathlib import Path
from tokenize import TokenError
from typing import Any, Protocol

from sandbox_mcp.engine.worlds.phone.knowledge.errors import (
    IncompatibleUnitsError,
    InvalidQuestionError,
    KnowledgeError,
    UnknownUnitError,
)
from sandbox_mcp.engine.worlds.phone.knowledge.unit_table import made, unit_table

SIGNIFICANT_DIGITS = 12
"""Results are rounded to this many digits, so that 20 °C is 68 °F and not 67.99999999999993."""

MAX_LENGTH = 80
TEMPERATURE_LETTERS = {"c": "degC", "f": "degF", "k": "kelvin"}
_SCALE = r"(celsius|centigrade|fahrenheit|kelvins?|rankine|c|f|k|r)"
_WORDING = (
    ("℃", "degC"),
    ("℉", "degF"),
    (r"(°|º)\s*", "deg"),
    (rf"\bdeg(?:ree)?s?\.?[\s_]*{_SCALE}\b", r"deg_\1"),
    (r"\b(?:deg_)?(?:celsius|centigrade)\b|\bdeg_c\b", "degC"),
    (r"\b(?:deg_)?fahrenheit\b|\bdeg_f\b", "degF"),
    (r"\bdeg_(?:kelvins?|k)\b", "kelvin"),
    (r"\bdeg_(?:rankine|r)\b", "degR"),
    (r"\bfl\.?\s*(?:oz|ounces?)\.?", "fluid_ounce"),
    (r"\bsq\.?\s+", "square "),
    (r"\bcu\.?\s+", "cubic "),
    (r"\bkmp?h\b", "kph"),
    (r"\bmpg\b", "mile/gallon"),
    (r"(?<=[a-z])([23])\b", r"**\1"),
)  # pattern, replacement; applied in this order, whatever the case
_WILD_POWER = re.compile(r"(\*\*|\^)\s*([-+]?\d+(?:\.\d*)?\s*(\*\*|\^)|[-+]?\d{3}|[-+]?\()")
_NOT_A_UNIT = (
    AttributeError, ValueError, TypeError, SyntaxError, ArithmeticError, LookupError, AssertionError, TokenError,
)  # fmt: skip


class UnitSource(Protocol):
    """Anything that can convert an amount."""

    def convert(self, amount: float, from_unit: str, to_unit: str) -> float:
        """``amount`` of ``from_unit``, in ``to_unit``."""
        ...


class OfflineUnits:
    """Conversions by the pint registry."""

    def convert(self, amount: float, from_unit: str, to_unit: str) -> float:
        """``amount`` of ``from_unit``, in ``to_unit``, to 12 significant digits.

        Raises:
            UnknownUnitError: no unit goes by one of the names.
            IncompatibleUnitsError: the units measure different things.
            InvalidQuestionError: the amount or the result is not a finite number.
        """
        if not isfinite(amount):
            raise InvalidQuestionError(f"amount {amount!r} is not a finite number")
        try:
            return _convert(amount, from_unit, to_unit)
        except (UnknownUnitError, IncompatibleUnitsError) as error:
            names = [TEMPERATURE_LETTERS.get(name.strip().lower(), name) for name in (from_unit, to_unit)]
            if names == [from_unit, to_unit]:
                raise
            try:
                return _convert(amount, *names)
            except KnowledgeError:
                raise error from None


def _convert(amount: float, from_unit: str, to_unit: str) -> float:
    table = unit_table()
    one, other = (table.names.get(name.strip()) for name in (from_unit, to_unit))
    if one is not None and other is not None:
        if not table.measure_the_same(one, other):
            dimensions = (_dimension(table.units[unit]) for unit in (one, other))
            raise IncompatibleUnitsError(from_unit, to_unit, *dimensions)
        return _rounded(table.convert(float(amount), one, other), amount, from_unit, to_unit)
    source, target = registered(from_unit), registered(to_unit)
    if source.dimensionality != target.dimensionality:
        dimensions = (_dimension(unit.dimensionality) for unit in (source, target))
        raise IncompatibleUnitsError(from_unit, to_unit, *dimensions)
    try:
        value = float(registry().Quantity(float(amount), source).to(target).magnitude)
    except _NOT_A_UNIT as error:
        raise InvalidQuestionError(f"cannot convert {amount!r} {from_unit!r} to {to_unit!r}: {error}") from error
    return _rounded(value, amount, from_unit, to_unit)


def _rounded(value: float, amount: float, from_unit: str, to_unit: str) -> float:
    if not isfinite(value):
        raise InvalidQuestionError(f"{amount!r} {from_unit!r} is too large a number of {to_unit!r}")
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}")


def _dimension(dimensionality: object) -> str:
    return str(dimensionality).replace("[", "").replace("]", "")


@cache
def registry() -> Any:
    """The registry of pint, which takes most of a second to build."""
    return import_module("pint").UnitRegistry(cache_folder=None, on_redefinition="ignore")


@lru_cache(maxsize=1024)
def registered(name: str) -> Any:
    """The registry's unit of that name; of the ways to spell it for pint, the most specific is tried first.

    Raises:
        UnknownUnitError: no unit is called that.
    """
    if not name.strip() or len(name) > MAX_LENGTH or _WILD_POWER.search(name):
        raise UnknownUnitError(name)
    worded = name.strip()
    for pattern, replacement in _WORDING:
        worded = re.sub(pattern, replacement, worded, flags=re.IGNORECASE)
    for spelling in dict.fromkeys((worded, worded.lower())):
        for reading in (re.sub(r"[\s-]+", "_", spelling), spelling):
            try:
                return registry().parse_units(reading)
            except _NOT_A_UNIT:
                continue
    raise UnknownUnitError(name)


def main(output: Path) -> None:
    """Write the table of the units that people name most."""
    output.write_text(f"{json.dumps(made(registry(), registered), ensure_ascii=False, indent=1)}\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
