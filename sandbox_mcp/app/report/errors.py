"""Errors of making a report or showing a folder."""

from sandbox_mcp.engine.errors import SandboxError


class ReportError(SandboxError):
    """A report or a folder cannot be shown."""
