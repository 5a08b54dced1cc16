"""Reading neutral cases, and what they count."""

from typing import Any

import pytest
from sandbox_grader.errors import GraderError
from sandbox_grader.milestones.case import Case, CaseMessage, Extraction, Graph, Measured, RecordedCall, RowChange
from sandbox_grader.milestones.case_json import read_case
from sandbox_grader.milestones.cells import converted, shape, value_sets

from tests.each import each

CALL = {"tool": "search", "arguments": {"name": "Ann"}, "result": {"n": 2.5}}
CHANGE = {"table": "contact", "op": "add", "key": 0, "before": None, "after": {"name": "Ann"}}
MESSAGES = [
    {"index": 0, "sender": "user", "recipient": "agent", "content": "Go.", "visible_to": None},
    {
        "index": 1, "sender": "environment", "recipient": "agent", "content": "ok", "visible_to": ["agent"],
        "tool_calls": [CALL], "changes": [CHANGE],
    },
]  # fmt: skip


def source(**more: Any) -> dict[str, Any]:
    return {"id": "x", "tables": {"contact": []}, "messages": MESSAGES, "milestones": [], **more}


def constraint(**more: Any) -> dict[str, Any]:
    return {"table": "messages", "kind": "snapshot", "rows": [{"content": "x"}], **more}


def only(**more: Any) -> Any:
    return read_case(source(milestones=[{"constraints": [constraint(**more)]}])).milestones.nodes[0].constraints[0]


def test_messages():
    first, second = read_case(source()).messages
    assert first == CaseMessage("user", "agent", "Go.", None)
    assert second.visible_to == ("agent",)
    assert second.calls == (RecordedCall("search", {"name": "Ann"}, {"n": 2.5}),)
    assert second.changes == (RowChange("contact", "add", 0, {"name": "Ann"}),)


def test_no_calls_and_an_empty_list_of_calls_differ():
    quiet = {**MESSAGES[0], "tool_calls": []}
    assert [m.calls for m in read_case(source(messages=[MESSAGES[0], quiet])).messages] == [None, ()]


def test_tables_that_are_left_out_are_empty():
    assert dict(read_case(source()).tables) == {"setting": (), "contact": (), "messaging": (), "reminder": ()}


def test_measures():
    made = only(measures={"content": {"measure": "close", "tolerance": 2}})
    assert made.measures == {"content": Measured("close", 2)}
    assert only().measures is None


def test_references():
    assert [only(**more).reference for more in ({}, {"reference": None}, {"reference": -1})] == [None, None, -1]


def test_extractions():
    values = [{"from": "result", "path": ["n"], "to": "x", "as": "float"}]
    made = only(kind="trace_dependent", fill="content", extract={"values": values, "forms": "decimals_0_3"})
    assert made.extract == (Extraction("result", ("n",), "x", "float", (0, 1, 2, 3)),)
    assert value_sets(made.extract, RecordedCall("search", {}, {"n": 2.5}))[:2] == [{"x": "2"}, {"x": "2.5"}]


def test_guardrails():
    nodes = [
        {"constraints": [constraint()], **more}
        for more in ({}, {"guardrail_tables": []}, {"guardrail_excluded": ["contact"]})
    ]
    made = read_case(source(milestones=nodes)).milestones.nodes
    assert [(node.guarded, node.unguarded) for node in made] == [(None, ()), ((), ()), (None, ("contact",))]


@each(("edges", "members", "found"), [(None, (0, 1, 2), ((0, 1), (1, 2))), ([], (), ()), ([[0, 2]], (0, 2), ((0, 2),))])
def test_graphs(edges: Any, members: tuple[int, ...], found: tuple[Any, ...]):
    graph = read_case(source(milestones=[{"constraints": [constraint()]}] * 3, milestone_edges=edges)).milestones
    assert graph.order() == (members, found)


@each(
    "broken",
    [
        {"tables": None},
        {"messages": [{}]},
        {"milestones": [{}]},
        {"milestones": [{"constraints": [{"table": "contact"}]}]},
        {"milestone_edges": [[1]]},
        {"messages": [{**MESSAGES[0], "changes": [{"op": "add"}]}]},
    ],
)
def test_what_is_no_case(broken: dict[str, Any]):
    with pytest.raises(GraderError, match="case 'x' cannot be read"):
        read_case(source(**broken))


class TestRange:
    def first(self, *messages: tuple[str, tuple[str, ...] | None]) -> int:
        return Case(
            {}, tuple(CaseMessage(sender, "agent", "", seen) for sender, seen in messages), Graph(())
        ).first_index()

    def test_starts_where_the_user_is_heard(self):
        assert self.first(("system", None), ("user", ("user",)), ("agent", None), ("user", ("user", "agent"))) == 3

    def test_or_scripted(self):
        assert self.first(("system", None), ("user", None)) == 1

    def test_or_at_the_beginning(self):
        assert self.first(("agent", None)) == 0


@each(
    ("value", "conversion", "result"),
    [
        ("12", "int", 12),
        (2.9, "int", 2),
        (True, "int", 1),
        ("2.5", "float", 2.5),
        (3, "float", 3.0),
        (3.0, "text", "3.0"),
    ],
)
def test_conversions(value: Any, conversion: str, result: Any):
    found = converted(value, conversion)
    assert found == result
    assert type(found) is type(result)


def test_shapes_tell_values_apart():
    assert shape([1], 0) == shape([1], 5) != shape([1.0], 0)
    assert shape(10**5000, 1) != shape(10**5000, 2)
