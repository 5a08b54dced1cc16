"""A report and a comparison in words and tables for people.

Policy: what a reader should know beside the numbers is said with them: the gaps, the failures, what was left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from sandbox_grader.grading.scores import SCORE
from sandbox_grader.reporting.counting import ALIKE, why_not
from sandbox_grader.reporting.faults import fault_sides
from sandbox_grader.reporting.injections import HEADERS, injection_figures, injection_rows
from sandbox_grader.reporting.statistics import Estimate
from sandbox_mcp.engine.columns import columns
from sandbox_mcp.engine.plurals import counted

if TYPE_CHECKING:
    from sandbox_grader.reporting.comparison import Comparison
    from sandbox_grader.reporting.report import Report

_Cells = list[Sequence[object]]
TOO_FEW = "these are too few scenarios to have found any difference 4 times in 5, however large it is"
_DETAILS = ("counts", "failures", "errors", "kinds")
"""Parts of a summary that are too long for people."""
MOST_NAMED = 5
"""How many sessions of a kind, or logs that cannot be read, are named."""
UNKNOWN_SMALLEST = "nothing varied from scenario to scenario, so the smallest difference that could be found is unknown"


@dataclass(frozen=True, slots=True)
class TextTable:
    """Rows to be shown under their headers."""

    headers: Sequence[str]
    rows: _Cells

    def __str__(self) -> str:
        return columns(self.headers, self.rows)


def tables_of(report: "Report", rows: Sequence[Mapping[str, Any]] | None = None) -> list[TextTable]:
    """Scenarios and variants, or those ``rows`` of them; categories; and how sure the figures are."""
    baseline = report.metric == SCORE  # what refusing earns is told by this metric only
    extra = ("refusal",) if baseline else ()
    scenarios: _Cells = [
        (
            row["scenario"],
            row["variant"],
            f"{row['scored']}/{row['sessions']}",
            row["score"],
            *(row[name] for name in extra),
            row["turns"],
            ", ".join(f"{name} {count}" for name, count in row["endings"].items()),
        )
        for row in (report.rows() if rows is None else rows)
    ]
    summary = report.summary()
    played = len({row["scenario"] for row in summary["scenarios"]})
    overall = (played, summary["counts"]["scored"], summary["score"], *(summary[name] for name in extra))
    categories: _Cells = [
        (name, item["scenarios"], item["scored"], item["score"], *(item[name] for name in extra))
        for name, item in summary["categories"].items()
    ]
    score = report.metric.removeprefix("toolsandbox.")
    return [
        TextTable(("scenario", "variant", "scored", score, *extra, "turns", "endings"), scenarios),
        TextTable(("category", "scenarios", "scored", score, *extra), [*categories, ("all", *overall)]),
        *_tiers(summary["tiers"], score),
        *certainty(report),
        *faulty(report),
        *attacked(report),
    ]


def _tiers(tiers: Mapping[str, Mapping[str, Any]], score: str) -> list[TextTable]:
    """Tiers where there are several or a hard one, and the mechanisms that their scenarios are tagged with."""
    if len(tiers) < 2 and not any(item["mechanisms"] for item in tiers.values()):
        return []
    figures = ("scenarios", "scored", "score")
    sizes: _Cells = [(name, *(item[figure] for figure in (*figures, "calls", "turns"))) for name, item in tiers.items()]
    mechanisms: _Cells = [
        (mechanism, name, *(found[figure] for figure in figures))
        for name, item in tiers.items()
        for mechanism, found in item["mechanisms"].items()
    ]
    tables = [TextTable(("tier", "scenarios", "scored", score, "calls", "turns"), sizes)]
    return [
        *tables,
        *([TextTable(("mechanism", "tier", "scenarios", "scored", score), mechanisms)] if mechanisms else []),
    ]


def certainty(report: "Report") -> list[TextTable]:
    """The mean, pass@k and pass^k with their intervals, where anything counts."""
    if report.estimate is None:
        return []
    sides = bounds_of(report)
    rows: _Cells = [
        (
            name.removeprefix("toolsandbox."), found.mean, found.low, found.high, found.clusters,
            *(side if name == report.metric else None for side in sides.values()),
        )
        for name, found in report.measures().items()
        if found is not None
    ]  # fmt: skip
    return [TextTable(("", "mean", "low", "high", "scenarios", *sides), rows)]


def bounds_of(report: "Report") -> dict[str, float | None]:
    """Scores that stand beside the report's: floor, blind replay, ceiling; empty where its scenarios are not known."""
    if report.floor is None or report.ceiling is None:
        return {}
    return {"floor": report.floor.score, "blind replay": report.blind_replay, "ceiling": report.ceiling.score}


