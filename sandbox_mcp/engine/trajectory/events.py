"""The events of a trajectory log: the contract between whatever drove a session and whatever reads it.

Policy: a log says what happened, never how well. Everything outside ``wall`` is a function of the scenario, the seed
and what the participants said and did, so two equal runs differ in ``wall`` alone. State is stored as changes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sandbox_mcp.engine.world.faults import CallError
from sandbox_mcp.engine.world.state import Change, Row

SCHEMA = 1
"""The version of the log's form that this code writes, and the newest it reads."""

Role = Literal["system", "user", "agent", "environment"]
UserChannel = Literal["harness", "tool"]
EndReason = Literal[
    "user_ended",      # the user had what they wanted, or gave up, and ended the conversation
    "max_turns",       # the limit on turns was reached
    "max_calls",       # the limit on tool calls was reached
    "agent_ended",     # the agent had nothing more to do or to say, and stopped
    "agent_failed",    # the agent or its model endpoint broke; says nothing about what the agent can do
    "user_failed",     # the simulated user or its model endpoint broke; likewise
    "world_failed",    # the world's own code broke; likewise
    "log_failed",      # the log could not be written any more, so that nothing more could happen
    "abandoned",       # whoever drove the session closed it, or left it idle for too long
    "recorded",        # a log from elsewhere, whose end is known to be where it stops
]  # fmt: skip

INFRASTRUCTURE: frozenset[EndReason] = frozenset(
    {"agent_failed", "user_failed", "world_failed", "log_failed", "abandoned"}
)
"""Endings that say nothing about the agent: such a session is reported, not scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as this session presented it: ``name`` is what the agent saw, ``tool`` the canonical name."""

    name: str
    tool: str
    domain: str
    action: bool
    description: str
    input_schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceCall:
    """One call of a reference solution, in canonical names. ``result`` and ``error`` where the source records them."""

    tool: str
    arguments: Mapping[str, Any]
    result: Any = None
    error: str | None = None
    action: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceTurn:
    """Turn of a reference solution in answer to one user message: calls, then perhaps a reply."""

    calls: tuple[ReferenceCall, ...] = ()
    reply: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted:
    """The first line: everything a reader needs to know before the first thing happens.

    ``world`` maps table to row id to row and is None in logs from elsewhere that recorded no state;
    ``worlds`` names the world that declares them, with its version and digest. ``reference`` is
    filled by importers whose source carries its own ground truth; sessions of ours find theirs in the scenario.
    ``origin`` names the format a log was imported from and what the importer could not map.
    """

    event: Literal["session"] = "session"
    schema: int = SCHEMA
    session: str
    scenario: str
    digest: str = ""
    categories: tuple[str, ...] = ()
    variant: str = "base"
    seed: int = 0
    trial: int = 0
    user_channel: UserChannel = "harness"
    agent: Mapping[str, Any] = field(default_factory=dict[str, Any])
    user: Mapping[str, Any] = field(default_factory=dict[str, Any])
    limits: Mapping[str, int] = field(default_factory=dict[str, int])
    tools: tuple[ToolSpec, ...] = ()
    world: Mapping[str, Mapping[str, Row]] | None = None
    worlds: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    clock: Mapping[str, Any] = field(default_factory=dict[str, Any])
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    reference: tuple[tuple[ReferenceTurn, ...], ...] = ()
    origin: Mapping[str, Any] | None = None
    wall: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message on the bus. ``visible_to`` lists the roles that may ever see it."""

    event: Literal["message"] = "message"
    seq: int
    clock: float
    sender: Role
    recipient: Role
    content: str
    visible_to: tuple[Role, ...]
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    wall: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call and its outcome.

    ``name`` is what the caller asked for, ``tool`` the canonical name or None where no such tool was offered.
    ``raw_arguments`` is kept where the arguments were not a JSON object; ``arguments`` are what was given, under
    canonical names, defaults not filled in.
    """

    event: Literal["tool_call"] = "tool_call"
    seq: int
    clock: float
    call: str
    batch: str
    caller: Role
    name: str
    tool: str | None
    arguments: Mapping[str, Any]
    raw_arguments: str | None = None
    result: Any = None
    error: CallError | None = None
    changes: tuple[Change, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    wall: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def called(self) -> str:
        """The canonical name of the tool, or what the caller asked for where there is no such tool."""
        return self.tool or self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded:
    """The last line. How a session ended is separate from how it scored."""

    event: Literal["end"] = "end"
    seq: int
    clock: float
    reason: EndReason
    detail: str | None = None
    wall: Mapping[str, Any] = field(default_factory=dict[str, Any])


Event = SessionStarted | Message | ToolCall | SessionEnded
