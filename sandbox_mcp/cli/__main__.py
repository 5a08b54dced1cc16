"""``python -m sandbox_mcp.cli``."""

from sandbox_mcp.cli import main

if __name__ == "__main__":  # worker processes import this module again
    main()
