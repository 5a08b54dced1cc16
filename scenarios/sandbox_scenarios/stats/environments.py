"""The look-up worlds counted as ToolScan counts its environments, beside its figures.

Policy: what counts are the scenarios with a tag such as ``toolscan:movies``; others of the same world are beside the
paper. Turns are messages, as in all statistics here. Source: ToolScan, table 3, and appendix B.4 for the names.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from sandbox_scenarios.model import Scenario, Solution

TAG = "toolscan:"


@dataclass(frozen=True, slots=True)
class EnvironmentFigures:
    """Of one environment: how many queries, their mean number of turns, and how many tools are offered on average."""

    queries: int
    turns: float
    tools: float


@dataclass(frozen=True, slots=True)
class Environment:
    """Our figures of an environment, the published ones if there are any, and how alike the names of its tools are."""

    name: str
    ours: EnvironmentFigures
    theirs: EnvironmentFigures | None
    similarity: Mapping[str, float]

    def row(self) -> tuple[str | float, ...]:
        """Queries, turns and tools, ours and published side by side, then one reading of the similarity each."""
        theirs = self.theirs
        published = (theirs.queries, theirs.turns, theirs.tools) if theirs else ("", "", "")
        ours = (self.ours.queries, round(self.ours.turns, 1), round(self.ours.tools, 1))
        pairs = [value for pair in zip(ours, published, strict=True) for value in pair]
        return (self.name, *pairs, *(round(value, 3) for value in self.similarity.values()))


TOOLSCAN: Mapping[str, EnvironmentFigures] = {
    "patent": EnvironmentFigures(20, 6, 7.2),
    "movies": EnvironmentFigures(30, 11, 11.5),
    "travel": EnvironmentFigures(5, 8, 5.6),
    "sports": EnvironmentFigures(8, 4, 4.4),
    "tools": EnvironmentFigures(12, 5, 4.8),
    "data": EnvironmentFigures(14, 7, 4.0),
    "social": EnvironmentFigures(16, 7, 3.0),
    "media": EnvironmentFigures(11, 6, 5.5),
    "spaceflight": EnvironmentFigures(25, 9, 10.0),
    "video_images": EnvironmentFigures(9, 5, 6.0),
}
"""Table 3."""


def environments(
    scenarios: Sequence[Scenario],
    turns: Callable[[Solution], int],
    similarity: Callable[[Iterable[str]], Mapping[str, float]],
) -> tuple[Environment, ...]:
    """The environments that some scenarios are tagged with, in the order of the paper."""
    grouped: dict[str, list[Scenario]] = {}
    for scenario in scenarios:
        for tag in scenario.tags:
            if tag.startswith(TAG):
                grouped.setdefault(tag.removeprefix(TAG), []).append(scenario)
    order = [*(name for name in TOOLSCAN if name in grouped), *sorted(grouped.keys() - TOOLSCAN.keys())]
    found: list[Environment] = []
    for name in order:
        mine = grouped[name]
        taken = [fmean(map(turns, item.solutions)) for item in mine if item.solutions] or [0.0]
        figures = EnvironmentFigures(len(mine), fmean(taken), fmean(len(item.tools) for item in mine))
        found.append(Environment(name, figures, TOOLSCAN.get(name), similarity(mine[0].home.agent_tools)))
    return tuple(found)
