"""When arguments are the same: the authors' substring test with its rewriting, and ours."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.papers.mtu_bench.compare import contained, normalised, same_arguments, same_value

from tests.each import each

values = st.text(max_size=6) | st.integers(-99, 99) | st.booleans() | st.none()
arguments = st.dictionaries(st.sampled_from("abcd"), values | st.lists(values, max_size=2), max_size=4)


# -- as the authors' code -----------------------------------------------------------------------------------------


@each(
    ("inner", "outer"),
    [
        ("York", "New York"), ("", "anything"), ("1", "21"), ("HALL", "hall"), (5, "5"), (True, "true"),
        ("my desk", "desk"), ("FindProvider.name", "BookAppointment.name"), ("today", "Monday"), (["x"], ["x"]),
        ("one", "stone"), ("1", "one"), (10, "onezero"),
    ],
)  # fmt: skip
def test_a_value_is_contained(inner: Any, outer: Any) -> None:
    assert contained({"v": inner}, {"v": outer})


@each(
    ("inner", "outer"),
    [
        ("New York", "York"), ("10", "ten"), (["x"], "x"), ("2024-01-04", "Monday"),
        ("BookAppointment", "FindProvider"), ("5.0", "5"), ("hall", ""),
    ],
)  # fmt: skip
def test_a_value_is_not_contained(inner: Any, outer: Any) -> None:
    assert not contained({"v": inner}, {"v": outer})


def test_entries_that_say_hotel_are_dropped_on_both_sides() -> None:
    assert contained({"type": "hotel", "stars": 3}, {"stars": 3})
    assert contained({"stars": 3}, {"type": "Hotel", "stars": 3})
    assert not contained({"type": "hotel inn"}, {})


def test_names_and_their_number_must_agree() -> None:
    assert not contained({"a": 1}, {"a": 1, "b": 2})
    assert not contained({"a": 1}, {"A": 1})


@each(
    ("value", "rewritten"),
    [
        ("10", "onezero"), ("2024-01-04", "twozerotwofour-zeroone-zerofour"), ("in my room", "in room"),
        ("enemy camp", "enecamp"), ("findprovider.id", "bookappointment.id"), ("findprovider", "findprovider"),
        ("not today", "not monday"),
    ],
)  # fmt: skip
def test_what_a_value_becomes(value: str, rewritten: str) -> None:
    assert normalised(value) == rewritten


@given(arguments)
def test_everything_contains_itself(given_: dict[str, Any]) -> None:
    assert contained(given_, given_)


# -- as the paper means it ----------------------------------------------------------------------------------------


@each(
    ("left", "right"),
    [
        (5, "5"), (5.0, 5), ("5.50", 5.5), (True, "True"), ("false", False), ("New  York ", "new york"),
        (["a", 1], ["A", "1"]), ({"k": 1, "n": None}, {"k": "1"}), ("0", 0), ("-3", -3), (None, None),
        (12345678901234567890, "12345678901234567890"), (1e16, 10**16), (1e-05, "0.00001"), (-0.0, 0),
    ],
)  # fmt: skip
def test_the_same_value(left: Any, right: Any) -> None:
    assert same_value(left, right)
    assert same_value(right, left)


@each(
    ("left", "right"),
    [
        ("York", "New York"), (1, 21), (1, True), ("yes", True), (["a"], "a"), (["a", "b"], ["b", "a"]), ("007", 7),
        ("+49", 49), ({"k": 1}, {"k": 2}), ("", None), ("12345678901234567890", 12345678901234567891), ("²", 2),
    ],
)  # fmt: skip
def test_another_value(left: Any, right: Any) -> None:
    assert not same_value(left, right)
    assert not same_value(right, left)


def test_null_is_as_good_as_absent() -> None:
    assert same_arguments({"room": "hall", "dim": None}, {"room": "Hall"})
    assert not same_arguments({"room": "hall"}, {"room": "hall", "dim": 0})


@given(arguments, arguments)
def test_sameness_is_symmetric(left: dict[str, Any], right: dict[str, Any]) -> None:
    assert same_arguments(left, left)
    assert same_arguments(left, right) == same_arguments(right, left)
