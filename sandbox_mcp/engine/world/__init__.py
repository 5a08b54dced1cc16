"""The stateful world under the tools: tables, snapshots, transactions, virtual clock, seeded ids. No MCP, no I/O."""

from sandbox_mcp.engine.world.clock import Clock, IdStream, to_local, to_timestamp, zone_info
from sandbox_mcp.engine.world.running import Running
from sandbox_mcp.engine.world.schema import Column, TableSchema
from sandbox_mcp.engine.world.state import Cell, Change, Row, Rows, Snapshot, fold, freeze, snapshot_of
from sandbox_mcp.engine.world.transaction import Access, Transaction

__all__ = (
    "Access", "Cell", "Change", "Clock", "Column", "IdStream", "Row", "Rows", "Running", "Snapshot", "TableSchema",
    "Transaction", "fold", "freeze", "snapshot_of", "to_local", "to_timestamp", "zone_info",
)  # fmt: skip
