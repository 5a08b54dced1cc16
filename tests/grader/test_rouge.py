"""ROUGE-L: equal to the reference implementation on every pair of texts, and a few examples to read."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox_grader.grading.rouge import lcs_length, places_of, rouge_l, tokens

from tests.each import each

words = st.sampled_from(["the", "cats", "cat", "sat", "sitting", "Sits", "on", "a", "mat", "42", "naïve", "!", "-"])
texts = st.lists(words, max_size=30).map(" ".join) | st.text(max_size=60)


@pytest.fixture(scope="module")
def reference():
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    return lambda target, text: scorer.score(target, text)["rougeL"].fmeasure


@each(
    ("target", "text", "score"),
    [
        ("call mom", "call mom", 1.0),
        ("call mom", "call dad", 0.5),
        ("call mom tomorrow", "tomorrow", 0.5),
        ("Meeting at noon", "meetings, at NOON!", 1.0),
        ("one two", "three four", 0.0),
    ],
)
def test_examples(target, text, score):
    assert rouge_l(target, text) == score


@each(("target", "text"), [("", ""), ("", "a"), ("a", ""), ("!?", "!?"), ("你好", "你好")])
def test_a_text_without_tokens_resembles_nothing(target, text):
    assert rouge_l(target, text) == 0.0


def test_tokens_are_stemmed_from_four_letters_on():
    assert tokens("She was running his buses") == ("she", "was", "run", "his", "buse")


@settings(deadline=None)
@given(texts, texts)
def test_equals_the_reference_implementation(reference, target, text):
    assert rouge_l(target, text) == reference(target, text)


@settings(deadline=None)
@given(texts)
def test_the_shortcut_for_equal_texts_gives_what_the_reference_gives(reference, text):
    assert rouge_l(text, text) == reference(text, text)


@settings(deadline=None)
@given(texts, texts)
def test_is_symmetric(first, second):
    assert rouge_l(first, second) == rouge_l(second, first)


@settings(deadline=None)
@given(st.lists(st.sampled_from("abc"), max_size=80), st.lists(st.sampled_from("abc"), max_size=80))
def test_the_common_subsequence_is_as_long_as_the_table_says(first, second):
    assert lcs_length(places_of(tuple(first)), len(first), tuple(second)) == _by_table(first, second)


def test_importing_loads_no_tokenizer():
    code = "import sys, sandbox_grader.grading.rouge as r; r.rouge_l('a', 'a'); exit('rouge_score' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_tokenizer_comes_without_the_rest_of_its_package_which_can_be_had_afterwards():
    code = (
        "import sys, sandbox_grader.grading.rouge as r; r.rouge_l('one boat', 'two boats'); "
        "assert not {'nltk', 'scipy', 'scipy.stats'} & set(sys.modules); import nltk; nltk.stem.WordNetLemmatizer"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def _by_table(first, second):
    above = [0] * (len(second) + 1)
    for item in first:
        row = [0]
        for place, other in enumerate(second):
            row.append(above[place] + 1 if item == other else max(above[place + 1], row[-1]))
        above = row
    return above[-1]
