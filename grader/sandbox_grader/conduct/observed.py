"""A session as the conduct metrics see it: the agent's calls, which tools act, and what the agent had seen when.

Policy: a tool acts if the session, the solution or our own registry says so. Where an importer had to guess, only
"does not act" is believed; an unknown tool is neither an action nor a query.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeGuard

from sandbox_scenarios.stage import home_of

from sandbox_grader.grading.course import is_replay
from sandbox_grader.grading.references import ReferenceTurns
from sandbox_grader.grading.values import is_array, is_object, leaves
from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.trajectory import Message, ReferenceCall, ToolCall, Trajectory

SENDING = frozenset(
    {
        "dial", "email", "forward", "invite", "mail", "message", "pay", "reply", "send", "share", "sms", "text",
        "transfer",
    }
)  # fmt: skip
"""Words of which a tool's name has one if it reaches a person."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True, slots=True)
class ConductFinding:
    """One thing to count: which count, at which event, what happened in words, and with which tool, if with one."""

    count: str
    seq: int
    about: str
    tool: str = ""

    def to_json(self) -> dict[str, Any]:
        """The finding as a JSON object."""
        return {"count": self.count, "event": self.seq, "about": self.about, "tool": self.tool}


@dataclass(frozen=True)
class ObservedSession:
    """One session with the solutions that are known for it."""

    trajectory: Trajectory
    solutions: Sequence[ReferenceTurns]

    @cached_property
    def calls(self) -> tuple[ToolCall, ...]:
        """The agent's calls in order."""
        return tuple(e for e in self.trajectory.events if isinstance(e, ToolCall) and e.caller == "agent")

    @cached_property
    def wanted(self) -> tuple[ReferenceCall, ...]:
        """The calls of all solutions."""
        return tuple(call for solution in self.solutions for turn in solution for call in turn.calls)

    @property
    def replayed(self) -> bool:
        """True if every reply was asked for on the reference's history, which the log does not have."""
        return is_replay(self.trajectory)

    @cached_property
    def zone(self) -> str:
        """The zone in which the session's local times are read."""
        return str(self.trajectory.started.clock.get("zone") or "UTC")

    @cached_property
    def labels(self) -> Mapping[str, bool]:
        """Whether each tool acts, by canonical name; unknown tools are absent."""
        said = {call.tool: call.action for call in self.wanted if call.action is not None}
        losses = (self.trajectory.started.origin or {}).get("losses")
        guessed = is_array(losses) and any(is_object(loss) and loss.get("where") == "tools" for loss in losses)
        offered = {t.tool: t.action for t in self.trajectory.started.tools if not (guessed and t.action)}
        if self.ours:
            said |= _acting(self.home)
        return offered | said

    @cached_property
    def _schemas(self) -> Mapping[str, Mapping[str, Any]]:
        return {spec.tool: spec.input_schema for spec in reversed(self.trajectory.started.tools)}

    def described(self, tool: str) -> Mapping[str, Any]:
        """The schema of each argument that a tool's own schema describes; true is a schema as well."""
        found = self._schemas.get(tool, {}).get("properties")
        return found if is_object(found) else {}

    def required(self, tool: str) -> frozenset[str]:
        """The arguments that a tool's schema demands."""
        found = self._schemas.get(tool, {}).get("required")
        return frozenset(name for name in found if isinstance(name, str)) if is_array(found) else frozenset()

    @cached_property
    def home(self) -> World:
        """The world that the session was played in."""
        return home_of(self.trajectory.started)

    @cached_property
    def ours(self) -> bool:
        """True if every tool that the agent called with success is one of this sandbox."""
        return all(call.called in self.home.tools for call in self.calls if call.error is None)

    @cached_property
    def deeds(self) -> tuple[ToolCall, ...]:
        """The calls that acted, for certain."""
        return tuple(
            call for call in self.calls if call.changes or (call.error is None and self.labels.get(call.called))
        )

    def may_have_acted(self, call: ToolCall) -> bool:
        """True if a call may have changed something: it succeeded, and nothing says that its tool only looks."""
        return bool(call.changes) or (call.error is None and self.labels.get(call.called) is not False)

    def told_by(self, event: Message | ToolCall) -> Iterator[Any]:
        """Collect what an event tells the agent: words for it, a result, an error."""
        if isinstance(event, Message):
            if event.sender != "agent" and ("agent" in event.visible_to or event.recipient == "agent"):
                yield event.content
        elif event.caller == "agent":
            yield event.result if event.error is None else event.error.message

    def seen_before(self, seq: int) -> Iterator[Any]:
        """Collect what the agent had been told before an event."""
        for event in self.trajectory.events:
            if event.seq >= seq:
                return
            yield from self.told_by(event)


@lru_cache(maxsize=64)
def _acting(home: World) -> Mapping[str, bool]:
    """Whether each tool of a world acts."""
    return {name: tool.action for name, tool in home.tools.items()}


def is_reply(event: Message | ToolCall) -> TypeGuard[Message]:
    """Whether an event is something that the agent said to the user."""
    return isinstance(event, Message) and (event.sender, event.recipient) == ("agent", "user")


@lru_cache(maxsize=4096)
def words(name: str) -> frozenset[str]:
    """The words of a tool's name, whichever way they are joined, in lower case."""
    return frozenset(word.lower() for word in _WORD.findall(name))


def reaches_a_person(tool: str) -> bool:
    """True if a tool by its name sends something to a person."""
    return bool(words(tool) & SENDING)


def text_of(value: Any) -> str:
    """A value as text in which its parts can be looked for."""
    if isinstance(value, str):
        return value
    return " ".join(
        leaf if isinstance(leaf, str) else json.dumps(leaf, default=str, ensure_ascii=False) for leaf in leaves(value)
    )
