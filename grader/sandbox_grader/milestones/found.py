"""What look-ups have to find, so that one which comes back with nothing is not the one that was asked for.

Policy: a query that a milestone asks for counts if it found what the scenario's solutions find by that call: one of
the same rows, or where nothing in the result tells one row from others, anything at all. Where the solutions find
nothing, nothing has to be found. An attempt, which may fail, has to fail at what stands in its way and not at its own
arguments. Tools that compute are judged by their arguments alone.

An example. *found* asks for a call of ``search_contacts`` in whatever way, and the solution finds Wren by her name. A
search of all contacts finds her as well and counts; one for a number that nobody has, or that finds somebody else, does
not.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, cast

from sandbox_scenarios.errors import ScenarioError
from sandbox_scenarios.filling import fill, refusal
from sandbox_scenarios.model import CallConstraint, Scenario
from sandbox_scenarios.stage import Stage

from sandbox_grader.grading.derived import derived
from sandbox_grader.milestones.judges import FAVOURABLE, fields_of
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.tools import Bound, Outcome, bind, present
from sandbox_mcp.engine.trajectory import ToolCall
from sandbox_mcp.engine.world.faults import CHECKED
from sandbox_mcp.engine.world.fixed import FixedRows

_Find = tuple[str, Mapping[str, Any], tuple[str, ...], bool, str]
"""A call of a solution: its tool and arguments, what tells the rows in its result, whether that is anything at all, and
the type of its error."""
AT_ITS_ARGUMENTS = "ValueError"
"""The error of a tool that cannot do anything with what it was given."""


class Findings:
    """What the queries of a scenario's solutions find; worked out when it is first asked for."""

    def __init__(self, scenario: Scenario | None) -> None:
        """Without a scenario whatever was found will do."""
        self._scenario = scenario
        self._finds: tuple[_Find, ...] | None = None
        self._wanted: dict[tuple[int, str], tuple[frozenset[str], bool]] = {}

    def lacks(self, constraint: CallConstraint, call: ToolCall) -> str:
        """What a call that meets a constraint did not find, in words; empty where it found what it should."""
        scenario = self._scenario
        tool = scenario.home.agent_tools.get(call.called) if scenario else None
        if tool is None:
            return ""
        if call.error is not None:
            failed = call.error.kind in CHECKED or call.error.type == AT_ITS_ARGUMENTS
            planned = (find[4] for find in self._fitting(constraint))
            return (
                f"failed at its own arguments: {call.error.message}"
                if failed and call.error.type not in planned
                else ""
            )
        if tool.action or tool.computes or constraint.attempt:
            return ""
        rows, sure = self._sought(constraint, call.called)
        if not is_something(call.result):
            return "found nothing" if sure else ""
        return "found nothing of what was to be found" if rows and rows.isdisjoint(_leaves(call.result)) else ""

    def _sought(self, constraint: CallConstraint, tool: str) -> tuple[frozenset[str], bool]:
        """What tells the rows that the solutions find by this tool, and whether every such call finds anything."""
        key = (id(constraint), tool)
        if key not in self._wanted:
            found = [find for find in self._fitting(constraint) if not find[4]]
            marks = [frozenset(find[2]) for find in found if find[0] == tool]
            rows = frozenset[str]().union(*marks) if all(marks) else frozenset[str]()
            self._wanted[key] = rows, bool(found) and all(find[3] for find in found)
        return self._wanted[key]

    def _fitting(self, constraint: CallConstraint) -> list[_Find]:
        return [find for find in self._made() if _fits(constraint, find)]

    def _made(self) -> tuple[_Find, ...]:
        if self._finds is None:
            scenario = self._scenario
            self._finds = derived(scenario, "finds", lambda: tuple(_found_in(scenario))) if scenario else ()
        return self._finds


def is_something(result: Any) -> bool:
    """True if a query found anything: a switch in state off and the number 0 are findings, an empty list is none."""
    if isinstance(result, str | list | tuple):
        return len(cast("list[Any]", result)) > 0
    if isinstance(result, Mapping):
        return any(map(is_something, cast("Mapping[str, Any]", result).values()))
    return result is not None


def _fits(constraint: CallConstraint, find: _Find) -> bool:
    return any(
        pattern.tool == find[0] and fields_of(pattern.arguments, find[1], FAVOURABLE) > 0
        for pattern in constraint.patterns
    )


def _found_in(scenario: Scenario) -> Iterator[_Find]:
    """The calls of all solutions, made in the scenario's world; one that cannot be made is left out."""
    marks = _marks(scenario)
    for solution in scenario.solutions:
        stage, results = Stage.of(scenario), dict[str, Any]()
        for call in (call for turn in solution.turns for call in turn.calls):
            with suppress(SandboxError, ScenarioError):
                arguments = {name: fill(value, results) for name, value in call.arguments.items()}
                outcome = _carried_out(scenario, stage, call.tool, arguments)
                fault = outcome.fault
                if call.label:
                    results[call.label] = refusal(fault.message) if fault else outcome.result
                told = tuple(sorted(marks.intersection(_leaves(outcome.result))))
                yield call.tool, arguments, told, is_something(outcome.result), fault.type if fault else ""


def _carried_out(scenario: Scenario, stage: Stage, name: str, arguments: Mapping[str, Any]) -> Outcome:
    tool = scenario.home.agent_tools[name]
    bound = bind({tool.name: present(tool)}, tool.name, arguments)
    return stage.again(bound) if isinstance(bound, Bound) else bound


def _marks(scenario: Scenario) -> frozenset[str]:
    """What tells one row from all others: the ids of all rows, and texts that stand in one row alone."""
    ids, texts = set[str](), Counter[str]()
    for table in scenario.world.tables.values():
        ids.update(table)
        for row in table.values():
            texts.update({cell for cell in row.values() if isinstance(cell, str)})
    for schema in scenario.home.tables.values():
        ids.update(FixedRows.of(schema).rows if schema.fixed else ())
    return frozenset(ids.union(text for text, rows in texts.items() if rows == 1))


def _leaves(value: Any) -> Iterator[str]:
    """All texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in cast("Mapping[str, Any]", value).values():
            yield from _leaves(item)
    elif isinstance(value, list | tuple):
        for item in cast("list[Any]", value):
            yield from _leaves(item)
