"""Imports logs of Inspect: the JSON that ``inspect log dump`` prints, and ``.eval`` archives.

Policy: one session per sample and epoch. Messages give the order; where a tool event was recorded it says what was
called and what came of it. A sample that this package's own task has played holds our log of it, which is taken as it
is. Targets and scores go to ``origin``, because a target is an answer and no reference calls.
"""

import math
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from sandbox_grader.importers.base import Faults, Imported
from sandbox_grader.importers.reading import chats
from sandbox_grader.importers.reading.build import CallOutcome, Ending, Names, OpenCall, SessionBuilder, stem
from sandbox_grader.importers.reading.content import joined, part_text
from sandbox_grader.importers.reading.eval_archive import EvalArchive
from sandbox_grader.importers.reading.json_values import (
    JsonNode,
    Loaded,
    is_array,
    is_object,
    load_whole,
    picked,
    read_bytes,
)
from sandbox_grader.importers.reading.values import arguments_of, decode, digest_of, failure, stated
from sandbox_mcp.engine.trajectory import CallError, ErrorKind, Event, TrajectoryError
from sandbox_mcp.engine.trajectory.log import parse_trajectory

ATTACHMENT = "attachment://"
KINDS: Final = MappingProxyType[str, ErrorKind]({"approval": "refused", "cancelled": "refused"})
"""Inspect's type of a tool error to our kind; every other type but ``parsing`` is the tool's own error."""

CHECKS: Final = MappingProxyType[str, ErrorKind](
    {
        "Additional properties": "unknown_argument",
        "is a required property": "missing_argument",
        "is not of type": "wrong_type",
    }
)
"""What a parsing error says of the arguments, by the first of these that its text contains."""

