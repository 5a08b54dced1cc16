"""What ToolSandbox's evaluator says: the rules that the corpus does not pin, and the ones worth an example."""

from typing import Any

import pytest
from sandbox_grader.errors import GraderError
from sandbox_grader.milestones.case import Case, CaseMessage, Graph, Measured, RecordedCall
from sandbox_grader.milestones.case_json import read_case
from sandbox_grader.milestones.compat import evaluate
from sandbox_grader.milestones.matching import MatchedPlace

from tests.each import each
from tests.grader.milestones.cases import (
    START,
    added,
    did,
    judged,
    node,
    removed,
    said,
    table,
    taking,
    text,
    trace,
    updated,
)  # fmt: skip


class TestMessages:
    def test_sender_and_recipient_dilute_the_content_to_a_cube_root(self):
        result = judged(node(text("wifi is off")), messages=(said("wifi is on"),))
        assert result.score == pytest.approx((2 / 3) ** (1 / 3))

    def test_a_correct_reply_in_other_words_is_worth_nothing(self):
        assert judged(node(text("wifi is off")), messages=(said("I disabled your network."),)).score == 0

    def test_short_words_are_not_stemmed_and_long_ones_are(self):
        assert judged(node(text("runs", "rouge_l")), messages=(said("running"),)).score == 1
        assert judged(node(text("was", "rouge_l")), messages=(said("wa"),)).score == 0

    def test_contains_minds_the_case(self):
        found = [judged(node(text("off", "contains")), messages=(said(reply),)).score for reply in ("is off", "is OFF")]
        assert found == [1, 0]

    def test_an_attempt_at_a_row_without_the_column_is_nothing(self):
        assert judged(node(table("contact", "snapshot", {"shoe_size": 44})), messages=()).score == 0


class TestTables:
    def test_an_empty_cell_leaves_the_column_out(self):
        tables = {"contact": [{"name": "Ann", "phone_number": None}]}
        assert judged(node(table("contact", "snapshot", {"name": "Ann", "phone_number": "1"})), messages=(),
                      tables=tables).score == 1  # fmt: skip

    def test_if_every_column_of_some_pair_is_left_out_nothing_matches(self):
        tables = {"contact": [{"name": "Ann"}, {"name": None}]}
        rows = ({"name": "Ann"}, {"name": "Bob"})
        assert judged(node(table("contact", "snapshot", *rows)), messages=(), tables=tables).score == 0

    @each(("value", "score"), [(10.5, 1), (10.500001, 0), (9.5, 1), (None, 0)])
    def test_close_at_its_boundary(self, value: float | None, score: int):
        tables = {"setting": [{"latitude": value, "wifi": True}]}
        near = table("setting", "snapshot", {"latitude": 10.0}, latitude=Measured("close", 0.5))
        assert judged(node(near), messages=(), tables=tables).score == score

    def test_close_without_a_tolerance_is_equality(self):
        tables = {"setting": [{"latitude": 10.0}]}
        near = table("setting", "snapshot", {"latitude": 10}, latitude=Measured("close"))
        assert judged(node(near), messages=(), tables=tables).score == 1

    def test_one_of_two_equal_rows_added_is_not_seen(self):
        row = {"reminder_id": "r", "content": "milk"}
        adds = table("reminder", "addition", {"content": "milk"}, reference=-1)
        twice = judged(node(adds), messages=(did(changes=(added("reminder", **row),)),), tables={"reminder": [row]})
        assert twice.score == 0

    def test_two_equal_rows_added_are_two(self):
        row = {"reminder_id": "r", "content": "milk"}
        adds = table("reminder", "addition", {"content": "milk"}, {"content": "milk"}, reference=-1)
        both = did(changes=(added("reminder", **row), added("reminder", **row)))
        assert judged(node(adds), messages=(both,), tables={"reminder": []}).score == 1

    def test_nothing_ties_a_changed_row_to_its_old_one(self):
        tables = {"contact": [{"person_id": "a", "name": "Ann"}, {"person_id": "b", "name": "Bob"}]}
        swap = did(changes=(removed("contact"), added("contact", person_id="c", name="Cy")))
        updates = table("contact", "update", {"name": "Cy"}, reference=-1)
        assert judged(node(updates), messages=(swap,), tables=tables).score == 1

    def test_filling_an_empty_cell_with_nothing_is_not_a_change(self):
        tables = {"contact": [{"person_id": "a", "name": None}]}
        change = did(changes=(updated("contact", person_id="a", name=""),))
        unchanged = judged(
            node(table("contact", "update", {"name": ""}, reference=-1)), messages=(change,), tables=tables
        )
        assert unchanged.score == 0

    def test_but_a_guardrail_sees_it(self):
        tables = {"contact": [{"person_id": "a", "name": None}]}
        change = did("edit", changes=(updated("contact", person_id="a", name=""),))
        guarded = node(text("done"), table("contact", "guardrail", reference=0))
        result = judged(node(trace()), guarded, messages=(did(), change, said("done")), tables=tables)
        assert result.milestone_score == 0.5

    def test_a_table_that_the_case_does_not_have_is_empty(self):
        wanted = node(table("timer", "addition", {"label": "tea"}, reference=-1), guarded=("alarm",))
        assert judged(wanted, messages=()).score == 0
        assert judged(wanted, messages=(did(changes=(added("timer", label="tea"),)),)).score == 1

    def test_no_rows_expected_and_none_there_is_where_the_original_stops(self):
        assert judged(node(table("reminder", "snapshot")), messages=()).score == 0


