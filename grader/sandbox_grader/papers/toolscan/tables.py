"""The table of ToolScan and its ablations, from questions to the look-up worlds or from imported runs.

Policy: the figures of table 4 are the paper's, shares without the error. An ablation is a pairing: the same questions
with and without, paired by scenario and trial, so that the printed figure is a difference with its interval. A question
with something beside the point in it is paired with the one that it extends. Table 4 has the sessions as the paper
played them: with feedback, JSON calls and nothing beside the point.
Source: ToolScan, table 4, figures 3 to 5 and section 8.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from sandbox_scenarios import Suite

from sandbox_grader.grading.scores import Scores
from sandbox_grader.papers.shared.breakdown import grouped
from sandbox_grader.papers.shared.figures import (
    CorrelationOf,
    MetricMean,
    ObservedMean,
    PairedGain,
    SharedFact,
    played_with,
)
from sandbox_grader.papers.shared.table import Grouped, PaperColumn, PaperTable, by_model
from sandbox_grader.papers.toolscan.names import name_similarity
from sandbox_grader.reporting.counting import cluster_of
from sandbox_grader.reporting.statistics import Estimate, correlation
from sandbox_mcp.engine.worlds import named, names

PAPER: Final = "toolscan"
RUN: Final = "sandbox-mcp run {selector} {variants}--agent openai --model MODEL --out runs/MODEL"
COLUMNS: Final = ("IAC", "RAC", "IAV", "IFE", "IAT", "IAN", "IFN")
"""The seven error patterns in the order of table 4."""


UNVARIED: Final = "one of both never changes in the sessions that there are"
FORMS: Final = {"base": "JSON", "text_actions": "free text", "no_feedback": "JSON, no feedback"}
"""The variants in which questions are asked, in the paper's words."""
KINDS: Final = {
    "": "irrelevance:*",
    " (constraint)": "irrelevance:constraint",
    " (parameters)": "irrelevance:parameters",
    " (request)": "irrelevance:request",
}
"""What is beside the point, as columns say it, and the tags of such questions."""


def _is_plain(scores: Scores) -> bool:
    return scores.variant not in ("no_feedback", "text_actions") and scores.scenario not in _originals("irrelevance:*")


@cache
def _originals(tag: str) -> Mapping[str, str]:
    """The questions of a tag, each with the one that it extends."""
    suite = Suite()
    found = ((name, suite.original(name)) for name in suite.tagged(tag))
    return {name: original for name, original in found if original is not None}


def _beside_the_point(tag: str) -> tuple[PaperColumn, ...]:
    """Loss in success and in names of functions by something beside the point, of one kind or of all."""
    pairs = lambda: _originals(KINDS[tag])  # noqa: E731 - the suite is read when a table is filled

    def is_base(scores: Scores) -> bool:
        return scores.variant == "base" and scores.scenario in pairs().values()

    def is_extended(scores: Scores) -> bool:
        return scores.variant == "base" and scores.scenario in pairs()

    def pair(scores: Scores) -> str:
        return pairs().get(scores.scenario, cluster_of(scores))

    return tuple(
        PaperColumn(f"{shown}{tag}", PairedGain(f"toolscan.{name}", is_base, is_extended, pair), 1)
        for shown, name in (("Success Rate", "success"), ("IFN", "ifn"))
    )


def _error_rate(pattern: str) -> ObservedMean:
    def observe(scores: Scores) -> tuple[float, ...]:
        share = scores.value(f"toolscan.{pattern.lower()}")
        return () if share is None else (1.0 - share,)

    return ObservedMean(observe)


@cache
def _similarity(world: str) -> float | None:
    """Similarity of the names of a world's tools, without stop words as in the paper's example; None if unknown."""
    return name_similarity(named(world).agent_tools)["stop"] if world in names() else None


@dataclass(frozen=True, slots=True)
class _OverWorlds:
    """Pearson's correlation of a metric with the likeness of the tools' names, over worlds."""

    metric: str

    def of(self, sessions: Sequence[Scores]) -> Estimate | None:
        """The correlation with its interval; None with fewer than three worlds, or where nothing changes."""
        found: dict[str, list[float]] = {}
        for scores in filter(_is_plain, sessions):
            value = scores.value(self.metric)
            if value is not None and _similarity(scores.course.world) is not None:
                found.setdefault(scores.course.world, []).append(value)
        points = [(_similarity(world) or 0.0, sum(values) / len(values)) for world, values in found.items()]
        r, low, high = correlation(points)
        return None if r is None else Estimate(r, low, high, len(points), sum(map(len, found.values())))


