"""Our milestones as ToolSandbox would have written them.

Policy: what that evaluator has no word for takes its nearest one:
- Sender and recipient are columns beside the content and dilute it; a table's state counts only where it is matched.
- Each fact of a message is a constraint that some wording occurs, in any case; what a text must avoid is not seen.
- Arguments are equal, or within a tolerance; those that may be anything or need only mention something are left out.
- ``one_of`` is the best of ``exact``. A value from another milestone is extracted from the message matched there, in
  calls and messages; in a table it may be anything.
- An attempt is a message to the environment that has the tool's name, and the known arguments, in its text.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from json import JSONEncoder
from typing import Any, Literal

from sandbox_scenarios.model import (
    START,
    CallConstraint,
    CallPattern,
    Constraint,
    Expected,
    MessageConstraint,
    Milestone,
    TableConstraint,
    ValueRef,
)  # fmt: skip

from sandbox_grader.milestones import case
from sandbox_grader.milestones.cells import PLACEHOLDER
from sandbox_grader.milestones.measures import judged_by, referred

Numbers = Mapping[str, int]
"""The number of each milestone by its id."""
KINDS: Mapping[str, case.ConstraintKind] = {
    "is": "snapshot", "adds": "addition", "removes": "removal", "updates": "update", "unchanged": "guardrail",
}  # fmt: skip
VALUE = "value"
"""The name under which a value that is the whole content is extracted."""
_JSON = JSONEncoder(default=str, ensure_ascii=False)


def to_graph(milestones: tuple[Milestone, ...]) -> case.Graph:
    """Milestones or minefields as nodes and edges."""
    numbers = {item.id: number for number, item in enumerate(milestones)}
    edges = tuple((numbers[name], number) for number, item in enumerate(milestones) for name in item.after)
    nodes = (
        case.Node(tuple(made for constraint in item.constraints for made in _constraints(constraint, numbers)))
        for item in milestones
    )
    return case.Graph(tuple(nodes), edges)


def json_text(value: object) -> str:
    """A value as JSON; nothing for a number too long to write."""
    try:
        return _JSON.encode(value)
    except ValueError:
        return ""


def _constraints(constraint: Constraint, numbers: Numbers) -> Iterator[case.CaseConstraint]:
    if isinstance(constraint, TableConstraint):
        yield _table(constraint, numbers)
    elif isinstance(constraint, MessageConstraint):
        yield from _said(constraint, numbers)
    elif constraint.attempt:
        yield _attempted(constraint)
    else:
        yield from _called(constraint, numbers)


def _table(constraint: TableConstraint, numbers: Numbers) -> case.CaseConstraint:
    since = case.LO if constraint.since == START else numbers[constraint.since]
    # Facts become the combinations of wordings that state them all.
    rows = tuple(
        {
            name: tuple(product(*expected.value)) if expected.measure == "facts" else expected.value
            for name, expected in row.items()
        }
        for row in constraint.rows
    )
    measures = {name: _measured(expected, name) for row in constraint.rows for name, expected in row.items()}
    kind = KINDS[constraint.kind]
    return case.CaseConstraint(constraint.table, kind, rows, None if kind == "snapshot" else since, measures)


def _measured(expected: Expected, name: str) -> case.Measured:
    measure, within = judged_by(expected, name)
    if measure == "any" or referred(expected):
        return case.Measured("one")
    if measure == "close":
        return case.Measured("close", within)
    if measure == "rouge":
        return case.Measured("rouge_l")
    return case.Measured("mentions" if measure == "facts" else measure)


def _attempted(constraint: CallConstraint) -> case.CaseConstraint:
    texts = tuple(
        (
            pattern.tool,
            *(f"{json_text(name)}: {json_text(value)}" for name, value in given.items() if value is not None),
        )
        for pattern in constraint.patterns
        for given in _golden(pattern)
    )
    row = {"sender": "agent", "recipient": "environment", "content": texts}
    return case.CaseConstraint(case.MESSAGES, "snapshot", (row,), measures={"content": case.Measured("mentions")})


def _called(constraint: CallConstraint, numbers: Numbers) -> Iterator[case.CaseConstraint]:
    given = [(name, item) for pattern in constraint.patterns for name, item in pattern.arguments.items()]
    near = {name: made.tolerance for name, item in given if (made := _measured(item, name)).measure == "close"}
    taken = {name: item.ref for name, item in given if item.ref is not None}
    golden = [{"tool": p.tool, "arguments": arguments} for p in constraint.patterns for arguments in _golden(p)]
    row = {"sender": "environment", "recipient": "agent", "tool_calls": golden}
    yield from _dependent(row, {"tool_calls": case.Measured("trace_exact", near)}, "tool_calls", taken, numbers)


def _golden(pattern: CallPattern) -> Iterator[dict[str, Any]]:
    """The arguments of a pattern in all combinations of their alternatives."""
    options = {
        name: expected.value if expected.measure == "one_of" else (expected.value,)
        for name, expected in pattern.arguments.items()
        if expected.measure not in ("any", "contains", "facts", "set") and expected.ref is None
    }
    for chosen in product(*options.values()):
        yield dict(zip(options, chosen, strict=True))


def _said(constraint: MessageConstraint, numbers: Numbers) -> Iterator[case.CaseConstraint]:
    between = {"sender": constraint.sender, "recipient": constraint.recipient}
    expected = constraint.content
    if expected.measure != "facts":
        content = expected.value if expected.ref is None else f"{{{VALUE}}}"
        taken = expected.values if expected.ref is None else {VALUE: expected.ref}
        measured = _measured(Expected(expected.measure, within=expected.within), "content")
        yield from _dependent({**between, "content": content}, {"content": measured}, "content", taken, numbers)
        return
    measures = {"content": case.Measured("mentions")}
    for wordings in expected.value:
        named = {name for wording in wordings for name in PLACEHOLDER.findall(wording)}
        taken = {name: ref for name, ref in expected.values.items() if name in named}
        row = {**between, "content": tuple((wording,) for wording in wordings)}
        yield from _dependent(row, measures, "content", taken, numbers)
    if not expected.value:
        yield case.CaseConstraint(case.MESSAGES, "snapshot", (between,))


def _dependent(
    row: Mapping[str, Any],
    measures: Mapping[str, case.Measured],
    fill: Literal["tool_calls", "content"],
    taken: Mapping[str, ValueRef],
    numbers: Numbers,
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
