"""The trained reader: a linear model over the features of a message, whose weights are a file of this package.

Policy: weights are whole numbers, so that a score is the same on every machine. ``python -m bench.train_acts`` makes
the file from the corpora in ``bench/corpora/training``, byte for byte.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sandbox_mcp.users.acts.kinds import Act

CLASSES = (Act.ASKS, Act.LEAVE, Act.OFFERS, Act.PROMISES, Act.DELIVERS, Act.SMALL, Act.UNREADABLE)
"""What the model tells apart; giving up is answered as delivering is, and with it counts as one."""
WEIGHTS = "weights.json"
UNIT = 32
"""A weight of so much is one natural logarithm of odds."""


@dataclass(frozen=True, slots=True)
class ActModel:
    """Weights per feature and class, in units of ``1 / UNIT``."""

    bias: tuple[int, ...]
    weights: Mapping[str, Sequence[int]]

    def scores(self, features: Sequence[str]) -> dict[Act, int]:
        """How much speaks for each class."""
        totals = list(self.bias)
        for feature in features:
            row = self.weights.get(feature)
            if row is not None:
                for place, weight in enumerate(row):
                    totals[place] += weight
        return dict(zip(CLASSES, totals, strict=True))


@cache
def act_model() -> ActModel:
    """The model of this package, read once."""
    stored = json.loads(files(__package__ or "").joinpath(WEIGHTS).read_text("utf-8"))
    return ActModel(tuple(stored["bias"]), stored["weights"])
