"""The trained reader: what it sees of sentences, and a linear model over that, whose weights are a file beside this.

Policy: it sees words, pairs and triples of words, those of the last sentence and those of questions once more as such.
A word of the wish counts as "the wish", too, so that what was learned about texts holds for reminders. Nothing of what
a session knows is seen: trained with it, a reader learns to disbelieve claims.

Weights are whole numbers, so that a score is the same on every machine. ``python -m bench.train_acts`` makes the file
from the corpora in ``bench/corpora/training``, byte for byte.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from sandbox_mcp.engine.talk.acts.kinds import Act
from sandbox_mcp.engine.talk.clauses import is_question
from sandbox_mcp.engine.talk.patterns import Lazy, one_of

TOKEN = Lazy(r"[a-z]+(?:'[a-z]+)?|\d[\d.,:]*|[?_]")
WORDS = 120
"""So many words of a sentence are seen."""
STEM = 5
"""Letters by which words of one stem are told: switched, switching."""
EMPTY = one_of(
    "the and that this with for from have has had any are was were will would should could can may want wants you your "
    "they them their its his her she him not without than then but into onto out please like what when where which who "
    "whom how make made been being get got let also just all one some there here about more"
)
"""Words that say nothing of what a sentence is about."""


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """The stems of the words in a text that say what it is about; numbers and names with digits count whole.

    >>> sorted(stems("Switching the wifi off by 8:30"))
    ['8:30', 'off', 'switc', 'wifi']
    """
    words = (word.strip(".,:") for word in TOKEN.findall(text.lower()))
    return frozenset(word if word[0].isdigit() else word[:STEM] for word in words if _tells(word))


def _tells(word: str) -> bool:
    return bool(word) and word not in EMPTY and (len(word) > 2 or word[0].isdigit())


def features(found: Sequence[str], wish: frozenset[str]) -> list[str]:
    """The features of sentences in lower case, each once, in a fixed order; ``wish`` has the stems of the wish."""
    seen: dict[str, None] = {}
    for place, sentence in enumerate(found):
        last, asks = place == len(found) - 1, is_question(sentence)
        tokens = TOKEN.findall(sentence)[:WORDS]
        _add(seen, tokens, wish, last=last, asks=asks)
        seen[f"B:{'_'.join(tokens[:2])}"] = None
        seen[("l" if last else "") + ("ask" if asks else "state")] = None
    words = sum(len(sentence.split()) for sentence in found)
    seen[f"words:{min(words // 4, 6)}"] = seen[f"sents:{min(len(found), 4)}"] = None
    return list(seen)


def _add(seen: dict[str, None], tokens: Sequence[str], wish: frozenset[str], *, last: bool, asks: bool) -> None:
    before = two_before = masked_before = "^"
    for token in tokens:
        word = "#" if token[0].isdigit() else token
        masked = "<w>" if len(token) > 2 and token[:STEM] in wish else word
        here = (word, f"{before}_{word}", f"{masked_before}_{masked}", f"{two_before}_{before}_{word}")
        for feature in (*here, f"?:{word}") if asks else here:
            seen[feature] = None
            if last:
                seen[f"l:{feature}"] = None
        if masked != word:
            seen[masked] = None
        two_before, before, masked_before = before, word, masked
    seen[f"{before}_$"] = None


CLASSES = (
    Act.ASKS, Act.LEAVE, Act.OFFERS, Act.PROMISES, Act.DELIVERS, Act.GIVES_UP, Act.SMALL, Act.UNREADABLE,
)  # fmt: skip
"""What the model tells apart."""
WEIGHTS = "weights.json"
UNIT = 32
"""A weight of so much is one natural logarithm of odds."""


@dataclass(frozen=True, slots=True)
class ActModel:
    """Weights per feature and class, in units of ``1 / UNIT``."""

    bias: tuple[int, ...]
    weights: Mapping[str, Sequence[int]]

    def scores(self, features: Sequence[str]) -> dict[Act, int]:
        """Weight of each class."""
        totals = list(self.bias)
        for feature in features:
            row = self.weights.get(feature)
            if row is not None:
                for place, weight in enumerate(row):
                    totals[place] += weight
        return dict(zip(CLASSES, totals, strict=True))

    def best(self, features: Sequence[str]) -> Act:
        """The class that most speaks for."""
        scores = self.scores(features)
        return max(scores, key=scores.__getitem__)

    def knows(self, word: str) -> bool:
        """True if a word in lower case was seen in training."""
        return word in self.weights


@cache
def act_model() -> ActModel:
    """The model of this package, read once."""
    stored = json.loads(files(__package__ or "").joinpath(WEIGHTS).read_text("utf-8"))
    return ActModel(tuple(stored["bias"]), stored["weights"])
