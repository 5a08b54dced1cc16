"""A scenario of ours and its session as ToolSandbox's evaluator would see them.

Policy: nothing is repaired on the way. A call is two messages, the agent's to the environment and the answer, which
carries the recorded call and changes; a failed call is recorded nowhere. The user's opening counts as no turn, because
scripted first messages do not there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from itertools import groupby
from typing import Any

from sandbox_scenarios.model import CallConstraint, Expected, Scenario

from sandbox_grader.milestones import case
from sandbox_grader.milestones.case_json import read_graphs
from sandbox_grader.milestones.measures import referred
from sandbox_grader.milestones.timeline import opening_index
from sandbox_grader.milestones.translate_milestones import json_text, to_graph
from sandbox_mcp.engine.tools.definition import UNSET
from sandbox_mcp.engine.trajectory import ToolCall, Trajectory


@dataclass(frozen=True, slots=True)
class Translated:
    """The case, and for each of its messages the number of the event in the log that it comes from."""

    case: case.Case
    seqs: tuple[int, ...]


def to_case(scenario: Scenario, trajectory: Trajectory) -> Translated:
    """Everything ToolSandbox's evaluator looks at, for one session of one of our scenarios."""
    listed = _listed_nulls(scenario) if scenario.original is None else _defaults(scenario)
    opening, positions = opening_index(trajectory), _Positions(trajectory, moving=scenario.original is not None)
    messages, seqs = list[case.CaseMessage](), list[int]()
    for index, event in enumerate(trajectory.events):
        if isinstance(event, ToolCall):
            messages += _call_messages(event, positions, listed)
            seqs += [event.seq] * 2
        else:
            visible = None if index == opening else tuple(event.visible_to)
            messages.append(case.CaseMessage(event.sender, event.recipient, event.content, visible))
            seqs.append(event.seq)
    if scenario.original is not None:
        messages, seqs = _together(trajectory, messages, seqs)
    world = trajectory.started.world or {}
    tables = {name: tuple(world.get(name, {}).values()) for name in {*case.STATE_TABLES, *world}}
    graphs = (
        (to_graph(scenario.milestones), to_graph(scenario.minefields))
        if scenario.original is None
        else read_graphs(scenario.original)
    )
    return Translated(case.Case(tables, tuple(messages), *graphs), tuple(seqs))


class _Positions:
    """Row ids as positions, kept up to date while changes are translated.

    Where rows are ``moving``, one that changes goes to the end of its table, as ToolSandbox's own tools leave it: its
    guardrails see that.
    """

    def __init__(self, trajectory: Trajectory, *, moving: bool = False) -> None:
        self._moving = moving
        self._rows = {name: list(rows) for name, rows in (trajectory.started.world or {}).items()}

    def changes(self, event: ToolCall) -> Iterator[case.RowChange]:
        for change in event.changes:
            rows = self._rows.setdefault(change.table, [])
            position = rows.index(change.key) if change.key in rows else None
            if position is not None and change.after is not None and not (self._moving and len(rows) > 1):
                yield case.RowChange(change.table, "update", position, change.after)
                continue
            if position is not None:
                del rows[position]
                yield case.RowChange(change.table, "remove", position)
            if change.after is not None:
                rows.append(change.key)
                yield case.RowChange(change.table, "add", len(rows) - 1, change.after)


def _call_messages(
    event: ToolCall, positions: _Positions, listed: Mapping[str, Mapping[str, Any]]
) -> tuple[case.CaseMessage, case.CaseMessage]:
    tool = event.called
    asked = f"{tool}({json_text(event.arguments)})"
    answer = event.error.message if event.error else json_text(event.result)
    arguments = {**listed.get(tool, {}), **event.arguments}
    calls = None if event.error else (case.RecordedCall(tool, arguments, event.result),)
    pair = (event.caller, "environment")
    return (
        case.CaseMessage(event.caller, "environment", asked, pair),
        case.CaseMessage("environment", event.caller, answer, pair, calls, tuple(positions.changes(event))),
    )


def _together(
    trajectory: Trajectory, messages: list[case.CaseMessage], seqs: list[int]
) -> tuple[list[case.CaseMessage], list[int]]:
    """The calls of a batch one after the other, then their answers, the first with all changes of the batch."""
    batches = {event.seq: event.batch for event in trajectory.events if isinstance(event, ToolCall)}
    made, came = list[case.CaseMessage](), list[int]()
    for batch, group in groupby(zip(seqs, messages, strict=True), lambda pair: batches.get(pair[0], pair[0])):
        pairs = list(group)
        asked, answered = pairs[::2], pairs[1::2]
        if isinstance(batch, str) and len(answered) > 1:
            changes = tuple(change for _, answer in answered for change in answer.changes)
            shown = [replace(answer, changes=() if rank else changes) for rank, (_, answer) in enumerate(answered)]
            pairs = [*asked, *((seq, answer) for (seq, _), answer in zip(answered, shown, strict=True))]
        made += [message for _, message in pairs]
        came += [seq for seq, _ in pairs]
    return made, came


def _defaults(scenario: Scenario) -> dict[str, dict[str, Any]]:
    """Values that each tool takes for arguments left out: ToolSandbox records calls with their defaults."""
    return {
        name: {
            item.name: item.default
            for item in signature(function).parameters.values()
            if item.default is not Parameter.empty and item.default is not UNSET
        }
        for name, function in scenario.home.functions.items()
    }


def _listed_nulls(scenario: Scenario) -> dict[str, dict[str, None]]:
    """The arguments that a pattern lists as null: there calls are recorded with their defaults, here without."""
    found: dict[str, dict[str, None]] = {}
    for milestone in (*scenario.milestones, *scenario.minefields):
        for constraint in milestone.constraints:
            for pattern in constraint.patterns if isinstance(constraint, CallConstraint) else ():
                nulls = {name for name, value in pattern.arguments.items() if _may_be_null(value)}
                found.setdefault(pattern.tool, {}).update(dict.fromkeys(nulls))
    return found


def _may_be_null(expected: Expected) -> bool:
    if expected.measure == "one_of":
        return None in expected.value
    return expected.value is None and expected.measure != "any" and not referred(expected)
