"""Doubts of a report: a sheet on which people settle them, and scores with the doubts that were settled.

Policy: a sheet has exactly the facts on which a score hangs and that the reader leaves in doubt, one a row, with the
message and the calls before it. Who played is not on it. What is left empty stays in doubt.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox_scenarios.model import Scenario

from sandbox_grader.errors import GraderError
from sandbox_grader.grading.rebuild import rebuilt
from sandbox_grader.grading.scores import Scores, grade
from sandbox_grader.milestones.listening import Settled
from sandbox_grader.milestones.telling import DoubtfulFact, in_doubt
from sandbox_grader.reporting.annotation import WORDS, session_key
from sandbox_grader.reporting.report import Report
from sandbox_grader.reporting.scenario_of_log import Find, placed
from sandbox_mcp.engine.shown import cell
from sandbox_mcp.engine.trajectory import Trajectory, read_trajectory

COLUMNS = ("id", "scenario", "message_number", "fact", "user", "calls", "message", "stated", "comment")
"""The columns of a sheet of doubts; ``stated`` is to be filled with yes or no."""
DOUBTS = "toolsandbox.doubts"


@dataclass(frozen=True, slots=True)
class DoubtfulSession:
    """A session whose score hangs on doubts."""

    key: str
    trajectory: Trajectory
    scenario: Scenario
    facts: tuple[DoubtfulFact, ...]


def doubtful(report: Report, find: Find) -> list[DoubtfulSession]:
    """The sessions of a report whose scores hang on doubts, read again from their logs."""
    found = list[DoubtfulSession]()
    for scores in report.ordered:
        if not scores.number(DOUBTS) or not scores.path:
            continue
        log = read_trajectory(Path(scores.path))
        named, scenario = placed(log, find)
        if scenario is not None:
            judged = rebuilt(named, scenario).trajectory
            found.append(DoubtfulSession(session_key(log), judged, scenario, in_doubt(scenario, judged)))
    return found


def doubt_sheet(sessions: Iterable[DoubtfulSession]) -> str:
    """An empty sheet as CSV, one row for each doubt."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for item in sessions:
        for fact in item.facts:
            shown = ("\n".join(fact.request), "\n".join(fact.evidence), fact.message)
            row = (item.key, item.scenario.name, fact.seq, fact.fact, *shown, "", "")
            writer.writerow([cell(value) for value in row])
    return text.getvalue()


Answers = Mapping[str, Settled]
"""Doubts that were settled, by the session's key."""


def read_verdicts(path: Path) -> Answers:
    """The doubts that a filled sheet settles.

    Raises:
        GraderError: it cannot be read, lacks a column, or answers something else than yes or no, or both.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise GraderError(f"{path}: cannot be read as UTF-8 text: {error}") from error
    delimiter = max((",", ";", "\t"), key=text.partition("\n")[0].count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    missing = [name for name in ("id", "message_number", "fact", "stated") if name not in (reader.fieldnames or ())]
    if missing:
        raise GraderError(f"{path}: has no column {missing[0]!r}; expected a sheet that 'annotate --doubts' wrote")
    found: dict[str, dict[tuple[int, str], bool]] = {}
    for row in reader:
        given = (row["stated"] or "").strip().lower()
        if not given:
            continue
        if given not in WORDS or not (row["message_number"] or "").strip().isdigit():
            raise GraderError(f"{path}: {given!r} in the row of session {row['id']!r}; expected yes, no or nothing")
        place, stated = (int(row["message_number"]), str(row["fact"])), bool(WORDS[given])
        if found.setdefault(row["id"].strip(), {}).setdefault(place, stated) != stated:
            raise GraderError(f"{path}: session {row['id']!r} has two answers to {row['fact']!r}")
    return found


def settle(report: Report, sessions: Sequence[DoubtfulSession], answers: Answers, *, keep_spoiled: bool = False) -> int:
    """Score the sessions of a report again with the doubts that were settled; the number of doubts that are left."""
    settled = {
        item.trajectory.path: _settled(item, report, answers[item.key], keep_spoiled=keep_spoiled)
        for item in sessions if item.key in answers
    }  # fmt: skip
    report.sessions[:] = [settled.get(scores.path, scores) for scores in report.sessions]
    return sum(int(scores.number(DOUBTS) or 0) for scores in report.sessions)


def _settled(item: DoubtfulSession, report: Report, answers: Settled, *, keep_spoiled: bool) -> Scores:
    return grade(
        item.trajectory, item.scenario, report.mode, keep_spoiled=keep_spoiled, similarity=report.similarity,
        settled=answers,
    )  # fmt: skip
