"""Whether the agent can come to know what milestones ask it to write down.

Policy: names and phone numbers only, because everything else may be put into another form on the way. What a search
of the outside world may find is not judged here.
"""

import re
from collections.abc import Iterator

from sandbox_scenarios.lint.complaint import LintFinding
from sandbox_scenarios.lint.texts import contains, has_ending, has_number, is_number, spoken
from sandbox_scenarios.model import Scenario, TableConstraint

NAMES = ("name",)
"""Columns that are a name whatever a world says of them."""


def flow(scenario: Scenario) -> Iterator[LintFinding]:
    """Rule ``unknowable``."""
    if any(scenario.home.agent_tools[name].domain == "search" for name in scenario.tools):
        return
    cells = (cell for rows in scenario.world.tables.values() for row in rows.values() for cell in row.values())
    told = "\n".join((*(text.text for text in spoken(scenario)), *(cell for cell in cells if isinstance(cell, str))))
    for number, milestone in enumerate(scenario.milestones):
        for constraint in milestone.constraints:
            if isinstance(constraint, TableConstraint):
                for column, value in _written(scenario, constraint):
                    if is_number(value):
                        known = has_number(told, value) or has_ending(told, value)
                    else:
                        known = all(contains(told, word) for word in re.findall(r"[^\W_]+", value))
                    if not known:
                        problem = f"milestone {milestone.id!r} wants {column} {value!r}, which is never told"
                        mend = "let the scripted user say it when asked ('answers')"
                        yield LintFinding("unknowable", ("milestones", number), problem, mend)


def _written(scenario: Scenario, constraint: TableConstraint) -> Iterator[tuple[str, str]]:
    schema = scenario.home.state_tables.get(constraint.table)
    if constraint.kind not in ("adds", "updates") or schema is None:
        return
    names = {item.name for item in schema.columns if item.person or item.name in NAMES}
    numbers = {item.name for item in schema.columns if item.unsaid}
    for column, expected in (cell for row in constraint.rows for cell in row.items()):
        value = expected.value
        literal = expected.ref is None and isinstance(value, str) and expected.measure in (None, "exact")
        if literal and (column in names or (column in numbers and is_number(value))):
            yield column, str(value)
