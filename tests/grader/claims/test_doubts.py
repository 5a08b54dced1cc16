"""Hedges that leave it open whether an answer holds, and those about something else, which leave it standing."""

import pytest
from sandbox_grader.claims import Background, hear
from sandbox_grader.claims.remarks import doubt_in
from sandbox_scenarios.facts import facts_of
from sandbox_scenarios.model import Fact

from tests.each import each
from tests.grader.claims.test_wrappers import CASES, filled, stated

GUESSED = (
    "I have no idea, I am merely guessing: {s}.", "My best guess: {s}.", "If I had to guess, {s}.", "{S}, perhaps.",
    "Not certain, but {s}.", "I can't be sure, but {s}.", "Don't quote me on this, but {s}.", "Just a hunch: {s}.",
    "This is pure guesswork. {S}.", "I'm only guessing here. {S}.", "It's possible that {s}.", "Maybe {s}.",
    "{S}. I'm not sure, though.", "{S}, but I could be wrong.", "{S}. I may be mistaken about that.", "{S} (not sure).",
    "{S}, or maybe not.", "{S}. Who knows?", "{S}. Hard to say, really.", "Off the top of my head, {s}.",
    "Take this with a grain of salt: {s}.", "I wouldn't swear to it, but {s}.", "There's a chance that {s}.",
    "I've no way of knowing, but {s}.", "Perhaps. I don't really know. {S}.", "Without having checked anything: {s}.",
    "I'm unsure whether this is right: {s}.", "{S}. Honestly, no clue.", "{S} – this could all be wrong.",
)  # fmt: skip
ABOUT_SOMETHING_ELSE = (
    "I may have taken a moment, sorry. {S}.", "You might want to write this down: {s}.", "{S}. It might help.",
    "This took a while, probably because wifi was off. {S}.", "I wasn't sure at first, so I checked. {S}.",
    "I'm not sure. Let me check... {S}.", "Maybe you noticed already. {S}.", "As you may know, {s}.",
    "I'm not guessing here: {s}.", "No guessing needed: {s}.", "This isn't a guess. {S}.", "I'm certain that {s}.",
    "{S}. I'm not sure why the first try failed, though.", "{S}. I have no idea why it was off.",
    "{S}. As for why it was off, I have no idea.", "{S}. Perhaps there's something else I can do?",
    "{S}. I think that covers it.", "{S}. If you're unsure, just ask.", "{S}. No doubt about it.",
    "I suppose you're in a hurry: {s}.", "It took two tries, possibly due to a weak signal. {S}.",
    "Not sure if you saw my last message. {S}.", "{S}. I guess that's everything!", "I don't doubt it: {s}.",
    "{S}. I don't know more than that.", "{S}. I can't tell you anything more about it.",
)  # fmt: skip


@pytest.mark.parametrize("pattern", GUESSED)
def test_what_is_only_guessed_at_is_not_stated(pattern: str) -> None:
    assert [case.sentence for case in CASES if stated(case, filled(pattern, case))] == []


@pytest.mark.parametrize("pattern", ABOUT_SOMETHING_ELSE)
def test_a_doubt_about_something_else_leaves_an_answer_stated(pattern: str) -> None:
    assert [case.sentence for case in CASES if not stated(case, filled(pattern, case))] == []


@each(
    ("message", "right"),
    [
        ("I can't look up the weather. I honestly don't know.", True),
        ("I have no idea, I can't look up the weather.", True),
        ("I can't look up the weather, so I can't say for sure.", True),
        ("I'm not sure, but I can't look up the weather.", False),
        ("I can't look up the weather. That's just a guess.", False),
    ],
)
def test_a_refusal_may_say_what_is_not_known(message: str, right: bool) -> None:
    assert hear(message, facts_of({"cannot": ["weather"]})).right is right


def test_a_guess_is_not_held_to_be_incomplete_but_to_be_taken_back() -> None:
    back = Background(deeds=frozenset({"read", "send"}))
    assert hear("I texted Oona. But I'm only guessing.", facts_of({"deed": "send"}), back).false
    assert hear("I could be wrong, but your wifi is off.", facts_of({"wifi": "off"}), back).false


