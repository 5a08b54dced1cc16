"""Orders for a model that drafts: a table of kinds, and the drafts of a kind that there can be.

Policy: the choice of drafts is made here, by the seed alone, and never by the model.

Sources: ToolTalk, section 2.2 (all subsets of three plug-ins, times one of their tools that has to be used); ToolScan,
section 3 (a constraint more, other words, something that the tools do not do); ToolSandbox, section 2 and appendix B.2
(branching: another state at the start, details only on request, a tool withheld).
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

from sandbox_scenarios import Scenario, Suite
from sandbox_scenarios.errors import ScenarioFileError

from sandbox_mcp.engine.tools import Tool

SUITES = 3
"""Of how many groups of tools the tools of a draft come."""


@dataclass(frozen=True, slots=True)
class DraftOrder:
    """One draft to be made.

    ``base`` is what it branches from, ``original`` the scenario that it is made from, if any. ``offered`` are the tools
    that it may use, ``required`` those that it has to, ``withheld`` one that it must not.
    """

    kind: str
    base: str
    offered: tuple[str, ...]
    original: str | None = None
    required: tuple[str, ...] = ()
    withheld: str | None = None
    twist: str = ""


def _tools(suite: Suite, _: Sequence[str], bases: Sequence[str]) -> Iterator[DraftOrder]:
    """All subsets of three groups of tools, times one of their tools that has to be used."""
    for base in bases:
        home = suite.base(base).home
        groups: dict[str, list[Tool]] = {}
        for tool in home.agent_tools.values():
            if tool.name not in home.gated:
                groups.setdefault(tool.domain, []).append(tool)
        for chosen in combinations(groups, min(SUITES, len(groups))):
            offered = tuple(tool.name for group in chosen for tool in groups[group])
            yield from (DraftOrder("tools", base, offered, required=(name,)) for name in offered)


def _of(kind: str, required: Callable[[Scenario], tuple[str, ...]]) -> Callable[..., Iterator[DraftOrder]]:
    def made(suite: Suite, names: Sequence[str], _: Sequence[str]) -> Iterator[DraftOrder]:
        for name in names:
            scenario = suite.get(name)
            yield DraftOrder(kind, suite.lineage(name)[-1], scenario.tools, name, required(scenario))

    return made


def _called(scenario: Scenario) -> tuple[str, ...]:
    first = scenario.solutions[0] if scenario.solutions else None
    return tuple(dict.fromkeys(call.tool for turn in first.turns for call in turn.calls)) if first else ()


def _branches(suite: Suite, names: Sequence[str], _: Sequence[str]) -> Iterator[DraftOrder]:
    """Another state at the start, details only on request, and each tool withheld that the solution uses."""
    for name in names:
        scenario, called = suite.get(name), _called(suite.get(name))
        base = suite.lineage(name)[-1]
        yield DraftOrder("branch", base, tuple(scenario.home.agent_tools), name, called, twist="state")
        yield DraftOrder("branch", base, scenario.tools, name, called, twist="turns")
        for tool in called:
            offered = tuple(other for other in scenario.tools if other != tool)
            yield DraftOrder("branch", base, offered, name, withheld=tool, twist="withheld")


KINDS: Mapping[str, Callable[[Suite, Sequence[str], Sequence[str]], Iterator[DraftOrder]]] = MappingProxyType(
    {
        "tools": _tools,
        "constraint": _of("constraint", _called),
        "rewording": _of("rewording", lambda _: ()),
        "irrelevance": _of("irrelevance", lambda _: ()),
        "branch": _branches,
    }
)
"""Every kind, and all drafts of it that there can be; ``tools`` is made from bases, the others from scenarios."""


def bases_of(suite: Suite, world: str) -> tuple[str, ...]:
    """The base worlds of a world that are a state by themselves; others wait for rows that a scenario adds."""
    found: list[str] = []
    for name in suite.bases():
        if suite.world(name) == world:
            with suppress(ScenarioFileError):
                suite.base(name)
                found.append(name)
    return tuple(found)


def orders(
    suite: Suite, kind: str, names: Sequence[str], bases: Sequence[str], count: int, seed: int
) -> tuple[DraftOrder, ...]:
    """So many drafts of a kind, drawn without repetition."""
    every = list(KINDS[kind](suite, names, bases))
    return tuple(random.Random(seed).sample(every, min(count, len(every))))  # noqa: S311 - a draw, not a secret
