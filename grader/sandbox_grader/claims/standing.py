"""How what stands at a place of a message is meant, and what several places of the right value come to.

Policy: one sure statement is enough. A value is denied where an odd number of denials stand before it in its clause,
the last within three words; farther off, hedged, behind a bound or of another time it is in doubt.
"""

from collections.abc import Iterable
from typing import Literal

from sandbox_grader.claims.finding import ClaimVerdict, Finding, missing
from sandbox_mcp.engine.talk.clauses import NEAR, Talk
from sandbox_mcp.engine.talk.patterns import Lazy

Standing = Literal[
    "said", "hedged", "perhaps denied", "denied", "or", "corrected", "swapped", "withdrawn", "listed", "candidate",
    "unsaid",
]  # fmt: skip
_BOUND = Lazy(
    r"(?<!a bit )(?<!a little )(?<!slightly )(?<!just )\b(?:(?:more|less|fewer|later|earlier) than|at least|at most"
    r"|between|used to be|no longer)(?: about| roughly)? \W{0,3}$"
)
_ONCE = Lazy(
    r"\b(?:yesterday|last (?:week|month|year|night|time|\w{3,6}day)|previously|formerly|originally|at first|before that"
    r"|(?:was|were) (?:going|due|supposed|meant|planned)|\d \w+ ago)\b"
)
_VERDICTS: tuple[tuple[Standing, ClaimVerdict, str], ...] = (
    ("said", "stated", "says"), ("candidate", "missing", "names among candidates"),
    ("or", "contrary", "offers as one of several"), ("corrected", "contrary", "corrects"),
    ("swapped", "contrary", "says of something else"), ("hedged", "doubt", "is unsure of"),
    ("perhaps denied", "doubt", "perhaps denies"), ("listed", "doubt", "names in a list"),
    ("denied", "contrary", "denies"), ("withdrawn", "contrary", "takes back"),
    ("unsaid", "missing", "only asks or supposes")
)  # fmt: skip
"""From the strongest to the weakest: how a value stands, what that comes to, and in words."""


def standing(talk: Talk, start: int, *, bounded: bool = True) -> Standing:
    """How what stands at a place is meant; ``bounded``: a bound, or another time, before it puts it in doubt."""
    clause = talk.clause_at(start)
    if not clause.states:
        return "unsaid"
    if start < talk.withdrawn:
        return "withdrawn"
    if not clause.quoted:
        denied, words = clause.denied(start)
        if denied:
            return "denied" if words <= NEAR else "perhaps denied"
        lead = talk.low[clause.start : start]
        if bounded and (_BOUND.search(lead) or _ONCE.search(lead)):
            return "hedged"
    return "hedged" if clause.hedges else "said"


def comes_to(found: Iterable[Standing], wanted: str) -> Finding:
    """The verdict on a fact whose value stands in some places."""
    all_found = set(found)
    for how, outcome, why in _VERDICTS:
        if how in all_found:
            return Finding(outcome, f"{why} {wanted}")
    return missing(f"does not say {wanted}")
