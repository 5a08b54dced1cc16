"""The phone as a world: its tables, where its tools are declared, what goes off by itself, and signing in."""

from sandbox_mcp.engine.tools import Sources, World
from sandbox_mcp.engine.tools.hints import Hints
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.phone.tables import TABLES, PhoneAccount, Timer

DOMAINS = ("account", "contact", "conversion", "messaging", "reminder", "search", "setting", "time", "timer")


def _hints() -> Hints:
    from sandbox_mcp.engine.worlds.phone.hints import hints  # reads the tools, which read this module

    return hints()


def _sources() -> Sources:
    from sandbox_mcp.engine.worlds.phone.knowledge import Knowledge, tape  # costs, and is seldom asked for

    return Sources(Knowledge, tape.record, tape.replay)


phone = World(
    "phone",
    tables=TABLES,
    instructions="You are the assistant on somebody's phone and act through the tools you are given.",
    user="You play a person who owns a phone and writes to the assistant on it.",
    place="on the phone",
    sources=_sources,
    hints=_hints,
    modules=[f"sandbox_mcp.engine.worlds.phone.tools.{domain}" for domain in DOMAINS],
)


@phone.event(Timer, at="due_timestamp", updates=[])
def timer(_: Tx, due: Timer) -> str:
    """Say that a timer has gone off. It stays in its table, because what has happened is part of the state."""
    return f"The timer {due.label!r} has gone off."


@phone.gate("sign_in", opened_by="sign_in")
def signed_in(tx: Tx) -> bool:
    """nobody is signed in"""  # noqa: D403, D415 - the beginning of a sentence that the agent is told
    return any(account.signed_in for account in tx.all(PhoneAccount))
