"""Pages for people: a report file to mail, a viewer for big runs, and the same page inside an MCP host."""
