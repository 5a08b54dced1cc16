"""The formulas: figures of the worked examples, edges, laws, and where the readings part."""

import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.papers.mtu_bench.formulas import (
    average,
    percent,
    process_rate,
    soft_turn_success,
    success_rate,
    tool_number,
    tool_order,
    tool_order_in_code,
    turn_success,
)

from tests.each import each

tools = st.lists(st.sampled_from("abcde"), max_size=6)
turns = st.lists(st.booleans(), min_size=1, max_size=12)


# -- tools --------------------------------------------------------------------------------------------------------


@each(
    ("predicted", "wanted", "score"),
    [("abc", "abc", 1.0), ("axy", "ab", 0.25), ("", "", 1.0), ("a", "", 0.0), ("", "a", 0.0), ("aab", "ab", 1.0)],
)
def test_tool_number(predicted: str, wanted: str, score: float) -> None:
    assert tool_number(list(predicted), list(wanted)) == score


@each(
    ("predicted", "wanted", "paper", "strict"),
    [
        ("abc", "abc", math.cos(math.pi / 6), 1.0),
        ("cba", "abc", math.cos(math.pi / 3) / 3, math.cos(math.pi / 6) / 3),
        ("a", "a", 0.0, 1.0),
        ("xab", "ab", math.cos(math.pi / 3), math.cos(math.pi / 6)),
        ("axbxcxd", "abcd", math.cos(math.pi / 14), 1.0),
        ("x", "a", 0.0, 0.0),
        ("", "", 1.0, 1.0),
        ("a", "", 0.0, 0.0),
        ("", "a", 0.0, 0.0),
    ],
    ids=["perfect", "reversed", "one call", "late", "interspersed", "wrong", "both empty", "unasked", "silent"],
)
def test_tool_order(predicted: str, wanted: str, paper: float, strict: float) -> None:
    assert tool_order(list(predicted), list(wanted), "paper") == pytest.approx(paper, abs=1e-12)
    assert tool_order(list(predicted), list(wanted), "strict") == pytest.approx(strict, abs=1e-12)


@each(
    ("scored", "wanted", "score"),
    [
        ("abc", "abc", 1.0), ("", "", 1.0), ("a", "", 0.0), ("", "a", 0.0),
        ("axbxcxd", "abcd", 0.25), ("xab", "ab", math.cos(math.pi / 6)), ("cba", "abc", 0.5 / 3), ("x", "a", 0.0),
    ],
)  # fmt: skip
def test_tool_order_in_the_code_takes_a_block_and_counts_from_0(scored: str, wanted: str, score: float) -> None:
    assert tool_order_in_code(list(scored), list(wanted)) == pytest.approx(score, abs=1e-12)


def test_tool_order_in_the_code_divides_by_the_keys_that_were_scored() -> None:
    assert tool_order_in_code(["x", "a"], ["a", "b", "c"]) == pytest.approx(math.cos(math.pi / 4) / 3)


@given(tools, tools)
def test_scores_of_tools_are_shares(predicted: list[str], wanted: list[str]) -> None:
    strict, paper = tool_order(predicted, wanted, "strict"), tool_order(predicted, wanted, "paper")
    assert 0 <= paper <= strict <= 1
    assert 0 <= tool_number(predicted, wanted) <= 1
    assert 0 <= tool_order_in_code(predicted, wanted) <= 1


@given(tools)
def test_only_strict_gives_a_perfect_answer_full_marks(wanted: list[str]) -> None:
    assert tool_order(wanted, wanted, "strict") == tool_number(wanted, wanted) == 1
    assert tool_order(wanted, wanted, "paper") < 1 or not wanted


@given(tools, tools)
def test_strict_order_is_full_only_with_everything_from_the_start(predicted: list[str], wanted: list[str]) -> None:
    full = tool_order(predicted, wanted, "strict") == 1
    starts = bool(wanted) and _common(predicted, wanted) == len(wanted) and predicted[0] == wanted[0]
    assert full == (starts or predicted == wanted == [])


def _common(predicted: list[str], wanted: list[str]) -> int:
    """The length of the longest common subsequence, by trying all of them."""
    parts = ({tuple(part) for part in combinations(predicted, size)} for size in range(len(predicted), -1, -1))
    every = {tuple(part) for size in range(len(wanted) + 1) for part in combinations(wanted, size)}
    return max(len(part) for some in parts for part in some & every)


# -- dialogues ----------------------------------------------------------------------------------------------------


def rights(marks: str) -> list[bool]:
    return [mark == "1" for mark in marks]


E1, E2 = 1 - math.exp(-1), 1 - math.exp(-2)


@each(
    ("marks", "so_far", "overall"),
    [
        ("11", 1.0, 1.0), ("0", 0.0, 0.0), ("101", (1 + E1) / 3, (1 + E1) / 3),
        ("11011", (2 + E1 + E2) / 5, (2 + E1 + E2) / 5), ("0110", (E1 + E2) / 4, 0.5),
        ("01011", (E1 + E1 + E2) / 5, (1 + E1 + E2) / 5),
    ],
)  # fmt: skip
def test_soft_turn_success_parts_where_a_right_turn_stands_between_errors(
    marks: str, so_far: float, overall: float
) -> None:
    assert soft_turn_success(rights(marks)) == pytest.approx(so_far)
    assert soft_turn_success(rights(marks), last_overall=True) == pytest.approx(overall)


@each(("marks", "rate"), [("1111", 1.0), ("11011", 0.4), ("0111", 0.0), ("1", 1.0), ("10", 0.5)])
def test_process_rate(marks: str, rate: float) -> None:
    assert process_rate(rights(marks)) == rate


def test_success_and_turn_success() -> None:
    assert (success_rate(rights("111")), turn_success(rights("111"))) == (1, 1)
    assert (success_rate(rights("101")), turn_success(rights("101"))) == (0, 2 / 3)


@given(turns)
def test_softness_only_takes_away(marks: list[bool]) -> None:
    strict, paper = soft_turn_success(marks), soft_turn_success(marks, last_overall=True)
    assert success_rate(marks) <= strict <= paper <= turn_success(marks) or math.isclose(strict, turn_success(marks))
    assert success_rate(marks) <= process_rate(marks) <= turn_success(marks)


@given(turns)
def test_an_error_more_never_helps(marks: list[bool]) -> None:
    for at, right in enumerate(marks):
        worse = [*marks[:at], False, *marks[at + 1 :]]
        if right:
            assert soft_turn_success(worse) < soft_turn_success(marks)
            assert process_rate(worse) <= process_rate(marks)


# -- rounding -----------------------------------------------------------------------------------------------------


def test_columns_are_rounded_in_percent() -> None:
    assert percent(92 / 104) == 88.46
    assert percent(1.0) == 100.0


def test_averages_round_their_ties_on_the_scaled_number() -> None:
    assert average([60.77, 61.04]) == 60.9
    assert average([88.46, 57.69]) == 73.07
    assert average([50.0]) == 50.0
