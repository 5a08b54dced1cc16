"""Breakdowns of runs: where an agent does well and where not, what it misses and why, and what becomes of its errors.

Policy: these tables look like a paper's and are from none. A row is a group of sessions, of each model by itself where
there are several. Figures that no session has are left out. What was missed is counted once a session; milestones that
only rest on another one are not blamed, because the other one is there.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, get_args

from sandbox_grader.conduct.metric import COUNTS
from sandbox_grader.grading.course import SessionCourse
from sandbox_grader.grading.metric import Verdict
from sandbox_grader.grading.scores import SCORE, STATEFUL, Scores
from sandbox_grader.papers.mtu_bench.errors import CLASSES
from sandbox_grader.papers.shared.figures import MetricMean, MostFrequent, ObservedMean, Total
from sandbox_grader.papers.shared.table import Grouped, LabelledRun, PaperColumn, PaperTable, by_model
from sandbox_grader.papers.toolscan.scores import PATTERNS
from sandbox_grader.reporting.blind_replay import blind_replay
from sandbox_grader.reporting.statistics import PASS, Estimate
from sandbox_mcp.engine.trajectory import ErrorKind

PAPER: Final = "breakdown"
COMMAND: Final = "sandbox-mcp run --agent AGENT --out runs/mine"
ANY: Final = "any runs"
FEW: Final = 20
"""How many things that were missed are shown unless all are asked for."""
MISSED: Final = "missed"
"""The family under which a milestone, or another thing asked for, stands as a session of its own."""

Group = Callable[[Scores], Iterable[str]]


def _found(
    models: Mapping[str, Sequence[Scores]], read: Callable[[Scores], Iterable[tuple[str, Scores]]]
) -> dict[tuple[str, str], list[Scores]]:
    """Read all sessions, by model and name."""
    found: dict[tuple[str, str], list[Scores]] = {}
    for model, sessions in models.items():
        for name, scores in (told for session in sessions for told in read(session)):
            found.setdefault((model, name), []).append(scores)
    return found


def grouped(group: Group) -> Callable[[Sequence[LabelledRun]], dict[str, list[Scores]]]:
    """Rows by what ``group`` says of a session: every group in its natural order, of each model by itself."""

    def rows(runs: Sequence[LabelledRun]) -> dict[str, list[Scores]]:
        models = by_model(runs)
        found = _found(models, lambda scores: ((name, scores) for name in group(scores)))
        places = {model: place for place, model in enumerate(models)}
        ordered = sorted(found, key=lambda key: (places[key[0]], _natural(key[1])))
        return {_labelled(key, models): found[key] for key in ordered}

    return rows


def _natural(name: str) -> list[tuple[int, int | str]]:
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"(\d+)", name) if part]


def _bucket(number: int) -> str:
    """Small numbers by themselves, larger ones together."""
    for least, name in ((20, "20 and more"), (10, "10 to 19"), (6, "6 to 9"), (4, "4 to 5")):
        if number >= least:
            return name
    return str(number)


def _wanted(scores: Scores) -> tuple[str]:
    found = scores.number("tooltalk.ground_truths")
    return ("not told" if found is None else _bucket(int(found)),)


def _of_course(read: Callable[[SessionCourse], float]) -> Callable[[Scores], Iterable[float]]:
    """Read the course of a session that counts."""
    return lambda scores: (read(scores.course),) if scores.scored else ()


def _metric(name: str, metric: str) -> PaperColumn:
    return PaperColumn(name, MetricMean(metric), scale=1, digits=3, optional=True)


class _BlindReplay:
    """Mean score of a blind replay on the scenarios of sessions that count in ``strict``, as a paper's figure."""

    def of(self, sessions: Sequence[Scores]) -> Estimate | None:
        """The mean; None unless every such scenario was measured."""
        counted = [s.scenario for s in sessions if s.mode == "strict" and s.counted(STATEFUL) is not None]
        if blind_replay(counted) is None:
            return None
        return ObservedMean(lambda s: [found for found in [blind_replay([s.scenario])] if found is not None]).of(
            sessions
        )


MEASURES: Final = (
    PaperColumn("sessions", Total(lambda _: (1,)), 1, 0),
    PaperColumn("scored", Total(lambda scores: (scores.scored,)), 1, 0),
    _metric("score", "toolsandbox.score"),
    _metric("refusing", "toolsandbox.refusal"),
    PaperColumn("blind replay", _BlindReplay(), scale=1, digits=3, optional=True),
    _metric("ToolTalk success", "tooltalk.success"),
    _metric("ToolScan success", "toolscan.success"),
    _metric("MTU right", "mtu_bench.right"),
    _metric("turn count", "toolsandbox.turn_count"),
    PaperColumn("calls", ObservedMean(_of_course(lambda course: course.calls)), 1, 2),
    PaperColumn("failed calls", ObservedMean(_of_course(lambda course: course.failed)), 1, 2),
)
"""What is told of every group of sessions."""

