"""Whether the lists of a user's brief hold whole sentences.

Policy: a sentence begins with anything but a lower-case letter and has an end. In a list in brackets YAML cuts an
unquoted sentence at every comma, and what is left of it can say something else ("Your rent went up by 48").
"""

from collections.abc import Iterator

from sandbox_scenarios.lint.complaint import LintFinding
from sandbox_scenarios.lint.texts import sentence_lists
from sandbox_scenarios.model import Scenario

ENDS = tuple(".!?\u2026")
_CLOSING = "\"'\u201d\u2019)"
"""What may stand behind the end of a sentence."""


def sentences(scenario: Scenario) -> Iterator[LintFinding]:
    """Rule ``torn_sentence``."""
    for item in sentence_lists(scenario):
        text = item.text.strip()
        fault = ""
        if text[:1].islower():
            fault = "starts in lower case"
        elif not text.rstrip(_CLOSING).endswith(ENDS):
            fault = "has no end"
        if fault:
            problem = f"{item.path[-2]} {item.text!r} {fault}"
            mend = "write a whole sentence, in quotes where it has a comma and the list is in brackets"
            yield LintFinding("torn_sentence", item.path, problem, mend)
