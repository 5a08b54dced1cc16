"""Carrying out again what an agent did in prefix replay, on each prefix in the world that the ground truth led to.

Policy: the log says what was called. The world, and the ground truth that leads to it, are taken from the scenario as
it is now, so that a scenario that has changed since shows as a difference. Calls are sent as the agent sent them, in
its batches and under the names that it saw. No model is asked again.
"""

from collections.abc import Iterator
from dataclasses import replace

from sandbox_mcp.app.benchmarks.tooltalk.prefix import KIND, Prefix, TruthfulUser, Truths, as_sent, prefixes
from sandbox_mcp.engine.trajectory import MemoryLog, ToolCall, Trajectory
from sandbox_mcp.play.session import AgentCall, SessionSpec
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.session.replay import ReplayDifference, text_of, unlike


def is_prefix_replay(trajectory: Trajectory) -> bool:
    """True if a log holds replies that were asked for on prefixes, by a run of ours."""
    return trajectory.started.user.get("kind") == KIND


async def prefix_differences(
    trajectory: Trajectory, manager: SessionManager, spec: SessionSpec, truths: Truths
) -> list[ReplayDifference]:
    """Every call of a log of prefixes that now comes to something else, in order; none if all is as it was.

    ``spec`` is that of its session.

    Raises:
        RunError: the ground truth cannot be had.
        SessionError: the scenario is another one than that of the log.
    """
    spec = replace(spec, scenario=replace(spec.scenario, fill=""))  # what a model answered for a tape is kept beside it
    truth = await truths(manager, spec)
    found: list[ReplayDifference] = []
    said = _answers(trajectory)
    for prefix in prefixes(truth):
        calls = next(said, None)
        if calls is None:
            break  # the log stops before the last prefix
        found += _differences(manager, spec, truth, prefix, calls)
    return found


def _answers(trajectory: Trajectory) -> Iterator[list[ToolCall]]:
    """Calls of the agent before each of its replies, and after the last."""
    calls: list[ToolCall] = []
    for event in trajectory.events:
        if isinstance(event, ToolCall):
            calls += [event] if event.caller == "agent" else []
        elif event.sender == "agent":
            yield calls
            calls = []
    if calls:
        yield calls


def _differences(
    manager: SessionManager, spec: SessionSpec, truth: Trajectory, prefix: Prefix, calls: list[ToolCall]
) -> Iterator[ReplayDifference]:
    log = MemoryLog()
    session = manager.session(spec, TruthfulUser(), log)
    session.restore(Trajectory(truth.started, truth.events[: prefix.upto], None, truth.path, truth.cut))
    sent = as_sent(session)
    batches: dict[str, list[ToolCall]] = {}
    for call in calls:
        batches.setdefault(call.batch, []).append(call)
    for batch in batches.values():
        before = len(log.events)
        session.call_batch(
            [
                AgentCall(*sent(call)) if call.raw_arguments is None else AgentCall(call.name, call.raw_arguments)
                for call in batch
            ]
        )
        made = [event for event in log.events[before:] if isinstance(event, ToolCall) and event.caller == "agent"]
        for call in batch:  # a batch is carried out in the order that loses its races, not in that of a list
            again = next((event for event in made if _asked(event) == _asked(call)), None)
            if again is None:
                yield ReplayDifference(call.seq, "call", text_of(call.name), "not carried out")
                continue
            made.remove(again)
            told = ("tool", "error", "result", "changes")
            yield from unlike(call.seq, [(what, getattr(call, what), getattr(again, what)) for what in told])


def _asked(call: ToolCall) -> tuple[str, str | None, str]:
    return call.name, call.raw_arguments, text_of(call.arguments)