DIMENSIONS: Final[Mapping[str, tuple[str, Group]]] = {
    "calls": ("the number of calls that the agent made", lambda s: (_bucket(s.course.calls),)),
    "wanted": ("the number of calls that the nearest solution makes", _wanted),
    "turns": ("the number of messages of the agent", lambda s: (_bucket(s.course.replies or 0),)),
    "tools": ("the number of tools offered", lambda s: (_bucket(s.course.tools),)),
    "category": ("category; a session counts in each of its own", lambda s: s.categories or ("none",)),
    "world": ("world", lambda s: (s.course.world or s.origin or "not told",)),
    "variant": ("variant", lambda s: (s.variant or "base",)),
    "ending": ("how sessions ended", lambda s: (s.ending,)),
}
"""By what sessions are grouped: in words, and what tells it."""


# -- what was missed ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AskedFor:
    """One thing that a session was to bring about, or to leave alone: how it is named, its kind, and why it failed."""

    name: str
    kind: str
    why: str | None


NOTHING: Final = AskedFor("", "", None)


def asked_for(scores: Scores) -> Iterator[AskedFor]:
    """Requests of a session that counts: its milestones, and what went wrong beside them."""
    for item in scores.explained(STATEFUL):
        if item["kind"] == "milestone":
            own = [reason for reason in item["reasons"] if reason["constraint"] != "after"]
            rests = item["effective"] < PASS and not own
            first = own[0] if own and item["effective"] < PASS else None
            kind = str(first["constraint"]) if first else ""
            if not rests:
                yield AskedFor(f"{scores.scenario}: {item['id']}", kind, str(first["text"]) if first else None)
        elif item["kind"] == "minefield":
            why = (item["about"] or "it happened") if item["met"] else None
            yield AskedFor(f"{scores.scenario}: {item['id']} (minefield)", "minefield", why)
        elif item["kind"] == "untrue":
            yield AskedFor(f"{scores.scenario}: the truth", "untrue", str(item["text"]))
        elif item["kind"] == "unwanted":
            kind = f"unwanted: {item['change']} {item['table']}"
            yield AskedFor(f"{scores.scenario}: nothing else", kind, str(item["text"]))


def _as_session(scores: Scores, asked: AskedFor) -> Scores:
    """One thing asked for, as a session that has nothing else to tell."""
    values = {"missed": asked.why is not None, "why": asked.why or ""}
    return replace(scores, verdicts={MISSED: Verdict(values)})


def _by_milestone(runs: Sequence[LabelledRun]) -> dict[str, list[Scores]]:
    """Requests missed at least once, of each model by itself, the most often missed first."""
    models = by_model(runs)
    found = _found(models, lambda scores: ((asked.name, _as_session(scores, asked)) for asked in asked_for(scores)))
    missed = {key: sum(map(_missed, sessions)) for key, sessions in found.items()}
    worst = sorted(filter(missed.get, found), key=lambda key: (-missed[key] / len(found[key]), -missed[key], key))
    return {_labelled(key, models): found[key] for key in worst}


def _by_reason(runs: Sequence[LabelledRun]) -> dict[str, list[Scores]]:
    """Every kind of miss of a model with all its sessions that were judged; of several misses the first counts."""
    models = by_model(runs)
    found: dict[tuple[str, str], list[Scores]] = {}
    for model, sessions in models.items():
        judged = [scores for scores in sessions if scores.counted(STATEFUL) is not None]
        firsts: dict[str, dict[int, AskedFor]] = {}
        for place, scores in enumerate(judged):
            for asked in asked_for(scores):
                if asked.why is not None:
                    firsts.setdefault(asked.kind, {}).setdefault(place, asked)
        for kind in sorted(firsts, key=lambda kind: (-len(firsts[kind]), kind)):
            found[model, kind] = [_as_session(s, firsts[kind].get(n, NOTHING)) for n, s in enumerate(judged)]
    return {_labelled(key, models): sessions for key, sessions in found.items()}


def _labelled(key: tuple[str, str], models: Mapping[str, Sequence[Scores]]) -> str:
    """The name of a row; its model is named where there are several."""
    model, name = key
    return name if len(models) == 1 else f"{model}: {name}"


def _missed(scores: Scores) -> bool:
    return bool(scores.verdicts[MISSED].values["missed"])


