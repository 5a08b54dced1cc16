"""Timers, and waiting for them. A timer is due when the virtual clock says so; the session then speaks up.

Policy: a timer that has gone off stays in its table, because what has happened is part of the state; listing and
cancelling know only those still running.
"""

from typing import TypedDict

from sandbox_mcp.engine.world.faults import NoDataError
from sandbox_mcp.engine.world.tables import Id
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.phone.tables import Timer
from sandbox_mcp.engine.worlds.phone.world import phone

LONGEST = 7 * 86400.0
"""The longest a timer may run and a wait may last, in seconds."""


class _RunningTimer(TypedDict):
    """A timer that has not gone off yet."""

    timer_id: str
    label: str
    seconds_left: float


def _check_length(seconds: float) -> None:
    if not 0 < seconds <= LONGEST:
        raise ValueError(f"`seconds` {seconds!r} is out of range; expected more than 0 and at most {LONGEST}")


@phone.action(group="timer", adds=[Timer], said=["timer", "set", "started"])
def set_timer(tx: Tx, seconds: float, label: str = "Timer") -> str:
    """Start a timer. When it goes off, the phone says so.

    Args:
        seconds: How long it runs, in seconds, up to a week.
        label: What it is for.

    Returns:
        the id of the new timer.

    Raises:
        ValueError: the length is out of range.
    """
    _check_length(seconds)
    return tx.add(Timer, label=label, creation_timestamp=tx.now, due_timestamp=tx.now + seconds).timer_id


@phone.query(group="timer")
def list_timers(tx: Tx) -> list[_RunningTimer]:
    """List the timers that are running, oldest first.

    Returns:
        each timer with its id, its label and the seconds left.
    """
    return [
        _RunningTimer(timer_id=timer.timer_id, label=timer.label, seconds_left=timer.due_timestamp - tx.now)
        for timer in tx.all(Timer)
        if timer.due_timestamp > tx.now
    ]


@phone.action(group="timer", removes=[Timer], said=["cancelled", "stopped", "paused", "removed", "deleted"])
def cancel_timer(tx: Tx, timer_id: str) -> None:
    """Stop a timer before it goes off.

    Args:
        timer_id: Id of the timer to stop.

    Raises:
        NoDataError: no timer with that id is running.
    """
    timer = tx.find(Timer, Id(timer_id))
    if timer is None or timer.due_timestamp <= tx.now:
        raise NoDataError(f"no timer with the id {timer_id!r} is running")
    tx.remove(timer)


@phone.query(group="timer")
def wait(tx: Tx, seconds: float) -> float:
    """Let time pass. Timers that go off meanwhile are announced.

    Args:
        seconds: How long, in seconds, up to a week.

    Returns:
        the moment afterwards, in seconds since 1970.

    Raises:
        ValueError: the length is out of range.
    """
    _check_length(seconds)
    tx.wait(seconds)
    return tx.now + seconds
