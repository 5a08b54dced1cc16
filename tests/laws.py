"""How many examples a law is tried with: few where all tests run, many in ``make laws``."""

import os

ASKED = int(os.environ.get("SANDBOX_MCP_EXAMPLES") or 0)


def at_least(few: int) -> int:
    """So many examples, or as many as ``SANDBOX_MCP_EXAMPLES`` asks for."""
    return max(few, ASKED)
