"""Input of ToolScan: the agent's calls, those that ran, and those that repeat an earlier one.

Policy: faults are what the log says they are (``error.kind``). A call ran when nothing kept it from running; one that
then failed by itself ran as well. It is a repetition when the same call ran before and nothing changed the world in
between; a call struck by an injected fault is none to repeat. Sessions imported from ToolScan end at their first
``finish``, which is not a call of the task.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox_grader.grading.values import form_of, is_array, is_object, same_value
from sandbox_grader.papers.toolscan.loop import FINISH, EpisodeTally
from sandbox_mcp.engine.tools.injected import INJECTED
from sandbox_mcp.engine.trajectory import ErrorKind, SessionStarted, ToolCall, Trajectory

FORMAT = "toolscan"
"""``origin.format`` of sessions imported from recorded ToolScan runs."""

PATTERN: Mapping[ErrorKind, str] = {
    "unknown_tool": "ifn",
    "invalid_format": "ife",
    "unknown_argument": "ian",
    "missing_argument": "missing_required",
    "wrong_type": "iat",
}
"""The error pattern of each kind of fault; a tool's own errors and refusals have none."""


@dataclass(frozen=True, slots=True)
class EpisodeStep:
    """One call of the agent: its error pattern if any, whether it ran, and the id of the call it repeats."""

    call: ToolCall
    pattern: str | None
    ran: bool
    repeats: str | None

    @property
    def tool(self) -> str:
        """The canonical name of the tool, or the name that was called where no tool has it."""
        return self.call.tool or self.call.name

    @property
    def failed(self) -> bool:
        """True if the call was right in form and failed all the same, by itself or because it was refused."""
        return self.call.error is not None and self.pattern is None


@dataclass(frozen=True, slots=True)
class ToolScanRun:
    """What a session comes down to. ``finished`` and ``correct`` are None where nothing tells."""

    steps: tuple[EpisodeStep, ...]
    finished: bool | None
    correct: bool | None

    @property
    def ran(self) -> tuple[EpisodeStep, ...]:
        """The calls that ran, in order."""
        return tuple(step for step in self.steps if step.ran)


def is_toolscan(started: SessionStarted) -> bool:
    """True if a session was imported from a recorded ToolScan run."""
    return (started.origin or {}).get("format") == FORMAT


def case_of(started: SessionStarted) -> Mapping[str, Any]:
    """Case of an imported session besides messages and ground truth; nothing for any other session."""
    case = (started.origin or {}).get("case") if is_toolscan(started) else None
    return case if is_object(case) else {}


def is_whole(case: Mapping[str, Any]) -> bool:
    """True if the tools and observations of a case have the form in which the import keeps them."""
    apis, observations = case.get("api_list"), case.get("observations") or ()
    told = is_array(observations) and all(isinstance(item, str) for item in observations)
    return told and is_object(apis) and all(map(_is_api, apis.values()))


def _is_api(api: Any) -> bool:
    parameters = api.get("parameters") if is_object(api) else None
    return is_object(parameters) and all(is_object(spec) and "type" in spec for spec in parameters.values())


def read_run(trajectory: Trajectory) -> ToolScanRun:
    """The calls of a session and how it ended."""
    calls = [event for event in trajectory.events if isinstance(event, ToolCall)]
    if not is_toolscan(trajectory.started):
        end = trajectory.ended
        finished = None if end is None or end.reason == "recorded" else end.reason == "user_ended"
        return ToolScanRun(tuple(_steps(calls, feedback=True)), finished, None)
    case = case_of(trajectory.started)
    end = next((i for i, call in enumerate(calls) if call.name == FINISH and call.error is None), None)
    correct = None
    if case.get("goal_type") == 1:
        given, wanted = calls[end].arguments.get("answer") if end is not None else None, case.get("answer")
        correct = end is not None and (same_value(given, wanted) or str(given) == str(wanted))
    return ToolScanRun(tuple(_steps(calls[:end], feedback=case.get("feedback") is not False)), end is not None, correct)


def tally(run: ToolScanRun) -> EpisodeTally:
    """Count what the original would count in a session that was not played by its own loop.

    A call without the right format counts twice where it names nothing, and else also as a wrong function or argument
    name, as the original goes on with what it could read.
    """
    counted = EpisodeTally(finished=bool(run.finished))
    for step in run.steps:
        named, known = bool(step.call.name), step.call.tool is not None
        broken = step.pattern == "ife"
        counted.ifn += step.pattern == "ifn" or (broken and named and not known)
        counted.ian += step.pattern in {"ian", "missing_required"} or (broken and known)
        counted.iat += step.pattern == "iat"
        counted.ife += broken * (1 if named else 2)
        counted.missing += step.pattern == "missing_required"
        if step.ran and INJECTED not in step.call.meta:
            counted.execute(step.tool, dict(step.call.arguments))
    return counted


def _steps(calls: Sequence[ToolCall], *, feedback: bool) -> Iterator[EpisodeStep]:
    since_change: dict[Hashable, str] = {}
    for call in calls:
        error = call.error
        known = call.tool is not None and error is not None and error.kind != "invalid_format"
        ran = call.caller == "agent" and (error is None or error.kind == "execution" or (known and not feedback))
        form = (call.called, form_of(call.arguments))
        if call.caller == "agent":
            earlier = since_change.get(form) if ran else None
            yield EpisodeStep(call, PATTERN.get(call.error.kind) if call.error else None, ran, earlier)
        if call.changes:
            since_change.clear()
        if ran and INJECTED not in call.meta:
            since_change[form] = call.call
