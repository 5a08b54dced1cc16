"""The desk as a world: its tables, where its tools are declared, and what everybody is told."""

from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.tools.hints import Hints
from sandbox_mcp.engine.world import Clock, Snapshot, to_local
from sandbox_mcp.engine.worlds.desk.tables import TABLES

GROUPS = ("papers", "credit", "crews", "mixing", "stock", "paying", "duties", "panels", "cards", "parcels", "pallets")


def situation(state: Snapshot, clock: Clock, where: str) -> str:  # noqa: ARG001  (a world's signature)
    """When a session begins."""
    return f"It is {to_local(clock.now, clock.zone):%A, %Y-%m-%d %H:%M:%S}."


def _hints() -> Hints:
    from sandbox_mcp.engine.worlds.desk.hints import hints  # only those who try scenarios ask for them

    return hints()


desk = World(
    "desk",
    tables=TABLES,
    instructions=(
        "You are the assistant at the desk of a firm that sells, delivers and mends. You work for whoever writes to "
        "you, within the rules of the firm, which its handbook, mails and notes tell."
    ),
    policy=(
        "Amounts are whole cents of euros and days are written like 2027-03-08. Lists come in pages of 20, and the "
        "first has the number 1. Rules may stand in the handbook, in the team's mails and in notes on records; look "
        "before you act, and change nothing that nobody asked for."
    ),
    user="You work at a firm that sells, delivers and mends, and talk to the assistant at your desk.",
    place="at the desk",
    situation=situation,
    hints=_hints,
    modules=[f"sandbox_mcp.engine.worlds.desk.tools.{group}" for group in GROUPS],
)
