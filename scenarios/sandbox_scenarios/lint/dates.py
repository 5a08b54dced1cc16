"""Whether the agent can know every date that it has to write.

Policy: a date is knowable where the user says it or has it in the brief, where an earlier call returns it, or where the
agent knows which day it is and can count: because it is told at the beginning, or a call returned the present. One
solution of which all dates are knowable will do. A scenario that is about what cannot be known is left alone.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime
from typing import Any

from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.tools import Bound, bind, present
from sandbox_mcp.engine.world import to_local
from sandbox_scenarios.errors import ScenarioError
from sandbox_scenarios.filling import fill
from sandbox_scenarios.lint.complaint import LintFinding
from sandbox_scenarios.lint.parts import LACKS
from sandbox_scenarios.lint.texts import spoken
from sandbox_scenarios.model import Scenario, Solution
from sandbox_scenarios.stage import Stage

NEAR = 300.0
"""Seconds: a moment that is as near to the present as this tells what time it is."""
_DATE = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2}))?)?(?![\d-])")
_SECONDS = re.compile(r"(?<![\d.])\d{9,10}(?:\.\d+)?(?![\d.])")
"""A moment in seconds since 1970, as tools return it."""


def dates(scenario: Scenario) -> Iterator[LintFinding]:
    """Rule ``unknowable``, of dates."""
    if LACKS in scenario.categories or _says(scenario.situation, _Days(scenario).today):
        return
    lacking = [next(_unknown(scenario, solution), None) for solution in scenario.solutions]
    if lacking and all(lacking):
        number, tool, day = next(filter(None, lacking))
        problem = f"{tool} has to be called with {day:%Y-%m-%d}, and nothing tells which day it is"
        mend = "offer a tool that tells the time, or let the user know the date ('knows', 'answers')"
        yield LintFinding("unknowable", ("reference", 0, "turns", number), problem, mend)


class _Days:
    """The days in texts, read in a scenario's zone."""

    def __init__(self, scenario: Scenario) -> None:
        self.now, self.zone = scenario.clock.now, scenario.clock.zone
        self.today = to_local(self.now, self.zone).date()

    def found(self, text: str) -> Iterator[tuple[date, bool]]:
        """Every day that a text names in digits, and whether that tells which day it is today."""
        local = to_local(self.now, self.zone).replace(tzinfo=None)
        for match in _DATE.finditer(text):
            with suppress(ValueError):
                moment = datetime.fromisoformat(match[0])
                near = match[4] is None or abs((moment - local).total_seconds()) <= NEAR
                yield moment.date(), near and moment.date() == self.today
        for match in _SECONDS.finditer(text):
            yield to_local(float(match[0]), self.zone).date(), abs(float(match[0]) - self.now) <= NEAR


def _unknown(scenario: Scenario, solution: Solution) -> Iterator[tuple[int, str, date]]:
    """The dates that calls of a solution need before anything told them: the turn, the tool, the date."""
    days = _Days(scenario)
    said = "\n".join((*(text.text for text in spoken(scenario)), *scenario.user.knows))
    known = {day for day, _ in days.found(said)}
    stage, results = Stage.of(scenario), dict[str, Any]()
    stage.open()
    for number, turn in enumerate(solution.turns):
        for call in turn.calls:
            tool = scenario.home.agent_tools[call.tool]
            for day, _ in () if tool.computes else days.found(json.dumps(dict(call.arguments), default=str)):
                if day not in known and not _says(said, day):
                    yield number, call.tool, day
            with suppress(SandboxError, ScenarioError):
                arguments = {name: fill(value, results) for name, value in call.arguments.items()}
                bound = bind({tool.name: present(tool)}, tool.name, arguments)
                outcome = stage.again(bound) if isinstance(bound, Bound) else bound
                if call.label:
                    results[call.label] = outcome.result
                told = list(days.found(json.dumps(outcome.result, default=str)))
                if not tool.computes and any(tells for _, tells in told):
                    return  # from here on any day can be counted
                known.update(day for day, _ in told)


def _says(text: str, day: date) -> bool:
    """True if a text has a date with its month (18 March, March 18th, 18/3), or the year of a date in that year."""
    month = day.strftime("%B")
    year = str(day.year + 1 if (day.month, day.day) == (12, 31) else day.year)  # the last before 2009 began
    forms = (
        rf"\b(?:{day.year}|{year})\b",
        rf"\b0?{day.day}(?:st|nd|rd|th)?(?: of)? {month[:3]}(?:{month[3:]})?\b",
        rf"\b{month[:3]}(?:{month[3:]})?(?: the)? 0?{day.day}(?:st|nd|rd|th)?\b",
        rf"\b0?{day.day}[/.]0?{day.month}\b",
    )
    return any(re.search(form, text, re.IGNORECASE) for form in forms)
