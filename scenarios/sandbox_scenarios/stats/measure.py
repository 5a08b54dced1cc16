"""Counting what a suite covers.

Policy: a scenario counts once per classic variant, a milestone once per column and once per tool that it names,
however often it does. A column that may be anything is not named. Turns are messages: the user's opening, two per
call, each reply and each further word of the user; where a scenario has several solutions, their mean counts.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, get_args

from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.worlds import DEFAULT
from sandbox_scenarios.loader import Suite
from sandbox_scenarios.model import (
    CallConstraint,
    Category,
    Milestone,
    PlannedCall,
    Scenario,
    Solution,
    TableConstraint,
)
from sandbox_scenarios.stats import published
from sandbox_scenarios.stats.environments import Environment, environments
from sandbox_scenarios.tiers import mechanisms_of, tier_of
from sandbox_scenarios.variants import presented

CLASSIC = (
    "base", "3_distraction_tools", "10_distraction_tools", "all_tools",
    "tool_name_scrambled", "tool_description_scrambled", "argument_description_scrambled", "argument_type_scrambled",
)  # fmt: skip
"""The variants that ToolSandbox has of every scenario."""
MANY_ARGUMENTS, MANY_TOOLS = 6, 4
"""More arguments in a call, and more tools in a turn, make a hard case. Source: MTU-Bench, table 8."""

_Similarity = Callable[[Iterable[str]], Mapping[str, float]]
"""How much some names have in common, in one or more readings."""


@dataclass(frozen=True, slots=True)
class Count:
    """One figure of ours, and the published one if any; without ``goal`` it is there to compare only."""

    name: str
    ours: float
    theirs: float | None = None
    goal: bool = True

    @property
    def met(self) -> bool:
        """True if ours is at least theirs, where the goal is to reach it."""
        return not self.goal or self.theirs is None or self.ours >= self.theirs


@dataclass(frozen=True, slots=True)
class TierSize:
    """Size of a tier: its scenarios, and in the mean the calls and turns of solutions, rows at the opening, tools.

    ``mechanisms`` has how many of the scenarios are tagged with each mechanism.
    """

    name: str
    scenarios: int
    calls: float
    rows: float
    tools: float
    turns: float
    most_calls: int
    mechanisms: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class Stats:
    """All figures of a suite: tables 4, 6, 7 and 8, what else it has, and how alike its tools' names are.

    ``similarity`` maps a variant to the mean of each reading over its tool lists. ``calls`` maps a tool and a category
    to the number of scenarios whose solutions call it. ``arguments`` maps a tool to how many of its arguments some
    solution gives, and how many it has. ``environments`` are those that scenarios are tagged with, beside ToolScan's
    table 3. ``dialogues`` counts ToolTalk's easy and hard conversations in the world that it describes.
    """

    scenarios: int
    statistics: tuple[Count, ...]
    categories: tuple[Count, ...]
    columns: tuple[Count, ...]
    tools: tuple[Count, ...]
    features: tuple[Count, ...]
    worlds: Mapping[str, int]
    families: Mapping[str, int]
    similarity: Mapping[str, Mapping[str, float]]
    calls: Mapping[str, Mapping[str, int]]
    arguments: Mapping[str, tuple[int, int]]
    tiers: tuple[TierSize, ...] = ()
    environments: tuple[Environment, ...] = ()
    dialogues: tuple[Count, ...] = ()

    @property
    def missed(self) -> tuple[Count, ...]:
        """Figures below the published ones."""
        counts = (*self.statistics, *self.categories, *self.columns, *self.tools, *self.dialogues)
        return tuple(item for item in counts if not item.met)

    @property
    def readings(self) -> tuple[str, ...]:
        """The readings in which the similarity of names was measured."""
        return tuple(dict.fromkeys(name for means in self.similarity.values() for name in means))

    def to_json(self) -> dict[str, Any]:
        """Everything as one JSON object."""
        tables = ("statistics", "categories", "columns", "tools", "features")
        counted = {
            name: {item.name: {"ours": item.ours, "toolsandbox": item.theirs} for item in getattr(self, name)}
            for name in tables
        }
        rest = ("worlds", "families", "similarity", "calls", "arguments")
        return {
            "scenarios": self.scenarios,
            **counted,
            **{name: dict(getattr(self, name)) for name in rest},
            "tiers": {item.name: asdict(item) for item in self.tiers},
            "environments": {item.name: asdict(item) for item in self.environments},
            "dialogues": {item.name: {"ours": item.ours, "tooltalk": item.theirs} for item in self.dialogues},
            "missed": [item.name for item in self.missed],
        }


def measure(suite: Suite, similarity: _Similarity, world: str = "") -> Stats:
    """Count everything that can be played, of those worlds if any are named, as :meth:`Suite.names` lists it.

    ToolSandbox's figures stand beside those of the default world, which is made after its own, and no other.

    Raises:
        ScenarioFileError: a scenario cannot be used.
    """
    scenarios = suite.all(world)
    homes = list({item.home.name: item.home for item in scenarios}.values())
    theirs = all(home.name == DEFAULT for home in homes)
    every_tool = {name: tool for home in homes for name, tool in home.agent_tools.items()}
    columns = [
        f"{name}.{column.name}" for home in homes for name, table in home.tables.items() for column in table.columns
    ]
    found = Counter(category for item in scenarios for category in item.categories)
    called, given = _calls(scenarios, every_tool)
    reached = ((name, found[name] * len(CLASSIC)) for name in get_args(Category))
    cases = (Count(name, value, published.CATEGORIES.get(name) if theirs else None) for name, value in reached)
    ours = (
        _mean([_mean([turns(solution) for solution in item.solutions]) for item in scenarios]),
        _mean([_mean([len(_planned(solution)) for solution in item.solutions]) for item in scenarios]),
        len(scenarios) * len(CLASSIC),
        sum(len(home.tools) for home in homes),
    )
    counts = _beside(published.STATISTICS, ours)
    return Stats(
        scenarios=len(scenarios),
        statistics=counts if theirs else tuple(replace(count, theirs=None) for count in counts),
        categories=tuple(cases),
        columns=_milestones(scenarios, _columns, published.COLUMNS if theirs else {}, columns),
        tools=_milestones(scenarios, _tools, published.TOOLS if theirs else {}, every_tool),
        features=_features(scenarios, homes),
        worlds=Counter(suite.lineage(item.name)[-1] for item in scenarios),
        families=Counter(Path(item.path).stem for item in scenarios),
        similarity={variant: _similarity(scenarios, variant, similarity) for variant in CLASSIC},
        calls=called,
        arguments={name: (len(given[name]), len(tool.parameters)) for name, tool in every_tool.items()},
        tiers=tuple(_tiers(scenarios)),
        environments=environments(scenarios, turns, similarity),
        dialogues=_dialogues(scenarios, homes[0]) if [home.name for home in homes] == [published.TOOLTALK] else (),
    )


def _tiers(scenarios: Iterable[Scenario]) -> Iterator[TierSize]:
    """The sizes of each tier."""
    found: dict[str, list[Scenario]] = {}
    for item in scenarios:
        found.setdefault(tier_of(item), []).append(item)
    for name, members in sorted(found.items()):
        calls = [len(_planned(solution)) for item in members for solution in item.solutions]
        rows = [sum(map(len, item.world.tables.values())) for item in members]
        asked = [len(solution.turns) for item in members for solution in item.solutions]
        tools = [len(item.tools) for item in members]
        means = [round(_mean(counts), 2) for counts in (calls, rows, tools, asked)]
        tagged = Counter(mechanism for item in members for mechanism in mechanisms_of(item))
        most = max(calls, default=0)
        yield TierSize(name, len(members), means[0], means[1], means[2], means[3], most, dict(tagged))


def _calls(
    scenarios: Iterable[Scenario], tools: Iterable[str]
) -> tuple[dict[str, dict[str, int]], dict[str, set[str]]]:
    """By tool, how many scenarios of each category call it in their solutions, and the arguments that they give."""
    called = {name: dict.fromkeys(get_args(Category), 0) for name in tools}
    given = {name: set[str]() for name in called}
    for item in scenarios:
        planned = [call for solution in item.solutions for call in _planned(solution)]
        for call in planned:
            given[call.tool].update(call.arguments)
        for name, category in product({call.tool for call in planned}, item.categories):
            called[name][category] += 1
    return called, given


def _beside(figures: Mapping[str, float], ours: Sequence[float]) -> tuple[Count, ...]:
    """Our figures beside published ones; averages are there to compare only."""
    named = zip(figures.items(), ours, strict=True)
    return tuple(Count(name, value, theirs, not name.startswith("average")) for (name, theirs), value in named)


def _dialogues(scenarios: Sequence[Scenario], home: World) -> tuple[Count, ...]:
    """Dialogues as ToolTalk counts them.

    A conversation is easy with one plug-in and hard with three or more; a turn is a word of the user or of the agent.
    """
    tools = home.agent_tools
    first = [item.solutions[0] for item in scenarios if item.solutions]
    plug_ins = [len({tools[call.tool].domain for call in _planned(solution)}) for solution in first]
    hard = [solution for solution, count in zip(first, plug_ins, strict=True) if count >= 3]
    ours = (
        plug_ins.count(1),
        len(hard),
        _mean([2 * len(solution.turns) for solution in hard]),
        _mean([len(_planned(solution)) for solution in hard]),
        len(tools),
        len({tool.domain for tool in tools.values()}),
    )
    return _beside(published.DIALOGUES, ours)


def turns(solution: Solution) -> int:
    """Number of messages in a session that plays the solution, the user's opening included."""
    return 2 * len(_planned(solution)) + 2 * len(solution.turns)


