"""Faults of a log."""

from sandbox_mcp.engine.errors import FileError


class TrajectoryError(FileError):
    """A log that cannot be read."""
