"""The table of units says what the registry says, to the last bit and in every name."""

import json
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from sandbox_mcp.engine.worlds.phone.knowledge.unit_table import UNITS, made, unit_table
from sandbox_mcp.engine.worlds.phone.knowledge.units import OfflineUnits, registered, registry
from tests.each import each

TABLE = unit_table()
PAIRS = [pair for pair in product(TABLE.units, TABLE.units) if TABLE.measure_the_same(*pair)]
AMOUNTS = (0.0, 1.0, -40.0, 37.8, 0.1, 1 / 3, 98.6, 12345.678, 1e-9, 7e15)


def by_registry(amount: float, source: str, target: str) -> float:
    return float(registry().Quantity(amount, registered(source)).to(registered(target)).magnitude)


def test_every_name_means_what_it_means_to_the_registry() -> None:
    wrong = {name: unit for name, unit in TABLE.names.items() if registered(name) != registered(unit)}
    assert wrong == {}


def test_what_measures_the_same_does_so_to_the_registry() -> None:
    dimensions = {unit: registered(unit).dimensionality for unit in TABLE.units}
    same = [pair for pair in product(TABLE.units, TABLE.units) if dimensions[pair[0]] == dimensions[pair[1]]]
    assert same == PAIRS


def test_dimensions_are_those_of_the_registry() -> None:
    assert TABLE.units == {unit: str(registered(unit).dimensionality) for line in UNITS for unit in line.split()}


def test_every_pair_converts_as_the_registry_does_to_the_last_bit() -> None:
    wrong = [
        (amount, one, two)
        for one, two in PAIRS
        for amount in AMOUNTS
        if TABLE.convert(amount, one, two) != by_registry(amount, one, two)
    ]
    assert wrong == []


@given(pair=st.sampled_from(PAIRS), amount=st.floats(-1e12, 1e12))
def test_any_amount_converts_as_the_registry_does_to_the_last_bit(pair: tuple[str, str], amount: float) -> None:
    assert TABLE.convert(amount, *pair) == by_registry(amount, *pair)


@each("said", ["Miles", "sq ft", "km/h", "fl oz", "degrees Celsius", "C", "F", "K", "lbs", "m^2", "KM"])
def test_what_people_say_is_in_the_table(said: str) -> None:
    assert said in TABLE.names


def test_what_is_not_in_the_table_is_asked_of_the_registry() -> None:
    assert "furlong" not in TABLE.names
    assert OfflineUnits().convert(1, "furlong", "m") == 201.168402337


def test_the_table_is_what_a_maintainer_would_make_of_this_registry() -> None:
    found = json.loads(json.dumps(made(registry(), registered)))
    assert {unit: set(names.split("|")) for unit, names in found["names"].items()} == {
        unit: {name for name, meant in TABLE.names.items() if meant == unit} for unit in TABLE.units
    }
    assert found["factors"] == TABLE.factors
