"""Whether a value that a message mentions is the value of a fact: in its unit or another, rounded as people round.

Policy: what people would round may be rounded, by a share of the value, further where it is said to be about right.
"""

import math
import re
from typing import Any

from sandbox_scenarios.model import Fact

from sandbox_mcp.engine.talk.clauses import Talk
from sandbox_mcp.engine.talk.patterns import Lazy, one_of
from sandbox_mcp.engine.talk.units import UNITS
from sandbox_mcp.engine.talk.values import FAMILIES, Mention

READ_AS: dict[str, tuple[str, ...]] = {
    "time": ("time",),
    "date": ("date",),
    "weekday": ("weekday",),
    "duration": ("duration", "time"),
    "count": ("number", "duration", "phone", "quantity"),
    "money": ("money", "number"),
    "temperature": ("temperature", "number"),
    "quantity": ("quantity", "number"),
    "phone": ("phone", "number"),
    "number": ("number", "phone", "percent", "quantity", "money", "temperature", "duration"),
    "percent": ("percent", "number"),
}
"""As what kinds of mentions a fact may be written."""
SHARES = {"money": 0.01, "quantity": 0.006, "temperature": 0.006, "duration": 0.006}
"""How far rounding may go, as a share of the value."""
APPROXIMATELY = Lazy(
    r"(?:about|around|roughly|approximately|nearly|almost|just (?:over|under|shy of|short of)|some|approx|close to"
    r"|a (?:little|bit) (?:over|under|more than|less than)|circa|or so|give or take)[^\d]{0,12}$"
)


def number_in(value: Any) -> float:
    """A value of a fact as a number; NaN where it is not a finite one."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return math.nan
    return number if math.isfinite(number) else math.nan


def is_value_of(item: Mention, fact: Fact, talk: Talk) -> bool:
    """True if a mention is one of the values of a fact."""
    return any(_equals(item, value, fact, talk) for value in fact.value)


def _equals(item: Mention, value: Any, fact: Fact, talk: Talk) -> bool:
    """True if a mention is a value of a fact, in the fact's or in any unit, rounded as people do."""
    kind = fact.type
    if kind == "weekday":
        return str(value).lower() == item.value
    if kind == "time":
        minutes = minutes_of(value)
        return item.number == minutes or (minutes >= 0 and not item.half and item.number % 720 == minutes % 720)
    if kind == "date":
        return isinstance(item.value, tuple) and any(_same_day(day, str(value)) for day in item.value)
    if kind == "phone":
        return item.kind == "phone" and same_phone(str(item.value), str(value))
    number = number_in(value)
    if math.isnan(number):
        return False
    if kind == "count":
        return _counted(item, number, fact.unit)
    return _measured(item, number, fact, talk)


def _measured(item: Mention, number: float, fact: Fact, talk: Talk) -> bool:
    kind = fact.type
    if item.kind == "phone":
        return kind == "number" and str(item.value).lstrip("0") == str(int(number))
    if item.kind == "number" and kind != "number" and item.unit in _COUNTED:
        return False
    if kind == "duration" and item.kind == "time":
        written = talk.low[item.start : item.end]  # as hours and minutes, or as minutes and seconds
        fits = (item.number == number / 60 and not item.half) or item.number == number
        return fits and "m" not in written and any(sign in written for sign in ":h")
    if kind == "number":
        said = item.number / item.factor  # as it is written, whatever it is a number of
        return math.isclose(said, number) or (
            not number.is_integer() and _near(said, number, item.step / item.factor, talk, item, SHARES["quantity"])
        )
    if kind == "money" and item.kind == "money" and not currency_fits(item.unit, fact.unit):
        return False
    if kind == "temperature" and item.unit and fact.unit and item.unit != fact.unit and item.kind == kind:
        turned = (item.number - 32) / 1.8 if item.unit == "F" else item.number * 1.8 + 32
        return abs(turned - number) <= max(0.5, item.step * (0.6 if item.unit == "F" else 1.0))
    if kind == "quantity" and item.kind == "quantity":
        dimension, factor = UNITS.get(fact.unit.lower(), ("", 1.0))
        found, step = item.number / factor, item.step / factor
        return dimension == item.unit and _near(found, number, step, talk, item, SHARES[kind])
    if kind == "temperature" and abs(item.number - number) <= min(0.5, item.step / 2) + 1e-9:
        return True
    share = SHARES.get(kind, 0.006)
    return _near(item.number, number, item.step, talk, item, share, whole=kind == "duration")


def currency_fits(written: str, wanted: str) -> bool:
    """True if an amount may be in the wanted currency; a bare dollar sign may be any dollar, crowns any crowns."""
    return not wanted or written == wanted or wanted in FAMILIES.get(written, ())


_COUNTED = ("contact", "message", "text", "reminder", "time", "result", "step", "people", "person", "option", "attempt")


