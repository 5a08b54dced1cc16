"""The frameworks that agents are written in, and how each is run: a table.

Policy: a framework runs in a process of its own, in whatever environment has it, because its requirements and ours
need not agree. Which versions of it that environment has is found out before a run begins, and written into its logs.
"""

import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sandbox_clients.base import UnknownAgentError
from sandbox_clients.environments import bin_of, node_versions_in, python_of, versions_here, versions_in
from sandbox_clients.line_agent import LineAgent
from sandbox_clients.settings import AgentSettings
from sandbox_mcp.engine.bounded import loads

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
        return tuple(re.split(r"[\[<>=!~; ]", requirement, maxsplit=1)[0] for requirement in self.requires)


FRAMEWORKS: Mapping[str, Framework] = MappingProxyType(
    {
        "claude-code": Framework(
            "Claude Code", "claude_code.py", (), "Messages", "ANTHROPIC_API_KEY", ("@anthropic-ai/claude-code@2.1.330",)
        ),
        "claude-sdk": Framework(
            "Claude Agent SDK", "claude_sdk.py", ("claude-agent-sdk>=0.2.187",), "Messages", "ANTHROPIC_API_KEY"
        ),
        "codex": Framework("Codex CLI", "codex.py", (), "Responses", node=("@openai/codex@0.169.0",)),
        "openai-agents": Framework(
            "OpenAI Agents SDK", "openai_agents.py", ("openai-agents>=0.20",), "chat completions or Responses"
        ),
        # langchain-mcp-adapters needs mcp<2; 0.3.1 does not say so, and breaks beside mcp 2
        "langgraph": Framework(
            "LangGraph", "langgraph_agent.py",
            ("langgraph>=1.2", "langchain>=1.4", "langchain-mcp-adapters>=0.3.2", "langchain-openai>=1.7"),
            "chat completions",
        ),
        "google-adk": Framework("Google ADK", "google_adk.py", ("google-adk[mcp]>=2.13",), "Gemini", "GOOGLE_API_KEY"),
        "pydantic-ai": Framework(
            "Pydantic AI", "pydantic_agent.py", ("pydantic-ai-slim[mcp,openai]>=2.68",), "chat completions"
        ),
    }
)  # fmt: skip


def framework_agent(name: str, settings: AgentSettings) -> LineAgent:
    """The agent that runs a framework.

    Raises:
        UnknownAgentError: no model is named, or the environment lacks the framework.
    """
    framework = FRAMEWORKS[name]
    if not settings.endpoint.model:
        raise UnknownAgentError(f"the {name} agent needs to know which model to ask; name one with --model")
    python = settings.python or python_of(name) or Path(sys.executable)
    found = versions(settings.python, framework.distributions) if settings.python else installed(name)
    missing = [needed for needed in framework.distributions if found[needed] is None]
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
        recalls=False,
    )


def installed(name: str) -> dict[str, str | None]:
    """Versions of everything that a framework requires, in its environment or else beside this package.

    What npm should have brought is left out where it did not: the program may be on the search path all the same.
    """
    framework = FRAMEWORKS[name]
    looked = versions_in(name, framework.distributions) if python_of(name) else versions_here(framework.distributions)
    packages = (needed[0] + needed[1:].partition("@")[0] for needed in framework.node)  # a scope begins with "@"
    brought = node_versions_in(name, packages)
    return looked | {package: version for package, version in brought.items() if version}


def versions(python: Path, distributions: tuple[str, ...]) -> dict[str, str | None]:
    """Versions of the distributions that an interpreter has; None for those that it lacks.

    Raises:
        UnknownAgentError: it is not an interpreter.
    """
    command = [str(python), str(WORKERS / "lines.py"), *distributions]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)  # noqa: S603
        found: dict[str, Any] = loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise UnknownAgentError(f"{str(python)!r} cannot be run as a Python: {error}") from error
    return found
