"""Faults of a run before it starts."""

from sandbox_mcp.engine.errors import SandboxError


class RunError(SandboxError):
    """A run that cannot be started as asked; the message says what to change."""
