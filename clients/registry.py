"""Agents by name, and agents of the user's own as ``module:attribute``.

Policy: an attribute may be an agent, a class or function that makes one from settings, or a plain async function that
answers a conversation; whatever it is, it gets what every agent gets.
"""

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

from clients.base import Agent, UnknownAgentError
from sandbox_mcp.users.completions import EndpointSettings
from scenarios.problem import closest


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """What can be said about an agent from outside: its model endpoint, and how long it may go on.

    ``max_steps`` is how many answers of its model one user message may take.
    """

    endpoint: EndpointSettings = field(default_factory=EndpointSettings)
    max_steps: int = 30


Builder = Callable[[AgentSettings], Agent]


def _reference(settings: AgentSettings) -> Agent:  # noqa: ARG001
    from clients.reference import ReferenceAgent

    return ReferenceAgent()


def _refuse(settings: AgentSettings) -> Agent:  # noqa: ARG001
    from clients.refuse import RefuseAgent

    return RefuseAgent()


def _openai(settings: AgentSettings) -> Agent:
    from clients.openai_agent import OpenAIAgent

    return OpenAIAgent.of(settings)


AGENTS: Mapping[str, Builder] = MappingProxyType({"reference": _reference, "refuse": _refuse, "openai": _openai})
"""The agents that come with the package."""


def agent_named(name: str, settings: AgentSettings | None = None) -> Agent:
    """The agent of that name, or the one that ``module:attribute`` points to.

    Raises:
        UnknownAgentError: there is none, or it is no agent.
    """
    given = settings or AgentSettings()
    if ":" in name:
        return _own(name, given)
    builder = AGENTS.get(name)
    if builder is None:
        hint = closest(name, AGENTS)
        raise UnknownAgentError(f"unknown agent {name!r}; {hint}; an agent of your own is written module:attribute")
    return builder(given)


def _own(name: str, settings: AgentSettings) -> Agent:
    found = _attribute(name)
    if isinstance(found, Agent):
        return found
    if inspect.iscoroutinefunction(found):
        from clients.function import FunctionAgent

        return FunctionAgent(found, name)
    made = found(settings) if callable(found) else None
    if not isinstance(made, Agent):
        expected = "an Agent, something that makes one from AgentSettings, or an async function"
        raise UnknownAgentError(f"{name!r} is no agent; expected {expected}, found {type(found).__name__}")
    return made


def _attribute(name: str) -> Any:
    """What ``module:attribute`` points to; modules in the working directory count, as for ``python -m``."""
    module, _, attribute = name.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: Any = import_module(module)
    except (ImportError, ValueError) as error:
        raise UnknownAgentError(f"agent {name!r}: module {module!r} cannot be imported: {error}") from error
    for part in attribute.split("."):
        found = getattr(found, part, None)
        if found is None:
            raise UnknownAgentError(f"agent {name!r}: module {module!r} has no {attribute!r}")
    return found
