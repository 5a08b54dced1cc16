"""Clauses and what their form says."""

import pytest

from sandbox_mcp.engine.talk.clauses import Clause, read
from sandbox_mcp.engine.talk.deeds import claims_in
from sandbox_mcp.engine.talk.inability import is_unable


def clause_with(message: str, word: str) -> Clause:
    """The clause of a message in which a word stands."""
    talk = read(message)
    return talk.clause_at(talk.low.index(word))


@pytest.mark.parametrize(
    ("message", "word", "states"),
    [
        ("It is 5 km, but is that too far?", "5 km", True),
        ("It is 5 km, but is that too far?", "too far", False),
        ("If you need 7 more, tell me.", "7", False),
        ("I could text Rolf.", "rolf", False),
        ("I texted Rolf.", "rolf", True),
    ],
)
def test_questions_and_conditions_state_nothing(message: str, word: str, states: bool) -> None:
    assert clause_with(message, word).states is states


def test_a_denial_reaches_forward_in_its_own_clause() -> None:
    talk = read("I did not save it, and the number is 5.")
    assert talk.clause_at(talk.low.index("save")).denied(talk.low.index("save"))[0]
    assert not talk.clause_at(talk.low.index("5")).denied(talk.low.index("5"))[0]


def test_what_is_said_behind_a_quotation_is_no_part_of_it() -> None:
    assert not clause_with('It says "see you" and the price is 5.', "price").quoted
    assert clause_with('It says "see you" and the price is 5.', "see you").quoted


@pytest.mark.parametrize(
    "message",
    [
        "My toolset covers texts, contacts and reminders; weather isn't part of it.",
        "I have no way to set a ringtone.",
        "That's beyond what I can do here.",
        "Sorry, I'm unable to look that up.",
    ],
)
def test_inability_is_heard(message: str) -> None:
    assert any(map(is_unable, read(message).clauses))


@pytest.mark.parametrize("message", ["No problem, it is on.", "Nothing else was changed.", "It is 5 km, not far."])
def test_what_only_sounds_like_it_is_no_inability(message: str) -> None:
    assert not any(map(is_unable, read(message).clauses))


@pytest.mark.parametrize(
    ("message", "verbs"),
    [
        ("I've texted Rolf and deleted his contact.", ["text", "delete"]),
        ("Done: texted Rolf.", ["text"]),
        ("You sent that at 13:05.", []),
        ("I will text Rolf. Shall I delete him?", []),
        ("I didn't save his number.", []),
        ('It says "I texted you".', []),
        ("The reminder has been moved.", ["move"]),
    ],
)
def test_deeds_are_claimed_in_the_past(message: str, verbs: list[str]) -> None:
    assert [deed.verb for deed in claims_in(read(message))] == verbs
