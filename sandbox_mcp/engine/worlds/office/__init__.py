"""The office: accounts to log in to, and what people keep in them. The world that ToolTalk describes, declared anew."""

from sandbox_mcp.engine.worlds.office.world import office

__all__ = ("office",)
