"""What the simulated user can do in every world: confirm, and leave. The session carries both out."""

from sandbox_mcp.tools.definition import Tool, user_action
from sandbox_mcp.world import Transaction

CONFIRM, END = "confirm_action", "end_conversation"


@user_action("user")
def end_conversation(tx: Transaction) -> None:
    """End the conversation, because everything wanted is done or nothing more can be had.

    Raises:
        ValueError: the conversation is already over.
    """


@user_action("user")
def confirm_action(tx: Transaction, code: str) -> None:  # noqa: D417 - the transaction is never told
    """Confirm something that the assistant wants to do and asked about, naming a code.

    Args:
        code: The code that the assistant named.

    Raises:
        ValueError: nothing with that code waits for confirmation.
    """


ENGINE_TOOLS: tuple[Tool, ...] = (end_conversation, confirm_action)
