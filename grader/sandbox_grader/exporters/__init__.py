"""Exporters of sessions to formats that others read, by format name. Each lives in one module and loads on use."""

from collections.abc import Callable
from importlib import import_module
from types import MappingProxyType
from typing import Any

from sandbox_grader.errors import GraderError
from sandbox_mcp.engine.trajectory import Trajectory

EXPORTERS = MappingProxyType(
    {"atif": "sandbox_grader.exporters.atif", "openai-chat": "sandbox_grader.exporters.openai_chat"}
)
"""Format name to the module whose ``write`` exports to it."""

Exporter = Callable[[Trajectory], dict[str, Any]]
"""Turns one session into one JSON document. Reference solutions and state stay out: an export may become training."""

__all__ = ("EXPORTERS", "Exporter", "exporter")


def exporter(name: str) -> Exporter:
    """The exporter to a format.

    Raises:
        GraderError: no exporter has that name.
    """
    home = EXPORTERS.get(name)
    if home is None:
        raise GraderError(f"unknown export format {name!r}; known: {', '.join(sorted(EXPORTERS))}")
    return import_module(home).write
