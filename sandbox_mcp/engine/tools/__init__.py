"""Tools: their definition, and the checking and running of calls."""

from sandbox_mcp.engine.tools.calling import Bound, Outcome, PresentedTool, attempt, bind, call, present, run, speak
from sandbox_mcp.engine.tools.declared import GateRule, Sources
from sandbox_mcp.engine.tools.declaring import World
from sandbox_mcp.engine.tools.definition import (
    UNSET,
    DuplicateError,
    NoDataError,
    Parameter,
    Tool,
    ToolFault,
    never_run,
    object_schema,
)
from sandbox_mcp.engine.tools.races import Plan, plan
from sandbox_mcp.engine.tools.value_schemas import fits, fits_schema, misfits
from sandbox_mcp.engine.world.faults import CallError

__all__ = (
    "UNSET", "Bound", "CallError", "DuplicateError", "GateRule", "NoDataError", "Outcome", "Parameter", "Plan",
    "PresentedTool", "Sources", "Tool", "ToolFault", "World", "attempt", "bind", "call", "fits", "fits_schema",
    "misfits", "never_run", "object_schema", "plan", "present", "run", "speak",
)  # fmt: skip
