"""How alike the names of tools are."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox_grader.papers.toolscan import name_similarity

from tests.each import each


def test_an_example_of_the_papers_kind():
    names = [
        "get_patent_with_title",
        "get_patent_with_title_and_date",
        *(f"get_patent_with_title_{x}" for x in ("lte", "neq", "eq")),
    ]
    found = name_similarity(names)
    assert found["raw"] == pytest.approx(0.6781, abs=5e-5)
    assert found["shared"] == 0.0
    assert found["stop"] == pytest.approx(0.5667, abs=5e-5)


def test_names_without_a_word_left_have_nothing_in_common():
    assert name_similarity(["get_the", "get_a"])["stop"] == 0.0


@each("names", [[], ["only"]])
def test_fewer_than_two_names_score_nothing(names):
    assert name_similarity(names) == {"raw": 0.0, "shared": 0.0, "stop": 0.0}


@settings(deadline=None)
@given(st.lists(st.lists(st.sampled_from(["get", "movie", "with", "id"]), max_size=4).map("_".join), max_size=5))
def test_all_three_are_between_0_and_1_and_ignore_order(names):
    found = name_similarity(names)
    assert all(0.0 <= value <= 1.0 for value in found.values())
    assert found == pytest.approx(name_similarity(names[::-1]))
