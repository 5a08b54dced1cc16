"""A scenario of ours and its session as ToolSandbox's evaluator would see them.

Policy: nothing is repaired on the way; what that evaluator has no word for takes its nearest one, listed here.
- A call is two messages, the agent's to the environment and the answer, which carries the recorded call and changes.
- Sender and recipient are columns beside the content and dilute it; a table state is compared where it is matched only.
- ``facts`` become one ``contains`` each, any wording in any case counting; what a text must avoid is not seen.
- ``one_of`` is the best of ``exact``; a value from another milestone is extracted from the message matched there, in
  calls and messages; in a table it may be anything.
- Arguments are equal or within a tolerance, never alike; those that may be ``any`` are not compared.
- The user's opening is not visible to anybody, as scripted first messages are there, and so counts as no turn.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from json import dumps
from typing import Any, Literal

from grader.milestones import case
from grader.milestones.measures import default_of, referred
from grader.milestones.timeline import opening_index
from sandbox_mcp.trajectory import Message, ToolCall, Trajectory
from scenarios.model import (
    START,
    CallConstraint,
    CallPattern,
    Constraint,
    Expected,
    MessageConstraint,
    Milestone,
    Scenario,
    TableConstraint,
    ValueRef,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Translated:
    """The case, and for each of its messages the number of the event in the log that it comes from."""

    case: case.Case
    seqs: tuple[int, ...]


def to_case(scenario: Scenario, trajectory: Trajectory) -> Translated:
    """Everything ToolSandbox's evaluator looks at, for one session of one of our scenarios."""
    listed = _listed_nulls(scenario)
    opening, positions = opening_index(trajectory), _Positions(trajectory)
    messages, seqs = list[case.CaseMessage](), list[int]()
    for index, event in enumerate(trajectory.events):
        made = (
            _call_messages(event, positions, listed)
            if isinstance(event, ToolCall)
            else (_message(event, hidden=index == opening),)
        )
        messages += made
        seqs += [event.seq] * len(made)
    world = trajectory.started.world or {}
    tables = {name: tuple(world.get(name, {}).values()) for name in {*case.STATE_TABLES, *world}}
    graphs = (_graph(scenario.milestones), _graph(scenario.minefields))
    return Translated(case.Case(tables, tuple(messages), *graphs), tuple(seqs))


class _Positions:
    """Row ids as positions, kept up to date while changes are translated."""

    def __init__(self, trajectory: Trajectory) -> None:
        self._rows = {name: list(rows) for name, rows in (trajectory.started.world or {}).items()}

    def changes(self, event: ToolCall) -> Iterator[case.RowChange]:
        for change in event.changes:
            rows = self._rows.setdefault(change.table, [])
            known = change.key in rows
            if change.after is None and known:
                position = rows.index(change.key)
                del rows[position]
                yield case.RowChange(change.table, "remove", position)
            elif change.after is not None and known:
                yield case.RowChange(change.table, "update", rows.index(change.key), change.after)
            elif change.after is not None:
                rows.append(change.key)
                yield case.RowChange(change.table, "add", len(rows) - 1, change.after)


def _message(event: Message, *, hidden: bool) -> case.CaseMessage:
    visible = None if hidden else tuple(event.visible_to)
    return case.CaseMessage(event.sender, event.recipient, event.content, visible)


def _call_messages(
    event: ToolCall, positions: _Positions, listed: Mapping[str, set[str]]
) -> tuple[case.CaseMessage, case.CaseMessage]:
    tool = event.tool or event.name
    asked = f"{tool}({_json(event.arguments)})"
    answer = event.error.message if event.error else _json(event.result)
    arguments = {**dict.fromkeys(listed.get(tool, ())), **event.arguments}
    calls = None if event.error else (case.Call(tool, arguments, event.result),)
    pair = (event.caller, "environment")
    return (
        case.CaseMessage(event.caller, "environment", asked, pair),
        case.CaseMessage("environment", event.caller, answer, pair, calls, tuple(positions.changes(event))),
    )


def _json(value: object) -> str:
    try:
        return dumps(value, default=str, ensure_ascii=False)
    except ValueError:  # a whole number of thousands of digits
        return ""


def _listed_nulls(scenario: Scenario) -> dict[str, set[str]]:
    """The arguments that a pattern lists as null: there calls are recorded with their defaults, here without."""
    found: dict[str, set[str]] = {}
    for milestone in (*scenario.milestones, *scenario.minefields):
        for constraint in milestone.constraints:
            for pattern in constraint.patterns if isinstance(constraint, CallConstraint) else ():
                nulls = {
                    name for name, value in pattern.arguments.items() if value.value is None and not referred(value)
                }
                found.setdefault(pattern.tool, set()).update(nulls)
    return found


