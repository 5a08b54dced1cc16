"""Options that say which agent is under test, on which model, and where it lives.

Policy: every agent is described by the same options; one that has no use for an option ignores it. Keys are named by
the variable that holds them, never given.
"""

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.app.cli.options import FILE, OneValue, RealRange, together

if TYPE_CHECKING:
    from sandbox_clients.base import Agent

    from sandbox_mcp.play.models.asking import EndpointSettings

_AGENT = click.option(
    "--agent",
    cls=OneValue,
    required=True,
    metavar="NAME",
    help="One of 'sandbox-mcp agents', command:LINE, command-text:LINE, a URL, or your own as MODULE:ATTRIBUTE.",
)
_MODEL = click.option("--model", metavar="NAME", default="", show_default=False, help="Model that the agent asks.")
_MODELS = click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME",
    help="Model that the agent asks. May be repeated: a run each, in a folder of its name in --out.",
)
_OPTIONS = (
    click.option(
        "--base-url", metavar="URL", help="Endpoint of that model. [default: what the provider's variable says]"
    ),
    click.option("--api-key-env", metavar="NAME", help="Variable that holds the key. [default: the provider's own]"),
    click.option(
        "--param",
        "params",
        multiple=True,
        metavar="NAME=JSON",
        help="Sent with every request, such as temperature=0. May be repeated.",
    ),
    click.option("--react", is_flag=True, help="Prompt chat agents to reason and act in text (ReAct)."),
    click.option(
        "--agent-python",
        type=FILE,
        help="Python that has the agent's framework. [default: what 'sandbox-mcp agents install' made, or this one]",
    ),
    click.option("--max-steps", type=click.IntRange(1), default=30, help="Answers of the model per user message."),
    click.option("--max-retries", type=click.IntRange(0), default=5, help="Further tries when an endpoint fails."),
    click.option("--timeout", type=RealRange(0, min_open=True), default=120.0, help="Seconds to wait for an endpoint."),
)


agent_options = together(_AGENT, _MODELS, *_OPTIONS)
"""The options that :func:`chosen_agent` reads, with any number of models as ``models``."""
model_options = together(_MODEL, *_OPTIONS)
"""The options that :func:`chosen_agent` reads, but for the one that names the agent."""


def chosen_agent(options: Mapping[str, Any]) -> "Agent":
    """The agent that the options ask for.

    Raises:
        UnknownAgentError: no agent has that name, or it lacks what it needs.
    """
    from sandbox_clients.registry import agent_named
    from sandbox_clients.settings import AgentSettings

    settings = AgentSettings(
        endpoint=agent_endpoint(options),
        max_steps=options["max_steps"],
        react=options["react"],
        python=options["agent_python"],
        patience=options.get("max_turn_seconds", math.inf),
    )
    made = agent_named(options["agent"], settings)
    _check_heeded(options)
    return made


def _check_heeded(options: Mapping[str, Any]) -> None:
    """See that the agent heeds what was said of agents of some kind; code of the user's own may heed anything.

    Raises:
        click.UsageError: it does not, and a run would seem to be what it is not.
    """
    from sandbox_clients.frameworks import FRAMEWORKS
    from sandbox_clients.registry import ADDRESS, ASKING, COMMAND, TEXT

    agent = options["agent"]
    if ":" in agent and not agent.startswith((COMMAND, TEXT, *ADDRESS)):
        return
    if options["react"] and agent not in ASKING:
        raise click.UsageError(f"--react is for the agents {', '.join(ASKING)}, and the agent is {agent!r}")
    if options["agent_python"] and agent not in FRAMEWORKS:
        raise click.UsageError(f"--agent-python is for the agents {', '.join(FRAMEWORKS)}, and the agent is {agent!r}")


def agent_endpoint(options: Mapping[str, Any]) -> "EndpointSettings":
    """The endpoint that the options describe."""
    from sandbox_mcp.play.models.asking import EndpointSettings

    return EndpointSettings(
        model=options["model"],
        base_url=options["base_url"],
        key_variable=options["api_key_env"],
        parameters=parameters(options["params"]),
        timeout=options["timeout"],
        retries=options["max_retries"],
    )


def parameters(given: Iterable[str]) -> dict[str, Any]:
    """What ``NAME=JSON`` options say; a value that is not JSON is text.

    Raises:
        click.UsageError: one has another form.
    """
    from sandbox_mcp.engine.trajectory.model_text import strict_json

    made: dict[str, Any] = {}
    for text in given:
        name, found, value = text.partition("=")
        if not name or not found:
            raise click.UsageError(f"parameter {text!r} is not of the form NAME=JSON, such as temperature=0")
        try:
            made[name] = strict_json(value)
        except (ValueError, RecursionError):
            made[name] = value
    return made
