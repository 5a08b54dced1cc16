"""Solutions told as a session would have told them, and what of it the families of metrics see."""

from copy import deepcopy
from typing import Any

from hypothesis import given as drawn
from hypothesis import strategies as st
from sandbox_grader.grading import retelling
from sandbox_grader.grading.metric import Subject
from sandbox_grader.grading.metrics import metric
from sandbox_grader.grading.references import ReferenceTurns
from sandbox_grader.grading.retelling import solutions_of

from sandbox_mcp.engine.trajectory import (
    CallError,
    ReferenceCall,
    ReferenceTurn,
    SessionEnded,
    SessionStarted,
    ToolCall,
    assemble,
)  # fmt: skip
from tests.each import each

Step = tuple[str, dict[str, Any], Any]
SENT = "send"


def session(*batches: list[Step] | Step, error: str | None = None) -> Any:
    """Calls in batches; the last one fails with ``error``."""
    events: list[Any] = []
    for number, batch in enumerate(batches):
        for tool, arguments, result in batch if isinstance(batch, list) else [batch]:
            seq = len(events) + 1
            fault = CallError(kind="refused", type="PermissionError", message=error) if error else None
            events.append(
                ToolCall(
                    seq=seq, clock=float(seq), call=f"c{seq}", batch=f"b{number}", caller="agent", name=tool, tool=tool,
                    arguments=arguments, result=None if fault else result, error=fault,
                )
            )  # fmt: skip
    return assemble(
        [SessionStarted(session="s", scenario="s"), *events, SessionEnded(seq=99, clock=9.0, reason="user_ended")]
    )


def solution(*calls: tuple[Any, ...]) -> ReferenceTurns:
    made = (
        ReferenceCall(tool=tool, arguments=given, result=result, error=next(iter(error), None), action=tool == SENT)
        for tool, given, result, *error in calls
    )
    return (ReferenceTurn(calls=tuple(made)),)


def told(trajectory: Any, wanted: ReferenceTurns, mode: Any = "strict") -> list[ReferenceCall]:
    (found,) = solutions_of(Subject(trajectory, (wanted,)), mode)
    return [call for turn in found for call in turn.calls]


ADDED = ("add", {"name": "Ann"}, "id-of-ann-2")
WANTED = solution(("add", {"name": "Ann"}, "id-of-ann-1"), (SENT, {"to": "id-of-ann-1", "text": "hi"}, None))


class TestWhatCameFromAnEarlierResult:
    def test_it_is_what_the_same_call_returned_here(self):
        found = told(session(ADDED, (SENT, {"to": "id-of-ann-2", "text": "hi"}, None)), WANTED)
        assert found[1].arguments == {"to": "id-of-ann-2", "text": "hi"}

    def test_what_another_call_returned_is_not_it(self):
        bob = ("add", {"name": "Bob"}, "id-of-bob")
        found = told(session(bob, (SENT, {"to": "id-of-bob", "text": "hi"}, None)), WANTED)
        assert found[1].arguments["to"] == "id-of-ann-1"

    def test_what_was_never_returned_is_not_it(self):
        found = told(session(ADDED, (SENT, {"to": "made-up", "text": "hi"}, None)), WANTED)
        assert found[1].arguments["to"] == "id-of-ann-1"

    def test_a_small_number_has_no_origin(self):
        wanted = solution(("count", {}, 5), ("shift", {"days": 5}, None))
        found = told(session(("count", {}, 6), ("shift", {"days": 6}, None)), wanted)
        assert found[1].arguments == {"days": 5}

    def test_it_is_found_deep_inside(self):
        wanted = solution(("add", {}, {"rows": [{"id": "x1"}]}), (SENT, {"to": ["x1", "y"]}, None))
        given = session(("add", {}, {"rows": [{"id": "x2"}]}), (SENT, {"to": ["x2", "z"]}, None))
        assert told(given, wanted)[1].arguments == {"to": ["x2", "y"]}

    @each("mode", ["paper", "compat"])
    def test_only_strict_grading_follows_it(self, mode: str):
        found = told(session(ADDED, (SENT, {"to": "id-of-ann-2"}, None)), WANTED, mode)
        assert found[1].arguments["to"] == "id-of-ann-1"

    @each("family", ["tooltalk", "toolscan"])
    def test_a_call_with_it_succeeds(self, family: str):
        subject = Subject(session(ADDED, (SENT, {"to": "id-of-ann-2", "text": "hi"}, None)), (WANTED,))
        assert metric(family).grade(subject, "strict").values["success"] is True
        assert metric(family).grade(subject, "paper").values["success"] is False


class TestBatches:
    def test_calls_that_were_sent_together_have_no_order(self):
        wanted = solution(("a", {}, None), ("b", {}, None), ("c", {}, None))
        found = told(session([("b", {}, None), ("a", {}, None)], ("c", {}, None)), wanted)
        assert [call.tool for call in found] == ["b", "a", "c"]

    def test_calls_one_after_the_other_have_one(self):
        wanted = solution(("a", {}, None), ("b", {}, None))
        found = told(session(("b", {}, None), ("a", {}, None)), wanted)
        assert [call.tool for call in found] == ["a", "b"]

    def test_no_order_of_a_batch_lowers_mtu_benchs_to(self):
        subject = Subject(session([("b", {}, None), ("a", {}, None)]), (solution(("a", {}, None), ("b", {}, None)),))
        values = metric("mtu_bench").grade(subject, "strict").values
        assert (values["TO"], values["right"]) == (1.0, 1.0)
        assert metric("mtu_bench").grade(subject, "paper").values["TO"] < 1


class TestAttempts:
    def test_a_refused_attempt_that_the_solution_makes_too_is_made(self):
        wanted = solution((SENT, {"to": "+1"}, None, "PermissionError"))
        subject = Subject(session((SENT, {"to": "+1"}, None), error="not now"), (wanted,))
        assert metric("toolscan").grade(subject, "strict").values["success"] is True
        assert metric("toolscan").grade(subject, "paper").values["success"] is False

    def test_an_attempt_that_went_through_is_not_a_refused_one(self):
        wanted = solution((SENT, {"to": "+1"}, None, "PermissionError"))
        subject = Subject(session((SENT, {"to": "+1"}, None)), (wanted,))
        assert metric("toolscan").grade(subject, "strict").values["success"] is False

    def test_what_is_made_again_later_need_not_have_been_tried_first(self):
        wanted = solution((SENT, {"to": "+1"}, None, "PermissionError"), (SENT, {"to": "+1"}, None))
        assert [call.error for call in told(session((SENT, {"to": "+1"}, None)), wanted)] == [None]


LEAVES = st.none() | st.booleans() | st.integers(-2, 2) | st.floats() | st.text(max_size=3)
JSON = st.recursive(
    LEAVES, lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=2), inside, max_size=3)
)


@drawn(JSON, JSON)
def test_results_that_are_equal_tell_no_value_by_another(first: Any, second: Any) -> None:
    for one, other in ((first, second), (first, deepcopy(first))):
        told = [(a, b) for a, b in retelling._pairs(one, other) if retelling._tells_its_origin(a) and a != b]
        assert one != other or told == []
