"""Options that a host passes on to ``serve``: checked before they are written down, and fit for a host.

Policy: a mistake is told here, where it is read, and not in a host's logs. Hosts start servers in a directory
of their own, so paths are made absolute; and no harness drives an agent in a host, so a scenario gets the tool channel.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from click.core import ParameterSource

from sandbox_mcp.app.cli.options import WORLDS_GIVEN
from sandbox_mcp.engine.errors import SandboxError


@dataclass(frozen=True, slots=True)
class ServeArgs:
    """The arguments of ``serve`` as a host is told them.

    ``scenario`` is the one played, None in the lobby; ``logs`` is the folder of recorded sessions; ``implied`` says
    that the tool channel was added, ``key_variable`` where a user played by a model finds its key.
    """

    args: list[str]
    scenario: str | None
    logs: Path
    implied: bool
    key_variable: str | None


def checked(given: Sequence[str]) -> ServeArgs:
    """Read what was given for ``serve``.

    Raises:
        SandboxError: ``serve`` would refuse it, or no host can use it.
    """
    from sandbox_scenarios.variants import BASE, variant_named

    from sandbox_mcp.app.cli.serve import check_no_http, default_log_dir
    from sandbox_mcp.app.cli.serve import command as serve
    from sandbox_mcp.app.cli.served_session import checked_play, checked_suite

    try:
        context = serve.make_context("serve", list(given))
    except click.ClickException as error:
        raise SandboxError(f"'serve' cannot be started like this: {error.format_message()}") from error
    options = context.params
    if options["http"]:
        raise SandboxError("a host starts the server itself and speaks to it over its pipes; leave out --http")
    implied = options["scenario"] is not None and options["user_channel"] is None
    check_no_http(context)
    play = checked_play({**options, "user_channel": "tool" if implied else options["user_channel"]})
    suite = checked_suite(options["places"], options["world"])
    if play.scenario is not None:
        suite.get(play.scenario)
        variant_named(play.variant or BASE)
    elif play.session is None:
        _ = suite.home  # the world whose tools the lobby offers
    return ServeArgs(
        args=[*_written(context), *(("--user-channel", "tool") if implied else ())],
        scenario=options["scenario"],
        logs=(options["state_dir"] or options["log_dir"] or default_log_dir()).absolute(),
        implied=implied,
        key_variable=(options["user_api_key_env"] or "OPENAI_API_KEY") if options["user"] == "llm" else None,
    )


def _written(context: click.Context) -> Iterator[str]:
    """The options that were given, in the order in which ``serve`` lists them."""
    for option in context.command.params:
        if option.name and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE:
            value = context.meta[WORLDS_GIVEN] if option.name == "world" else context.params[option.name]
            for item in value if option.multiple else (value,):
                if isinstance(item, bool):
                    yield option.opts[0] if item else option.secondary_opts[0]
                else:
                    yield from (option.opts[0], str(item.absolute() if isinstance(item, Path) else item))