GRADES: Final = MappingProxyType({"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0})
"""What Inspect's letters are worth as a number."""

OWN: Final = "sandbox_mcp:log"
"""Key of a sample's store under which the task of this package keeps its own log of the session."""


def read(paths: Sequence[Path]) -> Iterator[Imported]:
    """Read the given files.

    Raises:
        ImportFormatError: a file is not an Inspect log, or an archive compressed in a way that this Python cannot read.
        NothingToImportError: a log has no samples, as that of a task which failed before its first.
    """
    names = Names()
    for path in paths:
        data = read_bytes(path)
        if path.suffix == ".eval" or data.startswith(b"PK"):
            archive = EvalArchive(data, path)
            log, samples = archive.header(), archive.samples()
        else:
            whole = load_whole(data, str(path))
            log = whole.nodes[0]
            if log.get("samples") is None:
                log.need("eval")
                raise log.empty("holds no samples; was it dumped with --header-only?")
            samples = [partial(Loaded, (sample,), losses=whole.losses) for sample in log.items_at("samples")]
        if not samples:
            raise log.empty("holds no samples")
        faults = Faults()
        for loading in samples:
            with faults.aside():
                loaded = loading()
                builder = SessionBuilder("inspect", str(path), "", loaded.losses)
                yield _session(log, loaded.nodes[0], builder, names)
        faults.tell()


def _session(log: JsonNode, sample: JsonNode, builder: SessionBuilder, names: Names) -> Imported:
    sample = _with_attachments(sample, builder)
    ours = _own_log(sample, builder)
    if ours is not None:
        return Imported(names.unique(stem(log.path), sample.need("id").label()), ours)
    id_, epoch = sample.need("id").label(), sample.whole_at("epoch") or 1
    spec = log.need("eval")
    task, model = spec.string_at("task") or "task", spec.string_at("model")
    version = spec.members_at("packages").get("inspect_ai")
    builder.head = replace(
        builder.head, session=sample.string_at("uuid") or "", scenario=f"{task}/{id_}", trial=epoch - 1,
        agent=stated(model=model), versions={"inspect_ai": version} if isinstance(version, str) else {},
        digest=digest_of(picked(sample.members(), ("input", "target"))),
    )  # fmt: skip
    builder.origin.update(picked(sample.members(), ("target", "choices", "metadata")))
    scores = sample.members_at("scores")
    values = {name: score.get("value") if is_object(score) else score for name, score in scores.items()}
    if not values:
        builder.lose(sample, "no scores were recorded")
    else:
        builder.origin["scores"] = values
    if len(values) == 1:
        (value,) = values.values()
        number = float(value) if isinstance(value, int | float) and abs(value) < 1e300 else None
        builder.origin["reward"] = GRADES.get(value) if isinstance(value, str) else number
    events = [event for event in sample.items_at("events") if event.is_object]
    for event in events:
        if event.members().get("event") == "model":
            chats.offer_tools(builder, event.items_at("tools"))
    messages, given = sample.items_at("messages"), sample.get("input")
    if not messages and given is not None:
        messages = given.items() if given.is_array else [given.child("", {"role": "user", "content": given.string()})]
    _Player(builder, events).play(messages)
    asked = sum(event.members().get("event") == "model" for event in events)
    for model in sample.members_at("model_usage"):
        builder.spend(sample.need("model_usage").get(model), requests=asked)
        asked = 0  # which model was asked how often is not told
    name = names.unique(stem(log.path), task, id_, f"epoch{epoch}")
    return builder.finish(name, *_end(log, sample, builder))


def _own_log(sample: JsonNode, builder: SessionBuilder) -> tuple[Event, ...] | None:
    """The session as this package itself recorded it, where the sample was one of its scenarios."""
    text = sample.members_at("store").get(OWN)
    if not isinstance(text, str):
        return None
    try:
        log = parse_trajectory(text.encode(), sample.path)
    except TrajectoryError as error:
        builder.lose(sample, f"the store's {OWN!r} cannot be read ({error}); the messages are taken instead")
        return None
    started = replace(log.started, origin={**builder.origin, "losses": []})
    return (started, *log.events, *((log.ended,) if log.ended else ()))


def _with_attachments(sample: JsonNode, builder: SessionBuilder) -> JsonNode:
    """The sample with the contents of its attachments in place of the references to them."""
    attachments = sample.members_at("attachments")
    missing: set[str] = set()

    def resolved(value: Any) -> Any:
        if is_object(value):
            return {key: resolved(item) for key, item in value.items()}
        if is_array(value):
            return [resolved(item) for item in value]
        if not isinstance(value, str) or not value.startswith(ATTACHMENT):
            return value
        found = attachments.get(value.removeprefix(ATTACHMENT))
        if not isinstance(found, str):
            missing.add(value)
        return found if isinstance(found, str) else value

    kept = {key: value if key == "attachments" else resolved(value) for key, value in sample.members().items()}
    for reference in sorted(missing):
        builder.lose(sample, f"{reference!r} is not among the attachments")
    return replace(sample, value=kept)


def _end(log: JsonNode, sample: JsonNode, builder: SessionBuilder) -> Ending:
    error, limit = sample.get("error"), sample.get("limit")
    if error is not None:
        return "agent_failed", (error.string_at("message") if error.is_object else None) or "the sample failed"
    if limit is not None:
        kind = (limit.string_at("type") if limit.is_object else None) or "unknown"
        return ("abandoned" if kind == "operator" else "recorded"), f"limit: {kind}"
    finished = sample.get("completed_at") is not None or log.members().get("status") == "success"
    return ("recorded" if finished and builder.settled else None), None


class _Player:
    """Adds messages and tool events to a session, each call once."""

    __slots__ = ("_builder", "_done", "_stamps", "_unused", "_used")

    def __init__(self, builder: SessionBuilder, events: list[JsonNode]) -> None:
        self._builder = builder
        self._stamps = dict[str, Any]()
        """When a model wrote each of its messages, by the message's id."""
        for event in events:
            output = event.object_at("output") if event.members().get("event") == "model" else None
            for choice in output.items_at("choices") if output else []:
                message = choice.get("message")
                id_ = message.label_at("id") if message is not None else None
                if id_ is not None:
                    self._stamps[id_] = event.members().get("timestamp")
        tools = (event for event in events if event.members().get("event") == "tool")
        self._unused = deque(enumerate(tools))
        self._used: dict[str, deque[tuple[int, JsonNode]]] = {}
        self._done: Counter[str] = Counter()

    def play(self, messages: list[JsonNode]) -> None:
        """Add messages in order, each call with the event of its id, and before it the events without a message."""
        assistants = (message for message in messages if message.members().get("role") == "assistant")
        wanted = Counter(call.label_at("id") for message in assistants for call in message.items_at("tool_calls"))
        unused: deque[tuple[int, JsonNode]] = deque()
        for index, event in self._unused:
            id_ = event.label_at("id")
            if id_ is not None and wanted[id_] > 0:
                wanted[id_] -= 1
                self._used.setdefault(id_, deque()).append((index, event))
            else:
                unused.append((index, event))
        self._unused = unused
        for message in messages:
            role = message.need("role").string()
            if role == "assistant":
                self._assistant(message)
            elif role == "tool":
                self._tool(message)
            elif role == "user":
                self._builder.say("user", "agent", joined(message.get("content"), self._builder))
            elif role == "system":
                self._builder.say("system", "agent", joined(message.get("content"), self._builder))
            else:
                self._builder.lose(message, f"a message of the unknown role {role!r} was dropped")
        self._catch_up(math.inf)

    def _assistant(self, message: JsonNode) -> None:
        stamp = self._stamps.get(message.label_at("id") or "")
        text = self._texts(message.get("content"), stamp)
        calls = message.items_at("tool_calls")
        self._builder.write(text, calls=bool(calls), stamp=stamp)
        batch = self._builder.batch() if calls else ""
        for call in calls:
            id_ = call.label_at("id")
            events = self._used.get(id_ or "")
            index, event = events.popleft() if events else (None, None)
            if index is not None:
                self._catch_up(index)
            called = stamp if event is None else event.members().get("timestamp") or stamp
            given = arguments_of((event or call).members().get("arguments"))
            meta = picked(call.members(), ("parse_error",))
            name = call.need("function").string()
            opened = self._builder.call(name, given, batch=batch, id_=id_, stamp=called, **meta)
            if event is not None:
                self._done[id_ or ""] += 1
                self._answer(opened, event)

    def _texts(self, content: JsonNode | None, stamp: Any) -> str:
        """The text of a content; its reasoning becomes notes, the provider's own tools become calls."""
        if content is None or not content.is_array:
            return joined(content, self._builder)
        texts: list[str] = []
        for part in content.items():
            kind = part.members().get("type") if part.is_object else None
            if kind == "reasoning":
                redacted = part.members().get("redacted") is True
                text = part.string_at("summary") if redacted else part.string_at("reasoning")
                self._builder.note(text or "", "reasoning", stamp=stamp)
                if redacted and not text:
                    self._builder.lose(part, "reasoning that the provider encrypted is not kept")
            elif kind == "tool_use":
                given = arguments_of(part.members().get("arguments"))
                name, error = part.need("name").string(), part.string_at("error")
                opened = self._builder.call(
                    name, given, batch=self._builder.batch(), id_=part.label_at("id"), stamp=stamp, offered=True
                )
                said = error or part.string_at("result") or ""
                self._builder.answer(opened, self._builder.judge(said, failed=bool(error)))
            else:
                texts.append(part_text(part, self._builder) or "")
        return "\n".join(filter(None, texts))

    def _catch_up(self, index: float) -> None:
        """Add the calls of events before ``index`` to which no message refers: lost history, or a sub-agent's."""
        while self._unused and self._unused[0][0] < index:
            event = self._unused.popleft()[1]
            self._builder.lose(event, "no message refers to this tool event; it was placed by the order of events")
            opened = self._builder.call(
                event.need("function").string(), arguments_of(event.members().get("arguments")),
                batch=self._builder.batch(), id_=event.label_at("id"), stamp=event.members().get("timestamp"),
                unreferenced=True,
            )  # fmt: skip
            self._answer(opened, event)

    def _answer(self, opened: OpenCall, event: JsonNode) -> None:
        if event.members().get("pending") is True:
            return
        error = event.get("error")
        wall = {"answered": event.value["completed"]} if event.get("completed") is not None else {}
        if error is not None:
            outcome = CallOutcome(error=_error(error), wall=wall, stated=True)
        elif event.members().get("failed") is True:
            outcome = CallOutcome(error=failure("the tool failed"), wall=wall)
        else:
            result = event.get("result")
            meta: dict[str, Any] = {}
            if event.get("truncated") is not None:
                self._builder.lose(event, "the result was cut off at Inspect's limit")
                meta["result_truncated"] = True
            known, value = len(self._builder.losses), result and result.value
            if isinstance(value, str):
                value = decode(value)
            elif result and result.is_object:
                value = decode(part_text(result, self._builder) or "")
            elif result and result.is_array:
                value = decode(joined(result, self._builder))
            if len(self._builder.losses) > known:
                meta["result_partial"] = True
            outcome = CallOutcome(value, meta=meta, wall=wall)
        self._builder.answer(opened, outcome)

    def _tool(self, message: JsonNode) -> None:
        id_ = message.label_at("tool_call_id")
        if self._done[id_ or ""] and self._builder.find(id_) is None:
            return
        error = message.get("error")
        outcome = self._builder.judge(joined(message.get("content"), self._builder), failed=False)
        outcome = outcome if error is None else CallOutcome(error=_error(error), stated=True)
        self._builder.settle(message, id_, outcome, name=message.string_at("function"))


def _error(error: JsonNode) -> CallError:
    if not error.is_object:
        return failure(error.string())
    type_, message = error.string_at("type") or "unknown", error.string_at("message") or ""
    if type_ != "parsing":
        return failure(message, KINDS.get(type_, "execution"), type_)
    if message.startswith("Tool ") and message.endswith(" not found"):
        return failure(message, "unknown_tool", type_)
    refused: list[ErrorKind] = [kind for text, kind in CHECKS.items() if text in message]
    return failure(message, refused[0] if refused else "invalid_format", type_)
