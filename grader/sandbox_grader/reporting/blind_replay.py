"""Scores of a blind replay: the calls of the reference's solution in one instance, made again in another.

Policy: the tape is chosen by the user's first sentence alone, so its score tells what an agent gets that reads nothing
else. ``python -m bench replay`` measures it, for built-in scenarios and in ``strict``; that of a scenario stands for
all its instances.
"""

from collections.abc import Container, Iterable, Mapping
from functools import cache
from json import loads
from pathlib import Path

from sandbox_scenarios.instances import family_of

FILE = Path(__file__).with_suffix(".json")
"""File that ``bench replay --scores`` writes."""


@cache
def replayed() -> Mapping[str, float]:
    """Blind replay's score of every built-in scenario that was measured, by the scenario's name."""
    return loads(FILE.read_text(encoding="utf-8"))["scenarios"]


def blind_replay(names: Iterable[str], own: Container[str] = ()) -> float | None:
    """Mean score of a blind replay over scenarios, each once; None unless it was measured for each of them.

    Scenarios of the caller's ``own`` were never measured, however they are called.
    """
    known = replayed()
    found = [None if (family := family_of(name)) in own else known.get(family) for name in dict.fromkeys(names)]
    measured = [score for score in found if score is not None]
    return sum(measured) / len(measured) if measured and len(measured) == len(found) else None
