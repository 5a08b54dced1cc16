"""Options that say who plays the user.

Policy: the user's model is the agent's unless told otherwise, because that is what a dry run and a first try want.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.cli.agent_options import agent_endpoint, parameters

if TYPE_CHECKING:
    from sandbox_mcp.run.people import Users

Command = Callable[..., Any]


def user_options(command: Command) -> Command:
    """Give a command the options that :func:`chosen_users` reads."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS = (
    click.option(
        "--user",
        type=click.Choice(["scripted", "llm"]),
        default="scripted",
        show_default=True,
        help="Who plays the user.",
    ),
    click.option("--user-model", help="Model of the llm user. [default: --model]"),
    click.option("--user-base-url", help="Its endpoint. [default: --base-url]"),
    click.option("--user-api-key-env", help="Variable that holds its key. [default: --api-key-env]"),
    click.option(
        "--user-param", "user_params", multiple=True, metavar="NAME=JSON", help="Like --param, for the llm user."
    ),
    click.option(
        "--user-without",
        "user_without",
        multiple=True,
        type=click.Choice(["knows", "does_not_know", "demonstration"]),
        help="What the llm user is not told. May be repeated.",
    ),
)


def chosen_users(options: Mapping[str, Any]) -> "Users":
    """The users that the options ask for.

    Raises:
        RunError: the llm user has no model.
    """
    from sandbox_mcp.run.people import users_named

    agent = agent_endpoint(options)
    endpoint = replace(
        agent,
        model=options["user_model"] or agent.model,
        base_url=options["user_base_url"] or agent.base_url,
        key_variable=options["user_api_key_env"] or agent.key_variable,
        parameters=parameters(options["user_params"]),
    )
    return users_named(options["user"], endpoint, frozenset(options["user_without"]))
