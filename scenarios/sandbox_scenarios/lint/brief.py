"""Whether a user's brief holds whole sentences, and says what the user refuses.

Policy: a sentence begins with anything but a lower-case letter and has an end. In a list in brackets YAML cuts an
unquoted sentence at every comma, and what is left of it can say something else ("Your rent went up by 48"). Whoever
agrees to everything walks into every minefield, so where there is one the user has to know what it does not want.
"""

from collections.abc import Iterator

from sandbox_scenarios.lint.complaint import LintFinding
from sandbox_scenarios.lint.texts import sentence_lists
from sandbox_scenarios.model import Scenario

_ENDS = (".", "!", "?", "\u2026")
_CLOSING = "\"'\u201d\u2019)"
"""What may stand behind the end of a sentence."""
_REFUSING = ("no", "not", "only", "don't", "leave")
"""How a script begins that answers a request for leave with a refusal."""


def brief(scenario: Scenario) -> Iterator[LintFinding]:
    """Rules ``torn_sentence`` and ``unsaid_refusal``."""
    for item in sentence_lists(scenario):
        text = item.text.strip()
        fault = ""
        if text[:1].islower():
            fault = "starts in lower case"
        elif not text.rstrip(_CLOSING).endswith(_ENDS):
            fault = "has no end"
        if fault:
            problem = f"{item.path[-2]} {item.text!r} {fault}"
            mend = "write a whole sentence, in quotes where it has a comma and the list is in brackets"
            yield LintFinding("torn_sentence", item.path, problem, mend)
    script = scenario.user.script
    first = script.confirm.casefold().replace(",", " ").partition(" ")[0]
    if not scenario.user.wants_not:
        mend = "say under 'wants_not' what the user refuses, so that every kind of user does"
        if scenario.minefields:
            text = f"nothing keeps the user from agreeing to minefield {scenario.minefields[0].id!r}"
            yield LintFinding("unsaid_refusal", ("minefields", 0), text, mend)
        elif not script.approves or first in _REFUSING:
            text = "the script refuses, and the brief does not say what"
            yield LintFinding("unsaid_refusal", ("user", "script"), text, mend)
