"""What came of a run: means of means, endings, costs, and what was not scored."""

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sandbox_mcp.run.report import category_rows, remarks, scenario_rows
from sandbox_mcp.run.scores import SessionScore
from sandbox_mcp.run.summary import summarise
from sandbox_mcp.run.tokens import Spent, Tokens


def scored(scenario: str = "a", similarity: float | None = 1.0, trial: int = 0, **more: Any) -> SessionScore:
    given: dict[str, Any] = {
        "variant": "base",
        "categories": ("single_tool_call",),
        "ending": "user_ended" if similarity is not None else "agent_failed",
        "detail": None,
        "refusal": 0.25,
        "turns": 4,
        "reason": None if similarity is not None else "incomplete: the session ended with 'agent_failed'",
        "spent": Spent(),
    }
    return SessionScore(scenario=scenario, similarity=similarity, trial=trial, **{**given, **more})


def test_trials_are_averaged_within_a_scenario_first() -> None:
    summary = summarise([scored("a", 1.0, 0), scored("a", 0.0, 1), scored("b", 1.0)], 3)
    assert summary["similarity"] == 0.75


def test_what_broke_is_counted_and_not_scored() -> None:
    summary = summarise([scored("a", 1.0), scored("a", None, 1), scored("b", None)], 3)
    assert summary["similarity"] == 1.0
    assert summary["sessions"] == {"planned": 3, "played": 3, "scored": 1, "unscored": 2, "spoiled": 0}
    assert summary["endings"] == {"agent_failed": 2, "user_ended": 1}
    assert [failure["scenario"] for failure in summary["failures"]] == ["a", "b"]


def test_a_run_in_which_everything_broke_has_no_score() -> None:
    summary = summarise([scored("a", None)], 1)
    assert (summary["similarity"], summary["refusal"]) == (None, None)


def test_the_refusing_agents_score_stands_next_to_every_mean() -> None:
    summary = summarise([scored("a", 1.0, refusal=0.5), scored("b", 1.0, refusal=0.0)], 2)
    assert summary["refusal"] == 0.25
    assert [row["refusal"] for row in summary["scenarios"]] == [0.5, 0.0]


def test_a_scenario_counts_in_each_of_its_categories() -> None:
    both = ("canonicalization", "single_tool_call")
    summary = summarise([scored("a", 0.5, categories=both), scored("b", 1.0)], 2)
    assert {name: item["similarity"] for name, item in summary["categories"].items()} == {
        "canonicalization": 0.5,
        "single_tool_call": 0.75,
    }


def test_variants_are_rows_of_their_own() -> None:
    summary = summarise([scored("a", 1.0), scored("a", 0.0, variant="all_tools")], 2)
    assert [(row["variant"], row["similarity"]) for row in summary["scenarios"]] == [("all_tools", 0.0), ("base", 1.0)]


def test_tokens_are_added_up_by_role() -> None:
    score = scored(spent=Spent(Tokens(10, 2, 1), Tokens(5, 1, 1)))
    summary = summarise([score, score], 2)
    assert summary["tokens"]["agent"] == {"prompt_tokens": 20, "completion_tokens": 4, "requests": 2}


@given(st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.floats(0, 1)), max_size=8), st.randoms())
def test_the_order_in_which_sessions_finish_does_not_matter(items: list[Any], order: random.Random) -> None:
    scores = [scored(name, similarity, trial) for trial, (name, similarity) in enumerate(items)]
    shuffled = list(scores)
    order.shuffle(shuffled)
    assert summarise(shuffled, 9) == summarise(scores, 9)


def test_the_tables_show_every_scenario_and_every_category_and_all() -> None:
    summary = summarise([scored("a", 1.0), scored("a", None, 1)], 4)
    assert scenario_rows(summary) == [("a", "base", "1/2", 1.0, 0.25, 4.0, "agent_failed 1, user_ended 1")]
    assert category_rows(summary) == [("single_tool_call", 1, 1, 1.0, 0.25), ("all", 1, 1, 1.0, 0.25)]


def test_a_reader_is_told_what_is_missing_and_what_broke() -> None:
    assert remarks(summarise([scored("a", 1.0), scored("b", None)], 4)) == [
        "still to be played: 2 of 4 sessions",
        "not scored: b (base, trial 0): incomplete: the session ended with 'agent_failed'",
        "not scored: 1 session; the same command plays these again",
    ]


def test_a_whole_run_leaves_nothing_to_remark() -> None:
    assert remarks(summarise([scored()], 1)) == []