def _near(
    found: float, wanted: float, step: float, talk: Talk, item: Mention, share: float, *, whole: bool = False
) -> bool:
    off = abs(found - wanted)
    if off <= 1e-9 * max(1.0, abs(wanted)):
        return True
    if whole and step and 0 <= wanted - found < step and off <= max(60.0, 0.006 * wanted):
        return True  # 14 hours and 34 minutes, the seconds left out
    allowed = step / 2 + 1e-9
    if APPROXIMATELY.search(talk.low[max(0, item.start - 24) : item.start]):
        share = max(share, _ABOUT)
        tens = next((power for power in (1000, 100, 10) if found and step >= 1 and found % (power * step) == 0), 1)
        allowed = max(allowed, tens * step / 2)
    return (
        off <= allowed
        and off
        <= max(share * abs(wanted), 0.5 if item.kind == "temperature" else 0.0, step / 2 if step < 1 else 0.0) + 1e-9
    )


_ABOUT = 0.015
"""How far a number may be off that is said to be about right, as a share."""


def _counted(item: Mention, number: float, unit: str) -> bool:
    seconds = {"day": 86400, "night": 86400, "hour": 3600, "minute": 60, "second": 1, "week": 604800}.get(unit)
    if item.kind == "duration":
        begun = item.step < (seconds or 0) and math.ceil(item.number / (seconds or 1)) == number
        return bool(seconds) and (item.number == number * (seconds or 1) or begun)  # 131 days and 17 hours are 132
    if item.kind == "phone":  # seven digits and more look like one
        return str(item.value) == str(int(number))
    if item.kind == "quantity":  # what is counted is a unit, such as hectares
        return item.unit == UNITS.get(unit.lower(), ("",))[0] and math.isclose(
            item.number, number * UNITS[unit.lower()][1]
        )
    if (
        not seconds
        and item.unit in _COUNTED_ELSE
        and unit in _COUNTED_ELSE
        and _COUNTED_ELSE[item.unit] != _COUNTED_ELSE[unit]
    ):
        return False
    return item.number == number and (not unit or item.unit in ("", unit, *ANY_NOUN) or not seconds)


_COUNTED_ELSE = {
    name: names
    for names in (
        ("contact", "entry", "entrie", "people", "person", "name", "number"),
        ("message", "text", "sms", "conversation", "thread"),
        ("reminder", "notification", "alert"),
        ("timer", "alarm"),
        ("note", "memo"), ("event", "appointment", "meeting"), ("photo", "picture", "image"), ("email", "mail"),
        ("call",), ("app",), ("file", "document"),
        ("song", "track"), ("film", "movie"), ("book",), ("award", "prize"), ("ticket",),
        ("day",), ("week",), ("month",), ("year",), ("hour",), ("minute",)
    )
    for name in names
}  # fmt: skip
"""Nouns that name the same things, each with its row: ``7 reminders`` does not say how many contacts there are."""
ANY_NOUN = one_of("full whole more calendar and until till from between left to in if of")
"""Words behind a number that are not what it counts."""


def minutes_of(value: Any) -> int:
    """``14:40`` as minutes of the day; -1 for anything but a time of day."""
    found = re.match(r"\s*(\d{1,2})[:.h]?(\d{2})?(?::\d{2})?\s*([ap]\.?m)?", str(value).lower())
    if not found:
        return -1
    hour = int(found[1])
    if found[3]:
        hour = hour % 12 + (12 if found[3].startswith("p") else 0)
    return hour % 24 * 60 + int(found[2] or 0)


_DAY = Lazy(r"\s*(?:(\d{4})-)?(?:(\d{1,2})-)?(\d{1,2})(?=\s|T|$)")
"""``2026-03-29``, ``03-29`` or ``29``, and the day of a moment such as ``2026-03-29 14:40:00``."""


def _same_day(day: tuple[int, int, int], wanted: str) -> bool:
    written = _DAY.match(wanted)
    return written is not None and all(
        said == int(part or 0) or (number < 2 and not (said and part))
        for number, (said, part) in enumerate(zip(day, written.groups(), strict=True))
    )


def same_phone(first: str, second: str) -> bool:
    """True if two written phone numbers may be the same: the last nine digits count, trunk zeros do not."""
    one, other = (re.sub(r"\D", "", text).lstrip("0") for text in (first, second))
    if len(one) >= len(other) > 9:
        return one.endswith(other) or (first.startswith("00") and one == other)
    if first.startswith("0") and len(one) >= _LOCAL and other.endswith(one) and len(other) - len(one) <= _COUNTRY:
        return True
    size = min(9, len(other))
    return len(one) >= size and size > 0 and one[-size:] == other[-size:]


_LOCAL, _COUNTRY = 7, 3
"""Digits that a number has at least without its country's code, and that such a code has at most."""
