"""Relations of a scenario's other parts to its milestones: those that are only means, and the solutions' wordings.

Policy: a milestone that compares nothing but switches (columns that are true or false) is a means unless the wish names
one of them, in the goal or in what the user says, as its column is called or as people call it in that world. What is
only a means need not last: whoever switched wifi on to look something up may leave it on or put it back. A milestone
that says itself whether it is ``transient`` is believed. A text that was written is compared with what the reference
solutions write in its place, so that one which denies or adds to them is not a paraphrase.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sandbox_scenarios.model import Constraint, Expected, Milestone, Solution, TableConstraint, UserSpec
from sandbox_scenarios.values import reference_in

NAMELESS = frozenset(
    {
        "active", "closed", "enabled", "locked", "mode", "open", "opened", "running", "service", "shut", "status",
        "unlocked",
    }
)  # fmt: skip
"""Words of a column's name that may be left out when it is meant: its kind, and its state."""
SHORT = 3
"""Words of a name that are shorter say nothing."""
_WORD = re.compile(r"[a-z]+")
TEXTS = frozenset({"content"})
"""The columns that hold what people word for themselves; an argument of the same name fills them."""


def with_means(
    milestones: Sequence[Milestone],
    stated: Iterable[bool | None],
    user: UserSpec,
    called: Mapping[str, Sequence[str]],
) -> tuple[Milestone, ...]:
    """The milestones, those that are only means marked as transient; ``stated`` is what each says of that itself.

    ``called`` is what people call each switch.
    """
    said = " ".join((user.goal, user.opening, *user.script.then)).casefold().replace("-", "")
    words, phrases = tuple(_WORD.findall(said)), f" {' '.join(_WORD.findall(said))} "

    def only_means(item: Constraint) -> bool:
        if not isinstance(item, TableConstraint) or item.kind not in ("is", "updates") or not item.rows:
            return False
        switches = all(isinstance(cell.value, bool) and cell.ref is None for row in item.rows for cell in row.values())
        return switches and not _names(words, phrases, called, item)

    found: list[Milestone] = []
    for milestone, told in zip(milestones, stated, strict=True):
        means = all(map(only_means, milestone.constraints)) if told is None else told
        found.append(replace(milestone, transient=means))
    return tuple(found)


def _names(words: Sequence[str], said: str, called: Mapping[str, Sequence[str]], constraint: TableConstraint) -> bool:
    """True if one of the switches is named: all that its name says, perhaps with another ending, or another name."""
    for column in {name for row in constraint.rows for name in row}:
        parts = [part for part in column.split("_") if len(part) >= SHORT]
        telling = [part for part in parts if part not in NAMELESS] or parts
        stems = [part.removesuffix("ing").removesuffix("ed") for part in telling]
        if all(any(word.startswith(stem) for word in words) for stem in stems):
            return True
        if any(f" {' '.join(_WORD.findall(name.casefold()))} " in said for name in called.get(column, ())):
            return True
    return False


def modelled(milestones: tuple[Milestone, ...], solutions: tuple[Solution, ...]) -> tuple[Milestone, ...]:
    """The milestones, their texts beside what the solutions write into the column of that name."""
    given = [call.arguments for solution in solutions for turn in solution.turns for call in turn.calls]
    texts = {name: dict.fromkeys(item[name] for item in given if isinstance(item.get(name), str)) for name in TEXTS}
    models = {
        name: tuple(text for text in found if reference_in(text) is None and not text.startswith("${"))
        for name, found in texts.items()
    }

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
