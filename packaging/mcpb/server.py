"""The bundle's entry point: the lobby over stdio, from the source beside this file."""

import sys

from sandbox_mcp.app.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["serve"]
    main()
