"""ToolSandbox's own scenarios, from a user's installed checkout to a suite that our sessions play and we judge."""

from sandbox_mcp.authoring.toolsandbox.installed import ENVIRONMENT, dump
from sandbox_mcp.authoring.toolsandbox.writing import write_suite

__all__ = ("ENVIRONMENT", "dump", "write_suite")
