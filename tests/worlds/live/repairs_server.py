"""A workshop with random ids and moments, in a file of its folder, and a register that no list shows."""

import json
import sys
import time
import uuid
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("repairs")
FILE = Path(sys.argv[1]) / "repairs.json"


def load() -> list[dict[str, Any]]:
    return json.loads(FILE.read_text()) if FILE.exists() else []


def save(rows: list[dict[str, Any]]) -> None:
    FILE.write_text(json.dumps(rows))


@server.tool()
def book(item: str) -> dict[str, Any]:
    """Book something to be mended."""
    row = {"id": str(uuid.uuid4()), "item": item, "status": "waiting", "booked_at": time.time()}
    save([*load(), row])
    return row


@server.tool()
def call_off(id: str) -> dict[str, Any]:  # noqa: A002
    """Call off a repair that waits."""
    rows = load()
    found = next((row for row in rows if row["id"] == id), None)
    if found is None:
        raise ToolError(f"no repair has the id {id!r} in {FILE.parent}")
    found["status"] = "called off"
    save(rows)
    return found


@server.tool()
def repairs() -> list[dict[str, Any]]:
    """All repairs."""
    return load()


if __name__ == "__main__":
    server.run()
