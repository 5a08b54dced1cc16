"""A server of lamps as people write them: state in the process, and no word on which tools only look."""

from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("lamps", instructions="Lamps of one flat.")
LIT = {"kitchen": False, "hall": True}
BURNT = {"cellar"}


@server.tool()
def get_lamp(name: str) -> dict[str, Any]:
    """Tell whether a lamp is on."""
    if name not in LIT:
        raise ToolError(f"there is no lamp {name!r}")
    return {"name": name, "lit": LIT[name]}


@server.tool()
def list_lamps() -> list[dict[str, Any]]:
    """List all lamps."""
    return [{"name": name, "lit": lit} for name, lit in LIT.items()]


@server.tool()
def set_lamp(name: str, lit: bool) -> str:
    """Switch a lamp on or off."""
    if name in BURNT:
        raise ToolError("the bulb is burnt out")
    LIT[name] = lit
    return f"{name} is {'on' if lit else 'off'}"


@server.tool()
def reset() -> str:
    """Put all lamps as they were in the beginning."""
    LIT.clear()
    LIT.update(kitchen=False, hall=True)
    return "done"


if __name__ == "__main__":
    server.run()
