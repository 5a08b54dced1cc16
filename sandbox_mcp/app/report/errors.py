"""What can go wrong when a report is made or a folder is shown."""

from sandbox_mcp.engine.errors import SandboxError


class ReportError(SandboxError):
    """What was asked for cannot be shown."""