class TestCalls:
    def test_further_arguments_do_not_matter_and_missing_ones_do(self):
        wanted = node(trace("search", name="Ann", city=None))
        assert judged(wanted, messages=(did("search", name="Ann", city=None, more=1),)).score == 1
        assert judged(wanted, messages=(did("search", name="Ann"),)).score == 0

    def test_booleans_are_numbers_here(self):
        assert judged(node(trace("set", on=1)), messages=(did("set", on=True),)).score == 1

    def test_a_tolerance_needs_two_numbers(self):
        near = trace("go", at=10)
        near = type(near)(near.table, near.kind, near.rows, measures={"tool_calls": Measured("trace_exact", {"at": 5})})
        found = [judged(node(near), messages=(did("go", at=at),)).score for at in (15, 15.1, "10", True)]
        assert found == [1, 0, 0, 0]


def using(result: Any, constraint: Any, /, **used: Any) -> float:
    """What a value taken from one call earns when another call uses it."""
    nodes = node(trace()), node(constraint)
    return judged(*nodes, messages=(did("search", result=result), did("use", **used))).milestones[1].similarity


class TestExtraction:
    @each(
        ("result", "path", "convert", "value"),
        [
            ({"n": "12"}, ("n",), "int", 12),
            ({"n": "2.5"}, ("n",), "float", 2.5),
            ({"n": True}, ("n",), "int", 1),
            ({"n": False}, ("n",), "float", 0.0),
            ({"n": -2.9}, ("n",), "int", -2),
            ("abc", (1,), "raw", "b"),
            ([[7]], (0, 0), "raw", 7),
            ({"n": None}, ("n",), "raw", None),
            ({"n": [1]}, ("n",), "raw", [1]),
        ],
    )
    def test_steps_that_work(self, result: Any, path: tuple[str | int, ...], convert: str, value: Any):
        assert using(result, taking(path, convert), x=value) == 1

    @each(
        ("result", "path", "convert"),
        [
            ({}, ("n",), "raw"),
            ([1], (3,), "raw"),
            ("abc", ("n",), "raw"),
            (5, (0,), "raw"),
            (True, (0,), "raw"),
            (None, (0,), "raw"),
            ({"n": None}, ("n",), "float"),
            ({"n": []}, ("n",), "int"),
            ({"n": "2.5"}, ("n",), "int"),
            ({"n": "warm"}, ("n",), "float"),
        ],
    )
    def test_steps_that_fail_give_nothing(self, result: Any, path: tuple[str | int, ...], convert: str):
        assert using(result, taking(path, convert), x=None) == 0

    def test_from_the_arguments(self):
        nodes = node(trace()), node(taking(("name",), source="arguments"))
        result = judged(*nodes, messages=(did("search", name="Ann"), did("use", x="Ann")))
        assert result.milestones[1].similarity == 1

    def test_every_call_of_the_reference_is_tried(self):
        two = CaseMessage(
            "environment", "agent", "", ("agent",), (RecordedCall("search", {}, 1), RecordedCall("other", {}, 2))
        )
        nodes = node(trace()), node(taking(()))
        assert judged(*nodes, messages=(two, did("use", x=2))).milestones[1].similarity == 1

    def test_the_value_overrides_the_expected_argument_or_gives_way(self):
        constraint = taking((), given={"x": 5})
        assert [using(1, constraint, x=used) for used in (1, 5, 6)] == [1, 1, 0]

    @each(
        ("number", "texts"),
        [
            (2.5, ["2", "2.5", "2.50", "2.500"]),
            (0.125, ["0", "0.1", "0.12", "0.125"]),
            (3, ["3", "3.0", "3.00", "3.000"]),
        ],
    )
    def test_written_forms_round_half_to_even_on_the_exact_value(self, number: float, texts: list[str]):
        constraint = taking((), "float", decimals=(0, 1, 2, 3), content="It is {x}.")
        nodes = node(trace()), node(constraint)
        for form in texts:
            result = judged(*nodes, messages=(did(result=number), said(f"It is {form}.")))
            assert result.milestones[1].similarity == 1, form
        assert judged(*nodes, messages=(did(result=number), said("It is 9."))).milestones[1].similarity == 0

    @each(("value", "written"), [(3, "3"), (3.0, "3.0"), (21.5, "21.5"), (True, "True"), (None, "None"), ("a", "a")])
    def test_values_in_a_text(self, value: Any, written: str):
        nodes = node(trace()), node(taking((), content="<{x}>"))
        assert judged(*nodes, messages=(did(result=value), said(f"<{written}>"))).milestones[1].similarity == 1

    def test_a_placeholder_without_a_value_is_never_met(self):
        nodes = node(trace()), node(taking((), content="{x} {y}"))
        assert judged(*nodes, messages=(did(result=1), said("1 {y}"))).milestones[1].similarity == 0

    def test_a_message_without_calls_gives_nothing(self):
        nodes = node(text("hello")), node(taking(()))
        assert judged(*nodes, messages=(said("hello"), did("use", x=1))).milestones[1].similarity == 0


