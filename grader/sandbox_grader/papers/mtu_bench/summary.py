"""The figures of a setting from the turns and dialogues that belong to it.

Policy: TS, PS, TN and TO are means over turns, the others means over dialogues, all in percent with two decimals. The
average is the mean of the columns that the paper prints for the setting, taken from the rounded columns as printed.
Sums are exact before they are rounded, so that figures do not depend on the order in which sessions are read.
Source: MTU-Bench, section 2.2.2, Tables 2, 3 and 14.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any, Final

from sandbox_grader.grading.metric import Mode
from sandbox_grader.papers.mtu_bench.errors import CLASSES
from sandbox_grader.papers.mtu_bench.formulas import (
    average,
    percent,
    process_rate,
    soft_turn_success,
    success_rate,
    turn_success,
)  # fmt: skip

Details = Sequence[Mapping[str, Any]]
"""The rows of one dialogue as a verdict has them."""

DIALOGUE_COLUMNS: Final = ("ATS", "SATS", "SR", "TPR")
"""In the order of the paper's tables."""

TURN_COLUMNS: Final = (("TS", "ts"), ("PS", "ps"), ("TN", "tn"), ("TO", "to"))
"""Column to the key of a row; a row of a single-tool setting has the first two, of a multi-tool setting the others."""


def without_calls(rows: Details) -> list[Mapping[str, Any]]:
    """The rows as far as figures are made of them; whole where the authors' parser died, because those are named."""
    told = ("id", "gt", "pred", "scored_keys")
    return [row if "crash" in row else {key: row[key] for key in row if key not in told} for row in rows]


def dialogue_scores(turns: Sequence[bool], mode: Mode) -> dict[str, float]:
    """ATS, SATS, SR and TPR of one dialogue of several turns, each in 0..1."""
    soft = soft_turn_success(turns, last_overall=mode == "paper")
    return dict(
        zip(DIALOGUE_COLUMNS, (turn_success(turns), soft, success_rate(turns), process_rate(turns)), strict=True)
    )


def turn_scores(rows: Details) -> dict[str, float]:
    """The means over turns that the rows allow, each in 0..1."""
    found = {column: [float(row[key]) for row in rows if key in row] for column, key in TURN_COLUMNS}
    return {column: fsum(values) / len(values) for column, values in found.items() if values}


def columns(dialogues: Sequence[tuple[bool, Details]], mode: Mode) -> dict[str, float]:
    """The printed columns of a setting in percent, and their average.

    Every dialogue comes with whether it counts as one of several turns.
    """
    shares = turn_scores([row for _, rows in dialogues for row in rows])
    scored = [dialogue_scores([row["right"] for row in rows], mode) for several, rows in dialogues if several]
    if scored:
        shares |= {name: fsum(scores[name] for scores in scored) / len(scored) for name in DIALOGUE_COLUMNS}
    printed = {name: percent(share) for name, share in shares.items()}
    return {**printed, "avg": average(list(printed.values()))}


def right_share(rows: Details) -> float:
    """The share of turns that are right in all: in multi-tool settings the one figure that sees arguments in strict."""
    return sum(row["right"] for row in rows) / len(rows)


def error_counts(rows: Details) -> dict[str, int]:
    """Number of rows with a mistake of each class, and of any. Rows that score as right may have one in compat."""
    found = Counter(row["error"] for row in rows if row["error"])
    counts = {name: found.pop(name, 0) for name in CLASSES} | dict(found)
    return {**counts, "sum": sum(counts.values())}


def kind_counts(rows: Details) -> dict[str, int]:
    """Number of rows with each of the finer kinds of mistake; kinds that none shows are left out."""
    return dict(Counter(kind for row in rows for kind in row["kinds"]))


def under_other_policy(rows: Details) -> list[Mapping[str, Any]]:
    """The rows as they would score if the authors' parser dying counted for the other thing."""
    return [{**row, **row.get("otherwise", {})} for row in rows]
