"""``sandbox-mcp grade``: scores for recorded sessions, whoever recorded them."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.cli.options import as_json, print_json, print_table, scenario_files
from sandbox_mcp.plurals import counted

DETAILS = ("counts", "failures", "errors", "kinds")

if TYPE_CHECKING:
    from sandbox_grader.collection import Collection, Find


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--mode",
    type=click.Choice(["strict", "paper", "compat"]),
    default="strict",
    show_default=True,
    help="strict: holes closed; paper: as the papers say; compat: as the authors' code does.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    help="Exit with 1 if the lower end of the mean score's 95 % interval is below this.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Also write scores to FILE.json, .csv, .xml or .parquet.")
@click.option("--keep-spoiled", is_flag=True, help="Also score sessions that their user spoiled, see docs/users.md.")
@click.option(
    "--similarity",
    default="rouge-l",
    show_default=True,
    metavar="NAME",
    help="What ToolTalk compares free text by: exact, rouge-l, embedding (an extra), or embedding:MODULE:FUNCTION.",
)
@click.option("--explain", is_flag=True, help="Print each conversation with its milestones and the reasons.")
@scenario_files
@as_json
def command(
    paths: tuple[Path, ...],
    mode: Any,
    threshold: float | None,
    out: Path | None,
    explain: bool,
    keep_spoiled: bool,
    similarity: str,
    places: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Score recorded sessions: PATHS are logs, or folders of them.

    Needs no model, no server and no network. Logs that cannot be read are named, and the others graded; the exit code
    is then 2.
    """
    from sandbox_grader.collection import grade_logs
    from sandbox_grader.tables import write_scores

    from sandbox_mcp.trajectory.log import find_logs

    logs = find_logs(paths)
    collection = grade_logs(
        logs, finder(places), mode, keep_spoiled=keep_spoiled, skip_unreadable=True, similarity=similarity
    )
    for told in (*collection.warnings, *(item.reason for item in collection.unreadable)):
        click.echo(f"sandbox-mcp: {told}", err=True)
    if out:
        write_scores(out, collection.sessions, collection.to_json())
    if as_json:
        print_json(collection.to_json())
    elif explain:
        _print_explanations(logs, collection)
    elif collection.sessions:
        _print_scores(collection)
    missed = threshold is not None and bool(collection.sessions) and _missed(collection, threshold)
    if missed or collection.unreadable:
        raise click.exceptions.Exit(2 if collection.unreadable else 1)


def finder(places: tuple[Path, ...]) -> "Find":
    """A look-up that gives None for scenarios that this installation does not have."""
    from sandbox_scenarios import Suite, UnknownScenarioError

    suite = Suite(places)

    def find(name: str) -> Any:
        try:
            return suite.get(name)
        except UnknownScenarioError:
            return None

    return find


def _print_explanations(logs: list[Path], collection: "Collection") -> None:
    from sandbox_grader.conversation import conversation
    from sandbox_grader.explain import explain

    from sandbox_mcp.trajectory import read_trajectory

    unreadable = {item.path for item in collection.unreadable}
    graded = [path for path in logs if str(path) not in unreadable]
    for path, scores in zip(graded, collection.sessions, strict=True):
        click.echo(conversation(read_trajectory(path)))
        click.echo(explain(scores))


def _print_scores(collection: "Collection") -> None:
    rows = [
        (scores.session, scores.score, *_numbers(scores.verdicts), _why_not(scores)) for scores in collection.sessions
    ]
    print_table(("session", "score", "turns", "recall", "precision", "not scored because"), rows)
    summary = collection.summary()
    overall = summary.get("toolsandbox", {}).get("overall")
    if overall:
        click.echo(
            f"\n{counted(overall['n'], 'scored session')}, mean score {overall['score']:.3f}; "
            f"an agent that refuses everything would get {overall['refusal']:.3f} (mode {collection.mode})"
        )
    spoiled = sum(scores.spoiled for scores in collection.sessions)
    if spoiled:
        click.echo(f"left out as spoiled by the user: {counted(spoiled, 'session')}; --keep-spoiled scores these too")
    for family, values in summary.items():
        if family != "toolsandbox":
            by = f" (text by {collection.similarity})" if family == "tooltalk" else ""
            click.echo(f"{family}{by}: {', '.join(_figures(values))}")


def _why_not(scores: Any) -> str:
    """Why a session has no score that counts; empty where it has one."""
    verdict = scores.verdicts.get("toolsandbox")
    return scores.reason or (verdict.inconclusive if verdict and verdict.inconclusive else "")


def _figures(values: Any, name: str = "") -> Iterator[str]:
    """The main figures of a summary as ``name value``; counts and error classes are for --json."""
    for key, value in values.items():
        full = f"{name} {key}".strip()
        if isinstance(value, dict) and key not in DETAILS:
            yield from _figures(value, full)
        elif isinstance(value, float):
            yield f"{full} {value:.3f}"


def _numbers(verdicts: Any) -> tuple[Any, ...]:
    sandbox, talk = verdicts.get("toolsandbox"), verdicts.get("tooltalk")
    turns = sandbox.values.get("turn_count") if sandbox else None
    return turns, talk.values.get("recall") if talk else None, talk.values.get("precision") if talk else None


def _missed(collection: "Collection", threshold: float) -> bool:
    from sandbox_grader.runs import run_of
    from sandbox_grader.statistics import mean_score

    outcomes = run_of("graded", collection.mode, collection.sessions).outcomes
    if not outcomes:
        raise click.UsageError("--threshold needs at least one session with a score")
    estimate = mean_score(outcomes)
    least = estimate.mean if estimate.low is None else estimate.low
    if least < threshold:
        click.echo(f"sandbox-mcp: the score may be as low as {least:.3f}, below the threshold {threshold}", err=True)
    return least < threshold
