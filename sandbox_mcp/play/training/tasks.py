"""Tasks: which episodes there are, in which split, and how difficult they are.

Policy: a split keeps families whole, because scenarios of one family differ in little but their values; the same
family is in the same split on every machine, and no world is without a family to train on. What a task tells is for
trainers: nothing in it says what would solve it, and its difficulty never reaches a model.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any, Literal, get_args

from sandbox_scenarios import Suite
from sandbox_scenarios.instances import MARK, instances
from sandbox_scenarios.instances import split as split_name
from sandbox_scenarios.model import Scenario
from sandbox_scenarios.selectors import select
from sandbox_scenarios.variants import BASE, variant_named

from sandbox_mcp.engine.errors import SandboxError

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)
ALL = "all"
SHARES: Mapping[Split, float] = {"test": 0.2, "validation": 0.1}
"""The share of families in each split; the rest is for training."""


class TaskError(SandboxError):
    """A task cannot be had; the message says what to change."""


@dataclass(frozen=True, slots=True)
class TrainingTask:
    """One episode that can be played: a scenario or a fresh instance of one (``name@7``), and how it is presented.

    ``seed`` decides the world's ids, ``trial`` tells repetitions apart.
    """

    scenario: str
    variant: str = BASE
    seed: int = 0
    trial: int = 0

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "TrainingTask":
        """The task of a row of a data set; what else the row has is ignored.

        Raises:
            TaskError: the row names no scenario, or a value has another type.
        """
        scenario = row.get("scenario")
        if not isinstance(scenario, str) or not scenario:
            raise TaskError(f"a task needs the name of a scenario; got {scenario!r}")
        numbers = {name: row.get(name) or 0 for name in ("seed", "trial")}
        for name, value in numbers.items():
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise TaskError(f"{name} is {value!r}; expected a whole number from 0")
        variant = row.get("variant") or BASE
        if not isinstance(variant, str):
            raise TaskError(f"variant is {variant!r}; expected a text")
        return cls(scenario, variant, **numbers)

    def row(self) -> dict[str, Any]:
        """The task as a row of a data set."""
        return {"scenario": self.scenario, "variant": self.variant, "seed": self.seed, "trial": self.trial}


def tasks(
    suite: Suite | None = None,
    selectors: Sequence[str] = (),
    *,
    split: str = ALL,
    count: int = 0,
    first: int = 1,
    secret: str = "",
    variant: str = BASE,
    seed: int = 0,
    easiest_first: bool = False,
    difficulty: tuple[int, int] | None = None,
) -> list[TrainingTask]:
    """The tasks of these selectors, which are those of ``sandbox-mcp run``; none means the default world.

    With ``count`` each scenario is there in so many fresh instances, numbered from ``first``, or named by what follows
    from a ``secret``, so that nobody can have learned them. ``difficulty`` keeps those between two values of
    :func:`difficulty_of`.

    Raises:
        TaskError: the split is unknown or empty.
        ScenarioError: a selector selects nothing, or there is no such variant.
    """
    suite = suite or Suite()
    variant_named(variant)
    names = in_split(suite, select(suite, selectors), split)
    if difficulty is not None:
        low, high = difficulty
        names = [name for name in names if low <= difficulty_of(suite.get(name)) <= high]
    if easiest_first:
        names.sort(key=lambda name: difficulty_of(suite.get(name)))
    return [TrainingTask(one, variant, seed) for name in names for one in instances_of(name, count, first, secret)]


def instances_of(name: str, count: int, first: int = 1, secret: str = "") -> tuple[str, ...]:
    """The names of so many fresh instances of a scenario, or its own for none."""
    if count <= 0 or MARK in name:
        return (name,)
    if secret:
        return instances([name], first - 1 + count, secret)[first - 1 :]
    return tuple(f"{name}{MARK}{number}" for number in range(first, first + count))


def in_split(suite: Suite, names: Iterable[str], split: str) -> list[str]:
    """Those of some scenarios that are in a split.

    Raises:
        TaskError: there is no such split, or none of them is in it.
    """
    if split == ALL:
        return list(names)
    if split not in SPLITS:
        raise TaskError(f"unknown split {split!r}; known: {', '.join(SPLITS)}, {ALL}")
    given = list(names)
    found = [name for name in given if split_of(suite, name) == split]
    if not found:
        raise TaskError(f"none of {len(given)} scenarios is in split {split!r}; with few families, use {ALL!r}")
    return found


def split_of(suite: Suite, name: str) -> Split:
    """The split of a scenario: that of its family."""
    family = family_of(suite, name)
    return "train" if family == _always_trained(suite, suite.world(name)) else _by_chance(family)


def family_of(suite: Suite, name: str) -> str:
    """The family of a scenario, as its file names it."""
    return suite.family(split_name(name)[0])


def _place(family: str) -> float:
    """Where a family lies between 0 and 1, by its name alone."""
    return int(sha256(family.encode()).hexdigest()[:12], 16) / 16**12


def _by_chance(family: str) -> Split:
    place = _place(family)
    for split, share in SHARES.items():
        if place < share:
            return split
        place -= share
    return "train"


@cache
def _always_trained(suite: Suite, world: str) -> str:
    """The family of a world that always belongs to training, wherever chance would put it."""
    return max({suite.family(name) for name in suite.names(world)}, key=_place, default="")


def difficulty_of(scenario: Scenario) -> int:
    """How much the shortest solution takes: its calls, and the replies after the first."""
    return min(
        (sum(len(turn.calls) for turn in item.turns) + len(item.turns) - 1 for item in scenario.solutions), default=0
    )


def described(suite: Suite, task: TrainingTask, index: int, split: str) -> dict[str, Any]:
    """A task with all that a trainer may want to know of it."""
    scenario = suite.get(task.scenario)
    return {
        "id": f"{task.scenario}:{task.variant}:{task.seed}",
        "index": index,
        "split": split,
        **task.row(),
        "world": scenario.home.name,
        "family": family_of(suite, task.scenario),
        "categories": list(scenario.categories),
        "max_turns": scenario.max_turns,
        "max_calls": scenario.max_calls,
        "difficulty": difficulty_of(scenario),
    }