def _planned(solution: Solution) -> list[PlannedCall]:
    return [call for turn in solution.turns for call in turn.calls]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _milestones(
    scenarios: Sequence[Scenario],
    names: Callable[[Milestone], Iterable[str]],
    theirs: Mapping[str, int],
    known: Iterable[str],
) -> tuple[Count, ...]:
    found = Counter(name for item in scenarios for milestone in item.milestones for name in set(names(milestone)))
    every = sorted(known)
    return tuple(
        Count(name, found[name] * len(CLASSIC), theirs.get(name)) for name in every if found[name] or name in theirs
    )


def _columns(milestone: Milestone) -> Iterator[str]:
    for constraint in milestone.constraints:
        if isinstance(constraint, TableConstraint):
            for row in constraint.rows:
                yield from (f"{constraint.table}.{name}" for name, cell in row.items() if cell.measure != "any")


def _tools(milestone: Milestone) -> Iterator[str]:
    for constraint in milestone.constraints:
        if isinstance(constraint, CallConstraint):
            yield from (pattern.tool for pattern in constraint.patterns)


def _features(scenarios: Sequence[Scenario], homes: Iterable[World]) -> tuple[Count, ...]:
    timed: set[str] = set()  # the tools that make rows which fall due, and the others of a group of theirs
    for home in homes:
        due = {event.table.name for event in home.events}
        makers = [tool for tool in home.tools.values() if tool.effects and due & set(tool.effects.adds)]
        groups = {tool.domain for tool in makers} - {home.name}  # which is the group of those that name none
        timed |= {name for name, tool in home.agent_tools.items() if tool in makers or tool.domain in groups}
    counted: Mapping[str, Callable[[Scenario], bool]] = {
        "several reference solutions": lambda item: len(item.solutions) > 1,
        "a minefield": lambda item: bool(item.minefields),
        "a follow-up of the user": lambda item: bool(item.user.script.then),
        "a demonstration": lambda item: bool(item.user.demonstration),
        "required confirmation": lambda item: bool(item.confirm),
        "a closed gate": lambda item: bool(item.gates),
        "something that falls due": lambda item: not timed.isdisjoint(item.tools),
        f"a call with more than {MANY_ARGUMENTS} arguments": lambda item: any(
            len(call.arguments) > MANY_ARGUMENTS for solution in item.solutions for call in _planned(solution)
        ),
        f"more than {MANY_TOOLS} tools in a turn": lambda item: any(
            len({call.tool for call in turn.calls}) > MANY_TOOLS
            for solution in item.solutions
            for turn in solution.turns
        ),
    }
    return tuple(Count(name, sum(map(has, scenarios))) for name, has in counted.items())


def _similarity(scenarios: Sequence[Scenario], variant: str, similarity: _Similarity) -> Mapping[str, float]:
    """The mean over scenarios of how alike the names of the tools are that a variant offers."""
    offered = [tuple(presented(item, variant)) for item in scenarios]
    alike = {names: similarity(names) for names in {*offered}}  # many scenarios offer the same tools
    found = [alike[names] for names in offered]
    return {name: _mean([item[name] for item in found]) for name in (found[0] if found else ())}
