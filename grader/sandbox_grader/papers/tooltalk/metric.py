"""ToolTalk as a metric: grades any session that has a reference solution, and sums up many.

Policy: among alternative solutions the one that the session serves best counts. Sessions imported from ToolTalk are
compared by the rules of its 28 tools, all others by one general rule. Without a reference nothing can be said.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox_grader.grading.course import is_replay
from sandbox_grader.grading.metric import Mode, Subject, Verdict, conclusive, mean_of_known
from sandbox_grader.grading.references import ReferenceTurns
from sandbox_grader.grading.retelling import solutions_of
from sandbox_grader.grading.rouge import rouge_l
from sandbox_grader.grading.similarity import Similarity
from sandbox_grader.grading.values import FREE_TEXT as USUAL_FREE_TEXT
from sandbox_grader.papers.tooltalk.comparing import AsCoded, AsWritten, FirstDifference, OriginalFails
from sandbox_grader.papers.tooltalk.counts import CLASSES, NAMES, RATIOS, total
from sandbox_grader.papers.tooltalk.matching import best_fit, first_fit, predictions, wanted_calls
from sandbox_grader.papers.tooltalk.scoring import Held, action_labels, is_tooltalk
from sandbox_grader.papers.tooltalk.tools import FREE_TEXT, PEOPLE
from sandbox_mcp.engine.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class ToolTalk:
    """Precision, recall, incorrect actions, success and failure classes of a session's calls.

    ``compat`` compares and counts as the authors' code: sessions of ToolTalk by its matchers, pooled over the whole
    conversation, each prediction taking the first reference call left. ``paper`` and ``strict`` compare as the paper
    describes, free text at ``threshold``, and match one to one as well as possible: turn by turn where the session
    was played with the reference's history before every turn, as ToolTalk plays it, else over the whole session.
    ``strict`` adds that two queries which found nothing must have asked the same, and that a query which asked the
    same matches whatever it found.

    ``unlabelled`` counts calls of tools without a word on whether they are actions; they are taken for queries.

    An action is incorrect when it matches nothing and ran without an error. A malformed recipient of ``SendEmail`` is
    no excuse in ``paper`` and ``strict`` (footnote 3); in ``compat`` it is. With a similarity other than embeddings,
    figures compare with each other but not with published ones.
    """

    similarity: Similarity = rouge_l
    threshold: float = 0.9
    free_text: frozenset[str] = USUAL_FREE_TEXT

    name = "tooltalk"
    figures = (*NAMES, *RATIOS, *CLASSES, "success", "unlabelled", "solution")
    source = "ToolTalk (arXiv 2311.10775), sections 3 and 4.2; compat: microsoft/ToolTalk e05f4ce"

    def grade(self, subject: Subject, mode: Mode) -> Verdict:
        """Grade one session; see :class:`Counts` for the ratios."""
        solutions = solutions_of(subject, mode)
        if not solutions:
            return Verdict(inconclusive="no reference solution, so there is nothing to hold the calls against")
        try:
            held = [self._hold(subject.trajectory, solution, mode) for solution in solutions]
        except OriginalFails as failure:
            return Verdict(inconclusive=str(failure))
        counts = [item.counts for item in held]
        best_first = [(item.success, item.soft_success, item.precision) for item in counts]
        place = best_first.index(max(best_first))
        best, reached = held[place], counts[place]
        values = {
            **{name: getattr(reached, name) for name in (*NAMES, *RATIOS)},
            "success": reached.success,
            **best.failures(),
            "unlabelled": best.unlabelled,
            "solution": place,
        }
        return Verdict(values, (*best.calls(), *best.references(), *best.turns()))

    def summarise(self, graded: Sequence[tuple[Subject, Verdict]], mode: Mode) -> Mapping[str, Any]:
        """Micro averages over summed counts, macro averages over sessions, and the shares of the failure classes.

        The shares are of all failures: turns, but in ``compat`` premature ones are calls.
        """
        values, head = conclusive(graded, mode)
        counts = total(values)
        failures = {name: sum(item[name] for item in values) for name in CLASSES}
        return {
            **head,
            "success_rate": mean_of_known(item["success"] for item in values),
            "micro": {name: getattr(counts, name) if values else None for name in RATIOS if name != "soft_success"},
            "macro": {name: mean_of_known(item[name] for item in values) for name in RATIOS},
            "counts": {name: getattr(counts, name) for name in NAMES},
            "failures": {
                "total": (everything := sum(failures.values())),
                **{name: {"count": n, "share": n / everything if everything else None} for name, n in failures.items()},
            },
        }

    def _hold(self, trajectory: Trajectory, solution: ReferenceTurns, mode: Mode) -> Held:
        predicted, wanted = predictions(trajectory), wanted_calls(solution)
        labels = action_labels(trajectory.started, wanted)
        imported = is_tooltalk(trajectory.started)
        if imported and mode == "compat":
            compare: FirstDifference = AsCoded(self.similarity)
        else:
            usual = self.free_text

            def free_text(tool: str) -> frozenset[str]:
                return FREE_TEXT.get(tool, frozenset()) if imported else usual

            compare = AsWritten(self.similarity, self.threshold, labels, free_text, PEOPLE, mode == "strict")
        if mode == "compat":
            matching = first_fit(predicted, wanted, compare)
        else:
            matching = best_fit(predicted, wanted, compare, per_turn=is_replay(trajectory))
        return Held(trajectory, solution, mode, predicted, wanted, matching, compare, labels)
