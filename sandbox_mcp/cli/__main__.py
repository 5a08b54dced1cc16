"""``python -m sandbox_mcp.cli``: the same as the ``sandbox-mcp`` command."""

from sandbox_mcp.cli import main

main()