MISSES: Final = (
    PaperColumn("sessions", Total(lambda _: (1,)), 1, 0),
    PaperColumn("missed", Total(lambda scores: (_missed(scores),)), 1, 0),
    PaperColumn("missed %", ObservedMean(lambda scores: (float(_missed(scores)),)), 100, 1),
    PaperColumn("why", MostFrequent(lambda s: (str(s.verdicts[MISSED].values["why"]),) if _missed(s) else ())),
)


# -- errors -------------------------------------------------------------------------------------------------------


def _error_classes() -> Iterator[PaperColumn]:
    def column(name: str, family: str, read: Callable[[Mapping[str, Any]], Any]) -> PaperColumn:
        def observe(scores: Scores) -> Iterable[float]:
            verdict = scores.counted(family)
            count = read(verdict.values) if verdict and verdict.inconclusive is None else None
            return () if count is None else (float(count > 0),)

        return PaperColumn(name, ObservedMean(observe), digits=1, optional=True)

    for key in ("premature", "faulty_planning", "incorrect_invocation"):
        yield column(f"ToolTalk {key.replace('_', ' ')}", "tooltalk", lambda v, key=key: v.get(key))
    for key in PATTERNS:
        yield column(f"ToolScan {key.upper()}", "toolscan", lambda v, key=key: v["errors"].get(key))
    for key in CLASSES:
        yield column(f"MTU {key}", "mtu_bench", lambda v, key=key: v["errors"].get(key))
    for key in COUNTS:
        yield column(key.replace("_", " "), "conduct", lambda v, key=key: v.get(key))


KINDS: Final[tuple[str, ...]] = get_args(ErrorKind)
"""Why calls fail, as the log says."""


def _mended(kinds: Sequence[str]) -> ObservedMean:
    return ObservedMean(
        lambda scores: (float(mended) for kind, mended in scores.course.slips if kind in kinds and scores.scored)
    )


def _score_where(name: str, holds: Callable[[SessionCourse], bool]) -> PaperColumn:
    return PaperColumn(name, MetricMean(SCORE, lambda scores: holds(scores.course)), 1, 3, optional=True)


RECOVERY: Final = (
    PaperColumn("sessions", Total(lambda scores: (scores.scored,)), 1, 0),
    PaperColumn("with a failed call %", ObservedMean(_of_course(lambda course: course.failed > 0))),
    PaperColumn("slips", Total(_of_course(lambda course: len(course.slips))), 1, 0),
    PaperColumn("mended %", _mended(KINDS), optional=True),
    *(PaperColumn(f"{kind.replace('_', ' ')}: mended %", _mended((kind,)), optional=True) for kind in KINDS),
    _score_where("score without slips", lambda course: not course.slips),
    _score_where("score with slips", lambda course: bool(course.slips)),
)

TOGETHER: Final = (
    PaperColumn("sessions", Total(lambda scores: (scores.scored,)), 1, 0),
    PaperColumn("calls at once %", ObservedMean(_of_course(lambda course: course.parallel > 0))),
    PaperColumn("batches", Total(_of_course(lambda course: course.parallel)), 1, 0),
    PaperColumn("races lost", Total(_of_course(lambda course: course.raced)), 1, 0),
    PaperColumn("races lost to an error", Total(_of_course(lambda course: course.raced_to_failure)), 1, 0),
    PaperColumn("calls doubled", Total(_of_course(lambda course: course.doubled)), 1, 0),
    PaperColumn("with a race %", ObservedMean(_of_course(lambda course: course.raced > 0))),
    _score_where("score with a race", lambda course: course.raced > 0),
)


def _table(
    name: str, title: str, columns: tuple[PaperColumn, ...], rows: Grouped = by_model, note: str = "", most: int = 0
) -> PaperTable:
    return PaperTable(
        PAPER, name, title, columns, ANY, COMMAND, mode="strict", rows=rows, printed=False, note=note, most=most
    )


TABLES: Final = (
    *(_table(name, f"by {told}", MEASURES, grouped(group)) for name, (told, group) in DIMENSIONS.items()),
    _table("milestones", "what scenarios asked for and did not get, most often first", MISSES, _by_milestone, most=FEW),
    _table("reasons", "what was missed over all, by kind", MISSES, _by_reason, most=FEW),
    _table("errors", "share of sessions that show an error of each class", tuple(_error_classes())),
    _table(
        "recovery", "what becomes of failed calls", RECOVERY,
        note="a slip is a run of failed calls of one tool; it is mended if a later call of that tool got through",
    ),
    _table(
        "together", "calls that were made at once", TOGETHER,
        note="calls of one batch that touch the same state have lost their race; doubled ones ask for the same",
    ),
)  # fmt: skip
"""By groups, then by misses, then by errors."""
