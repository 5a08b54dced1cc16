"""What ToolTalk counts in one session or many, and the ratios of these counts.

Policy: sums of counts give the micro averages, so a count is kept wherever a ratio is reported.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

RATIOS = ("precision", "recall", "action_precision", "incorrect_action_rate", "soft_success")
"""The ratios of one session, in the order of reports."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many calls were predicted and wanted, how many matched, and the same for actions.

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
