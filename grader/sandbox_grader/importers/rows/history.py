"""Reads the conversation that an MTU-Bench question shows before its turn: what was said, called and observed.

Policy: both written forms are read, ``user:/function:/observation:/assistant:`` and ``User:/Action:/Assistant:``, and a
line that begins otherwise goes on with what stands before it. A call that cannot be read is left out.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, cast

from sandbox_grader.importers.reading.react import read_object, read_react

_LABEL: Final = re.compile(
    r"^(?P<who>user|function|action(?![ \t]*input)|observation|assistant)[ \t]*:", re.IGNORECASE | re.MULTILINE
)
PastCalls = tuple[tuple[str, Mapping[str, Any]], ...]
"""Calls by tool and arguments."""


@dataclass(frozen=True, slots=True)
class PastTurn:
    """One earlier turn: the user's words, the calls that followed, what came of them as written, and the reply."""

    user: str
    calls: PastCalls = ()
    observed: str = ""
    reply: str = ""


@lru_cache(maxsize=256)
def read_history(text: str) -> tuple[PastTurn, ...]:
    """The turns of a history, in order."""
    labels = list(_LABEL.finditer(text))
    ends = [label.start() for label in labels[1:]] + [len(text)]
    turns: list[PastTurn] = []
    for label, end in zip(labels, ends, strict=False):
        who, said = label["who"].lower(), text[label.end() : end].strip().lstrip(":").strip()
        if who == "user":
            turns.append(PastTurn(said))
        elif turns and who == "action":
            turns[-1] = replace(turns[-1], calls=(*turns[-1].calls, *_calls(said)))
        elif turns and who == "observation":
            turns[-1] = replace(turns[-1], observed=said)
        elif turns and who == "assistant":
            turns[-1] = replace(turns[-1], reply="\n".join(filter(None, (turns[-1].reply, said))))
    return tuple(turns)


def _calls(written: str) -> PastCalls:
    """The calls of an action: one as ReAct writes it, or any number as an object of tools with their arguments."""
    if not written.startswith("{"):
        return tuple((call.name, call.given.arguments) for call in read_react(f"Action: {written}").calls)
    found = read_object(written)
    if not isinstance(found, dict):
        return ()
    named = cast("dict[str, Any]", found)
    return tuple(
        (name.strip(), cast("Mapping[str, Any]", value)) for name, value in named.items() if isinstance(value, dict)
    )
