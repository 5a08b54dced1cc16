"""Imports ToolTalk's conversation files, with or without the ``predictions`` that its executor adds to them.

Policy: the calls of each assistant turn, with their recorded results, are the reference; the predictions are what the
agent did. Where a file has none, the reference's calls stand in for them, so that the data can be graded against
itself. Every turn was played after the reference's history, not the agent's own: ``origin.prefix_replay``.
Source: ToolTalk, section 3.2; the files of its repository.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sandbox_grader.importers.base import Imported
from sandbox_grader.importers.reading.build import CallOutcome, Names, SessionBuilder
from sandbox_grader.importers.reading.documents import read_documents
from sandbox_grader.importers.reading.json_values import JsonNode, is_object, picked
from sandbox_grader.importers.reading.values import Given, encode
from sandbox_grader.papers.tooltalk.tools import FORMAT, TOOLS
from sandbox_mcp.engine.trajectory import CallError, ErrorKind, ReferenceCall, ReferenceTurn

KINDS: tuple[tuple[ErrorKind, re.Pattern[str]], ...] = (
    ("unknown_argument", re.compile(r"got an unexpected keyword argument")),
    ("missing_argument", re.compile(r"missing \d+ required positional arguments?")),
    ("refused", re.compile(r"User is not logged in|Only one user can be logged in")),
)
"""What the exception texts of ToolTalk's executor tell of the kind of fault; any other is the tool's own."""


def read(paths: Sequence[Path]) -> Iterator[Imported]:
    """Read files of one conversation each, or of one per line.

    ``origin`` has the conversation's other fields as they are, ``predictions`` (``recorded``, or ``ground truth``
    where there were none), and ``empty_turns``: the turns that list no call explicitly. A call's turn is in ``meta``.

    Raises:
        ImportFormatError: a file is not a ToolTalk conversation.
    """
    return read_documents(paths, FORMAT, _session)


def ground_truth(node: JsonNode) -> tuple[tuple[ReferenceTurn, ...], Mapping[str, Any]]:
    """Ground truth of a conversation turn by turn, and the part of :func:`read`'s ``origin`` that tells of it.

    Raises:
        ImportFormatError: it is not a ToolTalk conversation.
    """
    turns: list[ReferenceTurn] = []
    empty: dict[int, bool] = {}
    for told in node.need("conversation").items():
        role = told.need("role").string()
        if role not in ("user", "assistant"):
            raise told.fail(f"a turn of role {role!r}; expected 'user' or 'assistant'")
        if role == "user" or not turns:
            turns.append(ReferenceTurn(calls=()))
        if role == "assistant":
            calls = tuple(map(_reference, told.items_at("apis")))
            turns[-1] = ReferenceTurn(calls=(*turns[-1].calls, *calls), reply=told.need("text").string())
            empty[len(turns) - 1] = told.get("apis") is not None and not calls
    said = {key: value for key, value in node.members().items() if key not in {"conversation", "metrics"}}
    return tuple(turns), {"empty_turns": [n for n, nothing in empty.items() if nothing], "conversation": said}


@dataclass(slots=True)
class _Play:
    """A conversation while it is read: where it goes, whether it has predictions, when it takes place, its turn."""

    builder: SessionBuilder
    predicted: bool
    stamp: Any
    turn: int = -1

    def take(self, node: JsonNode) -> None:
        """Add one turn of the conversation."""
        user = node.need("role").string() == "user"
        self.turn += user or self.turn < 0
        if user:
            self.builder.say("user", "agent", node.need("text").string(), stamp=self.stamp)
        elif not self.predicted:
            self._calls(node.items_at("apis"))
            self._reply(node.need("text").string())
        elif node.get("predictions") is None:
            self.builder.lose(node, "has no predictions, unlike other turns; taken as none")
        else:
            for entry in node.items_at("predictions"):
                role = entry.need("role").string()
                if role == "api":
                    self._calls([entry])
                elif role == "assistant":
                    self._reply(entry.string_at("text") or "")
                else:
                    raise entry.fail(f"a prediction of role {role!r}; expected 'api' or 'assistant'")

    def _reply(self, text: str) -> None:
        self.builder.say("agent", "user", text, stamp=self.stamp)

    def _calls(self, nodes: Sequence[JsonNode]) -> None:
        for node in nodes:
            name, given = _request(node)
            meta = picked(node.members(), ("metadata",))
            opened = self.builder.call(
                name, given, batch=self.builder.batch(), stamp=self.stamp, turn=self.turn, **meta
            )
            message = node.string_at("exception")
            error = (
                None if message is None else CallError(kind=_kind(name, given, message), type="Error", message=message)
            )
            self.builder.answer(opened, CallOutcome(result=node.members().get("response"), error=error))


def _session(node: JsonNode, builder: SessionBuilder, names: Names) -> Imported:
    turns = node.need("conversation").items()
    predicted = any(turn.get("predictions") is not None for turn in turns)
    name = node.string_at("name") or Path(node.path).stem
    play = _Play(builder, predicted, node.members_at("metadata").get("timestamp"))
    for tool, known in TOOLS.items():
        builder.offer(tool, "", {"type": "object"}, action=known.action)
    reference, told = ground_truth(node)
    for turn in turns:
        play.take(turn)
    builder.head = replace(builder.head, scenario=f"{FORMAT}/{name}", reference=(reference,))
    builder.origin |= {"prefix_replay": True, "predictions": "recorded" if predicted else "ground truth", **told}
    builder.lose("tools", "their documentation and which of them were offered are absent; all 28 are listed")
    builder.lose("errors", "the classes of exceptions are absent; their kinds are told from the texts")
    if not predicted:
        builder.lose("predictions", "there are none; the ground truth's calls and recorded results stand in for them")
    if "metrics" in node.members():
        builder.lose("metrics", "the verdicts of an earlier evaluation are not imported")
    return builder.finish(names.unique(name), "recorded")


def _reference(node: JsonNode) -> ReferenceCall:
    name, given = _request(node)
    if given.raw is not None:
        raise node.fail("a call of the ground truth has no object of parameters")
    return ReferenceCall(
        tool=name,
        arguments=given.arguments,
        result=node.members().get("response"),
        error=node.string_at("exception"),
        action=TOOLS[name].action if name in TOOLS else None,
    )


def _request(node: JsonNode) -> tuple[str, Given]:
    request = node.need("request")
    parameters = request.members().get("parameters")
    given = Given(parameters) if is_object(parameters) else Given({}, encode(parameters))
    return request.need("api_name").string(), given


def _kind(name: str, given: Given, message: str) -> ErrorKind:
    if name not in TOOLS:
        return "unknown_tool"
    if given.raw is not None:
        return "invalid_format"
    for kind, text in KINDS:
        if text.search(message):
            return kind
    return "execution"
