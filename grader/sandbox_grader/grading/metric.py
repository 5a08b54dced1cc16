"""Metrics: each is one small class that looks at one session and gives a few numbers with their reasons.

Policy: a session that lacks what a metric needs is inconclusive, with the reason, and never counts as zero.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from sandbox_scenarios import Scenario

    from sandbox_grader.grading.references import ReferenceTurns
    from sandbox_grader.milestones.listening import Settled
    from sandbox_grader.milestones.strict import StrictResult
    from sandbox_mcp.engine.trajectory import Trajectory

Mode = Literal["strict", "paper", "compat"]
"""How to grade. ``compat``: as the authors' code does, oddities included. ``paper``: as the paper's text says.
``strict`` (default): as the paper means it, with the known holes closed; where a metric has none, the same as
``paper``."""

NO_FAULT = "no call was made to go wrong"
NO_INJECTION = "nothing was slipped into results"
USUAL = frozenset({NO_FAULT, NO_INJECTION})
"""Reasons for which a family has nothing to say of most sessions; explanations leave it out."""


@dataclass(frozen=True)
class Subject:
    """One session to be graded, its alternative reference solutions, and its scenario where it is one of ours.

    What several families ask about it is worked out when the first one does.
    """

    trajectory: "Trajectory"
    references: "tuple[ReferenceTurns, ...]" = ()
    scenario: "Scenario | None" = None
    settled: "Settled" = field(default_factory=dict[tuple[int, str], bool])

    @cached_property
    def strictly(self) -> "StrictResult":
        """Grade the milestones and every change of a session strictly; it has a scenario.

        Raises:
            GraderError: the scenario's milestones cannot be used.
        """
        from sandbox_grader.milestones.strict import evaluate

        if self.scenario is None:
            raise ValueError("milestones are part of a scenario, and there is none")
        return evaluate(self.scenario, self.trajectory, self.settled)

    @cached_property
    def retold(self) -> "tuple[ReferenceTurns, ...]":
        """The reference solutions, as the session would have told them."""
        from sandbox_grader.grading.retelling import retold

        return retold(self)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict of a metric on one session.

    ``values`` are JSON values by name, ``details`` one JSON object per thing explained (a call, a milestone, a turn);
    explanations show what such an object has under ``text``, or under ``count`` and ``about``. With ``inconclusive``
    set, ``values`` is empty and the text says what the log lacks.
    """

    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    details: Sequence[Mapping[str, Any]] = ()
    inconclusive: str | None = None


class Metric(Protocol):
    """A family of scores. ``name`` is its key in every report; ``source`` names paper and section.

    A package adds one of its own by an entry point of the group ``sandbox_mcp.metrics``, which names a class
    made without arguments. A subclass of this one needs ``name``, ``source`` and ``grade``. With ``figures``, the names
    of all numbers that it may give, a mistyped one is refused before anything is played.
    """

    name: str
    source: str

    def grade(self, subject: Subject, mode: Mode) -> Verdict:
        """Grade one session. Pure: the same subject and mode give the same verdict."""
        ...

    def summarise(self, graded: Sequence[tuple[Subject, Verdict]], mode: Mode) -> Mapping[str, Any]:
        """Aggregate the verdicts of many sessions, in the given order; inconclusive ones are counted, not averaged.

        Unless a metric says otherwise: :func:`means`.
        """
        return means(graded, mode)


def means(graded: Sequence[tuple[Subject, Verdict]], mode: Mode) -> Mapping[str, Any]:
    """The mean of every numeric value, truth as 1 and 0, over the sessions that have it."""
    values, head = conclusive(graded, mode)
    numbers: dict[str, list[float]] = {}
    for name, value in (item for session in values for item in session.items()):
        if isinstance(value, int | float):
            numbers.setdefault(name, []).append(value)
    averaged = {name: sum(items) / len(items) for name, items in numbers.items()}
    return {**head, **averaged}


def conclusive(
    graded: Sequence[tuple[Subject, Verdict]], mode: Mode
) -> tuple[list[Mapping[str, Any]], Mapping[str, Any]]:
    """The values of the sessions that allowed a verdict, and how a summary begins: of how many sessions it is."""
    values = [verdict.values for _, verdict in graded if verdict.inconclusive is None]
    return values, {"mode": mode, "sessions": len(values), "inconclusive": len(graded) - len(values)}


def mean_of_known(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are known; None where none is."""
    known = [float(value) for value in values if value is not None]
    return sum(known) / len(known) if known else None
