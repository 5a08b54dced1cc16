"""Pairing of predicted with reference calls: the authors' greedy walk, and the largest one-to-one matching.

Policy: a reference call is matched by one call at most and a call matches one reference call at most.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sandbox_grader.papers.tooltalk.comparing import FirstDifference
from sandbox_mcp.engine.trajectory import Message, ReferenceCall, ReferenceTurn, ToolCall, Trajectory

MANY = 10_000
"""More turns than any session has; a note of a later one is not a note."""
Matching = Mapping[int, int]
"""From the position of a predicted call to that of the reference call it matches."""


@dataclass(frozen=True, slots=True)
class Predicted:
    """A call the agent made, and the number of the user message (from 0) it answers."""

    turn: int
    call: ToolCall


@dataclass(frozen=True, slots=True)
class PlacedCall:
    """A call of the reference solution, and the number of its turn."""

    turn: int
    call: ReferenceCall


def predictions(trajectory: Trajectory) -> tuple[Predicted, ...]:
    """The agent's calls in order. An importer that knows better than the user's messages notes ``turn`` in ``meta``."""
    found: list[Predicted] = []
    turn = -1
    for event in trajectory.events:
        if isinstance(event, Message):
            turn += event.sender == "user" and event.recipient == "agent"
        elif event.caller == "agent":
            noted = event.meta.get("turn")
            if not isinstance(noted, int) or isinstance(noted, bool) or not 0 <= noted < MANY:
                noted = max(turn, 0)
            found.append(Predicted(noted, event))
    return tuple(found)


def wanted_calls(solution: Sequence[ReferenceTurn]) -> tuple[PlacedCall, ...]:
    """The calls of a reference solution in order."""
    return tuple(PlacedCall(number, call) for number, turn in enumerate(solution) for call in turn.calls)


def first_fit(predicted: Sequence[Predicted], wanted: Sequence[PlacedCall], compare: FirstDifference) -> Matching:
    """Each prediction in order takes the first reference call left that it matches, whatever the turn.

    Source: ToolTalk, ``evaluate_predictions`` of the authors' code.
    """
    left = list(range(len(wanted)))
    matching: dict[int, int] = {}
    for place, prediction in enumerate(predicted):
        taken = next((j for j in left if compare(prediction.call, wanted[j].call) is None), None)
        if taken is not None:
            matching[place] = taken
            left.remove(taken)
    return matching


def best_fit(
    predicted: Sequence[Predicted], wanted: Sequence[PlacedCall], compare: FirstDifference, *, per_turn: bool
) -> Matching:
    """The largest one-to-one matching; with ``per_turn`` only calls of the same turn may match.

    Every reference call in order takes the first free call, or else moves earlier takers on (Kuhn).
    The time is at most reference calls times comparable pairs.

    Source: ToolTalk, section 3 (per prefix) and equation 1.
    """
    fits = [
        [
            i for i, item in enumerate(predicted)
            if (item.turn == want.turn or not per_turn)
            and item.call.called == want.call.tool
            and compare(item.call, want.call) is None
        ]
        for want in wanted
    ]  # fmt: skip
    taken: dict[int, int] = {}
    for j in range(len(wanted)):
        _take(j, fits, taken, set())
    return taken


def _take(j: int, fits: Sequence[Sequence[int]], taken: dict[int, int], tried: set[int]) -> bool:
    free = next((i for i in fits[j] if i not in taken), None)
    if free is not None:
        taken[free] = j
        return True
    for i in fits[j]:
        if i not in tried:
            tried.add(i)
            if _take(taken[i], fits, taken, tried):
                taken[i] = j
                return True
    return False
