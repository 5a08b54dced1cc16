"""A stateful, deterministic world of tools for testing agents, served over the Model Context Protocol.

``from sandbox_mcp import Suite, evaluate, grade`` is the way in from Python; docs/python.md tells it. Importing this
package loads nothing heavy: the names below are resolved when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandbox_clients.base import Agent
    from sandbox_grader.metric import Metric
    from sandbox_grader.report import Report

    from sandbox_mcp.run.by_hand import PlayableSuite as Suite
    from sandbox_mcp.run.evaluate import evaluate, grade

__version__ = "0.1.0"

_HOMES = {
    "Agent": "sandbox_clients.base:Agent",
    "Metric": "sandbox_grader.metric:Metric",
    "Report": "sandbox_grader.report:Report",
    "Suite": "sandbox_mcp.run.by_hand:PlayableSuite",
    "evaluate": "sandbox_mcp.run.evaluate:evaluate",
    "grade": "sandbox_mcp.run.evaluate:grade",
}

__all__ = ("Agent", "Metric", "Report", "Suite", "__version__", "evaluate", "grade")


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
