"""Values, expectations and constraints in words.

Policy: a phrase shows what was found as it stood in the log, cut where it is long, beside what was expected.
"""

from collections.abc import Callable, Iterable, Mapping
from sys import intern
from typing import Any

from sandbox_scenarios.model import CallConstraint, Constraint, Expected, MessageConstraint, ValueRef

from sandbox_grader.milestones.measures import Lookup, avoided, forms, judged_by, missing

LONG = 160
"""Texts are shortened to so many characters."""
PREFIXES = {"contains": "a text with ", "rouge": "words like "}


def shown(value: object) -> str:
    """A value for people: as it would be written, cut where it is long."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "nothing"}[value]
    try:
        text = repr(value)
    except ValueError:  # a whole number of thousands of digits
        return "a very long number"
    return text if len(text) <= LONG else text[: LONG - 1] + "…"


def either(values: Iterable[object]) -> str:
    """Alternatives: ``'off' or 'disabled'``."""
    return " or ".join(map(shown, values))


def title(constraint: Constraint) -> str:
    """A constraint in a few words, the same text in the scores of all sessions."""
    if isinstance(constraint, MessageConstraint):
        return intern(f"message from {constraint.sender} to {constraint.recipient}")
    if isinstance(constraint, CallConstraint):
        return intern(f"call of {tools(constraint)}")
    return intern(f"{constraint.table} {constraint.kind}")


def tools(constraint: CallConstraint) -> str:
    """The tools of a constraint, as alternatives."""
    return " or ".join(dict.fromkeys(pattern.tool for pattern in constraint.patterns))


def differences(
    expected: Mapping[str, Expected],
    actual: Mapping[str, Any],
    right: Callable[[Expected, str, Any], bool],
    lookup: Lookup,
) -> list[str]:
    """One phrase per named column or argument with another value than expected."""
    return [
        f"{_named(name, actual.get(name))}, expected {wanted(value, name, lookup)}"
        for name, value in expected.items()
        if not right(value, name, actual.get(name))
    ]


def _named(name: str, value: object) -> str:
    return f"no {name}" if value is None else f"{name} {shown(value)}"


def _wordings(wordings: Iterable[str], expected: Expected, lookup: Lookup) -> str:
    """Alternatives with their values; where one was never found, with what it was to be."""
    filled = [(item, tuple(forms(item, expected.values, lookup))) for item in wordings]
    return either(text for item, found in filled for text in found or (_unfilled(item, expected.values),))


def _unfilled(wording: str, values: Mapping[str, ValueRef]) -> str:
    for name, ref in values.items():
        wording = wording.replace(f"{{{name}}}", f"(the {name} that {ref.milestone} was to find)")
    return wording


def wanted(expected: Expected, name: str, lookup: Lookup) -> str:
    """Expected value of a column or argument."""
    if expected.ref is not None:
        return either(lookup(expected.ref)) or f"the value from {expected.ref.milestone!r}, which is missing"
    measure, within = judged_by(expected, name)
    if measure == "facts":
        return " and ".join(_wordings(wordings, expected, lookup) for wordings in expected.value)
    if measure == "one_of":
        return either(expected.value)
    return PREFIXES.get(str(measure), "") + shown(expected.value) + (f" (within {within})" if within else "")


def judged_text(expected: Expected, text: str, value: float, lookup: Lookup) -> str:
    """Explain why a message is not quite what was expected, ``value`` being how well it fits."""
    if expected.measure != "facts":
        fit = f" (which it resembles to {value:.2f})" if value else ""
        return f"{shown(text)}, expected {wanted(expected, 'content', lookup)}{fit}"
    found = avoided(expected, text, lookup)
    if found:
        return f"says {' and '.join(map(shown, found))}, which it must not: {shown(text)}"
    lacking = [_wordings(wordings, expected, lookup) for wordings in missing(expected, text, lookup)]
    return f"does not say {' and '.join(lacking)}: {shown(text)}"
