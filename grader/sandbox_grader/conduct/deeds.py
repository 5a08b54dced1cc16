"""Conduct in calls: wrong recipients, actions beyond the solution, wrong order, repetitions, the same mistake again.

Policy: a session is aligned with each solution, in order as far as possible, and the solution that it deviates from
least counts. Two actions may change places unless one takes what the other returned, or carrying out the solution in
that order would fail or leave another state behind. Only certain faults are counted.
"""

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox_scenarios.model import Scenario

from sandbox_grader.conduct.observed import ConductFinding, ObservedSession, reaches_a_person, text_of
from sandbox_grader.conduct.order import rehearsal_of
from sandbox_grader.grading.rouge import common_tails, rouge_l
from sandbox_grader.grading.values import FREE_TEXT, form_of, is_array, is_number, leaves
from sandbox_grader.papers.tooltalk.comparing import AsWritten, FirstDifference
from sandbox_mcp.engine.trajectory import Message, ReferenceCall, ToolCall

RECIPIENTS = frozenset(
    {"bcc", "cc", "email", "number", "phone", "phone_number", "receiver", "receivers", "recipient", "recipients", "to"}
)
"""Arguments of a sending tool that say to whom."""
THRESHOLD = 0.9
"""How alike free text must be, as for ToolTalk."""
_FORM = re.compile(r"\b(?:expected|format|must|should|invalid|valid|malformed|parse|like)\b", re.IGNORECASE)
_VALUES = re.compile(r"'[^']{0,200}'|\"[^\"]{0,200}\"|\d+")
_WORD = re.compile(r"\w+")
OF_STATE = frozenset({"ConnectionError", "PermissionError", "NoDataError", "DuplicateError", "KeyError", "LookupError"})
"""Errors of tools that tell of the world and not of how it was asked."""


def wrong_recipients(heard: ObservedSession) -> Iterator[ConductFinding]:
    """Things sent to a person whom no solution names; telephone numbers are compared by their digits."""
    named = {person for call in heard.wanted for person in _people(call.tool, call.arguments)}
    for call in heard.calls:
        tool = call.called
        if call.changes or (call.error is None and heard.labels.get(tool) is not False):
            for person, said in _people(tool, call.arguments).items():
                if person not in named:
                    yield ConductFinding(
                        "wrong_recipient", call.seq, f"{tool} went to {said!r}, whom no solution names", tool
                    )


