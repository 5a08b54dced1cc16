"""A stateful, deterministic world of tools for testing agents, served over the Model Context Protocol.

``from sandbox_mcp import Suite, evaluate, grade`` is the way in from Python; docs/python.md tells it, and
``from sandbox_mcp import Table, World`` is for declaring worlds, see docs/worlds.md. Importing this package loads
nothing heavy: the names below are resolved when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandbox_clients.base import Agent
    from sandbox_grader.grading.metric import Metric
    from sandbox_grader.reporting.report import Report

    from sandbox_mcp.app.run.by_hand import PlayableSuite as Suite
    from sandbox_mcp.app.run.evaluate import evaluate, grade
    from sandbox_mcp.engine.tools.declaring import World
    from sandbox_mcp.engine.tools.definition import UNSET
    from sandbox_mcp.engine.world.faults import DuplicateError, NoDataError, ToolFault
    from sandbox_mcp.engine.world.tables import Id, Moment, Secret, Table, Text, column, key
    from sandbox_mcp.engine.world.tx import Tx
    from sandbox_mcp.play.server.tape_mock import mock_server

__version__ = "0.1.0"

_HOMES = {
    "Agent": "sandbox_clients.base:Agent",
    "DuplicateError": "sandbox_mcp.engine.world.faults:DuplicateError",
    "Id": "sandbox_mcp.engine.world.tables:Id",
    "Metric": "sandbox_grader.grading.metric:Metric",
    "Moment": "sandbox_mcp.engine.world.tables:Moment",
    "NoDataError": "sandbox_mcp.engine.world.faults:NoDataError",
    "Report": "sandbox_grader.reporting.report:Report",
    "Secret": "sandbox_mcp.engine.world.tables:Secret",
    "Suite": "sandbox_mcp.app.run.by_hand:PlayableSuite",
    "Table": "sandbox_mcp.engine.world.tables:Table",
    "Text": "sandbox_mcp.engine.world.tables:Text",
    "ToolFault": "sandbox_mcp.engine.world.faults:ToolFault",
    "Tx": "sandbox_mcp.engine.world.tx:Tx",
    "UNSET": "sandbox_mcp.engine.tools.definition:UNSET",
    "World": "sandbox_mcp.engine.tools.declaring:World",
    "column": "sandbox_mcp.engine.world.tables:column",
    "evaluate": "sandbox_mcp.app.run.evaluate:evaluate",
    "grade": "sandbox_mcp.app.run.evaluate:grade",
    "key": "sandbox_mcp.engine.world.tables:key",
    "mock_server": "sandbox_mcp.play.server.tape_mock:mock_server",
}

__all__ = (
    "UNSET", "Agent", "DuplicateError", "Id", "Metric", "Moment", "NoDataError", "Report", "Secret", "Suite", "Table",
    "Text", "ToolFault", "Tx", "World", "__version__", "column", "evaluate", "grade", "key",
    "mock_server",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
