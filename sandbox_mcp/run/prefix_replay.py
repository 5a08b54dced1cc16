"""Carrying out again what an agent did in prefix replay: each prefix in the world that the ground truth had made of it.

Policy: the log says what was called, the ground truth what the world was; both are taken anew from the scenario, so
that a scenario that has changed since is a difference too. Calls are sent as the agent sent them, in its batches and
under the names that it saw.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sandbox_scenarios.variants import actions, variant_named

from sandbox_mcp.run.prefix import KIND, Prefix, TruthfulUser, Truths, prefixes
from sandbox_mcp.session import AgentCall, Session, SessionSpec
from sandbox_mcp.session.manager import SessionManager
from sandbox_mcp.session.replay import ReplayDifference, text_of
from sandbox_mcp.tools.free_text import ACT, render
from sandbox_mcp.trajectory import MemoryLog, ToolCall, Trajectory


def is_prefix_replay(trajectory: Trajectory) -> bool:
    """Whether a log holds replies that were asked for on prefixes, by a run of ours."""
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
    """What the agent called before each of its replies, and after the last."""
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
    session = Session(spec, TruthfulUser(), log, manager.presentation(spec).tools, manager.knowledge)
    session.restore(Trajectory(truth.started, truth.events[: prefix.upto], None, truth.path, truth.cut))
    asking = _Asking(spec, session)
    batches: dict[str, list[ToolCall]] = {}
    for call in calls:
        batches.setdefault(call.batch, []).append(call)
    for batch in batches.values():
        before = len(log.events)
        session.call_batch([asking.as_sent(call) for call in batch])
        made = [event for event in log.events[before:] if isinstance(event, ToolCall) and event.caller == "agent"]
        for call in batch:  # a batch is carried out in the order that loses its races, not in that of a list
            again = next((event for event in made if _asked(event) == _asked(call)), None)
            if again is None:
                yield ReplayDifference(call.seq, "call", text_of(call.name), "not carried out")
                continue
            made.remove(again)
            for what, recorded, replayed in (
                ("tool", call.tool, again.tool),
                ("error", call.error, again.error),
                ("result", call.result, again.result),
                ("changes", call.changes, again.changes),
            ):
                if text_of(recorded) != text_of(replayed):
                    yield ReplayDifference(call.seq, what, text_of(recorded), text_of(replayed))


def _asked(call: ToolCall) -> tuple[str, str | None, str]:
    return call.name, call.raw_arguments, text_of(call.arguments)


@dataclass(slots=True)
class _Asking:
    """How a session's agent sends calls: under presented names, or as text."""

    spec: SessionSpec
    session: Session
    as_text: bool = field(init=False)

    def __post_init__(self) -> None:
        self.as_text = variant_named(self.spec.variant).free_text

    def as_sent(self, call: ToolCall) -> AgentCall:
        """A call of a log as the agent sent it."""
        if call.raw_arguments is not None:
            return AgentCall(call.name, call.raw_arguments)
        offered = actions(self.spec.scenario, self.spec.variant) if self.as_text else self.session.tools
        tool = offered.get(call.name)
        shown = {canonical: name for name, canonical in tool.names.items()} if tool else {}
        given: dict[str, Any] = {shown.get(name, name): value for name, value in call.arguments.items()}
        return AgentCall(ACT, {"action": render(call.name, given)}) if self.as_text else AgentCall(call.name, given)
