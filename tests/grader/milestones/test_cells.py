"""The original's measures, cell by cell."""

from collections.abc import Mapping
from typing import Any

import pytest
from sandbox_grader.grading.rouge import rouge_l
from sandbox_grader.milestones.case import MESSAGES, CaseConstraint, Cells, Extraction, Measured, RecordedCall
from sandbox_grader.milestones.cells import filled, similarity, targets, value_sets

from tests.each import each


def fit(row: Cells, actual: Cells, table: str = "contact", **measures: Measured) -> float | None:
    constraint = CaseConstraint(table, "snapshot", (row,), measures=measures or None)
    (target,) = targets(constraint, constraint.rows)
    return similarity(target, actual)


def cell(value: Any, actual: Any, measure: Any = "exact", tolerance: Any = None) -> float | None:
    return fit({"x": value}, {"x": actual}, x=Measured(measure, tolerance))


class TestExact:
    @each(
        ("value", "actual", "expected"),
        [
            ("a", "a", 1),
            ("a", "A", 0),
            (1, 1.0, 1),
            (1, True, 1),
            ([1, {"a": 2}], [1.0, {"a": 2.0}], 1),
            (None, None, 1),
            (None, "", 0),
            ("", None, None),
            ("a", None, None),
            ("1", 1, 0),
        ],
    )
    def test_cells(self, value: Any, actual: Any, expected: float | None):
        assert cell(value, actual) == expected


class TestContains:
    @each(
        ("value", "actual", "expected"),
        [("b", "abc", 1), ("B", "abc", 0), ("", "", 1), ("", "abc", 1), ("b", None, None), ("abcd", "abc", 0)],
    )
    def test_cells(self, value: str, actual: str | None, expected: float | None):
        assert cell(value, actual, "contains") == expected


class TestClose:
    @each(
        ("value", "actual", "tolerance", "expected"),
        [
            (1.0, 1.25, 0.25, 1),
            (1.0, 1.2500001, 0.25, 0),
            (1.0, 1.0, None, 1),
            (1.0, 1.1, None, 0),
            (True, 2, 1, 1),
            ("a", "a", 1, 1),
            ("a", "b", 1, 0),
            (1.0, None, 5, 0),
            (0.1, 0.3, 0.2, 1),
            (0.3, 0.1, 0.1, 0),
            (0.5, 10**400, 1, 0),
            (10**400, 10**400, 0.5, 1),
        ],
    )
    def test_cells(self, value: Any, actual: Any, tolerance: float | None, expected: float):
        assert cell(value, actual, "close", tolerance) == expected


class TestOthers:
    def test_anything(self):
        assert cell("a", None, "one") == cell(None, "b", "one") == 1

    def test_one_of(self):
        assert [cell(("a", None), actual, "one_of") for actual in ("a", "b", None)] == [1, 0, 1]

    def test_rouge(self):
        assert cell("buy milk today", "buy bread today", "rouge_l") == rouge_l("buy milk today", "buy bread today")

    @each(("value", "actual"), [("a", None), (None, "a"), (None, None)])
    def test_rouge_of_nothing(self, value: str | None, actual: str | None):
        assert cell(value, actual, "rouge_l") == 0

    @each(("text", "expected"), [("Milk and bread", 1), ("EGGS", 1), ("milk", 0), (None, 0), ("bread", 0)])
    def test_mentions(self, text: str | None, expected: float):
        assert cell((("milk", "bread"), ("eggs",)), text, "mentions") == expected


class TestDefaults:
    @each(
        ("table", "column"),
        [(MESSAGES, "content"), ("contact", "relationship"), ("messaging", "content"), ("reminder", "content")],
    )
    def test_texts_are_compared_by_rouge(self, table: str, column: str):
        assert fit({column: "one two"}, {column: "one"}, table) == rouge_l("one two", "one")

    @each(("table", "column"), [("contact", "name"), ("contact", "content"), ("setting", "wifi")])
    def test_everything_else_exactly(self, table: str, column: str):
        assert fit({column: "one two"}, {column: "one"}, table) == 0

    def test_calls_by_their_trace(self):
        golden = [{"tool": "a", "arguments": {}}, {"tool": "b", "arguments": {"x": 1}}]
        row = {"tool_calls": golden}
        assert fit(row, {"tool_calls": (RecordedCall("b", {"x": 1.0, "y": 2}),)}, MESSAGES) == 1
        assert fit(row, {"tool_calls": (RecordedCall("c", {}), RecordedCall("a", {"z": 1}))}, MESSAGES) == 1
        assert fit(row, {"tool_calls": (RecordedCall("b", {}),)}, MESSAGES) == 0


