"""Imports events from JSON of any shape, as a mapping file says: where sessions, messages, calls and results are.

Policy: a mapping names places by dotted paths, such as ``meta.task`` or ``steps.0``; nothing is guessed from names.
What an event is, the mapping tells by one member of it; an event that it does not tell of is a loss. Calls without a
result between them were sent together, because their results come as events of their own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sandbox_grader.errors import GraderError
from sandbox_grader.importers.base import Faults, Imported
from sandbox_grader.importers.reading.build import CallOutcome, Names, SessionBuilder, stem
from sandbox_grader.importers.reading.json_values import JsonNode, load
from sandbox_grader.importers.reading.values import arguments_of, decode, encode, failure, stated

DOCUMENT = "."
"""The path of the whole document, or of a line where a file has one per line."""

MOST_TOLD = 8
"""How many faults of a mapping are told at once."""


class _MappedPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class MappedText(_MappedPart):
    """A message: what its kind is called, and where its text is."""

    when: str
    text: str


class MappedCall(_MappedPart):
    """A tool call, with its outcome where it stands beside it."""

    when: str
    name: str
    arguments: str
    id: str | None = None
    result: str | None = None
    error: str | None = None


class MappedResult(_MappedPart):
    """The outcome of a call, as an event of its own."""

    when: str
    id: str | None = None
    result: str | None = None
    error: str | None = None


class LogMapping(_MappedPart):
    """A mapping file."""

    sessions: str = DOCUMENT
    events: str
    kind: str
    user: MappedText
    agent: MappedText
    call: MappedCall
    result: MappedResult | None = None
    ignore: list[str] = Field(default_factory=list[str])
    scenario: str | None = None
    id: str | None = None
    model: str | None = None
    time: str | None = None


def mapping_in(path: Path) -> LogMapping:
    """Read a mapping file.

    Raises:
        GraderError: it cannot be read, is not YAML, or has not the form of a mapping; all faults are told.
    """
    from sandbox_scenarios.errors import ScenarioError
    from sandbox_scenarios.yaml_lines import load as load_yaml

    try:
        text = path.read_text(encoding="utf-8")
        data: Any = load_yaml(text, str(path))[0] if text.strip() else {}
    except ScenarioError as error:  # the same YAML as that of scenarios, with the same bounds
        raise GraderError(f"mapping {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise GraderError(f"mapping {str(path)!r} cannot be read: {error}") from error
    try:
        return LogMapping.model_validate(data)
    except ValidationError as error:
        told = error.errors()
        faults = [f"{'.'.join(map(str, item['loc'])) or 'the file'}: {item['msg']}" for item in told[:MOST_TOLD]]
        faults += [f"and {len(told) - MOST_TOLD} more"] if len(told) > MOST_TOLD else []
        known = ", ".join(LogMapping.model_fields)
        raise GraderError(f"mapping {str(path)!r}: {'; '.join(faults)}; known keys: {known}") from error


def read(paths: Sequence[Path], mapping: LogMapping) -> Iterator[Imported]:
    """Read the given files as the mapping says.

    Raises:
        ImportFormatError: a file is not JSON, or what the mapping names is not there or of another kind.
    """
    names = Names()
    for path in paths:
        loaded, faults = load(path), Faults()
        for document in loaded.nodes:
            with faults.aside():
                for session in _sessions(document, mapping):
                    with faults.aside():
                        builder = SessionBuilder("any", str(path), stem(path), loaded.losses)
                        yield _session(session, mapping, builder, names)
        faults.tell()


def _sessions(document: JsonNode, mapping: LogMapping) -> list[JsonNode]:
    found = _at(document, mapping.sessions)
    if found is None:
        raise document.fail(f"has nothing at {mapping.sessions!r}, where the mapping says that the sessions are")
    return found.each()


def _session(node: JsonNode, mapping: LogMapping, builder: SessionBuilder, names: Names) -> Imported:
    scenario, model, id_ = (_label(node, place) for place in (mapping.scenario, mapping.model, mapping.id))
    builder.head = replace(builder.head, scenario=scenario or builder.head.scenario, agent=stated(model=model))
    events = _at(node, mapping.events)
    if events is None:
        raise node.fail(f"has nothing at {mapping.events!r}, where the mapping says that the events are")
    open_batch = ""  # of the calls without a result just before; a call after anything else begins a new one
    for event in events.items():
        before, open_batch = open_batch, ""
        kind, stamp = _label(event, mapping.kind), _value(event, mapping.time)
        if kind == mapping.user.when:
            builder.say("user", "agent", _text(event, mapping.user.text), stamp=stamp)
        elif kind == mapping.agent.when:
            builder.say("agent", "user", _text(event, mapping.agent.text), stamp=stamp)
        elif kind == (call := mapping.call).when:
            name, given = _text(event, call.name), arguments_of(_value(event, call.arguments))
            batch = before or builder.batch()
            opened = builder.call(name, given, batch=batch, id_=_label(event, call.id), stamp=stamp)
            if _at(event, call.result) is None and _at(event, call.error) is None:
                open_batch = batch
            else:
                builder.answer(opened, _outcome(event, call.result, call.error))
        elif (result := mapping.result) is not None and kind == result.when:
            builder.settle(event, _label(event, result.id), _outcome(event, result.result, result.error))
        elif kind not in mapping.ignore:
            builder.lose(event, f"an event of the kind {kind!r}, of which the mapping says nothing, was dropped")
            open_batch = before
    return builder.finish(names.unique(builder.head.scenario, id_ or ""), "recorded" if builder.whole else None)


def _outcome(event: JsonNode, result: str | None, error: str | None) -> CallOutcome:
    told = _value(event, error)
    if told:
        return CallOutcome(error=failure(encode(told)))
    value = _value(event, result)
    return CallOutcome(result=decode(value) if isinstance(value, str) else value)


def _at(node: JsonNode, place: str | None) -> JsonNode | None:
    """What is at a dotted path, be it null; None where it or something on the way is missing, or no place is named."""
    if place is None:
        return None
    found: JsonNode | None = node
    for step in () if place == DOCUMENT else place.split("."):
        if found is None:
            return None
        if found.is_array and step.isdecimal():
            items = found.items()
            found = items[int(step)] if int(step) < len(items) else None
        else:
            members = found.members() if found.is_object else {}
            found = found.child(step, members[step]) if step in members else None
    return found


def _value(node: JsonNode, place: str | None) -> Any:
    found = _at(node, place)
    return None if found is None else found.value


def _label(node: JsonNode, place: str | None) -> str | None:
    found = _at(node, place)
    return None if found is None or found.value is None else found.label()


def _text(node: JsonNode, place: str) -> str:
    found = _at(node, place)
    if found is None:
        raise node.fail(f"has nothing at {place!r}, where the mapping says that a text is")
    return found.string()
