"""What the simulated user can do: leave."""

from sandbox_mcp.tools.definition import Tool, user_action
from sandbox_mcp.world import Transaction


@user_action("user")
def end_conversation(tx: Transaction) -> None:
    """End the conversation, because everything wanted is done or nothing more can be had.

    Raises:
        ValueError: the conversation is already over.
    """


TOOLS: tuple[Tool, ...] = (end_conversation,)
