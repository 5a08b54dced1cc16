"""Alarms, which ring every day at a time. Source: ToolTalk, appendix A, plug-in Alarm."""

from typing import TypedDict

from sandbox_mcp.engine.world.tables import Id
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.office.rules import SUCCESS, Success, check_range, me, mine, time_of_day
from sandbox_mcp.engine.worlds.office.tables import Alarm
from sandbox_mcp.engine.worlds.office.world import office

GROUP = "alarm"


class _AlarmSet(TypedDict):
    """The id of an alarm that was set."""

    alarm_id: str


class _AlarmTime(TypedDict):
    """One alarm."""

    alarm_id: str
    time: str


class _FoundAlarms(TypedDict):
    """Alarms, oldest first."""

    alarms: list[_AlarmTime]


@office.action(name="AddAlarm", group=GROUP, adds=[Alarm], said=["set"])
def add_alarm(tx: Tx, time: str) -> _AlarmSet:
    """Set an alarm for a time of day.

    Args:
        time: When it rings, such as 17:30:00.
    """
    owner, rings = me(tx), time_of_day("time", time)
    return {"alarm_id": tx.add(Alarm, account=owner.account_id, time=rings).alarm_id}


@office.action(name="DeleteAlarm", group=GROUP, removes=[Alarm], said=["deleted", "removed"])
def delete_alarm(tx: Tx, alarm_id: Id[Alarm]) -> Success:
    """Delete an alarm.

    Args:
        alarm_id: Id of the alarm.
    """
    tx.remove(mine(tx, Alarm, alarm_id))
    return SUCCESS


@office.query(name="FindAlarms", group=GROUP)
def find_alarms(tx: Tx, start_range: str | None = None, end_range: str | None = None) -> _FoundAlarms:
    """Find the alarms that are set, all of them or those between two times of day.

    Args:
        start_range: The earliest time, such as 06:00:00.
        end_range: The latest time, such as 09:00:00.
    """
    owner = me(tx)
    start = None if start_range is None else time_of_day("start_range", start_range)
    end = None if end_range is None else time_of_day("end_range", end_range)
    check_range("start_range", start, "end_range", end)
    return {
        "alarms": [
            {"alarm_id": alarm.alarm_id, "time": alarm.time}
            for alarm in tx.all(Alarm, account=owner.account_id)
            if (start is None or alarm.time >= start) and (end is None or alarm.time <= end)
        ]
    }
