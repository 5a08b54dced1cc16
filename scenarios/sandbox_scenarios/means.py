"""Which milestones are only means: switches set on the way to something else.

Policy: a milestone that compares nothing but switches (columns that are true or false) is a means unless the wish names
one of them, in the goal or in what the user says, as its column is called or as people call it in that world. What is
only a means need not last: whoever switched wifi on to look something up may leave it on or put it back. A milestone
that says itself whether it is ``transient`` is believed.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sandbox_scenarios.model import Constraint, Milestone, TableConstraint, UserSpec

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
    found: list[Milestone] = []
    for milestone, told in zip(milestones, stated, strict=True):
        only_means = all(_switches(item) and not _names(words, phrases, called, item) for item in milestone.constraints)
        found.append(replace(milestone, transient=only_means if told is None else told))
    return tuple(found)


def _switches(constraint: Constraint) -> bool:
    if not isinstance(constraint, TableConstraint) or constraint.kind not in ("is", "updates") or not constraint.rows:
        return False
    return all(isinstance(cell.value, bool) and cell.ref is None for row in constraint.rows for cell in row.values())


def _names(words: Sequence[str], said: str, called: Mapping[str, Sequence[str]], constraint: Constraint) -> bool:
    """Whether one of the switches is named: all that its name says, perhaps with another ending, or another name."""
    for column in {name for row in constraint.rows for name in row} if isinstance(constraint, TableConstraint) else ():
        parts = [part for part in column.split("_") if len(part) >= SHORT]
        telling = [part for part in parts if part not in NAMELESS] or parts
        stems = [part.removesuffix("ing").removesuffix("ed") for part in telling]
        if all(any(word.startswith(stem) for word in words) for stem in stems):
            return True
        if any(f" {' '.join(_WORD.findall(name.casefold()))} " in said for name in called.get(column, ())):
            return True
    return False
