"""The tables of MTU-Bench, from imported responses or from rows that an agent played.

Policy: the figures are those of the metric family ``mtu_bench``. Which dialogues are hard shows in the published files
for S-S and S-M only, by their order (found by comparing the printed figures of GPT-4 with every split); so tables of
the normal or hard set have no M-S and M-M cells, and the table ``all`` has every setting as a whole.
Source: MTU-Bench, tables 2 to 5, 9, 10 and 14, figures 5 to 7.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from sandbox_grader.mtu_bench.summary import DIALOGUE_COLUMNS
from sandbox_grader.papers.figures import MeanOfColumns, ObservedMean, Total, counted_verdict
from sandbox_grader.papers.table import PaperColumn, PaperTable
from sandbox_grader.scores import Scores

FAMILY: Final = "mtu_bench"
PAPER: Final = "mtu-bench"
Part = Literal["all", "normal", "hard"]
TURN: Final = {"S-S": ("TS", "PS"), "M-S": ("TS", "PS"), "S-M": ("TN", "TO"), "M-M": ("TN", "TO"), "OOD": ("TS", "PS")}
"""The columns of a setting that are means over turns; those over dialogues follow where there are several turns."""
HARD_ROWS: Final = {"S-S": 52, "S-M": 39}
"""The first so many rows of the file are the hard set."""
UNLABELLED: Final = "the published files do not say which dialogues are hard; table 'all' has all of them"
RUN: Final = "sandbox-mcp run --rows {setting}_eval.jsonl --row-answers text --agent AGENT --out runs/mtu-{setting}"
_ROW: Final = re.compile(r"[A-Z]-[A-Z]_(\d+)")

Rows = Sequence[Mapping[str, Any]]


def _of(setting: str, part: Part = "all") -> Callable[[Scores], Rows]:
    """The turns of a session that belong to a setting and a part of it."""

    def turns(scores: Scores) -> Rows:
        verdict = counted_verdict(scores, FAMILY)
        if verdict is None or verdict.values["setting"] != setting:
            return ()
        return [row for row in verdict.details if part == "all" or _is_hard(setting, row["id"]) == (part == "hard")]

    return turns


def _is_hard(setting: str, row: str) -> bool | None:
    found = _ROW.match(row)
    if found is None or setting not in HARD_ROWS:
        return None
    return int(found[1]) < HARD_ROWS[setting]


def _means(setting: str, part: Part = "all") -> dict[str, ObservedMean]:
    """The printed columns of a setting: over turns, and over dialogues."""
    turns = _of(setting, part)

    def over_turns(key: str) -> ObservedMean:
        return ObservedMean(lambda scores: (float(row[key]) for row in turns(scores) if key in row))

    def over_dialogues(name: str) -> ObservedMean:
        return ObservedMean(lambda scores: _dialogue_value(scores, setting, name) if part == "all" else ())

    found = {name: over_turns(name.lower()) for name in TURN[setting]}
    if setting[0] != "S":
        found |= {name: over_dialogues(name) for name in DIALOGUE_COLUMNS}
    return found


def _dialogue_value(scores: Scores, setting: str, name: str) -> Iterable[float]:
    verdict = counted_verdict(scores, FAMILY)
    value = verdict.values.get(name) if verdict and verdict.values["setting"] == setting else None
    return () if value is None else (float(value),)


def _columns(settings: Sequence[str], part: Part = "all") -> tuple[PaperColumn, ...]:
    found: list[PaperColumn] = []
    for setting in settings:
        means, command = _means(setting, part), RUN.format(setting=setting)
        never = UNLABELLED if part != "all" and setting not in HARD_ROWS else ""
        figures = {**means, "Avg.": MeanOfColumns(tuple(means.values()))}
        found += [
            PaperColumn(f"{setting} {name}", figure, command=command, never=never) for name, figure in figures.items()
        ]
    return tuple(found)


def _table(name: str, title: str, settings: Sequence[str], part: Part, *, printed: bool = True) -> PaperTable:
    return PaperTable(
        paper=PAPER,
        name=name,
        title=title,
        columns=_columns(settings, part),
        needs=f"responses to, or runs on, the rows of {' and '.join(settings)}",
        command=RUN.format(setting=settings[0]),
        printed=printed,
    )


# -- errors -------------------------------------------------------------------------------------------------------

ERRORS: Final = {
    "missed": ("missed",),
    "excessive": ("excessive",),
    "incorrect": ("incorrect",),
    "action sum": ("missed", "excessive", "incorrect"),
    "parameter": ("parameter",),
    "format": ("format",),
    "sum": ("missed", "excessive", "incorrect", "parameter", "format", "order"),
}
"""The columns of Table 14 and the classes that each counts."""


def _error_columns(settings: Sequence[str], names: Sequence[str], *, share: bool) -> tuple[PaperColumn, ...]:
    found: list[PaperColumn] = []
    for setting in settings:
        for name in names:
            observe = _errors(setting, ERRORS[name])
            figure = ObservedMean(observe) if share else Total(observe)
            scale, digits = (100, 2) if share else (1, 0)
            command = RUN.format(setting=setting)
            found.append(PaperColumn(f"{setting} {name}", figure, scale, digits, command))
    return tuple(found)


def _errors(setting: str, classes: Sequence[str]) -> Callable[[Scores], Iterable[float]]:
    turns = _of(setting)
    return lambda scores: (float(row["error"] in classes) for row in turns(scores))


TABLES: Final = (
    _table("table2", "normal set, S-S and M-S", ("S-S", "M-S"), "normal"),
    _table("table3", "normal set, S-M and M-M", ("S-M", "M-M"), "normal"),
    _table("table9", "hard set, S-S and M-S", ("S-S", "M-S"), "hard"),
    _table("table10", "hard set, S-M and M-M", ("S-M", "M-M"), "hard"),
    _table("all", "all rows of every setting", ("S-S", "M-S", "S-M", "M-M", "OOD"), "all", printed=False),
    PaperTable(
        paper=PAPER,
        name="table14",
        title="how many turns show an error of each class",
        columns=_error_columns(("S-S", "S-M", "M-S", "M-M"), tuple(ERRORS), share=False),
        needs="responses to, or runs on, the rows of the four settings",
        command=RUN.format(setting="S-S"),
        note="in the single-tool settings the paper's columns 'missed' and 'excessive' look exchanged",
    ),
)
"""In the paper's order."""
