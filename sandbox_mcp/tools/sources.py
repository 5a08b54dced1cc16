"""Where a world's tools look things up, when it is not in what the world knows by itself: live, or on a recording.

Policy: the world says of what class such knowledge is, so that what is meant for one world never reaches another's
tools, and how its answers are recorded, because only the world knows which questions are the same.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Sources:
    """What may take the place of a world's own knowledge.

    ``kind`` is its class. ``record`` gives the same knowledge, of which every answer is appended to a file, and
    ``replay`` knowledge that answers from such a file alone; both raise a ``ToolFault`` where the file cannot be used.
    """

    kind: type[Any]
    record: Callable[[Any, Path], object] | None = None
    replay: Callable[[Path], object] | None = None
