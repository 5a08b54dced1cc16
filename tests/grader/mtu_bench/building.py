"""Builders for these tests: sessions of ours with a reference, and files of the benchmark's form."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sandbox_grader.grading.metric import Subject, Verdict
from sandbox_grader.importers import Imported, importer
from sandbox_grader.papers.mtu_bench import MtuBench

from sandbox_mcp.engine.trajectory import (
    CallError,
    EndReason,
    MemoryLog,
    Message,
    ReferenceCall,
    ReferenceTurn,
    SessionEnded,
    SessionStarted,
    ToolCall,
    Trajectory,
    parse_trajectory,
    to_line,
)

Calls = Sequence[tuple[str, dict[str, Any]]]

ONE = "Answer with one call.\nAction: The name of the API to be called.\nThese are the APIs that you can use:\n"
MANY = "Answer with calls.\nAction: The name of the APIs.\nThese are the APIs that you can use:"
TOOLS: list[dict[str, Any]] = [
    {"name": "lamp_on", "description": "Light a lamp.", "required_parameters": ["room"], "optional_parameters": {}},
    {"name": "lamp_off", "description": "Put it out.", "required_parameters": ["room"], "optional_parameters": {}},
]


def solution(*turns: Calls) -> tuple[ReferenceTurn, ...]:
    """A reference solution: per user message the calls, each a name and its arguments."""
    return tuple(ReferenceTurn(calls=tuple(ReferenceCall(tool=t, arguments=a) for t, a in turn)) for turn in turns)


def session(
    *turns: Calls,
    user: Sequence[str] = (),
    results: Sequence[Any] = (),
    reference: tuple[tuple[ReferenceTurn, ...], ...] = (),
    end: EndReason | None = "user_ended",
    **started: Any,
) -> Trajectory:
    """A session in which the agent makes the given calls after each of as many user messages.

    ``user`` has the texts of these messages and ``results`` those of the calls, one after the other.
    """
    log = MemoryLog()
    log.write(SessionStarted(session="s", scenario="s", reference=reference, **started))
    outcomes = iter(results)
    seq = 0
    for number, calls in enumerate(turns):
        text = user[number] if number < len(user) else "Please do it."
        seq += 1
        log.write(_say(seq, "user", "agent", text))
        for name, arguments in calls:
            seq += 1
            log.write(_call(seq, name, arguments, next(outcomes, None)))
        seq += 1
        log.write(_say(seq, "agent", "user", "Done."))
    if end is not None:
        log.write(SessionEnded(seq=seq + 1, clock=0.0, reason=end))
    return log.trajectory()


def _say(seq: int, sender: Any, recipient: Any, text: str) -> Message:
    return Message(seq=seq, clock=0.0, sender=sender, recipient=recipient, content=text, visible_to=(sender, recipient))


def _call(seq: int, name: str, arguments: dict[str, Any], result: Any) -> ToolCall:
    error = result if isinstance(result, CallError) else None
    return ToolCall(
        seq=seq, clock=0.0, call=f"c{seq}", batch=f"b{seq}", caller="agent", name=name, tool=name, arguments=arguments,
        result=None if error else result, error=error,
    )  # fmt: skip


def grade(turns: Sequence[Calls], *wanted: Sequence[Calls], mode: Any = "paper", **kept: Any) -> Verdict:
    """The verdict on a session that made these calls, held against alternative references."""
    solutions = tuple(solution(*turns_wanted) for turns_wanted in wanted)
    return MtuBench().grade(Subject(session(*turns, **kept), solutions), mode)


# -- files of the benchmark ---------------------------------------------------------------------------------------


def asking(user: str, *, many: bool = False, history: str = "", tools: Any = TOOLS) -> str:
    """A question of the benchmark's form."""
    before = f"\nHistory Dialog: \n{history}" if history else ""
    return f"{MANY if many else ONE}{json.dumps(tools)}{before}\nUser: {user}"


def row(id_: str, answer: Any, question: str | None = None) -> dict[str, Any]:
    """A row of the benchmark."""
    return {"id": id_, "question": asking("Light the lamp.") if question is None else question, "answer": answer}


def says(id_: str, response: str, model: str = "parrot") -> dict[str, Any]:
    """A model's row."""
    return {"id": id_, "model": model, "response": response}


def react(*calls: tuple[str, Any], thought: str = "Let me see.") -> str:
    """A model's answer that makes the given calls."""
    blocks = [f"Action: {name}\nAction Input: {json.dumps(arguments)}" for name, arguments in calls]
    return "\n".join([f"Thought: {thought}", *blocks])


def write(path: Path, *rows: Any) -> Path:
    """A file of JSON Lines; texts are written as they are."""
    path.write_text("".join(f"{item if isinstance(item, str) else json.dumps(item)}\n" for item in rows), "utf-8")
    return path


def imported(folder: Path, rows: Sequence[Any], responses: Sequence[Any] = ()) -> list[Imported]:
    """What the importer makes of a benchmark file and, if any are given, a file of responses."""
    paths = [write(folder / "bench.jsonl", *rows)]
    if responses:
        paths.append(write(folder / "said.jsonl", *responses))
    return list(importer("mtu")(paths))


def reread(session_: Imported) -> Subject:
    """The session as the grader gets it: written as a log, read again."""
    trajectory = parse_trajectory("".join(map(to_line, session_.events)).encode(), session_.name)
    return Subject(trajectory, trajectory.started.reference)


def graded(folder: Path, rows: Sequence[Any], responses: Sequence[Any], mode: Any = "compat") -> dict[str, Any]:
    """The summary of a benchmark file with responses, through log and back."""
    metric = MtuBench()
    subjects = list(map(reread, imported(folder, rows, responses)))
    return dict(metric.summarise([(subject, metric.grade(subject, mode)) for subject in subjects], mode))