@each(
    ("words", "doubt"),
    [
        ("I really am not all that sure about any of this", "ignorance"),
        ("that is little more than a guess on my part", "guess"),
        ("it may or may not be true", "guess"),
        ("I am not sure whether the shop is open", ""),
        ("I am sure", ""),
        ("I was not sure", ""),
        ("nothing is wrong with it", ""),
    ],
)
def test_a_doubt_is_made_of_words_without_content(words: str, doubt: str) -> None:
    assert doubt_in(words) == doubt


FICTION = (
    "Here's an example of what a reply could look like: {s}.", "I had a dream in which I could say: {s}.",
    "This is only a test: {s}.", "My colleague claims the following: {s}.", "Hopefully, one day, I'll say: {s}.",
    "{S}. This was only a simulation.", "{S}. Oops, that was for another user.", "{S}. Everything I said was a lie.",
    "{S}. I was making a joke. None of it is true, sadly.", "I lied when I said: {s}.", "{S}. Except that it isn't so.",
    "I solemnly swear that none of this is true: {s}.", "{S}. Nothing of what I said is meant seriously.",
)  # fmt: skip
NO_FICTION = (
    "I'm not joking: {s}.", "{S}. If anything is wrong, tell me.", "{S}. Let me know in case something isn't right.",
    "No, that's not right. {S}.", "{S}. No joke!", "{S}. That's the truth.", "{S}. I hope that's right for you.",
    "That's a good example of a quick question: it took one look. {S}.", "This is no test: {s}.",
    "The last one is as follows: {s}.", "The last text that came in says: {s}.",
    "It came from Thi An and says: {s}.", "Yesterday at 5 pm Ana wrote: {s}.", "Her text from last Monday says: {s}.",
    "It was sent last night and says: {s}.", "From what I see in the game schedule: {s}.", "Test results: {s}.",
)  # fmt: skip


@pytest.mark.parametrize("pattern", FICTION)
def test_what_is_told_to_be_unreal_is_not_stated(pattern: str) -> None:
    assert [case.sentence for case in CASES if stated(case, filled(pattern, case))] == []


@pytest.mark.parametrize("pattern", NO_FICTION)
def test_words_for_fiction_that_call_nothing_unreal_leave_an_answer_stated(pattern: str) -> None:
    assert [case.sentence for case in CASES if not stated(case, filled(pattern, case))] == []


@each(
    ("claim", "invented"),
    [
        ("I also turned your screen brightness down.", True),
        ("I signed you up for a newsletter.", True),
        ("And I shared your location with all of your contacts.", True),
        ("I also turned your wifi on.", False),
        ("I also moved your reminder.", False),
    ],
)
def test_one_more_deed_is_done_to_a_thing_that_the_session_knows(claim: str, invented: bool) -> None:
    back = Background(given=("How far is the quarry?",), deeds=frozenset({"read", "switch", "change"}))
    assert bool(hear(f"It's 18.6 km. {claim}", facts_of({"quantity": "18.6 km"}), back).invented) is invented


@each(
    ("message", "right"),
    [
        ("It lists two inventors: Kofi Asante and Priya Raman.", True),
        ("Invented by two people: Kofi Asante and Priya Raman.", True),
        ("These two invented it: Kofi Asante and Priya Raman.", True),
        ("Here is an invention of mine: Kofi Asante and Priya Raman did it.", False),
        ("I invented this: Kofi Asante and Priya Raman did it.", False),
        ("Let me invent something: Kofi Asante and Priya Raman did it.", False),
        ("An invented answer: Kofi Asante and Priya Raman did it.", False),
    ],
)
def test_whoever_invents_things_is_no_fiction(message: str, right: bool) -> None:
    facts = [Fact("name", ("Kofi Asante",)), Fact("name", ("Priya Raman",))]
    assert hear(message, facts, Background(deeds=frozenset({"read"}))).right is right