def _graph(milestones: tuple[Milestone, ...]) -> case.Graph:
    numbers = {item.id: number for number, item in enumerate(milestones)}
    edges = tuple((numbers[name], number) for number, item in enumerate(milestones) for name in item.after)
    nodes = (
        case.Node(tuple(made for constraint in item.constraints for made in _constraints(constraint, numbers)))
        for item in milestones
    )
    return case.Graph(tuple(nodes), edges)


def _constraints(constraint: Constraint, numbers: Mapping[str, int]) -> Iterator[case.CaseConstraint]:
    if isinstance(constraint, TableConstraint):
        yield _table(constraint, numbers)
    elif isinstance(constraint, CallConstraint):
        yield from _calls(constraint, numbers)
    else:
        yield from _said(constraint, numbers)


KINDS: Mapping[str, case.Kind] = {
    "is": "snapshot", "adds": "addition", "removes": "removal", "updates": "update", "unchanged": "guardrail",
}  # fmt: skip


def _table(constraint: TableConstraint, numbers: Mapping[str, int]) -> case.CaseConstraint:
    since = case.LO if constraint.since == START else numbers[constraint.since]
    rows = tuple({name: expected.value for name, expected in row.items()} for row in constraint.rows)
    measures = {name: _measured(expected, name) for row in constraint.rows for name, expected in row.items()}
    kind = KINDS[constraint.kind]
    return case.CaseConstraint(constraint.table, kind, rows, None if kind == "snapshot" else since, measures)


def _measured(expected: Expected, name: str) -> case.Measured:
    if expected.ref is not None:
        return case.Measured("one")
    default = default_of(name)
    within = default.within if expected.within is None else expected.within
    return {
        "close": case.Measured("close", within),
        "rouge": case.Measured("rouge_l"),
        "any": case.Measured("one"),
        "facts": case.Measured("contains_one"),
    }.get(str(expected.measure or default.measure)) or case.Measured(expected.measure or default.measure)  # pyright: ignore[reportArgumentType]


def _calls(constraint: CallConstraint, numbers: Mapping[str, int]) -> Iterator[case.CaseConstraint]:
    tools = tuple(dict.fromkeys(pattern.tool for pattern in constraint.patterns))
    if constraint.attempt:
        row = {"sender": "agent", "recipient": "environment", "content": tools}
        yield case.CaseConstraint(
            case.MESSAGES, "snapshot", (row,), measures={"content": case.Measured("contains_one")}
        )
        return
    golden = [
        {"tool": pattern.tool, "arguments": arguments}
        for pattern in constraint.patterns
        for arguments in _golden(pattern)
    ]
    tolerance = {
        name: near.tolerance
        for pattern in constraint.patterns
        for name, expected in pattern.arguments.items()
        if (near := _measured(expected, name)).measure == "close"
    }
    row = {"sender": "environment", "recipient": "agent", "tool_calls": golden}
    taken = {
        name: expected.ref
        for pattern in constraint.patterns
        for name, expected in pattern.arguments.items()
        if expected.ref is not None
    }
    yield from _dependent(row, {"tool_calls": case.Measured("trace_exact", tolerance)}, "tool_calls", taken, numbers)


def _golden(pattern: CallPattern) -> Iterator[dict[str, Any]]:
    """The arguments of a pattern in all combinations of their alternatives; what may be anything is left out."""
    options = {
        name: expected.value if expected.measure == "one_of" else (expected.value,)
        for name, expected in pattern.arguments.items()
        if expected.measure != "any" and expected.ref is None
    }
    for chosen in product(*options.values()):
        yield dict(zip(options, chosen, strict=True))


def _said(constraint: MessageConstraint, numbers: Mapping[str, int]) -> Iterator[case.CaseConstraint]:
    between = {"sender": constraint.sender, "recipient": constraint.recipient}
    expected = constraint.content
    if expected.measure == "facts":
        measures = {"content": case.Measured("contains_one")}
        rows = [{**between, "content": wordings} for wordings in expected.value] or [between]
    else:
        measures = {"content": _measured(expected, "content")}
        rows = [{**between, "content": expected.value}]
    for row in rows:
        yield from _dependent(row, measures, "content", expected.values, numbers)


def _dependent(
    row: Mapping[str, Any],
    measures: Mapping[str, case.Measured],
    fill: Literal["tool_calls", "content"],
    taken: Mapping[str, ValueRef],
    numbers: Mapping[str, int],
) -> Iterator[case.CaseConstraint]:
    """A constraint on a message, once per milestone that it takes values from."""
    if not taken:
        yield case.CaseConstraint(case.MESSAGES, "snapshot", (row,), None, measures)
    for source in dict.fromkeys(ref.milestone for ref in taken.values()):
        extract = tuple(
            case.Extraction(ref.source, ref.path, name, ref.to, ref.decimals)
            for name, ref in taken.items()
            if ref.milestone == source
        )
        yield case.CaseConstraint(case.MESSAGES, "trace_dependent", (row,), numbers[source], measures, fill, extract)
