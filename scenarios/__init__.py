"""The scenario suite as data, and what reads it: schema, loader, variants, lint."""

from scenarios.errors import ScenarioError, ScenarioFileError, UnknownScenarioError
from scenarios.model import Scenario

__all__ = ("Scenario", "ScenarioError", "ScenarioFileError", "UnknownScenarioError")
