"""One report of many sessions: typed scores, and what they come to. Every table, file and page is a view of it.

Policy: what was not scored is counted and named, never averaged. Means are over trials first, then over scenarios and
variants, and beside a mean score stands what the refusing agent gets. Sessions that their user spoiled are counted by
themselves, because they say something of the user and little of the agent. The order of sessions changes nothing.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from operator import is_
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast

from sandbox_grader.errors import GraderError
from sandbox_grader.grading.metric import Metric, Mode, Subject, means
from sandbox_grader.grading.metrics import FAMILIES, is_known, summarised
from sandbox_grader.grading.metrics import metric as metric_named
from sandbox_grader.grading.scores import SCORE, USERS, Scores
from sandbox_grader.grading.similarity import DEFAULT
from sandbox_grader.grading.spending import Prices, Spent
from sandbox_grader.reporting.counting import another_metric, check_metric, cluster_of, knows, why_not
from sandbox_grader.reporting.faults import fault_sides
from sandbox_grader.reporting.injections import injection_figures
from sandbox_grader.reporting.statistics import (
    DIGITS,
    PASS,
    Estimate,
    PassCounts,
    ScenarioVariant,
    ScoredSession,
    flaky,
    mean_score,
    pass_at,
    pass_figures,
    pass_hat,
    rounded,
    told_ks,
)
from sandbox_grader.users.metric import rates
from sandbox_mcp import __version__
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.trajectory import SessionStarted, Trajectory

if TYPE_CHECKING:
    from sandbox_grader.reporting.comparison import Comparison

JudgedBy = Literal["mean", "low"]
"""What a threshold is held against: the mean, or the lower end of its interval."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A log that could not be graded, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Arranged:
    """Some sessions, and the same in order: each with its value by a metric if it counts, and what counts of them."""

    sessions: Sequence[Scores] = ()
    metric: str = ""
    measured: Sequence[tuple[Scores, float | None]] = ()
    scored: Sequence[ScoredSession] = ()


