"""Sessions with the results that an agent worked out by itself, without the tools that compute them.

Policy: a computing tool, whose result follows from its arguments alone, is a means. Where a solution calls one with
values that the session had, and the session did not, the call is put in as if it had been made. Its milestone counts as
far as a later one was met, so that a result without any use earns nothing.

An example. *looked* is a call for the weather, *converted* one of ``unit_conversion`` with the temperature that it
returned, *told* a reply with the result. The agent looked and replied "about 64 °F" of its own reckoning. The
conversion of what it was told is put in, *told* finds 64.2 there, and *converted* counts as far as *told* does.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sandbox_scenarios.errors import ScenarioError
from sandbox_scenarios.filling import fill, refusal
from sandbox_scenarios.model import CallConstraint, PlannedCall, Scenario, Solution
from sandbox_scenarios.stage import Stage

from sandbox_grader.grading.values import same_value
from sandbox_grader.milestones.matching import MatchedPlace
from sandbox_mcp.engine.tools import Bound, bind, present
from sandbox_mcp.engine.trajectory import Message, ToolCall, Trajectory

WORKED_OUT = "worked_out"
"""What marks, under ``meta``, a call that was put in."""
MOST_PLACES = 12
"""A call is put in after what it rests on and before so many of the agent's next messages."""


def with_results(scenario: Scenario, trajectory: Trajectory) -> Iterator[Trajectory]:
    """For every solution the session with what it worked out by itself; none where it made every such call."""
    tools = scenario.home.agent_tools
    asked = {
        pattern.tool
        for milestone in scenario.milestones
        for constraint in milestone.constraints
        if isinstance(constraint, CallConstraint)
        for pattern in constraint.patterns
    }
    if not any(name in tools and tools[name].computes for name in asked):
        return
    for solution in scenario.solutions:
        filled = _Reckoning(scenario, trajectory).along(solution)
        if filled is not None:
            yield filled


def is_worked_out(event: Message | ToolCall) -> bool:
    """True if an event was put in."""
    return isinstance(event, ToolCall) and WORKED_OUT in event.meta


def as_far_as_used(
    placed: Mapping[int, MatchedPlace], before: Sequence[Sequence[int]], events: Sequence[Message | ToolCall]
) -> dict[int, MatchedPlace]:
    """The places with those of calls that were put in worth as much as the best of what comes after them.

    Args:
        placed: the place of every milestone.
        before: for every milestone those that come before it.
        events: the session, with the calls that were put in.
    """
    found = dict(placed)
    if not any(is_worked_out(events[place.index]) for place in placed.values()):
        return found

    def worth(number: int) -> float:
        place = placed[number]
        if not is_worked_out(events[place.index]):
            return place.similarity
        after = [other for other, first in enumerate(before) if number in first and other in placed]
        return min(place.similarity, max(map(worth, after), default=0.0))

    for number, place in placed.items():
        found[number] = replace(place, similarity=worth(number))
    return found


@dataclass(slots=True)
class _Reckoning:
    """One walk along a solution through a session."""

    scenario: Scenario
    trajectory: Trajectory
    results: dict[str, Any] = field(default_factory=dict[str, Any])
    used: set[int] = field(default_factory=set[int])
    cursor: int = 0
    put_in: list[tuple[int, ToolCall]] = field(default_factory=list[tuple[int, ToolCall]])

    def along(self, solution: Solution) -> Trajectory | None:
        stage = Stage.of(self.scenario)
        for turn in solution.turns:
            for call in turn.calls:
                self._call(stage, call)
        if not self.put_in:
            return None
        events = self.trajectory.events
        spoken = [i for i, event in enumerate(events) if isinstance(event, Message) and event.sender == "agent"]
        more: dict[int, list[ToolCall]] = {}
        for cursor, call in self.put_in:
            for place in dict.fromkeys((cursor, *[i for i in spoken if i > cursor][:MOST_PLACES])):
                near = events[min(place, len(events) - 1)]
                more.setdefault(place, []).append(replace(call, seq=near.seq, clock=near.clock))
        filled = list[Message | ToolCall]()
        for index, event in enumerate((*events, None)):
            filled += more.get(index, ())
            if event is not None:
                filled.append(event)
        return replace(self.trajectory, events=tuple(filled))

    def _call(self, stage: Stage, planned: PlannedCall) -> None:
        tool = self.scenario.home.agent_tools.get(planned.tool)
        arguments: dict[str, Any] = {}  # those that are known in the session
        for name, value in planned.arguments.items():
            try:
                arguments[name] = fill(value, self.results)
            except ScenarioError:
                continue
        made = self._made(planned.tool, arguments, exactly=tool is not None and tool.computes)
        if made is not None:
            index, event = made
            self.used.add(index)
            self.cursor = max(self.cursor, index + 1)
            if planned.label:
                self.results[planned.label] = refusal(event.error.message) if event.error else event.result
        elif tool is not None and tool.computes and len(arguments) == len(planned.arguments):
            bound = bind({tool.name: present(tool)}, tool.name, arguments)
            outcome = stage.again(bound) if isinstance(bound, Bound) else bound
            if outcome.fault is None:
                if planned.label:
                    self.results[planned.label] = outcome.result
                name = f"{WORKED_OUT}-{len(self.put_in)}"
                call = ToolCall(
                    seq=0, clock=0, call=name, batch=name, caller="agent", name=tool.name, tool=tool.name,
                    arguments=arguments, result=outcome.result, meta={WORKED_OUT: True},
                )  # fmt: skip
                self.put_in.append((self.cursor, call))

    def _made(self, tool: str, arguments: Mapping[str, Any], *, exactly: bool) -> tuple[int, ToolCall] | None:
        """The session's call that comes nearest to a planned one; a computing one only if it is the same."""
        best: tuple[tuple[bool, int], tuple[int, ToolCall]] | None = None
        for index, event in enumerate(self.trajectory.events):
            if not isinstance(event, ToolCall) or event.caller != "agent" or event.tool != tool or index in self.used:
                continue
            right = sum(same_value(value, event.arguments.get(name)) for name, value in arguments.items())
            if exactly and (event.error is not None or right < len(arguments)):
                continue
            rank = (event.error is None, right)
            if best is None or rank > best[0]:
                best = (rank, (index, event))
        return best[1] if best else None
