"""The tables of MTU-Bench, from imported responses or from rows that an agent played.

Policy: the figures are those of the metric family ``mtu_bench``. Which dialogues are hard shows in the published files
for S-S and S-M only, by their order (found by comparing the printed figures of GPT-4 with every split); so tables of
the normal or hard set have no M-S and M-M cells, and the table ``all`` has every setting as a whole.
Source: MTU-Bench, tables 2 to 5, 7, 9, 10 and 14, figures 5 to 7.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from sandbox_grader.grading.scores import Scores
from sandbox_grader.grading.values import is_object
from sandbox_grader.papers.mtu_bench.parser import NO_CALL
from sandbox_grader.papers.mtu_bench.rows import TurnScore, score_one
from sandbox_grader.papers.mtu_bench.summary import DIALOGUE_COLUMNS, dialogue_scores
from sandbox_grader.papers.shared.figures import MeanOfColumns, ObservedMean, Total
from sandbox_grader.papers.shared.table import LabelledRun, PaperColumn, PaperTable

FAMILY: Final = "mtu_bench"
PAPER: Final = "mtu-bench"
_Part = Literal["all", "normal", "hard"]
TURN: Final = {
    "S-S": ("TS", "PS"),
    "M-S": ("TS", "PS"),
    "S-M": ("TN", "TO"),
    "M-M": ("TN", "TO"),
    "OOD": ("TS", "PS"),
    "API-Bank": ("TS", "PS"),
}
"""The columns of a setting that are means over turns; those over dialogues follow where there are several turns."""
HARD_ROWS: Final = {"S-S": 52, "S-M": 39}
"""The first so many rows of the file are the hard set."""
UNLABELLED: Final = "the published files do not say which dialogues are hard; table 'all' has all of them"
RUN: Final = "sandbox-mcp run --rows {setting}_eval.jsonl --row-answers text --agent AGENT --out runs/mtu-{setting}"
COMMANDS: Final = {
    "ToolTalk": "sandbox-mcp run --tooltalk ToolTalk/data --mode prefix --agent AGENT --out runs/tooltalk",
    "API-Bank": "sandbox-mcp run --rows api-bank/lv1-lv2-samples --row-answers text --agent AGENT --out runs/api-bank",
}
_SIZE: Final = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)[bB](?![a-zA-Z])")
_ROW: Final = re.compile(r"[A-Z]-[A-Z]_(\d+)")

_Rows = Sequence[Mapping[str, Any]]


def _of(setting: str, part: _Part = "all") -> Callable[[Scores], _Rows]:
    """The turns of a session that belong to a setting and a part of it."""

    def turns(scores: Scores) -> _Rows:
        verdict = scores.counted(FAMILY)
        if verdict is None or verdict.values["setting"] != setting:
            return ()
        return [row for row in verdict.details if part == "all" or _is_hard(setting, row["id"]) == (part == "hard")]

    return turns


def _is_hard(setting: str, row: str) -> bool | None:
    found = _ROW.match(row)
    if found is None or setting not in HARD_ROWS:
        return None
    return int(found[1]) < HARD_ROWS[setting]


def _means(setting: str, part: _Part = "all") -> dict[str, ObservedMean]:
    """The printed columns of a setting: over turns, and over dialogues."""
    turns = _of(setting, part)

    def over_turns(key: str) -> ObservedMean:
        return ObservedMean(lambda scores: (float(row[key]) for row in turns(scores) if key in row))

    def over_dialogues(name: str) -> ObservedMean:
        def observe(scores: Scores) -> Iterable[float]:
            verdict = scores.counted(FAMILY) if part == "all" else None
            value = verdict.values.get(name) if verdict and verdict.values["setting"] == setting else None
            return () if value is None else (float(value),)

        return ObservedMean(observe)

    found = {name: over_turns(name.lower()) for name in TURN[setting]}
    if setting[0] != "S":
        found |= {name: over_dialogues(name) for name in DIALOGUE_COLUMNS}
    return found


def _columns(settings: Sequence[str], part: _Part = "all") -> tuple[PaperColumn, ...]:
    found: list[PaperColumn] = []
    for setting in settings:
        never = UNLABELLED if part != "all" and setting not in HARD_ROWS else ""
        found += _with_average(setting, _means(setting, part), never)
    return tuple(found)


def _with_average(setting: str, means: Mapping[str, ObservedMean], never: str = "") -> tuple[PaperColumn, ...]:
    """The columns of a setting, or of another benchmark, and their average."""
    figures = {**means, "Avg.": MeanOfColumns(tuple(means.values()))}
    command = COMMANDS.get(setting, RUN.format(setting=setting))
    return tuple(
        PaperColumn(f"{setting} {name}", figure, command=command, never=never) for name, figure in figures.items()
    )


def _table(
    name: str, title: str, settings: Sequence[str], columns: Iterable[PaperColumn], needs: str = "", **more: Any
) -> PaperTable:
    """A table of runs on the rows of some settings, with the first one named as an example."""
    needs = needs or f"responses to, or runs on, the rows of {' and '.join(settings)}"
    command = RUN.format(setting=settings[0])
    return PaperTable(PAPER, name, title, tuple(columns), needs, command, **more)


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
    def column(setting: str, name: str) -> PaperColumn:
        turns = _of(setting)

        def observe(scores: Scores) -> Iterable[float]:
            return (float(row["error"] in ERRORS[name]) for row in turns(scores))

        figure = ObservedMean(observe) if share else Total(observe)
        scale, digits = (100, 2) if share else (1, 0)
        return PaperColumn(f"{setting} {name}", figure, scale, digits, RUN.format(setting=setting))

    return tuple(column(setting, name) for setting in settings for name in names)


# -- other tables -------------------------------------------------------------------------------------------------


def _foreign(source: str) -> tuple[PaperColumn, ...]:
    """Table 5: another benchmark's sessions, scored as if every turn wanted one call."""

    def turns(scores: Scores) -> Sequence[TurnScore]:
        verdict = scores.counted(FAMILY) if scores.origin == source.lower() else None
        return [score_one(_first(row["pred"]), _first(row["gt"])) for row in verdict.details] if verdict else ()

    def over_dialogues(name: str) -> ObservedMean:
        def observe(scores: Scores) -> Iterable[float]:
            right = [turn.right for turn in turns(scores)]
            return [dialogue_scores(right, scores.mode)[name]] if right else ()

        return ObservedMean(observe)

    means = {
        "TS": ObservedMean(lambda scores: (turn.first for turn in turns(scores))),
        "PS": ObservedMean(lambda scores: (turn.second for turn in turns(scores))),
        **{name: over_dialogues(name) for name in DIALOGUE_COLUMNS},
    }
    return _with_average(source, means)


