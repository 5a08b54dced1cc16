"""Imports recorded ToolScan runs: per line a case with tools, ground truth alternatives and the model's messages.

Policy: every message is one call, checked as ToolScan checks it, with inputs read as JSON; any other message is a
call without a name. The messages themselves are kept word for word, because the original's loop counts on them.
Nothing that a model wrote is evaluated. Verdicts beside a case (``expected``) are not imported.
Source: ToolScan, section 5 and appendix B.2.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sandbox_grader.importers.base import Imported
from sandbox_grader.importers.reading.build import CallOutcome, Names, SessionBuilder
from sandbox_grader.importers.reading.documents import read_documents
from sandbox_grader.importers.reading.json_values import JsonNode, is_object, loads
from sandbox_grader.importers.reading.values import Given, encode
from sandbox_grader.papers.toolscan.events import FORMAT
from sandbox_grader.papers.toolscan.loop import FINISH
from sandbox_grader.papers.toolscan.messages import split
from sandbox_grader.papers.toolscan.schemas import fault, json_types, schema_of
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.trajectory import CallError, ReferenceCall, ReferenceTurn, ToolCall

ANSWER: Mapping[str, Any] = {"description": "", "parameters": {"answer": {"type": "any", "required": True}}}
"""The tool ``finish``, for a list that leaves it out: every run has it."""


def read(paths: Sequence[Path]) -> Iterator[Imported]:
    """Read files of one case per line, each a case or an object with a ``case``.

    ``origin.case`` has the case but for messages and ground truth; each call has its message in ``meta``.

    Raises:
        ImportFormatError: a line is not a case.
    """
    return read_documents(paths, FORMAT, _session)


@dataclass(slots=True)
class _Play:
    """A case while its messages are read: its tools, and which of the recorded observations come next."""

    builder: SessionBuilder
    apis: Mapping[str, Any]
    feedback: bool
    observations: list[str] = field(default_factory=list[str])
    unanswered: int = 0
    faults: list[CallError | None] = field(default_factory=list["CallError | None"])

    def message(self, text: str) -> None:
        """Add what a message says."""
        name, given, error = self._understood(text)
        opened = self.builder.call(name, given, batch=self.builder.batch(), text=text)
        ran = error is None or (not self.feedback and error.kind != "invalid_format")
        result, meta = None, dict[str, Any]()
        if ran and name != FINISH and self.observations:
            result = self.observations.pop(0)
        elif ran and name != FINISH:
            self.unanswered += 1
            meta = {"result_missing": True}
        self.builder.answer(opened, CallOutcome(result, error, meta))
        self.faults.append(error)
        if name == FINISH and error is None:
            answer = given.arguments.get("answer")
            self.builder.say("agent", "user", answer if isinstance(answer, str) else encode(answer))

    def checked(self, imported: Imported) -> Imported:
        """The session with the faults that were found here, whatever the builder concludes from names and texts."""
        faults = iter(self.faults)
        events = tuple(
            replace(event, tool=event.tool if event.name in self.apis else None, error=next(faults))
            if isinstance(event, ToolCall)
            else event
            for event in imported.events
        )
        return replace(imported, events=events)

    def _understood(self, text: str) -> tuple[str, Given, CallError | None]:
        said = split(text)
        if said is None or not said.name:
            return "", Given({}, text), _no_format("there is no action with an action input")
        try:
            value, replaced = loads(said.input)
            if replaced:
                raise ValueError("it holds numbers that JSON cannot")
        except ValueError as problem:
            return said.name, Given({}, said.input), _no_format(f"the input of {said.name} cannot be read: {problem}")
        if not is_object(value):
            return said.name, Given({}, said.input), _no_format(f"the input of {said.name} is not an object")
        return said.name, Given(value), fault(said.name, value, self.apis)


def _session(node: JsonNode, builder: SessionBuilder, names: Names) -> Imported:
    case = node.get("case") or node
    apis = _apis(case)
    feedback = case.members().get("feedback")
    if not isinstance(feedback, bool | None):
        raise case.child("feedback", feedback).fail("expected true or false")
    play = _Play(builder, apis, feedback is not False, [item.string() for item in case.items_at("observations")])
    solutions: list[tuple[ReferenceTurn]] = []
    for solution in case.need("ground_truth").items():
        called = ((tool, solution.child(tool, value).items()) for tool, value in solution.members().items())
        calls = [ReferenceCall(tool=tool, arguments=item.members()) for tool, items in called for item in items]
        solutions.append((ReferenceTurn(calls=tuple(calls)),))
    name = case.need("id").label()
    builder.head = replace(builder.head, scenario=f"{FORMAT}/{name}", reference=tuple(solutions))
    builder.origin["case"] = {
        key: value for key, value in case.members().items() if key not in {"messages", "ground_truth"}
    }
    for tool, api in apis.items():
        builder.offer(tool, str(api.get("description", "")), schema_of(api["parameters"]))
        for argument, spec in api["parameters"].items():
            if not json_types(spec["type"]) and spec["type"] != "any":
                builder.lose(f"{tool}.{argument}", f"type {spec['type']!r} is unknown; its values are not checked")
    query = case.string_at("goal") or case.string_at("query")
    if query is None:
        builder.lose("query", "what the user asked for is absent")
    else:
        builder.say("user", "agent", query)
    for message in case.need("messages").items():
        play.message(message.string())
    if case is not node and "expected" in node.members():
        builder.lose("expected", "the verdicts recorded beside the case are not imported")
    if play.unanswered:
        builder.lose("results", f"the results of {counted(play.unanswered, 'call')} are absent")
    return play.checked(builder.finish(names.unique(name), "recorded"))


def _apis(case: JsonNode) -> dict[str, Any]:
    found: dict[str, Any] = {}
    listed = case.need("api_list")
    for name, value in listed.members().items():
        api = listed.child(name, value)
        parameters = api.need("parameters")
        for argument, spec in parameters.members().items():
            parameters.child(argument, spec).need("type")
        found[name] = api.members()
    return found if FINISH in found else {**found, FINISH: ANSWER}


def _no_format(problem: str) -> CallError:
    return CallError(kind="invalid_format", type="Error", message=problem)
