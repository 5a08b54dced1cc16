"""Grading one session: metrics on one log, with their reasons, typed once and shown in many ways.

Policy: what a log lacks makes a family inconclusive, never 0. A session that broke for reasons outside the agent, or
whose log stops, is shown with its numbers and not scored. One that its user spoiled says little about its agent and is
not scored either, unless wanted; for the family about users it counts. One in which a model answered for a tape
has its numbers, and is in no mean with others.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

from sandbox_scenarios.model import Scenario
from sandbox_scenarios.tiers import mechanisms_of, tier_of

from sandbox_grader.errors import GraderError
from sandbox_grader.grading.course import SessionCourse, course_of
from sandbox_grader.grading.metric import Metric, Mode, Subject, Verdict
from sandbox_grader.grading.metrics import FAMILIES, STATEFUL, USERS, families, judged_outside, metric
from sandbox_grader.grading.references import references_of
from sandbox_grader.grading.similarity import DEFAULT
from sandbox_grader.grading.spending import Spent, spent_in
from sandbox_grader.grading.values import is_number, within_floats
from sandbox_grader.users.metric import spoiled_by_user
from sandbox_mcp.engine.trajectory import INFRASTRUCTURE, Trajectory
from sandbox_mcp.engine.trajectory.usage import Usage

SCORE = f"{STATEFUL}.score"
"""The metric that is meant where none is named."""
UNENDED = "incomplete"
"""How a session ended whose log has no end."""
KEPT_FROM = 32
"""From how many logs on the scores of a folder are kept in it; fewer are graded in a moment."""
LONGEST = 1e7
"""Seconds from which on a log's real times are not believed; some four months."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of one session: its name, its end, its cost, and a verdict per family.

    ``reason`` tells why the session is not scored, although its numbers are there; None means that it is. With
    ``spoiled`` it is because of what its user did. ``agent`` is what the log says about the agent, ``spent`` the
    tokens of both models, ``seconds`` how long it took by a real clock; None where the log does not say.
    ``origin`` is the format of the harness that recorded it, where that was not ours; ``course`` is how it went.
    ``tier`` and ``mechanisms`` are those of the scenario, empty where it is not known.
    """

    session: str
    scenario: str
    variant: str
    trial: int
    categories: tuple[str, ...]
    mode: Mode
    verdicts: Mapping[str, Verdict]
    reason: str | None = None
    path: str = ""
    spoiled: bool = False
    ending: str = UNENDED
    detail: str | None = None
    agent: Mapping[str, Any] = field(default_factory=dict[str, Any])
    spent: Spent = field(default_factory=Spent)
    seconds: float | None = None
    origin: str = ""
    course: SessionCourse = field(default_factory=SessionCourse)
    tier: str = ""
    mechanisms: tuple[str, ...] = ()

    @property
    def scored(self) -> bool:
        """True if the session counts."""
        return self.reason is None

    @property
    def filled(self) -> bool:
        """True if a model answered for the tape that was played on, so that the session is kept apart."""
        return self.course.filled > 0

    @property
    def score(self) -> float | None:
        """ToolSandbox's score, from 0 to 1; None where the session does not allow one."""
        return self.number(SCORE)

    def knows_spending(self, role: str) -> bool:
        """True if the log tells the tokens of a role; in logs from elsewhere none told does not mean none used."""
        return not self.origin or getattr(self.spent, role) != Usage()

    def number(self, metric: str) -> float | None:
        """A value by ``family.name``, counted or not, truth as 1 and 0; None where there is no such number."""
        family, _, name = metric.partition(".")
        verdict = self.verdicts.get(family)
        value = verdict.values.get(name) if verdict else None
        return float(within_floats(value)) if isinstance(value, int | float) else None

    def unscored(self, family: str) -> str | None:
        """Reason for which a family's verdict on the session does not count; None where it does."""
        verdict = self.verdicts.get(family)
        if self.reason is not None and not (self.spoiled and family == USERS):
            return self.reason
        return verdict.inconclusive if verdict else f"{family} was not asked"

    def counted(self, family: str) -> Verdict | None:
        """Verdict of a family on the session, if that counts."""
        return self.verdicts[family] if self.unscored(family) is None else None

    def explained(self, family: str) -> Sequence[Mapping[str, Any]]:
        """Details of a session that counts, such as its turns or calls."""
        verdict = self.counted(family)
        return verdict.details if verdict else ()

    def value(self, metric: str = SCORE) -> float | None:
        """A value by ``family.name`` as means and comparisons count it; None where it does not count."""
        return None if self.unscored(metric.partition(".")[0]) is not None else self.number(metric)

    def figures(self) -> dict[str, float | None]:
        """Every number by ``family.name`` as means and comparisons count it; None where it does not count."""
        return {
            metric: self.value(metric)
            for family, verdict in self.verdicts.items()
            for name, value in verdict.values.items()
            if isinstance(value, int | float) and (metric := f"{family}.{name}")
        }

    def explain(self) -> str:
        """The verdicts in words: what met which milestone, what was missing, and every other figure."""
        from sandbox_grader.grading.explain import explain

        return explain(self)

    def to_json(self) -> dict[str, Any]:
        """The scores as one JSON object: ``metrics`` and ``details`` by family; inconclusive ones say why."""
        plain = {
            name: dict(verdict.values) if verdict.inconclusive is None else {"inconclusive": verdict.inconclusive}
            for name, verdict in self.verdicts.items()
        }
        spent = self.spent.to_json().items()
        return {
            "id": self.session,
            "scenario": self.scenario,
            "variant": self.variant,
            "trial": self.trial,
            "categories": list(self.categories),
            "tier": self.tier or None,
            "mechanisms": list(self.mechanisms),
            "mode": self.mode,
            "scored": self.scored,
            "reason": self.reason,
            "spoiled": self.spoiled,
            "ending": self.ending,
            "detail": self.detail,
            "agent": dict(self.agent),
            "origin": self.origin or None,
            "tokens": {role: used if self.knows_spending(role) else None for role, used in spent},
            "seconds": self.seconds,
            "course": self.course.to_json(),
            "metrics": plain,
            "details": {name: [dict(item) for item in v.details] for name, v in self.verdicts.items() if v.details},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], mode: Mode = "strict") -> "Scores":
        """The scores that :meth:`to_json` wrote; ``mode`` is for files that do not say it.

        Raises:
            KeyError: something is missing.
            TypeError: something has another type; the message names it.
            ValueError: something has another form.
        """
        metrics = cast("Mapping[str, Mapping[str, Any]]", data["metrics"])
        score = metrics.get(STATEFUL, {}).get("score")
        if score is not None and (isinstance(score, bool) or not isinstance(score, int | float)):
            raise TypeError(f"the score {score!r} is not a number")
        details = data.get("details", {})
        return cls(
            session=str(data["id"]),
            scenario=str(data["scenario"]),
            variant=str(data["variant"]),
            trial=int(data["trial"]),
            categories=tuple(data.get("categories", ())),
            tier=str(data.get("tier") or ""),
            mechanisms=tuple(data.get("mechanisms", ())),
            mode=data.get("mode", mode),
            verdicts={
                name: Verdict(inconclusive=values["inconclusive"])
                if isinstance(values.get("inconclusive"), str)
                else Verdict(values, tuple(details.get(name, ())))
                for name, values in metrics.items()
            },
            reason=data.get("reason") if data.get("scored", True) else data.get("reason") or "not scored",
            spoiled=bool(data.get("spoiled", False)),
            ending=str(data.get("ending", "incomplete")),
            detail=data.get("detail"),
            agent=dict(data.get("agent") or {}),
            spent=Spent.from_json(data.get("tokens") or {}),
            origin=data.get("origin") or "",
            course=SessionCourse.from_json(data.get("course") or {}),
            seconds=data.get("seconds"),
        )


