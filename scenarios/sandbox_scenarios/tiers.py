"""Tiers of scenarios, and the mixture of them to play where nothing is selected.

Policy: a scenario is of the tier that its tag names, or else ``basic`` with at most two calls in its first solution and
``standard`` with more. A mixture takes so many calls of each tier, by :data:`CALLS`, that its size and cost are known
before it is played. Within a tier scenarios are drawn by the mixture's seed; a world's share of them grows with the
square root of how many it has, so that large worlds count more and small ones are seen. Calls that a tier leaves over
go to the next, simpler one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from math import sqrt
from typing import TYPE_CHECKING

from sandbox_scenarios.model import Scenario

if TYPE_CHECKING:
    from sandbox_scenarios.loader import Suite

TIER = "tier:"
"""How the tag begins that names the tier of a scenario."""
CALLS: Mapping[str, int] = {"hard": 280, "standard": 150, "basic": 70}
"""Calls of the reference in a mixture, by tier, the hardest first."""
MECHANISM = "mechanism:"
"""How a tag begins that names what makes a scenario hard."""
MECHANISMS: Mapping[str, str] = {
    "policy_versions": "rules with versions in force, or rules that change rules",
    "near_duplicates": "look-alikes, and chains in which one vouches for the next",
    "stale_sources": "older words that newer ones overtake",
    "aggregates": "joins, sums, budgets and limits",
    "authority": "words of people who may not decide",
    "conditional": "a wish that depends on what is found",
    "event_time": "something happens at its moment",
    "event_state": "something happens once something was done",
    "faults": "calls that fail before or after they act, or tell old or partial results",
    "dual_control": "the user acts, and the agent guides",
    "persona": "a user who pushes, changes their mind, is vague, mistaken or talkative",
    "injection": "orders in mails, notes or rows that are nobody's",
    "zones": "time zones, clock changes or currencies",
    "call_budget": "few calls, and their number is told",
    "memory": "what was said early decides late in the conversation",
    "trial": "what is written nowhere and shows only by trying",
}
"""Mechanisms of the hard tier, by name."""
DEFAULT = "default"
"""The seed of the mixture that is played where nothing is selected."""
SIMPLE = 2
"""Calls of a basic scenario at most."""


@dataclass(frozen=True, slots=True)
class TierMember:
    """A scenario as mixtures see it: ``calls`` are those of its first solution."""

    name: str
    world: str
    tier: str
    calls: int

    @classmethod
    def of(cls, scenario: Scenario) -> "TierMember":
        """The facts of a scenario."""
        return cls(scenario.name, scenario.home.name, tier_of(scenario), calls_of(scenario))


def calls_of(scenario: Scenario) -> int:
    """Number of calls of the first solution; 0 without one."""
    return sum(len(turn.calls) for turn in scenario.solutions[0].turns) if scenario.solutions else 0


@lru_cache(maxsize=1024)
def tier_of(scenario: Scenario) -> str:
    """The tier of a scenario."""
    named = (tag.removeprefix(TIER) for tag in scenario.tags if tag.startswith(TIER))
    return next(named, "basic" if calls_of(scenario) <= SIMPLE else "standard")


@lru_cache(maxsize=1024)
def mechanisms_of(scenario: Scenario) -> tuple[str, ...]:
    """Names of the mechanisms that a scenario is tagged with, in the order of :data:`MECHANISMS`."""
    return tuple(name for name in MECHANISMS if f"{MECHANISM}{name}" in scenario.tags)


def mixture(suite: "Suite", seed: str = DEFAULT) -> tuple[str, ...]:
    """The names of the mixture by a seed, in the suite's order.

    Raises:
        ScenarioFileError: a file cannot be used.
    """
    known = [TierMember.of(scenario) for scenario in suite.all("*")]
    left, chosen = 0, set[str]()
    for tier, calls in CALLS.items():
        left += calls
        for one in _spread((one for one in known if one.tier == tier), seed):
            if 0 < left >= one.calls:  # nothing left ends a tier, also for scenarios without calls
                left -= one.calls
                chosen.add(one.name)
    return tuple(one.name for one in known if one.name in chosen)


def _spread(members: Iterable[TierMember], seed: str) -> list[TierMember]:
    """Scenarios in an order by seed in which the worlds take turns, larger ones more often."""
    worlds: dict[str, list[TierMember]] = {}
    for one in sorted(members, key=lambda one: _drawn(seed, one.name)):
        worlds.setdefault(one.world, []).append(one)
    placed = [
        ((number + 0.5) / sqrt(len(found)), _drawn(seed, one.name), one)
        for found in worlds.values()
        for number, one in enumerate(found)
    ]
    return [one for *_, one in sorted(placed, key=lambda item: item[:2])]


def _drawn(seed: str, name: str) -> str:
    return sha256(f"{seed}\x00{name}".encode()).hexdigest()
