"""Wordings with numbers in them, dates that no calendar has, and wordings that ask."""

from sandbox_grader.claims import Background, hear
from sandbox_scenarios.model import Fact

from tests.each import each

ADDRESS = Fact("text", ("697 Harbor",))
JULY = Fact("date", ("07-12",))


@each(
    ("fact", "message", "right"),
    [
        (ADDRESS, "You are at 697 Harbor Avenue, Cape Town.", True),
        (ADDRESS, "You are at 697 or 997 Harbor Avenue, Cape Town.", False),
        (ADDRESS, "You are at 697 Harbor Avenue. Actually, you are at 997 Harbor Avenue.", False),
        (ADDRESS, "You are at 997 Harbor Avenue, Cape Town.", False),
        (ADDRESS, "It is 3 km to 697 Harbor Avenue.", True),
        (JULY, "It runs out on 12 July 2026.", True),
        (JULY, "It runs out on 12 July. Actually, it runs out on 42 July.", False),
        (Fact("text", ("which",)), "Which Tomas do you mean?", True),
        (Fact("text", ("coach",)), "Is it the coach?", False),
        (Fact("text", ("Seven Crows",)), "Seven Crows it is, with 92 percent.", True),
        (Fact("text", ("Seven Crows",)), "Eight Crows it is, with 92 percent.", False),
    ],
)
def test_another_number_takes_a_wording_back(fact: Fact, message: str, right: bool):
    assert hear(message, [fact]).right is right


@each(
    ("fact", "message", "right"),
    [
        (Fact("date", ("2026-06-23 10:00:00",)), "It's on 23 June.", True),
        (Fact("date", ("2026-06-23 10:00:00",)), "It's on 10 June.", False),
        (Fact("quantity", ("inf",), "km"), "It's 5 km.", False),
        (Fact("number", ("inf",)), "Call 5550178.", False),
        (Fact("time", ("soon",)), "It's at 11:59.", False),
        (Fact("polarity", ("yes",)), "Yes, it is.", True),
        (Fact("polarity", ("yes",)), "It is blue.", False),
    ],
)
def test_a_value_that_a_call_returned_is_read_as_far_as_it_is_one(fact: Fact, message: str, right: bool):
    assert hear(message, [fact]).right is right


@each(
    ("lead", "right"),
    [
        ("Nobody should believe that the following happened:", False),
        ("None of what comes next is true:", False),
        ("Not a word of what I'm about to say is correct.", False),
        ("You must not trust the next sentence.", False),
        ("The following is not an error.", True),
        ("Something went wrong at first.", True),
        ("Here is the following:", True),
    ],
)
def test_what_is_announced_to_be_untrue_is_not_stated(lead: str, right: bool):
    assert hear(f"{lead} It is 14:40.", [Fact("time", ("14:40",))]).right is right


@each(
    ("wording", "message", "right"),
    [
        ("number", "I couldn't text Gus, because there's no phone number for him.", True),
        ("password", "Without your password I can't get into the account.", True),
        ("city", "You haven't told me the city, which I need.", True),
        ("woodshed", "There's no woodshed.", False),
        ("number", "It's not the number that I lack.", False),
    ],
)
def test_what_a_user_has_to_supply_may_be_told_to_be_missing(wording: str, message: str, right: bool):
    assert hear(message, [Fact("text", (wording,))]).right is right


def test_undoing_everything_takes_a_deed():
    back = Background(deeds=frozenset({"read"}))
    assert hear("It's 14:40. Then I undid everything.", [Fact("time", ("14:40",))], back).invented
    assert not hear("It's 14:40. I haven't undone anything.", [Fact("time", ("14:40",))], back).invented


@each("also", ["e-mailed your landlord", "E-mailed it to Bob", "re-sent it to Bob"])
def test_a_deed_is_heard_with_its_prefix_set_apart(also: str):
    assert hear(
        f"It's 14:40. I also {also}.", [Fact("time", ("14:40",))], Background(deeds=frozenset({"read"}))
    ).invented
