"""Reads a neutral case from JSON, the form in which verdicts of ToolSandbox's own evaluator are exchanged.

Policy: the form is trusted to be complete; a missing or misshapen part is one error that names the case.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sandbox_grader.errors import GraderError
from sandbox_grader.milestones.case import (
    STATE_TABLES,
    Case,
    CaseConstraint,
    CaseMessage,
    Extraction,
    Graph,
    Measured,
    Node,
    RecordedCall,
    RowChange,
)  # fmt: skip

_Json = Mapping[str, Any]
FORMS = {"decimals_0_3": (0, 1, 2, 3)}
"""The named lists of decimals."""


def read_case(source: _Json) -> Case:
    """One case.

    Raises:
        GraderError: the JSON does not have the form of a case.
    """
    try:
        return Case(
            tables={name: tuple(source["tables"].get(name, ())) for name in STATE_TABLES},
            messages=tuple(_message(item) for item in source["messages"]),
            milestones=_graph(source["milestones"], source.get("milestone_edges")),
            minefields=_graph(source.get("minefields", ()), source.get("minefield_edges")),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        name = source.get("id")
        raise GraderError(f"case {name!r} cannot be read: {type(error).__name__} {error}") from error


def read_graphs(source: _Json) -> tuple[Graph, Graph]:
    """Milestones and minefields alone, as a scenario that comes from ToolSandbox has them.

    Raises:
        GraderError: the JSON does not have the form of such graphs.
    """
    try:
        return (
            _graph(source["milestones"], source.get("milestone_edges")),
            _graph(source.get("minefields", ()), source.get("minefield_edges")),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise GraderError(f"the original milestones cannot be read: {type(error).__name__} {error}") from error


def _graph(nodes: Sequence[_Json], edges: Sequence[Sequence[int]] | None) -> Graph:
    read: list[Node] = []
    for item in nodes:
        guarded = item.get("guardrail_tables")
        constraints = tuple(map(_constraint, item["constraints"]))
        guards = None if guarded is None else tuple(guarded)
        read.append(Node(constraints, guards, tuple(item.get("guardrail_excluded") or ())))
    return Graph(tuple(read), None if edges is None else tuple((before, after) for before, after in edges))


def _constraint(source: _Json) -> CaseConstraint:
    measures, extract = source.get("measures"), source.get("extract")
    decimals = FORMS[extract["forms"]] if extract and extract.get("forms") else ()
    return CaseConstraint(
        table=source["table"],
        kind=source["kind"],
        rows=tuple(source.get("rows") or ()),
        reference=source.get("reference"),
        measures=measures
        and {name: Measured(item["measure"], item.get("tolerance")) for name, item in measures.items()},
        fill=source.get("fill"),
        extract=extract
        and tuple(
            Extraction(item["from"], tuple(item["path"]), item["to"], item["as"], decimals)
            for item in extract["values"]
        ),
    )


def _message(source: _Json) -> CaseMessage:
    visible, calls = source.get("visible_to"), source.get("tool_calls")
    return CaseMessage(
        source["sender"],
        source["recipient"],
        source["content"],
        None if visible is None else tuple(visible),
        None
        if calls is None
        else tuple(RecordedCall(item["tool"], item["arguments"], item.get("result")) for item in calls),
        tuple(RowChange(c["table"], c["op"], c["key"], c.get("after")) for c in source.get("changes") or ()),
    )
