"""Faults that only an instance has: a literal left over, a day on another weekday, names that became one.

Policy: an instance is compared with the scenario as written, so that nothing is complained of that was meant.
"""

import json
import re
from collections.abc import Iterator
from datetime import date

from sandbox_mcp.engine.world import to_local
from sandbox_scenarios.dates import MONTHS
from sandbox_scenarios.lint.complaint import LintFinding
from sandbox_scenarios.lint.texts import texts
from sandbox_scenarios.loader import Suite
from sandbox_scenarios.model import Scenario

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DATED = re.compile(
    rf"\b({'|'.join(_WEEKDAYS)}),? (?:the )?(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({'|'.join(MONTHS)})(?: (\d{{4}}))?\b"
)
_ORDINAL = re.compile(r"\b(\d*?)(\d)(st|nd|rd|th)\b")
_ENDINGS = {"1": "st", "2": "nd", "3": "rd"}
_ARTICLE = re.compile(r"\ba (?=[aeio]\w+)(\w+)|\ban (?=[^\W\daeiouh_])(\w+)", re.IGNORECASE)
_LEAST = 4
"""Shorter literals, and those that are no name or noun, may stand somewhere for another reason."""
_COMMON = re.compile(
    r"(?:a |an |the |half |quarter |twenty |thirty |forty |fifty |sixty |seventy |eighty |ninety |hundred |past |to )*"
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|seventeen|twenty|"
    r"thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|more|hour|image|yellow|square|free)",
    re.IGNORECASE,
)


def instance(suite: Suite, name: str) -> Iterator[LintFinding]:
    """What is wrong with an instance; nothing where all that can be seen is right."""
    made, written = suite.get(name), suite.get(name.partition("@")[0])
    told = re.sub(r"\$\{[^{}]*\}", "", "\n".join(_told(made)))
    became = suite.drawn(name)
    for literal, drawn in became.items():
        kept = any(literal.casefold() in other.casefold() for other in became.values())
        if _speaks(literal) and not kept and _stands(literal, told):
            mend = f"write it as {literal!r} is written under draws, or draw it together with it"
            yield LintFinding(
                "instance", ("draws",), f"in {name} {literal!r} still stands, though it became {drawn!r}", mend
            )
    before = set(_slips(written))
    for slip in _slips(made):
        if slip not in before:
            yield LintFinding(
                "instance", ("user",), f"in {name} {slip}", "draw what fits, or write the text so that it does"
            )
    for table, column in (("contact", "name"), ("contact", "phone_number"), ("account", "username")):
        if _distinct(made, table, column) < _distinct(written, table, column):
            found = f"in {name} two rows of table {table!r} have the same {column!r}"
            yield LintFinding("instance", ("draws",), found, "draw from other words")


def _told(scenario: Scenario) -> Iterator[str]:
    """Everything written in a scenario but for its labels: texts, rows, calls, replies and what milestones ask for."""
    yield from (item.text for item in texts(scenario))
    yield from (turn.reply for solution in scenario.solutions for turn in solution.turns)
    for solution in scenario.solutions:
        yield from (
            json.dumps(dict(call.arguments), default=str, ensure_ascii=False)
            for turn in solution.turns
            for call in turn.calls
        )
    for rows in scenario.world.tables.values():
        yield from (str(cell) for row in rows.values() for cell in row.values() if isinstance(cell, str))


def _speaks(literal: str) -> bool:
    return len(literal) >= _LEAST and literal[0].isalpha() and not _COMMON.fullmatch(literal)


def _stands(literal: str, told: str) -> bool:
    return bool(re.search(rf"(?<![\w$@.]){re.escape(literal)}(?!\w)", told, re.IGNORECASE))


def _distinct(scenario: Scenario, table: str, column: str) -> int:
    rows = scenario.world.tables.get(table, {})
    return len({str(row.get(column)) for row in rows.values()})


def _slips(scenario: Scenario) -> Iterator[str]:
    today = to_local(scenario.clock.now, scenario.clock.zone).date()
    for text in _told(scenario):
        for weekday, day, month, year in _DATED.findall(text):
            near = _nearest(today, int(day), MONTHS.index(month) + 1, int(year or 0))
            if near is not None and _WEEKDAYS[near.weekday()] != weekday:
                yield f"{day} {month} is called a {weekday}"
        for tens, ones, ending in _ORDINAL.findall(text):
            right = "th" if tens.endswith("1") else _ENDINGS.get(ones, "th")
            if ending != right:
                yield f"{tens}{ones}{ending} is written for {tens}{ones}{right}"
        for vowel, consonant in _ARTICLE.findall(text):
            word = vowel or consonant
            if not re.match(r"one|once|uni|use|eu", word, re.IGNORECASE):
                yield f"{'a' if vowel else 'an'} stands before {word!r}"


def _nearest(today: date, day: int, month: int, year: int) -> date | None:
    found = list[date]()
    for one in [year] if year else range(today.year - 1, today.year + 2):
        try:
            found.append(date(one, month, day))
        except ValueError:
            continue
    return min(found, key=lambda one: abs(one - today), default=None) if found else None
