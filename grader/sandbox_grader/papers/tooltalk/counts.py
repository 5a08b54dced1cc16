"""Counts of ToolTalk in a session or in many, their ratios, and the reasons for failed turns.

Policy: sums of counts give the micro averages, so a count is kept wherever a ratio is reported. Only sessions without
success have failures. Turns of the session and of the reference are held against each other where they correspond;
where the user spoke more or less often than the reference has turns, the whole session counts as one turn.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

RATIOS = ("precision", "recall", "action_precision", "incorrect_action_rate", "soft_success")
"""The ratios of one session, in the order of reports."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of calls predicted, wanted and matched, and the same for actions.

    Source of all ratios: ToolTalk, section 3.4 (``action_precision`` and ``soft_success``: the authors' code).
    """

    predictions: int = 0
    ground_truths: int = 0
    matches: int = 0
    actions: int = 0
    valid_actions: int = 0
    bad_actions: int = 0

    @property
    def precision(self) -> float:
        """Matches / predictions. Where nothing was predicted, 0, as the code has it, but 1 if nothing was wanted."""
        if not self.predictions:
            return 0.0 if self.ground_truths else 1.0
        return self.matches / self.predictions

    @property
    def recall(self) -> float:
        """Matches / ground truths; 1 where nothing was wanted, as then nothing is missing (the code divides by 0)."""
        return self.matches / self.ground_truths if self.ground_truths else 1.0

    @property
    def action_precision(self) -> float:
        """Matched actions / predicted actions; 1 where there is no action."""
        return self.valid_actions / self.actions if self.actions else 1.0

    @property
    def incorrect_action_rate(self) -> float:
        """Incorrect actions / predicted actions, failed ones included; 0 where there is no action."""
        return self.bad_actions / self.actions if self.actions else 0.0

    @property
    def success(self) -> bool:
        """Everything wanted was done, and no action that was not wanted (equation 2)."""
        return self.recall == 1.0 and self.bad_actions == 0

    @property
    def soft_success(self) -> float:
        """Recall * (1 - incorrect action rate)."""
        return self.recall * (1.0 - self.incorrect_action_rate)


NAMES = tuple(item.name for item in fields(Counts))
"""The names of the counts."""


def total(values: Iterable[Mapping[str, Any]]) -> Counts:
    """The sum of the counts in the values of many sessions."""
    rows = list(values)
    return Counts(**{name: sum(row[name] for row in rows) for name in NAMES})


CLASSES = ("premature", "faulty_planning", "incorrect_invocation")
"""ToolTalk, section 4.2: on a turn that asks for no call; tools omitted or wrong; the right tool called wrongly."""


@dataclass(frozen=True, slots=True)
class TurnLeftovers:
    """Leftovers of one turn, as names of tools.

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
