"""Settings of an agent that come from outside."""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox_mcp.play.models.asking import EndpointSettings


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """Its model endpoint, how long it may go on, how it is prompted, and where it lives.

    ``max_steps`` is how many answers of its model one user message may take. ``react`` asks chat agents to reason and
    act in text. ``python`` is the interpreter that has a framework; with None, one is looked for. ``patience`` is how
    many seconds one turn may take, and also how many a process may take to be ready for the first.
    """

    endpoint: EndpointSettings = field(default_factory=EndpointSettings)
    max_steps: int = 30
    react: bool = False
    python: Path | None = None
    patience: float = math.inf

    def told(self) -> dict[str, Any]:
        """Model and limits as told to an agent that lives elsewhere; docs/adapters.md has the fields."""
        endpoint = self.endpoint
        return {
            "model": endpoint.model,
            "base_url": endpoint.base_url,
            "parameters": dict(endpoint.parameters),
            "max_steps": self.max_steps,
            "timeout": endpoint.timeout,
            "retries": endpoint.retries,
        }
