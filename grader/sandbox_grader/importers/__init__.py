"""Importers of logs that other harnesses wrote, by format name. Each lives in one module and loads on use.

Another package adds a format by an entry point of the group ``sandbox_mcp.importers`` that names its ``read``.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sandbox_grader.errors import GraderError
from sandbox_grader.importers.base import Imported, Importer, Loss
from sandbox_grader.plugins import found_outside, loaded, names_taken
from sandbox_mcp.engine.own_code import others_code

NAMED = ("converse", "vercel", "gemini", "gemini-cli", "langchain", "agentdojo", "pydantic-ai", "opencode",
    "openhands", "swe-agent", "pi", "copilot",
)  # fmt: skip
MAPPED = "sandbox_grader.importers.mapped"
"""The formats that are said as data, and the module that reads them."""
IMPORTERS = MappingProxyType(
    {
        "mtu": "sandbox_grader.papers.mtu_bench.importer",
        "tooltalk": "sandbox_grader.papers.tooltalk.importer",
        "toolscan": "sandbox_grader.papers.toolscan.importer",
        "toolsandbox-results": "sandbox_grader.papers.toolsandbox.importer",
        "tau-bench": "sandbox_grader.importers.tau_bench",
        "tau2": "sandbox_grader.importers.tau2",
        "openai-chat": "sandbox_grader.importers.openai_chat",
        "openai-responses": "sandbox_grader.importers.openai_responses",
        "anthropic": "sandbox_grader.importers.anthropic",
        "claude-code": "sandbox_grader.importers.claude_code",
        "codex": "sandbox_grader.importers.codex",
        "inspect": "sandbox_grader.importers.inspect_log",
        "atif": "sandbox_grader.importers.atif",
        "otel": "sandbox_grader.importers.otel",
        "mcp-wire": "sandbox_grader.importers.mcp_wire",
        "verifiers": "sandbox_grader.importers.openai_chat",
        "nemo-gym": "sandbox_grader.importers.openai_responses",
        **dict.fromkeys(NAMED, MAPPED),
        "auto": "sandbox_grader.importers.recognising",
    }
)
"""Format name to the module whose ``read`` imports it."""

GROUP = "sandbox_mcp.importers"
"""The entry points under which other packages name theirs."""

__all__ = ("IMPORTERS", "Imported", "Importer", "Loss", "files_of", "importer")


def importer(name: str) -> Importer:
    """The importer of a format.

    Raises:
        GraderError: no importer has that name, or another package's importer of that name cannot be used.
    """
    home = IMPORTERS.get(name)
    if home == MAPPED:
        from sandbox_grader.importers import mapped

        return partial(mapped.read, mapping=mapped.formats()[name], format_=name)
    if home is not None:
        return import_module(home).read
    outside = found_outside(GROUP, IMPORTERS)
    if name in (taken := names_taken(GROUP, IMPORTERS)):
        raise GraderError(taken[name])
    if name not in outside:
        known = ", ".join(sorted((*IMPORTERS, *outside)))
        raise GraderError(f"unknown log format {name!r}; known: {known}; 'any' with --mapping FILE reads other JSON")
    read: Any = loaded(outside[name])
    whose = f"importer {name!r} of {outside[name].value}"
    if not callable(read):
        raise GraderError(f"{whose} is {type(read).__name__}; expected a function that reads files")

    def reading(paths: Sequence[Path]) -> Iterator[Imported]:
        with others_code(f"{whose} failed", GraderError):
            sessions: Any = read(paths)
            for session in sessions:
                if not isinstance(session, Imported):
                    raise GraderError(f"{whose} gave {type(session).__name__}; expected sessions of type Imported")
                yield session

    return reading


def files_of(name: str, paths: Sequence[Path]) -> list[Path]:
    """The paths, with the folders of a format that reads folders as the files in them, so that each can be left out."""
    inside = getattr(import_module(IMPORTERS[name]), "files", None) if name in IMPORTERS else None
    return [file for path in paths for file in (inside(path) if inside else (path,))]
