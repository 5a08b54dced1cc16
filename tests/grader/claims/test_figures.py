"""Figures as the world writes them, and what surrounds them: conditions, hearsay, sums, second thoughts."""

import pytest
from sandbox_grader.claims import Background, hear
from sandbox_scenarios.errors import ValueProblemError
from sandbox_scenarios.facts import facts_of

from tests.counted_steps import lines
from tests.each import each

ROAD = {"quantity": "2417.6 km"}
COLD = {"temperature": "-3.4 C"}
CROWNS = {"money": "1830.55 NOK"}
NIGHTS = {"count": "17 days"}


def test_what_is_counted_is_told_from_other_things() -> None:
    messages = facts_of({"count": "6 messages"})
    assert hear("You have 6 texts from her.", messages).right
    assert not hear("You have 6 reminders, and I don't know how many messages.", messages).right


@each("asked", ["How many have not replied?", "How many haven't replied?"])
def test_who_asks_for_what_is_not_so_is_told_how_much_that_is(asked: str) -> None:
    assert hear("3 have not replied.", facts_of({"count": "3 people"}), Background(given=(asked,))).right


@each("unit", ["°C", "C", "celsius", "degrees Celsius", "ºC"])
def test_a_unit_is_known_by_every_name(unit: str) -> None:
    for kind in ("quantity", "temperature"):
        assert facts_of({kind: f"-3.4 {unit}"}) == facts_of(COLD)


@each(
    ("quantity", "fact", "message"),
    [
        ("12 %", {"percent": 12}, "It went up by 12 percent."),
        ("3 hours", {"count": "3 hours"}, "That takes 3 hours."),
        ("85 €", {"money": "85 EUR"}, "You owe 85 euros."),
        ("40 m²", {"quantity": "40 square meters"}, "The flat has 40 square metres."),
    ],
)
def test_a_quantity_of_another_kind_is_read_as_that(quantity: str, fact: object, message: str) -> None:
    assert hear(message, facts_of({"quantity": quantity})).right
    assert hear(message, facts_of(fact)).right


def test_an_unknown_unit_is_refused() -> None:
    with pytest.raises(ValueProblemError, match="unknown unit 'parsecs'"):
        facts_of({"quantity": "12 parsecs"})


@each("unit", ["millimetres", "mm", "km", "kilograms", "miles", "litres", ""])
def test_a_bare_number_may_be_told_with_whatever_it_is_a_number_of(unit: str) -> None:
    assert hear(f"Usually 20.9 {unit}.", facts_of({"number": 20.9})).right
    assert not hear(f"Usually 29 {unit}.", facts_of({"number": 20.9})).right


@each("listed", ["2417.6 km and 3 km, ", "3 km, ", "I can't. "])
def test_a_list_of_twice_the_length_takes_four_times_the_steps_at_most(listed: str) -> None:
    hear(listed, facts_of(ROAD))  # what is read for the first time is kept
    few, many = (lines(lambda said: hear(said, facts_of(ROAD)), listed * count) for count in (20, 40))
    assert many < 5 * few


@each("message", ["It had 5678 hectares.", "5,678 ha.", "It had 56.78 square kilometres.", "5678."])
def test_units_can_be_counted(message: str) -> None:
    fact = facts_of({"count": "5678 hectares"})
    assert hear(message, fact).right
    assert not hear(message.replace("78", "87"), fact).right
    assert not hear("It had 5678 litres.", fact).right
