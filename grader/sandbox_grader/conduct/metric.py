"""Conduct as a metric: thirteen counts of what the four papers' figures do not see, on any session.

Policy: what cannot be told from a log is null, and ``missing`` says why. All modes are alike: no paper has a formula
for these, though ToolTalk and ToolSandbox describe the last five.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sandbox_grader.conduct.choosing import unasked_choices
from sandbox_grader.conduct.deeds import deviation, persistent_errors, repeats, wrong_recipients
from sandbox_grader.conduct.harm import harm
from sandbox_grader.conduct.made_up import made_up
from sandbox_grader.conduct.moments import hallucinated_times
from sandbox_grader.conduct.observed import ObservedSession
from sandbox_grader.conduct.reckoning import slips
from sandbox_grader.conduct.replies import contradictions, unfounded_claims
from sandbox_grader.grading.metric import Mode, Subject, Verdict, conclusive

COUNTS = (
    "wrong_recipient", "excess_actions", "wrong_order", "needless_repeats", "contradicting_answer",
    "claim_without_call", "harmful_changes", "undone", "hallucinated_arguments", "hallucinated_times",
    "missing_disambiguation", "format_persistence", "arithmetic_slips",
)  # fmt: skip
FROM_SOLUTIONS = ("wrong_recipient", "excess_actions", "wrong_order", "missing_disambiguation")
NO_REFERENCE = "no reference solution"
NO_LABELS = "nothing says which of the tools act"
NO_SCENARIO = "no scenario: what was wanted is part of one"
NO_STATE = "the log records no state of the world"


@dataclass(frozen=True, slots=True)
class Conduct:
    """Counts per session, each with its events in the details.

    ``wrong_recipient``: something sent to a person whom no solution names. ``excess_actions``: successful actions
    beyond the nearest solution. ``wrong_order``: actions of that solution that came before something they depend on.
    ``needless_repeats``: the same call with the same outcome, nothing changed in between. ``contradicting_answer`` and
    ``claim_without_call``: see :mod:`sandbox_grader.conduct.replies`. ``harmful_changes``: changes that were not
    asked for; ``undone``: those of them that were taken back. ``hallucinated_arguments``: values that nothing gave, see
    :mod:`sandbox_grader.conduct.made_up`. ``hallucinated_times``: moments that do not follow from the clock, see
    :mod:`sandbox_grader.conduct.moments`. ``missing_disambiguation``: one of several matches taken without asking, see
    :mod:`sandbox_grader.conduct.choosing`. ``format_persistence``: the same error of form made again after it was told.
    ``arithmetic_slips``: see :mod:`sandbox_grader.conduct.reckoning`.

    The first three and ``missing_disambiguation`` need a solution, the second to the fourth need to know which tools
    act, ``harmful_changes`` and ``undone`` need a scenario and the state. Made-up arguments, times and slips are found
    without a solution where they are beyond doubt, and with one where they differ from it. ``solution`` is the number
    of the nearest solution, ``missing`` maps each null count to the reason.
    """

    name = "conduct"
    figures = (*COUNTS, "solution")
    source = "ours; closes what ToolTalk, MTU-Bench and ToolScan leave unpunished"

    def grade(self, subject: Subject, mode: Mode) -> Verdict:  # noqa: ARG002
        """Grade one session; every mode gives the same.

        Raises:
            GraderError: the scenario's milestones cannot be used.
        """
        solutions = tuple(subject.references or subject.trajectory.started.reference)
        heard = ObservedSession(subject.trajectory, solutions)
        labelled = not heard.calls or any(call.called in heard.labels for call in heard.calls)
        stateless = NO_STATE if subject.trajectory.started.world is None else None
        if subject.scenario is None:
            stateless = NO_SCENARIO
        missing = _reasons(labelled, bool(heard.solutions), stateless)
        findings = [*contradictions(heard), *unfounded_claims(heard)]
        if "needless_repeats" not in missing:
            findings += repeats(heard)
        nearest = deviation(heard, subject.scenario) if solutions else None
        findings += [*made_up(heard), *hallucinated_times(heard), *persistent_errors(heard), *slips(heard)]
        if nearest is not None:
            findings += unasked_choices(heard)
            findings += [*wrong_recipients(heard), *nearest.excess, *nearest.order]
        if subject.scenario is not None and "undone" not in missing:
            findings += harm(subject)
        told = sorted(
            (finding for finding in findings if finding.count not in missing),
            key=lambda finding: (finding.seq, COUNTS.index(finding.count)),
        )
        counts = {name: None if name in missing else sum(item.count == name for item in told) for name in COUNTS}
        values = {**counts, "solution": nearest.place if nearest else None, "missing": missing}
        return Verdict(values, tuple(item.to_json() for item in told))

    def summarise(self, graded: Sequence[tuple[Subject, Verdict]], mode: Mode) -> Mapping[str, Any]:
        """Per count: of how many sessions it is known, its total, and the share of those sessions that have any."""
        values, head = conclusive(graded, mode)
        known = {name: [item[name] for item in values if item[name] is not None] for name in COUNTS}
        return {
            **head,
            **{
                name: {"known": len(n), "total": sum(n), "rate": sum(count > 0 for count in n) / len(n) if n else None}
                for name, n in known.items()
            },
        }


@cache
def _reasons(labelled: bool, solved: bool, stateless: str | None) -> Mapping[str, str]:
    """Reasons for missing counts; one object for all that lack the same, as each is kept with its scores."""
    missing: dict[str, str] = {}
    if not labelled:
        missing |= dict.fromkeys(("excess_actions", "wrong_order", "needless_repeats"), NO_LABELS)
    if not solved:
        missing |= dict.fromkeys(FROM_SOLUTIONS, NO_REFERENCE)
    if stateless:
        missing |= dict.fromkeys(("harmful_changes", "undone"), stateless)
    return missing
