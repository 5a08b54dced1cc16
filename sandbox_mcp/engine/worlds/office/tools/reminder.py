"""Reminders: tasks, pending or complete, perhaps with a date. Source: ToolTalk, appendix A, plug-in Reminder."""

from typing import TypedDict

from sandbox_mcp.engine.world.tables import Id, Text
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.office.rules import SUCCESS, Success, me, mine, moment, written
from sandbox_mcp.engine.worlds.office.tables import Status, TaskReminder
from sandbox_mcp.engine.worlds.office.world import office

GROUP = "reminder"


class _ReminderAdded(TypedDict):
    """The id of a reminder that was added."""

    reminder_id: str


class Task(TypedDict):
    """One reminder."""

    reminder_id: str
    task: str
    due_date: str | None
    status: Status


class Tasks(TypedDict):
    """Reminders, oldest first."""

    reminders: list[Task]


@office.action(name="AddReminder", group=GROUP, adds=[TaskReminder], said=["added", "remind"])
def add_reminder(tx: Tx, task: Text, due_date: str | None = None) -> _ReminderAdded:
    """Add a reminder.

    Args:
        task: What to be reminded of.
        due_date: By when, such as 2027-03-08 17:30:00.
    """
    owner = me(tx)
    if not task.strip():
        raise ValueError("`task` must not be empty")
    due = None if due_date is None else moment(tx, "due_date", due_date)
    return {"reminder_id": tx.add(TaskReminder, account=owner.account_id, task=task, due_date=due).reminder_id}


@office.action(
    name="CompleteReminder",
    group=GROUP,
    updates=[TaskReminder.status],
    destructive=False,
    said=["completed", "marked", "ticked"],
)
def complete_reminder(tx: Tx, reminder_id: Id[TaskReminder]) -> Success:
    """Mark a reminder as complete. It stays in the list.

    Args:
        reminder_id: Id of the reminder.
    """
    reminder = mine(tx, TaskReminder, reminder_id)
    if reminder.status == "complete":
        raise ValueError(f"the reminder {reminder.task!r} is complete already")
    tx.change(reminder, status="complete")
    return SUCCESS


@office.action(name="DeleteReminder", group=GROUP, removes=[TaskReminder], said=["deleted", "removed"])
def delete_reminder(tx: Tx, reminder_id: Id[TaskReminder]) -> Success:
    """Delete a reminder from the list.

    Args:
        reminder_id: Id of the reminder.
    """
    tx.remove(mine(tx, TaskReminder, reminder_id))
    return SUCCESS


@office.query(name="GetReminders", group=GROUP)
def get_reminders(tx: Tx) -> Tasks:
    """List all reminders, pending and complete."""
    owner = me(tx)
    return {
        "reminders": [
            {
                "reminder_id": row.reminder_id,
                "task": row.task,
                "due_date": written(tx, row.due_date),
                "status": row.status,
            }
            for row in tx.all(TaskReminder, account=owner.account_id)
        ]
    }
