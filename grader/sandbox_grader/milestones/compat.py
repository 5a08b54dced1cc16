"""ToolSandbox's own verdict on a case: the numbers its evaluator gives, oddities included.

Policy: what that evaluator answers counts here, also where it is wrong; what it cannot answer (a reference to no
ancestor, a node with guardrails only) is an error of ours, in words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sandbox_grader.milestones.case import Case, Graph
from sandbox_grader.milestones.compat_nodes import CompatNodes
from sandbox_grader.milestones.history import History
from sandbox_grader.milestones.matching import CycleError, MatchedPlace, match


@dataclass(frozen=True, slots=True)
class CompatResult:
    """What the original evaluator says of one case. Mappings: node to (message index, similarity).

    ``matrix`` has, for every node whose similarity depends on no other node's place, its similarity at each index from
    the first of the candidate range on.
    """

    milestones: Mapping[int, MatchedPlace]
    minefields: Mapping[int, MatchedPlace]
    milestone_score: float
    minefield_score: float
    score: float
    turn_count: int
    matrix: Mapping[int, Sequence[float]]


def evaluate(case: Case) -> CompatResult:
    """Grade one case as ToolSandbox does.

    Score: the mean similarity of the milestones under the best assignment, 0 if any minefield has a similarity above 0.
    Without milestones 1, without minefields 0; a graph with a cycle matches nothing and scores -1 / nodes. Where there
    is no message nothing is met.

    Source: ToolSandbox, section 4 and its evaluation code.

    Raises:
        GraderError: a node refers to one that is not before it, or has guardrails only.
    """
    history = History(case)
    milestones, score, nodes = _graph_score(case.milestones, history, 1.0)
    minefields, mines, _ = _graph_score(case.minefields, history, 0.0)
    return CompatResult(
        milestones, minefields, score, mines, 0.0 if mines else score, case.turn_count(), nodes.independent()
    )


def _graph_score(graph: Graph, history: History, empty: float) -> tuple[dict[int, MatchedPlace], float, CompatNodes]:
    members, edges = graph.order()
    nodes = CompatNodes(graph, members, edges, history)
    if not members:
        return {}, empty, nodes
    if not history.length:
        return {}, 0.0, nodes
    try:
        placed = match(nodes, members, edges)
    except CycleError:
        return {}, -1 / len(graph.nodes), nodes
    total = sum(place.similarity for place in placed.values())
    shifted = {node: MatchedPlace(place.index + history.first, place.similarity) for node, place in placed.items()}
    return shifted, total / len(graph.nodes), nodes
