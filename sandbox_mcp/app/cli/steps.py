"""``sandbox-mcp play --steps FOLDER``: the steps of a session played one command at a time.

Policy: what follows the name of a step is the player's, whatever it looks like, so that a reply may begin with a dash.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.app.cli.printing import print_json
from sandbox_mcp.app.run.options import RunOptions

if TYPE_CHECKING:
    from sandbox_mcp.app.run.steps import StepAnswer

STEPS, READ = "--steps", "--read"
CALL = "expected 'call TOOL JSON', with further pairs for calls that are made at once"
VERBS = ("show", "call", "say", "end")
ALONE = ("--json", "--help", "-h")


class StepCommand(click.Command):
    """A command in which a step's own words are no options, whatever they begin with."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options that stand before a step's name or after it, and leave the rest as it is."""
        return super().parse_args(ctx, _options_first(args))


def _options_first(args: Sequence[str]) -> list[str]:
    """A command line that names a step, with its options in front and ``--`` before all else."""
    at = next((index for index, word in enumerate(args) if word in VERBS), None)
    if at is None or not any(word == STEPS or word.startswith(f"{STEPS}=") for word in args):
        return list(args)
    options, words, rest = list(args[:at]), [args[at]], list(args[at + 1 :])
    while rest:
        word = rest.pop(0)
        if word in (STEPS, READ) and rest:
            options += [word, rest.pop(0)]
        elif word in ALONE or word.startswith((f"{STEPS}=", f"{READ}=")):
            options.append(word)
        elif word == "--":
            words += rest
            rest = []
        else:
            words.append(word)
    return [*options, "--", *words]


def begin(folder: Path, name: str, out: Path, options: RunOptions, *, as_json: bool) -> None:
    """Begin a session of a scenario, and show what its player has to know.

    Raises:
        SandboxError: it cannot be begun as the options say.
        click.UsageError: the options do not go together.
    """
    from sandbox_scenarios import Suite
    from sandbox_scenarios.variants import canonical, variant_named

    from sandbox_mcp.app.run.folder import RunFolder
    from sandbox_mcp.app.run.from_options import users_from
    from sandbox_mcp.app.run.steps import StepFolder, StepPlace
    from sandbox_mcp.engine.worlds import files
    from sandbox_mcp.play.session import SessionSpec

    if options.user == "human":
        raise click.UsageError("a session in steps has no terminal that its user could sit at; choose another --user")
    suite, variant = Suite(options.scenarios), canonical(options.variants[0])
    variant_named(variant)
    agent: dict[str, Any] = {"name": "steps", **({"model": options.model} if options.model else {})}
    if options.params:
        agent["parameters"] = dict(options.params)
    spec = SessionSpec(suite.get(name), variant, options.seed, agent=agent)
    lines, log = ((path and path.absolute()) for path in (options.user_lines, options.user_log))
    kept = replace(options, user_lines=lines, user_log=log, scenarios=(), world=(), out=None).given()
    scenarios, worlds = ([str(path.absolute()) for path in paths] for paths in (options.scenarios, files()))
    place = StepPlace(kept, scenarios, worlds)
    answer = StepFolder(folder).begin(RunFolder(out.absolute()), suite, users_from(options), spec, place)
    _show(answer, folder, as_json=as_json)


def take(folder: Path, words: Sequence[str], *, read: str | None, as_json: bool) -> None:
    """Take one step.

    Raises:
        SandboxError: it cannot be taken now.
        click.UsageError: it is not typed as it should be.
    """
    from sandbox_scenarios import Suite

    from sandbox_mcp.app.run.from_options import users_from
    from sandbox_mcp.app.run.steps import StepFolder
    from sandbox_mcp.engine.worlds import use_file

    verb, *given = words
    if verb in ("show", "end") and given:
        raise click.UsageError(f"{verb!r} takes no words, not {given[0]!r}")
    seat = StepFolder(folder)
    text = _text(given) if verb == "say" else ""
    calls = _calls(given) if verb == "call" else []
    place = seat.place()
    for path in place.worlds:
        use_file(Path(path))
    suite, users = Suite(tuple(Path(path) for path in place.scenarios)), users_from(RunOptions().but(place.user))
    match verb:
        case "show":
            answer = seat.show(suite, users)
        case "call":
            answer = seat.call(suite, users, calls, read)
        case "say":
            answer = seat.say(suite, users, text, read)
        case _:
            answer = seat.end(suite, users)
    _show(answer, folder, as_json=as_json)


def _text(given: Sequence[str]) -> str:
    """The words to say; ``-`` stands for standard input."""
    if len(given) != 1:
        told = "nothing is said" if not given else f"{len(given)} texts are said"
        raise click.UsageError(f"{told}; 'say' takes one text: put it into quotes, or give '-' and pipe it in")
    text = sys.stdin.read().rstrip("\n") if given[0] == "-" else given[0]
    if not text.strip():
        raise click.UsageError("the text is empty; say something")
    return text


def _calls(given: Sequence[str]) -> "list[tuple[str, dict[str, Any]]]":
    """Tools and their arguments; a tool without arguments given has none."""
    calls: list[tuple[str, dict[str, Any]]] = []
    for word in given:
        if not word.lstrip().startswith("{") and word != "-":
            calls.append((word, {}))
            continue
        if not calls or calls[-1][1]:
            raise click.UsageError(f"{word!r} stands in place of a tool's name; {CALL}")
        calls[-1] = (calls[-1][0], _arguments(sys.stdin.read() if word == "-" else word))
    if not calls:
        raise click.UsageError(f"no tool is named; {CALL}")
    return calls


def _arguments(text: str) -> dict[str, Any]:
    from sandbox_mcp.engine.trajectory.model_text import strict_json

    try:
        return dict(strict_json(text))
    except (ValueError, TypeError, RecursionError) as error:
        told = "expected one JSON object in single quotes, such as '{\"on\": false}'"
        raise click.UsageError(f"{text!r} is not JSON ({error}); {told}; nothing was called") from error


def _show(answer: "StepAnswer", folder: Path, *, as_json: bool) -> None:
    from sandbox_mcp.app.run.steps import in_words

    if as_json:
        print_json(answer)
    else:
        click.echo(in_words(answer, f"sandbox-mcp play --steps {folder}"))
