"""Classes of mistakes and their finer kinds, on made-up conversations."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.each import each
from tests.grader.mtu_bench.building import Calls, grade, graded, row, says

ASK: Calls = []


def last(
    turns: Sequence[Calls], wanted: Sequence[Calls], mode: Any = "paper", **kept: Any
) -> tuple[str | None, list[str]]:
    """Class and kinds of the mistake in the last turn."""
    detail = grade(turns, wanted, mode=mode, **kept).details[-1]
    return detail["error"], detail["kinds"]


def calls(names: str, **arguments: Any) -> Calls:
    """A turn that calls the tools of these one-letter names with the same arguments."""
    return [(name, arguments) for name in names]


# -- classes ------------------------------------------------------------------------------------------------------


@each(
    ("done", "wanted", "error"),
    [
        ("ab", "ab", None), ("", "", None), ("a", "ab", "missed"), ("", "a", "missed"), ("abc", "ab", "excessive"),
        ("a", "", "excessive"), ("c", "ab", "incorrect"), ("ac", "ab", "incorrect"),
    ],
)  # fmt: skip
@each("mode", ["compat", "paper", "strict"])
def test_classes_by_tools(done: str, wanted: str, error: str | None, mode: Any) -> None:
    assert last([calls(done)], [calls(wanted)], mode)[0] == error


@each("mode", ["compat", "paper", "strict"])
def test_the_right_tools_with_other_arguments(mode: Any) -> None:
    assert last([calls("ab", n=1)], [calls("ab", n=2)], mode)[0] == "parameter"


def test_a_repeated_tool_is_one_too_many_but_not_in_compat() -> None:
    assert last([calls("aab")], [calls("ab")])[0] == "excessive"
    assert last([calls("aab")], [calls("ab")], "compat")[0] is None


def test_the_right_calls_in_another_order_are_a_class_of_their_own() -> None:
    assert last([calls("ba", n=1)], [calls("ab", n=1)]) == ("order", [])
    assert last([calls("ba", n=1)], [calls("ab", n=2)])[0] == "parameter"
    assert last([calls("ba", n=1)], [calls("ab", n=1)], "compat")[0] is None


def test_compat_calls_a_turn_excessive_that_scores_as_right() -> None:
    detail = grade([calls("abc")], [calls("ab")], mode="compat").details[0]
    assert (detail["right"], detail["error"]) == (True, "excessive")


@each(
    ("response", "right"),
    [
        ("Action: boil\nAction Input: {'owner': \"Ann's\"}", True),
        ("Action: ask for the room", True),
        ("Action: None\nAction Input: None", True),
        ("Action: lamp_on\nAction Input: {}", False),
    ],
)
def test_compat_counts_a_fault_of_format_although_the_turn_scores_as_right(
    response: str, right: bool, tmp_path: Path
) -> None:
    figures = graded(tmp_path, [row("S-S_0", {"": {}})], [says("S-S_0", response)])["S-S"]
    assert (figures["PS"], figures["errors"]["format"]) == ((100.0, 1) if right else (0.0, 0))


# -- Table 11 -----------------------------------------------------------------------------------------------------


def test_another_tool_selected() -> None:
    assert last([calls("b")], [calls("a")]) == ("incorrect", ["tool_selection"])


@each(
    ("given", "kinds"),
    [
        ({"city": "Rome"}, ["parameter_omission"]),
        ({"city": "Roma", "seats": 2}, ["parameter_misalignment"]),
        ({"city": "Rome", "seats": 2, "class": "first"}, ["parameter_misalignment"]),
        ({"city": "Roma"}, ["parameter_omission", "parameter_misalignment"]),
        ({"city": "Rome", "seats": None}, ["parameter_omission"]),
    ],
    ids=["left out", "another value", "one too many", "both", "null"],
)
def test_parameters_of_a_single_turn(given: dict[str, Any], kinds: list[str]) -> None:
    assert last([[("book", given)]], [[("book", {"city": "Rome", "seats": 2})]]) == ("parameter", kinds)


def test_parameters_are_compared_call_by_call_where_a_tool_is_called_twice() -> None:
    done: Calls = [("a", {"n": 1}), ("a", {"m": 2})]
    assert last([done], [[("a", {"n": 1}), ("a", {"n": 2})]]) == (
        "parameter", ["parameter_omission", "parameter_misalignment"],
    )  # fmt: skip


# -- Table 12 -----------------------------------------------------------------------------------------------------

PARK: Calls = [("find_park", {"name": "Elm Park", "show": ["all"]})]


def test_a_call_for_what_is_known_already() -> None:
    assert last([PARK, PARK], [PARK, ASK], results=[{"phone": "555"}]) == ("excessive", ["repeated_call"])


def test_a_call_that_asks_for_less_than_before_is_a_repetition() -> None:
    assert last([PARK, [("find_park", {"name": "elm park"})]], [PARK, ASK])[1] == ["repeated_call"]


def test_a_call_that_asks_for_more_is_none() -> None:
    more: Calls = [("find_park", {"name": "Elm Park", "near": "Elm Park"})]
    assert last([PARK, more], [PARK, ASK], user=["Where is Elm Park?"])[1] == []


def test_a_call_without_arguments_repeats_only_its_like() -> None:
    assert last([PARK, [("find_park", {})]], [PARK, ASK])[1] == []
    assert last([calls("a"), calls("a")], [calls("a"), ASK])[1] == ["repeated_call"]


def test_a_value_that_nobody_mentioned() -> None:
    user = ("Find a hotel in Oslo.", "I arrive on the 8th.")
    book: Calls = [("book", {"hotel": "Oslo Inn", "arrive": "2024-01-08", "nights": "1"})]
    assert last([ASK, book], [ASK, ASK], user=user) == ("excessive", ["parameter_hallucination"])


@each(
    ("said", "value"),
    [
        ("for one night", "1"), ("for one night", 1), ("on the 8th", "2024-01-08"), ("tomorrow", "2024-01-05"),
        ("at 7 pm", "19:00"), ("at noon", "12:00"), ("the blue one", "Blue"), ("whatever", True), ("whatever", "False"),
        ("whatever", []), ("room 12", ["12", "14"]),
    ],
)  # fmt: skip
def test_a_value_that_was_said_in_other_words_is_not_made_up(said: str, value: Any) -> None:
    assert last([ASK, [("book", {"v": value})]], [ASK, ASK], user=["Hello.", said])[1] == []


@each(("said", "value"), [("on the 9th", "2024-01-08"), ("at 7 pm", "20:00"), ("a red one", "blue"), ("room 21", "12")])
def test_a_value_that_was_not_said(said: str, value: Any) -> None:
    assert last([ASK, [("book", {"v": value})]], [ASK, ASK], user=["Hello.", said])[1] == ["parameter_hallucination"]


def test_a_result_is_something_that_was_said() -> None:
    find: Calls = [("find", {})]
    book: Calls = [("book", {"hotel": "Fjord"})]
    assert last([find, book], [find, ASK], user=["Hi.", "Good."], results=[{"hotels": ["Fjord"]}])[1] == []


def test_a_value_to_be_taken_from_the_conversation_before() -> None:
    find: Calls = [("find_cinema", {})]
    ride: list[Calls] = [find, [("ride", {"to": "cinema", "people": 2})]]
    wanted: list[Calls] = [find, [("ride", {"to": "7 Mill Lane", "people": 2})]]
    user = ("What is on?", "A ride to that cinema for two.")
    assert last(ride, wanted, user=user, results=[{"address": "7 Mill Lane"}]) == (
        "parameter",
        ["parameter_inheritance"],
    )


def test_a_value_that_is_said_again_need_not_be_inherited() -> None:
    wanted: list[Calls] = [ASK, [("ride", {"to": "Mill Lane"})]]
    user = ("I live in Mill Lane.", "A ride to Mill Lane, not to the cinema.")
    assert last([ASK, [("ride", {"to": "cinema"})]], wanted, user=user)[1] == ["parameter_misalignment"]


def test_an_inherited_value_that_is_left_out() -> None:
    wanted: list[Calls] = [ASK, [("ride", {"to": "Mill Lane"})]]
    assert last([ASK, [("ride", {})]], wanted, user=["I live in Mill Lane.", "Take me home."])[1] == [
        "parameter_omission", "parameter_inheritance",
    ]  # fmt: skip


# -- Table 13 -----------------------------------------------------------------------------------------------------


@each(("done", "kinds"), [("a", ["fewer_tools"]), ("abc", ["more_tools"]), ("ac", ["wrong_tool"])])
def test_tools_of_a_turn_with_several(done: str, kinds: list[str]) -> None:
    assert last([calls(done)], [calls("ab")])[1] == kinds


def test_a_turn_may_show_several_kinds() -> None:
    done: list[Calls] = [calls("ab", n=1), calls("ab", n=1)]
    assert last(done, [calls("ab", n=1), ASK])[1] == ["repeated_call", "more_tools"]
