"""A stateful, deterministic world of tools for testing agents, served over the Model Context Protocol.

``from sandbox_mcp import Suite, evaluate, grade`` is the way in from Python; docs/python.md tells it, and
``from sandbox_mcp import Table, World`` is for declaring worlds, see docs/worlds.md. Importing this package loads
nothing heavy: the names below are resolved when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandbox_clients.base import Agent
    from sandbox_grader.metric import Metric
    from sandbox_grader.report import Report

    from sandbox_mcp.run.by_hand import PlayableSuite as Suite
    from sandbox_mcp.run.evaluate import evaluate, grade
    from sandbox_mcp.tools.declaring import World
    from sandbox_mcp.tools.definition import UNSET
    from sandbox_mcp.world.faults import DuplicateError, NoDataError, ToolFault
    from sandbox_mcp.world.tables import Id, Moment, Secret, Table, Text, column, key
    from sandbox_mcp.world.tx import Tx

__version__ = "0.1.0"

_HOMES = {
    "Agent": "sandbox_clients.base:Agent",
    "DuplicateError": "sandbox_mcp.world.faults:DuplicateError",
    "Id": "sandbox_mcp.world.tables:Id",
    "Metric": "sandbox_grader.metric:Metric",
    "Moment": "sandbox_mcp.world.tables:Moment",
    "NoDataError": "sandbox_mcp.world.faults:NoDataError",
    "Report": "sandbox_grader.report:Report",
    "Secret": "sandbox_mcp.world.tables:Secret",
    "Suite": "sandbox_mcp.run.by_hand:PlayableSuite",
    "Table": "sandbox_mcp.world.tables:Table",
    "Text": "sandbox_mcp.world.tables:Text",
    "ToolFault": "sandbox_mcp.world.faults:ToolFault",
    "Tx": "sandbox_mcp.world.tx:Tx",
    "UNSET": "sandbox_mcp.tools.definition:UNSET",
    "World": "sandbox_mcp.tools.declaring:World",
    "column": "sandbox_mcp.world.tables:column",
    "evaluate": "sandbox_mcp.run.evaluate:evaluate",
    "grade": "sandbox_mcp.run.evaluate:grade",
    "key": "sandbox_mcp.world.tables:key",
}

__all__ = (
    "UNSET", "Agent", "DuplicateError", "Id", "Metric", "Moment", "NoDataError", "Report", "Secret", "Suite", "Table",
    "Text", "ToolFault", "Tx", "World", "__version__", "column", "evaluate", "grade", "key",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
