"""The trajectory log: event models, writer and reader, shared by sessions, the grader and every importer."""

from sandbox_mcp.engine.trajectory.errors import TrajectoryError
from sandbox_mcp.engine.trajectory.events import (
    INFRASTRUCTURE,
    SCHEMA,
    EndReason,
    Event,
    Message,
    ReferenceCall,
    ReferenceTurn,
    Role,
    SessionEnded,
    SessionStarted,
    ToolCall,
    ToolSpec,
    UserChannel,
)  # fmt: skip
from sandbox_mcp.engine.trajectory.log import (
    LogWriter,
    MemoryLog,
    Sink,
    Trajectory,
    assemble,
    mend_log,
    parse_trajectory,
    read_trajectory,
    to_line,
)  # fmt: skip
from sandbox_mcp.engine.world.faults import CallError, ErrorKind

__all__ = (
    "INFRASTRUCTURE", "SCHEMA", "CallError", "EndReason", "ErrorKind", "Event", "LogWriter", "MemoryLog", "Message",
    "ReferenceCall", "ReferenceTurn", "Role", "SessionEnded", "SessionStarted", "Sink", "ToolCall", "ToolSpec",
    "Trajectory", "TrajectoryError", "UserChannel", "assemble", "mend_log", "parse_trajectory",
    "read_trajectory", "to_line",
)  # fmt: skip
