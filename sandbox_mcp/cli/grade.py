"""``sandbox-mcp grade``: scores for recorded sessions, whoever recorded them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.cli.options import as_json, print_json, print_table, scenario_files

if TYPE_CHECKING:
    from grader.collection import Collection, Find


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--mode",
    type=click.Choice(["strict", "paper", "compat"]),
    default="strict",
    show_default=True,
    help="strict: holes closed; paper: as the papers say; compat: as the authors' code does.",
)
@click.option("--threshold", type=float, help="Exit with 1 if the mean score is below this.")
@click.option("--explain", is_flag=True, help="Print each conversation with its milestones and the reasons.")
@scenario_files
@as_json
def command(
    paths: tuple[Path, ...], mode: Any, threshold: float | None, explain: bool, places: tuple[Path, ...], as_json: bool
) -> None:
    """Score recorded sessions: PATHS are logs, or folders of them.

    Needs no model, no server and no network.
    """
    from grader.collection import grade_logs
    from sandbox_mcp.trajectory.log import find_logs

    logs = find_logs(paths)
    collection = grade_logs(logs, finder(places), mode)
    for warning in collection.warnings:
        click.echo(f"sandbox-mcp: {warning}", err=True)
    if as_json:
        print_json(collection.to_json())
    elif explain:
        _print_explanations(logs, collection)
    else:
        _print_scores(collection)
    _check(collection, threshold)


def finder(places: tuple[Path, ...]) -> "Find":
    """A look-up that gives None for scenarios that this installation does not have."""
    from scenarios import Suite, UnknownScenarioError

    suite = Suite(places)

    def find(name: str) -> Any:
        try:
            return suite.get(name)
        except UnknownScenarioError:
            return None

    return find


def _print_explanations(logs: list[Path], collection: "Collection") -> None:
    from grader.explain import explain
    from sandbox_mcp.trajectory import read_trajectory

    for path, scores in zip(logs, collection.sessions, strict=True):
        click.echo(explain(read_trajectory(path), scores))
        click.echo()


def _print_scores(collection: "Collection") -> None:
    rows = [
        (scores.session, scores.score, *_numbers(scores.verdicts), scores.reason or "")
        for scores in collection.sessions
    ]
    print_table(("session", "score", "turns", "recall", "precision", "not scored because"), rows)
    summary = collection.summary()
    overall = summary.get("toolsandbox", {}).get("overall")
    if overall:
        click.echo(
            f"\n{overall['n']} scored sessions, mean score {overall['score']:.3f}; "
            f"an agent that refuses everything would get {overall['refusal']:.3f} (mode {collection.mode})"
        )
    for family, values in summary.items():
        if family != "toolsandbox":
            click.echo(f"{family}: {values}")


def _numbers(verdicts: Any) -> tuple[Any, ...]:
    sandbox, talk = verdicts.get("toolsandbox"), verdicts.get("tooltalk")
    turns = sandbox.values.get("turn_count") if sandbox else None
    return turns, talk.values.get("recall") if talk else None, talk.values.get("precision") if talk else None


def _check(collection: "Collection", threshold: float | None) -> None:
    if threshold is None:
        return
    scores = [scores.score for scores in collection.sessions if scores.scored and scores.score is not None]
    if not scores:
        raise click.UsageError("--threshold needs at least one session with a score")
    mean = sum(scores) / len(scores)
    if mean < threshold:
        click.echo(f"sandbox-mcp: mean score {mean:.3f} is below the threshold {threshold}", err=True)
        raise click.exceptions.Exit(1)
