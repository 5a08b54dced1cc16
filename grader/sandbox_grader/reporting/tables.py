"""Reports as files: JSON, CSV, Parquet and JUnit XML, one row or test case per session; and as a data frame.

Policy: columns are ``family.metric`` for every number any session has; what a session lacks is empty, never zero. In
JUnit a session passes from the threshold up (1 without one), fails below, is skipped where it could not be scored.
"""

import csv
import io
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from sandbox_grader.errors import GraderError
from sandbox_grader.reporting.counting import why_not
from sandbox_grader.reporting.markdown import comparison_markdown, report_markdown, scenario_means
from sandbox_grader.reporting.statistics import PASS
from sandbox_mcp.engine.shown import cell, json_text
from sandbox_mcp.engine.whole_files import write_whole

if TYPE_CHECKING:
    from sandbox_grader.reporting.comparison import Comparison
    from sandbox_grader.reporting.report import Report

_ILLEGAL = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""What no XML may have; compiled only where XML is written, as it takes long."""
FORMS = (".json", ".csv", ".xml", ".parquet", ".md")
"""How files of scores may end."""
COMPARISON_FORMS = (".md", ".xml", ".json")
"""How files of comparisons may end."""
EXPLAINING = (".json", ".xml")
"""How those end that say why a session has its scores."""
IDENTITY = (
    "id", "scenario", "variant", "trial", "categories", "mode", "scored", "reason", "ending", "agent", "model",
    "prompt_tokens", "completion_tokens", "cost", "seconds",
)  # fmt: skip


def rows(report: "Report") -> list[dict[str, Any]]:
    """One flat row per session, all with the same columns in the same order; ``cost`` needs prices, or is stated."""
    flat: list[dict[str, Any]] = []
    for scores in report.ordered:
        data, tokens = scores.to_json(), (scores.spent.agent, scores.spent.user)
        known = scores.knows_spending("agent") or scores.knows_spending("user")
        row = {
            **{name: data[name] for name in IDENTITY if name in data},
            "categories": " ".join(scores.categories),
            "agent": scores.agent.get("name"),
            "model": scores.agent.get("model"),
            "prompt_tokens": sum(role.prompt_tokens for role in tokens) if known else None,
            "completion_tokens": sum(role.completion_tokens for role in tokens) if known else None,
            "cost": report.prices.of(scores.spent)["total"] if report.prices.tell(scores.spent) else None,
        }
        for family, verdict in scores.verdicts.items():
            for name, value in verdict.values.items():
                if value is None or isinstance(value, int | float | str):
                    row[f"{family}.{name}"] = value
        flat.append(row)
    columns = dict.fromkeys((*IDENTITY, *(name for row in flat for name in row)))
    return [{name: row.get(name) for name in columns} for row in flat]


def to_csv(report: "Report") -> str:
    """The rows as CSV with a header."""
    table = rows(report)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(table[0]) if table else IDENTITY, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: cell(value) for name, value in row.items()} for row in table)
    return text.getvalue()


def to_junit(report: "Report", threshold: float | None = None) -> str:
    """The sessions as a JUnit test suite, so that CI systems show them, judged by the report's metric."""
    least = PASS if threshold is None else threshold - (1 - PASS)
    suite = ElementTree.Element("testsuite", name="sandbox-mcp", tests=str(len(report.sessions)))
    failures = skipped = 0
    for scores in report.ordered:
        name = _legal(f"{scores.variant} trial {scores.trial}")
        took = f"{scores.seconds or 0.0:.3f}"
        case = ElementTree.SubElement(suite, "testcase", classname=_legal(scores.scenario), name=name, time=took)
        value = scores.value(report.metric)
        if value is None:
            skipped += 1
            ElementTree.SubElement(case, "skipped", message=_legal(why_not(scores, report.metric) or ""))
        elif value < least:
            failures += 1
            said = f"{report.metric} {value:.3f}, below {1 if threshold is None else threshold:g}"
            ElementTree.SubElement(case, "failure", message=said).text = _legal(scores.explain())
    suite.set("time", f"{sum(scores.seconds or 0.0 for scores in report.sessions):.3f}")
    suite.set("failures", str(failures))
    suite.set("skipped", str(skipped))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def comparison_junit(found: "Comparison", margin: float = 0.0) -> str:
    """A comparison as a JUnit test suite: one case that fails where B is worse by more than ``margin``.

    Every scenario has a case as well, which tells both means and never fails, since one alone may differ by chance.
    """
    from sandbox_grader.reporting.wording import verdict_of

    before, after = scenario_means(found.a), scenario_means(found.b)
    worse = found.worse(margin)
    suite = ElementTree.Element(
        "testsuite", name="sandbox-mcp compare", tests=str(len(before) + 1), failures=str(int(worse)), skipped="0"
    )
    case = ElementTree.SubElement(suite, "testcase", classname="compare", name="is not worse")
    if worse:
        ElementTree.SubElement(case, "failure", message=_legal(verdict_of(found, margin)))
    for name, value in before.items():
        case = ElementTree.SubElement(suite, "testcase", classname="scenario", name=_legal(name))
        told = f"{found.a.metric} {value:.3f} before, {after[name]:.3f} now"
        ElementTree.SubElement(case, "system-out").text = told
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def write_comparison(path: Path, found: "Comparison", margin: float | None = None) -> None:
    """Write a comparison as ``.md``, ``.xml`` (JUnit) or ``.json``, by the file's suffix.

    Raises:
        GraderError: the suffix names no such form.
        OSError: it cannot be written, and is as it was before.
    """
    forms: dict[str, Callable[[], str]] = {
        ".json": lambda: json_text(found.to_json()) + "\n",
        ".xml": lambda: comparison_junit(found, margin or 0.0),
        ".md": lambda: comparison_markdown(found, margin),
    }
    if (form := forms.get(path.suffix)) is None:
        raise GraderError(f"{path}: unknown form {path.suffix!r}; expected {', '.join(COMPARISON_FORMS)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, form())


def _legal(text: str) -> str:
    """Text without the characters that XML cannot hold, such as those with which a terminal is coloured."""
    return re.sub(_ILLEGAL, "", text)


def check_form(path: Path) -> None:
    """See that a report can be written in the form that a file's suffix names.

    Raises:
        GraderError: the suffix names no known form, or the form's package is missing.
    """
    if path.suffix not in FORMS:
        raise GraderError(f"{str(path)!r}: expected a file that ends with {', '.join(FORMS)}")
    if path.suffix == ".parquet":
        _extra("pyarrow", "Parquet", "parquet")


def write_report(path: Path, report: "Report", threshold: float | None = None) -> None:
    """Write a report in the form that the file's suffix names; ``threshold`` is for JUnit.

    Raises:
        GraderError: the suffix names no known form, or Parquet is asked for without its extra, or cannot hold a column.
        OSError: it cannot be written, and is as it was before.
    """
    forms: dict[str, Callable[[], str | bytes]] = {
        ".json": lambda: json_text(report.to_json()) + "\n",
        ".csv": lambda: to_csv(report),
        ".xml": lambda: to_junit(report, threshold),
        ".parquet": lambda: _to_parquet(report),
        ".md": lambda: report_markdown(report, threshold),
    }
    check_form(path)
    written = forms[path.suffix]()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, written)


def _to_parquet(report: "Report") -> bytes:
    arrow, parquet = _extra("pyarrow", "Parquet", "parquet"), _extra("pyarrow.parquet", "Parquet", "parquet")
    table = rows(report)
    columns: dict[str, Any] = {}
    for name in table[0] if table else ():
        try:
            columns[name] = arrow.array([row[name] for row in table])
        except (arrow.ArrowException, OverflowError) as error:
            told = f"column {name!r} has values of several kinds, or numbers too long for Parquet: {error}"
            raise GraderError(f"{told}; the forms .json and .csv hold it") from error
    packed = io.BytesIO()
    parquet.write_table(arrow.table(columns), packed)
    return packed.getvalue()


def data_frame(report: "Report") -> Any:
    """The rows as a pandas data frame.

    Raises:
        GraderError: pandas is not installed.
    """
    return _extra("pandas", "a data frame", "pandas").DataFrame(rows(report))


def _extra(module: str, what: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise GraderError(
            f"{what} needs the package {package!r}; install it with: pip install {package}, or with the extra {extra!r}"
        ) from error
