"""``sandbox-mcp play``: a person plays one scenario, as its user or as the agent.

Policy: what is played is a session like any other, recorded among the others that were played this way and graded at
the end. Every session of a scenario is a further trial of it, also while another one is being played.
"""

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.app.cli.agent_options import chosen_agent, model_options
from sandbox_mcp.app.cli.options import PLACE, OneValue, scenario_files
from sandbox_mcp.app.cli.user_options import chosen_users, user_options

if TYPE_CHECKING:
    from sandbox_scenarios import Suite

    from sandbox_mcp.app.run.folder import RunFolder
    from sandbox_mcp.app.run.unit import Unit

OUT = Path("runs/play")


@click.command()
@click.argument("scenario")
@click.option("--as", "role", type=click.Choice(["user", "agent"]), default="agent", help="Whom you play.")
@click.option("--agent", cls=OneValue, metavar="NAME", help="The agent you talk to as the user; like that of 'run'.")
@model_options
@user_options
@click.option("-o", "--out", type=PLACE, default=OUT, help="Folder for the logs.")
@click.option(
    "--variant", metavar="NAME", default="base", help="How tools are presented, such as all_tools or terse_errors."
)
@click.option("--seed", type=int, default=0, help="Decides the world's ids.")
@scenario_files
def command(scenario: str, role: str, places: tuple[Path, ...], **options: Any) -> None:
    """Play SCENARIO yourself, and see how it is graded.

    As the agent you see the user's words and call the tools by typing their names; as the user you read what the agent
    says and answer. /help tells what can be typed.
    """
    from sandbox_grader.grading.conversation import conversation
    from sandbox_grader.reporting.grade_logs import grade_logs
    from sandbox_grader.reporting.many import SuiteFinder
    from sandbox_scenarios import Suite
    from sandbox_scenarios.variants import canonical, variant_named

    from sandbox_mcp.app.run.folder import RunFolder
    from sandbox_mcp.app.run.unit import Unit
    from sandbox_mcp.engine.trajectory import read_trajectory

    if role == "user" and not options["agent"]:
        raise click.UsageError("as the user you need an agent to talk to; name one with --agent, such as reference")
    if role == "user" and options["user"] != "scripted":
        raise click.UsageError(f"you play the user yourself; leave out --user {options['user']}")
    if role == "agent" and options["agent"]:
        raise click.UsageError("you play the agent yourself; leave out --agent, or say --as user")
    if role == "agent" and options["user"] == "human":
        raise click.UsageError("you play the agent, and cannot play the user as well; say --as user")
    suite, folder = Suite(places), RunFolder(options["out"])
    name, variant = suite.get(scenario).name, canonical(options["variant"])
    variant_named(variant)
    folder.prepare()
    trials = (Unit(name, variant, options["seed"], trial) for trial in count())
    taken = folder.kept().keys() | folder.begun().keys()
    unit = next(unit for unit in trials if unit.name not in taken)
    _play(suite, folder, unit, role, options)
    log = folder.log(unit)
    click.echo()
    click.echo(conversation(read_trajectory(log)))
    for scores in grade_logs([log], SuiteFinder(places)).sessions:
        click.echo(scores.explain(), nl=False)
    click.echo(f"log: {log}", err=True)


def _play(suite: "Suite", folder: "RunFolder", unit: "Unit", role: str, options: Mapping[str, Any]) -> None:
    import anyio

    from sandbox_mcp.app.run.human_agent import PersonAgent
    from sandbox_mcp.app.run.play import Arena, play
    from sandbox_mcp.app.run.transports import transport
    from sandbox_mcp.app.run.users import human_users, require_person
    from sandbox_mcp.play.session import SessionSpec
    from sandbox_mcp.play.session.manager import SessionManager
    from sandbox_mcp.play.telemetry import traced

    if role == "user":
        agent, users = chosen_agent(options), human_users(at_once=True)
    else:
        require_person()
        agent, users = PersonAgent(), chosen_users(options)
    spec = SessionSpec(
        suite.get(unit.scenario), unit.variant, unit.seed, unit.trial, agent={"name": agent.name, **agent.describe()}
    )
    manager = SessionManager(suite, max_sessions=1)

    async def session() -> Path:
        with folder.writer(unit) as log:
            async with transport("http" if agent.needs_url else "direct", manager) as reach:
                try:
                    await play(Arena(manager, reach), spec, agent, users.make(spec), traced(log))
                finally:
                    with anyio.CancelScope(shield=True):
                        await agent.aclose()
                        await users.aclose()
        return log.path

    folder.keep(unit, anyio.run(session))
