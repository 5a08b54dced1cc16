"""One turn's score, in compat: directions of comparison, blind spots, and what a dying parser counts for."""

import math
from typing import Any

import pytest
from sandbox_grader.papers.mtu_bench.dialogue import DialogueCall, DialogueTurn
from sandbox_grader.papers.mtu_bench.parser import CRASH
from sandbox_grader.papers.mtu_bench.rows import WRONG, CrashPolicy, Scored, TurnScore, score_turn

from tests.each import each
from tests.grader.mtu_bench.building import react


def one(text: str, answer: dict[str, Any], policy: CrashPolicy = "no_call") -> Scored:
    return score_turn(DialogueTurn(text=text, answer=answer), (), "compat", policy, many_tools=False)


def many(text: str, answer: dict[str, Any], policy: CrashPolicy = "no_call") -> Scored:
    return score_turn(DialogueTurn(text=text, answer=answer), (), "compat", policy, many_tools=True)


# -- at most one call ---------------------------------------------------------------------------------------------


@each(
    ("text", "answer", "score"),
    [
        (react(("on", {"room": "hall"})), {"on": {"room": "hall"}}, TurnScore(1, 1, right=True)),
        (react(("on", {"room": "attic"})), {"on": {"room": "hall"}}, TurnScore(1, 0, right=False)),
        (react(("off", {"room": "hall"})), {"on": {"room": "hall"}}, TurnScore(0, 0, right=False)),
        (react(("on", {})), {"": {}}, TurnScore(0, 0, right=False)),
        (react(), {"on": {}}, TurnScore(0, 0, right=False)),
        (react(), {"": {}}, TurnScore(1, 1, right=True)),
    ],
    ids=["right", "wrong argument", "wrong tool", "unasked", "silent", "rightly silent"],
)
def test_a_single_call(text: str, answer: dict[str, Any], score: TurnScore) -> None:
    assert one(text, answer).score == score


def test_the_ground_truth_has_to_be_contained_in_what_was_said() -> None:
    assert one(react(("on", {"room": "the hall"})), {"on": {"room": "hall"}}).score.right
    assert not one(react(("on", {"room": "hall"})), {"on": {"room": "the hall"}}).score.right


def test_a_call_that_cannot_be_read_scores_where_none_was_wanted() -> None:
    scored = one("Action: on\nAction Input: {'owner': \"Ann's\"}", {"": {}})
    assert scored.score.right
    assert scored.broken


def test_quotes_around_a_name_make_it_wrong() -> None:
    assert one(react(('"on"', {})), {"on": {}}).score == WRONG


# -- any number of calls ------------------------------------------------------------------------------------------


@each(
    ("said", "wanted", "number", "order", "keys"),
    [
        ("ab", "ab", 1, 1, ("a", "b")),
        ("ba", "ab", 1, 1, ("a", "b")),
        ("abxyz", "ab", 1, 1, ("a", "b")),
        ("b", "abc", 1 / 3, 1 / 3, ("b",)),
        ("ac", "abc", 2 / 3, 1 / 3, ("a", "c")),
        ("xy", "ab", 0, 0, ()),
        ("", "", 1, 1, ()),
        ("xy", "", 0, 0, ("x", "y")),
        ("", "ab", 0, 0, ()),
    ],
)
def test_many_calls(said: str, wanted: str, number: float, order: float, keys: tuple[str, ...]) -> None:
    done: list[tuple[str, dict[str, Any]]] = [(name, {}) for name in said]
    answer: dict[str, Any] = {name: {} for name in wanted}
    scored = many(react(*done), answer)
    assert (scored.score.first, scored.keys) == (number, keys)
    assert scored.score.second == pytest.approx(order)


def test_a_wrong_argument_costs_more_than_not_calling() -> None:
    answer = {"a": {"n": 1}, "b": {"n": 2}}
    wrong, left_out = many(react(("a", {"n": 1}), ("b", {"n": 9})), answer), many(react(("a", {"n": 1})), answer)
    assert (wrong.score.first, wrong.keys) == (1 / 3, ("a", "bwrong"))
    assert left_out.score.first == 1 / 2


def test_order_starts_after_a_wrong_argument() -> None:
    scored = many(react(("a", {"n": 9}), ("b", {"n": 2})), {"a": {"n": 1}, "b": {"n": 2}})
    assert scored.score.second == pytest.approx(math.cos(math.pi / 4) / 2)


def test_what_was_said_has_to_be_contained_in_the_ground_truth() -> None:
    assert many(react(("on", {"room": "hall"})), {"on": {"room": "the hall"}}).score.right
    assert not many(react(("on", {"room": "the hall"})), {"on": {"room": "hall"}}).score.right


def test_blanks_around_names_do_not_count_in_scores_but_stay_in_the_record() -> None:
    scored = many('Action: " a "\nAction Input: {}', {"a ": {}})
    assert scored.score.right
    assert [name for name, _ in scored.predicted] == [" a "]
    assert [name for name, _ in scored.expected] == ["a "]


def test_a_name_wanted_twice_but_for_blanks_counts_twice_in_the_order() -> None:
    scored = many(react(("a", {}), ("b", {})), {"a": {}, "b": {}, " a": {}})
    assert (scored.score.first, scored.score.second) == (1, pytest.approx(2 / 3))


# -- a dying parser -----------------------------------------------------------------------------------------------


@each(
    ("policy", "score", "otherwise"),
    [("no_call", TurnScore(1, 1, right=True), WRONG), ("wrong", WRONG, TurnScore(1, 1, right=True))],
)
@each(
    ("text", "answer"), [("Action: None\nAction Input: None", {"": {}}), ("Action: ask them", {})], ids=["one", "many"]
)
def test_a_dying_parser_counts_for(
    text: str, answer: dict[str, Any], policy: CrashPolicy, score: TurnScore, otherwise: TurnScore
) -> None:
    scored = many(text, answer, policy) if not answer else one(text, answer, policy)
    assert (scored.score, scored.otherwise, scored.crash) == (score, otherwise, CRASH)


def test_a_dying_parser_is_wrong_under_both_policies_where_a_call_was_wanted() -> None:
    scored = one("Action: None\nAction Input: None", {"on": {}})
    assert (scored.score, scored.otherwise) == (WRONG, WRONG)


# -- the other modes ----------------------------------------------------------------------------------------------


def test_other_modes_do_not_look_at_the_text() -> None:
    scored = score_turn(DialogueTurn(text="Action: None\nAction Input: None"), (), "paper", "wrong", many_tools=False)
    assert scored.score.right
    assert scored.crash is None


CHANGES = [DialogueCall("search", {}), DialogueCall("modify", {"id": 1}), DialogueCall("modify", {"id": 2})]


@each(
    ("order", "right"), [((0, 1, 2), True), ((0, 2, 1), True), ((1, 0, 2), False), ((0, 1, 1), False), ((0, 1), False)]
)
def test_calls_of_one_tool_in_a_row_may_change_places(order: tuple[int, ...], right: bool) -> None:
    said = DialogueTurn("t", "", calls=tuple(CHANGES[index] for index in order))
    assert score_turn(said, tuple(CHANGES), "strict", "no_call", many_tools=True).score.right is right
