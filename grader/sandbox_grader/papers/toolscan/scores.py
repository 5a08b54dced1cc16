"""ToolScan's seven scores: as the authors' code computes them, and with the definitions adopted where it errs.

Policy: a score is the share without the error, from 0 to 1 (the authors' code does not keep to that). Both ways hold a
run against every alternative solution and take the one with the fewest missing calls, then the fewest wrong values,
the first of equals; both scores of the ground truth (IAC, IAV) are then of this one.
Source: ToolScan, section 6; ``calculate_rem_metric`` of the authors' code.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sandbox_grader.grading.references import ReferenceTurns
from sandbox_grader.grading.similarity import Similarity
from sandbox_grader.grading.values import same_value
from sandbox_grader.papers.toolscan.events import EpisodeStep, ToolScanRun
from sandbox_grader.papers.toolscan.loop import EpisodeTally
from sandbox_mcp.engine.trajectory import ReferenceCall

PATTERNS: Mapping[str, str] = MappingProxyType(
    {
        "iac": "insufficient API calls",
        "iav": "incorrect argument value",
        "ian": "incorrect argument name",
        "iat": "incorrect argument type",
        "rac": "repeated API calls",
        "ifn": "incorrect function name",
        "ife": "invalid format error",
    }
)
"""The seven error patterns. Source: ToolScan, section 3."""

MARKERS = frozenset({"any", "optional"})
"""Values of a ToolScan ground truth that stand for any value, or for none."""

_AS_SUMMED = ("iac", "iav", "ifn", "ian", "iat", "ife", "rac")


@dataclass(frozen=True, slots=True)
class Original:
    """The authors' scores of one run: the seven, their mean where the run succeeded, and its success."""

    scores: Mapping[str, float]
    mean_of_seven: float
    success: bool
    solution: int | None


def original(
    counted: EpisodeTally, solutions: Sequence[ReferenceTurns], steps_limit: int, answer: Any, exact: bool
) -> Original:
    """The authors' scores. ``exact`` (their ``goal_type`` 1) wants the run's answer to equal ``answer``.

    With N steps allowed, e errors, C calls in a solution, m of them missing and v with wrong values: (N - e) / N,
    (C - m) / C and (N - v) / N, unbounded. A run that executed nothing scores 0 throughout.

    Raises:
        ZeroDivisionError: the chosen solution has no call, over which the original divides.
    """
    success = counted.finished and (not exact or counted.output == answer)
    if not counted.route:
        return Original(dict.fromkeys(PATTERNS, 0.0), float(success and exact), success, None)
    wanted: list[dict[str, list[Mapping[str, Any]]]] = []
    for solution in solutions:
        by_tool: dict[str, list[Mapping[str, Any]]] = {}
        for call in (call for turn in solution for call in turn.calls):
            by_tool.setdefault(call.tool, []).append(call.arguments)
        wanted.append(by_tool)
    lacking = [(_missing(one, counted), _wrong(one, counted)) for one in wanted]
    best = lacking.index(min(lacking))
    calls = sum(map(len, wanted[best].values()))
    errors = {"iav": lacking[best][1], **{name: getattr(counted, name) for name in _AS_SUMMED[2:]}}
    scores = {
        "iac": (calls - lacking[best][0]) / calls,
        **{name: (steps_limit - count) / steps_limit for name, count in errors.items()},
    }
    mean = sum(scores[name] for name in _AS_SUMMED) / len(_AS_SUMMED)
    return Original(scores, float(success) if exact and success else mean * success, success, best)


def _missing(wanted: Mapping[str, Sequence[Any]], counted: EpisodeTally) -> int:
    return sum(max(0, len(calls) - len(counted.route.get(tool, ()))) for tool, calls in wanted.items())


def _wrong(wanted: Mapping[str, Sequence[Mapping[str, Any]]], counted: EpisodeTally) -> int:
    return sum(
        {name: value for name, value in arguments.items() if value != "optional"} not in counted.route[tool]
        for tool, calls in wanted.items()
        for arguments in calls
        if tool in counted.route
    )


