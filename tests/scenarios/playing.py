"""Plays a reference solution through a session, as it is or with something wrong about it."""

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from sandbox_scenarios import Scenario
from sandbox_scenarios.filling import refusal
from sandbox_scenarios.model import PlannedCall, Solution
from sandbox_scenarios.values import parse_path

from sandbox_mcp.engine.trajectory import MemoryLog, Trajectory
from sandbox_mcp.play.session import Session, SessionSpec
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from sandbox_mcp.play.users import ScriptedUser

ABSENT = "not found"
"""What a call gets that wants the result of one that was left out; None would stand for no argument at all."""
_PLACE = re.compile(r"\$\{([^}]+)\}")


def play(scenario: Scenario, solution: Solution, before: Iterable[PlannedCall] = ()) -> Trajectory:
    """The log of a session in which the agent does what the solution says, after a few other calls."""
    log = MemoryLog()
    session = Session(SessionSpec(scenario), ScriptedUser.of(scenario.user), log)
    session.begin()
    for extra in before:
        session.call(extra.tool, extra.arguments)
    results: dict[str, Any] = {}
    for turn in solution.turns:
        for planned in turn.calls:
            answer = session.call(planned.tool, filled(planned.arguments, results))
            if planned.label:
                refused = refusal(answer.error) if answer.error else None
                results[planned.label] = refused or log.trajectory().events[-1].result
        if session.over:
            break
        asyncio.run(session.say(filled(turn.reply, results)))
    return log.trajectory()


def solved(scenario: Scenario, number: int = 0) -> Trajectory:
    """The log of a session in which the agent does as one of the scenario's solutions says, until the user leaves."""
    return RehearsalStage(scenario).rehearse(scenario.solutions[number]).log


def talk(scenario: Scenario, text: str) -> Trajectory:
    """The log of a session in which the agent says one and the same thing to whatever the user says."""
    log = MemoryLog()
    session = Session(SessionSpec(scenario), ScriptedUser.of(scenario.user), log)
    session.begin()
    while not session.over:
        asyncio.run(session.say(text))
    return log.trajectory()


def with_calls(solution: Solution, change: Callable[[int, PlannedCall], PlannedCall | None]) -> Solution:
    """The solution with every call, numbered from 0, replaced by what ``change`` makes of it, or left out."""
    number = -1

    def batch(calls: tuple[PlannedCall, ...]) -> tuple[PlannedCall, ...]:
        nonlocal number
        kept: list[PlannedCall] = []
        for item in calls:
            number += 1
            changed = change(number, item)
            kept += [changed] if changed else []
        return tuple(kept)

    turns = (replace(turn, batches=tuple(filter(None, map(batch, turn.batches)))) for turn in solution.turns)
    return replace(solution, turns=tuple(turns))


def filled(value: Any, results: Mapping[str, Any]) -> Any:
    """``$label.path`` replaced by what it stands for, ``${label.path}`` within a text by its text."""
    if isinstance(value, Mapping):
        return {key: filled(item, results) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, results) for item in value]
    if not isinstance(value, str):
        return value
    if value.startswith("$") and not value.startswith("${"):
        return _found(value[1:], results)
    return _PLACE.sub(lambda match: str(_found(match[1], results)), value)


def _found(reference: str, results: Mapping[str, Any]) -> Any:
    label, _, path = reference.partition(".")
    value: Any = results.get(label, ABSENT)
    try:
        for part in parse_path(path):
            value = value[part]
    except (KeyError, IndexError, TypeError):
        return ABSENT
    return value
