"""The unit of work: one session, named by all that decides how it goes.

Policy: a unit's name is the name of its log, so present and missing units can be seen in the folder. Agent and
user belong to the run, because one folder holds one run.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sandbox_scenarios.stage import session_name
from sandbox_scenarios.variants import BASE

from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.play.session.opening import LARGEST


@dataclass(frozen=True, slots=True, order=True)
class Unit:
    """One session to play. ``seed`` decides the world's ids, ``trial`` only tells repetitions apart."""

    scenario: str
    variant: str = BASE
    seed: int = 0
    trial: int = 0

    @property
    def name(self) -> str:
        """The unit's name, unique within a run."""
        return session_name(self.scenario, self.variant, self.seed, self.trial)


@dataclass(frozen=True, slots=True)
class Shard:
    """Part ``index`` (from 1) of ``count`` parts that the same command plays on as many machines."""

    index: int = 1
    count: int = 1

    def __post_init__(self) -> None:
        """See that there is such a part.

        Raises:
            RunError: there are fewer parts, or the number is below 1.
        """
        if not 1 <= self.index <= self.count:
            raise RunError(f"there is no part {self.index} of {self.count}; parts are counted from 1")

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Read ``I/N``.

        Raises:
            RunError: it is not of that form, or I is not between 1 and N.
        """
        index, slash, count = text.partition("/")
        if slash and index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count):
            return cls(int(index), int(count))
        raise RunError(f"shard {text!r} is not of the form I/N with I from 1 to N, such as 2/8")

    def of(self, units: Sequence[Unit]) -> tuple[Unit, ...]:
        """The units of this part: every ``count``-th, so that parts are alike in size and in kind."""
        return tuple(units[self.index - 1 :: self.count])


def plan(scenarios: Iterable[str], variants: Sequence[str], seed: int, trials: int) -> tuple[Unit, ...]:
    """Every session of a run, in a fixed order.

    Raises:
        RunError: the seed, which is part of every log's name, has too many digits for it.
    """
    if abs(seed) > LARGEST:
        raise RunError(f"the seed is part of every log's name; expected one from {-LARGEST} to {LARGEST}")
    return tuple(
        Unit(scenario, variant, seed, trial)
        for scenario in scenarios
        for variant in variants
        for trial in range(trials)
    )