def _correlated(name: str, where: Callable[[Scores], bool]) -> PaperColumn:
    figure = CorrelationOf("toolscan.rac", "toolscan.iac", where)

    def is_scored(scores: Scores) -> bool:
        return where(scores) and scores.value(figure.one) is not None

    return PaperColumn(name, figure, 1, rests_on=is_scored, undecided=UNVARIED)


def _gains(before: str, after: str) -> tuple[PaperColumn, ...]:
    """Gain of every share from one variant to another."""
    named = {"Success Rate": "success", **{column: column.lower() for column in COLUMNS}}
    return tuple(
        PaperColumn(column, PairedGain(f"toolscan.{name}", played_with(before), played_with(after)), 1)
        for column, name in named.items()
    )


def _table(
    name: str,
    title: str,
    columns: Iterable[PaperColumn],
    needs: str,
    variants: Sequence[str] = (),
    selector: str = "'toolscan:*'",
    *,
    rows: Grouped = by_model,
    printed: bool = False,
) -> PaperTable:
    """A table of runs on the questions that a selector picks; only the first one is printed as a table."""
    command = RUN.format(selector=selector, variants="".join(f"--variant {variant} " for variant in variants))
    return PaperTable(PAPER, name, title, tuple(columns), needs, command, rows=rows, printed=printed)


TABLES: Final = (
    _table(
        "table4", "Success, and the share without each error pattern", (
            PaperColumn("Success Rate", MetricMean("toolscan.success", _is_plain), 1),
            *(PaperColumn(name, MetricMean(f"toolscan.{name.lower()}", _is_plain), 1) for name in COLUMNS),
        ),
        "sessions in the look-up worlds, or imported runs of ToolScan",
        printed=True,
    ),
    _table(
        "figure3", "What the checker's feedback adds, of 1", _gains("no_feedback", "base"),
        "the same questions with the variants base and no_feedback", ("base", "no_feedback"),
    ),
    _table(
        "figure4", "What free text adds to JSON, of 1", _gains("base", "text_actions"),
        "the same questions with the variants base and text_actions", ("base", "text_actions"),
    ),
    _table(
        "formats", "Error rate by class and form of a call, percent",
        (PaperColumn(name, _error_rate(name), 100, 1) for name in COLUMNS),
        "questions with the variants base, text_actions or no_feedback; a row each", ("base", "text_actions"),
        rows=grouped(lambda scores: (FORMS[scores.variant],) if scores.variant in FORMS else ()),
    ),
    _table(
        "irrelevance", "What something beside the point changes, of 1",
        (column for kind in KINDS for column in _beside_the_point(kind)),
        "questions with something beside the point, and those that they extend, in one run",
        selector="'irrelevance:*' 'toolscan:*'",
    ),
    _table(
        "figure5", "Success and calls left out by how alike the tools' names are; a row per world", (
            PaperColumn("similarity", SharedFact(lambda scores: _similarity(scores.course.world)), 1),
            PaperColumn("Success Rate", MetricMean("toolscan.success", _is_plain), 1),
            PaperColumn("IAC", MetricMean("toolscan.iac", _is_plain), 1),
        ),
        "sessions in several look-up worlds",
        selector="'similarity:*'",
        rows=grouped(lambda scores: (scores.course.world,) if scores.course.world else ()),
    ),
    _table(
        "similarity", "Whether worlds with similar names are those with fewer successes and more calls left out", (
            PaperColumn("similarity-Success Rate", _OverWorlds("toolscan.success"), 1),
            PaperColumn("similarity-IAC", _OverWorlds("toolscan.iac"), 1),
        ),
        "sessions in several look-up worlds, in which not all went well",
        selector="'similarity:*'",
    ),
    _table(
        "correlation", "Whether questions in which calls are repeated are those in which calls are left out", (
            _correlated("RAC-IAC", _is_plain),
            _correlated("RAC-IAC without feedback", played_with("no_feedback")),
        ),
        "sessions in the look-up worlds in which some calls were repeated and some left out", ("base", "no_feedback"),
    ),
)  # fmt: skip
