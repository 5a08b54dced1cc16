"""How the paper compares calls, for ToolTalk's tools and any others."""

from sandbox_grader.grading.similarity import exact
from sandbox_grader.papers.tooltalk.comparing import AsWritten
from sandbox_grader.papers.tooltalk.tools import PEOPLE

from sandbox_mcp.engine.trajectory import CallError, ReferenceCall, ToolCall
from tests.each import each

ACTIONS = {"send": True, "search": False}


def differs(tool, given, wanted, similarity=exact, strict=True, threshold=0.9):
    """The difference between (arguments, result, error) of a call and of the reference."""
    arguments, result, error = (*given, None, None)[:3]
    fault = None if error is None else CallError(kind="execution", type="Error", message=error)
    call = ToolCall(
        seq=1, clock=0.0, call="c1", batch="b1", caller="agent", name=tool, tool=tool,
        arguments=arguments, result=result, error=fault,
    )  # fmt: skip
    arguments, result, error = (*wanted, None, None)[:3]
    reference = ReferenceCall(tool=tool, arguments=arguments, result=result, error=error)
    compare = AsWritten(similarity, threshold, ACTIONS, lambda _: frozenset({"content"}), PEOPLE, strict)
    return compare(call, reference)


class TestActions:
    def test_arguments_count_and_results_do_not(self):
        assert differs("send", ({"to": ["a"]}, {"id": 1}), ({"to": ["a"]}, {"id": 2})) is None
        assert differs("send", ({"to": ["b"]}, {"id": 1}), ({"to": ["a"]}, {"id": 1})) == (
            "argument 'to' is ['b'] where the reference has ['a']"
        )

    def test_the_receiver_is_looked_at(self):
        assert differs("send", ({"receiver": "b"},), ({"receiver": "a"},))

    @each("name", sorted(PEOPLE))
    def test_people_have_no_order(self, name):
        assert differs("send", ({name: ["b", "a"]},), ({name: ["a", "b"]},)) is None

    def test_other_lists_have_one(self):
        assert differs("send", ({"steps": [2, 1]},), ({"steps": [1, 2]},))

    @each("given", [{}, {"note": None}, {"note": "anything"}])
    def test_what_the_reference_leaves_open_may_be_anything(self, given):
        assert differs("send", (given,), ({},)) is None
        assert differs("send", (given,), ({"note": None},)) is None

    @each("given", [{}, {"to": None}])
    def test_null_is_absent(self, given):
        assert "'to'" in differs("send", (given,), ({"to": "a"},))

    def test_true_is_not_one(self):
        assert differs("send", ({"urgent": 1},), ({"urgent": True},))

    @each(("likeness", "same"), [(0.9, True), (0.89, False)])
    def test_free_text_needs_the_threshold(self, likeness, same):
        difference = differs("send", ({"content": "given"},), ({"content": "wanted"},), lambda _a, _b: likeness)
        assert (difference is None) is same

    def test_equal_texts_match_even_without_a_token_to_compare(self):
        assert differs("send", ({"content": "👍"},), ({"content": "👍"},), lambda _a, _b: 0.0) is None

    def test_a_free_text_argument_that_is_no_text_must_be_equal(self):
        assert differs("send", ({"content": ["a"]},), ({"content": ["a"]},)) is None
        assert differs("send", ({"content": 5},), ({"content": "5"},), lambda _a, _b: 1.0)


class TestOutcome:
    def test_a_failed_call_does_not_stand_for_one_that_succeeds(self):
        assert differs("send", ({}, None, "no signal"), ({}, {"id": 1})) == (
            "ended with the error 'no signal' where the reference ended with no error"
        )

    def test_nor_a_successful_one_for_one_that_fails(self):
        assert differs("send", ({}, {"id": 1}), ({}, None, "no signal"))

    def test_the_texts_of_errors_are_nobodys_business(self):
        assert differs("send", ({"a": 1}, None, "no signal"), ({"a": 1}, None, "Kein Netz")) is None

    def test_two_failed_queries_are_told_apart_by_their_arguments(self):
        assert differs("search", ({"q": 1}, None, "no"), ({"q": 1}, None, "none")) is None
        assert differs("search", ({"q": 2}, None, "no"), ({"q": 1}, None, "none"))


class TestQueries:
    def test_identical_results_match_whatever_was_asked(self):
        assert differs("search", ({"q": "ann"}, [{"id": 1}]), ({"name": "Ann"}, [{"id": 1}])) is None

    def test_more_than_the_reference_found_is_not_identical(self):
        more = ({"q": "a"}, [1, 2]), ({"q": "ann"}, [1])
        assert differs("search", *more, strict=False) == "the result differs from the reference's"
        assert differs("search", *more, strict=True) == "argument 'q' is 'a' where the reference has 'ann'"

    def test_only_strictly_a_query_that_asked_the_same_matches_whatever_it_found(self):
        later = ({"q": "ann"}, {"now": 2}), ({"q": "ann"}, {"now": 1})
        assert differs("search", *later, strict=True) is None
        assert differs("search", *later, strict=False)

    def test_without_a_recorded_result_the_arguments_decide(self):
        assert differs("search", ({"q": "ann"}, [1]), ({"q": "ann"},)) is None
        assert differs("search", ({"q": "bob"}, [1]), ({"q": "ann"},))

    @each("nothing", [[], {}, "", {"events": []}])
    def test_only_strictly_two_vain_searches_must_have_asked_the_same(self, nothing):
        pair = ({"q": "bob"}, nothing), ({"q": "ann"}, nothing)
        assert differs("search", *pair, strict=False) is None
        assert differs("search", *pair, strict=True)

    def test_what_the_reference_says_of_an_unlisted_tool_counts(self):
        call = ToolCall(
            seq=1, clock=0.0, call="c1", batch="b1", caller="agent", name="t", tool="t", arguments={"a": 1}, result=1
        )
        compare = AsWritten(exact, 0.9, {}, lambda _: frozenset(), PEOPLE, strict=True)
        assert compare(call, ReferenceCall(tool="t", arguments={"a": 2}, result=1, action=True))
        assert compare(call, ReferenceCall(tool="t", arguments={"a": 2}, result=1, action=False)) is None


def test_another_tool_never_matches():
    call = ToolCall(seq=1, clock=0.0, call="c", batch="b", caller="agent", name="sned", tool=None, arguments={})
    compare = AsWritten(exact, 0.9, ACTIONS, lambda _: frozenset(), PEOPLE, strict=True)
    assert compare(call, ReferenceCall(tool="send", arguments={})) == "calls sned"


def test_long_values_are_shortened_in_reasons():
    assert len(differs("send", ({"to": "x" * 500},), ({"to": "y" * 500},))) < 200
