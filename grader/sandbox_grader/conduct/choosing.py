"""One of several matches taken without asking which is meant, where every solution asks.

Policy: a search has several matches if its result is a list of two or more objects. Taking one is an action that
succeeds and is given a value that only one of them has. It counts if the agent had asked nothing before, and each
solution that makes such a call asks something before it. Whether the right one was taken does not matter.

An example. Two contacts are called Sean Power, and both solutions ask which one is meant. An agent that looks the name
up and texts the first one at once has not asked.

Source: ToolSandbox, section 4.3 and figure 16.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from sandbox_grader.conduct.observed import ConductFinding, ObservedSession, is_reply
from sandbox_grader.grading.references import ReferenceTurns
from sandbox_grader.grading.values import is_array, is_number, is_object, leaves
from sandbox_mcp.engine.trajectory import Message, ToolCall

SHORT = 4
"""Letters from which a text tells one match from another."""


def unasked_choices(heard: ObservedSession) -> Iterator[ConductFinding]:
    """The actions that took one of several matches unasked, one for each search."""
    asked_for = _asking_first(heard.solutions)
    if not asked_for:
        return
    matches: list[tuple[ToolCall, frozenset[Any], int]] = []
    for event in heard.trajectory.events:
        if is_reply(event) and "?" in event.content:
            return
        if isinstance(event, Message) or event.caller != "agent" or event.error is not None:
            continue
        tool = event.called
        given = set(filter(_tells, leaves(event.arguments)))
        if tool in asked_for and heard.labels.get(tool):
            for place, (search, single, count) in enumerate(matches):
                if given & single:
                    about = f"{tool} took one of {count} matches of {search.called} (#{search.seq}) without asking"
                    yield ConductFinding("missing_disambiguation", event.seq, about, tool)
                    del matches[place]
                    break
        matches += [(event, *several) for several in _several(event.result)]


def _asking_first(solutions: Sequence[ReferenceTurns]) -> frozenset[str]:
    """The tools that solutions use only after they have asked something, and that every solution uses."""
    found: list[frozenset[str]] = []
    for solution in solutions:
        asked, before, behind = False, set[str](), set[str]()
        for turn in solution:
            (behind if asked else before).update(call.tool for call in turn.calls)
            asked = asked or "?" in (turn.reply or "")
        found.append(frozenset(behind - before))
    return frozenset[str].intersection(*found) if found else frozenset()


def _several(result: Any) -> Iterator[tuple[frozenset[Any], int]]:
    """Lists of several objects in a result: the values that only one object has, and how many objects there are."""
    inside = [result, *result.values()] if is_object(result) else [result]
    for items in inside:
        if is_array(items) and len(items) > 1 and all(map(is_object, items)):
            held = [set(filter(_tells, leaves(item))) for item in items]
            times = Counter(value for values in held for value in values)
            yield frozenset(value for value, holders in times.items() if holders == 1), len(items)


def _tells(value: Any) -> bool:
    """True if a value can tell one match from another."""
    if isinstance(value, str):
        return len(value) >= SHORT
    return is_number(value) and value not in (0, 1)
