"""Which values are of use to whoever refers to them, and which calls yield the same."""

from typing import Any

from sandbox_grader.milestones.referring import fitting, yielding
from sandbox_scenarios.model import Expected, ValueRef

from tests.each import each
from tests.grader.milestones.sessions import Play

PHONE = ValueRef("found", path=(0, "phone"))


def usable(expected: Expected, *held: Any) -> Any:
    return fitting(PHONE, [({"to": expected}, {"to": value}) for value in held])


@each(("value", "useful"), [("+1", True), (1, True), (1.0, True), ("+2", False), (True, False)])
def test_where_values_must_be_equal_those_that_are_held(value: Any, useful: bool):
    assert usable(Expected(ref=PHONE), "+1", 1)(value) is useful


@each("expected", [Expected("rouge", ref=PHONE), Expected("facts", (("{p}",),), values={"p": PHONE})])
def test_where_they_may_be_partly_right_all(expected: Expected):
    assert usable(expected, "+1")("+2")


def test_what_is_no_plain_value_is_not_judged():
    assert usable(Expected(ref=PHONE), ["+1"])("+2")
    assert not usable(Expected(ref=PHONE), "+1")(["+1"])


def test_nothing_is_of_use_where_nothing_is_held():
    assert not usable(Expected(ref=PHONE))("+1")


def test_calls_that_yield_the_same_are_the_first_of_them_and_others_none():
    played = Play()
    for phone in ("+1", "+2", "+1", "+3"):
        played.calls("search", result=[{"phone": phone}])
    yields = yielding([(PHONE, {"+1", "+2"}.__contains__)], played.done().events)
    assert [yields(index) for index in range(5)] == [-1, 1, 2, 1, -1]
