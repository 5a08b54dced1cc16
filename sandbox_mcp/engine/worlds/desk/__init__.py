"""The desk: the back office of a firm that sells, delivers and mends, with more rows than anybody reads at once."""

from sandbox_mcp.engine.worlds.desk.world import desk

__all__ = ["desk"]
