"""Recorded worlds: the tools of a real MCP server, answered from a tape of what that server answered once."""

from sandbox_mcp.engine.worlds.recorded.fills import FILLED, Fill, FillQuestion, Fills, fills_beside
from sandbox_mcp.engine.worlds.recorded.tape import (
    FORMAT,
    REDACTED,
    Tape,
    TapeCall,
    TapeError,
    TapeTool,
    read_tape,
    without,
)
from sandbox_mcp.engine.worlds.recorded.world import (
    LoggedAnswer,
    NotRecordedError,
    RecordedError,
    TapeAnswerBook,
    is_live,
    live_world_on,
    value_of,
    world_on,
)

__all__ = (
    "FILLED",
    "FORMAT",
    "REDACTED",
    "Fill",
    "FillQuestion",
    "Fills",
    "LoggedAnswer",
    "NotRecordedError",
    "RecordedError",
    "Tape",
    "TapeAnswerBook",
    "TapeCall",
    "TapeError",
    "TapeTool",
    "fills_beside",
    "is_live",
    "live_world_on",
    "read_tape",
    "value_of",
    "without",
    "world_on",
)  # fmt: skip
