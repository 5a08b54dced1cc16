"""Every verdict of ToolSandbox's own evaluator on the milestone corpus, reproduced to 1e-6."""

import json
from pathlib import Path
from typing import Any

import pytest
from sandbox_grader.milestones.case_json import read_case
from sandbox_grader.milestones.compat import CompatResult, evaluate

from tests.each import each

NEAR = 1e-6


@pytest.fixture(scope="module")
def corpus(benchmark_data: Path) -> list[dict[str, Any]]:
    file = benchmark_data / "milestones" / "corpus.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def judged(corpus: list[dict[str, Any]]) -> list[tuple[dict[str, Any], CompatResult]]:
    return [(source, evaluate(read_case(source))) for source in corpus]


Judged = list[tuple[dict[str, Any], CompatResult]]


@each("name", ["milestone_score", "minefield_score", "score", "turn_count"])
def test_scores_and_turn_count(judged: Judged, name: str):
    wrong = {
        source["id"]: (getattr(result, name), source["expected"][name])
        for source, result in judged
        if abs(getattr(result, name) - source["expected"][name]) > NEAR
    }
    assert wrong == {}


@each(("name", "attribute"), [("milestone_mapping", "milestones"), ("minefield_mapping", "minefields")])
def test_which_message_met_which_node(judged: Judged, name: str, attribute: str):
    for source, result in judged:
        placed = {str(node): place.index for node, place in getattr(result, attribute).items()}
        assert placed == {node: index for node, (index, _) in source["expected"][name].items()}, source["id"]


@each(("name", "attribute"), [("milestone_mapping", "milestones"), ("minefield_mapping", "minefields")])
def test_how_well_it_met_it(judged: Judged, name: str, attribute: str):
    for source, result in judged:
        fit = {str(node): place.similarity for node, place in getattr(result, attribute).items()}
        assert fit == pytest.approx({n: s for n, (_, s) in source["expected"][name].items()}, abs=NEAR), source["id"]


def test_similarities_at_every_message(judged: Judged):
    for source, result in judged:
        matrix = {str(node): list(series) for node, series in result.matrix.items()}
        assert matrix.keys() == source["expected"]["matrix"].keys(), source["id"]
        for node, expected in source["expected"]["matrix"].items():
            assert matrix[node] == pytest.approx(expected, abs=NEAR), (source["id"], node)


def test_the_candidate_range_is_the_one_given(judged: Judged):
    ranges = [(read_case(source).first_index(), source["first_index"]) for source, _ in judged]
    assert [found for found, _ in ranges] == [given for _, given in ranges]


def test_the_corpus_is_whole(corpus: list[dict[str, Any]]):
    assert len(corpus) == 300
