"""The scores: the authors' formulas, and the adopted ones, on hand-made runs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox_grader.grading.similarity import exact
from sandbox_grader.papers.toolscan.events import EpisodeStep, ToolScanRun
from sandbox_grader.papers.toolscan.loop import EpisodeTally
from sandbox_grader.papers.toolscan.scores import MARKERS, PATTERNS, Values, against, closest, original, share

from sandbox_mcp.engine.trajectory import ReferenceCall, ReferenceTurn, ToolCall
from tests.each import each


def solution(**calls):
    """``solution(search=[{...}], detail=[{...}])``: a solution in one turn."""
    made = [ReferenceCall(tool=tool, arguments=given) for tool, many in calls.items() for given in many]
    return (ReferenceTurn(calls=tuple(made)),)


def counted(route, *, finished=True, output="a", **counts):
    return EpisodeTally(route=route, finished=finished, output=output, **counts)


def run(*calls):
    """``run(("search", {...}), ...)``: calls that all ran."""
    steps = [
        EpisodeStep(
            ToolCall(seq=i, clock=0.0, call=f"c{i}", batch="b", caller="agent", name=t, tool=t, arguments=given),
            pattern=None,
            ran=True,
            repeats=None,
        )
        for i, (t, given) in enumerate(calls, start=1)
    ]
    return ToolScanRun(tuple(steps), True, None)


VALUES = Values(MARKERS, frozenset(), exact, 0.9)
PLAIN = Values(frozenset(), frozenset({"content"}), lambda _a, _b: 0.95, 0.9)


def authors(tally, *solutions, **settings):
    return original(tally, solutions, **{"steps_limit": 10, "answer": None, "exact": False, **settings})


class TestOriginal:
    def test_a_perfect_run(self):
        found = authors(counted({"search": [{"q": 1}]}), solution(search=[{"q": 1}]))
        assert (set(found.scores.values()), found.mean_of_seven, found.success) == ({1.0}, 1.0, True)

    def test_every_count_is_set_against_the_steps_allowed(self):
        tally = counted({"a": [{}]}, ian=1, iat=2, rac=3, ifn=4, ife=12)
        scores = authors(tally, solution(a=[{}])).scores
        assert [scores[name] for name in ("ian", "iat", "rac", "ifn", "ife")] == [0.9, 0.8, 0.7, 0.6, -0.2]

    def test_missing_calls_are_set_against_the_solutions(self):
        found = authors(counted({"a": [{}]}), solution(a=[{}, {}], b=[{}]))
        assert found.scores["iac"] == pytest.approx(1 / 3)

    def test_calls_too_many_cost_nothing(self):
        assert authors(counted({"a": [{}, {"x": 1}], "b": [{}]}), solution(a=[{}])).mean_of_seven == 1.0

    def test_values_of_an_uncalled_tool_are_not_wrong(self):
        assert authors(counted({"a": [{}]}), solution(a=[{}], b=[{"x": 1}])).scores["iav"] == 1.0

    def test_an_optional_argument_must_be_left_out(self):
        wanted = solution(a=[{"x": 1, "y": "optional"}])
        assert authors(counted({"a": [{"x": 1}]}), wanted).scores["iav"] == 1.0
        assert authors(counted({"a": [{"x": 1, "y": 2}]}), wanted).scores["iav"] == 0.9
        assert authors(counted({"a": [{"x": 1, "y": "optional"}]}), wanted).scores["iav"] == 0.9

    def test_fewer_missing_calls_go_before_fewer_wrong_values(self):
        few_missing, right_values = solution(a=[{"x": 1}]), solution(a=[{}], b=[{}])
        found = authors(counted({"a": [{}]}), right_values, few_missing)
        assert (found.solution, found.scores["iac"], found.scores["iav"]) == (1, 1.0, 0.9)

    def test_of_equal_solutions_the_first(self):
        assert authors(counted({"a": [{}]}), solution(a=[{}]), solution(a=[{}])).solution == 0

    def test_a_run_that_executed_nothing_scores_nothing(self):
        found = authors(counted({}, finished=False, ife=20), solution(a=[{}]))
        assert (set(found.scores.values()), found.solution) == ({0.0}, None)

    def test_without_an_end_the_mean_is_nothing(self):
        found = authors(counted({"a": [{}]}, finished=False), solution(a=[{}]))
        assert (found.scores["iac"], found.mean_of_seven, found.success) == (1.0, 0.0, False)

    @each(("answer", "figures"), [("a", (1.0, True)), ("b", (0.0, False))])
    def test_where_the_answer_matters_it_replaces_the_mean(self, answer, figures):
        found = authors(counted({"a": [{}]}, ian=5), solution(a=[{}]), answer=answer, exact=True)
        assert (found.mean_of_seven, found.success) == figures

    def test_a_solution_without_calls_is_divided_by(self):
        with pytest.raises(ZeroDivisionError):
            authors(counted({"a": [{}]}), solution())


class TestValues:
    @each(
        ("wanted", "given_", "differing"),
        [
            ({"q": 1}, {"q": 1.0}, None),
            ({"q": 1}, {"q": True}, "q"),
            ({"q": 1}, {}, "q"),
            ({}, {"q": 1}, "q"),
            ({}, {"q": None}, None),
            ({"q": None}, {}, None),
            ({"q": "optional"}, {}, None),
            ({"q": "optional"}, {"q": 5}, None),
            ({"q": "any"}, {"q": [1]}, None),
            ({"q": 1, "r": 2}, {"q": 2, "r": 1}, "q"),
        ],
    )
    def test_the_first_argument_that_differs(self, wanted, given_, differing):
        assert VALUES.difference(wanted, given_) == differing

    def test_markers_are_ordinary_words_elsewhere(self):
        assert PLAIN.difference({"q": "any"}, {"q": "all"}) == "q"

    def test_free_text_may_be_compared_by_likeness(self):
        assert PLAIN.difference({"content": "Hi"}, {"content": "Hello"}) is None
        assert PLAIN.difference({"content": "Hi"}, {"content": None}) == "content"
        assert VALUES.difference({"content": "Hi"}, {"content": "Hello"}) == "content"


class TestAgainst:
    def test_what_became_of_each_call(self):
        held = against(run(("a", {"x": 1}), ("b", {})), solution(a=[{"x": 1}], b=[{"y": 1}], c=[{}]), VALUES)
        assert [(item.status, item.argument) for item in held.wanted] == [
            ("matched", None),
            ("wrong_value", "y"),
            ("not_called", None),
        ]
        assert (held.missing, held.wrong, held.excess) == (1, 1, 0)

    def test_excess_calls_are_those_beyond_the_solutions_count(self):
        assert against(run(("a", {}), ("a", {}), ("b", {})), solution(a=[{}]), VALUES).excess == 2

    def test_the_closest_solution_has_the_fewest_missing_calls(self):
        place, held = closest(run(("a", {})), [solution(a=[{}], b=[{}]), solution(a=[{"x": 1}])], VALUES)
        assert (place, held.missing, held.wrong) == (1, 0, 1)

    def test_then_the_fewest_wrong_values_then_the_first(self):
        wrong, right = solution(a=[{"x": 1}]), solution(a=[{}])
        assert closest(run(("a", {})), [wrong, right, right], VALUES)[0] == 1


class TestShare:
    @each(("errors", "of", "expected"), [(0, 5, 1.0), (1, 4, 0.75), (5, 5, 0.0), (9, 5, 0.0), (0, 0, 1.0), (2, 0, 0.0)])
    def test_examples(self, errors, of, expected):
        assert share(errors, of) == expected

    @settings(deadline=None)
    @given(st.integers(0, 30), st.integers(0, 30))
    def test_it_is_between_0_and_1_and_falls_with_errors(self, errors, of):
        assert 0.0 <= share(errors + 1, of) <= share(errors, of) <= 1.0


def test_the_patterns_are_seven():
    assert len(PATTERNS) == 7