def _first(calls: Any) -> dict[str, Mapping[str, Any]]:
    """The first of the calls that a detail has, in either form; no call is written as the benchmark writes it."""
    written: list[tuple[str, Mapping[str, Any]]] = (
        list(calls.items()) if is_object(calls) else [(call["tool"], call["arguments"]) for call in calls]
    )
    return dict(written[:1]) or dict(NO_CALL)


def _by_turns(turns: int) -> ObservedMean:
    rows = _of("M-S")

    def observe(scores: Scores) -> Iterable[float]:
        found = rows(scores)
        return (float(row["ts"]) for row in found) if len(found) == turns else ()

    return ObservedMean(observe)


def _by_tools(tools: int) -> ObservedMean:
    settings = [_of("S-M"), _of("M-M")]
    return ObservedMean(
        lambda scores: (float(row["tn"]) for rows in settings for row in rows(scores) if len(row["gt"]) == tools)
    )


def _size(logarithm: bool) -> ObservedMean:
    """The size of a model in billions of parameters, as its name tells it."""

    def observe(scores: Scores) -> Iterable[float]:
        found = _SIZE.search(str(scores.agent.get("model", "")))
        size = float(found[1]) if found else 0.0
        return (math.log10(size) if logarithm else size,) if size else ()

    return ObservedMean(observe)


def _by_setting(runs: Sequence[LabelledRun]) -> dict[str, list[Scores]]:
    """The dialogues of each setting, each once however many models answered it."""
    found: dict[str, dict[str, Scores]] = {setting: {} for setting in TURN}
    for run in runs:
        for scores in run.report.ordered:
            verdict = scores.counted(FAMILY)
            if verdict and verdict.values["setting"] in found:
                found[verdict.values["setting"]].setdefault(scores.scenario, scores)
    return {setting: list(dialogues.values()) for setting, dialogues in found.items() if dialogues}


def _dialogues(part: _Part) -> Total:
    def observe(scores: Scores) -> Iterable[float]:
        verdict, rows = scores.counted(FAMILY), scores.explained(FAMILY)
        hard = _is_hard(verdict.values["setting"], rows[0]["id"]) if verdict and rows else None
        return () if hard is None else (float(hard == (part == "hard")),)

    return Total(observe)


def _counted(read: Callable[[Scores], float]) -> Callable[[Scores], Iterable[float]]:
    """Read a dialogue that counts."""
    return lambda scores: (read(scores),) if scores.counted(FAMILY) else ()