def _people(tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    """People that a call reaches, in a form to compare, each as it was written."""
    if not reaches_a_person(tool):
        return {}
    given = [value for name, value in arguments.items() if name in RECIPIENTS]
    found: dict[str, str] = {}
    for person in (item for value in given for item in (value if is_array(value) else [value])):
        if isinstance(person, str) and person.strip():
            digits = "".join(char for char in person if char.isdigit())
            spoken = any(char.isalpha() for char in person)
            found[digits if digits and not spoken else " ".join(person.casefold().split())] = person
    return found


@dataclass(frozen=True, slots=True)
class Deviation:
    """Deviation of a session from one solution; ``place`` is the solution's number, ``met`` how many calls agree."""

    place: int
    met: int
    excess: tuple[ConductFinding, ...]
    order: tuple[ConductFinding, ...]


def deviation(heard: ObservedSession, scenario: Scenario | None) -> Deviation:
    """The deviation from the nearest solution: fewest excess actions, then best order, then most agreement."""
    compare = AsWritten(rouge_l, THRESHOLD, heard.labels, lambda _tool: FREE_TEXT, RECIPIENTS, strict=True)
    found: list[Deviation] = []
    for place, solution in enumerate(heard.solutions):
        wanted = tuple(call for turn in solution for call in turn.calls)
        pairs = align(heard.calls, wanted, compare)
        order = tuple(_disorder(heard, wanted, pairs, scenario))
        found.append(Deviation(place, len(pairs), tuple(_excess(heard, wanted, pairs)), order))
    return min(found, key=lambda item: (len(item.excess), len(item.order), -item.met))


def align(calls: Sequence[ToolCall], wanted: Sequence[ReferenceCall], compare: FirstDifference) -> dict[int, int]:
    """Pair the calls of a session with those of a solution, from position to position.

    As many as possible are paired in the solution's order, and then the rest out of order. Takes
    len(calls) * len(wanted) comparisons.
    """
    fits = [[c.called == w.tool and compare(c, w) is None for w in wanted] for c in calls]
    longest = common_tails(fits, len(wanted))
    pairs: dict[int, int] = {}
    i = j = 0
    while i < len(calls) and j < len(wanted):
        if fits[i][j] and longest[i][j] == longest[i + 1][j + 1] + 1:
            pairs[i] = j
            i, j = i + 1, j + 1
        elif longest[i + 1][j] >= longest[i][j + 1]:
            i += 1
        else:
            j += 1
    left = [place for place in range(len(wanted)) if place not in pairs.values()]
    for place in left:
        taken = next((n for n in range(len(calls)) if n not in pairs and fits[n][place]), None)
        if taken is not None:
            pairs[taken] = place
    return pairs


def _excess(
    heard: ObservedSession, wanted: Sequence[ReferenceCall], pairs: Mapping[int, int]
) -> Iterator[ConductFinding]:
    """The actions that no call of the solution, the same or of the same tool with other arguments, answers for."""
    met = set(pairs.values())
    left = [call.tool for place, call in enumerate(wanted) if place not in met and call.error is None]
    aligned = {heard.calls[place].seq for place in pairs}
    for call in heard.deeds:
        tool = call.called
        if call.seq in aligned:
            continue
        if tool in left:
            left.remove(tool)
        else:
            yield ConductFinding(
                "excess_actions", call.seq, f"{tool} was called once more than the solution does", tool
            )


def _disorder(
    heard: ObservedSession, wanted: Sequence[ReferenceCall], pairs: Mapping[int, int], scenario: Scenario | None
) -> Iterator[ConductFinding]:
    """The actions that came before something of the solution that they depend on, each once."""
    acted = {call.seq for call in heard.deeds}
    for early, place in sorted(pairs.items()):
        call = heard.calls[early]
        later = sorted((late, other) for late, other in pairs.items() if late > early and other < place)
        for late, other in later if call.seq in acted else ():
            first, reason = heard.calls[late], None
            value = _taken(heard, call, first)
            if value is not None:
                reason = f"{value!r} comes from {first.called}, which was called after it"
            elif scenario and heard.labels.get(wanted[other].tool):
                problem = rehearsal_of(scenario, wanted).swapped(other, place)
                reason = problem and f"before {first.called} {problem}"
            if reason:
                yield ConductFinding("wrong_order", call.seq, f"{call.called} came too early: {reason}", call.called)
                break


def _taken(heard: ObservedSession, early: ToolCall, late: ToolCall) -> Any:
    """A telling value among the arguments of a call that only a later call returned."""
    if late.error is not None:
        return None
    returned = {str(leaf) for leaf in leaves(late.result)}
    for value in filter(_telling, leaves(early.arguments)):
        if str(value) in returned and not any(str(value) in text_of(item) for item in heard.seen_before(early.seq)):
            return value
    return None


def _telling(value: Any) -> bool:
    """True if a value is hardly the same by chance."""
    if isinstance(value, str):
        return len(value) >= 4
    return is_number(value) and 1000 <= abs(value) < 1e15


def repeats(heard: ObservedSession) -> Iterator[ConductFinding]:
    """Calls that had been made before, with the same arguments and the same outcome, and nothing changed in between.

    That the outcome is the same shows that no time passed which matters. Where a log records no state, any call that
    may have acted is taken for a change.
    """
    recorded = heard.trajectory.started.world is not None
    known: dict[Hashable, ToolCall] = {}
    for call in heard.calls:
        changed = bool(call.changes) if recorded else heard.may_have_acted(call)
        form = (call.name, call.raw_arguments, form_of(call.arguments), call.error, form_of(call.result))
        before = known.get(form)
        if before is not None and not changed and not call.meta.get("result_missing"):
            about = f"{call.called} was called at #{before.seq} with the same arguments and the same outcome"
            yield ConductFinding("needless_repeats", call.seq, about, call.called)
        if changed:
            known.clear()
        known.setdefault(form, call)


def persistent_errors(heard: ObservedSession) -> Iterator[ConductFinding]:
    """The calls that fail for the form of what an earlier one failed for, each against the first one.

    Two failed calls of a tool have the same error of form if both are unreadable, or have the same unknown, missing or
    wrongly typed arguments, or if the tool itself refuses the same argument for its form in the same words. Calls that
    were sent together cannot know of each other. What a state forbids, such as a call without a network, is not an
    error of form. In prefix replay the agent forgets between two messages of the user.

    Source: ToolTalk, section 4.2: models persist after an execution error; ToolScan, section 5, feedback.
    """
    known: dict[Hashable, ToolCall] = {}
    for event in heard.trajectory.events:
        if isinstance(event, Message):
            if heard.replayed and event.sender == "user":
                known.clear()
        elif event.caller == "agent" and event.error is not None:
            form = _form_error(heard, event)
            first = known.setdefault(form, event) if form else event
            if first.batch != event.batch:
                about = f"{event.called} fails as at #{first.seq}, which was told: {event.error.message[:80]}"
                yield ConductFinding("format_persistence", event.seq, about, event.called)


def _form_error(heard: ObservedSession, call: ToolCall) -> Hashable:
    """Describe an error in the form of a failed call; None if it failed for another reason."""
    if call.error is None:
        return None
    tool, kind, given = call.called, call.error.kind, call.arguments.keys()
    if kind == "invalid_format":
        return tool, kind
    if kind == "unknown_argument":
        return tool, kind, frozenset(given - heard.described(tool).keys())
    if kind == "missing_argument":
        return tool, kind, heard.required(tool).difference(given)
    named = frozenset(given & set(_WORD.findall(call.error.message)))
    if kind == "wrong_type":
        return tool, kind, named
    if kind in ("wrong_value", "execution") and named and call.error.type not in OF_STATE:
        return (tool, kind, _VALUES.sub("", call.error.message)) if _FORM.search(call.error.message) else None
    return None
