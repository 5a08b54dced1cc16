"""The units that a fact may be measured in, by all names and signs that people use for them.

Policy: one table for whoever writes a fact and whoever reads a message. A unit outside it is refused where the
fact is written, because no reply could ever be read as stating it.
"""

import re
import unicodedata
from collections.abc import Mapping


def listed(row: str) -> tuple[str, ...]:
    """The words and phrases in one row of a table, where commas stand between them."""
    return tuple(row.split(", "))


_TABLE: Mapping[str, Mapping[str, float]] = {
    "length": {
        "km, kilometer, kilometre, k, click, klick": 1000.0, "m, meter, metre": 1.0, "mi, mile": 1609.344,
        "ft, foot, feet": 0.3048, "yard, yd": 0.9144, "cm, centimeter, centimetre": 0.01,
        "mm, millimeter, millimetre": 0.001, "inch, inches": 0.0254, "nautical mile, nmi": 1852.0,
    },
    "mass": {
        "kg, kilo, kilogram, kilogramme": 1.0, "g, gram": 0.001, "lb, pound": 0.45359237, "oz, ounce": 0.0283495,
        "stone": 6.35029, "ton, tonne": 1000.0, "mg, milligram": 1e-06,
    },
    "speed": {
        "km/h, kph, kmh, kilometers per hour, kilometres per hour, km per hour, kmph": 1 / 3.6,
        "mph, miles per hour": 0.44704, "m/s, meters per second, metres per second": 1.0, "knot, kn, kt": 0.514444,
    },
    "volume": {
        "l, liter, litre": 1.0, "ml, milliliter, millilitre": 0.001, "gallon, gal": 3.785411784, "cup": 0.24,
        "pint": 0.473176, "cl, centiliter, centilitre": 0.01, "dl, deciliter, decilitre": 0.1,
        "tablespoon, tbsp": 0.0147868, "teaspoon, tsp": 0.00492892, "fluid ounce, fl oz": 0.0295735,
        "quart": 0.946353,
    },
    "area": {
        "m2, square meter, square metre": 1.0, "km2, square kilometer, square kilometre": 1e6,
        "square mile": 2589988.0, "square foot, square feet": 0.09290304, "ha, hectare": 1e4, "acre": 4046.8564224,
    },
    "pressure": {
        "hpa, hectopascal, mbar, millibar": 100.0, "kpa": 1000.0, "psi": 6894.757,
    },
    "energy": {
        "kcal, kilocalorie, calorie": 4184.0, "kj, kilojoule": 1000.0, "kwh, kilowatt hour, kilowatt-hour": 3.6e6,
    },
    "power": {
        "kw, kilowatt": 1000.0, "watt": 1.0, "mw, megawatt": 1e6,
    },
    "data": {
        "kb, kilobyte": 1e3, "mb, megabyte": 1e6, "gb, gigabyte": 1e9, "tb, terabyte": 1e12,
    },
}  # fmt: skip
"""Units by what they measure: all names of each, and its factor."""
UNITS: Mapping[str, tuple[str, float]] = {
    name: (kind, factor) for kind, units in _TABLE.items() for names, factor in units.items() for name in listed(names)
}
"""What a unit measures, and how much it is of a meter, kilogram, meter per second, liter, square meter, pascal, joule,
watt or byte."""
_TIMES: Mapping[str, str] = {
    **dict.fromkeys(("s", "sec", "second"), "second"), **dict.fromkeys(("min", "minute"), "minute"),
    **dict.fromkeys(("h", "hr", "hour"), "hour"), **dict.fromkeys(("d", "day"), "day"), "night": "night",
    "week": "week",
}  # fmt: skip
SECONDS: Mapping[str, int] = {"week": 604800, "day": 86400, "hour": 3600, "minute": 60, "second": 1}
"""How long the units of time are that have one length."""
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
    """The unit by its name in ``UNITS``; nothing for an unknown one."""
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
