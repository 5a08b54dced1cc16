"""Importers of logs that somebody else's harness wrote, by format name. Each lives in one module and loads on use."""

from importlib import import_module
from types import MappingProxyType

from sandbox_grader.errors import GraderError
from sandbox_grader.importers.base import Imported, Importer, Loss

IMPORTERS = MappingProxyType(
    {
        "mtu": "sandbox_grader.importers.mtu",
        "tooltalk": "sandbox_grader.importers.tooltalk",
        "toolscan": "sandbox_grader.importers.toolscan",
        "tau-bench": "sandbox_grader.importers.tau_bench",
        "tau2": "sandbox_grader.importers.tau2",
        "openai-chat": "sandbox_grader.importers.openai_chat",
        "openai-responses": "sandbox_grader.importers.openai_responses",
        "anthropic": "sandbox_grader.importers.anthropic",
        "claude-code": "sandbox_grader.importers.claude_code",
        "inspect": "sandbox_grader.importers.inspect_log",
        "atif": "sandbox_grader.importers.atif",
        "otel": "sandbox_grader.importers.otel",
        "mcp-wire": "sandbox_grader.importers.mcp_wire",
    }
)
"""Format name to the module whose ``read`` imports it."""

__all__ = ("IMPORTERS", "Imported", "Importer", "Loss", "importer")


def importer(name: str) -> Importer:
    """The importer of a format.

    Raises:
        GraderError: there is none of that name.
    """
    home = IMPORTERS.get(name)
    if home is None:
        raise GraderError(f"unknown log format {name!r}; known: {', '.join(sorted(IMPORTERS))}")
    return import_module(home).read
