# ruff: noqa: E501 - replies as they were written
"""Names and values of results that a reply exchanges, and right names that it speaks of as another."""

from typing import Any

import pytest
from sandbox_grader.claims import Background, hear
from sandbox_scenarios.facts import facts_of


def results(*rows: dict[str, Any], given: str = "") -> Background:
    """A session in which a call answered with some rows."""
    return Background(given=(given,), answers=[({}, list(rows))])


TASKS = results(
    {"task": "Pay the permit fee", "due_date": "2027-03-26 12:00:00"},
    {"task": "Renew the liability insurance", "due_date": "2027-03-15 09:00:00"},
)
PATENT = results({"number": "AX77838", "filed": "2007-02-13", "granted": "2011-01-27"})
MUSEUMS = results(
    {"name": "Museum of Tin", "opens": "09:00", "closes": "16:30", "fee": 14},
    {"name": "Museum of Bells", "opens": "10:00", "closes": "17:00", "fee": 0},
)
SCORERS = results(
    {"player": "Cyril Grant", "team": "Skerry Rovers", "goals": 9},
    {"player": "Luca Novak", "team": "Saltmarsh United", "goals": 5},
)
FLIGHTS = results(
    {"name": "Catalina Rojas", "mission": "Ember 1"},
    {"name": "Catalina Rojas", "mission": "Tidewatch 6"},
    {"name": "Mateo Fuentes", "mission": "Tsuru 6"},
    given="Which Chilean was the first to fly, and on what mission?",
)
ALBUMS = results(
    {"title": "Paper Thunder", "released": "2015-05-05"},
    {"title": "Brass and Honey", "released": "2021-12-16"},
    given="What album did they bring out in 2015?",
)
RIGHT = [
    ({"date": "2027-03-26"}, TASKS, "1. Renew the liability insurance – due March 15\n2. Pay the permit fee – due March 26, 12:00"),
    ({"date": "2027-03-26"}, TASKS, "March 26 for the permit fee, and March 15 for the insurance."),
    ({"date": "2011-01-27"}, PATENT, "It was filed on 13 February 2007 and granted on 27 January 2011."),
    ({"date": "2011-01-27"}, PATENT, "Granted? On 27 January 2011, nearly four years after it was filed (13 February 2007)."),
    ({"time": "10:00"}, MUSEUMS, "The Museum of Bells is free and opens at 10. The Museum of Tin costs 14 and opens at 9."),
    ({"name": "Luca Novak"}, SCORERS, "Cyril Grant was first with 9; Luca Novak of Saltmarsh United came second with 5."),
    ({"text": ["Saltmarsh United"]}, SCORERS, "Nine goals for Cyril Grant (Skerry Rovers), five for Luca Novak (Saltmarsh United)."),
    ({"name": "Catalina Rojas"}, FLIGHTS, "Catalina Rojas was the first, on Ember 1. Mateo Fuentes flew later, on Tsuru 6."),
    ({"text": ["Paper Thunder"]}, ALBUMS, "There are two: Brass and Honey is from 2021, and the other, Paper Thunder, from 2015, so Paper Thunder it is."),
]  # fmt: skip
CROSSED = [
    ({"date": "2027-03-26"}, TASKS, "The permit fee is due by 15 March, and the liability insurance by 26 March."),
    ({"date": "2011-01-27"}, PATENT, "It was filed on 27 January 2011 and granted on 13 February 2007."),
    ({"time": "10:00"}, MUSEUMS, "The Museum of Bells is the free one and opens at 9:00. The Museum of Tin costs 14 and opens at 10:00."),
    ({"time": "17:00"}, MUSEUMS, "You can go to the Museum of Bells from 17:00 until 10:00."),
    ({"name": "Luca Novak"}, SCORERS, "Luca Novak of Skerry Rovers was second; Cyril Grant of Saltmarsh United was first."),
    ({"text": ["Ember 1"]}, FLIGHTS, "Catalina Rojas was the first to fly, on Tsuru 6, before Mateo Fuentes on Ember 1."),
    ({"count": 5, "unit": "goal"}, SCORERS, "9 goals for Luca Novak and 5 for Cyril Grant."),
]  # fmt: skip
ASIDE = [
    ({"text": ["Paper Thunder"]}, ALBUMS, 'The one from 2015 is "Brass and Honey". The other one is "Paper Thunder".'),
    ({"name": "Catalina Rojas"}, FLIGHTS, "Mateo Fuentes was the first, on Tsuru 6. Catalina Rojas went up on Ember 1."),
    ({"name": "Catalina Rojas"}, FLIGHTS, "Mateo Fuentes, on Tsuru 6; Catalina Rojas came later."),
]  # fmt: skip


@pytest.mark.parametrize(("fact", "back", "reply"), RIGHT)
def test_values_beside_their_own_names_are_stated(fact: dict[str, Any], back: Background, reply: str) -> None:
    assert hear(reply, facts_of(fact), back).right


@pytest.mark.parametrize(("fact", "back", "reply"), CROSSED)
def test_two_things_with_each_others_values_are_false(fact: dict[str, Any], back: Background, reply: str) -> None:
    assert "each other's values" in (hear(reply, facts_of(fact), back).false or "")


@pytest.mark.parametrize(("fact", "back", "reply"), ASIDE)
def test_the_right_name_as_another_is_in_doubt(fact: dict[str, Any], back: Background, reply: str) -> None:
    assert [item.outcome for item in hear(reply, facts_of(fact), back).findings] == ["doubt"]


@pytest.mark.parametrize(
    "reply",
    [
        "It's either Sugar Engine (2009) or Northern Lights Out (2013).",
        "That would be one of Northern Lights Out, Sugar Engine and Salt Road.",
        "It is one of these: Northern Lights Out, Sugar Engine.",
    ],
)
def test_one_of_several_is_no_answer(reply: str) -> None:
    assert not hear(reply, facts_of({"text": ["Sugar Engine"]})).right


def test_a_row_of_what_stands_in_the_same_place_of_the_results_is_in_doubt() -> None:
    back = results(
        *({"place": place, "title": title} for place, title in enumerate(("Hollow Town", "Willow Dance", "River Town")))
    )
    fact = facts_of({"text": ["Hollow Town"]})
    assert (
        hear("Willow Dance, River Town, Hollow Town: those are its songs.", fact, back).findings[0].outcome == "doubt"
    )
    assert hear("Of Willow Dance, River Town and Hollow Town, Hollow Town is the shortest.", fact, back).right


@pytest.mark.parametrize(
    ("fact", "reply"),
    [
        ({"time": "10:00"}, "It's in your calendar on Wednesday, from ten to eleven in the morning."),
        ({"money": "2.5 EUR"}, "The fee is €2.5 a night."),
        ({"text": ["vgr"]}, "Two of them. Dot v g r and dot p x m."),
        (
            {"deed": "add"},
            "The vet is saved. The cat picture, I'm sorry to say, I couldn't do: entries hold no pictures.",
        ),
        ({"deed": "remove"}, "That was your dentist's, and I've taken her out of your contacts."),
    ],
)
def test_what_strangers_said_rightly_is_stated(fact: dict[str, Any], reply: str) -> None:
    assert hear(reply, facts_of(fact)).right
