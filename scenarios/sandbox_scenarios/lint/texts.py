"""The texts of a scenario's user, and the ways in which the same thing can be written."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeGuard

from sandbox_scenarios.model import Scenario
from sandbox_scenarios.problem import PartPath

_DIGITS = re.compile(r"\D+")
_NUMBER = re.compile(r"\+?\(?\d[\d ().-]{5,30}")
_WORD = re.compile(r"[^\W_]+")
TAIL, LEAST = 7, 3
"""So many digits at the end tell one phone number from another, and so few are enough to correct one."""


@dataclass(frozen=True, slots=True)
class ScenarioText:
    """One text: where it stands, and whether the user may say it as it stands."""

    path: PartPath
    text: str
    spoken: bool = True


def texts(scenario: Scenario) -> Iterator[ScenarioText]:
    """Everything written about the user, what it says first."""
    user, script = scenario.user, scenario.user.script
    yield ScenarioText(("user", "opening"), user.opening)
    for number, answer in enumerate(script.answers):
        yield ScenarioText(("user", "script", "answers", number, "say"), answer.say)
    for number, line in enumerate(script.then):
        yield ScenarioText(("user", "script", "then", number), line)
    for number, line in enumerate(user.changes):
        yield ScenarioText(("user", "changes", number), line)
    for name in ("confirm", "unknown", "decline"):
        yield ScenarioText(("user", "script", name), getattr(script, name))
    yield ScenarioText(("user", "goal"), user.goal, spoken=False)
    for number, line in enumerate(user.knows):
        yield ScenarioText(("user", "knows", number), line, spoken=False)
    for number, line in enumerate(user.wants_not):
        yield ScenarioText(("user", "wants_not", number), line, spoken=False)
    for number, exchange in enumerate(user.demonstration):
        yield ScenarioText(("user", "demonstration", number, "user"), exchange.user, spoken=False)
        yield ScenarioText(("user", "demonstration", number, "agent"), exchange.agent, spoken=False)


def sentence_lists(scenario: Scenario) -> Iterator[ScenarioText]:
    """Every item of the lists that hold sentences about the user, or sentences that it says."""
    user = scenario.user
    for name in ("knows", "does_not_know", "wants_not"):
        for number, line in enumerate(getattr(user, name)):
            yield ScenarioText(("user", name, number), line, spoken=False)
    for number, line in enumerate(user.script.then):
        yield ScenarioText(("user", "script", "then", number), line)


def spoken(scenario: Scenario) -> tuple[ScenarioText, ...]:
    """Texts that the scripted user may say."""
    return tuple(text for text in texts(scenario) if text.spoken)


def known(scenario: Scenario) -> str:
    """Knowledge of the user, as one text."""
    return "\n".join(scenario.user.knows)


@lru_cache(maxsize=16384)
def plain(text: str) -> str:
    """A text as lower-case words with single spaces, so that it can be looked for."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def contains(text: str, words: str) -> bool:
    """True if the words occur in the text, whole and in order."""
    wanted = plain(words)
    return bool(wanted.strip()) and wanted in plain(text)


def has_number(text: str, number: str) -> bool:
    """True if a phone number occurs in a text, however it is written."""
    tail = _digits(number)[-TAIL:]
    return len(tail) == TAIL and tail in _digits(text)


@lru_cache(maxsize=16384)
def _digits(text: str) -> str:
    return _DIGITS.sub("", text)


def has_ending(text: str, number: str) -> bool:
    """True if at least the last digits of a phone number stand in a text, by themselves."""
    digits = _DIGITS.sub("", number)
    return any(len(part) >= LEAST and digits.endswith(part) for part in _DIGITS.split(text))


def is_number(value: object) -> TypeGuard[str]:
    """Whether a cell holds a phone number, which everybody writes in a way of their own."""
    return isinstance(value, str) and _NUMBER.fullmatch(value) is not None and len(_DIGITS.sub("", value)) >= TAIL


def unsaid_cells(scenario: Scenario) -> Iterator[tuple[str, object]]:
    """Cells that only a look tells, each value once; a text of a word or two is left out."""
    told = set[object]()
    for table, schema in scenario.home.state_tables.items():
        columns = [item for item in schema.columns if item.unsaid or (item.role and item.role.kind == "secret")]
        people = [item.name for item in schema.columns if item.person]
        for row in scenario.world.table(table).values() if columns else ():
            whose = next((str(row[name]) for name in people), table if schema.single else f"a row of {table}")
            for item in columns:
                cell = row[item.name]
                brief = item.role is not None and item.role.kind == "text" and len(str(cell).split()) <= 2
                if cell is not None and not brief and cell not in told:
                    told.add(cell)
                    yield f"the {item.name.replace('_', ' ')} of {whose}", cell


def people(scenario: Scenario) -> frozenset[str]:
    """The words, beginning with a capital, of all names of people."""
    cells = (
        str(row[item.name])
        for table, schema in scenario.home.state_tables.items()
        for item in schema.columns
        if item.person
        for row in scenario.world.table(table).values()
    )
    return frozenset(word for name in cells for word in _WORD.findall(name) if word[0].isupper())
