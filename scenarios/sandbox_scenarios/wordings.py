"""The wordings that a typed fact stands for where only wordings are compared.

Policy: the most usual ways, in figures and in words; others are said less often.
"""

import re
from collections.abc import Sequence
from typing import Any

from sandbox_mcp.engine.talk.units import SECONDS, listed
from sandbox_scenarios.facts import DEEDS
from sandbox_scenarios.model import Fact

_MONTHS = listed("January, February, March, April, May, June, July, August, September, October, November, December")
INABILITY = listed(
    "can't, cannot, can not, unable, not able, not possible, isn't possible, no way, impossible, no tool, "
    "don't have, do not have, couldn't, could not, doesn't, no access, lack, beyond"
)
_PLACE = re.compile(r"\{\w+\}")
_UNDONE = listed(
    "not, n't, nothing, no message, hold off, held, stays, left, keep, kept, leave, remains, unchanged, cancelled, "
    "unsent"
)


def wordings(fact: Fact) -> tuple[tuple[str, ...], ...]:
    """Lists of wordings. Most messages that state the fact have a wording from each list."""
    if fact.type == "cannot":
        return tuple(map(str, fact.value)), *((fact.about,) if fact.about else ()), INABILITY
    if fact.type == "deed":
        return (tuple(dict.fromkeys(word for value in fact.value for word in DEEDS[str(value)])),)
    if fact.type == "undone":
        return (_UNDONE,)
    if fact.type == "state":
        on, off = "on, enabled, active, activated, connected", "off, disabled, deactivated, disconnected"
        return (listed(on if fact.value[0] == "on" else off),)
    if fact.type == "direction":
        up, down = "up, rose, risen, increase, more, higher", "down, fell, fallen, decrease, less, lower"
        return (listed(up if fact.value[0] == "up" else down),)
    if fact.type == "polarity":
        return (tuple(map(str, fact.about or fact.value)),)
    return (tuple(dict.fromkeys(word for value in fact.value for word in _forms(fact, value))),)


def _forms(fact: Fact, value: Any) -> Sequence[str]:
    text = str(value)
    if _PLACE.search(text) or fact.type in ("name", "text", "weekday"):
        return (text, text[:3]) if fact.type == "weekday" else (text,)
    if fact.type == "time":
        return _times(text)
    if fact.type == "date":
        return _dates(text)
    if fact.type == "duration":
        return _durations(float(value))
    if fact.type == "phone":
        digits = re.sub(r"\D", "", text)
        national = digits[1:] if len(digits) == 11 and digits.startswith("1") else "0" + digits[2:]
        spaced = f"{national[:3]}-{national[3:6]}-{national[6:]}"
        if national.startswith("0"):
            spaced = f"{national[:4]} {national[4:7]} {national[7:]}"
        return text, digits, national, spaced
    number = f"{value:g}" if isinstance(value, float) else text
    return tuple(dict.fromkeys((number, f"{value:,}" if isinstance(value, int) else number, *_spelt(value))))


_SPELT = listed(
    "zero, one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen, fourteen, fifteen, "
    "sixteen, seventeen, eighteen, nineteen"
)
_TENS = listed("-, -, twenty, thirty, forty, fifty, sixty, seventy, eighty, ninety")


def _spelt(value: Any) -> Sequence[str]:
    if not isinstance(value, int) or not 0 <= value < 100:
        return ()
    if value < 20:
        return (_SPELT[value],)
    return (_TENS[value // 10] + (f"-{_SPELT[value % 10]}" if value % 10 else ""),)


def _times(text: str) -> Sequence[str]:
    hour, minute = map(int, text.split(":"))
    short, after = (hour - 1) % 12 + 1, (hour % 12) + 1
    words = [_SPELT[short], _SPELT[after]]
    forms = [f"{hour:02d}:{minute:02d}", *(f"{at}{mark}{minute:02d}" for at in (hour, short) for mark in ":.")]
    if minute == 0:
        forms += [str(hour), str(short), words[0], f"{short}pm"]
        forms += {12: ("noon", "midday"), 0: ("midnight",)}.get(hour, ())
    parts = {15: "quarter", 30: "half"}
    if minute in parts:
        forms += [f"{parts[minute]} past {words[0]}", f"{parts[minute]} past {short}"]
    if minute == 45:
        forms += [f"quarter to {words[1]}", f"quarter to {after}"]
    if minute > 30 and minute % 5 == 0 and minute != 45:
        forms += [f"{_spelt(60 - minute)[0]} to {words[1]}", f"{60 - minute} to {after}"]
    if 0 < minute < 30 and minute % 5 == 0 and minute != 15:
        forms += [f"{_spelt(minute)[0]} past {words[0]}", f"{minute} past {short}"]
    if minute:
        forms.append(f"{words[0]} {_spelt(minute)[0]}")
    return forms


def _dates(text: str) -> Sequence[str]:
    parts = [int(part) for part in text.split("-")]
    day = parts[-1]
    ending = "th" if 10 < day % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    if len(parts) == 1:
        return f"{day}{ending}", str(day)
    month, name = parts[-2], _MONTHS[parts[-2] - 1]
    forms = [
        f"{day} {name}", f"{name} {day}", f"{day}{ending} of {name}", f"{day} {name[:3]}", f"{name[:3]} {day}",
        f"{day}/{month}", f"{month}/{day}", f"{day:02d}/{month:02d}", f"{month:02d}/{day:02d}", f"{day}{ending} {name}",
    ]  # fmt: skip
    return [*forms, text] if len(parts) == 3 else forms


_UNITS = (
    ("day", "hour", "minute", "second"),
    ("hour", "minute", "second"),
    ("week", "day", "hour", "minute", "second"),
)


def _durations(seconds: float) -> Sequence[str]:
    """A length of time in days and hours, in hours alone, and in weeks; with and without "and" before the last part."""
    found: dict[str, None] = {}
    for units in _UNITS:
        parts, rest = list[tuple[int, str]](), int(seconds)
        for unit in units:
            number, rest = divmod(rest, SECONDS[unit])
            if number:
                parts.append((number, unit))
        plural = [f"{number} {unit}{'s' if number != 1 else ''}" for number, unit in parts]
        spelt = [f"{next(iter(_spelt(n)), n)} {unit}{'s' if n != 1 else ''}" for n, unit in parts]
        short = [f"{number} {'min' if unit == 'minute' else unit[0]}" for number, unit in parts]
        for way in (plural, spelt, short):
            found |= dict.fromkeys(joiner.join(way) for joiner in (" ", ", ", " and "))
            found[" and ".join(filter(None, (", ".join(way[:-1]), *way[-1:])))] = None
        found["".join(f"{number}{unit[0]}" for number, unit in parts)] = None
    return list(found)
