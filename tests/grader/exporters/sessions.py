"""Sessions to export: a strategy for any session that these formats can tell, and small ones made by hand."""

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from sandbox_grader.exporters import exporter
from sandbox_grader.importers import importer

from sandbox_mcp.engine.trajectory import (
    CallError,
    Message,
    SessionEnded,
    SessionStarted,
    ToolCall,
    ToolSpec,
    Trajectory,
    assemble,
)

ROLES = ("system", "user", "agent", "environment")
TOOLS = (
    ToolSpec(name="x7", tool="find", domain="air", action=False, description="Finds.", input_schema={"type": "object"}),
    ToolSpec(name="fly", tool="fly", domain="air", action=True, description="", input_schema={}),
)
CANONICAL = {tool.name: tool.tool for tool in TOOLS}

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
spoken = words.filter(str.strip)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(words, json_values, max_size=3)
kinds = st.sampled_from(
    ["invalid_format", "unknown_argument", "missing_argument", "wrong_type", "execution", "refused"]
)
errors = st.builds(CallError, kind=kinds, type=st.sampled_from(["ValueError", "Denied"]), message=words)
raw = st.sampled_from(["[1]", "{broken", " ", '"text"', "NaN"])


def message(sender: str, recipient: str, content: str, **more: Any) -> Message:
    visible = more.pop("visible_to", tuple(dict.fromkeys((sender, recipient))))
    return Message(
        seq=0, clock=0.0, sender=sender, recipient=recipient, content=content, visible_to=visible, meta=more
    )  # fmt: skip


def note(content: str, kind: str = "text") -> Message:
    return message("agent", "agent", content, kind=kind)


def call(name: str, arguments: Any = None, *, batch: str = "b1", caller: str = "agent", **more: Any) -> ToolCall:
    tool = None if name == "unknown" else CANONICAL.get(name, name)
    return ToolCall(
        seq=0, clock=0.0, call=more.pop("call", name), batch=batch, caller=caller, name=name, tool=tool,
        arguments=arguments or {}, **more,
    )  # fmt: skip


def session(*events: Message | ToolCall, end: str | None = "user_ended", start: float = 0.0) -> Trajectory:
    """A session of these events, numbered and timed."""
    numbered = [_at(event, number, start + number) for number, event in enumerate(events, start=1)]
    head = SessionStarted(
        session="s-1", scenario="wifi_off", variant="scrambled", seed=3, trial=2, categories=("a", "b"), digest="d",
        agent={"name": "pilot", "version": "2", "model": "m-1"}, tools=TOOLS,
    )  # fmt: skip
    ended = [] if end is None else [SessionEnded(seq=len(events) + 1, clock=start, reason=end, detail="x")]
    return assemble([head, *numbered, *ended])


def _at(event: Any, seq: int, clock: float) -> Any:
    from dataclasses import replace

    more = {"call": f"{event.call}-{seq}"} if isinstance(event, ToolCall) else {}
    return replace(event, seq=seq, clock=clock, **more)


@st.composite
def outcomes(draw: Any) -> dict[str, Any]:
    what = draw(st.sampled_from(["result", "error", "missing"]))
    if what == "missing":
        return {"meta": {"result_missing": True}}
    return {"error": draw(errors)} if what == "error" else {"result": draw(json_values)}


@st.composite
def batches(draw: Any, callers: tuple[str, ...] = ("agent",)) -> list[ToolCall]:
    batch, caller = draw(st.uuids()).hex, draw(st.sampled_from(callers))
    made: list[ToolCall] = []
    for _ in range(draw(st.integers(1, 3))):
        misread = draw(st.integers(0, 4)) == 0
        more = {"error": draw(errors)} if misread else draw(outcomes())  # what cannot be read is never carried out
        given = {"raw_arguments": draw(raw)} if misread else {"arguments": draw(objects)}
        made.append(call(draw(st.sampled_from(["x7", "fly"])), batch=batch, caller=caller, **given, **more))
    return made


@st.composite
def rounds(draw: Any, callers: tuple[str, ...]) -> list[Message | ToolCall]:
    """What somebody does at once: a message to anybody, or thoughts, a note and calls of the agent."""
    kind = draw(st.sampled_from(["message", "reply", "calls", "thought", "note"]))
    if kind == "message":
        return [message(draw(st.sampled_from(ROLES)), draw(st.sampled_from(ROLES)), draw(spoken))]
    thoughts = [note(draw(spoken), "reasoning")] if draw(st.booleans()) or kind == "thought" else []
    if kind == "reply":
        return [*thoughts, message("agent", "user", draw(words))]
    notes = [note(draw(spoken))] if kind == "note" or draw(st.booleans()) else []
    made = draw(batches(callers)) if kind == "calls" else []
    return made if made and made[0].caller != "agent" else [*thoughts, *notes, *made]


def sessions(callers: tuple[str, ...] = ("agent",)) -> st.SearchStrategy[Trajectory]:
    return st.lists(rounds(callers), max_size=6).map(lambda many: session(*(event for one in many for event in one)))


def told(event: Message | ToolCall) -> tuple[Any, ...]:
    """What must survive an export: who said what to whom, or what was called and what came of it."""
    if isinstance(event, Message):
        return ("message", event.sender, event.recipient, event.content)
    missing = event.meta.get("result_missing", False)
    return ("call", event.caller, event.name, event.arguments, event.raw_arguments, event.result, event.error, missing)


def exported_and_imported(format_: str, trajectory: Trajectory, folder: Path) -> Trajectory:
    """The session after an export to a file and an import from it."""
    path = folder / "log.json"
    path.write_text(json.dumps(exporter(format_)(trajectory), allow_nan=False))
    [imported] = importer(format_)([path])
    return assemble(imported.events)
