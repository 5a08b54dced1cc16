"""Checks across the parts of one scenario: order of milestones, flow of values, tools that solutions need."""

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any, cast

from sandbox_scenarios.model import (
    START,
    CallConstraint,
    Expected,
    MessageConstraint,
    Milestone,
    Solution,
    TableConstraint,
)  # fmt: skip
from sandbox_scenarios.problem import PartPath, ProblemError
from sandbox_scenarios.values import reference_in


def check_order(milestones: Sequence[Milestone], kind: str) -> None:
    """Refuse unknown names, cycles, and values taken from a milestone that need not come before.

    Raises:
        ProblemError: with the path of the milestone.
    """
    by_id: dict[str, Milestone] = {}
    for index, milestone in enumerate(milestones):
        if milestone.id in by_id:
            raise ProblemError((kind, index, "id"), f"two {kind} have the id {milestone.id!r}")
        by_id[milestone.id] = milestone
    known = ", ".join(by_id)
    for index, milestone in enumerate(milestones):
        for name in milestone.after:
            if name not in by_id:
                text = f"{milestone.id!r} comes after unknown {name!r}; known: {known}"
                raise ProblemError((kind, index, "after"), text)
        for name in sorted(references(milestone) - set(by_id)):
            raise ProblemError((kind, index), f"{milestone.id!r} refers to unknown {name!r}; known: {known}")
    before = ancestors(milestones, kind)
    for index, milestone in enumerate(milestones):
        for name in sorted(references(milestone) - before[milestone.id]):
            text = f"{milestone.id!r} takes a value or state from {name!r}; add {name!r} to its 'after'"
            raise ProblemError((kind, index), text)
        for name in sorted(sources(milestone)):
            if not any(isinstance(item, CallConstraint) for item in by_id[name].constraints):
                text = f"{milestone.id!r} takes a value from {name!r}, which is not a call and has none"
                raise ProblemError((kind, index), text)


def ancestors(milestones: Sequence[Milestone], kind: str) -> Mapping[str, frozenset[str]]:
    """Milestones that each one has to come after, directly or not.

    Raises:
        ProblemError: the order is a circle.
    """
    after = {milestone.id: milestone.after for milestone in milestones}
    try:
        order = list(TopologicalSorter(after).static_order())
    except CycleError as error:
        raise ProblemError((kind,), f"the order is a circle: {' after '.join(error.args[1])}") from error
    found: dict[str, frozenset[str]] = {}
    for name in order:
        found[name] = frozenset(after[name]).union(*(found[before] for before in after[name]))
    return found


def references(milestone: Milestone) -> set[str]:
    """The milestones whose state or call this one refers to."""
    since = {item.since for item in milestone.constraints if isinstance(item, TableConstraint)}
    return sources(milestone) | (since - {START})


def sources(milestone: Milestone) -> set[str]:
    """The milestones whose call this one takes values from."""
    values: list[Expected] = []
    for item in milestone.constraints:
        match item:
            case MessageConstraint(content):
                values.append(content)
            case CallConstraint(patterns):
                values += (expected for pattern in patterns for expected in pattern.arguments.values())
            case TableConstraint():
                values += (expected for row in item.rows for expected in row.values())
    return {ref.milestone for value in values for ref in (value.ref, *value.values.values()) if ref}


def check_calls(solutions: Sequence[Solution], tools: Sequence[str]) -> None:
    """Refuse solutions that use a tool not offered by the scenario, or a result not yet there.

    Raises:
        ProblemError: with the path of the call.
    """
    for i, solution in enumerate(solutions):
        labels: set[str] = set()
        for j, turn in enumerate(solution.turns):
            where = ("reference", i, "turns", j)
            for k, batch in enumerate(turn.batches):
                for position, call in enumerate(batch):
                    place = (*where, "calls", k, position)
                    if call.tool not in tools:
                        raise ProblemError(place, f"the solution uses {call.tool!r}, which 'tools' does not list")
                    _check_labels(call.arguments, labels, place)
                labels.update(call.label for call in batch if call.label)
            _check_labels(turn.reply, labels, (*where, "reply"))


def _check_labels(value: Any, known: set[str], place: PartPath) -> None:
    for label in labels_in(value):
        if label not in known:
            raise ProblemError(place, f"no earlier call is labelled {label!r}; name it with 'as'")


def references_in(value: Any) -> Iterator[str]:
    """References of a planned value: ``$label.path`` as a whole, ``${label.path}`` inside a text."""
    if isinstance(value, str):
        whole = reference_in(value)
        if whole is not None:
            yield whole
        else:
            yield from (part.partition("}")[0] for part in value.split("${")[1:])
    elif isinstance(value, Mapping):
        for item in cast("Mapping[str, Any]", value).values():
            yield from references_in(item)
    elif isinstance(value, list | tuple):
        for item in cast("Sequence[Any]", value):
            yield from references_in(item)


def labels_in(value: Any) -> Iterator[str]:
    """The labels of what a planned value refers to."""
    return (reference.partition(".")[0] for reference in references_in(value))
