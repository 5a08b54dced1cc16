"""Reading what an agent's message does: asks, asks leave, offers, promises, delivers, gives up.

What reads is loaded when the first message is read: its patterns take longer to compile than the rest of a server.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sandbox_mcp.users.acts.kinds import Act, ActReading, Wish

if TYPE_CHECKING:
    from sandbox_mcp.users.acts.deeds import wish_of
    from sandbox_mcp.users.acts.plain import typed_plainly
    from sandbox_mcp.users.acts.reading import read_acts

__all__ = ("Act", "ActReading", "Wish", "read_acts", "typed_plainly", "wish_of")
_HOMES = {"read_acts": "reading", "typed_plainly": "plain", "wish_of": "deeds"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
