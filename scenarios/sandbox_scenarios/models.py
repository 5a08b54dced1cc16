"""How the reference solutions word the texts that milestones look for in the world.

Policy: a text that was written is compared with these, so that one which denies or adds to them is not a paraphrase.
"""

from dataclasses import replace

from sandbox_scenarios.model import Expected, Milestone, Solution, TableConstraint

TEXTS = frozenset({"content"})
"""The columns that hold what people word for themselves; an argument of the same name fills them."""


def modelled(milestones: tuple[Milestone, ...], solutions: tuple[Solution, ...]) -> tuple[Milestone, ...]:
    """The milestones, their texts beside what the solutions write into the column of that name."""
    given = [call.arguments for solution in solutions for turn in solution.turns for call in turn.calls]
    texts = {name: dict.fromkeys(item[name] for item in given if isinstance(item.get(name), str)) for name in TEXTS}
    models = {name: tuple(text for text in found if not text.startswith("$")) for name, found in texts.items()}

    def beside(name: str, cell: Expected) -> Expected:
        worded = cell.measure in ("facts", "contains", "rouge", None) and cell.ref is None
        return replace(cell, models=models[name]) if worded and models.get(name) else cell

    made: list[Milestone] = []
    for milestone in milestones:
        constraints = list(milestone.constraints)
        for place, item in enumerate(constraints):
            if isinstance(item, TableConstraint):
                rows = tuple({name: beside(name, cell) for name, cell in row.items()} for row in item.rows)
                constraints[place] = replace(item, rows=rows)
        made.append(replace(milestone, constraints=tuple(constraints)))
    return tuple(made)
