"""Reading what an agent's message does: asks, asks leave, offers, promises, delivers, gives up.

What reads is loaded when the first message is read: its patterns take longer to compile than the rest of a server.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sandbox_mcp.play.users.acts.kinds import Act, ActReading, Wish

if TYPE_CHECKING:
    from sandbox_mcp.play.users.acts.deeds import wish_of
    from sandbox_mcp.play.users.acts.plain import typed_plainly
    from sandbox_mcp.play.users.acts.reading import read_acts
    from sandbox_mcp.play.users.acts.said import hears, mentions, offhand, proposes, said_already

__all__ = (
    "Act", "ActReading", "Wish", "hears", "mentions", "offhand", "proposes", "read_acts", "said_already",
    "typed_plainly", "wish_of",
)  # fmt: skip
_HOMES = {
    "hears": "said", "mentions": "said", "offhand": "said", "proposes": "said", "read_acts": "reading", "said_already": "said", "typed_plainly": "plain",
    "wish_of": "deeds",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
