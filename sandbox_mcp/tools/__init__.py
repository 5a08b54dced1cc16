"""What a tool is, and how a call of one is checked and run."""

from sandbox_mcp.tools.calling import (
    Bound,
    Fault,
    Outcome,
    PresentedTool,
    attempt,
    bind,
    call,
    fits,
    present,
    run,
    speak,
)
from sandbox_mcp.tools.definition import UNSET, DuplicateError, NoDataError, Parameter, Tool, ToolFault, object_schema
from sandbox_mcp.tools.races import Plan, plan

__all__ = (
    "UNSET", "Bound", "DuplicateError", "Fault", "NoDataError", "Outcome", "Parameter", "Plan", "PresentedTool", "Tool",
    "ToolFault", "attempt", "bind", "call", "fits", "object_schema", "plan",
    "present", "run", "speak",
)  # fmt: skip
