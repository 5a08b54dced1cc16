"""What came of a run: means of means, endings, costs, and what was not scored."""

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.grading.course import SessionCourse
from sandbox_grader.grading.metric import Verdict
from sandbox_grader.grading.scores import Scores
from sandbox_grader.grading.spending import Spent
from sandbox_grader.reporting.report import Report
from sandbox_grader.reporting.wording import remarks, tables_of

from sandbox_mcp.engine.trajectory.usage import Usage

BROKEN = "incomplete: the session ended with 'agent_failed'"


def scored(
    scenario: str = "a", score: float | None = 1.0, trial: int = 0, *, refusal: float = 0.25, **more: Any
) -> Scores:
    values = {"score": score or 0.0, "refusal": refusal, "turn_count": 4}
    given: dict[str, Any] = {
        "session": f"{scenario}-{trial}",
        "variant": "base",
        "categories": ("single_tool_call",),
        "mode": "strict",
        "verdicts": {"toolsandbox": Verdict(values)},
        "ending": "user_ended" if score is not None else "agent_failed",
        "reason": None if score is not None else BROKEN,
        "course": SessionCourse(replies=3),
    }
    return Scores(scenario=scenario, trial=trial, **{**given, **more})


def report(sessions: list[Scores], planned: int) -> Report:
    return Report(sessions, planned=planned)


def summarise(sessions: list[Scores], planned: int) -> dict[str, Any]:
    return report(sessions, planned).summary()


def test_trials_are_averaged_within_a_scenario_first() -> None:
    summary = summarise([scored("a", 1.0, 0), scored("a", 0.0, 1), scored("b", 1.0)], 3)
    assert summary["score"] == 0.75


def test_what_broke_is_counted_and_not_scored() -> None:
    summary = summarise([scored("a", 1.0), scored("a", None, 1), scored("b", None)], 3)
    assert summary["score"] == 1.0
    assert summary["counts"] == {"planned": 3, "played": 3, "scored": 1, "unscored": 2, "spoiled": 0}
    assert summary["endings"] == {"agent_failed": 2, "user_ended": 1}
    assert [failure["scenario"] for failure in summary["unscored"]] == ["a", "b"]


def test_a_run_in_which_everything_broke_has_no_score() -> None:
    summary = summarise([scored("a", None)], 1)
    assert (summary["score"], summary["refusal"]) == (None, None)


def test_the_refusing_agents_score_stands_next_to_every_mean() -> None:
    summary = summarise([scored("a", 1.0, refusal=0.5), scored("b", 1.0, refusal=0.0)], 2)
    assert summary["refusal"] == 0.25
    assert [row["refusal"] for row in summary["scenarios"]] == [0.5, 0.0]


def test_a_scenario_counts_in_each_of_its_categories() -> None:
    both = ("canonicalization", "single_tool_call")
    summary = summarise([scored("a", 0.5, categories=both), scored("b", 1.0)], 2)
    assert {name: item["score"] for name, item in summary["categories"].items()} == {
        "canonicalization": 0.5,
        "single_tool_call": 0.75,
    }


def test_variants_are_rows_of_their_own() -> None:
    summary = summarise([scored("a", 1.0), scored("a", 0.0, variant="all_tools")], 2)
    assert [(row["variant"], row["score"]) for row in summary["scenarios"]] == [("all_tools", 0.0), ("base", 1.0)]


def test_tokens_are_added_up_by_role() -> None:
    score = scored(spent=Spent(Usage(10, 2, 1), Usage(5, 1, 1)))
    summary = summarise([score, score], 2)
    assert summary["tokens"]["agent"] == {"prompt_tokens": 20, "completion_tokens": 4, "requests": 2}


@given(st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.floats(0, 1)), max_size=8), st.randoms())
def test_the_order_in_which_sessions_finish_does_not_matter(items: list[Any], order: random.Random) -> None:
    scores = [scored(name, similarity, trial) for trial, (name, similarity) in enumerate(items)]
    shuffled = list(scores)
    order.shuffle(shuffled)
    assert summarise(shuffled, 9) == summarise(scores, 9)


def test_the_tables_show_every_scenario_and_every_category_and_all_and_how_sure_that_is() -> None:
    scenarios, categories, certainty = tables_of(report([scored("a", 1.0), scored("a", None, 1)], 4))
    assert scenarios.rows == [("a", "base", "1/2", 1.0, 0.25, 3.0, "agent_failed 1, user_ended 1")]
    assert categories.rows == [("single_tool_call", 1, 1, 1.0, 0.25), ("all", 1, 1, 1.0, 0.25)]
    assert certainty.rows == [(name, 1.0, None, None, 1) for name in ("score", "pass@1", "pass^1")]


def test_a_reader_is_told_what_is_missing_and_what_broke() -> None:
    assert list(remarks(report([scored("a", 1.0), scored("b", None)], 4))) == [
        "still to be played: 2 of 4 sessions",
        "not scored: b (base, trial 0): incomplete: the session ended with 'agent_failed'",
        "not scored: 1 session; the same command plays these again",
    ]


def test_a_reader_is_told_what_an_interval_without_width_does_not_say() -> None:
    [told] = remarks(report([scored(name, 1.0) for name in "abcde"], 5))
    assert told.startswith(
        "all 5 scenarios had the same mean, so their interval has no width; with 95 % confidence at most 45.1%"
    )


def test_a_whole_run_leaves_nothing_to_remark() -> None:
    assert list(remarks(report([scored()], 1))) == []
