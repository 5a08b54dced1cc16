"""The units that a fact may be measured in, by all names and signs that people use for them.

Policy: one table for whoever writes a fact and whoever reads a message. A unit that is not in it is refused where the
fact is written, because no reply could ever be read as stating it.
"""

import re
from collections.abc import Mapping

_LENGTHS: Mapping[str, float] = {
    "km": 1000.0,
    "kilometer": 1000.0,
    "kilometre": 1000.0,
    "m": 1.0,
    "meter": 1.0,
    "metre": 1.0,
    "mi": 1609.344,
    "mile": 1609.344,
    "ft": 0.3048,
    "foot": 0.3048,
    "feet": 0.3048,
    "yard": 0.9144,
    "yd": 0.9144,
    "cm": 0.01,
    "centimeter": 0.01,
    "centimetre": 0.01,
    "mm": 0.001,
    "inch": 0.0254,
    "inches": 0.0254,
    "nautical mile": 1852.0,
    "k": 1000.0,
    "click": 1000.0,
    "klick": 1000.0,
    "millimeter": 0.001,
    "millimetre": 0.001,
    "nmi": 1852.0,
}
_MASSES: Mapping[str, float] = {
    "kg": 1.0,
    "kilo": 1.0,
    "kilogram": 1.0,
    "kilogramme": 1.0,
    "g": 0.001,
    "gram": 0.001,
    "lb": 0.45359237,
    "pound": 0.45359237,
    "oz": 0.0283495,
    "ounce": 0.0283495,
    "stone": 6.35029,
    "ton": 1000.0,
    "tonne": 1000.0,
    "mg": 1e-06,
    "milligram": 1e-06,
}
_SPEEDS: Mapping[str, float] = {
    "km/h": 1 / 3.6,
    "kph": 1 / 3.6,
    "kmh": 1 / 3.6,
    "kilometers per hour": 1 / 3.6,
    "kilometres per hour": 1 / 3.6,
    "km per hour": 1 / 3.6,
    "mph": 0.44704,
    "miles per hour": 0.44704,
    "m/s": 1.0,
    "meters per second": 1.0,
    "metres per second": 1.0,
    "knot": 0.514444,
    "kn": 0.514444,
    "kt": 0.514444,
    "kmph": 1 / 3.6,
}
_VOLUMES: Mapping[str, float] = {
    "l": 1.0,
    "liter": 1.0,
    "litre": 1.0,
    "ml": 0.001,
    "milliliter": 0.001,
    "millilitre": 0.001,
    "gallon": 3.785411784,
    "gal": 3.785411784,
    "cup": 0.24,
    "pint": 0.473176,
    "cl": 0.01,
    "centiliter": 0.01,
    "centilitre": 0.01,
    "dl": 0.1,
    "deciliter": 0.1,
    "decilitre": 0.1,
    "tablespoon": 0.0147868,
    "tbsp": 0.0147868,
    "teaspoon": 0.00492892,
    "tsp": 0.00492892,
    "fluid ounce": 0.0295735,
    "fl oz": 0.0295735,
    "quart": 0.946353,
}
UNITS: Mapping[str, tuple[str, float]] = {
    **{name: ("speed", factor) for name, factor in _SPEEDS.items()},
    **{name: ("length", factor) for name, factor in _LENGTHS.items()},
    **{name: ("mass", factor) for name, factor in _MASSES.items()},
    **{name: ("volume", factor) for name, factor in _VOLUMES.items()},
}
"""What a unit measures, and how much of a meter, kilogram, meter per second or liter it is."""
_SCALES: Mapping[str, str] = {"c": "C", "celsius": "C", "centigrade": "C", "f": "F", "fahrenheit": "F"}
_DEGREES = re.compile(r"(?:°|º|degrees?|deg\b)\s*", re.IGNORECASE)


def temperature_scale(unit: str) -> str:
    """``C`` or ``F`` for a unit of temperature in any wording, such as "°C" or "degrees Fahrenheit"; else nothing."""
    return _SCALES.get(_DEGREES.sub("", unit).strip().lower(), "")


def unit_of_measure(unit: str) -> str:
    """The unit by the name that it has in ``UNITS``; nothing for one that is not there."""
    name = " ".join(unit.lower().rstrip(".").split())
    return next((known for known in (name, name.removesuffix("s"), name.removesuffix("es")) if known in UNITS), "")
