"""The tables of ToolTalk, from imported predictions or from its conversations played here.

Policy: precision, recall and incorrect actions are ratios of sums over all conversations of a subset, as in the paper,
and their intervals are clustered by conversation. Which subset a conversation belongs to shows in its name. Sessions
whose tools had no documentation fill tables 3 and 4, all others tables 1 and 2; what was played on policy counts like
prefixes, so that the two should be named as rows of their own.
Source: ToolTalk, tables 1 to 4; the choice of tools is a study of its authors' code.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final

from sandbox_grader.grading.scores import Scores
from sandbox_grader.papers.shared.figures import MetricMean, ObservedMean, Total, played_with
from sandbox_grader.papers.shared.table import PaperColumn, PaperTable

PAPER: Final = "tooltalk"
FAMILY: Final = "tooltalk"
RUN: Final = "sandbox-mcp run --tooltalk CHECKOUT --mode prefix {variants}--agent openai --model MODEL --out runs/{out}"
WITHOUT: Final = ("no_documentation", "all_tools_no_documentation")
TOOLS: Final = {"exact": "base", "suite": "suite_tools", "all": "all_tools"}
"""Which tools are offered, as the authors call it, and our variants."""
CLASSES: Final = {
    "Premature tool calls": "premature",
    "Faulty planning": "faulty_planning",
    "Incorrect tool invocations": "incorrect_invocation",
}
NO_CALLS: Final = "the sessions hold no calls that a share could be taken of, or none that could be scored"
NO_FAILURES: Final = "nothing failed in the sessions that there are"
_EASY: Final = re.compile(r"(?:^|/)[A-Z]\w+-easy\b")
_HARD: Final = re.compile(r"(?:^|/)(?:golden_conversation_\d|[A-Z]\w+-[A-Z]\w+-[A-Z]\w+-\w+-\d)")
SUBSETS: Final = {"Easy": _EASY, "Hard": _HARD}

Where = Callable[[Scores], bool]


def _documented(scores: Scores) -> bool:
    return scores.variant not in WITHOUT


def _undocumented(scores: Scores) -> bool:
    return not _documented(scores)


def _in(subset: str, where: Where) -> Where:
    return lambda scores: SUBSETS[subset].search(scores.scenario) is not None and where(scores)


def _ratio(hits: str, of: str, where: Where) -> ObservedMean:
    """The ratio of two of ToolTalk's counts, each summed over all conversations."""

    def observe(scores: Scores) -> Iterable[float]:
        verdict = scores.counted(FAMILY) if where(scores) else None
        if verdict is not None:
            yield from (float(n < verdict.values[hits]) for n in range(verdict.values[of]))

    return ObservedMean(observe)


def _failures(name: str, where: Where) -> Callable[[Scores], Iterable[float]]:
    """For every failure of a session whether it is of a class; of any class where none is named."""

    def observe(scores: Scores) -> Iterable[float]:
        verdict = scores.counted(FAMILY) if where(scores) else None
        for kind in CLASSES.values() if verdict else ():
            yield from [float(name in ("", kind))] * (verdict.values[kind] if verdict else 0)

    return observe


def _success_columns(where: Where, command: str) -> tuple[PaperColumn, ...]:
    found: list[PaperColumn] = []
    for subset in SUBSETS:
        mine = _in(subset, where)
        figures = {
            "Success rate": MetricMean("tooltalk.success", mine),
            "Precision": _ratio("matches", "predictions", mine),
            "Recall": _ratio("matches", "ground_truths", mine),
            "Incorrect action rate": _ratio("bad_actions", "actions", mine),
        }
        found += [
            PaperColumn(f"{subset} {name}", figure, 100, 1, command, rests_on=mine, undecided=NO_CALLS)
            for name, figure in figures.items()
        ]
    return tuple(found)


def _error_columns(where: Where) -> tuple[PaperColumn, ...]:
    shares = {name: ObservedMean(_failures(kind, where)) for name, kind in CLASSES.items()}
    return (
        *(PaperColumn(name, share, 100, 1, rests_on=where, undecided=NO_FAILURES) for name, share in shares.items()),
        PaperColumn("Total failures", Total(_failures("", where)), 1, 0, rests_on=where, undecided=NO_FAILURES),
    )


def _tools_columns() -> tuple[PaperColumn, ...]:
    found: list[PaperColumn] = []
    for name, variant in TOOLS.items():
        command, chosen = RUN.format(variants=f"--variant {variant} ", out=variant), played_with(variant)
        success, precision = MetricMean("tooltalk.success", chosen), _ratio("matches", "predictions", chosen)
        found += [
            PaperColumn(f"{name} Success rate", success, 100, 1, command),
            PaperColumn(f"{name} Precision", precision, 100, 1, command, rests_on=chosen, undecided=NO_CALLS),
        ]
    return tuple(found)


_ALL, _BARE = (
    RUN.format(variants=f"--variant {name} ", out=out)
    for name, out in (("all_tools", "tooltalk"), ("all_tools_no_documentation", "undocumented"))
)
_EVERY: Final = RUN.format(variants="".join(f"--variant {name} " for name in TOOLS.values()), out="tooltalk")
TABLES: Final = (
    PaperTable(
        PAPER, "table1", "Success, precision, recall and incorrect actions, %", _success_columns(_documented, _ALL),
        needs="ToolTalk's conversations with documented tools", command=_ALL,
    ),
    PaperTable(
        PAPER, "table2", "Why turns failed, % of all failures", _error_columns(_documented),
        needs="ToolTalk's conversations with documented tools, some of them failed", command=_ALL,
    ),
    PaperTable(
        PAPER, "table3", "Without documentation: success, precision, recall and incorrect actions, %",
        _success_columns(_undocumented, _BARE),
        needs="ToolTalk's conversations with the variant all_tools_no_documentation", command=_BARE,
    ),
    PaperTable(
        PAPER, "table4", "Without documentation: why turns failed, % of all failures", _error_columns(_undocumented),
        needs="ToolTalk's conversations with the variant all_tools_no_documentation, some of them failed",
        command=_BARE,
    ),
    PaperTable(
        PAPER, "tools", "Success and precision by the tools offered, %", _tools_columns(),
        needs="the same conversations, or scenarios of the office, with the variants base, suite_tools and all_tools",
        command=_EVERY, printed=False,
    ),
)  # fmt: skip