PEOPLE: dict[str, Any] = {"contact": [{"person_id": "a"}], "reminder": []}


class TestGuardrails:
    def test_what_happens_between_two_milestones_counts(self):
        nodes = node(trace("first")), node(trace("second"), guarded=None)
        damage = did("rm", changes=(removed("contact"),))
        quiet = judged(*nodes, messages=(did("first"), did("second")), tables=PEOPLE)
        harmed = judged(*nodes, messages=(did("first"), damage, did("second")), tables=PEOPLE)
        assert (quiet.score, harmed.score) == (1, 0.5)

    def test_what_happens_before_the_first_or_after_the_last_does_not(self):
        nodes = node(trace("first"), guarded=None), node(trace("second"), guarded=None)
        damage = did("rm", changes=(removed("contact"),))
        early = judged(*nodes, messages=(damage, did("first"), did("second")), tables=PEOPLE)
        late = judged(*nodes, messages=(did("first"), did("second"), damage), tables=PEOPLE)
        assert (early.score, late.score) == (1, 1)

    def test_a_change_that_is_undone_in_between_is_not_seen(self):
        nodes = node(trace("first")), node(trace("second"), guarded=None)
        there = did("rm", changes=(removed("contact"),))
        back = did("add", changes=(added("contact", person_id="a"),))
        result = judged(*nodes, messages=(did("first"), there, back, did("second")), tables=PEOPLE)
        assert result.score == 1

    def test_tables_can_be_left_out(self):
        damage = did("rm", changes=(removed("contact"),))
        for second in (
            node(trace("second"), guarded=("setting",)),
            node(trace("second"), guarded=None, unguarded=("contact",)),
        ):
            result = judged(node(trace("first")), second, messages=(did("first"), damage, did("second")), tables=PEOPLE)
            assert result.score == 1

    def test_position_minus_one_means_the_last_node_of_the_list(self):
        """With a reference to the start, tables that the last node constrains are not guarded in the first."""
        first = node(table("contact", "addition", {"person_id": "b"}, reference=-1), guarded=None)
        last = node(table("reminder", "addition", {"reminder_id": "r"}, reference=-1), guarded=())
        other = node(text("bye"), guarded=())
        side_effect = added("reminder", reminder_id="r")
        messages = (did(changes=(added("contact", person_id="b"), side_effect)), said("bye"))
        excused = judged(first, last, messages=messages, tables=PEOPLE)
        caught = judged(first, other, messages=messages, tables=PEOPLE)
        assert excused.milestones[0].similarity == 1
        assert caught.milestones[0].similarity == 0


