"""Replay: execute every call of a recorded session again, and say whether results and state agree with the log.

Policy: what it began with (state, clock, tools, the user's first words) and what its user did are those of the
scenario, where known. Time is taken from the log, everything else is computed anew. Calls that were refused before any
tool ran are expected to have changed nothing.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from sandbox_scenarios.model import Scenario
from sandbox_scenarios.personas import user_of
from sandbox_scenarios.stage import Stage, failed
from sandbox_scenarios.variants import actions

from sandbox_mcp.engine.tools import Bound, Outcome
from sandbox_mcp.engine.tools.attacks import CARRIED_BY, SLIPPED_IN, carrying
from sandbox_mcp.engine.tools.calling import without_arguments
from sandbox_mcp.engine.tools.injected import INJECTED
from sandbox_mcp.engine.tools.user_tools import CONFIRM, END
from sandbox_mcp.engine.trajectory import Message, ToolCall, Trajectory
from sandbox_mcp.engine.trajectory.log import plain
from sandbox_mcp.engine.world import Change
from sandbox_mcp.engine.world.faults import WorldFailedError
from sandbox_mcp.play.session.live_servers import live_worlds
from sandbox_mcp.play.users.recall import USER_TOOLS

OF_SESSIONS = frozenset({CONFIRM, END, *USER_TOOLS})
"""Calls of users of any world, which touch nothing of the world."""


@dataclass(frozen=True, slots=True)
class ReplayDifference:
    """One way in which the replay disagrees: at which event, in what, and both values as JSON text."""

    seq: int
    what: str
    recorded: str
    replayed: str


def differences(trajectory: Trajectory, scenario: Scenario | None = None) -> Iterator[ReplayDifference]:
    """Every disagreement between a log and its replay, in order; none if the session is deterministic.

    With its ``scenario`` also what it began with, and what its user did, where that is not the scenario's.

    Raises:
        ScenarioError: the log recorded no state.
        UnknownWorldError: the world it was played in is not installed here.
    """
    stage = Stage.recorded(trajectory.started)
    if answers := stage.home.retold([_told(item) for item in trajectory.events if _is_agents(item)]):
        stage.running.knowledge = answers
    if scenario is not None:
        yield from _unlike_scenario(trajectory, scenario)
    for event in trajectory.events:
        if not isinstance(event, ToolCall):
            continue
        if event.caller == "user" and event.tool not in stage.home.user_acts:
            harmless = event.tool in OF_SESSIONS or (event.tool is None and event.error is not None)
            if not harmless or event.changes:
                yield ReplayDifference(event.seq, "caller", text_of(event.called), '"nothing that a user can do here"')
            continue
        if event.caller == "environment":
            own = {*(one.name for one in stage.home.events), *(one.id for one in (scenario.events if scenario else ()))}
            if scenario is not None and event.name not in own:
                yield ReplayDifference(event.seq, "caller", text_of(event.called), '"nothing that happens by itself"')
            yield from unlike(event.seq, [("changes", event.changes, _happened_again(stage, event, scenario))])
            continue
        if event.tool is None or (event.error and event.error.kind != "execution"):
            if event.changes:
                yield ReplayDifference(event.seq, "changes", text_of(event.changes), "[]")
            continue
        outcome = _again(stage, event)
        if outcome.tool is None:
            yield ReplayDifference(event.seq, "tool", text_of(event.tool), "unknown to this version")
            continue
        fault = outcome.fault
        recorded_error = [event.error.type, without_arguments(event.error.message)] if event.error else None
        replayed_error = [fault.type, without_arguments(fault.message)] if fault else None
        results, changes = (event.result, outcome.result), (event.changes, outcome.changes)
        values = [("error", recorded_error, replayed_error), ("result", *results), ("changes", *changes)]
        yield from unlike(event.seq, values)


def _is_agents(event: object) -> TypeGuard[ToolCall]:
    return isinstance(event, ToolCall) and event.caller == "agent" and event.tool is not None


def _told(event: ToolCall) -> tuple[Any, ...]:
    error = event.error.message if event.error else None
    return event.tool, event.arguments, event.result, error, event.meta


def _unlike_scenario(trajectory: Trajectory, scenario: Scenario) -> Iterator[ReplayDifference]:
    """Differences between a log and its scenario: in what it began with, and in the acts of a scripted user."""
    started, clock = trajectory.started, scenario.clock
    offered = {tool.name: tool.tool for tool in actions(scenario, started.variant).values()}
    said = [event for event in trajectory.events if isinstance(event, Message) and event.sender == "user"]
    values = [
        ("scenario digest", started.digest, scenario.digest),
        ("clock", started.clock, {"now": clock.now, "zone": clock.zone, "step": clock.step}),
        (
            "tools",
            {tool.name: [tool.tool, tool.action] for tool in started.tools},
            {name: [tool.name, tool.action] for name, tool in offered.items()},
        ),
        *([("user's first words", said[0].content, user_of(scenario, started.variant).opening)] if said else []),
    ]
    yield from unlike(0, values)
    opening = started.world or {}
    # a live server opens with what it answered then, which no scenario gives
    observed = {table for world in live_worlds(scenario.home) for table in world.tables}
    names = sorted((opening.keys() | scenario.world.tables.keys()) - observed)
    tables = [(f"opening state, table {name}", opening.get(name, {}), _table(scenario, name)) for name in names]
    yield from unlike(0, tables)
    if started.user.get("kind") == "scripted":
        yield from _unlike_script(trajectory, scenario)


def _unlike_script(trajectory: Trajectory, scenario: Scenario) -> Iterator[ReplayDifference]:
    """Acts of the user that its script has not, or not with these arguments; a model or a person acts as it likes."""
    does = [{"act": act.name, "arguments": act.arguments} for act in scenario.user.script.does.values()]
    known = {text_of(act) for act in does}
    for event in trajectory.events:
        if isinstance(event, ToolCall) and event.caller == "user" and event.tool not in OF_SESSIONS:
            done = text_of({"act": event.tool, "arguments": event.arguments})
            if done not in known:
                yield ReplayDifference(event.seq, "user's act", done, text_of(does))


def _table(scenario: Scenario, name: str) -> Mapping[str, Any]:
    return scenario.world.tables.get(name, {})


def _again(stage: Stage, event: ToolCall) -> Outcome:
    stage.set_time(event.clock)
    tool = stage.home.tools.get(event.tool or "")
    if tool is None:
        return Outcome(None, event.arguments)
    try:
        call, struck = Bound(tool, event.arguments), event.meta.get(INJECTED)
        outcome = stage.again(call) if struck is None else stage.spoilt(call, struck)
        slipped = event.meta.get(SLIPPED_IN)
        return outcome if slipped is None else carrying(outcome, event.meta.get(CARRIED_BY, ""), slipped)
    except WorldFailedError as failure:
        return Outcome(tool, event.arguments, fault=failed(failure))


def _happened_again(stage: Stage, event: ToolCall, scenario: Scenario | None) -> tuple[Change, ...]:
    """Changes of what happened by itself; what a scenario let happen is only known from it, and else believed."""
    stage.set_time(event.clock)
    if all(known.name != event.name for known in stage.home.events):
        item = next((one for one in scenario.events if one.id == event.name), None) if scenario else None
        if scenario is None:
            stage.running.replay(event.changes)
            return event.changes
        return item.happen(stage.running) if item else ()
    due = next(iter(stage.happened(event)), None)
    try:
        return stage.happen(due)[0].changes if due else ()
    except WorldFailedError:
        return ()


def unlike(seq: int, values: Iterable[tuple[str, Any, Any]]) -> Iterator[ReplayDifference]:
    """The values of an event that differ; each is given as its name, its recorded value and its present one."""
    for what, recorded, replayed in values:
        if text_of(recorded) != text_of(replayed):
            yield ReplayDifference(seq, what, text_of(recorded), text_of(replayed))


def text_of(value: Any) -> str:
    """A value of a log as JSON text, in which two values are compared."""
    return json.dumps(value, default=plain, ensure_ascii=False, sort_keys=True)
