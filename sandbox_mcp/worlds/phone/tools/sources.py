"""Where tools that look things up get their answers: the world's own sources, or the offline ones."""

from typing import cast

from sandbox_mcp.world import Transaction
from sandbox_mcp.worlds.phone.knowledge import Knowledge
from sandbox_mcp.worlds.phone.tools.setting import setting

_OFFLINE = Knowledge()


def knowledge(tx: Transaction) -> Knowledge:
    """The sources of this world."""
    return tx.knowledge if isinstance(tx.knowledge, Knowledge) else _OFFLINE


def need_wifi(tx: Transaction) -> None:
    """Refuse what needs the network while wifi is off.

    Raises:
        ConnectionError: wifi is off.
    """
    if not setting(tx, "wifi"):
        raise ConnectionError("wifi is off")


def here(tx: Transaction) -> tuple[float, float]:
    """Where the phone is, whether or not it may tell."""
    return float(cast(float, setting(tx, "latitude"))), float(cast(float, setting(tx, "longitude")))
