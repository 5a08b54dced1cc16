"""``sandbox-mcp compare``: is one run better than another, and could this run have told?"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.app.cli import warn
from sandbox_mcp.app.cli.logs import LogPlace, name_left_out
from sandbox_mcp.app.cli.options import WRITTEN, RealRange, metric_option, mode_option, quiet_option, scenario_files
from sandbox_mcp.app.cli.printing import FEW, as_json, print_json, print_table
from sandbox_mcp.app.cli.progress import counting
from sandbox_mcp.engine.plurals import counted

if TYPE_CHECKING:
    from sandbox_grader import Comparison, Report


@click.command()
@click.argument("paths", metavar="A [B]...", nargs=-1, required=True, type=LogPlace())
@mode_option
@metric_option
@click.option(
    "--across",
    type=click.Choice(["variant", "extends"]),
    help="Leave out B: compare each variant of A with base, or scenarios with those that they branch from.",
)
@click.option("--graders", is_flag=True, help="A and B are two gradings of one run: list what changed and why.")
@click.option("--fail-if-worse", is_flag=True, help="Exit with 1 if B is worse than A: see below.")
@click.option(
    "--margin",
    type=RealRange(0),
    default=0.0,
    help="How much worse B may be.",
)
@click.option("--strict", is_flag=True, help="Refuse runs that differ in more than their agent.")
@click.option("-o", "--out", type=WRITTEN, help="Also write it to FILE.md (a comment), .xml (JUnit) or .json.")
@click.option("--all", "everything", is_flag=True, help=f"Name every scenario that differs, not the first {FEW}.")
@quiet_option
@scenario_files
@as_json
def command(
    paths: tuple[Path, ...],
    mode: Any,
    metric: str,
    across: str | None,
    graders: bool,
    fail_if_worse: bool,
    margin: float,
    strict: bool,
    out: Path | None,
    everything: bool,
    quiet: bool,
    places: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Compare run A with B, or with each of several, on what both played, paired by scenario, variant and trial.

    Runs are folders of logs, or files that 'grade --json' wrote. What only one of two played, or could not be scored,
    is left out and counted. With --fail-if-worse the test is one-sided at 2.5 %: B is worse where the whole 95 %
    interval of B - A, means over scenarios in pairs, lies below -MARGIN.
    """
    from sandbox_grader.reporting.comparison import compare_graders
    from sandbox_grader.reporting.grade_logs import read_report
    from sandbox_grader.reporting.many import grade_many
    from sandbox_grader.reporting.scenario_of_log import SuiteFinder
    from sandbox_grader.reporting.tables import write_comparison
    from sandbox_grader.reporting.wording import verdict_of

    from sandbox_mcp.engine.trajectory.finding import find_logs

    _check(paths, across, gate=fail_if_worse, margin=margin, graders=graders, out=out)
    find, watch = SuiteFinder(places), counting("graded", quiet=quiet)

    def read(path: Path) -> "Report":
        if path.suffix == ".json":
            return read_report(path, find, mode, metric)
        return grade_many(find_logs([path]), find, mode, metric=metric, name=str(path), watch=watch)

    one, *others = map(read, paths)
    unreadable = [name_left_out(report, warned=not graders) for report in (one, *others)]
    found = [one.compare(other) for other in others] if not graders else []
    if not others:
        found = one.across_variants() if across == "variant" else [_branches(one, places)]
    unlike = [told for item in found for told in item.unlike]
    if strict and unlike:
        raise click.UsageError(f"--strict: the runs differ in more than their agent: {'; '.join(unlike)}")
    if graders:
        _show_flips(compare_graders(one, others[0]), as_json)
    else:
        _print(found, several=bool(others), as_json=as_json, everything=everything)
    if out:
        write_comparison(out, found[0], margin if fail_if_worse else None)
    if any(unreadable):
        raise click.exceptions.Exit(2)
    if fail_if_worse:
        warn(verdict_of(found[0], margin))
        raise click.exceptions.Exit(int(found[0].worse(margin)))


def _check(
    paths: tuple[Path, ...], across: str | None, *, gate: bool, margin: float, graders: bool, out: Path | None
) -> None:
    """See that the options go together.

    Raises:
        click.UsageError: they do not.
    """
    from sandbox_grader.reporting.tables import COMPARISON_FORMS

    if (len(paths) == 1) != (across is not None) or (graders and len(paths) != 2):
        raise click.UsageError(
            "compare takes two runs or more, one run with --across variant or extends, or two gradings with --graders"
        )
    if margin and not gate:
        raise click.UsageError("--margin says how much --fail-if-worse forgives, which is missing")
    if (gate or out) and (graders or len(paths) != 2):
        raise click.UsageError("--fail-if-worse and --out are of two runs, A and B")
    if out and out.suffix not in COMPARISON_FORMS:
        raise click.UsageError(f"--out {str(out)!r}: expected a file that ends with {', '.join(COMPARISON_FORMS)}")


def _print(found: "list[Comparison]", *, several: bool, as_json: bool, everything: bool) -> None:
    """Print comparisons: of ``several`` runs or of two, or of the variants of one."""
    if as_json:
        alone = several and len(found) == 1
        told = comparisons_as_json(found) if several else [item.to_json() for item in found]
        print_json(found[0].to_json() if alone else told)
    elif several and len(found) > 1:
        print_comparisons(found)
    else:
        for number, item in enumerate(found):
            click.echo("\n" * (number > 0), nl=False)
            _show(item, everything=everything)


def comparisons_as_json(found: "Sequence[Comparison]") -> list[dict[str, Any]]:
    """Comparisons of several runs with one, each with its p adjusted by Holm for all of them."""
    from sandbox_grader.reporting.comparison import holm

    adjusted = holm([item.p_value for item in found])
    return [{**item.to_json(), "p_holm": p} for item, p in zip(found, adjusted, strict=True)]


def print_comparisons(found: "Sequence[Comparison]") -> None:
    """Print how several runs compare with one, a row each."""
    from sandbox_grader.reporting.comparison import holm
    from sandbox_grader.reporting.wording import comparisons_table

    warn(*dict.fromkeys(warning for item in found for warning in item.warnings))
    table = comparisons_table(found, holm([item.p_value for item in found]))
    print_table(table.headers, table.rows)
    click.echo(f"\neach compared with {found[0].a.name} on what both played; p of McNemar's tests, adjusted by Holm")


def _branches(report: "Report", places: tuple[Path, ...]) -> "Comparison":
    """The effect of branching: each scenario of a report beside the one that it extends."""
    from sandbox_grader.reporting.comparison import compare_branches
    from sandbox_scenarios import Suite, UnknownScenarioError

    suite, originals = Suite(places), dict[str, str]()
    for name in dict.fromkeys(item.scenario for item in report.sessions):
        try:
            original = suite.original(name)
        except UnknownScenarioError:
            continue
        if original is not None:
            originals[name] = original
    return compare_branches(report, originals)


def _show(found: "Comparison", *, everything: bool) -> None:
    from sandbox_grader.reporting.wording import comparison_lines, comparison_table

    warn(*found.warnings)
    table = comparison_table(found)
    print_table(table.headers, table.rows)
    click.echo()
    for line in comparison_lines(found, None if everything else FEW):
        click.echo(line)


def _show_flips(flips: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print_json(flips)
        return
    for flip in flips:
        click.echo(f"{flip['id']}: {flip['old']} -> {flip['new']}")
        for word, sign in (("gone", "-"), ("come", "+")):
            for reason in flip[word]:
                click.echo(f"  {sign} {reason}")
    click.echo(f"{counted(len(flips), 'session')} changed", err=True)
