"""``python -m sandbox_mcp``."""

from sandbox_mcp.app.cli import main

if __name__ == "__main__":  # worker processes import this module again
    main()
