"""The units that a fact may be measured in, by all names and signs that people use for them.

Policy: one table for whoever writes a fact and whoever reads a message. A unit that is not in it is refused where the
fact is written, because no reply could ever be read as stating it.
"""

import re
import unicodedata
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
_AREAS: Mapping[str, float] = {
    "m2": 1.0,
    "square meter": 1.0,
    "square metre": 1.0,
    "km2": 1e6,
    "square kilometer": 1e6,
    "square kilometre": 1e6,
    "square mile": 2589988.0,
    "square foot": 0.09290304,
    "square feet": 0.09290304,
    "ha": 1e4,
    "hectare": 1e4,
    "acre": 4046.8564224,
}
_PRESSURES: Mapping[str, float] = {
    "hpa": 100.0,
    "hectopascal": 100.0,
    "mbar": 100.0,
    "millibar": 100.0,
    "kpa": 1000.0,
    "psi": 6894.757,
}
_ENERGIES: Mapping[str, float] = {
    "kcal": 4184.0,
    "kilocalorie": 4184.0,
    "calorie": 4184.0,
    "kj": 1000.0,
    "kilojoule": 1000.0,
    "kwh": 3.6e6,
    "kilowatt hour": 3.6e6,
    "kilowatt-hour": 3.6e6,
}
_POWERS: Mapping[str, float] = {"kw": 1000.0, "kilowatt": 1000.0, "watt": 1.0, "mw": 1e6, "megawatt": 1e6}
_BYTES: Mapping[str, float] = {
    "kb": 1e3,
    "kilobyte": 1e3,
    "mb": 1e6,
    "megabyte": 1e6,
    "gb": 1e9,
    "gigabyte": 1e9,
    "tb": 1e12,
    "terabyte": 1e12,
}
UNITS: Mapping[str, tuple[str, float]] = {
    **{name: ("area", factor) for name, factor in _AREAS.items()},
    **{name: ("pressure", factor) for name, factor in _PRESSURES.items()},
    **{name: ("energy", factor) for name, factor in _ENERGIES.items()},
    **{name: ("power", factor) for name, factor in _POWERS.items()},
    **{name: ("data", factor) for name, factor in _BYTES.items()},
    **{name: ("speed", factor) for name, factor in _SPEEDS.items()},
    **{name: ("length", factor) for name, factor in _LENGTHS.items()},
    **{name: ("mass", factor) for name, factor in _MASSES.items()},
    **{name: ("volume", factor) for name, factor in _VOLUMES.items()},
}
"""What a unit measures, and how much it is of a meter, kilogram, meter per second, liter, square meter, pascal, joule,
watt or byte."""
_TIMES: Mapping[str, str] = {
    **dict.fromkeys(("s", "sec", "second"), "second"), **dict.fromkeys(("min", "minute"), "minute"),
    **dict.fromkeys(("h", "hr", "hour"), "hour"), **dict.fromkeys(("d", "day"), "day"), "night": "night",
    "week": "week",
}  # fmt: skip
_CURRENCIES: Mapping[str, str] = {
    "€": "EUR", "euro": "EUR", "£": "GBP", "pound sterling": "GBP", "¥": "JPY", "yen": "JPY", "$": "USD",
    "dollar": "USD", "us dollar": "USD", "us$": "USD", "₹": "INR", "rupee": "INR", "franc": "CHF", "swiss franc": "CHF",
    "yuan": "CNY", "krona": "SEK", "kronor": "SEK",
}  # fmt: skip
_SCALES: Mapping[str, str] = {"c": "C", "celsius": "C", "centigrade": "C", "f": "F", "fahrenheit": "F"}
_DEGREES = re.compile(r"(?:°|º|degrees?|deg\b)\s*", re.IGNORECASE)


def temperature_scale(unit: str) -> str:
    """``C`` or ``F`` for a unit of temperature in any wording, such as "°C" or "degrees Fahrenheit"; else nothing."""
    return _SCALES.get(_DEGREES.sub("", unit).strip().lower(), "")


def unit_of_measure(unit: str) -> str:
    """The unit by the name that it has in ``UNITS``; nothing for one that is not there."""
    return _named(unit, UNITS)


def unit_of_time(unit: str) -> str:
    """The English name of a unit of time in any wording, such as "minute" for "mins"; nothing for another unit."""
    return _TIMES.get(_named(unit, _TIMES), "")


def currency_code(unit: str) -> str:
    """The three letters of a currency by its code, sign or usual name; nothing for another unit."""
    if re.fullmatch(r"[A-Z]{3}", unit.strip()):
        return unit.strip()
    return _CURRENCIES.get(_named(unit, _CURRENCIES), "")


def _named(unit: str, known: Mapping[str, object]) -> str:
    """The name under which a table has a unit, whatever its case, its plural or a full stop behind it."""
    name = " ".join(unicodedata.normalize("NFKC", unit).lower().rstrip(".").split())
    return next((form for form in (name, name.removesuffix("s"), name.removesuffix("es")) if form in known), "")
