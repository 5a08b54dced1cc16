"""Reading what an agent's message does: asks, asks leave, offers, promises, delivers, gives up."""

from sandbox_mcp.users.acts.deeds import wish_of
from sandbox_mcp.users.acts.kinds import Act, ActReading, Wish
from sandbox_mcp.users.acts.plain import typed_plainly
from sandbox_mcp.users.acts.reading import read_acts

__all__ = ("Act", "ActReading", "Wish", "read_acts", "typed_plainly", "wish_of")
