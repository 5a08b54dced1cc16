"""Sheets on which people judge sessions and users by hand, and how far they agree with each other and with metrics.

Policy: a sheet does not say who played, so that no agent is judged by its name. It has the conversation as the agent
saw it, the user's goal, and empty columns to fill: numbers, words such as yes and no, or nothing. Two sheets are
compared on what both fill. Cohen's kappa is taken over answers as they are, Pearson's correlation over numbers.

Source: ToolSandbox, section 2.2 and table 2 (errors of simulated users); MTU-Bench, table 6 (Pearson of people and
metrics).
"""

import csv
import hashlib
import io
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from sandbox_scenarios.model import Scenario

from sandbox_grader.errors import GraderError
from sandbox_grader.grading.conversation import conversation
from sandbox_grader.grading.scores import Scores
from sandbox_grader.reporting.statistics import PASS, cohens_kappa, correlation
from sandbox_mcp.engine.shown import cell
from sandbox_mcp.engine.trajectory import Trajectory, to_line

QUESTIONS: Mapping[str, str] = {
    "success": "Did the user get what they wanted, and was nothing else changed? yes or no",
    "quality": "How good was the assistant, from 0 to 10?",
    "user_invents": "Did the user make something up, or give away what it should not? yes or no",
    "user_disobeys": "Did the user fall out of its part: act as an assistant, leave too early, not leave? yes or no",
}
"""The columns to fill in, and what is asked in each."""
METRICS: Mapping[str, tuple[str, ...]] = {
    "success": ("toolsandbox.score", "tooltalk.success", "toolscan.success"),
    "quality": ("toolsandbox.score", "tooltalk.recall", "mtu_bench.right"),
    "user_invents": ("user_conduct.invention", "user_conduct.leak"),
    "user_disobeys": ("user_conduct.as_assistant", "user_conduct.early_end", "user_conduct.endless"),
}
"""What each column is compared with, unless another is named."""
KNOWN = ("id", "scenario", "goal", "conversation", "comment")
"""Columns without judgements."""
BEYOND = 1e100
"""From here on a number counts as a comment: nobody means it as an answer, and its square may be beyond any float."""
WORDS: Mapping[str, float] = {"yes": 1.0, "y": 1.0, "true": 1.0, "no": 0.0, "n": 0.0, "false": 0.0}


def session_key(trajectory: Trajectory) -> str:
    """Key of a session on a sheet: the same for the same log, wherever it lies.

    It begins with an s, because spreadsheets make a number of what looks like one: 12e4 becomes 120000.

    Raises:
        GraderError: the log holds a number that no log can be written with, such as an infinite time.
    """
    digest = hashlib.sha256()
    try:
        for event in (trajectory.started, *trajectory.events):
            digest.update(to_line(event).encode())
    except ValueError as error:
        raise GraderError(f"{trajectory.path}: it holds a number that JSON cannot: {error}") from error
    return f"s{digest.hexdigest()[:12]}"


def sheet(sessions: Sequence[tuple[Trajectory, Scenario | None]], questions: Iterable[str], seed: int) -> str:
    """An empty sheet as CSV of sessions with their scenarios, its rows in an order that the seed decides."""
    shuffled = list(sessions)
    random.Random(seed).shuffle(shuffled)  # noqa: S311 - an order, not a secret
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    asked = list(questions)
    writer.writerow([*KNOWN[:-1], *asked, KNOWN[-1]])
    for item, scenario in shuffled:
        name, goal = (scenario.name, scenario.user.goal) if scenario else (item.started.scenario, "")
        told = (session_key(item), name, goal, conversation(item))
        writer.writerow([*map(cell, told), *([""] * (len(asked) + 1))])
    return text.getvalue()


@dataclass(frozen=True, slots=True)
class AnnotatedSheet:
    """A sheet that was filled in: the answers of each column by session."""

    rater: str
    answers: Mapping[str, Mapping[str, str]]


