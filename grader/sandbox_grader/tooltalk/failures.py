"""Why the turns of a failed session failed: a premature call, faulty planning, or an incorrect invocation.

Policy: only sessions without success have failures. Turns of the session and of the reference are held against each
other where they correspond; where the user spoke more or less often than the reference has turns, the whole session
counts as one turn.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

CLASSES = ("premature", "faulty_planning", "incorrect_invocation")
"""ToolTalk, section 4.2: on a turn that asks for no call; tools omitted or wrong; the right tool called wrongly."""


@dataclass(frozen=True, slots=True)
class TurnLeftovers:
    """What is left over of one turn, as names of tools.

    ``unmatched`` predicted calls, the ``incorrect`` actions among them, and ``missing`` reference calls; ``asks``
    tells whether the reference has calls there at all.
    """

    asks: bool
    unmatched: tuple[str, ...] = ()
    incorrect: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def as_coded(turns: Sequence[TurnLeftovers]) -> Mapping[str, int]:
    """The counts of the authors' code: premature counts calls, the two others count turns.

    A turn whose unmatched calls and missing ones name the same tools, none called more often than it is missing, is
    an incorrect invocation; any other turn with something left over is faulty planning, harmless queries included.

    Source: ToolTalk, ``calculate_error_types`` of the authors' code.
    """
    found: Counter[str] = Counter()
    for turn in turns:
        if not turn.asks:
            found["premature"] += len(turn.incorrect)
        elif turn.unmatched or turn.missing:
            missing, tried = Counter(turn.missing), Counter(turn.unmatched)
            badly_planned = missing.keys() != tried.keys() or any(missing[name] < tried[name] for name in missing)
            found["faulty_planning" if badly_planned else "incorrect_invocation"] += 1
    return {name: found[name] for name in CLASSES}


def as_written(turn: TurnLeftovers) -> str | None:
    """The one class of a turn, or None for one that did not fail.

    A turn fails by an incorrect action or a missing call. Without anything asked for it is premature; where a missing
    tool was called as often as needed, though wrongly, and no action of another tool was done, an incorrect
    invocation; else faulty planning. Queries that were not asked for are harmless.

    Source: ToolTalk, section 4.2 and table 2.
    """
    if not (turn.incorrect or turn.missing):
        return None
    if not turn.asks:
        return "premature"
    missing, tried = Counter(turn.missing), Counter(turn.unmatched)
    omitted = any(tried[name] < count for name, count in missing.items())
    return "faulty_planning" if omitted or set(turn.incorrect) - set(missing) else "incorrect_invocation"
