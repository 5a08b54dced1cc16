"""Which timers have gone off: a function of state and time alone, so a log needs nothing more to tell."""

from typing import cast

from sandbox_mcp.world import Row, Snapshot


def gone_off(state: Snapshot, since: float, now: float) -> list[Row]:
    """The timers due after ``since`` and not after ``now``, in the order in which they went off."""
    due = [row for row in state.table("timer").values() if since < cast(float, row["due_timestamp"]) <= now]
    return sorted(due, key=lambda row: cast(float, row["due_timestamp"]))
