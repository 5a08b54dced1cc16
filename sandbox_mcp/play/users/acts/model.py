"""The trained reader: what it sees of a message, and a linear model over that, whose weights are a file of this package.

Policy: it sees words and pairs of words, masked, and the kinds of clauses. A word that names a class of deeds also
counts as its class, and as "the wish" where it is of the wish's class, so that what was learned about texts holds for
reminders. Nothing of what the session knows is a feature: trained with it, a reader learns to disbelieve claims.

Weights are whole numbers, so that a score is the same on every machine. ``python -m bench.train_acts`` makes
the file from the corpora in ``bench/corpora/training``, byte for byte.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from sandbox_mcp.play.users.acts.clauses import ClauseKind
from sandbox_mcp.play.users.acts.deeds import classes_of_word
from sandbox_mcp.play.users.acts.kinds import Act, Wish
from sandbox_mcp.play.users.acts.plain import Sentence

_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|\d[\d.,:]*|[?]")
WORDS = 160
"""So many words at each end of a message are seen."""


def features(found: Sequence[Sentence], kinds: Sequence[ClauseKind], wish: Wish) -> list[str]:
    """The features of a message, each once, in a fixed order."""
    seen: dict[str, None] = {}
    for kind in kinds:
        seen[f"k:{kind}"] = None
    if kinds:
        seen[f"first:{kinds[0]}"] = seen[f"last:{kinds[-1]}"] = None
        seen[f"ends:{'>'.join(kinds[-2:])}"] = None
    for place, sentence in enumerate(found):
        last = place == len(found) - 1
        tokens = _TOKEN.findall(sentence.text)[:WORDS]
        _add(seen, tokens, wish, "l" if last else "")
        if last:
            seen["asks" if sentence.asks else "states"] = None
        elif sentence.asks:
            seen["asked"] = None
    words = sum(len(sentence.text.split()) for sentence in found)
    seen[f"words:{min(words // 4, 6)}"] = None
    seen[f"sentences:{min(len(found), 4)}"] = None
    return list(seen)


def _add(seen: dict[str, None], tokens: Sequence[str], wish: Wish, end: str) -> None:
    before, masked_before = "^", "^"
    for token in tokens:
        word = "#" if token[0].isdigit() else token
        masked = _masked(word, wish.classes)
        for feature in (word, f"{before}_{word}", f"{masked_before}_{masked}"):
            seen[feature] = None
            if end:
                seen[f"{end}:{feature}"] = None
        if masked != word:
            seen[masked] = None
        before, masked_before = word, masked
    seen[f"{before}_$"] = None


@lru_cache(maxsize=8192)
def _masked(word: str, wished: frozenset[str]) -> str:
    named = classes_of_word(word)
    if named & wished:
        return "<wish>"
    return f"<{min(named)}>" if named else word


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
