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
TRAINS = Background(
    answers=[
        (
            {"origin": "c6"},
            [
                {"number": "KB204", "leaves": "07:10", "arrives": "09:40", "price": 31},
                {"number": "KB208", "leaves": "11:25", "arrives": "14:05", "price": 58},
            ],
        )
    ]
)
CLIMBS = Background(
    known=frozenset({"needle 3", "kestrel 5", "needle 9"}),
    answers=[
        ({}, [{"id": "cl1", "name": "Oona Halloway"}, {"id": "cl2", "name": "Bruno Achterberg"}]),
        ({"climber": "cl1"}, [{"climb": "Needle 3"}, {"climb": "Kestrel 5"}, {"climb": "Needle 9"}]),
        ({"climber": "cl2"}, [{"climb": "Kestrel 5"}]),
    ],
)
OVENS = Background(
    answers=[({}, [{"label": "Stew", "seconds_left": 2890.0}, {"label": "Laundry", "seconds_left": 965.0}])]
)
RATES = Background(answers=[({"amount": 40, "to": "NOK"}, 447.31), ({"amount": 95, "to": "NOK"}, 1062.36)])
RIGHT = [
    ({"text": ["KB204"]}, TRAINS, "KB204 is the cheap one, 31 euros; it arrives at 9:40. KB208 costs 58."),
    ({"number": 3}, CLIMBS, "Oona Halloway climbed three times: Needle 3, Kestrel 5 and Needle 9. Bruno Achterberg once."),
    ({"count": 48, "unit": "minute"}, OVENS, "About 48 minutes for the stew. The laundry needs another 16."),
    ({"money": 447.31, "unit": "NOK"}, RATES, "Three nights are 447.31 kroner."),
    ({"money": 447.31, "unit": "NOK"}, RATES, "| EUR | NOK |\n|---|---|\n| 40 | 447.31 |\n| 95 | 1,062.36 |"),
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
    ({"text": ["KB204"]}, TRAINS, "KB208 is the cheap one, 31 euros; KB204 costs 58."),
    ({"number": 3}, CLIMBS, "Bruno Achterberg climbed three times and Oona Halloway once, so 1."),
    ({"count": 48, "unit": "minute"}, OVENS, "48 minutes for the laundry. The stew needs another 16 minutes."),
    ({"money": 447.31, "unit": "NOK"}, RATES, "| EUR | NOK |\n|---|---|\n| 40 | 1,062.36 |\n| 95 | 447.31 |"),
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
    ({"name": "Catalina Rojas"}, FLIGHTS, "Catalina Rojas and Mateo Fuentes both flew. So Fuentes was the first."),
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


@pytest.mark.parametrize(
    ("fact", "back", "reply"),
    [
        ({"number": 3}, CLIMBS, "Two climbs: Needle 3 and Kestrel 5."),
        ({"name": "Heron Cycles"}, results(), "It belongs to Heron Boats."),
        ({"name": "Pym & Daughters"}, results(), "Pym and Sons own it."),
        ({"name": "Heron Cycles"}, results(), "Heron is in its name, but it does not belong to Heron Cycles."),
    ],
)
def test_a_part_of_another_name_states_nothing(fact: dict[str, Any], back: Background, reply: str) -> None:
    assert not hear(reply, facts_of(fact), back).right


def test_what_stands_beside_the_right_thing_in_its_row_is_no_candidate() -> None:
    back = results(
        *(
            {"song": f"so{n}", "title": f"{word} Dance", "by": f"{word} Kos"}
            for n, word in enumerate(("Ash", "Elm", "Oak", "Fir"))
        )
    )
    wanted = (*facts_of({"text": ["Ash Dance"]}), *facts_of({"text": ["Elm Dance"]}))
    assert hear(
        "| Title | By | Id |\n|---|---|---|\n| Ash Dance | Ash Kos | so0 |\n| Elm Dance | Elm Kos | so1 |", wanted, back
    ).right
    assert not hear("Ash Dance, Elm Dance, Oak Dance, Fir Dance, Oak Kos, Fir Kos.", wanted[:1], back).right
