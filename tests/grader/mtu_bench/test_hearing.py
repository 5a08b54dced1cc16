"""What had been said by when, and what counts as said."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.grading.metric import Subject
from sandbox_grader.papers.mtu_bench.dialogue import DialogueTurn, dialogue
from sandbox_grader.papers.mtu_bench.hearing import HeardSoFar, SearchableSession

from tests.each import each
from tests.grader.mtu_bench.building import Calls, session, solution


def heard(history: str, now: str = "") -> HeardSoFar:
    """What was heard in a turn whose source shows the history as text."""
    return SearchableSession(()).by(DialogueTurn(history=history, user=now))


def recorded(turn: int) -> HeardSoFar:
    """What was heard by a turn of a session of three, numbered from 0, whose calls return letters."""
    turns: list[Calls] = [[("look", {"secret": "owl"})]] * 3
    talk = session(*turns, user=["I say apple.", "I say pear.", "I say plum."], results=[{"k": "ash"}, ["oak"], "elm"])
    whole = dialogue(Subject(talk, (solution(*turns),)), "paper")
    assert not isinstance(whole, str)
    return SearchableSession(talk.events).by(whole.alternatives[0][turn][0])


@each(
    ("turn", "before", "later"),
    [
        (0, [], ["apple", "ash", "pear"]),
        (1, ["apple", "ash", "Done"], ["pear", "oak"]),
        (2, ["pear", "oak"], ["plum", "elm"]),
    ],
)
def test_a_session_is_heard_up_to_the_users_message(turn: int, before: list[str], later: list[str]) -> None:
    assert all(map(recorded(turn).before, [word.casefold() for word in before]))
    assert not any(map(recorded(turn).before, later))


def test_the_users_message_is_heard_now() -> None:
    assert recorded(1).now("pear")
    assert not recorded(1).now("apple")


def test_what_the_agent_passes_to_tools_is_not_heard() -> None:
    assert recorded(2).nothing_of("owl")


def test_a_history_of_the_source_stands_for_what_was_recorded() -> None:
    by = SearchableSession(session([("look", {})], results=["elm"]).events).by(DialogueTurn(history="oak", start=3))
    assert by.before("oak")
    assert not by.before("elm")


@each(
    ("value", "history", "now", "answer"),
    [
        ("7 Mill Lane", "It is in Mill Lane, number 7.", "Go there.", True),
        ("7 Mill Lane", "It is in Mill Lane.", "Go there.", False),
        ("7 Mill Lane", "It is in Mill Lane, number 7.", "Go to Mill Lane 7.", False),
        ("7 Mill Lane", "It is in Mill Lane, number 7.", "Go to Mill Lane.", True),
        (12, "There are 12.", "All.", True),
        ("", "Anything.", "", False),
        (["Ann", "Bob"], "Ann met Bob.", "Both.", True),
    ],
)
def test_what_comes_from_before_only(value: Any, history: str, now: str, answer: bool) -> None:
    assert heard(history, now).only_before(value) == answer


@each(
    ("value", "text"),
    [
        ("2024-01-08", "on 2024-01-08"), ("2024-01-08", "the 8th"), ("2024-01-08", "next Monday"),
        ("19:30", "at 19:30"), ("19:30", "at 7"),
        ("00:15", "at 12"), ("3", "three"), (3, "3"), ("Elm Park", "the park"), ("ÉTÉ", "l'été"),
        (True, ""), ("false", ""), (None, ""), ("?!", ""), ({"k": "elm"}, "elm"),
    ],
)  # fmt: skip
def test_what_may_have_been_said(value: Any, text: str) -> None:
    assert not heard(text).nothing_of(value)
    assert not heard("", text).nothing_of(value)


@each(
    ("value", "text"),
    [
        ("2024-01-08", "the 9th"), ("2024-01-08", "on 2024-02-08"), ("19:30", "at 8"), ("3", "four"), ("3", "13"),
        ("13", "thirteen"), ("Elm Park", "an elmtree parking"), (2.5, "2"), ("x", ""),
    ],
)  # fmt: skip
def test_what_was_not_said(value: Any, text: str) -> None:
    assert heard(text).nothing_of(value)


@given(st.text(), st.text(), st.text())
def test_what_was_said_word_for_word_is_never_made_up(before: str, value: str, after: str) -> None:
    assert not heard(f"{before} {value} {after}").nothing_of(value)


@given(st.text(), st.text())
def test_what_was_just_said_comes_not_from_before(value: str, history: str) -> None:
    assert not heard(history, value).only_before(value)
