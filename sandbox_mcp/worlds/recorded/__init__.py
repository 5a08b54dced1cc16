"""Recorded worlds: the tools of a real MCP server, answered from a tape of what that server answered once."""

from sandbox_mcp.worlds.recorded.tape import FORMAT, RecordedCall, Tape, TapeError, TapeTool, read_tape
from sandbox_mcp.worlds.recorded.world import NotRecordedError, RecordedError, world_on

__all__ = (
    "FORMAT",
    "NotRecordedError",
    "RecordedCall",
    "RecordedError",
    "Tape",
    "TapeError",
    "TapeTool",
    "read_tape",
    "world_on",
)
