"""Two reports side by side, two variants of one report, or two gradings of the same sessions.

Policy: only what both played, and both have a value for, is compared; everything else is left out and counted in the
same breath. Reports that were played or graded in different ways are compared with a warning that says so. One is worse
than another where the whole 95 % interval of the difference, of means over scenarios, lies below a margin.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sandbox_grader.errors import GraderError
from sandbox_grader.grading.scores import Scores
from sandbox_grader.reporting.counting import another_metric, cluster_of
from sandbox_grader.reporting.statistics import (
    Pair,
    PairedDifference,
    ScoredSession,
    compare,
)
from sandbox_mcp.engine.plurals import counted

if TYPE_CHECKING:
    from sandbox_grader.reporting.report import Report

_Place = tuple[str, str, int]
"""Scenario, variant and trial: what two sessions must share to be a pair."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """B against A. ``a`` and ``b`` hold the sessions that are compared; ``left_out`` says in words which are not.

    ``unlike`` says what else differs than the agent: users, instructions, variants, instances, scenarios, the grader.
    ``difference``, ``interval`` and ``p_value`` are of B - A over those.
    """

    a: "Report"
    b: "Report"
    found: PairedDifference
    left_out: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()

    @property
    def difference(self) -> float:
        """The mean of B less that of A."""
        return self.found.difference.mean

    @property
    def interval(self) -> tuple[float, float] | None:
        """The difference's 95 % interval; None with fewer than two scenarios."""
        low, high = self.found.difference.low, self.found.difference.high
        return None if low is None or high is None else (low, high)

    @property
    def p_value(self) -> float:
        """McNemar's exact test on passing."""
        return self.found.p_value

    def worse(self, margin: float = 0.0) -> bool:
        """True if B is worse than A by more than ``margin``, beyond chance.

        That is where the 95 % interval of B - A, paired by scenario, lies below ``-margin``: a one-sided test at 2.5 %.
        With one scenario there is no interval, and the difference itself is taken.
        """
        high = self.difference if self.interval is None else self.interval[1]
        return high < -margin

    def to_json(self) -> dict[str, Any]:
        """The comparison as one JSON object."""
        found = self.found
        return {
            "metric": self.a.metric,
            "compared": found.difference.sessions,
            "left_out": list(self.left_out),
            "a": _side(self.a),
            "b": _side(self.b),
            "difference": found.difference.to_json(),
            "smallest_detectable": found.smallest,
            "mcnemar": {"only_a": found.only_a, "only_b": found.only_b, "p": found.p_value},
            "higher": list(found.higher),
            "lower": list(found.lower),
            "warnings": list(self.warnings),
            "unlike": list(self.unlike),
        }

    def __str__(self) -> str:
        from sandbox_grader.reporting.wording import text_of_comparison

        return text_of_comparison(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Show the comparison where a notebook's cell ends in it: as ``print`` does."""
        printer.text("..." if cycle else str(self))


def _side(report: "Report") -> dict[str, Any]:
    estimates = {name: found and found.to_json() for name, found in report.measures().items()}
    flaky = ["/".join(cell) for cell in report.flaky]
    return {"run": report.name, "sessions": len(report.sessions), **estimates, "flaky": flaky}


def compare_reports(a: "Report", b: "Report") -> Comparison:
    """Compare two reports by the metric of the first, paired by scenario, variant and trial.

    Raises:
        GraderError: they have nothing in common, or one has the same scenario, variant and trial twice.
    """
    doubts = [*a.warnings, *b.warnings]
    found = _paired(a, replace(b, metric=a.metric), doubts)
    unlike = tuple(_unlike(a, b, found))
    return replace(found, warnings=(*found.warnings, *unlike), unlike=unlike)


def _unlike(a: "Report", b: "Report", found: Comparison) -> Iterator[str]:
    """Say what differs between two reports, or the sessions of a comparison, beside the agent that was played."""
    if a.mode != b.mode:
        yield f"graded in different modes: {a.mode} and {b.mode}"
    if a.grader and b.grader and a.grader != b.grader:
        yield f"graded by different versions: {a.grader} and {b.grader}"
    variants = [sorted({item.variant for item in report.sessions}) for report in (a, b)]
    if variants[0] != variants[1]:
        yield "other variants were played: " + " and ".join(map(", ".join, variants))
    pairs = list(zip(found.a.sessions, found.b.sessions, strict=True))
    users = Counter((one.course.user, two.course.user) for one, two in pairs)
    for (one, two), times in users.items():
        if one and two and one != two:
            yield f"the users differ in {counted(times, 'pair')}: {one!r} and {two!r}"
    told = sum(one.agent.get("instructions") != two.agent.get("instructions") for one, two in pairs)
    if told:
        yield f"the agents got other instructions in {counted(told, 'pair')}"
    others = sum(one.scenario != two.scenario for one, two in pairs)
    if others:
        yield f"other instances of the scenario were played in {counted(others, 'pair')}"
    digests = ((one.course.digest, two.course.digest) for one, two in pairs if one.scenario == two.scenario)
    if changed := sum(bool(one and two and one != two) for one, two in digests):
        yield f"the scenario was changed between the runs in {counted(changed, 'pair')}"


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values of several tests, each adjusted so that the chance of any false finding stays what it is for one.

    Source: Holm (1979): the i-th smallest of m is multiplied by m - i + 1, never below a smaller one, at most 1.
    """
    adjusted, least = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = adjusted[place] = max(least, min(1.0, (len(p_values) - rank) * p_values[place]))
    return adjusted


def compare_variants(report: "Report") -> list[Comparison]:
    """Compare each other variant of a report with ``base``, or with the first, paired by scenario and trial.

    Raises:
        GraderError: there is one variant only.
    """
    names = list(dict.fromkeys(item.variant for item in report.ordered))
    if len(names) < 2:
        raise GraderError(f"{report.name or 'this report'} has one variant only: {', '.join(names) or 'none'}")
    base = "base" if "base" in names else names[0]
    sides = {
        name: replace(report, name=name, sessions=[item for item in report.sessions if item.variant == name])
        for name in names
    }
    return [_paired(sides[base], sides[name], report.warnings, variants=False) for name in names if name != base]


def compare_branches(report: "Report", originals: Mapping[str, str]) -> Comparison:
    """Compare the scenarios that branch from another one with that one, paired by variant and trial.

    ``originals`` maps a branch to what it branches from. A pair is called by its branch; an original with several
    branches is in several pairs, and the interval takes each for a scenario of its own.

    Raises:
        GraderError: the report has no pair.
    """
    played = {item.scenario for item in report.sessions}
    pairs = {branch: one for branch, one in originals.items() if branch in played and one in played}
    if not pairs:
        raise GraderError(f"{report.name or 'this report'} has no scenario together with one that it branches from")
    before = [
        replace(item, scenario=name) for name, one in pairs.items() for item in report.sessions if item.scenario == one
    ]
    after = [item for item in report.sessions if item.scenario in pairs]
    return _paired(
        replace(report, name="originals", sessions=before),
        replace(report, name="branches", sessions=after),
        report.warnings,
    )


def _paired(a: "Report", b: "Report", doubts: Sequence[str], *, variants: bool = True) -> Comparison:
    both = f"{a.name or 'A'} and {b.name or 'B'}"

    def placed(report: "Report", name: str) -> dict[_Place, Scores]:
        found: dict[_Place, Scores] = {}
        for item in report.ordered:
            place = (cluster_of(item), item.variant if variants else "", item.trial)
            if found.setdefault(place, item) is not item:
                where = "/".join(filter(None, place[:2]))
                raise GraderError(
                    f"{both} cannot be compared: {report.name or name} has {where!r}, trial {place[2]}, twice; "
                    "expected one run each"
                )
        return found

    all_a, all_b = placed(a, "A"), placed(b, "B")
    valued_a, valued_b = (
        {p: v for p, i in found.items() if (v := i.value(a.metric)) is not None} for found in (all_a, all_b)
    )
    _ = (a.counted, b.counted)  # so that a metric which neither has is named before it is missed
    shared = [place for place in all_a if place in valued_a and place in valued_b]
    if not shared:
        other = "" if valued_a and valued_b else another_metric(a.metric, [*all_a.values(), *all_b.values()])
        raise GraderError(
            f"{both} cannot be compared: they have no session in common with a {a.metric} that counts: "
            f"no scenario, variant and trial that both played and that was scored{other}"
        )

    def pair(place: _Place) -> Pair:
        scenario, variant, trial = place
        return (
            ScoredSession(scenario, trial, valued_a[place], variant),
            ScoredSession(scenario, trial, valued_b[place], variant),
        )

    played = all_a.keys() & all_b.keys()
    left_out = [
        *_said(all_a.keys() - played, "only A has"),
        *_said(all_b.keys() - played, "only B has"),
        *_said(
            {place for place in played if place not in valued_a or place not in valued_b}, "one of them did not score"
        ),
    ]
    return Comparison(
        replace(a, sessions=[all_a[place] for place in shared], planned=None),
        replace(b, sessions=[all_b[place] for place in shared], planned=None),
        compare(list(map(pair, shared))),
        tuple(left_out),
        tuple(doubts),
    )


def _said(places: Iterable[_Place], why: str) -> Iterator[str]:
    left = list(places)
    if left:
        scenarios = len({scenario for scenario, _, _ in left})
        yield f"{counted(len(left), 'session')} of {counted(scenarios, 'scenario')} that {why}"


def compare_graders(old: "Report", new: "Report") -> list[dict[str, Any]]:
    """The sessions whose value differs between two gradings, each with what changed in the reasons.

    Raises:
        GraderError: the two are not gradings of the same sessions, or one has a session twice.
    """
    for report in (old, new):
        [(name, times)] = Counter(item.session for item in report.sessions).most_common(1) or [("", 0)]
        if times > 1:
            told = f"{report.name or 'one of them'} has session {name!r} {times} times; grade each run by itself"
            raise GraderError(f"not two gradings of one run: {told}")
    before, after = ({item.session: item for item in report.sessions} for report in (old, new))
    if before.keys() != after.keys():
        missing = sorted(before.keys() ^ after.keys())
        raise GraderError(f"not two gradings of one run: {', '.join(missing[:5])} in only one of them")
    changed: list[dict[str, Any]] = []
    for name, one in before.items():
        two = after[name]
        if one.value(old.metric) != two.value(old.metric):
            reasons, others = (list(_reasons(item, old.metric)) for item in (one, two))
            changed.append(
                {
                    "id": name,
                    "old": one.value(old.metric),
                    "new": two.value(old.metric),
                    "gone": [reason for reason in reasons if reason not in others],
                    "come": [reason for reason in others if reason not in reasons],
                }
            )
    return changed


def _reasons(scores: Scores, metric: str) -> Iterator[str]:
    if scores.reason:
        yield scores.reason
    verdict = scores.verdicts.get(metric.partition(".")[0])
    details: Sequence[Mapping[str, Any]] = verdict.details if verdict else ()
    for detail in details:
        yield json.dumps(detail, ensure_ascii=False, sort_keys=True)
