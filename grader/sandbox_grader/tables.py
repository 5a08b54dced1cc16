"""Scores as files: CSV, Parquet and JUnit XML, one row or test case per session.

Policy: columns are ``family.metric`` for every number any session has; what a session lacks is empty, never zero. In
JUnit a session passes from a score of 1 up (or a threshold), fails below, is skipped where it could not be scored.
"""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from sandbox_grader.errors import GraderError
from sandbox_grader.scores import Scores
from sandbox_grader.statistics import PASS

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
IDENTITY = ("id", "scenario", "variant", "trial", "mode", "scored", "reason")


def rows(sessions: Iterable[Scores]) -> list[dict[str, Any]]:
    """One flat row per session, all with the same columns in the same order."""
    flat = [_flat(scores.to_json()) for scores in sessions]
    columns = list(IDENTITY)
    for row in flat:
        columns += [name for name in row if name not in columns]
    return [{name: row.get(name) for name in columns} for row in flat]


def _flat(scores: Mapping[str, Any]) -> dict[str, Any]:
    row = {name: scores[name] for name in IDENTITY}
    for family, values in scores["metrics"].items():
        for name, value in values.items():
            if value is None or isinstance(value, int | float | str):
                row[f"{family}.{name}"] = value
    return row


def to_csv(sessions: Sequence[Scores]) -> str:
    """The rows as CSV with a header."""
    table = rows(sessions)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(table[0]) if table else IDENTITY, lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


def to_junit(sessions: Sequence[Scores], threshold: float = PASS) -> str:
    """The sessions as a JUnit test suite, so that CI systems show them."""
    suite = ElementTree.Element("testsuite", name="sandbox-mcp", tests=str(len(sessions)))
    failures = skipped = 0
    for scores in sessions:
        name = _legal(f"{scores.variant} trial {scores.trial}")
        case = ElementTree.SubElement(suite, "testcase", classname=_legal(scores.scenario), name=name, time="0")
        if not scores.scored or scores.score is None:
            skipped += 1
            reason = scores.reason or "no score: the scenario is unknown here"
            ElementTree.SubElement(case, "skipped", message=_legal(reason))
        elif scores.score < threshold:
            failures += 1
            ElementTree.SubElement(case, "failure", message=f"score {scores.score:.3f}").text = _unmet(scores)
    suite.set("failures", str(failures))
    suite.set("skipped", str(skipped))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _unmet(scores: Scores) -> str:
    verdict = scores.verdicts.get("toolsandbox")
    return "\n".join(_legal(str(dict(detail))) for detail in verdict.details) if verdict else ""


def _legal(text: str) -> str:
    """Text without the characters that XML cannot hold, such as those with which a terminal is coloured."""
    return _ILLEGAL.sub("", text)


def write_scores(path: Path, sessions: Sequence[Scores], whole: Mapping[str, Any]) -> None:
    """Write scores in the form that the file's suffix names; ``whole`` is what JSON holds.

    Raises:
        GraderError: the suffix names no known form, or Parquet is asked for without its extra.
    """
    if path.suffix == ".parquet":
        _write_parquet(path, sessions)
        return
    import json

    forms = {
        ".json": lambda: json.dumps(whole, ensure_ascii=False, indent=2) + "\n",
        ".csv": lambda: to_csv(sessions),
        ".xml": lambda: to_junit(sessions),
    }
    form = forms.get(path.suffix)
    if form is None:
        raise GraderError(f"{path}: unknown form {path.suffix!r}; expected .json, .csv, .xml (JUnit) or .parquet")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(form(), encoding="utf-8")


def _write_parquet(path: Path, sessions: Sequence[Scores]) -> None:
    try:
        arrow: Any = import_module("pyarrow")
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError as error:
        raise GraderError("Parquet needs the package 'pyarrow'; install it with: pip install pyarrow") from error
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(arrow.Table.from_pylist(rows(sessions)), str(path))
