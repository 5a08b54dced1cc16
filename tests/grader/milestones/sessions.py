"""Builders of small scenarios and of the sessions played in them, for tests that read as examples."""

from collections.abc import Mapping
from typing import Any, Self

from sandbox_scenarios.model import (
    CallConstraint,
    CallPattern,
    Expected,
    MessageConstraint,
    Milestone,
    Scenario,
    Solution,
    TableConstraint,
    UserSpec,
)  # fmt: skip

from sandbox_mcp.engine.trajectory import (
    CallError,
    EndReason,
    Message,
    Role,
    SessionEnded,
    SessionStarted,
    ToolCall,
    Trajectory,
)  # fmt: skip
from sandbox_mcp.engine.world import Change, Clock, Snapshot, snapshot_of

PHONE = "phone"
OPENING = "Please do it."
SETTING = {
    "device_id": PHONE, "cellular": True, "wifi": True, "location_service": True, "low_battery_mode": False,
    "latitude": 1.0, "longitude": 2.0,
}  # fmt: skip


def contact(key: str, name: str = "Ann", phone: str = "+1", relationship: str | None = None) -> dict[str, Any]:
    return {"person_id": key, "name": name, "phone_number": phone, "relationship": relationship, "is_self": False}


def reminder(key: str, content: str = "Buy milk", at: float = 1000.0) -> dict[str, Any]:
    return {
        "reminder_id": key, "content": content, "creation_timestamp": 0.0, "reminder_timestamp": at,
        "latitude": None, "longitude": None,
    }  # fmt: skip


def text(key: str, content: str = "hi", to: str = "+1") -> dict[str, Any]:
    return {
        "message_id": key, "sender_person_id": None, "sender_phone_number": "+0", "recipient_person_id": None,
        "recipient_phone_number": to, "content": content, "creation_timestamp": 0.0,
    }  # fmt: skip


def world(
    contacts: Mapping[str, Any] | None = None, reminders: Mapping[str, Any] | None = None, **setting: Any
) -> Snapshot:
    return snapshot_of(
        {
            "setting": {PHONE: {**SETTING, **setting}},
            "contact": contacts or {},
            "messaging": {},
            "reminder": reminders or {},
        }
    )


WORLD = world({"c1": contact("c1"), "c2": contact("c2", "Bob", "+2")}, {"r1": reminder("r1")})


def expected(value: Any) -> Expected:
    return value if isinstance(value, Expected) else Expected(value=value)


def row(**cells: Any) -> dict[str, Expected]:
    return {name: expected(value) for name, value in cells.items()}


def state(table: str, kind: Any = "is", *rows: Mapping[str, Expected], since: str = "start") -> TableConstraint:
    return TableConstraint(table, kind, rows, since)


def call(tool: str, /, attempt: bool = False, **arguments: Any) -> CallConstraint:
    return CallConstraint((CallPattern(tool, row(**arguments)),), attempt)


def say(content: Any, sender: Any = "agent", recipient: Any = "user") -> MessageConstraint:
    return MessageConstraint(expected(content), sender, recipient)


def facts(*wordings: tuple[str, ...], avoid: tuple[str, ...] = (), **values: Any) -> Expected:
    return Expected(measure="facts", value=wordings, avoid=avoid, values=values)


def milestone(name: str, *constraints: Any, after: tuple[str, ...] = (), transient: bool = False) -> Milestone:
    return Milestone(name, constraints, after, transient)


def scenario(
    *milestones: Milestone,
    minefields: tuple[Milestone, ...] = (),
    allows: Mapping[str, tuple[str, ...]] | None = None,
    start: Snapshot = WORLD,
    solutions: tuple[Solution, ...] = (),
    idle_score: str | None = None,
) -> Scenario:
    return Scenario(
        name="example", about="", categories=("single_tool_call",), world=start, clock=Clock(0.0), tools=(), without=(),
        user=UserSpec(goal="", opening=OPENING), solutions=solutions, milestones=milestones, minefields=minefields,
        allows=allows or {}, confirm=(), gates=(), max_turns=30, max_calls=100, idle_score=idle_score, digest="",
    )  # fmt: skip


class Play:
    """A session in the making; each method adds one event and gives the session back."""

    def __init__(self, start: Snapshot = WORLD, opening: str | None = OPENING) -> None:
        self.start = start
        self.rows = {name: dict(table) for name, table in start.tables.items()}
        self.events: list[Message | ToolCall] = []
        if opening is not None:
            self.says(opening, "user", "agent")

    def says(self, content: str, sender: Role = "agent", recipient: Role = "user") -> Self:
        seq = len(self.events) + 1
        self.events.append(
            Message(seq=seq, clock=0.0, sender=sender, recipient=recipient, content=content,
                    visible_to=(sender, recipient))
        )  # fmt: skip
        return self

    def calls(
        self,
        tool: str,
        /,
        result: Any = None,
        error: str | None = None,
        changes: tuple[Change, ...] = (),
        caller: Role = "agent",
        offered: bool = True,
        **arguments: Any,
    ) -> Self:
        seq = len(self.events) + 1
        fault = CallError(kind="execution", type=error, message=f"{error} happened") if error else None
        self.events.append(
            ToolCall(seq=seq, clock=0.0, call=f"c{seq}", batch=f"b{seq}", caller=caller, name=tool,
                     tool=tool if offered else None, arguments=arguments, result=result, error=fault, changes=changes)
        )  # fmt: skip
        return self

    def sets(self, tool: str = "set", /, **cells: Any) -> Self:
        """Change settings with a call that is named by its first argument."""
        return self.changes(tool, "setting", PHONE, {**self.rows["setting"][PHONE], **cells}, **cells)

    def changes(self, tool: str, table: str, key: str, after: Any, /, **arguments: Any) -> Self:
        """Call a tool that puts a row, or with None takes it away."""
        before = self.rows[table].get(key)
        if after is None:
            self.rows[table].pop(key, None)
        else:
            self.rows[table][key] = after
        return self.calls(tool, changes=(Change(table, key, before, after),), **arguments)

    def done(self, reason: EndReason | None = "user_ended", cut: bool = False) -> Trajectory:
        started = SessionStarted(
            session="s", scenario="example", world={name: dict(rows) for name, rows in self.start.tables.items()}
        )
        ended = SessionEnded(seq=len(self.events) + 1, clock=0.0, reason=reason) if reason else None
        return Trajectory(started, tuple(self.events), ended, "example.jsonl", cut)
