"""Typed facts: their form in a scenario file, and their wordings where only wordings are compared.

Policy: one mapping is one fact, or a value and its direction; ``{wifi: off}`` is the state of the thing it names.
Anything but a typed fact is a list of wordings, and one of them must be said.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, cast, get_args

from sandbox_mcp.engine.talk.units import (
    SECONDS,
    UNITS,
    currency_code,
    listed,
    temperature_scale,
    unit_of_measure,
    unit_of_time,
)
from sandbox_scenarios.errors import ValueProblemError
from sandbox_scenarios.model import Fact, FactType

TYPES: tuple[FactType, ...] = get_args(FactType)
OPTIONS = ("about", "attribute", "not", "unit", "direction")
_PLACE = re.compile(r"\{\w+\}")
_MEASURED = re.compile(r"(\{\w+\}|[-+]?\d[\d,]*(?:\.\d+)?)\s*(.*)", re.DOTALL)
_TIME = re.compile(r"(?:[01]?[0-9]|2[0-3]):[0-5][0-9]")
_DATE = re.compile(r"(?:(?:[0-9]{4}-)?[0-9]{2}-)?[0-9]{2}")
_LENGTH = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?)\s{0,4}([a-z]{1,10})\.?", re.IGNORECASE)
"""A number of a unit of time."""
_BETWEEN = re.compile(r"(?:\s|,|\band\b)*", re.IGNORECASE)
"""What may stand between the parts of a length of time."""
DEEDS: Mapping[str, tuple[str, ...]] = {
    "send": listed(
        "sent, texted, messaged, told, let, informed, notified, knows, know, delivered, asked, answered, replied, done"
    ),
    "remind": listed("reminder, remind, reminded, set, scheduled, added, done"),
    "add": listed("saved, added, stored, created, in your contacts, in the contacts, in your address book, put, done"),
    "remove": listed(
        "removed, deleted, gone, erased, cleared, dropped, cancelled, canceled, no longer, taken out, done"
    ),
    "change": listed(
        "changed, updated, renamed, moved, corrected, fixed, rescheduled, shifted, postponed, pushed, adjusted, set, "
        "now, swapped, done"
    ),
    "switch": listed("turned, switched, enabled, disabled, activated, deactivated, on, off, done"),
    "timer": listed("timer, timers, set, started, running, done"),
    "stop": listed("stopped, cancelled, canceled, turned off, switched off, removed, gone, off, no longer, done"),
    "signin": listed("signed out, logged out, signed in, logged in, sign-out, done"),
}
"""The deeds that a message can tell of, with usual wordings."""


def facts_of(item: Any) -> tuple[Fact, ...]:
    """The facts that one item of a list of facts stands for.

    Raises:
        ValueProblemError: it names no known type, or its value is not one of that type.
    """
    if not isinstance(item, dict):
        return (Fact("text", wordings_of(item)),)
    parts = cast("dict[Any, Any]", item)
    named = [key for key in parts if key in TYPES]
    if "direction" in named and len(named) > 1:
        named.remove("direction")
    if not named:
        return (_state(parts),)
    if len(named) > 1:
        raise ValueProblemError(f"a fact has one type; found {', '.join(map(repr, named))} in one mapping")
    kind = cast("FactType", named[0])
    unknown = [key for key in parts if key != kind and key not in OPTIONS]
    if unknown:
        raise ValueProblemError(f"unknown key {unknown[0]!r} beside {kind!r}; expected {', '.join(OPTIONS)}")
    values, written = _values(kind, parts[kind])
    kind, unit = measured_in(kind, str(parts.get("unit") or written))
    fact = Fact(
        kind,
        values,
        unit,
        _strings(parts.get("about"), "about"),
        str(parts.get("attribute") or ""),
        _strings(parts.get("not"), "not"),
    )
    if kind != "direction" and "direction" in parts:
        return fact, Fact("direction", _values("direction", parts["direction"])[0], about=fact.about)
    return (fact,)


def measured_in(kind: FactType, unit: str) -> tuple[FactType, str]:
    """A type of fact and its unit, for a unit in any of its names.

    A quantity of degrees is a temperature, one of percent a percentage, one of hours a count, one of euros money.

    Raises:
        ValueProblemError: a quantity or temperature in a unit that no message could be read as stating.
    """
    if kind not in ("quantity", "temperature", "money") or not unit or _PLACE.search(unit):
        return kind, unit
    if kind == "money":
        return kind, currency_code(unit) or unit
    scale = temperature_scale(unit)
    if scale:
        return "temperature", scale
    if kind == "temperature":
        raise ValueProblemError(f"a temperature in an unknown unit {unit!r}; expected °C or °F")
    if unit.strip().lower() in ("%", "percent", "per cent"):
        return "percent", ""
    readings: tuple[tuple[FactType, str], ...] = (
        ("quantity", unit_of_measure(unit)), ("count", unit_of_time(unit)), ("money", currency_code(unit)),
    )  # fmt: skip
    for reading in readings:
        if reading[1]:
            return reading
    expected = ", ".join(sorted(UNITS))
    raise ValueProblemError(
        f"a quantity in an unknown unit {unit!r}; expected °C, °F, %, a time, a currency, {expected}"
    )


def wordings_of(item: Any) -> tuple[str, ...]:
    """The wordings of a fact written as a text or a list of texts."""
    texts = texts_of(cast("list[Any]", item) if isinstance(item, list) else [item], "facts")
    if not texts:
        raise ValueProblemError("a fact needs at least one wording")
    return texts


def texts_of(items: Sequence[Any], what: str) -> tuple[str, ...]:
    """The items of a list as texts; ``what`` is the key that it stands under.

    Raises:
        ValueProblemError: one of them is something else, or says nothing.
    """
    for item in items:
        if isinstance(item, bool | dict | list) or item is None:
            raise ValueProblemError(f"{what} expects texts, not {item!r}; put it in quotes")
        if not str(item).strip():
            raise ValueProblemError(f"{what} expects texts that say something, not {item!r}")
    return tuple(map(str, items))


def _state(parts: Mapping[Any, Any]) -> Fact:
    things = [key for key in parts if key not in OPTIONS]
    if len(things) != 1:
        raise ValueProblemError(
            f"expected one type of {', '.join(TYPES)}, or a thing and its state; found {keys_of(parts)}"
        )
    value = parts[things[0]]
    state = {True: "on", False: "off"}.get(value) if isinstance(value, bool) else str(value).lower()
    if state not in ("on", "off"):
        raise ValueProblemError(
            f"{things[0]!r} is not a type of fact, and its value {value!r} no state; known types: "
            f"{', '.join(TYPES)}; a state is on or off"
        )
    return Fact("state", (state,), str(things[0]).replace("_", " "), _strings(parts.get("about"), "about"))


def _values(kind: FactType, given: Any) -> tuple[tuple[Any, ...], str]:
    items = cast("list[Any]", given) if isinstance(given, list) else [given]
    if not items or any(item is None or isinstance(item, dict) for item in items):
        raise ValueProblemError(f"{kind} expects a value or a list of values, not {given!r}")
    units = list[str]()
    values = list[Any]()
    for item in items:
        value, unit = _value(kind, {True: "yes", False: "no"}[item] if isinstance(item, bool) else item)
        values.append(value)
        units.append(unit)
    return tuple(values), next((unit for unit in units if unit), "")


def _value(kind: FactType, item: Any) -> tuple[Any, str]:
    text = str(item).strip()
    told_later = _PLACE.search(text) is not None
    if kind == "duration":
        return (text if told_later else _seconds(item)), ""
    if kind == "time" and not told_later and not _TIME.fullmatch(text):
        raise ValueProblemError(f"time expects hours and minutes such as '14:40', in quotes, not {item!r}")
    if kind == "date" and not told_later and not _is_day(text):
        raise ValueProblemError(f"date expects '2026-03-29', '03-29' or '29', in quotes, not {item!r}")
    if kind in ("money", "quantity", "temperature", "count", "number", "percent"):
        found = _MEASURED.fullmatch(text)
        if found is None:
            raise ValueProblemError(f"{kind} expects a number, perhaps with a unit, not {item!r}")
        unit = found[2].strip()
        number = found[1] if _PLACE.fullmatch(found[1]) else float(found[1].replace(",", ""))
        unit = unit.rstrip("s") if kind == "count" else unit
        return (int(number) if isinstance(number, float) and number.is_integer() else number), unit
    if kind in ("deed", "undone") and text not in DEEDS:
        raise ValueProblemError(f"unknown deed {text!r}; known: {', '.join(DEEDS)}")
    if kind == "direction" and text not in ("up", "down"):
        raise ValueProblemError(f"a direction is up or down, not {item!r}")
    if not text:
        raise ValueProblemError(f"{kind} expects texts that say something, not {item!r}")
    return text, ""


def _is_day(text: str) -> bool:
    """True if a calendar has such a day: with month and year, in a leap year, or in a long month."""
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat("2000-01-"[: 10 - len(text)] + text)
    except ValueError:
        return False
    return True


def _seconds(item: Any) -> float:
    """A length of time in seconds; a text must be understood to its end, not just in part."""
    if isinstance(item, int | float):
        return item
    found = [(float(number), unit_of_time(unit)) for number, unit in _LENGTH.findall(str(item))]
    whole = _BETWEEN.fullmatch(_LENGTH.sub(" ", str(item))) and all(unit in SECONDS for _, unit in found)
    if not found or not whole:
        raise ValueProblemError(f"duration expects seconds, or a text such as '7 hours 40 minutes', not {item!r}")
    return sum(number * SECONDS[unit] for number, unit in found)


def _strings(value: Any, what: str) -> tuple[str, ...]:
    if value is None:
        return ()
    items = cast("list[Any]", value) if isinstance(value, list) else [value]
    if any(not isinstance(item, str | int) or isinstance(item, bool) for item in items):
        raise ValueProblemError(f"{what} expects texts, not {value!r}")
    return tuple(map(str, items))


def keys_of(parts: Mapping[Any, Any]) -> str:
    """The keys of a mapping, for an error message."""
    return ", ".join(map(repr, parts)) or "nothing"
