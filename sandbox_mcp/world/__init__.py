"""The stateful world under the tools: tables, snapshots, transactions, virtual clock, seeded ids. No MCP, no I/O."""

from sandbox_mcp.world.clock import Clock, IdStream, to_local, to_timestamp, zone_info
from sandbox_mcp.world.schema import Column, TableSchema
from sandbox_mcp.world.state import Cell, Change, Row, Snapshot, Table, fold, freeze, snapshot_of
from sandbox_mcp.world.transaction import Access, Transaction
from sandbox_mcp.world.world import World

__all__ = (
    "Access", "Cell", "Change", "Clock", "Column", "IdStream", "Row", "Snapshot", "Table", "TableSchema",
    "Transaction", "World", "fold", "freeze", "snapshot_of", "to_local", "to_timestamp", "zone_info",
)  # fmt: skip
