"""The phone: the world that ToolSandbox describes, with tools that look things up offline."""

from sandbox_mcp.engine.worlds.phone.world import phone

__all__ = ("phone",)
