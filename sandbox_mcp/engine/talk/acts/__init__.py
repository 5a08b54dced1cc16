"""Acts: what an agent's message does to the user who hears it. A trained model decides, rules do not.

>>> from sandbox_mcp.engine.talk.acts import read_acts
>>> read_acts("You're signed out. Username and password?", "What day is the plumber coming?").act
<Act.ASKS: 'asks'>
>>> read_acts("I've texted Wren.", "Text Wren that I'll be late.").act
<Act.DELIVERS: 'delivers'>
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sandbox_mcp.engine.talk.acts.kinds import Act, ActReading

if TYPE_CHECKING:
    from sandbox_mcp.engine.talk.acts.reading import read_acts

__all__ = ("Act", "ActReading", "read_acts")


def __getattr__(name: str) -> Any:
    if name != "read_acts":  # what reads is loaded when the first message is read
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.reading").read_acts
