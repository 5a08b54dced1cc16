"""Acts of the simulated user in every world: confirm, and leave. The session carries both out."""

from collections.abc import Callable
from typing import Any

from sandbox_mcp.engine.tools.declared import DeclaredTool
from sandbox_mcp.engine.tools.definition import Tool
from sandbox_mcp.engine.world.effects import Effects
from sandbox_mcp.engine.world.tx import Tx

CONFIRM, END = "confirm_action", "end_conversation"


def _in_every_world(function: Callable[..., Any]) -> Tool:
    return DeclaredTool(function, function.__name__, "user", True, "user", effects=Effects()).tool("of any name", ())


@_in_every_world
def end_conversation(tx: Tx) -> None:
    """End the conversation, because everything wanted is done or nothing more can be had.

    Raises:
        ValueError: the conversation is already over.
    """


@_in_every_world
def confirm_action(tx: Tx, code: str) -> None:  # noqa: D417 - the transaction is never told
    """Confirm something that the assistant wants to do and asked about, naming a code.

    Args:
        code: The code that the assistant named.

    Raises:
        ValueError: nothing with that code waits for confirmation.
    """


ENGINE_TOOLS: tuple[Tool, ...] = (end_conversation, confirm_action)
