"""What a message says is what the original's expressions find in it, at a price that stays small."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox_grader.papers.toolscan.messages import split

from tests.laws import at_least

SAID = r"\s*(?P<name>.*?)\s*with\s*Action Input:\s*(?P<input>.*?)$"
FORMS = (re.compile("Action:" + SAID), re.compile(SAID))
PIECES = ("Action:", "with", "Action Input:", "with Action Input:", "Action", " ", "\n", "\t", "\u2028", "x", "{}")


def as_searched(message: str) -> tuple[str, str] | None:
    """Name and input by the expressions of the authors' code."""
    found = next((found for form in FORMS if (found := form.search(message.strip()))), None)
    return (found["name"], found["input"]) if found else None


@settings(max_examples=at_least(80), deadline=None)
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=12))
def test_a_message_says_what_the_original_finds_in_it(pieces):
    said = split("".join(pieces))
    assert (said and (said.name, said.input)) == as_searched("".join(pieces))


def test_a_model_that_babbles_does_not_hold_up_the_import():
    for babble in ("x" * 100_000, "a" + " " * 100_000 + "b", "with " * 20_000, "Action: " * 20_000):
        assert split(babble) is None
