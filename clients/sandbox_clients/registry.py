"""Agents by name, and agents of the user's own as ``module:attribute``.

Policy: an attribute may be an agent, a class or function that makes one from settings, or a plain async function that
answers a conversation; whatever it is, it gets what every agent gets.
"""

import shlex
import shutil
import sys
from importlib import import_module
from inspect import isfunction

from sandbox_scenarios.problem import closest

from sandbox_clients.base import Agent, UnknownAgentError
from sandbox_clients.frameworks import FRAMEWORKS, framework_agent
from sandbox_clients.function import function_agent
from sandbox_clients.line_agent import LineAgent
from sandbox_clients.settings import AgentSettings
from sandbox_clients.text_agent import TextAgent
from sandbox_mcp.engine.own_code import OwnCodeError, others_code, own_code

ASKING = {"openai": "OpenAIAgent", "responses": "ResponsesAgent", "anthropic": "AnthropicAgent"}
"""The agents that ask a model by one of its protocols, each in a module of its own, as loading them takes a while."""
PLAIN = {"reference": "ReferenceAgent", "refuse": "RefuseAgent", "obey": "ObedientAgent"}
"""The agents that ask no model."""
AGENTS = (*PLAIN, *ASKING)
"""The agents that come with the package and run in this process."""
COMMAND, TEXT = "command:", "command-text:"
"""What the name of an agent begins with that is a command line, which speaks JSON or plain text."""
ADDRESS = ("http://", "https://")
"""What the name of an agent begins with that is an address."""


def agent_named(name: str, settings: AgentSettings | None = None) -> Agent:
    """The agent of that name: one of ours, a framework, a command, an address, or what ``module:attribute`` points to.

    Raises:
        UnknownAgentError: nothing has that name, what has it is not an agent, or it lacks what it needs.
    """
    given = settings or AgentSettings()
    if name in PLAIN:
        return getattr(import_module("sandbox_clients.reference"), PLAIN[name])()
    if name in ASKING:
        return getattr(import_module(f"sandbox_clients.{name}_agent"), ASKING[name]).of(given)
    if name in FRAMEWORKS:
        return framework_agent(name, given)
    if name.startswith((COMMAND, TEXT)):
        return _command(name, given)
    if name.startswith(ADDRESS):
        from sandbox_clients.http_agent import HttpAgent

        return HttpAgent.of(name, given)
    if ":" in name:
        _refuse_address(name)
        return _own(name, given)
    hint = closest(name, [*AGENTS, *FRAMEWORKS])
    example = f", such as '{name}:agent'" if name.isidentifier() else ""
    raise UnknownAgentError(
        f"unknown agent {name!r}; {hint}; an agent of your own is written module:attribute{example}"
    )


def _command(name: str, settings: AgentSettings) -> Agent:
    prefix, _, line = name.partition(":")
    try:
        command = tuple(shlex.split(line, posix=sys.platform != "win32"))
    except ValueError as error:
        raise UnknownAgentError(f"agent {name!r} is not a command line: {error}") from error
    if not command:
        raise UnknownAgentError(f"agent {name!r} names no command; write {prefix}:PROGRAM ARGUMENTS")
    if shutil.which(command[0]) is None:
        raise UnknownAgentError(f"agent {name!r}: there is no program {command[0]!r} that can be started")
    return (LineAgent if prefix == "command" else TextAgent)(name, command, settings)


def _refuse_address(name: str) -> None:
    """See that a service was not meant, whose address is written without its scheme or with another."""
    after = name.partition(":")[2]
    if after.startswith("//") or after[:1].isdigit():
        address = name if after[:1].isdigit() else after.strip("/")
        hint = f"a service is named by its address, such as http://{address or 'HOST:PORT'}"
        raise UnknownAgentError(f"agent {name!r} has no scheme {' or '.join(ADDRESS)}; {hint}")


def _own(name: str, settings: AgentSettings) -> Agent:
    try:
        found = own_code(name)
    except OwnCodeError as error:
        raise UnknownAgentError(f"agent {name!r}: {error}") from error
    if agent := _as_agent(found, name):
        return agent
    made = None
    if callable(found):
        with others_code(f"agent {name!r}: called with AgentSettings to make an agent, it failed", UnknownAgentError):
            made = found(settings)
    if agent := _as_agent(made, name):
        return agent
    expected = "an Agent or an async function, or something that makes one from AgentSettings"
    gave = f"{type(found).__name__} that gives {type(made).__name__}" if callable(found) else type(found).__name__
    hint = ""
    if isfunction(found):  # most likely it would answer, and waits for nothing
        hint = f"; for one that answers write 'async def {found.__name__}(asked):'"
    raise UnknownAgentError(f"{name!r} is not an agent; expected {expected}, found {gave}{hint}")


def _as_agent(found: object, name: str) -> Agent | None:
    return found if isinstance(found, Agent) else function_agent(found, name)
