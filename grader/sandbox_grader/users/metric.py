"""The conduct of the user as a metric: what it says about how far a session can be laid at its agent's door.

Policy: what cannot be told from a log is null, and ``missing`` says why. All modes are alike. Without its scenario
nothing is known of what a user may say and wants, so nothing spoils such a session.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox_grader.grading.course import is_replay
from sandbox_grader.grading.metric import Mode, Subject, Verdict, conclusive
from sandbox_grader.users.consent import consents, withheld
from sandbox_grader.users.hallucination import hallucinations
from sandbox_grader.users.leaving import early_end, endless
from sandbox_grader.users.manner import out_of_part
from sandbox_grader.users.talk import UserView

KINDS = (
    "leak", "invention", "as_assistant", "early_end", "endless", "consent", "withheld", "beside_the_point",
)  # fmt: skip
NEEDS_SCENARIO = ("leak", "invention", "early_end", "consent", "withheld", "beside_the_point")
NO_SCENARIO = "no scenario: what the user knows and wants is part of one"
NO_USER = "the log has no word of a user"
NOTHING_MISSING: Mapping[str, str] = {}
WITHOUT_SCENARIO: Mapping[str, str] = dict.fromkeys(NEEDS_SCENARIO, NO_SCENARIO)
"""Why counts are missing; one object for all sessions, since each is kept with its scores."""
REPLAYED = "prefix replay has no user: the words are those of the ground truth"


@dataclass(frozen=True, slots=True)
class UserConduct:
    """Counts per session, each with its turn, the words and the reason in the details.

    ``leak`` and ``invention``: see :mod:`sandbox_grader.users.hallucination`. ``as_assistant``: see
    :mod:`sandbox_grader.users.manner`. ``early_end`` and ``endless``: see :mod:`sandbox_grader.users.leaving`.
    ``consent``, ``withheld`` and ``beside_the_point``: see :mod:`sandbox_grader.users.consent`.
    ``spoiled`` tells whether one of them is such that the session says less about its agent; ``turns`` is how often
    the user spoke.
    """

    name = "user_conduct"
    figures = (*KINDS, "spoiled", "turns")
    source = "ours, after the kinds of failure in ToolSandbox, section 2.2 and table 2"

    def grade(self, subject: Subject, mode: Mode) -> Verdict:  # noqa: ARG002
        """Grade one session; every mode gives the same."""
        talk, scenario = UserView(subject.trajectory, subject.scenario), subject.scenario
        if is_replay(subject.trajectory):
            return Verdict(inconclusive=REPLAYED)
        if not talk.said:
            return Verdict(inconclusive=NO_USER)
        findings = [*out_of_part(talk), *endless(talk)]
        if scenario is not None:
            findings += hallucinations(talk, scenario)
            findings += early_end(talk, scenario, lambda: subject.strictly.score)
            findings += [*consents(talk, scenario), *withheld(talk, scenario)]
        missing = NOTHING_MISSING if scenario else WITHOUT_SCENARIO
        kinds = [item.kind for item in findings]
        counts = {kind: None if kind in missing else kinds.count(kind) for kind in KINDS}
        spoiled = scenario is not None and any(item.spoils for item in findings)
        values = {**counts, "spoiled": spoiled, "turns": len(talk.said), "missing": missing}
        ordered = sorted(findings, key=lambda item: (item.event, KINDS.index(item.kind)))
        return Verdict(values, tuple(item.to_json() for item in ordered))

    def summarise(self, graded: Sequence[tuple[Subject, Verdict]], mode: Mode) -> Mapping[str, Any]:
        """Per kind: of how many sessions it is known, and the number and share of those that have any."""
        values, head = conclusive(graded, mode)
        return {**head, **rates(values)}


def rates(values: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How often each kind occurs, and how often a session is spoiled, from the values of many sessions."""
    known = {kind: [item[kind] for item in values if item[kind] is not None] for kind in (*KINDS, "spoiled")}
    told: dict[str, Any] = {}
    for kind, counts in known.items():
        hits = sum(map(bool, counts))
        told[kind] = {"known": len(counts), "sessions": hits, "rate": hits / len(counts) if counts else None}
    return told


def spoiled_by_user(verdict: Verdict | None) -> str | None:
    """Reason why a session should not be blamed on its agent; None if nothing speaks against it."""
    if verdict is None or not verdict.values.get("spoiled"):
        return None
    bad = [item for item in verdict.details if item["spoils"]]
    return "spoiled_by_user: " + "; ".join(f"{item['kind']} (#{item['event']}): {item['why']}" for item in bad)
