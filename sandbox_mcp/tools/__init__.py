"""The tools of the world, one module per domain, and how a call is checked and run."""

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
from sandbox_mcp.tools.registry import agent_tools, all_tools

__all__ = (
    "UNSET", "Bound", "DuplicateError", "Fault", "NoDataError", "Outcome", "Parameter", "Plan", "PresentedTool", "Tool",
    "ToolFault", "agent_tools", "all_tools", "attempt", "bind", "call", "fits", "object_schema", "plan",
    "present", "run", "speak",
)  # fmt: skip