def read_sheet(path: Path) -> AnnotatedSheet:
    """A sheet that was filled in.

    Raises:
        GraderError: it cannot be read, has no column of sessions, an answer without a session, or two to one question.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise GraderError(f"{path}: cannot be read as UTF-8 text: {error}") from error
    delimiter = max((",", ";", "\t"), key=text.partition("\n")[0].count)  # some spreadsheets save with semicolons
    usual = csv.field_size_limit(len(text))  # a cell has a whole conversation, for which the usual limit is too low
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        columns, rows = reader.fieldnames or (), list(reader)
    except csv.Error as error:
        raise GraderError(f"{path}: is not CSV: {error}") from error
    finally:
        csv.field_size_limit(usual)
    if KNOWN[0] not in columns:
        raise GraderError(f"{path}: has no column {KNOWN[0]!r}; expected a sheet that 'annotate' wrote")
    answers: dict[str, dict[str, str]] = {}
    for row in rows:
        key = (row[KNOWN[0]] or "").strip()
        for column, value in row.items():
            if column is None or column in KNOWN:  # pyright: ignore[reportUnnecessaryComparison] - csv, for too long rows
                continue
            given = (value or "").strip().lower()
            if given and not key:
                raise GraderError(f"{path}: {given!r} in {column!r} is said of no session: its row has no {KNOWN[0]!r}")
            if given and answers.setdefault(column, {}).setdefault(key, given) != given:
                raise GraderError(f"{path}: session {key!r} has two answers in {column!r}")
    return AnnotatedSheet(path.stem, answers)


@dataclass(frozen=True, slots=True)
class Agreed:
    """Agreement of two sources in one column, on ``n`` sessions that both answer.

    ``share`` is the share of equal answers, ``kappa`` Cohen's; ``pearson`` has a 95 % interval after Fisher. None
    where there is none: no two numbers, or always the same answer.
    """

    column: str
    one: str
    other: str
    n: int
    share: float | None
    kappa: float | None
    pearson: float | None
    low: float | None
    high: float | None


def agreements(
    sheets: Sequence[AnnotatedSheet], scores: Mapping[str, Scores], metrics: Mapping[str, Sequence[str]]
) -> Iterator[Agreed]:
    """People with each other, then each and all of them together with the metrics; ``scores`` are by session key."""
    columns = dict.fromkeys(column for item in sheets for column in item.answers)
    for column in columns:
        given = {item.rater: item.answers[column] for item in sheets if column in item.answers}
        for (one, first), (other, second) in combinations(given.items(), 2):
            both = [(first[key], second[key]) for key in first if key in second]
            labels = [(_label(a), _label(b)) for a, b in both]
            numbers = [(a, b) for a, b in ((_number(x), _number(y)) for x, y in both) if None not in (a, b)]
            yield _measured(column, one, other, labels, numbers)
        numbers_of: dict[str, list[float]] = {}
        for key, text in (item for answers in given.values() for item in answers.items()):
            if (number := _number(text)) is not None:
                numbers_of.setdefault(key, []).append(number)
        everyone = {key: repr(sum(values) / len(values)) for key, values in numbers_of.items()}
        for metric in metrics.get(column, ()):
            found = ((key, item.number(metric)) for key, item in scores.items())
            values = {key: value for key, value in found if value is not None}
            for rater in (*given.items(), *([("everyone", everyone)] if len(given) > 1 else [])):
                yield _with_metric(column, rater, metric, values)


def _with_metric(column: str, one: tuple[str, Mapping[str, str]], metric: str, values: Mapping[str, float]) -> Agreed:
    """A person's answers and a metric: kappa where the answers are yes and no, of whether the metric says yes as well.

    A metric from 0 to 1 says yes where it is 1; one that counts where it is above 0.
    """
    pairs = [
        (number, values[key]) for key, text in one[1].items() if key in values and (number := _number(text)) is not None
    ]
    plain = all(number in (0.0, 1.0) for number, _ in pairs)
    counts = metric.startswith("user_conduct.")
    labels = [(number == 1, value > 0 if counts else value > PASS) for number, value in pairs] if plain else []
    return _measured(column, one[0], metric, labels, pairs)


def _measured(
    column: str, one: str, other: str, labels: Sequence[tuple[Any, Any]], numbers: Sequence[tuple[Any, Any]]
) -> Agreed:
    share = sum(a == b for a, b in labels) / len(labels) if labels else None
    size = max(len(labels), len(numbers))
    return Agreed(column, one, other, size, share, cohens_kappa(labels), *correlation(numbers))


def _number(text: str) -> float | None:
    if text in WORDS:
        return WORDS[text]
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return None
    return value if abs(value) < BEYOND else None


def _label(text: str) -> Any:
    """An answer as something to be equal to: 1, 1.0 and yes are one answer."""
    number = _number(text)
    return text if number is None else number
