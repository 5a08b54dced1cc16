"""Wordings with numbers in them, dates that no calendar has, and wordings that ask."""

from sandbox_grader.claims import hear
from sandbox_scenarios.model import Fact

from tests.each import each

ADDRESS = Fact("text", ("697 Harbor",))
JULY = Fact("date", ("07-12",))


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
