"""``sandbox-mcp compare``: is one run better than another, and could this run have told?"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.app.cli import warn
from sandbox_mcp.app.cli.logs import LogPlace, name_left_out
from sandbox_mcp.app.cli.options import metric_option, mode_option, quiet_option, scenario_files
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
    everything: bool,
    quiet: bool,
    places: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Compare run A with B, or with each of several, on what both played, paired by scenario, variant and trial.

    Runs are folders of logs, or files that 'grade --json' wrote. What only one of two played, or could not be scored,
    is left out and counted.
    """
    from sandbox_grader.reporting.comparison import compare_graders
    from sandbox_grader.reporting.grade_logs import read_report
    from sandbox_grader.reporting.many import SuiteFinder, grade_many

    from sandbox_mcp.engine.trajectory.finding import find_logs

    if (len(paths) == 1) != (across is not None) or (graders and len(paths) != 2):
        raise click.UsageError(
            "compare takes two runs or more, one run with --across variant or extends, or two gradings with --graders"
        )
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
    if graders:
        _show_flips(compare_graders(one, others[0]), as_json)
    elif as_json and len(others) == 1:
        print_json(found[0].to_json())
    elif as_json:
        print_json(comparisons_as_json(found) if others else [item.to_json() for item in found])
    elif len(others) > 1:
        print_comparisons(found)
    else:
        for number, item in enumerate(found):
            click.echo("\n" * (number > 0), nl=False)
            _show(item, everything=everything)
    if any(unreadable):
        raise click.exceptions.Exit(2)


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
