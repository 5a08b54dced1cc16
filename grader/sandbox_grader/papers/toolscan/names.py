"""Overlap of the names of a set of tools, which ToolScan relates to how often they are confused.

Source: ToolScan, section 8.1.4 and appendix B.4.
"""

from collections.abc import Iterable
from itertools import combinations

STOP_WORDS = frozenset({"a", "an", "and", "by", "for", "from", "get", "in", "of", "on", "or", "the", "to", "with"})
"""Words that distinguish no tool. The paper drops some of them in its example, though they are not in every name."""


def name_similarity(names: Iterable[str]) -> dict[str, float]:
    """The mean Jaccard similarity of all pairs of names, their words being what stands between underscores.

    ``raw`` of all words; ``shared`` without the words that all names have, as the paper's text says; ``stop`` without
    stop words, as its example has it. Two names without words have nothing in common, and fewer than two names score 0.
    """
    words = [frozenset(name.split("_")) - {""} for name in names]
    shared = frozenset[str].intersection(*words) if words else frozenset[str]()
    return {
        "raw": _mean(words),
        "shared": _mean([item - shared for item in words]),
        "stop": _mean([item - STOP_WORDS for item in words]),
    }


def _mean(words: list[frozenset[str]]) -> float:
    pairs = combinations(words, 2)
    jaccard = [len(one & other) / len(one | other) if one or other else 0.0 for one, other in pairs]
    return sum(jaccard) / len(jaccard) if jaccard else 0.0
