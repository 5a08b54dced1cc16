"""Errors of form that are made again although the environment has said what is wrong.

Policy: two failed calls of a tool have the same error of form if both are unreadable, or have the same unknown, missing
or wrongly typed arguments, or if the tool itself refuses the same argument for its form in the same words. Calls that
were sent together cannot know of each other. What a state forbids, such as a call without a network, is not an error of
form. In prefix replay the agent forgets between two messages of the user.

Source: ToolTalk, section 4.2: models persist after an execution error; ToolScan, section 5, feedback.
"""

import re
from collections.abc import Hashable, Iterator

from sandbox_grader.conduct.ground import is_replay
from sandbox_grader.conduct.observed import ConductFinding, ObservedSession
from sandbox_mcp.trajectory import Message, ToolCall

_FORM = re.compile(r"\b(?:expected|format|must|should|invalid|valid|malformed|parse|like)\b", re.IGNORECASE)
_VALUES = re.compile(r"'[^']{0,200}'|\"[^\"]{0,200}\"|\d+")
_WORD = re.compile(r"\w+")
OF_STATE = frozenset({"ConnectionError", "PermissionError", "NoDataError", "DuplicateError", "KeyError", "LookupError"})
"""Errors of tools that tell of the world and not of how it was asked."""


def persistent_errors(heard: ObservedSession) -> Iterator[ConductFinding]:
    """The calls that fail for the form of what an earlier one failed for, each against the first one."""
    known: dict[Hashable, ToolCall] = {}
    forgets = is_replay(heard)
    for event in heard.trajectory.events:
        if isinstance(event, Message):
            if forgets and event.sender == "user":
                known.clear()
        elif event.caller == "agent" and event.error is not None:
            form = _form_error(heard, event)
            first = known.setdefault(form, event) if form else event
            if first.batch != event.batch:
                about = f"{event.called} fails as at #{first.seq}, which was told: {event.error.message[:80]}"
                yield ConductFinding("format_persistence", event.seq, about, event.called)


def _form_error(heard: ObservedSession, call: ToolCall) -> Hashable:
    """What is wrong with the form of a failed call; None if it failed for another reason."""
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
