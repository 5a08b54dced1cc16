"""A report or a comparison as Markdown, short enough for the comment of a pull request.

Policy: the verdict comes first, then the figures, then at most a screenful of scenarios; text of agents and scenarios
is quoted, so that it starts no markup of its own.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sandbox_grader.reporting.counting import cluster_of, why_not
from sandbox_mcp.engine.plurals import counted

if TYPE_CHECKING:
    from sandbox_grader.reporting.comparison import Comparison
    from sandbox_grader.reporting.report import Report

MOST = 20
"""So many scenarios are listed."""
_ESCAPED = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]<>()#+!|~@"} | dict.fromkeys("\r\n", " "))


def quoted(text: str) -> str:
    """Text that Markdown shows as it is, in one line."""
    return text.translate(_ESCAPED)


def report_markdown(report: "Report", threshold: float | None = None) -> str:
    """The figures of a report, and its scenarios that fell short, as Markdown."""
    summary, low_high = report.summary(), report.interval
    interval = f" [{low_high[0]:.3f}, {low_high[1]:.3f}]" if low_high else ""
    figure = "no score" if report.score is None else f"{report.score:.3f}{interval}"
    missed = report.missed(threshold, "mean") if threshold is not None and report.sessions else None
    counts, refusal = summary["counts"], _number(summary["refusal"])
    blindly = "" if report.blind_replay is None else f", a blind replay {report.blind_replay:.3f}"
    lines = [
        f"## {quoted(report.name or 'sandbox-mcp')}: {quoted(report.metric)} {figure}",
        "",
        *([f"**{quoted(missed)}**", ""] if missed else []),
        f"{counts['scored']} of {counted(counts['planned'], 'session')} scored; refusing gets {refusal}{blindly}.",
        "",
    ]
    fell = [row for row in report.rows() if row["score"] is not None and row["score"] < 1]
    fell.sort(key=lambda row: row["score"])
    cells = [(row["scenario"], row["variant"], f"{row['scored']}/{row['sessions']}", row["score"]) for row in fell]
    lines += _table(("scenario", "variant", "scored", "score"), cells) if cells else ["Every scenario got 1."]
    unscored = report.unscored
    lines += ["", *(f"- not scored: {quoted(s.scenario)}: {quoted(why_not(s) or '')}" for s in unscored[:MOST])]
    return "\n".join(lines).rstrip() + "\n"


def comparison_markdown(found: "Comparison", margin: float | None = None) -> str:
    """A comparison as Markdown; with a ``margin``, whether B is worse by more than that comes first."""
    from sandbox_grader.reporting.wording import comparison_lines, verdict_of

    one, two = quoted(found.a.name or "A"), quoted(found.b.name or "B")
    lines = [f"## {two} compared with {one}", ""]
    if margin is not None:
        lines += [f"**{quoted(verdict_of(found, margin))}**", ""]
    lines += [f"> {quoted(warning)}" for warning in found.warnings]
    lines += [""] if found.warnings else []
    lines += _table(("", one, two), [(found.a.metric, found.a.score, found.b.score), *_passes(found)])
    lines += ["", *(f"- {quoted(line)}" for line in comparison_lines(found, MOST))]
    changed = sorted(_changes(found), key=lambda row: -abs(row[2] - row[1]))
    if changed:
        lines += ["", *_table(("scenario", one, two), changed)]
    return "\n".join(lines) + "\n"


def scenario_means(report: "Report") -> dict[str, float]:
    """The mean of each scenario over its variants and trials, of sessions that count."""
    values: dict[str, list[float]] = {}
    for item in report.ordered:
        if (value := item.value(report.metric)) is not None:
            values.setdefault(cluster_of(item), []).append(value)
    return {name: sum(found) / len(found) for name, found in values.items()}


def _changes(found: "Comparison") -> Iterator[tuple[str, float, float]]:
    before, after = scenario_means(found.a), scenario_means(found.b)
    return ((name, value, after[name]) for name, value in before.items() if name in after and after[name] != value)


def _passes(found: "Comparison") -> Iterator[tuple[object, ...]]:
    one, two = found.a.measures(), found.b.measures()
    for name, value in one.items():
        if name != found.a.metric and (other := two.get(name)):
            yield name, value and value.mean, other.mean


def _table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """A table of at most ``MOST`` rows; headers are Markdown already."""
    shown = ["| " + " | ".join(_number(cell) for cell in row) + " |" for row in rows[:MOST]]
    left = [f"\nand {counted(len(rows) - MOST, 'more scenario')}"] if len(rows) > MOST else []
    return ["| " + " | ".join(headers) + " |", "|" + "---|" * len(headers), *shown, *left]


def _number(cell: object) -> str:
    if cell is None:
        return "-"
    return f"{cell:.3f}" if isinstance(cell, float) else quoted(str(cell))
