"""Offline grading of trajectory logs: no model, no server, no network.

``grade(read_trajectory("session.jsonl"), scenario)`` is all that a notebook needs. Importing this package loads nothing
heavy; the names below are resolved when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandbox_grader.errors import GraderError
    from sandbox_grader.grading.metric import Metric, Mode, Subject, Verdict
    from sandbox_grader.grading.scores import Scores, grade
    from sandbox_grader.reporting.comparison import Comparison
    from sandbox_grader.reporting.grade_logs import grade_logs, read_report
    from sandbox_grader.reporting.report import Report
    from sandbox_mcp.engine.trajectory import Trajectory, TrajectoryError, read_trajectory

_HOMES = {
    "Comparison": "sandbox_grader.reporting.comparison",
    "GraderError": "sandbox_grader.errors",
    "Metric": "sandbox_grader.grading.metric",
    "Mode": "sandbox_grader.grading.metric",
    "Report": "sandbox_grader.reporting.report",
    "Scores": "sandbox_grader.grading.scores",
    "Subject": "sandbox_grader.grading.metric",
    "Trajectory": "sandbox_mcp.engine.trajectory",
    "TrajectoryError": "sandbox_mcp.engine.trajectory",
    "Verdict": "sandbox_grader.grading.metric",
    "grade": "sandbox_grader.grading.scores",
    "grade_logs": "sandbox_grader.reporting.grade_logs",
    "read_report": "sandbox_grader.reporting.grade_logs",
    "read_trajectory": "sandbox_mcp.engine.trajectory",
}

__all__ = (
    "Comparison", "GraderError", "Metric", "Mode", "Report", "Scores", "Subject", "Trajectory", "TrajectoryError",
    "Verdict", "grade", "grade_logs", "read_report", "read_trajectory",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)
