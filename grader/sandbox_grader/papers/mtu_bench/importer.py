"""Imports MTU-Bench: its benchmark files with the responses of a model, one session per dialogue.

Policy: a response is kept word for word as the agent's message, and what a reader takes from it as calls, which were
never executed. The setting is computed from the dialogues and answers of a file. A turn that has no response is left
out, and a dialogue that has none is imported as abandoned, so that nothing scores it. Which hard cases a dialogue is
of the published files do not say; it is told by what the rows hold and not by judgement, and so approximates the
authors' labels.
Source: MTU-Bench, sections 2.1 and 2.2, table 8; the files of its repository.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from sandbox_grader.importers.base import Imported
from sandbox_grader.importers.reading.build import CallOutcome, Names, SessionBuilder
from sandbox_grader.importers.reading.values import Given, stated
from sandbox_grader.papers.mtu_bench.dialogue import CALLS, FORMAT
from sandbox_grader.papers.mtu_bench.hearing import HeardSoFar, words_of
from sandbox_grader.papers.mtu_bench.published.files import BenchmarkRow, DialogueRows, Response, dialogues
from sandbox_grader.papers.mtu_bench.published.prompt import OfferedTool, read_history
from sandbox_grader.papers.mtu_bench.react import TextCall, read_react
from sandbox_mcp.engine.trajectory import CallError, ReferenceCall, ReferenceTurn

MOST_PARAMETERS, MOST_TOOLS, LONGEST_NONSENSE = 6, 4, 5
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz"
_REPEATED: Final = re.compile(r"(.)\1+")

__all__ = (
    "CALLS", "FORMAT", "BenchmarkRow", "DialogueRows", "OfferedTool", "Response",
    "dialogues", "hard_classes", "read", "read_history", "session",
)  # fmt: skip


def read(paths: Sequence[Path]) -> Iterator[Imported]:
    """Import benchmark files and response files, in any order; rows are told apart by what they hold.

    Categories are the setting and the hard cases that a dialogue is of. ``origin`` tells the setting, the form (how
    many turns and tools), and each row's id with its ground truth as written, blanks in tool names included. Messages
    name their row in ``meta``; the user's message also has the conversation before it, as the model was shown it.

    Raises:
        ImportFormatError: a file is broken, or a response belongs to no row or not clearly to one.
    """
    names = Names()
    for dialogue in dialogues(paths):
        yield session(dialogue, names.unique(dialogue.name, dialogue.run))


def session(dialogue: DialogueRows, name: str) -> Imported:
    """The session that a dialogue with its answers makes, whether these were read from a file or have just been given.

    One whose first row has no answer is taken for abandoned.
    """
    rows, first = [row for row, _ in dialogue.rows], dialogue.rows[0][1]
    builder = SessionBuilder(FORMAT, Path(rows[0].path).name, dialogue.name, dialogue.losses)
    builder.head = replace(
        builder.head,
        categories=(dialogue.setting, *hard_classes(dialogue)),
        agent=stated(model=first.model if first is not None else None),
        reference=(tuple(ReferenceTurn(calls=_reference(row.answer)) for row in rows),),
    )
    builder.origin |= {
        "setting": dialogue.setting,
        "form": dialogue.form,
        "rows": [{"id": row.label, "answer": row.answer} for row in rows],
        **({"answers": CALLS} if any(response and response.calls is not None for _, response in dialogue.rows) else {}),
    }
    known = _offer(builder, rows)
    for row, response in dialogue.rows:
        question = row.question
        if question.user is None:
            builder.lose(row.label, "the user's turn cannot be told from the rest of the question, which is kept whole")
        before: dict[str, Any] = {"history": question.history} if question.history else {}
        builder.say("user", "agent", row.text if question.user is None else question.user, row=row.label, **before)
        if response is not None:
            _answer(builder, row, response, known)
    if first is None:
        return builder.finish(name, "abandoned", "no response to any turn of this dialogue was given")
    if all(response is None or response.calls is None for _, response in dialogue.rows):
        builder.lose("results", "no call was executed: there are no results and no state")
    return builder.finish(name, "recorded")


def _reference(answer: Mapping[str, Mapping[str, Any]]) -> tuple[ReferenceCall, ...]:
    return tuple(ReferenceCall(tool=name.strip(), arguments=given) for name, given in answer.items() if name.strip())


def _offer(builder: SessionBuilder, rows: Sequence[BenchmarkRow]) -> frozenset[str]:
    """Add the tools that the questions offer, and those that only the ground truth knows.

    Gives the names of all, or of none where no list of tools could be read.
    """
    offered = {tool.name: tool for row in rows for tool in row.question.tools or ()}
    for tool in offered.values():
        builder.offer(tool.name, tool.description, tool.schema)
    for row in (row for row in rows if row.question.tools is None):
        builder.lose(row.label, "its list of tools cannot be read")
    wanted = dict.fromkeys(call.tool for row in rows for call in _reference(row.answer))
    for name in (name for name in wanted if offered and name not in offered):
        builder.offer(name, "", {"type": "object"})
        builder.lose("tools", f"the ground truth calls {name!r}, which no question offers; added without parameters")
    return frozenset(offered) | frozenset(wanted) if offered else frozenset()


def _answer(builder: SessionBuilder, row: BenchmarkRow, response: Response, known: frozenset[str]) -> None:
    if response.calls is not None:
        for call in response.calls:
            given = Given(dict(call.arguments), call.raw_arguments)
            opened = builder.call(call.name, given, batch=call.batch, offered=call.tool is not None, row=row.label)
            builder.answer(opened, CallOutcome(call.result, call.error, stated=True))
        builder.say("agent", "user", response.text, row=row.label, **response.meta)
        return
    reading = read_react(response.text)
    fault: dict[str, Any] = {"fault": reading.fault} if reading.fault else {}
    builder.say("agent", "agent" if reading.calls else "user", response.text, row=row.label, **fault, **response.meta)
    batch = builder.batch()
    for said in reading.calls:
        opened = builder.call(said.name, said.given, batch=batch, row=row.label)
        builder.answer(opened, CallOutcome(error=_error(said, known), meta={"result_missing": True}))


def _error(said: TextCall, known: frozenset[str]) -> CallError | None:
    """Error of a server before running a call; None where it would have run it."""
    if known and said.name not in known:
        return CallError(kind="unknown_tool", type="UnknownTool", message=f"no tool {said.name!r} was offered")
    if said.given.raw is not None:
        return CallError(kind="invalid_format", type="ValueError", message="the arguments are no JSON object")
    return None


# -- hard cases ---------------------------------------------------------------------------------------------------


def hard_classes(dialogue: DialogueRows) -> tuple[str, ...]:
    """The hard cases that a dialogue is of, in the order in which they stand here: those of any of its turns.

    A name is nonsense if it is one letter repeated or a run of the alphabet; no tool fits where a dialogue of one turn
    wants no call; a value is inherited if all its words were said before this turn and not all of them in it.
    """
    rows = [row for row, _ in dialogue.rows]
    offered = [(row, {tool.name: tool for tool in row.question.tools or ()}) for row in rows]
    names = {name.strip() for row, tools in offered for name in (*row.answer, *tools)}
    choices = (
        name in arguments and "enum" in schema
        for row, tools in offered
        for tool, arguments in row.answer.items()
        if tool.strip() in tools
        for name, schema in tools[tool.strip()].schema["properties"].items()
    )
    is_of = {
        "many_parameters": any(len(given) > MOST_PARAMETERS for row in rows for given in row.answer.values()),
        "nonsense_names": any(map(_is_nonsense, names)),
        "choices": any(choices),
        "no_tool": len(rows) == 1 and not any(name.strip() for name in rows[0].answer),
        "many_tools": any(len(row.answer) > MOST_TOOLS for row in rows),
        "inherited_parameters": any(map(_inherits, rows)),
    }
    return tuple(name for name, holds in is_of.items() if holds)


def _is_nonsense(name: str) -> bool:
    plain = name.lower()
    return len(name) <= LONGEST_NONSENSE and bool(_REPEATED.fullmatch(plain) or (len(plain) > 2 and plain in _ALPHABET))


def _inherits(row: BenchmarkRow) -> bool:
    if not row.question.history:
        return False
    before = frozenset(words_of(row.question.history))
    now = frozenset(words_of(row.question.user or ""))
    heard = HeardSoFar(before.__contains__, now.__contains__)
    return any(heard.only_before(value) for arguments in row.answer.values() for value in arguments.values())
