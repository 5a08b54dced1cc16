"""Units: everyday names, temperatures, and errors that say what does not fit."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_mcp.engine.worlds.phone.knowledge import (
    IncompatibleUnitsError,
    InvalidQuestionError,
    KnowledgeError,
    UnknownUnitError,
)
from sandbox_mcp.engine.worlds.phone.knowledge.units import OfflineUnits
from tests.each import each

convert = OfflineUnits().convert


@each(
    ("amount", "from_unit", "to_unit", "expected"),
    [
        (1, "mile", "kilometer", 1.609344),
        (10, "km", "m", 10_000),
        (6, "feet", "cm", 182.88),
        (1, "inch", "mm", 25.4),
        (1, "nautical mile", "km", 1.852),
        (1, "light year", "km", 9460730472580.8),
        (1, "pound", "gram", 453.59237),
        (1, "stone", "kg", 6.35029318),
        (16, "oz", "lb", 1),
        (1, "metric ton", "kg", 1000),
        (1, "gallon", "liter", 3.785411784),
        (3, "tsp", "tbsp", 1),
        (1, "cup", "ml", 236.5882365),
        (60, "mph", "km/h", 96.56064),
        (1, "acre", "square meter", 4046.87260987),
        (2, "hours", "minutes", 120),
        (1, "week", "days", 7),
        (1, "kWh", "joule", 3_600_000),
        (1, "kcal", "kJ", 4.184),
        (1, "atm", "Pa", 101325),
        (180, "degree", "radian", round(math.pi, 11)),
        (1, "GB", "MB", 1000),
        (1, "GiB", "MiB", 1024),
        (1, "horsepower", "W", 745.69987158227),
    ],
)
def test_common_conversions(amount: float, from_unit: str, to_unit: str, expected: float) -> None:
    assert convert(amount, from_unit, to_unit) == pytest.approx(expected, rel=1e-11)


@each(
    ("name", "plain"),
    [
        ("Miles", "mile"),
        ("KILOMETERS", "kilometer"),
        ("sq ft", "foot**2"),
        ("sq. ft", "foot**2"),
        ("square feet", "foot**2"),
        ("m2", "meter**2"),
        ("m^2", "meter**2"),
        ("m²", "meter**2"),
        ("cm3", "centimeter**3"),
        ("cu ft", "foot**3"),
        ("cubic meters", "meter**3"),
        ("fl oz", "fluid_ounce"),
        ("fluid ounces", "fluid_ounce"),
        ("miles per hour", "mile/hour"),
        ("MPH", "mile/hour"),
        ("kmph", "kilometer/hour"),
        ("kmh", "kilometer/hour"),
        ("mpg", "mile/gallon"),
        ("foot-pounds", "foot_pound"),
        ("hrs", "hour"),
        ("sec", "second"),
        ("lbs", "pound"),
        (" kg ", "kilogram"),
        ("litres", "liter"),
    ],
)
def test_everyday_names_mean_what_they_say(name: str, plain: str) -> None:
    assert convert(7, name, plain) == pytest.approx(7)


@each("celsius", ["C", "c", "celsius", "Celsius", "centigrade", "°C", "degC", "degrees C", "deg c", "℃"])
@each("fahrenheit", ["F", "f", "fahrenheit", "Fahrenheit", "°F", "degF", "degrees Fahrenheit", "℉"])
def test_every_common_name_of_a_temperature_scale(celsius: str, fahrenheit: str) -> None:
    assert convert(20, celsius, fahrenheit) == 68.0
    assert convert(-40, fahrenheit, celsius) == -40.0


@each(
    ("amount", "from_unit", "to_unit", "expected"),
    [
        (0, "celsius", "kelvin", 273.15),
        (0, "K", "C", -273.15),
        (25, "C", "K", 298.15),
        (100, "degrees Celsius", "K", 373.15),
        (300, "Kelvin", "degrees Kelvin", 300),
        (0, "kelvin", "rankine", 0),
        (18, "celsius/hour", "fahrenheit/hour", 32.4),
    ],
)
def test_temperatures(amount: float, from_unit: str, to_unit: str, expected: float) -> None:
    assert convert(amount, from_unit, to_unit) == pytest.approx(expected)


def test_c_and_f_stay_electric_where_that_makes_sense() -> None:
    assert convert(2, "C", "mC") == 2000
    assert convert(3, "F", "uF") == 3_000_000
    assert convert(1, "C", "ampere*second") == 1


def test_results_show_no_rounding_noise() -> None:
    assert convert(20, "celsius", "fahrenheit") == 68.0
    assert convert(0.1, "m", "cm") == 10.0


@each("unit", ["smoot_of_doom", "USD", "", "  ", "5 m", "m m_ m?", "💧", "x" * 500, "import os", "__class__"])
def test_an_unknown_unit_is_named(unit: str) -> None:
    with pytest.raises(UnknownUnitError) as caught:
        convert(1, unit, "meter")
    assert caught.value.unit == unit
    assert repr(unit) in str(caught.value)


def test_the_second_unit_may_be_the_unknown_one() -> None:
    with pytest.raises(UnknownUnitError, match="unknown unit 'metre_stick'; expected a unit name or symbol"):
        convert(1, "meter", "metre_stick")


@each("unit", ["m**9**9**9", "m**(9**9)", "m^999", "m**-9999", "(m**9)**9**9"])
def test_monstrous_powers_are_no_units(unit: str) -> None:
    with pytest.raises(KnowledgeError):
        convert(1, unit, "meter")


def test_incompatible_units_say_what_each_measures() -> None:
    with pytest.raises(IncompatibleUnitsError) as caught:
        convert(1, "kg", "meter")
    assert str(caught.value) == (
        "cannot convert 'kg' to 'meter': the first measures mass, the second length; "
        "expected two units of the same dimension"
    )
    assert (caught.value.from_dimension, caught.value.to_dimension) == ("mass", "length")


def test_a_temperature_letter_against_something_else_keeps_the_plain_error() -> None:
    with pytest.raises(IncompatibleUnitsError, match="'C' to 'meter'"):
        convert(1, "C", "meter")


@each("amount", [math.nan, math.inf, -math.inf])
def test_only_numbers_can_be_converted(amount: float) -> None:
    with pytest.raises(InvalidQuestionError, match="is not a finite number"):
        convert(amount, "m", "km")


def test_an_overflow_is_said() -> None:
    with pytest.raises(InvalidQuestionError, match="too large"):
        convert(1e308, "km", "mm")


def test_errors_of_the_question_are_value_errors() -> None:
    assert issubclass(UnknownUnitError, ValueError)
    assert issubclass(IncompatibleUnitsError, ValueError)


SAME_DIMENSION = st.sampled_from(
    [
        ("meter", "mile"),
        ("kg", "pound"),
        ("celsius", "fahrenheit"),
        ("liter", "gallon"),
        ("hour", "week"),
        ("Pa", "psi"),
    ]
)


@given(st.floats(-1e6, 1e6), SAME_DIMENSION)
@settings(deadline=None)
def test_there_and_back_again(amount: float, units: tuple[str, str]) -> None:
    there = convert(amount, *units)
    assert convert(there, units[1], units[0]) == pytest.approx(amount, rel=1e-9, abs=1e-7)


@given(st.floats(0, 1e6), st.floats(0, 1e6), SAME_DIMENSION)
@settings(deadline=None)
def test_more_stays_more(one: float, other: float, units: tuple[str, str]) -> None:
    low, high = sorted((one, other))
    assert convert(low, *units) <= convert(high, *units)


def outcome(unit: str, to_unit: str) -> float | KnowledgeError:
    try:
        return convert(1, unit, to_unit)
    except KnowledgeError as error:
        return error


@given(st.text(max_size=40))
@settings(deadline=None)
def test_any_text_is_a_unit_or_refused_clearly(unit: str) -> None:
    found = outcome(unit, unit)
    assert repr(unit) in str(found) if isinstance(found, KnowledgeError) else math.isfinite(found)


@given(st.text("m*^/()+-0123456789. ", max_size=20))
@settings(deadline=None)
def test_unit_arithmetic_never_breaks_out(unit: str) -> None:
    assert isinstance(outcome(unit, "meter"), float | ValueError)
