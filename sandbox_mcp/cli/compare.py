"""``sandbox-mcp compare``: is one run better than another, and could this run have told?"""

from pathlib import Path
from typing import Any

import click

from sandbox_mcp.cli.grade import finder
from sandbox_mcp.cli.options import as_json, print_json, print_table, scenario_files
from sandbox_mcp.plurals import counted


@click.command()
@click.argument("a", type=click.Path(exists=True, path_type=Path))
@click.argument("b", type=click.Path(exists=True, path_type=Path))
@click.option("--mode", type=click.Choice(["strict", "paper", "compat"]), default="strict", show_default=True)
@click.option("--graders", is_flag=True, help="A and B are two gradings of one run: list what changed and why.")
@scenario_files
@as_json
def command(a: Path, b: Path, mode: Any, graders: bool, places: tuple[Path, ...], as_json: bool) -> None:
    """Compare runs A and B, paired by scenario, variant and trial.

    A and B are folders of logs, or files that 'grade --json' wrote.
    """
    from sandbox_grader.runs import compare_graders, compare_runs, read_run

    find = finder(places)
    one, two = read_run(a, find, mode), read_run(b, find, mode)
    if graders:
        _show_flips(compare_graders(one, two), as_json)
        return
    found = compare_runs(one, two)
    if as_json:
        print_json(found)
    else:
        _show(found)


def _show(found: dict[str, Any]) -> None:
    for warning in found["warnings"]:
        click.echo(f"sandbox-mcp: {warning}", err=True)
    names = [name for name in found["a"] if isinstance(found["a"][name], dict)]
    rows = [(name, _interval(found["a"][name]), _interval(found["b"].get(name))) for name in names]
    print_table(("", found["a"]["run"], found["b"]["run"]), rows)
    test = found["mcnemar"]
    click.echo(f"\ndifference (B - A): {_interval(found['difference'])}")
    smallest = found["smallest_detectable"]
    if smallest is not None:
        click.echo(f"smallest difference that this comparison would have found 4 times in 5: {smallest:.3f}")
    elif found["difference"]["low"] is not None:
        click.echo(
            "nothing varied from scenario to scenario, so the smallest difference that could be found is unknown"
        )
    click.echo(f"passed only by A: {test['only_a']}, only by B: {test['only_b']}, McNemar p = {test['p']:.3g}")
    for word in ("better", "worse"):
        click.echo(f"{word} in B: {', '.join(found[word]) or 'none'}")


def _interval(estimate: dict[str, Any] | None) -> str:
    if estimate is None:
        return "-"
    if estimate["low"] is None:
        return f"{estimate['mean']:.3f} (one scenario, no interval)"
    return f"{estimate['mean']:.3f} [{estimate['low']:.3f}, {estimate['high']:.3f}]"


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