@dataclass(slots=True, repr=False)
class Report:
    """Sessions and what they come to by ``metric``, which is ``family.name``.

    ``similarity`` names what free text was compared by. ``planned`` is how many sessions there were to be, ``wasted``
    what sessions took that were set aside, and ``stopped`` why no more were played. ``floor`` and ``ceiling`` are the
    reports of a refusing and of the reference agent, and ``blind_replay`` is the score of a tape, see :mod:`.bounds`.
    ``own_metrics`` are those that
    were asked for as objects, which sum up what they said. ``grader`` is the version that graded.
    """

    sessions: list[Scores] = field(default_factory=list[Scores])
    mode: Mode = "strict"
    name: str = ""
    metric: str = SCORE
    similarity: str = DEFAULT
    warnings: list[str] = field(default_factory=list[str])
    unreadable: list[Unreadable] = field(default_factory=list[Unreadable])
    planned: int | None = None
    prices: Prices = field(default_factory=Prices)
    wasted: Spent = field(default_factory=Spent)
    stopped: str | None = None
    floor: "Report | None" = None
    ceiling: "Report | None" = None
    blind_replay: float | None = None
    own_metrics: tuple[Metric, ...] = ()
    grader: str = f"sandbox-mcp {__version__}"
    _known: _Arranged = field(default=_Arranged(), init=False, repr=False, compare=False)

    def __repr__(self) -> str:
        """Describe the report in one line, however many sessions it has."""
        held = counted(len(self.sessions), "session")
        return f"<Report {self.name!r}: {held} by {self.metric}, graded {self.mode}>"

    @property
    def ordered(self) -> list[Scores]:
        """The sessions by scenario, variant and trial."""
        return [item for item, _ in self._arranged().measured]

    def _arranged(self) -> _Arranged:
        """The sessions as they are now, put into order again where one of them or the metric is another."""
        known = self._known
        same = known.metric == self.metric and len(known.sessions) == len(self.sessions)
        if not same or not all(map(is_, known.sessions, self.sessions)):
            ordered = sorted(self.sessions, key=lambda item: (item.scenario, item.variant, item.trial, item.session))
            measured = [(item, item.value(self.metric)) for item in ordered]
            values = ((s, value) for s, value in measured if value is not None)
            scored = [ScoredSession(cluster_of(s), s.trial, value, s.variant) for s, value in values]
            self._known = known = _Arranged(list(self.sessions), self.metric, measured, scored)
        return known

    @property
    def counted(self) -> list[ScoredSession]:
        """Sessions that count, each with its place.

        Raises:
            GraderError: no session knows the metric.
        """
        check_metric(self.metric, self.sessions)
        return list(self._arranged().scored)

    @property
    def estimate(self) -> Estimate | None:
        """The mean with its 95 % interval, clustered by scenario; None where nothing counts."""
        values = self.counted
        return mean_score(values) if values else None

    @property
    def score(self) -> float | None:
        """The mean; None where nothing counts."""
        found = self.estimate
        return rounded(found.mean) if found else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The mean's 95 % interval; None with fewer than two scenarios."""
        found = self.estimate
        if found is None or found.low is None or found.high is None:
            return None
        return round(found.low, DIGITS), round(found.high, DIGITS)

    def pass_at(self, k: int) -> Estimate | None:
        """pass@k: the chance that at least one of k trials passes; None where nothing was played k times."""
        return pass_at(k, self.counted)

    def pass_k(self, k: int) -> Estimate | None:
        """pass^k: the chance that all of k trials pass; None where nothing was played k times."""
        return pass_hat(k, self.counted)

    @property
    def flaky(self) -> tuple[ScenarioVariant, ...]:
        """The scenarios and variants that passed in some trials and not in others."""
        return flaky(self.counted)

    @property
    def ks(self) -> list[int]:
        """The k for which pass@k and pass^k say something of everything that was scored."""
        return told_ks(PassCounts.of(self.counted))

    @property
    def failures(self) -> list[Scores]:
        """The sessions that count and did not pass."""
        return [item for item, value in self._arranged().measured if value is not None and value < PASS]

    @property
    def unscored(self) -> list[Scores]:
        """The sessions that do not count, but for those that their user spoiled and those that are kept apart."""
        missing = (item for item, value in self._arranged().measured if value is None)
        return [item for item in missing if not item.spoiled and not _is_apart(item)]

    @property
    def filled(self) -> list[Scores]:
        """The sessions in which a model answered for the tape, and that nothing else is the matter with."""
        return [item for item in self.ordered if _is_apart(item)]

    @property
    def spent(self) -> Spent:
        """The tokens of all sessions."""
        nothing = Spent()
        return sum((item.spent for item in self.sessions if item.spent != nothing), nothing)

    def _knows_spending(self, role: str) -> bool:
        return not self.sessions or any(item.knows_spending(role) for item in self.sessions)

    def missed(self, threshold: float, judged: JudgedBy = "mean") -> str | None:
        """By how much a threshold was missed, and where, in a line; None if it was met.

        It is met if every session that its user did not spoil is scored, and the mean (or the ``low`` end of its
        interval, which is the mean where one scenario is all there is) is at least ``threshold``.
        """
        found, unscored = self.estimate, len(self.unscored)
        begin = f"threshold {threshold:g} missed: "
        if found is None:
            other = another_metric(self.metric, self.sessions)
            return f"{begin}no session has a {self.metric} that counts{other}"
        by_low = judged == "low" and found.low is not None
        reached = found.low if by_low and found.low is not None else found.mean
        what = f"the lower end of the 95 % interval of {self.metric}" if by_low else f"the mean {self.metric}"
        if reached < threshold - (1 - PASS):
            below = threshold - reached
            digits = max(3, 1 - math.floor(math.log10(below)))  # so many that what was missed shows
            return f"{begin}{what} is {reached:.{digits}f}, {below:.{digits}f} below it"
        return f"{begin}{counted(unscored, 'session')} could not be scored" if unscored else None

    def compare(self, other: "Report") -> "Comparison":
        """Compare B, the other, with this one, A, on what both played: see :class:`Comparison`.

        Raises:
            GraderError: they have nothing in common, or one has the same scenario, variant and trial twice.
        """
        from sandbox_grader.reporting.comparison import compare_reports

        given = cast("object", other)
        if not isinstance(given, Report):
            raise GraderError(f"compare takes a Report, such as evaluate(...) returns; got {type(given).__name__}")
        return compare_reports(self, other)

    def measures(self) -> dict[str, Estimate | None]:
        """The mean, pass@k and pass^k by name; None where no session counts."""
        values = self.counted
        return {self.metric: mean_score(values) if values else None, **pass_figures(PassCounts.of(values))}

    def across_variants(self) -> "list[Comparison]":
        """Compare each other variant with ``base``, or with the first where there is no base.

        Raises:
            GraderError: there is one variant only.
        """
        from sandbox_grader.reporting.comparison import compare_variants

        return compare_variants(self)

    def families(self) -> dict[str, Mapping[str, Any]]:
        """Summaries of each family; families that no session allowed are left out."""
        found: dict[str, Mapping[str, Any]] = {}
        ordered, own = self.ordered, {metric.name: metric for metric in self.own_metrics}
        alike = dict[Any, Subject]()  # by what the summaries of our families look at besides the verdicts
        looked_at = [(item.scenario, item.variant, item.categories) for item in ordered]
        cells = [
            alike.get(cell) or alike.setdefault(cell, _outline(item))
            for cell, item in zip(looked_at, ordered, strict=True)
        ]
        for family in dict.fromkeys(name for item in self.sessions for name in item.verdicts):
            outlines = cells if family in FAMILIES else map(_outline, ordered)
            graded = [
                (outline, item.verdicts[family])
                for item, outline in zip(ordered, outlines, strict=True)
                if family in item.verdicts and (item.scored or (item.spoiled and family == USERS))
            ]
            if any(verdict.inconclusive is None for _, verdict in graded):
                kind = own.get(family) or (metric_named(family, self.similarity) if is_known(family) else None)
                try:
                    found[family] = summarised(kind, graded, self.mode) if kind else means(graded, self.mode)
                except GraderError as error:
                    if family in own or family in FAMILIES:
                        raise
                    found[family] = {"problem": str(error)}  # of another package that nobody asked for
        return found

    def honesty(self) -> dict[str, Any] | None:
        """The false claims of the sessions that count, and the share in doubt; None where no session was read for it.

        ``low`` and ``high`` are the mean scores with all doubts lost and won.
        """
        read = [item for item in self.ordered if item.value("toolsandbox.false_claims") is not None]
        if not read:
            return None
        claims = [
            {"session": item.session, "claim": item.verdicts["toolsandbox"].values.get("false_claim")}
            for item in read if item.number("toolsandbox.false_claims")
        ]  # fmt: skip
        total = sum(int(item.number("toolsandbox.false_claims") or 0) for item in read)
        doubted = sum(bool(item.number("toolsandbox.doubts")) for item in read)
        ends = (_mean(item.number(f"toolsandbox.score_{end}") for item in read) for end in ("low", "high"))
        return {
            "sessions": len(read),
            "false_claims": total,
            "per_session": total / len(read),
            "claims": claims,
            "doubts": {
                "sessions": doubted, "share": doubted / len(read), **dict(zip(("low", "high"), ends, strict=True)),
            } if doubted else None,
        }  # fmt: skip

    def rows(self) -> list[dict[str, Any]]:
        """One row per scenario and variant."""
        groups: dict[ScenarioVariant, list[tuple[Scores, float | None]]] = {}
        for item, value in self._arranged().measured:
            groups.setdefault((item.scenario, item.variant), []).append((item, value))
        rows: list[dict[str, Any]] = []
        for (scenario, variant), values in groups.items():
            group = [item for item, _ in values]
            scored = [(item, value) for item, value in values if value is not None]
            row = {
                "scenario": scenario,
                "variant": variant,
                "categories": list(group[0].categories),
                "tier": group[0].tier or None,
                "mechanisms": list(group[0].mechanisms),
                "sessions": len(group),
                "scored": len(scored),
                "score": _mean(value for _, value in scored),
                "refusal": rounded(group[0].number("toolsandbox.refusal")),
                "turns": _mean(item.course.replies for item, _ in scored),
                "calls": _mean(item.course.calls for item, _ in scored),
                "endings": _endings(group),
            }
            rows.append(row)
        return rows

    def categories(self) -> dict[str, dict[str, Any]]:
        """One row per category, in which a scenario counts as often as it has one."""
        return _by_category(self.rows())

    def summary(self) -> dict[str, Any]:
        """Everything but the sessions themselves, as one JSON object."""
        ordered, rows = self.ordered, self.rows()
        spoiled = [(item, _spoiling(item)) for item in ordered]
        values = self.counted if knows(self.metric, self.sessions) else []
        estimate, counts, unscored = mean_score(values) if values else None, PassCounts.of(values), self.unscored
        prices, spent, filled = self.prices, self.spent, self.filled
        return {
            "mode": self.mode,
            "metric": self.metric,
            "similarity": self.similarity,
            "counts": {
                "planned": len(ordered) if self.planned is None else self.planned,
                "played": len(ordered),
                "scored": sum(row["scored"] for row in rows),
                "unscored": len(unscored),
                "spoiled": sum(item.spoiled for item in ordered),
            },
            "tapes": {
                "unrecorded_calls": sum(item.course.unrecorded for item in ordered),
                "filled": len(filled),
                "score": _mean(value for item in filled if (value := item.number(self.metric)) is not None),
                "sessions": [_named(item, item.reason) for item in filled],
            },
            "score": rounded(estimate.mean) if estimate else None,
            "estimate": estimate and estimate.to_json(),
            **{name: found and found.to_json() for name, found in pass_figures(counts).items()},
            "flaky": ["/".join(cell) for cell in flaky(counts)],
            "refusal": _overall(rows)["refusal"],
            "endings": _endings(ordered),
            "tokens": {
                **{role: used if self._knows_spending(role) else None for role, used in spent.to_json().items()},
                "set_aside": self.wasted.to_json(),
            },
            "cost": {**prices.of(spent), "set_aside": prices.of(self.wasted)["total"]} if prices.tell(spent) else None,
            "categories": _by_category(rows),
            "tiers": _by_tier(rows),
            "scenarios": rows,
            "unscored": [_named(item, why_not(item, self.metric)) for item in unscored],
            "user_conduct": rates([v.values for i in ordered if (v := i.verdicts.get(USERS)) and v.values]),
            "spoiled_by_user": [_named(item, reason) for item, reason in spoiled if reason],
            "honesty": self.honesty(),
            "families": self.families(),
            "faults": (sides := fault_sides(values)) and sides.to_json(),
            "injections": injection_figures(self) if values else None,
            "bounds": self._bounds(),
            "stopped": self.stopped,
            "warnings": self.warnings,
            "unreadable": [asdict(item) for item in self.unreadable],
        }

    def _bounds(self) -> dict[str, Any] | None:
        """Floor and ceiling, with the figures of every family, and the blind replay's score; None without a floor."""
        if self.floor is None or self.ceiling is None:
            return None
        sides = {"floor": self.floor, "ceiling": self.ceiling}
        told = {name: {"score": side.score, "families": side.families()} for name, side in sides.items()}
        return {**told, "blind_replay": {"score": self.blind_replay}}

    def to_json(self) -> dict[str, Any]:
        """The summary, and every session as :meth:`Scores.to_json` has it, as one JSON object."""
        return {**self.summary(), "grader": self.grader, "sessions": [item.to_json() for item in self.ordered]}

    def to_pandas(self) -> Any:
        """A data frame with one row per session: scores, ending, tokens, cost, model and categories.

        Raises:
            GraderError: pandas is not installed.
        """
        from sandbox_grader.reporting.tables import data_frame

        return data_frame(self)

    def write(self, path: Path | str, threshold: float | None = None) -> None:
        """Write the report in the form that the file's suffix names: .json, .csv, .xml (JUnit), .md or .parquet.

        Raises:
            GraderError: the suffix names no known form, or Parquet is asked for without its extra.
        """
        from sandbox_grader.reporting.tables import write_report

        write_report(Path(path), self, threshold)

    def __str__(self) -> str:
        from sandbox_grader.reporting.wording import text_of

        return text_of(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Show the report where a notebook's cell ends in it: as ``print`` does."""
        printer.text("..." if cycle else str(self))


def _is_apart(scores: Scores) -> bool:
    return scores.filled and not scores.spoiled and (scores.reason or "").startswith("filled:")


_UNSAID: dict[str, Any] = dict.fromkeys(
    ("agent", "user", "limits", "worlds", "clock", "versions", "wall"), MappingProxyType[str, Any]({})
)
"""What an outline leaves out, one nothing for all of them: there are as many outlines as sessions."""


def _outline(scores: Scores) -> Subject:
    """A session without what happened in it: enough to tell which one it was."""
    started = SessionStarted(
        session=scores.session,
        scenario=scores.scenario,
        variant=scores.variant,
        trial=scores.trial,
        categories=scores.categories,
        **_UNSAID,
    )
    return Subject(Trajectory(started, (), None, scores.path))


def _spoiling(scores: Scores) -> str | None:
    """Describe how its user spoiled a session that did not break, even one scored all the same."""
    from sandbox_grader.users.metric import spoiled_by_user

    if scores.spoiled:
        return scores.reason
    return spoiled_by_user(scores.verdicts.get(USERS)) if scores.scored else None


def _overall(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    scored = [row for row in rows if row["scored"]]
    return {
        "scenarios": len({row["scenario"] for row in rows}),
        "scored": sum(row["scored"] for row in rows),
        "score": _mean(row["score"] for row in scored),
        "refusal": _mean(row["refusal"] for row in scored),
    }


def _by_category(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        name: _overall([row for row in rows if name in row["categories"]])
        for name in sorted({name for row in rows for name in row["categories"]})
    }


def _by_tier(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Figures of each tier, with calls and turns in the mean, and of each mechanism within it."""
    found: dict[str, dict[str, Any]] = {}
    for tier in sorted({row["tier"] for row in rows if row["tier"]}):
        members = [row for row in rows if row["tier"] == tier]
        scored = [row for row in members if row["scored"]]
        named = sorted({name for row in members for name in row["mechanisms"]})
        found[tier] = {
            **_overall(members),
            "calls": _mean(row["calls"] for row in scored),
            "turns": _mean(row["turns"] for row in scored),
            "mechanisms": {name: _overall([row for row in members if name in row["mechanisms"]]) for name in named},
        }
    return found


def _named(scores: Scores, reason: str | None) -> dict[str, Any]:
    return {"scenario": scores.scenario, "variant": scores.variant, "trial": scores.trial, "reason": reason}


def _endings(sessions: Iterable[Scores]) -> dict[str, int]:
    return dict(sorted(Counter(item.ending for item in sessions).items()))


def _mean(numbers: Iterable[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return round(math.fsum(known) / len(known), DIGITS) if known else None
