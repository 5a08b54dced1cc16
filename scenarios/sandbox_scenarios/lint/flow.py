"""Whether the agent can come to know what milestones ask it to write down.

Policy: names and phone numbers only, because everything else may be put into another form on the way. What a search
of the outside world may find is not judged here.
"""

import re
from collections.abc import Iterator

from sandbox_scenarios.lint.complaint import LintFinding
from sandbox_scenarios.lint.texts import contains, has_ending, has_number, spoken
from sandbox_scenarios.model import Expected, Scenario, TableConstraint

NUMBERS = ("phone_number", "recipient_phone_number")
NAMES = ("name",)


def flow(scenario: Scenario) -> Iterator[LintFinding]:
    """Rule ``unknowable``."""
    if any(scenario.home.agent_tools[name].domain == "search" for name in scenario.tools):
        return
    told = "\n".join((*(text.text for text in spoken(scenario)), *_on_the_phone(scenario)))
    for number, milestone in enumerate(scenario.milestones):
        for constraint in milestone.constraints:
            if isinstance(constraint, TableConstraint):
                for column, value in _written(constraint):
                    if not _in(told, column, value):
                        problem = f"milestone {milestone.id!r} wants {column} {value!r}, which is never told"
                        mend = "let the scripted user say it when asked ('answers')"
                        yield LintFinding("unknowable", ("milestones", number), problem, mend)


def _on_the_phone(scenario: Scenario) -> Iterator[str]:
    for rows in scenario.world.tables.values():
        for row in rows.values():
            yield from (value for value in row.values() if isinstance(value, str))


def _written(constraint: TableConstraint) -> Iterator[tuple[str, str]]:
    if constraint.kind not in ("adds", "updates"):
        return
    for row in constraint.rows:
        for column, expected in row.items():
            if column in (*NAMES, *NUMBERS) and _literal(expected):
                yield column, str(expected.value)


def _literal(expected: Expected) -> bool:
    return expected.ref is None and isinstance(expected.value, str) and expected.measure in (None, "exact")


def _in(told: str, column: str, value: str) -> bool:
    if column in NUMBERS:
        return has_number(told, value) or has_ending(told, value)
    return all(contains(told, word) for word in re.findall(r"[^\W_]+", value))
