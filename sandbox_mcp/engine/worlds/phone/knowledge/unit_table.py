"""The units that people name most, in a table: what each name means, and what one unit is of another.

Policy: the table says what the ``pint`` registry says, to the last bit, so that it does not matter which of the two was
asked; whatever it does not have is left to the registry, which takes most of a second to build. A maintainer makes it
anew with ``python -m sandbox_mcp.engine.worlds.phone.knowledge.units OUTPUT``; a test compares
it with the registry.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

UNITS = (
    "meter kilometer decimeter centimeter millimeter micrometer nanometer mile yard foot inch nautical_mile light_year",
    "kilogram gram milligram microgram metric_ton pound ounce stone ton",
    "second millisecond microsecond nanosecond minute hour day week fortnight month year century",
    "liter milliliter centiliter deciliter gallon quart pint cup fluid_ounce tablespoon teaspoon",
    "meter**3 centimeter**3 foot**3 inch**3 yard**3",
    "meter**2 kilometer**2 centimeter**2 millimeter**2 foot**2 inch**2 yard**2 mile**2 acre hectare",
    "meter/second kilometer/hour mile/hour foot/second knot kilometer/second meter/minute",
    "joule kilojoule calorie kilocalorie watt_hour kilowatt_hour british_thermal_unit electron_volt",
    "watt kilowatt megawatt horsepower pascal kilopascal hectopascal bar millibar psi atmosphere newton",
    "byte kilobyte megabyte gigabyte terabyte kibibyte mebibyte gibibyte bit",
    "degree radian hertz kilohertz megahertz gigahertz mile/gallon kilometer/liter liter/kilometer",
    "ampere coulomb farad volt ohm kelvin degC degF degR",
)
"""The units, as the registry names them."""
SPOKEN = {
    "**2": ("square {}", "sq {}", "sq. {}", "{} squared", "{}2", "{}^2", "{}²", "{}**2"),
    "**3": ("cubic {}", "cu {}", "cu. {}", "{} cubed", "{}3", "{}^3", "{}³", "{}**3"),
    "/": ("{}/{}", "{} per {}", "{} / {}", "{}_per_{}"),
}
"""How people say what is made of units."""
TEMPERATURES = {
    "degC": ("°C", "℃", "degrees C", "degrees Celsius", "degree Celsius", "celsius", "centigrade", "deg C", "degC"),
    "degF": ("°F", "℉", "degrees F", "degrees Fahrenheit", "degree Fahrenheit", "fahrenheit", "deg F", "degF"),
    "degR": ("rankine", "degR", "degrees Rankine"),
    "kelvin": ("kelvins", "degrees Kelvin", "K"),
}
OTHERS = {
    "mile/hour": ("mph",),
    "kilometer/hour": ("kph", "kmh", "kmph", "km/h"),
    "mile/gallon": ("mpg",),
    "kilometer/second": ("km/s",),
    "meter/second": ("m/s",),
    "foot/second": ("ft/s",),
    "fluid_ounce": ("fl oz", "fl. oz.", "floz"),
    "tablespoon": ("tbsp",),
    "teaspoon": ("tsp",),
    "mile": ("mi",),
    "inch": ("in",),
    "foot": ("ft",),
    "yard": ("yd",),
    "nautical_mile": ("nautical miles", "nmi"),
    "light_year": ("light years", "ly"),
    "hectare": ("ha",),
    "ounce": ("oz",),
    "pound": ("lb", "lbs"),
    "metric_ton": ("tonne", "tonnes", "t", "metric tons"),
    "month": ("months",),
    "knot": ("kn", "kt"),
}
"""What else they are called."""


@dataclass(frozen=True, slots=True)
class UnitTable:
    """What names mean: ``units`` have the dimension of each, ``factors`` the factors to get from one to another.

    ``scales`` are those with a zero of their own: a number times the first, plus the second, is the number of kelvins.
    """

    names: Mapping[str, str]
    units: Mapping[str, str]
    factors: Mapping[str, Mapping[str, float]]
    scales: Mapping[str, tuple[float, float]]

    def measure_the_same(self, source: str, target: str) -> bool:
        """True if two units have the same dimension, which the registry may write in another order."""
        one, two = ("kelvin" if unit in self.scales else unit for unit in (source, target))
        return one == two or two in self.factors.get(one, ())

    def convert(self, amount: float, source: str, target: str) -> float:
        """An amount of one unit in another of the same dimension."""
        if source == target:
            return amount
        if source not in self.scales and target not in self.scales:
            return amount * self.factors[source][target]
        if source in self.scales:
            scale, offset = self.scales[source]
            kelvins = amount * scale + offset
        else:
            kelvins = amount if source == "kelvin" else amount * self.factors[source]["kelvin"]
        if target in self.scales:
            scale, offset = self.scales[target]
            return (kelvins - offset) / scale
        return kelvins if target == "kelvin" else kelvins * self.factors["kelvin"][target]


@cache
def unit_table() -> UnitTable:
    """The table, which is read once."""
    path = Path(__file__).parent / "data" / "units.json"
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    names = {name: unit for unit, said in data["names"].items() for name in said.split("|")}
    scales = {unit: (scale, offset) for unit, (scale, offset) in data["scales"].items()}
    return UnitTable(names, data["units"], data["factors"], scales)


def spoken(unit: str, plain: Callable[[str], Iterable[str]]) -> Iterator[str]:
    """Names of a unit; ``plain`` gives those of one not made of others."""
    yield unit
    yield from TEMPERATURES.get(unit, ())
    yield from OTHERS.get(unit, ())
    base, power, _ = unit.partition("**")
    if power:
        yield from (form.format(name) for name in plain(base) for form in SPOKEN[unit.removeprefix(base)])
    elif "/" in unit:
        above, below = unit.split("/")
        yield from (form.format(one, two) for one in plain(above) for two in plain(below) for form in SPOKEN["/"])
    elif unit not in TEMPERATURES:
        yield from plain(unit)


def made(registry: Any, read: Callable[[str], Any]) -> dict[str, Any]:
    """The table as JSON, from the registry; ``read`` gives the registry's unit of a name, or raises."""
    units = [unit for line in UNITS for unit in line.split()]
    known = {unit: registry.parse_units(unit) for unit in units}
    places = {found: unit for unit, found in known.items()}
    symbols = {unit: registry.get_symbol(unit) for unit in units if unit.replace("_", "").isalpha()}

    def plain(unit: str) -> Iterator[str]:
        spaced = unit.replace("_", " ")
        plural = "feet" if unit == "foot" else "inches" if unit == "inch" else f"{spaced}s"
        yield from dict.fromkeys((unit, spaced, plural, symbols.get(unit, unit), spaced.replace("meter", "metre")))

    names: dict[str, list[str]] = {unit: [] for unit in units}
    for name in dict.fromkeys(name for unit in units for name in spoken(unit, plain)):
        for said in dict.fromkeys((name, name.lower(), name.capitalize(), name.title(), name.upper())):
            try:
                unit = places.get(read(said))
            except Exception:  # noqa: BLE001, S112  (the registry has no such name, which is what is asked)
                continue
            if unit is not None and said not in names[unit]:
                names[unit].append(said)
    scales: dict[str, tuple[float, float]] = {}
    for unit, found in known.items():
        converter: Any = registry._units[str(found)].converter if unit in TEMPERATURES else None  # noqa: SLF001
        if getattr(converter, "offset", 0):
            scales[unit] = converter.scale, converter.offset
    factors: dict[str, dict[str, float]] = {}
    for one, two in permutations([unit for unit in units if unit not in scales], 2):
        if known[one].dimensionality == known[two].dimensionality:
            factors.setdefault(one, {})[two] = float(registry.Quantity(1.0, known[one]).to(known[two]).magnitude)
    dimensions = {unit: str(found.dimensionality) for unit, found in known.items()}
    joined = {unit: "|".join(said) for unit, said in names.items()}
    return {"names": joined, "units": dimensions, "factors": dict(sorted(factors.items())), "scales": scales}
