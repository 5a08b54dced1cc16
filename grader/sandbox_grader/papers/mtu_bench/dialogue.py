"""Input of the metric: a session as turns of calls beside the reference's turns, and its setting.

Policy: a turn is what the agent calls after one user message and before the next. Where a session has fewer turns than
the reference nothing was called in the rest; where it has more, the reference wants nothing there, and a tail of turns
without calls is not a turn at all. A session that did not come to an end of its own is not graded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sandbox_grader.grading.course import TALK, is_replay
from sandbox_grader.grading.metric import Mode, Subject
from sandbox_grader.grading.references import ReferenceTurns
from sandbox_grader.grading.retelling import solutions_of
from sandbox_grader.grading.values import is_array, is_object
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.trajectory import INFRASTRUCTURE, Message, ReferenceTurn, ToolCall, Trajectory

FORMAT: Final = "mtu"
"""What ``origin.format`` says in a log imported from MTU-Bench."""

CALLS: Final = "calls"
"""What ``origin.answers`` says where tools were called, so that there is no text to read calls from."""

FORMS: Final = ("S-S", "S-M", "M-S", "M-M")
"""The four settings by number of turns, then by number of tools per turn: single or multi."""


@dataclass(frozen=True, slots=True)
class DialogueCall:
    """A call by canonical name; ``malformed`` where its arguments could not be read as an object."""

    name: str
    arguments: Mapping[str, Any]
    malformed: bool = False


@dataclass(frozen=True, slots=True)
class DialogueTurn:
    """Calls of the agent after one user message.

    ``start`` is the number of events before it, ``history`` the conversation before where the source shows it as a
    text. ``text`` is the model's answer word for word and ``answer`` the ground truth as written, both in logs of
    MTU-Bench only.
    ``malformed`` tells that something set out to be a call and was none.
    """

    id: str = ""
    user: str = ""
    calls: tuple[DialogueCall, ...] = ()
    malformed: bool = False
    start: int = 0
    history: str | None = None
    text: str | None = None
    answer: Mapping[str, Mapping[str, Any]] | None = None


Wanted = tuple[DialogueCall, ...]
"""What a reference calls in one turn."""

_Pairs = tuple[tuple[DialogueTurn, Wanted], ...]
"""A dialogue beside one reference, turn by turn."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A session beside each of its references. ``form`` is the setting, or for OOD the one it resembles.

    ``forced`` tells that every turn was answered on the reference's history instead of the agent's own.
    """

    setting: str
    form: str
    alternatives: tuple[_Pairs, ...]
    forced: bool = False

    @property
    def many_turns(self) -> bool:
        """True if the dialogue is of the kind M-S or M-M."""
        return self.form[0] == "M"

    @property
    def many_tools(self) -> bool:
        """True if the dialogue is of the kind S-M or M-M."""
        return self.form[-1] == "M"


def dialogue(subject: Subject, mode: Mode) -> Dialogue | str:
    """The dialogue of a session beside its references in a mode, or what its log lacks to be one."""
    session = subject.trajectory
    if session.ended is None:
        return "the log does not show that the session ended"
    if session.ended.reason in INFRASTRUCTURE:
        return f"the session ended as {session.ended.reason!r}, which says nothing about the agent"
    references = solutions_of(subject, mode)
    if not references:
        return "there is no reference solution to compare with"
    origin = session.started.origin or {}
    if origin.get("format") == FORMAT:
        return _imported(origin, _turns(session), references[0])
    solutions = [tuple(map(_wanted, solution)) for solution in references]
    turns = [replace(turn, id=f"{session.started.session}/{n}") for n, turn in enumerate(_turns(session), start=1)]
    used = max((number for number, turn in enumerate(turns, start=1) if turn.calls or turn.malformed), default=1)
    form = form_of(solutions)
    alternatives: list[_Pairs] = []
    for solution in solutions:
        length = max(used, len(solution))
        done = [*turns, *[DialogueTurn()] * (length - len(turns))][:length]
        alternatives.append(tuple(zip(done, (*solution, *[()] * (length - len(solution))), strict=True)))
    return Dialogue(form, form, tuple(alternatives), is_replay(session))


def form_of(solutions: Sequence[Sequence[Wanted]]) -> str:
    """The setting that references belong to: by whether any has several turns, and any several calls in one turn."""
    many_turns = any(len(solution) > 1 for solution in solutions)
    many_tools = any(len(wanted) > 1 for solution in solutions for wanted in solution)
    return f"{'M' if many_turns else 'S'}-{'M' if many_tools else 'S'}"


def _wanted(turn: ReferenceTurn) -> Wanted:
    return tuple(DialogueCall(call.tool, call.arguments) for call in turn.calls)


# -- logs of MTU-Bench --------------------------------------------------------------------------------------------


def _imported(origin: Mapping[str, Any], turns: Sequence[DialogueTurn], solution: ReferenceTurns) -> Dialogue | str:
    """A dialogue of the benchmark: setting, ids and ground truth are those that the import found."""
    setting, form, rows = origin.get("setting"), origin.get("form"), origin.get("rows")
    if not isinstance(setting, str) or form not in FORMS or not is_array(rows) or not all(map(_is_row, rows)):
        return "the log says that it comes from MTU-Bench but not of which setting and rows; import it again"
    if not rows or not len(rows) == len(turns) == len(solution):
        messages = counted(len(turns), "user message")
        return f"the log has {messages} for {counted(len(rows), 'row')} of MTU-Bench; import it again"
    done = [replace(turn, id=row["id"], answer=row["answer"]) for turn, row in zip(turns, rows, strict=True)]
    if any(turn.text is None for turn in done):
        return "a turn has no response"
    if origin.get("answers") == CALLS:
        done = [replace(turn, text=None) for turn in done]
    return Dialogue(setting, form, (tuple(zip(done, map(_wanted, solution), strict=True)),), forced=True)


def _is_row(row: Any) -> bool:
    if not is_object(row) or not isinstance(row.get("id"), str):
        return False
    answer = row.get("answer")
    return is_object(answer) and all(map(is_object, answer.values()))


# -- turns --------------------------------------------------------------------------------------------------------


def _turns(session: Trajectory) -> list[DialogueTurn]:
    """The session cut at the user's messages. What comes before the first one belongs to it."""
    events = session.events
    starts = [at for at, event in enumerate(events) if isinstance(event, Message) and _asks(event)] or [0]
    turns: list[DialogueTurn] = []
    for begin, start, end in zip([0, *starts[1:]], starts, [*starts[1:], len(events)], strict=True):
        messages = [event for event in events[begin:end] if isinstance(event, Message)]
        calls: list[DialogueCall] = []
        for call in (event for event in events[begin:end] if isinstance(event, ToolCall)):
            talk = session.started.user_channel == "tool" and call.tool == TALK
            if call.caller == "agent" and not talk:  # its work in the world, and not its way to speak
                unread = bool(call.raw_arguments and call.raw_arguments.strip())
                malformed = unread or (call.error is not None and call.error.kind == "invalid_format")
                calls.append(DialogueCall(call.called, call.arguments, malformed))
        asked = next(filter(_asks, messages), None)
        replies = [message for message in messages if message.sender == "agent"]
        history = asked.meta.get("history") if asked else None
        turn = DialogueTurn(
            user=asked.content if asked else "",
            calls=tuple(calls),
            malformed=any(call.malformed for call in calls) or any("fault" in reply.meta for reply in replies),
            start=start,
            history=history if isinstance(history, str) else None,
            text=replies[0].content if replies else None,
        )
        turns.append(turn)
    return turns


def _asks(message: Message) -> bool:
    return message.sender == "user" and message.recipient == "agent"
