"""Values that milestones take from each other, and the calls they could be taken from.

Policy: calls that yield the same count as one, and a call that yields nothing the other milestone can use is left out.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from sandbox_scenarios.model import (
    START,
    CallConstraint,
    Constraint,
    Expected,
    Fact,
    MessageConstraint,
    Milestone,
    TableConstraint,
    ValueRef,
)  # fmt: skip

from sandbox_grader.milestones.cells import PLACEHOLDER, shape
from sandbox_grader.milestones.measures import judged_by, referred, taken
from sandbox_mcp.engine.trajectory import Message, ToolCall


def named(milestone: Milestone) -> set[str]:
    """The milestones that this one takes values or a state from."""
    states = {item.since for item in milestone.constraints if isinstance(item, TableConstraint)} - {START}
    return states | {ref.milestone for ref in values_of(milestone)}


def values_of(milestone: Milestone) -> tuple[ValueRef, ...]:
    """The values from elsewhere that a milestone needs."""
    values = [expected for constraint in milestone.constraints for _, expected in compared(constraint)]
    return tuple(ref for expected in values for ref in referred(expected))


def taken_from(ref: ValueRef, call: ToolCall) -> tuple[Any, ...]:
    """The acceptable values that a reference finds in a call."""
    return taken(ref, call.result if ref.source == "result" else call.arguments)


def compared(constraint: Constraint) -> tuple[tuple[str, Expected], ...]:
    """All values that a constraint compares, with the names of their columns or arguments."""
    if isinstance(constraint, MessageConstraint):
        return (("content", constraint.content),)
    groups = [p.arguments for p in constraint.patterns] if isinstance(constraint, CallConstraint) else constraint.rows
    return tuple(item for group in groups for item in group.items())


Fits = Callable[[Any], bool]
"""Whether a value may be of use."""
_Pairs = Iterable[tuple[Mapping[str, Expected], Mapping[str, Any]]]
"""Expectations, and arguments or cells that may be what is expected."""


def fitting(ref: ValueRef, likely: _Pairs) -> Fits:
    """Values of a reference that could be right: any, or where values must be equal those that occur in its place."""
    held = set[tuple[bool, Any]]()
    for expectations, actual in likely:
        for name, expected in expectations.items():
            if ref in referred(expected):
                value = actual.get(name)
                if expected.ref != ref or judged_by(expected, name)[0] != "exact" or not isinstance(value, _Scalar):
                    return lambda _value: True
                held.add((isinstance(value, bool), value))
    return lambda value: isinstance(value, _Scalar) and (isinstance(value, bool), value) in held


_Scalar = str | int | float | None


def yielding(wanted: Sequence[tuple[ValueRef, Fits]], events: Sequence[Message | ToolCall]) -> Callable[[int], int]:
    """A function from an event to the first one asked for that yields the same, -1 if it yields nothing of use."""
    first: dict[str, int] = {}

    @cache
    def yields(index: int) -> int:
        event = events[index]
        if not isinstance(event, ToolCall):
            return -1
        found = [tuple(filter(fits, taken_from(ref, event))) for ref, fits in wanted]
        return first.setdefault(shape(found, index), index) if any(found) else -1

    return yields


def claims_of(expected: Expected) -> tuple[Fact, ...]:
    """The facts of an expectation, with their types."""
    return expected.claims or tuple([Fact("text", wordings) for wordings in expected.value or ()])


def refers(fact: Fact, expected: Expected) -> bool:
    """True if a fact of an expectation takes a value from elsewhere."""
    if not (named := expected.values):
        return False
    texts = [value for value in fact.value if isinstance(value, str)]
    return any(name in named for text in texts for name in PLACEHOLDER.findall(text))
