"""Logs that are alike: sessions that differ in nothing but which trial they were, and when.

Policy: what our families of metrics say of a session depends on everything in its log but the session's name, the trial
and the times by a real clock. Of sessions that differ in these alone one is graded, and the others are told the same.
A log that is not written as ours are is like no other.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from sandbox_grader.scores import seconds_between

_HEAD = re.compile(rb'\{"event":"session","schema":\d+,"session":("(?:[^"\\]|\\.)*")')
_TRIAL = re.compile(rb',"seed":-?\d+,"trial":(\d+),"user_channel":"')
"""Before these stand strings and lists of strings alone, and inside a string its quotes would be escaped."""
_WALL = re.compile(rb',"wall":(\{[^{}]*\})\}\n')
"""At the end of a line, which is that of an event: an object inside one would be followed by another bracket."""
_END = b'{"event":"end",'


@dataclass(frozen=True, slots=True)
class LogOutline:
    """Which session a log is of, with the real times at its ends, and a digest of everything else."""

    session: str
    trial: int
    seconds: float | None
    rest: bytes

    @classmethod
    def of(cls, lines: bytes) -> "LogOutline | None":
        """The outline of a log; None where it is not written as ours are, or not whole."""
        head = _HEAD.match(lines)
        trial = _TRIAL.search(lines, head.end()) if head else None
        walls = _WALL.findall(lines)
        ended = lines.endswith(b"}\n") and lines.startswith(_END, lines.rfind(b"\n", 0, -1) + 1)
        if head is None or trial is None or not ended or len(walls) != lines.count(b"\n"):
            return None
        try:
            begin, end = (_object(walls[place]) for place in (0, -1))
            session = str(json.loads(head[1]))
        except ValueError:
            return None
        before = lines[head.end() : trial.start(1)]
        rest = blake2b(before, digest_size=16)
        rest.update(b"\n" + _WALL.sub(b"}\n", lines[trial.end(1) :]))
        return cls(session, int(trial[1]), seconds_between(begin, end), rest.digest())


def _object(text: bytes) -> Mapping[str, Any]:
    found: Any = json.loads(text)
    return found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType]
