"""Importers of logs that somebody else's harness wrote, by format name. Each lives in one module and loads on use."""

from importlib import import_module
from types import MappingProxyType

from grader.errors import GraderError
from grader.importers.base import Imported, Importer, Loss

IMPORTERS = MappingProxyType(
    {
        "mtu": "grader.importers.mtu",
        "tooltalk": "grader.importers.tooltalk",
        "toolscan": "grader.importers.toolscan",
        "tau-bench": "grader.importers.tau_bench",
        "tau2": "grader.importers.tau2",
        "openai-chat": "grader.importers.openai_chat",
        "openai-responses": "grader.importers.openai_responses",
        "anthropic": "grader.importers.anthropic",
        "claude-code": "grader.importers.claude_code",
        "inspect": "grader.importers.inspect_log",
        "atif": "grader.importers.atif",
        "otel": "grader.importers.otel",
        "mcp-wire": "grader.importers.mcp_wire",
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
