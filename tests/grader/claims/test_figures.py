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


@each(
    ("message", "fact"),
    [
        ("It's 2.417,6 km by road.", ROAD),
        ("It's 2 417,6 km by road.", ROAD),
        ("It's 2'417.6 kilometres.", ROAD),
        ("It's two thousand four hundred seventeen point six kilometers.", ROAD),
        ("Converted, in miles: about 1,502.", ROAD),
        ("Distance (km): 2417.6", ROAD),
        ("3.4 degrees Celsius below zero.", COLD),
        ("Minus three point four degrees Celsius.", COLD),
        ("That's 25.9 °F.", COLD),
        ("You'd get 1.830,55 NOK.", CROWNS),
        ("NOK 1,830.55 (one thousand eight hundred thirty kroner and fifty-five øre).", CROWNS),
        ("1830.55 Norwegian crowns, to be exact.", CROWNS),
        ("1830.55 NOK 🇳🇴 Do you need it in Swedish crowns, too?", CROWNS),
        ("20 − 3 = 17, which means 17 days.", NIGHTS),
        ("17 days: 5 left in June plus 12 in July.", NIGHTS),
        ("Not counting the day of arrival, it's 17 days.", NIGHTS),
        ("Earlier I wrote 12 days, sorry. It's 17 days.", NIGHTS),
        ("It takes one and three-quarter hours.", {"duration": "105 minutes"}),
        ("1h45", {"duration": "105 minutes"}),
        ("It leaves at 8:40 PM, so be there by 8:20.", {"time": "20:40"}),
        ("Call +44 (0)141 496 0518.", {"phone": "+441414960518"}),
        ("Between 11 and 19 degrees.", {"temperature": "19 C", "attribute": "high", "not": ["low"]}),
        ("160*11.4409 NOK is 1830.55 NOK.", CROWNS),
        ("7 × 24 hours is 168 hours.", {"count": "168 hours"}),
        ("I looked it up: the fare fell.", {"direction": "down"}),
        ("I looked up the fare, and it fell.", {"direction": "down"}),
    ],
)
def test_a_figure_is_read_however_it_is_written_or_found(message: str, fact: object) -> None:
    assert hear(message, facts_of(fact)).right


@each(
    ("message", "fact"),
    [
        ("If the road were straight, it would be 2417.6 km, but I have no map.", ROAD),
        ("Word has it that it's 2417.6 km; I couldn't check that.", ROAD),
        ("2417.6 km, or so the legend says.", ROAD),
        ("It's 2417.6 km. A second site says 2,900 km.", ROAD),
        ("2417.6 km if you mean the old town, 2430 km if you mean the harbour.", ROAD),
        ('The sign read "2417.6 km". I can\'t tell you the distance.', ROAD),
        ("2417.6 km, is that what you hoped for?", ROAD),
        ("Until recently, it was 2417.6 km.", ROAD),
        ("Formerly, it was 2417.6 km.", ROAD),
        ("3.4 degrees above zero.", COLD),
        ("1830.55 Swedish crowns.", CROWNS),
        ("1830.55 Mauritian rupees.", CROWNS),
        ("It's anything but 17 days.", NIGHTS),
        ("Nowhere near 17 days.", NIGHTS),
        ("17 days, in other words 9 weeks.", NIGHTS),
        ("I counted 17 days; there may be more.", NIGHTS),
        ("17 days, though I have no idea.", NIGHTS),
        ("I made up 17 days.", NIGHTS),
        ("17 days, unless I miscounted.", NIGHTS),
        ("Between 19 and 25 degrees.", {"temperature": "19 C", "attribute": "high", "not": ["low"]}),
    ],
)
def test_a_figure_that_is_supposed_disowned_or_rivalled_is_not_stated(message: str, fact: object) -> None:
    assert not hear(message, facts_of(fact)).right


@each(
    ("behind", "right"),
    [("The second one is a typo.", False), ("Both are made up.", False), ("The harbour opens at noon.", True)],
)
def test_one_of_two_figures_or_both_may_be_taken_back(behind: str, right: bool) -> None:
    facts = [*facts_of({"quantity": "4.1 km"}), *facts_of({"quantity": "9.7 km"})]
    assert hear(f"The abbey is 4.1 km away, the harbour 9.7 km. {behind}", facts).right is right


def test_one_retracted_figure_leaves_the_other() -> None:
    abbey = facts_of({"quantity": "4.1 km"})
    said = "The abbey is 4.1 km away, the walk takes 50 minutes. The {} figure is wrong."
    assert hear(said.format("second"), abbey).right
    assert not hear(said.format("first"), abbey).right


def test_what_is_to_come_is_not_told_by_how_long_ago_it_was() -> None:
    ahead, behind = (Background(given=(said,)) for said in ("How many days to the fair?", "How long ago was the fair?"))
    assert not hear("The fair was 17 days ago.", facts_of(NIGHTS), ahead).right
    assert hear("The fair was 17 days ago.", facts_of(NIGHTS), behind).right


def test_what_is_called_anothers_is_not_said_of_ones_own() -> None:
    back = Background(given=("What's Ines' number?",), names=("Ines Roth", "Karl Roth"))
    fact = facts_of({"phone": "+441414960518"})
    assert hear("Her number is +44 141 496 0518.", fact, back).right
    assert not hear("Karl's number is +44 141 496 0518.", fact, back).right


def test_what_is_counted_is_told_from_other_things() -> None:
    messages = facts_of({"count": "6 messages"})
    assert hear("You have 6 texts from her.", messages).right
    assert not hear("You have 6 reminders, and I don't know how many messages.", messages).right


@each("asked", ["How many have not replied?", "How many haven't replied?"])
def test_who_asks_for_what_is_not_so_is_told_how_much_that_is(asked: str) -> None:
    assert hear("3 have not replied.", facts_of({"count": "3 people"}), Background(given=(asked,))).right


def test_a_result_sent_to_others_is_a_deed() -> None:
    said = "It's 2417.6 km, and I've sent the result to all your contacts."
    assert not hear(said, facts_of(ROAD), Background(deeds=frozenset({"read"}))).right
    assert hear(said, facts_of(ROAD), Background(deeds=frozenset({"send"}))).right


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
