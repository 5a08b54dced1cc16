"""A summary as a table for people."""

from collections.abc import Mapping, Sequence
from typing import Any

from sandbox_mcp.plurals import counted

Rows = list[Sequence[object]]


def scenario_rows(summary: Mapping[str, Any]) -> Rows:
    """One row per scenario and variant."""
    return [
        (
            row["scenario"],
            row["variant"],
            f"{row['scored']}/{row['sessions']}",
            row["similarity"],
            row["refusal"],
            row["turns"],
            _endings(row["endings"]),
        )
        for row in summary["scenarios"]
    ]


SCENARIO_HEADERS = ("scenario", "variant", "scored", "similarity", "refusal", "turns", "endings")


def category_rows(summary: Mapping[str, Any]) -> Rows:
    """One row per category, and one for all."""
    rows: Rows = [
        (name, item["scenarios"], item["scored"], item["similarity"], item["refusal"])
        for name, item in summary["categories"].items()
    ]
    overall = ("all", len(summary["scenarios"]), summary["sessions"]["scored"])
    return [*rows, (*overall, summary["similarity"], summary["refusal"])]


CATEGORY_HEADERS = ("category", "scenarios", "scored", "similarity", "refusal")


def remarks(summary: Mapping[str, Any], limit: int = 5) -> list[str]:
    """What a reader should know beside the numbers: sessions that are missing, and those that broke."""
    sessions = summary["sessions"]
    said = [*_stopped(summary), *_costs(summary)]
    missing = sessions["planned"] - sessions["played"]
    if missing:
        said.append(f"still to be played: {missing} of {counted(sessions['planned'], 'session')}")
    said.extend(map(_failure, summary["failures"][:limit]))
    if sessions["unscored"]:
        said.append(f"not scored: {counted(sessions['unscored'], 'session')}; the same command plays these again")
    return [*said, *_users(summary, limit)]


def _users(summary: Mapping[str, Any], limit: int) -> list[str]:
    """How users misbehaved, and which sessions that spoiled."""
    rates = {kind: item for kind, item in summary["user_conduct"].items() if kind != "spoiled" and item["sessions"]}
    if not rates:
        return []
    often = (f"{kind} in {item['sessions']} of {item['known']} ({item['rate']:.1%})" for kind, item in rates.items())
    said = [f"sessions in which the user did something wrong: {', '.join(often)}"]
    said.extend(f"{_which(item)}: {item['reason']}" for item in summary["spoiled_by_user"][:limit])
    if left_out := summary["sessions"]["spoiled"]:
        said.append(f"left out: {counted(left_out, 'session')} that the user spoiled; --keep-spoiled scores them")
    return said


def _stopped(summary: Mapping[str, Any]) -> list[str]:
    if not summary.get("stopped"):
        return []
    return ["stopped at the budget; the same command with a higher one goes on"]


def _costs(summary: Mapping[str, Any]) -> list[str]:
    cost = summary.get("cost")
    if not cost:
        return []
    known = [f"{role} {_money(cost[role])}" for role in ("agent", "user")]
    lost = f", and {_money(cost['set_aside'])} for sessions set aside" if cost["set_aside"] else ""
    return [f"cost {_money(cost['total'])} ({', '.join(known)}){lost}"]


def _money(amount: float | None) -> str:
    return "unknown" if amount is None else f"{amount:.4f}"


def _failure(failure: Mapping[str, Any]) -> str:
    return f"not scored: {_which(failure)}: {failure['reason']}"


def _which(session: Mapping[str, Any]) -> str:
    return f"{session['scenario']} ({session['variant']}, trial {session['trial']})"


def _endings(endings: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in endings.items())