def faulty(report: "Report") -> list[TextTable]:
    """The same scenarios without and under faults, where a run played both, with the difference."""
    sides = fault_sides(report.counted) if report.estimate is not None else None
    if sides is None:
        return []
    rows: _Cells = [
        (name, one.mean, two.mean, two.mean - one.mean)
        for name, one in sides.without.items()
        if one is not None and (two := sides.under.get(name)) is not None
    ]
    return [TextTable(("", "without faults", "under faults", "difference"), rows)]


def attacked(report: "Report") -> list[TextTable]:
    """Utility under attack and attack success, of all injections, of each goal and of each phrasing."""
    figures = injection_figures(report)
    return [] if figures is None else [TextTable(HEADERS, injection_rows(figures))]


MAIN: Mapping[str, tuple[str, ...]] = {
    "tooltalk": ("success_rate", "macro precision", "macro recall", "macro incorrect_action_rate"),
    "toolscan": ("success", "mean_of_seven"),
    "mtu_bench": ("S-S avg", "S-M avg", "M-S avg", "M-M avg"),
}
"""What a screen has room for of families with many figures; of those not named here, what is not 0."""


def family_lines(report: "Report", families: Mapping[str, Any], *, full: bool) -> Iterator[str]:
    """A line per family besides the milestones: its main figures, or all of them, with floor and ceiling if known."""
    floor, ceiling = sides_of(report)
    for family, values in families.items():
        if family in ("toolsandbox", "faults", "injections"):  # they have lines of their own
            continue
        by = f" (text by {report.similarity})" if family == "tooltalk" else ""
        figures = dict(main_figures(values))
        main = MAIN.get(family, tuple(name for name, value in figures.items() if value))
        chosen = {name: value for name, value in figures.items() if full or name in main}
        told = ", ".join(
            f"{name} {value:.3f}"
            + (f" ({floor[at]:.3f} to {ceiling[at]:.3f})" if (at := (family, name)) in floor else "")
            for name, value in chosen.items()
        )
        nothing = "nothing found" if figures else values.get("problem", "nothing to say")
        yield f"{family}{by}: {told or nothing}"


def text_of(report: "Report") -> str:
    """All tables, and the remarks below them."""
    told = "\n".join(remarks(report))
    return "\n\n".join([*map(str, tables_of(report)), *([told] if told else [])])


def remarks(report: "Report") -> Iterator[str]:
    """Remarks for a reader beside the numbers."""
    summary = report.summary()
    counts = summary["counts"]
    yield from report.warnings
    yield from (item.reason for item in report.unreadable[:MOST_NAMED])
    if len(report.unreadable) > MOST_NAMED:
        yield f"cannot be read: {counted(len(report.unreadable), 'log')}, named with --json"
    if report.stopped == ALIKE:
        why = next((why_not(item, report.metric) for item in report.unscored), "")
        yield f"stopped, as the first sessions all failed alike: {why}"
        yield "mend that, and the same command goes on; --keep-going plays the rest all the same"
    elif report.stopped:
        yield f"stopped at the {report.stopped}; the same command with a higher one goes on"
    if cost := summary["cost"]:
        known = ", ".join(f"{role} {_money(cost[role])}" for role in ("agent", "user"))
        lost = f", and {_money(cost['set_aside'])} for sessions set aside" if cost["set_aside"] else ""
        yield f"cost {_money(cost['total'])} ({known}){lost}"
    if missing := counts["planned"] - counts["played"]:
        yield f"still to be played: {missing} of {counted(counts['planned'], 'session')}"
    unscored = report.unscored
    for item in unscored[: 0 if report.stopped == ALIKE else MOST_NAMED]:  # which had one reason, told above
        which = f"{item.scenario or item.session} ({item.variant}, trial {item.trial})"
        yield f"not scored: {which}: {why_not(item, report.metric)}"
    if unscored:
        again = "; the same command plays these again" if report.planned is not None else ""
        yield f"not scored: {counted(len(unscored), 'session')}{again}"
    yield from alike(report)
    yield from of_tapes(report)
    yield from coping(report)
    yield from honesty(report)
    rates = {kind: item for kind, item in summary["user_conduct"].items() if kind != "spoiled" and item["sessions"]}
    if rates:
        often = (f"{kind} in {r['sessions']} of {r['known']} ({r['rate']:.1%})" for kind, r in rates.items())
        yield f"sessions in which the user did something wrong: {', '.join(often)}"
        for item in summary["spoiled_by_user"][:MOST_NAMED]:
            yield f"{item['scenario']} ({item['variant']}, trial {item['trial']}): {item['reason']}"
        if counts["spoiled"]:
            left_out = counted(counts["spoiled"], "session")
            yield f"left out: {left_out} that the user spoiled; --keep-spoiled scores them"


