"""The scenario suite as data, and what reads it: schema, loader, variants, lint."""

from typing import TYPE_CHECKING, Any

from sandbox_scenarios.errors import ScenarioError, ScenarioFileError, UnknownScenarioError
from sandbox_scenarios.model import Scenario

if TYPE_CHECKING:
    from sandbox_scenarios.loader import Suite

__all__ = ("Scenario", "ScenarioError", "ScenarioFileError", "Suite", "UnknownScenarioError")


def __getattr__(name: str) -> Any:
    if name == "Suite":  # pydantic and PyYAML load with it
        from sandbox_scenarios.loader import Suite

        return Suite
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
