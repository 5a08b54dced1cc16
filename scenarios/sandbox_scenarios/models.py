"""How the reference solutions word the texts that milestones look for in the world.

Policy: a text that was written is compared with these, so that one which denies or adds to them is not a paraphrase.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sandbox_scenarios.model import Expected, Milestone, Solution, TableConstraint

TEXTS = frozenset({"content"})
"""The columns that hold what people word for themselves; an argument of the same name fills them."""


def modelled(milestones: tuple[Milestone, ...], solutions: tuple[Solution, ...]) -> tuple[Milestone, ...]:
    """The milestones, their texts beside what the solutions write into the column of that name."""
    written = {name: tuple(dict.fromkeys(_written(solutions, name))) for name in TEXTS}
    return tuple(
        replace(item, constraints=tuple(_modelled(one, written) for one in item.constraints))
        if any(isinstance(one, TableConstraint) for one in item.constraints)
        else item
        for item in milestones
    )


def _modelled(constraint: Any, written: Mapping[str, tuple[str, ...]]) -> Any:
    if not isinstance(constraint, TableConstraint):
        return constraint
    rows = tuple({name: _cell(value, written.get(name, ())) for name, value in row.items()} for row in constraint.rows)
    return replace(constraint, rows=rows)


def _cell(expected: Expected, models: tuple[str, ...]) -> Expected:
    worded = models and expected.measure in ("facts", "contains", "rouge", None) and expected.ref is None
    return replace(expected, models=models) if worded else expected


def _written(solutions: tuple[Solution, ...], name: str) -> Iterator[str]:
    for solution in solutions:
        for turn in solution.turns:
            for call in turn.calls:
                value = call.arguments.get(name)
                if isinstance(value, str) and not value.startswith("$"):
                    yield value
