"""The table of ToolScan and its ablations, from questions to the look-up worlds or from imported runs.

Policy: the figures of table 4 are the paper's, shares without the error. An ablation is a pairing: the same questions
with and without, paired by scenario and trial, so that what is printed is a difference with its interval. Table 4 has
the sessions as the paper played them: with feedback, JSON calls and nothing beside the point.
Source: ToolScan, table 4, figures 3 to 5 and section 8.
"""

from collections.abc import Callable
from typing import Final

from sandbox_grader.papers.figures import CorrelationOf, MetricMean, PairedGain
from sandbox_grader.papers.table import PaperColumn, PaperTable
from sandbox_grader.scores import Scores

PAPER: Final = "toolscan"
RUN: Final = "sandbox-mcp run {selector} {variants}--agent openai --model MODEL --out runs/MODEL"
PLAIN: Final = RUN.format(selector="'toolscan:*'", variants="")
COLUMNS: Final = ("IAC", "RAC", "IAV", "IFE", "IAT", "IAN", "IFN")
"""The seven error patterns in the order of table 4."""


def _is_plain(scores: Scores) -> bool:
    return scores.variant not in ("no_feedback", "text_actions")


def _played_with(variant: str) -> Callable[[Scores], bool]:
    return lambda scores: scores.variant == variant


def _gains(before: str, after: str) -> tuple[PaperColumn, ...]:
    """What every share gains from one variant to another."""
    named = {"Success Rate": "success", **{column: column.lower() for column in COLUMNS}}
    return tuple(
        PaperColumn(column, PairedGain(f"toolscan.{name}", _played_with(before), _played_with(after)), 1)
        for column, name in named.items()
    )


_NO_FEEDBACK: Final = _played_with("no_feedback")
TABLES: Final = (
    PaperTable(
        paper=PAPER,
        name="table4",
        title="Success, and the share without each error pattern",
        columns=(
            PaperColumn("Success Rate", MetricMean("toolscan.success", _is_plain), 1),
            *(PaperColumn(name, MetricMean(f"toolscan.{name.lower()}", _is_plain), 1) for name in COLUMNS),
        ),
        needs="sessions in the look-up worlds, or imported runs of ToolScan",
        command=PLAIN,
    ),
    PaperTable(
        paper=PAPER,
        name="figure3",
        title="What the checker's feedback adds, of 1",
        columns=_gains("no_feedback", "base"),
        needs="the same questions with the variants base and no_feedback",
        command=RUN.format(selector="'toolscan:*'", variants="--variant base --variant no_feedback "),
        printed=False,
    ),
    PaperTable(
        paper=PAPER,
        name="figure4",
        title="What free text adds to JSON, of 1",
        columns=_gains("base", "text_actions"),
        needs="the same questions with the variants base and text_actions",
        command=RUN.format(selector="'toolscan:*'", variants="--variant base --variant text_actions "),
        printed=False,
    ),
    PaperTable(
        paper=PAPER,
        name="correlation",
        title="Whether questions in which calls are repeated are those in which calls are left out",
        columns=(
            PaperColumn("RAC-IAC", CorrelationOf("toolscan.rac", "toolscan.iac", _is_plain), 1),
            PaperColumn("RAC-IAC without feedback", CorrelationOf("toolscan.rac", "toolscan.iac", _NO_FEEDBACK), 1),
        ),
        needs="sessions in the look-up worlds in which some calls were repeated and some left out",
        command=RUN.format(selector="'toolscan:*'", variants="--variant base --variant no_feedback "),
        printed=False,
    ),
)
