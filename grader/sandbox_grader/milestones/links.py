"""Relations between the milestones of a list, the same for every session compared with them.

Policy: a milestone takes values from others' calls and compares states with those at others' places; a message also
rests on the milestones right before it. What a milestone achieved for good, later ones may set again.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from sandbox_scenarios.model import START, MessageConstraint, Milestone, Scenario, TableConstraint

from sandbox_grader.milestones.found import Findings
from sandbox_grader.milestones.judges import Lasting
from sandbox_grader.milestones.matching import reached
from sandbox_grader.milestones.referring import claims_of, refers, values_of

CALL = "call"
"""The aspect of a place that values are taken from: which call was matched there, -1 if none."""
Aspect = tuple[int, str]
"""Something about another milestone's place: its number, and a table (the version there) or ``CALL``."""


class Links:
    """Milestones, or with ``mines`` minefields, by number, as their ``numbers`` by id tell.

    ``before`` are the direct predecessors of each, ``edges`` the same in pairs. ``resting`` are those that count
    only as far as their predecessors were met. ``aspects`` is what each sees of others, ``seen_by`` who sees which
    of its own, and ``references`` are those whose place its similarity depends on. ``lasting`` is what a milestone
    achieves for good by a constraint on a table. ``findings`` tell what look-ups have to find. ``facts`` are all
    that replies are asked for, but those with values from calls, and ``explained`` what constraints expect, in
    words, by the ``id`` of constraint and pattern of a call.
    """

    def __init__(
        self, milestones: Sequence[Milestone], *, mines: bool = False, scenario: Scenario | None = None
    ) -> None:
        self.milestones = milestones
        self.findings = Findings(scenario)
        self.numbers = {milestone.id: number for number, milestone in enumerate(milestones)}
        self.before = [tuple(self.numbers[name] for name in item.after) for item in milestones]
        self.edges = tuple((first, number) for number, before in enumerate(self.before) for first in before)
        self.resting = [
            not mines and bool(item.after) and any(isinstance(part, MessageConstraint) for part in item.constraints)
            for item in milestones
        ]
        self.aspects = [self._aspects(item) for item in milestones]
        self.seen_by = [
            [
                (n, at)
                for n, aspects in enumerate(self.aspects)
                for at, (seen, _) in enumerate(aspects)
                if seen == number
            ]
            for number in range(len(milestones))
        ]
        self.references = [
            frozenset((*(seen for seen, _ in aspects), *(before if resting else ())))
            for aspects, before, resting in zip(self.aspects, self.before, self.resting, strict=True)
        ]
        self.lasting: Mapping[tuple[int, int], Lasting | None] = {
            (number, id(constraint)): None if mines else self._lasting(number, constraint)
            for number, item in enumerate(milestones)
            for constraint in item.constraints
            if isinstance(constraint, TableConstraint)
        }
        contents = [
            item.content
            for milestone in milestones
            for item in milestone.constraints
            if isinstance(item, MessageConstraint)
        ]
        self.explained: dict[tuple[int, int], Mapping[str, Any] | None] = {}
        self.facts = tuple(fact for content in contents for fact in claims_of(content) if not refers(fact, content))

    def _aspects(self, milestone: Milestone) -> tuple[Aspect, ...]:
        found: dict[Aspect, None] = {}
        for constraint in milestone.constraints:
            if isinstance(constraint, TableConstraint) and constraint.since != START:
                found[self.numbers[constraint.since], constraint.table] = None
        for ref in values_of(milestone):
            found[self.numbers[ref.milestone], CALL] = None
        return tuple(found)

    def _lasting(self, number: int, constraint: TableConstraint) -> Lasting | None:
        """What a constraint achieves for good: all but what milestones after it set or remove in the same table."""
        if self.milestones[number].transient:
            return None
        later = [
            other
            for follower in reached(number, self.edges)
            for other in self.milestones[follower].constraints
            if isinstance(other, TableConstraint) and other.table == constraint.table
        ]
        columns = {column for other in later if other.kind in ("is", "updates") for row in other.rows for column in row}
        return Lasting(frozenset(columns), all(other.kind != "removes" for other in later))


def links_of(scenario: Scenario) -> tuple[Links, Links]:
    """The links of a scenario's milestones, and those of its minefields."""
    return _links(_Itself(scenario))


class _Itself:
    """A scenario that equals no other: one that expects 1 equals one that expects true, and does not mean the same."""

    __slots__ = ("scenario",)

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario

    def __hash__(self) -> int:
        return id(self.scenario)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and other.scenario is self.scenario


@lru_cache(maxsize=1024)
def _links(of: _Itself) -> tuple[Links, Links]:
    return Links(of.scenario.milestones, scenario=of.scenario), Links(of.scenario.minefields, mines=True)
