"""MTU-Bench's metrics as one metric: it finds the setting, scores every turn, and sums up by setting.

Policy: among alternative references the one counts that the session does best by. In compat an answer that the authors'
parser dies on counts as calling nothing, unless told otherwise; both figures are reported wherever that happens.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox_grader.grading.metric import Mode, Subject, Verdict
from sandbox_grader.papers.mtu_bench.dialogue import Dialogue, DialogueCall, dialogue
from sandbox_grader.papers.mtu_bench.errors import error_class, error_kinds
from sandbox_grader.papers.mtu_bench.formulas import percent
from sandbox_grader.papers.mtu_bench.hearing import SearchableSession
from sandbox_grader.papers.mtu_bench.rows import OTHER_POLICY, CrashPolicy, Scored, TurnScore, score_turn
from sandbox_grader.papers.mtu_bench.summary import (
    DIALOGUE_COLUMNS,
    TURN_COLUMNS,
    Details,
    columns,
    dialogue_scores,
    error_counts,
    kind_counts,
    right_share,
    turn_scores,
    under_other_policy,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class MtuBench:
    """TS, PS, SR, ATS, SATS, TPR, TN and TO, and classes of errors, of calls held against a reference turn by turn.

    Works on any session with a reference; its setting (S-S, S-M, M-S, M-M) is computed from the reference, or for logs
    imported from MTU-Bench from its files. ``compat`` repairs the authors' code where it does not run and keeps its
    leniency: excess tools and order go unnoticed, values match as substrings. ``paper`` follows text and worked
    examples, ``strict`` in addition counts positions in TO from 0 and lets every error lower SATS after it.

    Source: MTU-Bench, section 2.2.2, appendices D and E.
    """

    parser_crash: CrashPolicy = "no_call"

    name = "mtu_bench"
    figures = (*DIALOGUE_COLUMNS, *(column for column, _ in TURN_COLUMNS), "turns", "right")
    source = "MTU-Bench, section 2.2.2 and appendices D and E; compat: the released code, repaired where it cannot run"

    def grade(self, subject: Subject, mode: Mode) -> Verdict:
        """Score one dialogue.

        The values are shares in 0..1: TS and PS or TN and TO as means over turns, for several turns ATS, SATS, SR and
        TPR, and ``right``, the share of turns that are right in all, which is ours, for TN and TO as printed do not
        see arguments. With them come ``setting``, ``turns``, ``errors`` and ``kinds``.

        There is one detail per turn: its ``id``, what was ``pred``icted, the ground truth ``gt``, its scores, whether
        it is ``right``, its ``error`` class and ``kinds``; in compat ``scored_keys``, and where the parser dies
        ``crash`` and the score ``otherwise``.
        """
        whole = dialogue(subject, mode)
        if isinstance(whole, str):
            return Verdict(inconclusive=whole)
        attempts = [
            [score_turn(turn, wanted, mode, self.parser_crash, many_tools=whole.many_tools) for turn, wanted in pairs]
            for pairs in whole.alternatives
        ]
        rows = _details(max(attempts, key=_merit), whole, mode, SearchableSession(subject.trajectory.events))
        several = dialogue_scores([row["right"] for row in rows], mode) if whole.many_turns else {}
        values = {
            "setting": whole.setting,
            "turns": len(rows),
            **turn_scores(rows),
            **several,
            "right": right_share(rows),
            "errors": error_counts(rows),
            "kinds": kind_counts(rows),
        }
        return Verdict(values, rows)

    def summarise(self, graded: Sequence[tuple[Subject, Verdict]], mode: Mode) -> Mapping[str, Any]:
        """Figures by setting, in percent with two decimals as the paper prints them.

        Each setting has its columns, their average ``avg``, the share of turns that are ``right``, ``n`` turns,
        ``dialogues``, counts of ``errors`` and ``kinds``. In compat, where the authors' parser dies on turns,
        ``parser_crash`` says on which, what they count for, and what the columns were if they counted for the other.
        """
        verdicts = [verdict for _, verdict in graded]
        scored = [verdict for verdict in verdicts if verdict.inconclusive is None]
        settings = {verdict.values["setting"] for verdict in scored}
        usual = [setting for setting in ("S-S", "M-S", "S-M", "M-M", "OOD") if setting in settings]
        summary: dict[str, Any] = {
            setting: self._figures([verdict for verdict in scored if verdict.values["setting"] == setting], mode)
            for setting in (*usual, *sorted(settings.difference(usual)))
        }
        if len(scored) < len(verdicts):
            summary["inconclusive"] = len(verdicts) - len(scored)
        return summary

    def _figures(self, verdicts: Sequence[Verdict], mode: Mode) -> dict[str, Any]:
        dialogues: list[tuple[bool, Details]] = [("SR" in verdict.values, verdict.details) for verdict in verdicts]
        rows = [row for _, details in dialogues for row in details]
        figures: dict[str, Any] = {
            **columns(dialogues, mode),
            "right": percent(right_share(rows)),
            "n": len(rows),
            "dialogues": len(dialogues),
            "errors": error_counts(rows),
            "kinds": kind_counts(rows),
        }
        crashed = [row["id"] for row in rows if "crash" in row]
        if crashed:
            turned = [(several, under_other_policy(details)) for several, details in dialogues]
            figures["parser_crash"] = {
                "counts_as": self.parser_crash, "rows": crashed, OTHER_POLICY[self.parser_crash]: columns(turned, mode),
            }  # fmt: skip
        return figures


def _merit(attempt: Sequence[Scored]) -> tuple[float, float]:
    """Rank of a reference to compare with: turns that are right, then scores."""
    scores = [scored.score for scored in attempt]
    right = sum(score.right for score in scores) / len(scores)
    return right, sum(score.first + score.second for score in scores) / len(scores)


def _details(best: Sequence[Scored], whole: Dialogue, mode: Mode, talk: SearchableSession) -> list[dict[str, Any]]:
    earlier: list[DialogueCall] = []
    rows: list[dict[str, Any]] = []
    for scored in best:
        error = error_class(scored, mode)
        kinds = error_kinds(scored, error, whole, earlier, talk)
        detail: dict[str, Any] = {
            "id": scored.turn.id,
            "gt": _written(scored.expected, mode),
            "pred": _written(scored.predicted, mode),
            **_scores(scored.score, whole),
        }
        if scored.keys is not None:
            detail["scored_keys"] = list(scored.keys)
        if scored.crash is not None and scored.otherwise is not None:
            detail |= {"crash": scored.crash, "otherwise": _scores(scored.otherwise, whole)}
        rows.append({**detail, "error": error, "kinds": list(kinds)})
        earlier += scored.wanted if whole.forced else scored.turn.calls
    return rows


def _scores(score: TurnScore, whole: Dialogue) -> dict[str, Any]:
    first, second = ("tn", "to") if whole.many_tools else ("ts", "ps")
    return {first: score.first, second: score.second, "right": score.right}


def _written(calls: Sequence[tuple[str, Mapping[str, Any]]], mode: Mode) -> Any:
    """Calls as the benchmark writes them in compat, else as a list, for there a tool may occur twice."""
    if mode == "compat":
        return dict(calls)
    return [{"tool": name, "arguments": given} for name, given in calls]
