"""ToolScan as a metric: seven shares without error, success figures under names of their own, and sums over sessions.

Policy: the patterns that need a solution are null where there is none; the five others are told from any log. No
figure is called a success rate, because ToolScan has three that could be meant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox_grader.grading.metric import Mode, Subject, Verdict, conclusive, mean_of_known
from sandbox_grader.grading.references import ReferenceTurns
from sandbox_grader.grading.retelling import solutions_of
from sandbox_grader.grading.similarity import Similarity, exact
from sandbox_grader.grading.values import FREE_TEXT
from sandbox_grader.papers.toolscan.events import ToolScanRun, case_of, is_toolscan, is_whole, read_run, tally
from sandbox_grader.papers.toolscan.loop import LoopInput, cannot_start, replay
from sandbox_grader.papers.toolscan.scores import MARKERS, PATTERNS, Against, Values, closest, original, share
from sandbox_mcp.engine.trajectory import ToolCall, Trajectory

FIGURES = ("finished", "answer_correct", "success", "mean_of_seven")
"""Figures of success: the run came to an end, its answer is right, it did what a solution does, the mean score."""


@dataclass(frozen=True, slots=True)
class ToolScan:
    """IAC, IAV, IAN, IAT, RAC, IFN and IFE of a session, each as a share without the error.

    ``compat`` is the authors' code: for sessions imported from ToolScan its loop runs over the recorded messages, for
    others the log's faults are counted as it would. Errors are set against ``steps_limit``, missing arguments count as
    wrong names, and nothing is bounded.

    ``paper`` and ``strict`` are alike, but ``strict`` compares a session with the solutions as it would have told them
    itself (:mod:`sandbox_grader.grading.retelling`), and takes a refused attempt that a solution makes as well for
    made.
    Five patterns are set against the calls made (``finish`` left out; also given against ``steps_limit``), and once per
    call; IAC and IAV against the calls of the solution. A call that lacks a required argument counts under IAV. A
    repetition counts only while nothing changed the world in between. Calls beyond the solution's are in ``excess`` and
    cost nothing. An empty run is scored like any other.

    ``success``: every call of a solution made with the right values, the run finished and its answer right, as far as
    these can be told; ``compat``: the run finished, and its answer is right where that matters. ``similarity`` other
    than exact lets free-text arguments differ in wording (``paper`` and ``strict``).
    """

    similarity: Similarity = exact
    threshold: float = 0.9
    free_text: frozenset[str] = FREE_TEXT
    steps_limit: int = 10

    name = "toolscan"
    figures = (*PATTERNS, *FIGURES, "calls_made", "solution")
    source = "ToolScan, sections 3 and 6; compat: Shirley-Kokane/ToolScan cb0168d"

    def grade(self, subject: Subject, mode: Mode) -> Verdict:
        """Grade one session."""
        solutions = solutions_of(subject, mode)
        if mode == "compat":
            return self._as_coded(subject.trajectory, solutions)
        run = read_run(subject.trajectory)
        markers = MARKERS if is_toolscan(subject.trajectory.started) else frozenset[str]()
        free_text = self.free_text if self.similarity is not exact else frozenset[str]()
        values = Values(markers, free_text, self.similarity, self.threshold)
        place, held = closest(run, solutions, values, attempts=mode == "strict") if solutions else (None, None)
        calls = [
            {
                "kind": "call",
                "call": step.call.call,
                "tool": step.tool,
                "executed": step.ran,
                "pattern": "rac" if step.repeats else step.pattern,
                "reason": f"repeats {step.repeats}" if step.repeats else step.call.error and step.call.error.message,
            }
            for step in run.steps
        ]
        wanted = [
            {"kind": "reference", "tool": item.call.tool, "status": item.status, "argument": item.argument}
            for item in (held.wanted if held else ())
        ]
        return Verdict(_adopted_values(run, held, place, self.steps_limit), [*calls, *wanted])

    def summarise(self, graded: Sequence[tuple[Subject, Verdict]], mode: Mode) -> Mapping[str, Any]:
        """The plain means of all scores and figures over the sessions that have them, and the sums of errors."""
        values, head = conclusive(graded, mode)
        counts = [item["errors"] for item in values]
        return {
            **head,
            "denominator": _denominator(mode),
            **{name: mean_of_known(item[name] for item in values) for name in (*PATTERNS, *FIGURES)},
            "errors": {name: sum(item[name] or 0 for item in counts) for name in (counts[0] if counts else ())},
        }

    def _as_coded(self, trajectory: Trajectory, solutions: Sequence[ReferenceTurns]) -> Verdict:
        case, truth = case_of(trajectory.started), bool(solutions)
        if not is_toolscan(trajectory.started):
            if not truth:
                return Verdict(inconclusive="no reference solution, without which the original stops")
            run = read_run(trajectory)
            if run.finished is None and trajectory.complete:
                return Verdict(inconclusive="nothing tells whether the run finished, and the original needs to know")
            counted = tally(run)
        elif not is_whole(case):
            return Verdict(
                inconclusive="the log says that it comes from ToolScan but not of which case; import it again"
            )
        elif problem := cannot_start(case["api_list"]):
            return Verdict(inconclusive=f"the original cannot start: {problem}")
        else:
            feedback, observations = case.get("feedback") is not False, case.get("observations") or ()
            texts = [item.meta.get("text", "") for item in trajectory.events if isinstance(item, ToolCall)]
            messages = [text if isinstance(text, str) else "" for text in texts]
            counted = replay(LoopInput(case["api_list"], truth, feedback, observations, self.steps_limit), messages)
        wants_answer = case.get("goal_type") == 1
        try:
            found = original(counted, solutions, self.steps_limit, case.get("answer"), wants_answer)
        except ZeroDivisionError:
            return Verdict(inconclusive="the original divides by the calls of a solution that has none")
        values = {
            **{name: found.scores[name] for name in PATTERNS},
            "finished": counted.finished,
            "answer_correct": found.success if wants_answer else None,
            "success": found.success,
            "mean_of_seven": found.mean_of_seven,
            "denominator": _denominator("compat"),
            "errors": {
                **{name: getattr(counted, name) for name in ("ian", "iat", "rac", "ifn", "ife")},
                "missing_required": counted.missing,
            },
            "solution": found.solution,
        }
        return Verdict(values, counted.steps)


def _adopted_values(run: ToolScanRun, held: Against | None, place: int | None, steps_limit: int) -> dict[str, Any]:
    patterns = [step.pattern for step in run.steps]
    errors = {name: patterns.count(name) for name in ("ian", "iat", "ifn", "ife", "missing_required")}
    errors["rac"] = sum(step.repeats is not None for step in run.steps)
    by_calls = {name: share(errors[name], len(run.steps)) for name in ("ian", "iat", "rac", "ifn", "ife")}
    by_limit = {name: share(errors[name], steps_limit) for name in by_calls}
    scores: dict[str, float | None] = {"iac": None, "iav": None, **by_calls}
    if held is not None:
        wrong = held.wrong + errors["missing_required"]
        errors |= {"iac": held.missing, "iav": held.wrong, "excess": held.excess}
        scores |= {"iac": share(held.missing, len(held.wanted)), "iav": share(wrong, len(held.wanted))}
        by_limit["iav"] = share(wrong, steps_limit)
    done = run.finished is not False and run.correct is not False
    return {
        **scores,
        "finished": run.finished,
        "answer_correct": run.correct,
        "success": None if held is None else done and not held.missing and not held.wrong,
        "mean_of_seven": None if held is None else sum(filter(None, scores.values())) / len(scores),
        "denominator": _denominator("strict"),
        "by_steps_limit": by_limit,
        "calls_made": len(run.steps),
        "errors": {**dict.fromkeys((*PATTERNS, "missing_required", "excess")), **errors},
        "solution": place,
    }


def _denominator(mode: Mode) -> str:
    return "steps_limit" if mode == "compat" else "calls_made"
