"""``sandbox-mcp play``: a person plays one scenario, as its user or as the agent.

Policy: a session played here is like any other, recorded among the others that were played this way and graded at
the end. Every session of a scenario is a further trial of it, also while another one is being played. With ``--steps``
each step is a command of its own, and nothing is graded, because whoever plays must not see a score.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.app.cli.options import FOLDER, PLACE
from sandbox_mcp.app.cli.run_options import options_from, run_options
from sandbox_mcp.app.cli.steps import VERBS, StepCommand, begin, take
from sandbox_mcp.app.run.options import GROUPS, OPTIONS, RunOptions

if TYPE_CHECKING:
    from sandbox_scenarios import Suite

    from sandbox_mcp.app.run.folder import RunFolder
    from sandbox_mcp.app.run.unit import Unit

OUT = Path("runs/play")
_NAMES = {group: [name for name, about in OPTIONS.items() if about.group == group] for group in GROUPS}
_AGENT = (name for name in _NAMES["the agent"] if name != "instructions")
PLAYED = (*_AGENT, "max_steps", "max_retries", "timeout", *_NAMES["the user"])
"""Options of a run that say how the agent's model and the user are played."""


@click.command(cls=StepCommand)
@click.argument("words", metavar="SCENARIO|STEP", nargs=-1, required=True)
@click.option("--as", "role", type=click.Choice(["user", "agent"]), default="agent", help="Whom you play.")
@run_options(*PLAYED)
@click.option("-o", "--out", type=PLACE, default=OUT, help="Folder for the logs.")
@click.option(
    "--variant", metavar="NAME", default="base", help="How tools are presented, such as all_tools or terse_errors."
)
@run_options("seed")
@click.option(
    "--steps",
    type=FOLDER,
    help="Play in single commands, with the place kept in this folder: SCENARIO begins, then 'call TOOL JSON', "
    "'say TEXT', 'show' or 'end', each with this option.",
)
@click.option("--read", metavar="CODE", help="With --steps: the code at the end of the last answer.")
@click.option("--json", "as_json", is_flag=True, help="With --steps: print JSON.")
@run_options("scenarios", "world")
def command(
    words: tuple[str, ...],
    role: str,
    variant: str,
    out: Path,
    steps: Path | None,
    read: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Play SCENARIO yourself, and see how it is graded.

    As the agent you see the user's words and call the tools by typing their names; as the user you read what the agent
    says and answer. /help tells what can be typed. With --steps a program that has only a shell can be the agent.
    """
    options = replace(options_from(given), variants=(variant,), out=out)
    if steps is None and (read or as_json):
        raise click.UsageError("--read and --json are for a session in steps; say with --steps in which folder")
    if steps is None:
        _play_at_once(_one_scenario(words), role, out, options)
    elif role == "user" or options.agent:
        raise click.UsageError("in steps you play the agent; leave out --as and --agent")
    elif words[0] in VERBS:
        take(steps, words, read=read, as_json=as_json)
    else:
        begin(steps, _one_scenario(words), out, options, as_json=as_json)


def _one_scenario(words: Sequence[str]) -> str:
    if len(words) > 1:
        raise click.UsageError(f"one scenario is played at a time, not {' and '.join(map(repr, words))}")
    return words[0]


def _play_at_once(scenario: str, role: str, out: Path, options: RunOptions) -> None:
    from sandbox_grader.grading.conversation import conversation
    from sandbox_grader.reporting.grade_logs import grade_logs
    from sandbox_grader.reporting.scenario_of_log import SuiteFinder
    from sandbox_scenarios import Suite
    from sandbox_scenarios.variants import canonical, variant_named

    from sandbox_mcp.app.run.folder import RunFolder
    from sandbox_mcp.app.run.unit import Unit
    from sandbox_mcp.engine.trajectory import read_trajectory

    if role == "user" and not options.agent:
        raise click.UsageError("as the user you need an agent to talk to; name one with --agent, such as reference")
    if role == "user" and options.user != "scripted":
        raise click.UsageError(f"you play the user yourself; leave out --user {options.user}")
    if role == "agent" and options.agent:
        raise click.UsageError("you play the agent yourself; leave out --agent, or say --as user")
    if role == "agent" and options.user == "human":
        raise click.UsageError("you play the agent, and cannot play the user as well; say --as user")
    suite, folder = Suite(options.scenarios), RunFolder(out)
    name, variant = suite.get(scenario).name, canonical(options.variants[0])
    variant_named(variant)
    folder.prepare()
    log = folder.log(_played(suite, folder, Unit(name, variant, options.seed), role, options))
    click.echo()
    click.echo(conversation(read_trajectory(log)))
    for scores in grade_logs([log], SuiteFinder(options.scenarios)).sessions:
        click.echo(scores.explain(), nl=False)
    click.echo(f"log: {log}", err=True)


def _played(suite: "Suite", folder: "RunFolder", unit: "Unit", role: str, options: RunOptions) -> "Unit":
    """The further trial of a unit that was played."""
    import anyio

    from sandbox_mcp.app.run.from_options import agent_from, users_from
    from sandbox_mcp.app.run.human_agent import PersonAgent
    from sandbox_mcp.app.run.play import Arena, play
    from sandbox_mcp.app.run.transports import transport
    from sandbox_mcp.app.run.users import human_users, require_person
    from sandbox_mcp.engine.trajectory import LogWriter
    from sandbox_mcp.play.session import SessionSpec
    from sandbox_mcp.play.session.manager import SessionManager
    from sandbox_mcp.play.telemetry import traced

    if role == "user":
        agent, users = agent_from(options), human_users(at_once=True)
    else:
        require_person()
        agent, users = PersonAgent(), users_from(options)
    unit, path = folder.claim(unit)
    spec = SessionSpec(
        suite.get(unit.scenario), unit.variant, unit.seed, unit.trial, agent={"name": agent.name, **agent.describe()}
    )
    manager = SessionManager(suite, max_sessions=1)

    async def session() -> None:
        with LogWriter(path) as log:
            async with transport("http" if agent.needs_url else "direct", manager) as reach:
                try:
                    await play(Arena(manager, reach), spec, agent, users.make(spec), traced(log))
                finally:
                    with anyio.CancelScope(shield=True):
                        await agent.aclose()
                        await users.aclose()

    anyio.run(session)
    folder.keep(unit, path)
    return unit
