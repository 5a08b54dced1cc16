"""Text similarities by name, and embeddings from any function."""

import importlib
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.errors import GraderError
from grader.rouge import rouge_l
from grader.similarity import SIMILARITIES, _bundled, _model_folder, embedding_similarity, exact, similarity

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def letters(text):
    """A real, if humble, embedding: how often each letter occurs."""
    return [text.lower().count(letter) for letter in LETTERS]


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    (tmp_path / "my_vectors.py").write_text("def lengths(text):\n    return [len(text), 1.0]\n")
    monkeypatch.syspath_prepend(tmp_path)
    return "my_vectors"


def test_rouge_is_known_by_name():
    assert similarity("rouge-l") is rouge_l


def test_exact_wants_every_character():
    assert (similarity("exact")("Call mom", "Call mom"), exact("Call mom", "call mom")) == (1.0, 0.0)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(GraderError, match=r"unknown text similarity 'bleu'; known: embedding, exact, rouge-l"):
        similarity("bleu")


def test_embeddings_of_texts_alike_point_the_same_way():
    cosine = embedding_similarity(letters)
    assert cosine("listen", "silent") == pytest.approx(1.0)
    assert cosine("abc", "xyz") == 0.0
    assert 0 < cosine("call mom", "call dad") < 1


def test_a_vector_without_length_resembles_nothing():
    assert embedding_similarity(letters)("", "abc") == 0.0


def test_opposite_vectors_count_as_unlike():
    assert embedding_similarity(lambda text: [1.0 if text == "yes" else -1.0])("yes", "no") == 0.0


def test_a_text_is_embedded_once():
    seen = []
    cosine = embedding_similarity(lambda text: seen.append(text) or letters(text))
    for _ in range(3):
        cosine("wanted", "given")
    assert seen == ["wanted", "given"]


def test_a_function_of_ones_own_is_loaded_by_name(own_module):
    assert similarity(f"embedding:{own_module}:lengths")("ab", "cd") == pytest.approx(1.0)


@pytest.mark.parametrize("place", ["no_such_module:f", "json:no_such_function", "json", ":f"])
def test_a_function_that_cannot_be_loaded_is_named(place):
    with pytest.raises(GraderError, match="expected embedding:MODULE:FUNCTION"):
        similarity(f"embedding:{place}")


def test_without_a_model_the_error_tells_what_to_install(monkeypatch):
    monkeypatch.setattr("grader.similarity.BUNDLED_MODELS", ("a_model_nobody_has",))
    _bundled.cache_clear()
    with pytest.raises(GraderError, match="install sentence-transformers and a-model-nobody-has, or name a function"):
        similarity("embedding")


def test_a_bundled_model_is_found_by_its_layout(tmp_path, monkeypatch):
    model = tmp_path / "bundled_model" / "files"
    model.mkdir(parents=True)
    (tmp_path / "bundled_model" / "__init__.py").write_text("")
    (model / "modules.json").write_text("[]")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    assert _model_folder("bundled_model") == model


def test_nothing_heavy_is_loaded_for_the_registry():
    assert set(SIMILARITIES) == {"exact", "rouge-l", "embedding"}
    assert "sentence_transformers" not in sys.modules


@settings(deadline=None)
@given(st.text(max_size=30), st.text(max_size=30))
def test_every_similarity_stays_between_0_and_1(target, text):
    for measure in (exact, rouge_l, embedding_similarity(letters)):
        assert 0.0 <= measure(target, text) <= 1.0


@settings(deadline=None)
@given(st.text(LETTERS, min_size=1, max_size=30))
def test_a_text_is_like_itself(text):
    for measure in (exact, rouge_l, embedding_similarity(letters)):
        assert measure(text, text) == pytest.approx(1.0)
