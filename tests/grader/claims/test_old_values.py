"""What was, or holds otherwise, beside what is: labels, columns of tables, remarks in brackets, comparisons."""

from typing import Self

import pytest
from sandbox_grader.claims import Background, hear
from sandbox_scenarios.facts import facts_of

from sandbox_mcp import Id, Table, World, column, key
from tests.each import each

LEAVES = {"time": "04:45"}
DUE = {"date": "2026-04-13"}
COSTS = {"money": "39.8 EUR"}


def outcome(message: str, fact: dict[str, object], back: Background | None = None) -> str:
    return hear(message, facts_of(fact), back or Background()).findings[0].outcome


@each(
    ("message", "fact"),
    [
        ("It now leaves at 04:45 (was 03:15).", LEAVES),
        ("It leaves at 04:45; it was 03:15.", LEAVES),
        ("Old time: 03:15\nNew time: 04:45", LEAVES),
        ("- **Before:** 03:15\n- **After:** 04:45", LEAVES),
        ("New due date: 13 April. Previous due date: 30 March.", DUE),
        ("| Old | New |\n|---|---|\n| 03:15 | 04:45 |", LEAVES),
        ("| New | Old |\n|:--|--:|\n| 04:45 | 03:15 |", LEAVES),
        ("| Book | Old due date | New due date |\n|---|---|---|\n| Winter | 30/03/2026 | 13/04/2026 |", DUE),
        ("Book | Previously | Now\n--- | --- | ---\nWinter | 30 March | 13 April", DUE),
        ("03:15 -> 04:45", LEAVES),
        ("€39.80 in total, compared to €59.70 at full price.", COSTS),
        ("€39.80, as opposed to the usual €59.70", COSTS),
        ("Normally €59.70, for you €39.80.", COSTS),
        ("It leaves at 2026-03-29T04:45+02:00.", LEAVES),
        ("2026-03-29T04:45:00.000Z", LEAVES),
        ("2026-03-29 04:45 +02:00", LEAVES),
        ("It leaves at 0445 local time.", LEAVES),
        ("As I said earlier: it leaves at 04:45.", LEAVES),
        ("Old time: 04:45", LEAVES),
    ],
)
def test_what_was_takes_nothing_back(message: str, fact: dict[str, object]) -> None:
    assert outcome(message, fact) == "stated"


@each(
    ("message", "fact"),
    [
        ("It leaves at 03:15; it was 04:45.", LEAVES),
        ("It leaves at 03:15 (was 04:45).", LEAVES),
        ("It was 04:45. It was 03:15.", LEAVES),
        ("It leaves at 04:45. No, sorry, it was 03:15.", LEAVES),
        ("Old time: 04:45\nNew time: 03:15", LEAVES),
        ("| Old | New |\n|---|---|\n| 04:45 | 03:15 |", LEAVES),
        ("| Gate | Departure |\n|---|---|\n| A | 04:45 |\n| A | 03:15 |", LEAVES),
        ("04:45 -> 03:15", LEAVES),
        ("€59.70 in total, compared to €39.80 with a card.", COSTS),
        ("Normally €39.80, today €59.70.", COSTS),
        ("2026-03-29T03:15+04:45", LEAVES),
    ],
)
def test_what_was_is_not_what_is(message: str, fact: dict[str, object]) -> None:
    assert outcome(message, fact) != "stated"


RAIN = [{"number": 20.9}, {"number": 17.6}]
USUAL = Background(given=("What does a ride usually cost?",))


@each(
    "message",
    [
        "Usually 20.9 millimetres in July and 17.6 millimetres in August.",
        "Normally 20.9 mm in July, but only 17.6 mm in August.",
        "Normally 20.9 mm in July. In August it is normally 17.6 mm.",
        "Old gauge: 20.9 mm. New gauge: 17.6 mm.",
    ],
)
def test_what_is_asked_for_beside_is_no_other_time(message: str) -> None:
    facts = [fact for item in RAIN for fact in facts_of(item)]
    assert [item.outcome for item in hear(message, facts, Background()).findings] == ["stated", "stated"]


def test_what_is_usual_is_told_to_who_asks_for_it() -> None:
    assert outcome("Normally €59.70, today €39.80.", COSTS, USUAL) == "contrary"


class Shop(Table, single=True):
    """What can be open and closed."""

    id: Id[Self] = key()
    open: bool = column(default=True, called=["bar", "counter"])


HOME = World("doors", tables=[Shop])


@pytest.mark.parametrize("thing", ["bar", "counter"])
@each(
    ("message", "state"),
    [
        ("The {} is closed.", "off"),
        ("The {} is now closed for the night.", "off"),
        ("I have shut the {}.", "off"),
        ("I've closed the {} for you.", "off"),
        ("The {} has been closed.", "off"),
        ("{}: closed", "off"),
        ("The {} isn't open any more.", "off"),
        ("The {} is open.", "on"),
        ("I reopened the {}.", "on"),
        ("The {} is open again.", "on"),
        ("The {} was closed; now it is open.", "on"),
    ],
)
def test_what_opens_is_on_when_it_is_open(thing: str, message: str, state: str) -> None:
    back, other = Background(home=HOME), {"on": "off", "off": "on"}[state]
    said = message.format(thing)
    assert outcome(said, {thing: state}, back) == "stated"
    assert outcome(said, {thing: other}, back) == "contrary"


@each(
    "message",
    ["I could not close the bar.", "Shall I close the bar?", "I closed the window of the bar.", "I opened a book."],
)
def test_what_was_not_closed_is_not_off(message: str) -> None:
    assert outcome(message, {"bar": "off"}, Background(home=HOME)) != "stated"