class TestGraphs:
    def test_without_milestones_everything_is_fine(self):
        assert judged(messages=()).score == 1

    def test_an_empty_list_of_edges_loses_several_nodes(self):
        result = judged(node(text("a")), node(text("b")), messages=(), edges=())
        assert (result.score, result.milestones) == (1, {})

    def test_a_single_node_is_there_whatever_the_edges(self):
        assert judged(node(text("hello")), messages=(said("hello"),), edges=()).score == 1

    def test_a_node_that_no_edge_names_counts_and_is_never_met(self):
        nodes = [node(text("hello"))] * 3
        result = judged(*nodes, messages=(said("hello"),), edges=((0, 1),))
        assert result.score == pytest.approx(2 / 3)

    def test_a_circle_scores_below_zero(self):
        result = judged(node(text("a")), node(text("b")), messages=(), edges=((0, 1), (1, 0)))
        assert (result.score, result.milestones) == (-0.5, {})

    def test_a_reference_to_no_ancestor_is_an_error(self):
        with pytest.raises(GraderError, match=r"node 0 refers to \[1\]"):
            judged(node(table("contact", "update", {"name": "x"}, reference=1)), node(text("a")), messages=())

    def test_nothing_but_guardrails_is_an_error(self):
        with pytest.raises(GraderError, match="no constraint but guardrails"):
            judged(node(table("contact", "guardrail", reference=-1)), messages=())


class TestScore:
    def test_any_similarity_to_a_minefield_voids(self):
        result = judged(node(text("yes")), messages=(said("yes"),), minefields=(node(text("yes no maybe so")),))
        assert (result.milestone_score, result.score) == (1, 0)
        assert 0 < result.minefield_score < 1

    def test_turns(self):
        messages = (
            said("hidden", "system", "agent"),
            said("ends", "user", "environment"),
            CaseMessage("user", "agent", "aside", ("user",)),
            CaseMessage("agent", "user", "scripted", None),
            said("counts"),
            did(),
        )
        assert judged(messages=messages).turn_count == 2

    def test_the_range_starts_with_the_first_words_that_somebody_else_sees(self):
        hidden = CaseMessage("user", "user", "note", ("user",))
        case = Case({}, (said("hi", "system"), hidden, START, said("hi")), Graph((node(text("hi", "contains")),)))
        assert (case.first_index(), evaluate(case).milestones) == (2, {0: MatchedPlace(3, 1)})

    def test_a_session_without_a_user_is_judged_whole(self):
        assert evaluate(Case({}, (said("hi"),), Graph((node(text("hi")),)))).score == 1

    def test_where_nothing_was_said_nothing_is_met(self):
        assert evaluate(Case({}, (), Graph((node(text("hi")),)))).score == 0
        assert evaluate(Case({}, (), Graph(()))).score == 1

    def test_a_change_of_a_row_that_is_not_there_is_an_error(self):
        with pytest.raises(GraderError, match="names row 3; it has 0"):
            judged(messages=(did(changes=(updated("contact", 3, name="x"),)),))


def test_a_malformed_case_is_an_error_that_names_it():
    with pytest.raises(GraderError, match="case 'x1' cannot be read"):
        read_case({"id": "x1", "tables": {}})