@dataclass(frozen=True, slots=True)
class Values:
    """Values that a solution wants of a call: exactly its arguments, null being the same as absent.

    ``markers`` are wanted values that stand for anything; ``free_text`` arguments need ``similarity`` of
    ``threshold``.
    """

    markers: frozenset[str]
    free_text: frozenset[str]
    similarity: Similarity
    threshold: float

    def difference(self, wanted: Mapping[str, Any], given: Mapping[str, Any]) -> str | None:
        """The first argument that differs, or None."""
        for name in (*wanted, *(name for name in given if name not in wanted)):
            value, got = wanted.get(name), given.get(name)
            if isinstance(value, str) and value in self.markers:
                continue
            same = same_value(value, got)
            if not same and name in self.free_text and isinstance(value, str) and isinstance(got, str):
                same = self.similarity(value, got) >= self.threshold
            if not same:
                return name
        return None


@dataclass(frozen=True, slots=True)
class SolutionCall:
    """Outcome of one call of a solution: ``matched``, ``wrong_value`` (of ``argument``) or ``not_called``."""

    call: ReferenceCall
    status: str
    argument: str | None = None


@dataclass(frozen=True, slots=True)
class Against:
    """A run held against one solution: its calls and what became of them, missing calls, and calls too many."""

    wanted: tuple[SolutionCall, ...]
    missing: int
    excess: int

    @property
    def wrong(self) -> int:
        """Number of the solution's calls made only with other values; calls of an uncalled tool are missing."""
        return sum(item.status == "wrong_value" for item in self.wanted)


def against(run: ToolScanRun, solution: ReferenceTurns, values: Values, *, attempts: bool = False) -> Against:
    """Hold a run against a solution: how many calls of each tool there are, and with which values.

    With ``attempts`` a call that failed in the solution is one that failed in the run, refused ones included.
    """
    wanted = [call for turn in solution for call in turn.calls]
    asked, made = Counter[tuple[str, bool]](), dict[tuple[str, bool], list[EpisodeStep]]()
    for call in wanted:
        asked[call.tool, attempts and call.error is not None] += 1
    for step in run.steps:
        if step.ran:
            made.setdefault((step.tool, False), []).append(step)
        if attempts and step.failed:
            made.setdefault((step.tool, True), []).append(step)
    became: list[SolutionCall] = []
    for call in wanted:
        steps = made.get((call.tool, attempts and call.error is not None), ())
        differences = [values.difference(call.arguments, step.call.arguments) for step in steps]
        if not steps:
            became.append(SolutionCall(call, "not_called"))
        elif None in differences:
            became.append(SolutionCall(call, "matched"))
        else:
            became.append(SolutionCall(call, "wrong_value", differences[0]))
    failed = Counter(step.tool for step in run.ran if asked[step.tool, True] and step.failed)
    return Against(
        tuple(became),
        sum(max(0, count - len(made.get(kind, ()))) for kind, count in asked.items()),
        sum(
            max(0, count - asked[tool, False] - min(asked[tool, True], failed[tool]))
            for tool, count in Counter(step.tool for step in run.ran).items()
        ),
    )


def closest(
    run: ToolScanRun, solutions: Sequence[ReferenceTurns], values: Values, *, attempts: bool = False
) -> tuple[int, Against]:
    """The number of the solution with the fewest missing calls, then wrong values, and the run held against it."""
    held = [against(run, solution, values, attempts=attempts) for solution in solutions]
    best = min(range(len(held)), key=lambda i: (held[i].missing, held[i].wrong))
    return best, held[best]


def share(errors: int, of: int) -> float:
    """The share without error, bounded to 0..1; of nothing it is 1 without an error and 0 with one."""
    return max(0, of - errors) / of if of else float(not errors)