DESCRIPTION: Final = (
    PaperColumn("normal", _dialogues("normal"), 1, 0, optional=True),
    PaperColumn("hard", _dialogues("hard"), 1, 0, optional=True),
    PaperColumn("dialogues", Total(lambda _: (1,)), 1, 0),
    PaperColumn("turns", Total(lambda scores: (len(scores.explained(FAMILY)),)), 1, 0),
    PaperColumn("turns per dialogue", ObservedMean(_counted(lambda s: len(s.explained(FAMILY)))), 1, 2),
    PaperColumn("tools offered", ObservedMean(_counted(lambda s: s.course.tools)), 1, 2),
    PaperColumn("calls wanted per turn", ObservedMean(lambda scores: map(_wanted, scores.explained(FAMILY))), 1, 2),
    PaperColumn(
        "turns without a call %", ObservedMean(lambda s: (float(not _wanted(r)) for r in s.explained(FAMILY))), 100, 1
    ),
)


def _wanted(row: Mapping[str, Any]) -> int:
    """Number of calls that a turn wants, which each mode writes in its own form."""
    calls = row["gt"]
    return sum(bool(name.strip()) for name in calls) if is_object(calls) else len(calls)


UNSIZED: Final = "the model's name does not tell how many billions of parameters it has"
FOUR: Final = ("S-S", "M-S", "S-M", "M-M")
ROWS_OF_FOUR: Final = "responses to, or runs on, the rows of the four settings"
TABLES: Final = (
    _table("table2", "normal set, S-S and M-S", ("S-S", "M-S"), _columns(("S-S", "M-S"), "normal")),
    _table("table3", "normal set, S-M and M-M", ("S-M", "M-M"), _columns(("S-M", "M-M"), "normal")),
    _table(
        "table4", "averages on the hard set", FOUR, (
            PaperColumn(
                setting, MeanOfColumns(tuple(_means(setting, "hard").values())), command=RUN.format(setting=setting),
                never="" if setting in HARD_ROWS else UNLABELLED,
            )
            for setting in FOUR
        ),
        needs=ROWS_OF_FOUR,
        note="the paper's tables 4, 9 and 10 contradict each other for ChatGLM3-6B and MTU-LLaMA",
    ),
    _table(
        "table5", "out of distribution", ("OOD",),
        (*_columns(("OOD",)), *_foreign("ToolTalk"), *_columns(("API-Bank",))),
        needs="runs on the OOD rows and on API-Bank's, and sessions of ToolTalk",
        note="of the turns of other benchmarks the first call is scored; how the authors took them is not said",
    ),
    _table(
        "figure5a", "TS by the number of turns of a dialogue, M-S", ("M-S",),
        (PaperColumn(f"{n} turns", _by_turns(n), command=RUN.format(setting="M-S")) for n in range(2, 13)),
        printed=False,
    ),
    _table(
        "figure5b", "TN by the number of tools that a turn wants, S-M and M-M", ("S-M", "M-M"),
        (PaperColumn(f"{n} tools", _by_tools(n), command=RUN.format(setting="S-M")) for n in range(1, 9)),
        printed=False,
        note="the paper calls its axis tool selection accuracy, which is TN where several tools are wanted",
    ),
    _table(
        "figure6", "averages by the model's size", FOUR, (
            PaperColumn("billions", _size(logarithm=False), 1, 1, never=UNSIZED),
            PaperColumn("log10", _size(logarithm=True), 1, 2, never=UNSIZED),
            *(column for column in _columns(FOUR) if column.name.endswith("Avg.")),
        ),
        needs="runs of models of several sizes, each named like Llama-2-13B",
        printed=False,
    ),
    _table(
        "figure7", "shares of turns with an error of each class, M-S and M-M", ("M-S", "M-M"),
        _error_columns(("M-S", "M-M"), ("action sum", "parameter", "format"), share=True),
        printed=False,
    ),
    _table(
        "table7", "how many dialogues there are, and how long they are", FOUR, DESCRIPTION,
        needs="any agent's runs on the rows of the settings",
        rows=_by_setting,
        note="normal and hard can be told for S-S and S-M only; what stands behind 'dialogues' is ours",
    ),
    _table("table9", "hard set, S-S and M-S", ("S-S", "M-S"), _columns(("S-S", "M-S"), "hard")),
    _table("table10", "hard set, S-M and M-M", ("S-M", "M-M"), _columns(("S-M", "M-M"), "hard")),
    _table(
        "table14", "how many turns show an error of each class", FOUR,
        _error_columns(("S-S", "S-M", "M-S", "M-M"), tuple(ERRORS), share=False),
        needs=ROWS_OF_FOUR,
        note="in the single-tool settings the paper's columns 'missed' and 'excessive' look exchanged",
    ),
    _table(
        "all", "all rows of every setting", (*FOUR, "OOD"), _columns((*FOUR, "OOD")),
        printed=False,
    ),
)  # fmt: skip
"""In the paper's order, then ours."""