def grade(
    trajectory: Trajectory,
    scenario: Scenario | None = None,
    mode: Mode = "strict",
    *,
    metrics: Iterable[str | Metric] | str = (),
    keep_spoiled: bool = False,
    similarity: str = DEFAULT,
    settled: Mapping[tuple[int, str], bool] | None = None,
) -> Scores:
    """Grade one session with these families of metrics, by name or as objects, or with all there are.

    ``settled`` are doubts that were settled, by the message's number and the fact in words, see
    :mod:`sandbox_grader.reporting.doubts`. ``keep_spoiled`` scores it even if its user spoiled it; ``similarity``
    names what ToolTalk compares free text by.

    Pure and deterministic: needs no model, no server, no network, and executes no tool.

    Raises:
        GraderError: the scenario, the log, a metric or the similarity cannot be used; the message says why.
    """
    chosen = families(similarity, metrics)
    names = [family.name for family in chosen]
    if len(set(names)) < len(names):
        twice = min(name for name in names if names.count(name) > 1)
        raise GraderError(f"metric {twice!r} is asked for twice")
    compared = not {STATEFUL, USERS}.issuperset(names)  # these two need no reference
    subject = Subject(trajectory, references_of(scenario, trajectory) if compared else (), scenario, settled or {})
    started, ended = trajectory.started, trajectory.ended
    verdicts = dict[str, Verdict]()
    try:
        for family in chosen:
            ours = family.name in FAMILIES
            verdicts[family.name] = family.grade(subject, mode) if ours else judged_outside(family, subject, mode)
    except GraderError as error:  # of many logs, it tells in which
        raise GraderError(f"{trajectory.path}: {error}" if trajectory.path else str(error)) from error
    course, broken = course_of(trajectory), _broken(trajectory)
    spoiled = None
    if not broken and not keep_spoiled:  # whatever metrics were asked for
        users = verdicts[USERS] if USERS in verdicts else metric(USERS).grade(subject, mode)
        spoiled = spoiled_by_user(users)
    return Scores(
        session=started.session,
        scenario=started.scenario,
        variant=started.variant,
        trial=started.trial,
        categories=scenario.categories if scenario else started.categories,
        mode=mode,
        verdicts=verdicts,
        reason=broken or spoiled or _filled(course),
        path=trajectory.path,
        spoiled=spoiled is not None,
        ending=ended.reason if ended else UNENDED,
        detail=ended.detail if ended else None,
        agent=started.agent,
        spent=spent_in(trajectory),
        seconds=seconds_between(started.wall, ended.wall) if ended else None,
        origin=str((started.origin or {}).get("format", "")),
        course=course,
        tier=tier_of(scenario) if scenario else "",
        mechanisms=mechanisms_of(scenario) if scenario else (),
    )


def unscored(trajectory: Trajectory) -> str | None:
    """Reason for which a session does not count, whatever its user did; None if it does."""
    return _broken(trajectory) or _filled(course_of(trajectory))


def _filled(course: SessionCourse) -> str | None:
    return f"filled: a model answered {course.filled} of {course.calls} calls" if course.filled else None


def _broken(trajectory: Trajectory) -> str | None:
    """Reason for which nothing about the agent can be told from a session; None if something can."""
    ended = trajectory.ended
    if trajectory.cut:
        return "incomplete: the log's last line is cut off"
    if ended is None:
        return "incomplete: the log has no end"
    if ended.reason in INFRASTRUCTURE:
        return f"incomplete: the session ended with {ended.reason!r}" + (f" ({ended.detail})" if ended.detail else "")
    return None


def seconds_between(begin: Mapping[str, Any], end: Mapping[str, Any]) -> float | None:
    """The seconds from one event to another by the real clock, to the millisecond, as ``wall`` of both events tells."""
    first, last = begin.get("time"), end.get("time")
    if not (is_number(first) and is_number(last)):
        return None
    with suppress(OverflowError):  # whole numbers may be larger than any float
        took = round(last - first, 3)
        return took if 0 <= took < LONGEST else None
    return None
