"""Offline grading of trajectory logs: no model, no server, no network.

Importing this package loads nothing heavy; the names below are resolved when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.errors import GraderError
    from grader.metric import Metric, Mode, Subject, Verdict
    from sandbox_mcp.trajectory import Trajectory, TrajectoryError, read_trajectory

_HOMES = {
    "GraderError": "grader.errors",
    "Metric": "grader.metric",
    "Mode": "grader.metric",
    "Subject": "grader.metric",
    "Trajectory": "sandbox_mcp.trajectory",
    "TrajectoryError": "sandbox_mcp.trajectory",
    "Verdict": "grader.metric",
    "read_trajectory": "sandbox_mcp.trajectory",
}

__all__ = ("GraderError", "Metric", "Mode", "Subject", "Trajectory", "TrajectoryError", "Verdict", "read_trajectory")


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)
