"""Checks of MCP servers: what agents stumble over in a list of tools, and how often they choose the right one."""
