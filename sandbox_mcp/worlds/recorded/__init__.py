"""Recorded worlds: the tools of a real MCP server, answered from a tape of what that server answered once."""

from sandbox_mcp.worlds.recorded.tape import (
    FORMAT,
    REDACTED,
    Tape,
    TapeCall,
    TapeError,
    TapeTool,
    read_tape,
    without,
)
from sandbox_mcp.worlds.recorded.world import NotRecordedError, RecordedError, world_on

__all__ = (
    "FORMAT",
    "REDACTED",
    "NotRecordedError",
    "RecordedError",
    "Tape",
    "TapeCall",
    "TapeError",
    "TapeTool",
    "read_tape",
    "without",
    "world_on",
)
