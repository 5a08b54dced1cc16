"""All quick rules over all scenarios asked for, in the order of the suite."""

from collections.abc import Callable, Iterable, Sequence
from types import MappingProxyType

from sandbox_scenarios.lint.complaint import Complaint, LintFinding
from sandbox_scenarios.lint.flow import flow
from sandbox_scenarios.lint.leaks import brief, leaks
from sandbox_scenarios.lint.parts import categories, parts
from sandbox_scenarios.lint.reach import reach
from sandbox_scenarios.lint.twins import twins
from sandbox_scenarios.loader import Suite
from sandbox_scenarios.model import Scenario

Rule = Callable[[Scenario], Iterable[LintFinding]]
RULES: tuple[Rule, ...] = (parts, categories, brief, reach, flow, leaks)
"""What looks at one scenario at a time. ``twins`` looks at all of them together."""

WHAT = MappingProxyType(
    {
        "missing": "a part that every scenario needs is not there",
        "reply_rests_on_nothing": "a reply earns points whether or not anything was done",
        "category": "the categories contradict the solutions, the user or the world",
        "torn_sentence": "what the user knows is not a whole sentence",
        "unsaid_refusal": "a minefield to which the user may agree, or a refusal that the brief does not tell",
        "unbriefed": "a name or number that only the script tells, so that no other kind of user knows it",
        "unreachable": "a milestone that no tool offered can bring about",
        "harmless_minefield": "a minefield that cannot be stepped on with the tools offered",
        "spare_tool": "a tool that changes something and that no solution and no minefield uses",
        "copied_id": "a solution writes an id down instead of taking it from a result",
        "unknowable": "a value that neither the user nor the world ever tells",
        "tool_name": "the user names a tool",
        "argument_name": "the user names an argument",
        "id": "the user says an id",
        "secret": "the user says what only the world knows",
        "answer_given": "the user says, or its goal tells it, the answer to its own question",
        "twin": "two scenarios say the same, each in its own words",
    }
)
"""Every rule by name, and what it complains of."""


def lint(suite: Suite, names: Sequence[str] | None = None) -> tuple[Complaint, ...]:
    """What is wrong with these scenarios, or with all that can be played.

    Raises:
        ScenarioFileError: a file cannot be used at all; the message says where and why.
    """
    chosen = suite.load(suite.names() if names is None else names)
    found = [(scenario, finding) for scenario in chosen for rule in RULES for finding in rule(scenario)]
    found += twins(suite, chosen)
    order = {scenario.name: number for number, scenario in enumerate(chosen)}
    placed = [
        Complaint(scenario.name, *suite.place(scenario.name, finding.path), finding.rule, finding.problem, finding.mend)
        for scenario, finding in found
    ]
    return tuple(sorted(placed, key=lambda item: (order[item.scenario], item.line)))
