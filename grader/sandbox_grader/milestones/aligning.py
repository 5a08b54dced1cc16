"""Reasons for each constraint of a milestone: what was expected, what was found, and the events that did it.

Policy: this is the structure behind the reasons in words, for programs and pages. It is there for milestones that were
met as well. Values stand as in the log, cut where they are long; events are named by their number in the log. State is
blamed on the event that wrote it, which may come before the one at which a milestone was met.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sandbox_scenarios.model import (
    START,
    CallConstraint,
    CallPattern,
    Constraint,
    Expected,
    MessageConstraint,
    TableConstraint,
)

from sandbox_grader.milestones.judges import TableJudge, is_candidate, judge_pattern
from sandbox_grader.milestones.measures import Lookup, forms, judged_by, referred
from sandbox_grader.milestones.phrases import shown, title
from sandbox_grader.milestones.worked_out import is_worked_out
from sandbox_mcp.engine.trajectory import Message, ToolCall

if TYPE_CHECKING:
    from sandbox_grader.milestones.explaining import Explainer

LONG = 400
"""Texts, and values that hold others, are cut where their JSON is longer."""
DIGITS = 9
_Json = Mapping[str, Any]


def alignment(explained: "Explainer") -> Iterator[_Json]:
    """One JSON object per constraint of a milestone.

    ``similarity`` is how well the constraint was met where the milestone was placed, and lasted; ``seq`` the event held
    against it. ``expected`` and ``found`` have a message's ``content``, a call's ``tool`` and ``arguments`` (and
    ``error``), or ``rows`` of a ``table`` as they were there; each expected value has its ``measure`` with ``value``,
    ``any_of`` or ``all_of``. ``caused_by`` is the event that wrote what was found, ``undone_by`` the one that took it
    away again, after which it was as ``at_end`` says. What does not exist is null.
    """
    for constraint in explained.item.constraints:
        if isinstance(constraint, MessageConstraint):
            found = _message(explained, constraint)
        elif isinstance(constraint, CallConstraint):
            found = _call(explained, constraint)
        else:
            found = _table(explained, constraint)
        yield {"constraint": title(constraint), "caused_by": found["seq"], "undone_by": None, **found}


def expectation(expected: Expected, name: str, lookup: Lookup) -> _Json:
    """Expected value of a column, an argument or a text, with the measure that compares it."""
    measure, within = judged_by(expected, name)
    if expected.ref is not None:
        return {"measure": measure, "from": expected.ref.milestone, "any_of": [_brief(v) for v in lookup(expected.ref)]}
    if measure == "facts":
        all_of = [
            [text for wording in wordings for text in (*forms(wording, expected.values, lookup),) or (wording,)]
            for wordings in expected.value
        ]
        return {"measure": measure, "all_of": all_of, **({"none_of": expected.avoid} if expected.avoid else {})}
    if measure == "one_of":
        return {"measure": measure, "any_of": [_brief(value) for value in expected.value]}
    value = {} if measure == "any" else {"value": _brief(expected.value)}
    return {"measure": measure, **value, **({} if within is None else {"within": within})}


def _once(
    explained: "Explainer",
    constraint: Constraint,
    values: Iterable[Expected],
    tell: Callable[[], _Json],
    pattern: CallPattern | None = None,
) -> _Json:
    """Expectation of a constraint; the same object for all sessions if it takes no value from their calls."""
    known, key = explained.nodes.links.explained, (id(constraint), id(pattern))
    if key not in known:
        known[key] = None if any(map(referred, values)) else tell()
    return known[key] or tell()


def _message(explained: "Explainer", constraint: MessageConstraint) -> _Json:
    nearest = explained.nearest_message(constraint)
    value, event = (nearest[0], nearest[2]) if nearest else (0.0, None)
    between = {"sender": constraint.sender, "recipient": constraint.recipient}

    def expected() -> _Json:
        return {**between, "content": expectation(constraint.content, "content", explained.lookup)}

    return {
        "similarity": round(value, DIGITS),
        "seq": _seq(event),
        "expected": _once(explained, constraint, (constraint.content,), expected),
        "found": event and {**between, "content": _brief(event.content)},
    }


def _call(explained: "Explainer", constraint: CallConstraint) -> _Json:
    nearest = explained.nearest_call(constraint)
    pattern, event = (nearest[1], nearest[2]) if nearest else (constraint.patterns[0], None)
    fine = event is not None and is_candidate(constraint, event)

    def expected() -> _Json:
        others = {item.tool: None for item in constraint.patterns if item.tool != pattern.tool}
        arguments = {name: expectation(value, name, explained.lookup) for name, value in pattern.arguments.items()}
        return {"tool": pattern.tool, **({"or": list(others)} if others else {}), "arguments": arguments}

    found = event and {
        "tool": event.called,
        "arguments": {name: _brief(value) for name, value in event.arguments.items()},
        **({"error": f"{event.error.type}: {_brief(event.error.message)}"} if event.error else {}),
    }
    return {
        "similarity": round(judge_pattern(pattern, event, explained.compare), DIGITS) if fine and event else 0.0,
        "seq": _seq(event),
        "expected": _once(explained, constraint, pattern.arguments.values(), expected, pattern),
        "found": found,
    }


def _table(explained: "Explainer", constraint: TableConstraint) -> _Json:
    table, judge = constraint.table, explained.nodes.judge(explained.number, constraint)
    versions = explained.nodes.timeline.versions(table)
    index = len(versions) - 1 if explained.index is None else explained.index
    state, since = (versions[index] if versions else 0), explained.since(constraint, versions)
    value = judge.value(state, since, explained.compare)
    rows = dict(judge.candidates(state, since))
    keys = judge.rows(state, since, explained.compare) or tuple(explained.nearest_rows(constraint, rows))
    named = list(dict.fromkeys(name for row in constraint.rows for name in row))
    caused = undone = None
    if constraint.kind == "unchanged":
        if value < 1:
            undone = next((_seq(explained.events[at]) for at, version in enumerate(versions) if version > since), None)
    else:
        wrote = list(_writers(explained, table, keys, named))
        caused = next((seq for at, seq in reversed(wrote) if at <= index), None)
        if value < 1 and value < judge.value(state, since, explained.compare, fleeting=True):
            undone = next((seq for at, seq in wrote if at > index), None)
    about = {"table": table, "change": constraint.kind}

    def expected() -> _Json:
        wanted = [
            {name: expectation(item, name, explained.lookup) for name, item in row.items()} for row in constraint.rows
        ]
        return {**about, **({"since": constraint.since} if constraint.since != START else {}), "rows": wanted}

    found = [{name: _brief(rows[key].get(name)) for name in named} for key in keys if key in rows]
    return {
        "similarity": round(value, DIGITS),
        "seq": None if explained.index is None else explained.events[index].seq,
        "expected": _once(explained, constraint, (item for row in constraint.rows for item in row.values()), expected),
        "found": {**about, "rows": found, **(_at_end(judge, keys, rows, named) if undone is not None else {})},
        "caused_by": caused,
        "undone_by": undone,
    }


def _writers(
    explained: "Explainer", table: str, keys: Collection[str], named: Collection[str]
) -> Iterator[tuple[int, int | None]]:
    """The events that made or removed these rows, or wrote named columns: their place, and number in the log."""
    for index, event in enumerate(explained.events):
        for change in event.changes if isinstance(event, ToolCall) else ():
            before, after = change.before, change.after
            if (change.table, change.key in keys) == (table, True) and (
                before is None or after is None or any(before.get(name) != after.get(name) for name in named)
            ):
                yield index, _seq(event)
                break


def _at_end(judge: TableJudge, keys: Collection[str], rows: Mapping[str, _Json], named: Collection[str]) -> _Json:
    """Rows as they were in the end, null where one is gone (or, if it was to be removed, back)."""
    ends = [
        {name: _brief(judge.at_end(key, name, rows[key].get(name))) for name in named} if judge.lasts(key) else None
        for key in keys
        if key in rows
    ]
    return {"at_end": ends}


def _seq(event: Message | ToolCall | None) -> int | None:
    """The number of an event in the log; None for one that was put in because an agent may work things out itself."""
    return None if event is None or is_worked_out(event) else event.seq


def _brief(value: Any) -> Any:
    """A value as it stands in the log, or what can be shown of it in a few lines."""
    if isinstance(value, str):
        return value if len(value) <= LONG else value[: LONG - 1] + "…"
    if value is None or isinstance(value, bool | float):
        return value
    try:
        return value if len(json.dumps(value)) <= LONG else shown(value)
    except (TypeError, ValueError, RecursionError):
        return shown(value)