def alike(report: "Report") -> Iterator[str]:
    """Warning beside an interval without width."""
    found = report.estimate
    if found and (share := found.unseen) is not None:
        yield (
            f"all {found.clusters} scenarios had the same mean, so their interval has no width; with 95 % confidence "
            f"at most {share:.1%} of other scenarios like these would differ"
        )


SHOWN_CLAIMS = 5
"""So many false claims have room on a screen."""


def honesty(report: "Report") -> Iterator[str]:
    """The false claims of a report with their sentences, and what of its score is in doubt."""
    said = report.honesty()
    if said is None:
        return
    count, sessions = said["false_claims"], said["sessions"]
    told = f"{counted(count, 'false claim')} in {counted(sessions, 'session')}"
    yield f"honesty: {told} ({said['per_session']:.3f} a session)"
    for item in said["claims"][:SHOWN_CLAIMS]:
        yield f"  {item['session']}: {item['claim']}"
    if (left := len(said["claims"]) - SHOWN_CLAIMS) > 0:
        yield f"  and {counted(left, 'more session')}"
    if doubts := said["doubts"]:
        yield (
            f"in doubt: {counted(doubts['sessions'], 'session')} ({doubts['share']:.1%}), mean score between "
            f"{doubts['low']:.3f} and {doubts['high']:.3f}, of which each session counts the middle; settle them with "
            "--judge, or with 'annotate --doubts' and --verdicts"
        )


def coping(report: "Report") -> Iterator[str]:
    """Tell how the agent coped with calls that went wrong on purpose."""
    found = report.families().get("faults")
    if found is None:
        return
    honest = "" if found["honesty"] is None else f", told its user of {found['honesty']:.1%} of the others"
    share = "" if found["recovery"] is None else f"recovered from {found['recovery']:.1%}{honest}; "
    yield (
        f"faults: {counted(found['landed'], 'call')} went wrong in {counted(found['sessions'], 'session')}; {share}"
        f"{counted(found['duplicate_writes'], 'duplicate write')}, needless retries: {found['needless_retries']}"
    )


def of_tapes(report: "Report") -> Iterator[str]:
    """Count the misses of tapes, and the sessions in which a model answered them, which are in no mean with others."""
    if apart := report.filled:
        values = [value for item in apart if (value := item.number(report.metric)) is not None]
        mean = f", mean {report.metric} {sum(values) / len(values):.3f}" if values else ""
        yield f"kept apart: {counted(len(apart), 'session')} in which a model answered for the tape{mean}"
    missing = [item.course.unrecorded for item in report.ordered if item.course.unrecorded]
    if missing:
        yield f"not on the tape: {counted(sum(missing), 'call')} in {counted(len(missing), 'session')}"


def _money(amount: float | None) -> str:
    return "unknown" if amount is None else f"{amount:.4f}"


def comparison_table(comparison: "Comparison") -> TextTable:
    """A table of both sides, on the compared sessions."""
    one, two = comparison.a.measures(), comparison.b.measures()
    rows: _Cells = [(name, _shown(one[name]), _shown(two.get(name))) for name in one]
    return TextTable(("", f"A: {comparison.a.name}", f"B: {comparison.b.name}"), rows)


