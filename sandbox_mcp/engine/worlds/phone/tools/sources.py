"""Sources of answers for tools that look things up: the world's own, or the offline ones."""

from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.phone.knowledge import Knowledge
from sandbox_mcp.engine.worlds.phone.tables import Setting

_OFFLINE = Knowledge()


def knowledge(tx: Tx) -> Knowledge:
    """The sources of this world."""
    return tx.knowledge if isinstance(tx.knowledge, Knowledge) else _OFFLINE


def need_wifi(tx: Tx) -> None:
    """Refuse what needs the network while wifi is off.

    Raises:
        ConnectionError: wifi is off.
    """
    if not tx.one(Setting).wifi:
        raise ConnectionError("wifi is off")


def here(tx: Tx) -> tuple[float, float]:
    """Position of the phone, whether or not it may tell."""
    setting = tx.one(Setting)
    return setting.latitude, setting.longitude
