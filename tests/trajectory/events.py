"""Strategies and builders for the events of a log."""

from typing import Any

from hypothesis import strategies as st

from sandbox_mcp.engine.trajectory import (
    CallError,
    Event,
    Message,
    ReferenceCall,
    ReferenceTurn,
    SessionEnded,
    SessionStarted,
    ToolCall,
    ToolSpec,
)  # fmt: skip
from sandbox_mcp.engine.world import Change, freeze

ROLES = ("system", "user", "agent", "environment")
KINDS = (
    "unknown_tool", "invalid_format", "unknown_argument", "missing_argument", "wrong_type", "execution", "refused",
)  # fmt: skip
REASONS = ("user_ended", "max_turns", "max_calls", "agent_failed", "user_failed", "log_failed", "abandoned", "recorded")

numbers = st.floats(allow_nan=False, allow_infinity=False)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(st.text(max_size=4), values, max_size=3)
cells = st.none() | st.booleans() | st.integers() | numbers | st.text(max_size=6)
rows = st.dictionaries(st.text(max_size=4), cells, max_size=3).map(freeze)
tables = st.dictionaries(st.text(max_size=4), st.dictionaries(st.text(max_size=4), rows, max_size=2), max_size=2)
roles: Any = st.sampled_from(ROLES)
texts = st.text(max_size=12)
references = st.builds(
    ReferenceTurn,
    calls=st.lists(
        st.builds(
            ReferenceCall,
            tool=texts,
            arguments=objects,
            result=values,
            error=st.none() | texts,
            action=st.none() | st.booleans(),
        ),
        max_size=2,
    ).map(tuple),
    reply=st.none() | texts,
)
starts = st.builds(
    SessionStarted,
    session=texts,
    scenario=texts,
    digest=texts,
    categories=st.lists(texts, max_size=2).map(tuple),
    variant=texts,
    seed=st.integers(),
    trial=st.integers(0, 9),
    user_channel=st.sampled_from(["harness", "tool"]),
    agent=objects,
    user=objects,
    limits=st.dictionaries(texts, st.integers(0, 99), max_size=2),
    tools=st.lists(
        st.builds(
            ToolSpec,
            name=texts,
            tool=texts,
            domain=texts,
            action=st.booleans(),
            description=texts,
            input_schema=objects,
        ),
        max_size=2,
    ).map(tuple),
    world=st.none() | tables,
    clock=objects,
    versions=st.dictionaries(texts, texts, max_size=2),
    reference=st.lists(st.lists(references, max_size=2).map(tuple), max_size=2).map(tuple),
    origin=st.none() | objects,
    wall=objects,
)
messages = st.builds(
    Message,
    seq=st.integers(0, 99),
    clock=numbers,
    sender=roles,
    recipient=roles,
    content=st.text(max_size=40),
    visible_to=st.lists(roles, max_size=4).map(tuple),
    meta=objects,
    wall=objects,
)
calls = st.builds(
    ToolCall,
    seq=st.integers(0, 99),
    clock=numbers,
    call=texts,
    batch=texts,
    caller=roles,
    name=texts,
    tool=st.none() | texts,
    arguments=objects,
    raw_arguments=st.none() | texts,
    result=values,
    error=st.none() | st.builds(CallError, kind=st.sampled_from(KINDS), type=texts, message=texts),
    changes=st.lists(
        st.builds(Change, table=texts, key=texts, before=st.none() | rows, after=st.none() | rows), max_size=3
    ).map(tuple),
    meta=objects,
    wall=objects,
)
ends = st.builds(
    SessionEnded,
    seq=st.integers(0, 99),
    clock=numbers,
    reason=st.sampled_from(REASONS),
    detail=st.none() | texts,
    wall=objects,
)
between = st.lists(messages | calls, max_size=4)


def started(**given: Any) -> SessionStarted:
    """A session's first event."""
    return SessionStarted(**{"session": "s", "scenario": "wifi_off", **given})


def said(content: str = "Hello", seq: int = 1, **given: Any) -> Message:
    """Something the user says to the agent."""
    filled: dict[str, Any] = {"clock": 1.0, "sender": "user", "recipient": "agent", "visible_to": ("user", "agent")}
    return Message(**{**filled, "content": content, "seq": seq, **given})


def called(seq: int = 2, **given: Any) -> ToolCall:
    """A call that works."""
    filled: dict[str, Any] = {
        "clock": 2.0, "call": "c2", "batch": "b2", "caller": "agent", "name": "get_wifi_status",
        "tool": "get_wifi_status", "arguments": {}, "result": True,
    }  # fmt: skip
    return ToolCall(**{**filled, "seq": seq, **given})


def ended(seq: int = 3, **given: Any) -> SessionEnded:
    """The end."""
    return SessionEnded(**{"seq": seq, "clock": 3.0, "reason": "user_ended", **given})


SESSION: tuple[Event, ...] = (started(), said(), called(), ended())