class TestTraces:
    @each("calls", [None, ()])
    def test_no_calls(self, calls: Any):
        assert fit({"tool_calls": [{"tool": "a", "arguments": {}}]}, {"tool_calls": calls}, MESSAGES) == 0

    def test_no_alternatives(self):
        assert fit({"tool_calls": []}, {"tool_calls": (RecordedCall("a", {}),)}, MESSAGES) == 0
        assert fit({"tool_calls": None}, {"tool_calls": (RecordedCall("a", {}),)}, MESSAGES) == 0

    @each(
        ("wanted", "given", "expected"),
        [
            ({"x": None}, {"x": None}, 1),
            ({"x": None}, {}, 0),
            ({"x": 1}, {"x": 1.5}, 1),
            ({"x": 1}, {"x": 1.6}, 0),
            ({"x": 1}, {"x": "1"}, 0),
            ({"y": 1}, {"y": 1.5}, 0),
            ({"y": [1, 2]}, {"y": [1.0, 2.0]}, 1),
        ],
    )
    def test_arguments(self, wanted: Mapping[str, Any], given: Mapping[str, Any], expected: float):
        row = {"tool_calls": [{"tool": "a", "arguments": wanted}]}
        measured = Measured("trace_exact", {"x": 0.5})
        assert fit(row, {"tool_calls": (RecordedCall("a", given),)}, MESSAGES, tool_calls=measured) == expected


class TestRows:
    def test_the_geometric_mean_of_the_columns_that_are_not_left_out(self):
        row = {"content": "one two three four", "title": "x", "note": "y"}
        actual = {"content": "one two three five", "title": "x", "note": None}
        assert fit(row, actual, "reminder") == pytest.approx(0.75**0.5)

    def test_all_left_out(self):
        assert fit({"a": 1, "b": 2}, {"a": None, "b": None}) is None

    def test_a_zero_stays_a_zero(self):
        assert fit({"a": 1, "b": 2}, {"a": 1, "b": 3}) == 0

    def test_columns_that_nobody_asks_for(self):
        assert fit({"a": 1}, {"a": 1, "b": 2}) == 1

    def test_columns_that_are_not_there(self):
        assert fit({"a": 1}, {"b": 1}) == 0


class TestFilling:
    def constraint(self, fill: Any, **row: Any) -> CaseConstraint:
        return CaseConstraint(MESSAGES, "trace_dependent", (row,), 0, None, fill, ())

    def test_a_text(self):
        made = list(filled(self.constraint("content", content="{a} and {b}", sender="x"), {"a": 1, "b": "c", "d": 2}))
        assert made == [{"content": "1 and c", "sender": "x"}]

    def test_a_text_that_lacks_a_value(self):
        assert list(filled(self.constraint("content", content="{a} and {z}"), {"a": 1})) == []

    def test_alternatives_keep_what_can_be_filled(self):
        constraint = self.constraint("content", content=(("{a}", "x"), ("{z}",), ("plain",)))
        assert list(filled(constraint, {"a": 1})) == [{"content": [["1", "x"], ["plain"]]}]

    def test_braces_of_other_kinds_stay(self):
        made = list(filled(self.constraint("content", content="{a} {} {a.b} {0.x}"), {"a": 1, "0": 2}))
        assert made == [{"content": "1 {} {a.b} {0.x}"}]

    def test_calls_twice_each(self):
        golden = [{"tool": "t", "arguments": {"a": 1}}]
        (made,) = filled(self.constraint("tool_calls", tool_calls=golden), {"a": 2, "b": 3})
        assert [call["arguments"] for call in made["tool_calls"]] == [{"a": 2, "b": 3}, {"a": 1, "b": 3}]

    def test_several_values_and_their_forms(self):
        extract = (Extraction("result", ("n",), "n", "float", (0, 1)), Extraction("arguments", ("w",), "w"))
        assert value_sets(extract, RecordedCall("t", {"w": "x"}, {"n": 2.25})) == [
            {"n": "2", "w": "x"},
            {"n": "2.2", "w": "x"},
        ]

    def test_one_that_fails_spoils_all(self):
        extract = (Extraction("result", ("n",), "n"), Extraction("arguments", ("w",), "w"))
        assert value_sets(extract, RecordedCall("t", {}, {"n": 1})) == []
