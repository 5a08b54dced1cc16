"""A small office for tests: two accounts, a few entries, and a desk at which calls are made."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sandbox_mcp.engine.tools import bind, present, run
from sandbox_mcp.engine.tools.calling import Outcome
from sandbox_mcp.engine.world import Clock, IdStream, Running, snapshot_of
from sandbox_mcp.engine.worlds import named

NOW = "2027-03-08 09:00:00"


def at(text: str) -> float:
    return datetime.strptime(text, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).timestamp()


def account(name: str, **cells: Any) -> dict[str, Any]:
    known = {"password": f"{name}-pw", "email": f"{name}@office.example", "phone": None, "name": name.title()}
    return {"account_id": name, "username": name, **known, "next_code": None, **cells}


def mail(key: str, date: str, sender: str = "kai@office.example", subject: str = "Hello", body: str = "") -> Any:
    cells = {"folder": "inbox", "sender": sender, "receivers": ("ines@office.example",), "subject": subject}
    return {"email_id": key, "account": "ines", "date": at(date), **cells, "body": body}


class Desk:
    """The office with Ines and Kai in it, somewhere; ``who`` is logged in."""

    def __init__(self, who: str | None = "ines", zone: str = "UTC", **tables: Mapping[str, Any]) -> None:
        session = {"s": {"session_token": "s", "account": who}} if who else {}
        event = {
            "event_id": "standup", "account": "ines", "name": "Stand-up", "event_type": "meeting",
            "start_time": at("2027-03-09 09:00:00"), "end_time": at("2027-03-09 09:15:00"), "location": None,
            "description": None, "attendees": ("kai", "ines"),
        }  # fmt: skip
        reminder = {"account": "ines", "due_date": None, "status": "pending"}
        given: dict[str, Any] = {
            "account": {"ines": account("ines"), "kai": account("kai", next_code="004711")},
            "session": session,
            "verification": {},
            "alarm": {
                "early": {"alarm_id": "early", "account": "ines", "time": "06:30:00"},
                "kais": {"alarm_id": "kais", "account": "kai", "time": "07:00:00"},
            },
            "event": {"standup": event},
            "email": {},
            "message": {},
            "reminder": {
                "plants": {**reminder, "reminder_id": "plants", "task": "Water the plants"},
                "tax": {**reminder, "reminder_id": "tax", "task": "File the tax", "status": "complete"},
            },
            **tables,
        }
        self.running = Running(snapshot_of(given), Clock(at(NOW), zone, 1.0), IdStream("desk"))
        self.offered = {name: present(tool) for name, tool in named("office").tools.items()}

    def outcome(self, tool: str, **arguments: Any) -> Outcome:
        bound = bind(self.offered, tool, arguments)
        return bound if isinstance(bound, Outcome) else run(self.running, bound)

    def call(self, tool: str, **arguments: Any) -> Any:
        """What a call returns; it must succeed."""
        found = self.outcome(tool, **arguments)
        assert found.fault is None, found.fault
        return found.result

    def refusal(self, tool: str, **arguments: Any) -> str:
        """What a call is refused with; the world must be as it was."""
        before = self.running.snapshot
        found = self.outcome(tool, **arguments)
        assert found.fault is not None, found.result
        assert self.running.snapshot is before
        return found.fault.text

    def rows(self, table: str) -> list[Mapping[str, Any]]:
        return list(self.running.snapshot.table(table).values())