def comparisons_table(comparisons: Sequence["Comparison"], adjusted: Sequence[float]) -> TextTable:
    """Several runs beside the one that all are compared with, a row each; ``adjusted`` are their p-values."""
    first = comparisons[0].a
    name = first.metric.removeprefix("toolsandbox.")
    rows: _Cells = [
        (
            item.b.name, item.found.difference.sessions, _shown(item.a.estimate), _shown(item.b.estimate),
            str(item.found.difference), f"{item.found.only_a}, {item.found.only_b}", f"{p:.3g}",
        )
        for item, p in zip(comparisons, adjusted, strict=True)
    ]  # fmt: skip
    heads = ("run", "sessions", f"{name} of {first.name}", name, "difference", "passed only by one", "p")
    return TextTable(heads, rows)


def _shown(estimate: Estimate | None) -> str:
    return "-" if estimate is None else str(estimate)


def comparison_lines(comparison: "Comparison", most: int | None = None) -> Iterator[str]:
    """Lines on what was compared, what was left out, and the difference; at most so many scenarios by name."""
    found = comparison.found
    both = f"{counted(found.difference.sessions, 'session')} of {counted(found.difference.clusters, 'scenario')}"
    yield f"compared: {both} that both played and that were scored"
    yield f"left out: {'; '.join(comparison.left_out) or 'nothing'}"
    yield f"difference (B - A): {found.difference}"
    if found.smallest is not None and found.shares and found.smallest > 1:
        yield TOO_FEW
    elif found.smallest is not None:
        yield f"smallest difference that this comparison would have found 4 times in 5: {found.smallest:.3f}"
    elif found.difference.low is not None:
        yield UNKNOWN_SMALLEST
    yield f"passed only by A: {found.only_a}, only by B: {found.only_b}, McNemar p = {found.p_value:.3g}"
    for word, names in (("higher", found.higher), ("lower", found.lower)):
        others = len(names) - len(names[:most])
        more = f" and {others} more, which --all names" if others else ""
        yield f"{word} in B ({len(names)}): {', '.join(names[:most]) or 'none'}{more}"


def verdict_of(comparison: "Comparison", margin: float) -> str:
    """Say in one line whether B is worse than A by more than a margin, and by which test."""
    found = comparison.found.difference
    beyond = f" by more than {margin:g}" if margin else ""
    word = "worse" if comparison.worse(margin) else "not shown to be worse"
    if comparison.interval is None:
        return f"{word}{beyond}: the difference is {found.mean:+.3f}; one scenario allows no test"
    low, high = comparison.interval
    smallest = comparison.found.smallest
    power = f"; a difference of {smallest:.3f} would have been found 4 times in 5" if smallest else ""
    return (
        f"{word}{beyond}: the difference is {found.mean:+.3f}, 95 % interval {low:+.3f} to {high:+.3f}, paired by "
        f"scenario; worse is an interval below {-margin or 0:g}{power}"
    )


def text_of_comparison(comparison: "Comparison") -> str:
    """The table and the lines below it."""
    warnings = [f"warning: {warning}" for warning in comparison.warnings]
    return "\n".join([*warnings, str(comparison_table(comparison)), "", *comparison_lines(comparison)])


def sides_of(report: "Report") -> tuple[Mapping[tuple[str, str], float], Mapping[tuple[str, str], float]]:
    """Floor and ceiling of every main figure by family and name; nothing where there are none."""
    floor, ceiling = (
        {(family, name): value for family, values in side.families().items() for name, value in main_figures(values)}
        if side
        else {}
        for side in (report.floor, report.ceiling)
    )
    both = floor.keys() & ceiling.keys()
    return {name: floor[name] for name in both}, {name: ceiling[name] for name in both}


def main_figures(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, float]]:
    """The figures of a family's summary by name; counts and classes of errors are for JSON."""
    for key, value in values.items():
        full = f"{before} {key}".strip()
        if isinstance(value, Mapping) and key not in _DETAILS:
            yield from main_figures(cast("Mapping[str, Any]", value), full)
        elif isinstance(value, float):
            yield full, value
