"""Options that say who plays the user.

Policy: the user's model is the agent's unless told otherwise, because that is what a dry run and a first try want. An
option that means nothing for the user chosen is an error, but for those that name its model.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from sandbox_mcp.app.cli.agent_options import agent_endpoint, parameters
from sandbox_mcp.app.cli.options import PLACE, OneValue, together

if TYPE_CHECKING:
    from sandbox_mcp.app.run.users import Users

user_options = together(
    click.option(
        "--user",
        cls=OneValue,
        type=click.Choice(["scripted", "llm", "human", "replay"]),
        default="scripted",
        help="Who plays the user: the scenario's script, a model, you, or what was said before.",
    ),
    click.option("--user-model", metavar="NAME", help="Model of the llm user. [default: --model]"),
    click.option("--user-base-url", metavar="URL", help="Endpoint of the llm user's model. [default: --base-url]"),
    click.option(
        "--user-api-key-env",
        metavar="NAME",
        help="Variable that holds the key of the llm user's endpoint. [default: --api-key-env]",
    ),
    click.option(
        "--user-param",
        "user_params",
        multiple=True,
        metavar="NAME=JSON",
        help="Sent with every request of the llm user. May be repeated.",
    ),
    click.option(
        "--user-without",
        "user_without",
        multiple=True,
        type=click.Choice(["knows", "does_not_know", "demonstration"]),
        help="What the llm user is not told. May be repeated.",
    ),
    click.option(
        "--user-tools",
        metavar="NAMES",
        help="What the llm user may call beside its way to leave: look_up, check_goal, or both with a comma. "
        "[default: none, as in the paper]",
    ),
    click.option(
        "--user-lines",
        type=PLACE,
        metavar="FILE",
        help="What the replay user says: a text, one utterance a line, or YAML or JSON with a list for each scenario.",
    ),
    click.option(
        "--user-log",
        type=PLACE,
        metavar="PATH",
        help="A log, or a run's folder: the replay user says what was said in the same scenario, variant and trial.",
    ),
)
"""The options that :func:`chosen_users` reads."""
_BELONGS = {"user_tools": "llm", "user_without": "llm", "user_lines": "replay", "user_log": "replay"}
"""Options that mean nothing unless that user plays."""


def chosen_users(options: Mapping[str, Any]) -> "Users":
    """The users that the options ask for.

    Raises:
        RunError: the llm user cannot be asked, or there is nothing to replay.
    """
    from sandbox_mcp.app.run.users import human_users, replayed_users, user_tools, users_named

    kind = options["user"]
    for option, owner in _BELONGS.items():
        if options[option] not in (None, ()) and kind != owner:
            raise click.UsageError(f"--{option.replace('_', '-')} is for --user {owner}, and the user is {kind}")
    if kind == "human":
        return human_users()
    if kind == "replay":
        from sandbox_mcp.app.run.utterances import recorded_lines, written_lines

        lines, log = options["user_lines"], options["user_log"]
        if (lines is None) == (log is None):
            told = "--user replay says what is in --user-lines FILE or in --user-log PATH"
            raise click.UsageError(f"{told}; give one of them")
        return replayed_users(written_lines(lines) if lines else recorded_lines(log))
    agent = agent_endpoint(options)
    endpoint = replace(
        agent,
        model=options["user_model"] or agent.model,
        base_url=options["user_base_url"] or agent.base_url,
        key_variable=options["user_api_key_env"] or agent.key_variable,
        parameters=parameters(options["user_params"]),
    )
    without = frozenset(options["user_without"])
    return users_named(kind, endpoint, without, user_tools(options["user_tools"] or ""))


def jobs_for(users: "Users", options: Mapping[str, Any]) -> int:
    """How many sessions to play at a time: one where a person plays and nothing else was said.

    Raises:
        click.UsageError: the person would have to share standard input with the selectors.
    """
    if users.alone and "-" in options.get("selectors", ()):
        raise click.UsageError("the human user needs standard input, so selectors cannot be read from it; use @FILE")
    given = click.get_current_context().get_parameter_source("jobs")
    return 1 if users.alone and given is ParameterSource.DEFAULT else options["jobs"]
