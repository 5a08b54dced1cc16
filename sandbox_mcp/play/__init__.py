"""One conversation: models, users, sessions, and the MCP server that offers them to agents."""
