"""The frameworks that agents are written in, and how each is run: a table.

Policy: a framework runs in a process of its own, in whatever environment has it, because its requirements and ours
need not agree. Which versions of it that environment has is found out before a run begins, and written into its logs.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from clients.base import UnknownAgentError
from clients.environments import bin_of, python_of
from clients.line_agent import LineAgent
from clients.settings import AgentSettings

WORKERS = Path(__file__).parent / "workers"


@dataclass(frozen=True, slots=True)
class Framework:
    """One framework: what it is called, the worker that drives it, and what its environment must have.

    ``requires`` are requirements for pip, the framework first; ``node`` are packages for npm. ``protocol`` is how its
    model is asked, ``key_variable`` the variable with the provider's key.
    """

    title: str
    worker: str
    requires: tuple[str, ...]
    protocol: str
    key_variable: str = "OPENAI_API_KEY"
    node: tuple[str, ...] = ()

    @property
    def distributions(self) -> tuple[str, ...]:
        """The names of what it requires, without versions and extras."""
        return tuple(_distribution(requirement) for requirement in self.requires)


FRAMEWORKS: Mapping[str, Framework] = MappingProxyType(
    {
        "openai-agents": Framework(
            "OpenAI Agents SDK", "openai_agents.py", ("openai-agents>=0.20",), "chat completions or Responses"
        ),
        # langchain-mcp-adapters needs mcp<2
        "langgraph": Framework(
            "LangGraph",
            "langgraph_agent.py",
            ("langgraph>=1.2", "langchain>=1.4", "langchain-mcp-adapters>=0.3", "langchain-openai>=1.7"),
            "chat completions",
        ),
        "google-adk": Framework(
            "Google ADK", "google_adk.py", ("google-adk[mcp]>=2.13",), "Gemini", key_variable="GOOGLE_API_KEY"
        ),
        "pydantic-ai": Framework(
            "Pydantic AI", "pydantic_agent.py", ("pydantic-ai-slim[mcp,openai]>=2.60",), "chat completions"
        ),
    }
)


def framework_agent(name: str, settings: AgentSettings) -> LineAgent:
    """The agent that runs a framework.

    Raises:
        UnknownAgentError: no model is named, or the environment lacks the framework.
    """
    framework = FRAMEWORKS[name]
    if not settings.endpoint.model:
        raise UnknownAgentError(f"the {name} agent needs to know which model to ask; name one with --model")
    python = settings.python or python_of(name) or Path(sys.executable)
    found = versions(python, framework.distributions)
    missing = [name for name, version in found.items() if version is None]
    if missing:
        raise UnknownAgentError(
            f"the {name} agent needs {', '.join(missing)}, which {str(python)!r} does not have; make an environment "
            f"with 'sandbox-mcp agents install {name}', or name one with --agent-python"
        )
    return LineAgent(
        name,
        (str(python), str(WORKERS / framework.worker)),
        settings,
        key_variable=framework.key_variable,
        about={"framework": found},
        environment={"PATH": bin_of(name)},
    )


def versions(python: Path, distributions: tuple[str, ...]) -> dict[str, str | None]:
    """Which version of each distribution an interpreter has; None for those that it lacks.

    Raises:
        UnknownAgentError: it is no interpreter.
    """
    command = [str(python), str(WORKERS / "lines.py"), *distributions]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)  # noqa: S603
        found: dict[str, Any] = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise UnknownAgentError(f"{str(python)!r} cannot be run as a Python: {error}") from error
    return found


def _distribution(requirement: str) -> str:
    from packaging.requirements import Requirement

    return Requirement(requirement).name
