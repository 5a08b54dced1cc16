"""ToolSandbox: its names for things, its tables, and the folders in which it keeps results."""
