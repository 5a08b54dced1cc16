"""Quick lint: what can be said about scenarios by reading them and calling what their solutions call, without playing.

Policy: every complaint names the scenario, the place in the file, the fault and how to mend it. A rule speaks up
only where it is sure; what takes playing to find out is for deep lint.
"""

from collections.abc import Callable, Iterable, Sequence

from sandbox_scenarios.instances import MARK
from sandbox_scenarios.lint.complaint import Complaint, LintFinding
from sandbox_scenarios.lint.dates import dates
from sandbox_scenarios.lint.instances import instance
from sandbox_scenarios.lint.leaks import brief, leaks
from sandbox_scenarios.lint.parts import categories, parts
from sandbox_scenarios.lint.reach import flow, reach
from sandbox_scenarios.lint.twins import twins
from sandbox_scenarios.loader import Suite
from sandbox_scenarios.model import Scenario

__all__ = ("RULES", "Complaint", "LintFinding", "lint")
_Rule = Callable[[Scenario], Iterable[LintFinding]]
RULES: tuple[_Rule, ...] = (parts, categories, brief, reach, flow, dates, leaks)
"""What looks at one scenario at a time. ``twins`` looks at all of them together."""


def lint(suite: Suite, names: Sequence[str] | None = None, instances: int = 0) -> tuple[Complaint, ...]:
    """Check these scenarios, or all that can be played, and so many of the first twenty instances of each.

    Raises:
        ScenarioFileError: a file cannot be used at all; the message says where and why.
    """
    chosen = suite.load(suite.names() if names is None else names)
    found = [(scenario, finding) for scenario in chosen for rule in RULES for finding in rule(scenario)]
    found += twins(suite, chosen)
    for number, scenario in enumerate(chosen if instances else ()):
        if MARK not in scenario.name and not scenario.generated:
            labels = {(number + step * 20 // instances) % 20 + 1 for step in range(instances)}
            found += [
                (scenario, item) for at in sorted(labels) for item in instance(suite, f"{scenario.name}{MARK}{at}")
            ]
    order = {scenario.name: number for number, scenario in enumerate(chosen)}
    placed = [
        Complaint(scenario.name, *suite.place(scenario.name, finding.path), finding.rule, finding.problem, finding.mend)
        for scenario, finding in found
    ]
    return tuple(sorted(placed, key=lambda item: (order[item.scenario], item.line)))
