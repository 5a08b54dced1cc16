"""Kinds of mistake in a turn: the classes of Table 14, and the finer kinds of Tables 11 to 13.

Policy: the class follows from which tools were called and which were wanted, as sets in compat and counted otherwise.
The finer kinds are told by comparing calls and by which words had come up before; what would take a reader's judgement
is left out, so a turn may have none, and where a kind rests on words it is claimed only if no word supports the value.
Source: MTU-Bench, appendix E.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from sandbox_grader.grading.metric import Mode
from sandbox_grader.papers.mtu_bench.compare import given_arguments, same_arguments, same_value
from sandbox_grader.papers.mtu_bench.dialogue import Dialogue, DialogueCall
from sandbox_grader.papers.mtu_bench.hearing import HeardSoFar, SearchableSession
from sandbox_grader.papers.mtu_bench.rows import Scored

ErrorClass = Literal["missed", "excessive", "incorrect", "parameter", "format", "order"]

CLASSES: Final[tuple[ErrorClass, ...]] = ("missed", "excessive", "incorrect", "parameter", "format")
"""The paper's classes. ``order``, the right calls in another order, is ours and never occurs in compat."""

KINDS: Final = (
    "tool_selection", "parameter_omission", "parameter_misalignment",         # Table 11
    "repeated_call", "parameter_hallucination", "parameter_inheritance",      # Table 12
    "fewer_tools", "more_tools", "wrong_tool",                                # Table 13
)  # fmt: skip


def error_class(scored: Scored, mode: Mode) -> ErrorClass | None:
    """The class of a turn's mistake, or None.

    ``format``: a call was lost in reading, whatever else. ``missed``: only too few tools were called; ``excessive``:
    only too many; ``incorrect``: both. ``parameter``: the right tools, otherwise than wanted. In compat a turn with
    tools too many is ``excessive`` although it may score as right.
    """
    if scored.broken:
        return "format"
    called, wanted = _tools(scored.predicted, mode), _tools(scored.expected, mode)
    lacking, beyond = bool(wanted - called), bool(called - wanted)
    if lacking or beyond:
        return "incorrect" if lacking and beyond else "missed" if lacking else "excessive"
    if scored.score.right:
        return None
    same = all(same_arguments(given, needed) for given, needed in _paired(scored))
    return "order" if same and mode != "compat" else "parameter"


def error_kinds(
    scored: Scored, error: ErrorClass | None, whole: Dialogue, earlier: Sequence[DialogueCall], talk: SearchableSession
) -> tuple[str, ...]:
    """The finer kinds of a turn's mistake, in the order of :data:`KINDS`.

    ``earlier`` are the calls that the agent had behind it: its own, or the reference's where the history was given.
    Repetition, inheritance and hallucination are told in conversations of several turns only.
    """
    heard = talk.by(scored.turn) if whole.many_turns and error in {"excessive", "parameter"} else None
    found: set[str] = set()
    if error == "missed" and whole.many_tools:
        found.add("fewer_tools")
    elif error == "incorrect":
        found.add("wrong_tool" if whole.many_tools else "tool_selection")
    elif error == "excessive":
        found = {"more_tools"} if whole.many_tools else set()
        found |= _excess(scored, earlier, heard) if heard else set()
    elif error == "parameter":
        found = _parameters(scored, heard)
    return tuple(kind for kind in KINDS if kind in found)


# -- tools --------------------------------------------------------------------------------------------------------


def _tools(calls: Sequence[tuple[str, Mapping[str, Any]]], mode: Mode) -> Counter[str]:
    names = [name.strip() for name, _ in calls if name.strip()]
    return Counter(set(names) if mode == "compat" else names)


def _excess(scored: Scored, earlier: Sequence[DialogueCall], heard: HeardSoFar) -> set[str]:
    found: set[str] = set()
    wanted = {name.strip() for name, _ in scored.expected}
    for name, arguments in ((name.strip(), given) for name, given in scored.predicted if name.strip() not in wanted):
        if any(_repeats(name, arguments, call) for call in earlier):
            found.add("repeated_call")
        elif any(map(heard.nothing_of, arguments.values())):
            found.add("parameter_hallucination")
    return found


def _repeats(name: str, arguments: Mapping[str, Any], call: DialogueCall) -> bool:
    """True if an earlier call asked for all that this one asks for."""
    if name != call.name:
        return False
    given, before = given_arguments(arguments), given_arguments(call.arguments)
    told = all(key in before and same_value(value, before[key]) for key, value in given.items())
    return told and bool(given or not before)


# -- parameters ---------------------------------------------------------------------------------------------------


def _paired(scored: Scored) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Arguments beside the wanted ones: of the n-th call of a tool those of the n-th wanted one of that tool."""
    waiting = [(name.strip(), given) for name, given in scored.predicted]
    pairs: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = []
    for name, needed in scored.expected:
        at = next((at for at, (other, _) in enumerate(waiting) if other == name.strip()), None)
        if at is not None:
            pairs.append((waiting.pop(at)[1], needed))
    return pairs


def _parameters(scored: Scored, heard: HeardSoFar | None) -> set[str]:
    found: set[str] = set()
    for given, needed in _paired(scored):
        said, wanted = given_arguments(given), given_arguments(needed)
        for name in wanted.keys() - said.keys():
            found |= {"parameter_omission"} | _inheritance(wanted[name], heard)
        for name, value in said.items():
            if name not in wanted or not same_value(value, wanted[name]):
                made_up = heard is not None and heard.nothing_of(value)
                found |= _inheritance(wanted.get(name), heard) or {
                    "parameter_hallucination" if made_up else "parameter_misalignment"
                }
    return found


def _inheritance(wanted: Any, heard: HeardSoFar | None) -> set[str]:
    inherited = heard is not None and wanted is not None and heard.only_before(wanted)
    return {"parameter_inheritance"} if inherited else set()
