"""What a user cannot know: the world's rows, what tools found, and what the scenario expects.

Policy: only what is hardly said by chance counts. The row about the user itself is no secret to it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeGuard

from sandbox_scenarios.model import CallConstraint, Expected, Scenario, TableConstraint

from sandbox_grader.grading.values import is_number, leaves
from sandbox_grader.users.values import TAIL, Value, month_day, plain, telling
from sandbox_mcp.engine.trajectory import ToolCall, Trajectory
from sandbox_mcp.engine.world import to_local
from sandbox_mcp.engine.world.schema import CellRole

FEWEST_WORDS = 3
"""A text of fewer words may be said by chance."""
_CALENDAR = frozenset(
    {
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    }
)  # fmt: skip
LARGEST = 1e15
LEAST_DIGITS = 4
"""So many digits at the end of a telephone number give it away."""


@dataclass(slots=True)
class Secrets:
    """Secrets by kind, each with where it comes from.

    ``numbers`` are compared as they were rounded; ``texts`` are found by their first words. ``said`` is what each tool
    has returned last, and to what.
    """

    values: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    numbers: dict[float, str] = field(default_factory=dict[float, str])
    names: dict[str, str] = field(default_factory=dict[str, str])
    texts: dict[tuple[str, ...], dict[str, str]] = field(default_factory=dict[tuple[str, ...], dict[str, str]])
    passwords: dict[str, str] = field(default_factory=dict[str, str])
    said: dict[str, tuple[Mapping[str, Any], Any]] = field(default_factory=dict[str, tuple[Mapping[str, Any], Any]])
    _kept: set[str] = field(default_factory=set[str])

    def copy(self) -> "Secrets":
        """A copy to which other secrets can be added."""
        texts = {words: dict(known) for words, known in self.texts.items()}
        kept = (dict(self.passwords), dict(self.said), set(self._kept))
        return Secrets(dict(self.values), dict(self.numbers), dict(self.names), texts, *kept)

    def source(self, value: Value) -> str | None:
        """Where a value comes from that the user has said; None if from nowhere known."""
        if value.kind == "phone number":
            return self.values.get((value.kind, value.form[-TAIL:]))
        if value.kind != "number":
            return self.values.get((value.kind, value.form))
        said, decimals = float(value.form), len(value.form.partition(".")[2])
        if exact := self.numbers.get(said):
            return exact
        if decimals:
            return next((source for number, source in self.numbers.items() if round(number, decimals) == said), None)
        if len(value.form) < LEAST_DIGITS:
            return None
        phones = ((tail, source) for (kind, tail), source in self.values.items() if kind == "phone number")
        return next((source for tail, source in phones if tail.endswith(value.form)), None)

    def quoted(self, text: str) -> Iterator[tuple[str, str]]:
        """The secret texts that occur word by word in what was said, in plain form, each with where it comes from."""
        said = plain(text)
        words = said.split()
        for place in range(len(words) - FEWEST_WORDS + 1):
            known = self.texts.get(tuple(words[place : place + FEWEST_WORDS]), {})
            yield from ((secret, source) for secret, source in known.items() if secret in said)

    def keep(self, item: object, source: str) -> None:
        """Make a JSON value, with all its parts, a secret; a text made one already is not looked at again."""
        for leaf in leaves(item):
            if is_sayable_number(leaf):
                self.numbers.setdefault(float(leaf), source)
            if not isinstance(leaf, str) or leaf in self._kept:
                continue
            self._kept.add(leaf)
            words = plain(leaf).split()
            if len(leaf.split()) >= FEWEST_WORDS <= len(words):
                self.texts.setdefault(tuple(words[:FEWEST_WORDS]), {}).setdefault(plain(leaf), source)
            for value in telling(leaf):
                if value.kind == "number":
                    self.numbers.setdefault(float(value.form), source)
                else:
                    form = value.form[-TAIL:] if value.kind == "phone number" else value.form
                    self.values.setdefault((value.kind, form), source)

    def keep_name(self, name: str, source: str) -> None:
        """Make the parts of a person's name secrets."""
        for word in plain(name).split():
            if len(word) > FEWEST_WORDS and word not in _CALENDAR:
                self.names.setdefault(word, source)

    def keep_day(self, timestamp: float, zone: str, source: str) -> None:
        """Make a date a secret."""
        day = to_local(timestamp, zone)
        self.values.setdefault(("date", month_day(day.month, day.day)), source)


def secrets_of(trajectory: Trajectory, scenario: Scenario) -> Secrets:
    """The secrets of a session before anything has happened in it."""
    world, usual = trajectory.started.world, scenario.world.tables
    return _secrets_in(world, scenario) if world and world != usual else _usual_secrets(scenario).copy()


@lru_cache(maxsize=128)
def _usual_secrets(scenario: Scenario) -> Secrets:
    """The secrets of a session that begins as the scenario does."""
    return _secrets_in(scenario.world.tables, scenario)


def _secrets_in(world: Mapping[str, Mapping[str, Mapping[str, Any]]], scenario: Scenario) -> Secrets:
    secrets = Secrets()
    for table, rows in world.items():
        schema = scenario.home.tables.get(table)
        columns = schema.columns if schema else ()
        for key, row in rows.items():
            if schema is None or not row.get(schema.owner):
                source = f"a row of {table}"
                secrets.values.setdefault(("id", key.lower()), source)
                secrets.keep(dict(row), source)
                for item in columns:
                    if isinstance(cell := row.get(item.name), str):
                        if item.person:
                            secrets.keep_name(cell, source)
                        elif item.role is not None and item.role.kind == "secret":
                            secrets.passwords.setdefault(plain(cell), source)
    for line in scenario.user.does_not_know:
        secrets.keep(line, "what the scenario says it does not know")
    for expected, name, role in _expectations(scenario):
        _keep_expected(secrets, scenario, expected, name, role)
    secrets.keep_day(scenario.clock.now, scenario.clock.zone, "the world's clock")
    return secrets


def keep_result(secrets: Secrets, call: ToolCall) -> None:
    """Make what a call returned a secret, but for what it was given; what a tool says again is known."""
    if call.name in secrets.said and secrets.said[call.name] == (call.arguments, call.result):
        return
    secrets.said[call.name] = (call.arguments, call.result)
    given = tuple(leaves(call.arguments))
    for leaf in leaves(call.result):
        if leaf not in given:
            secrets.keep(leaf, f"the result of {call.called} (#{call.seq})")


def is_sayable_number(leaf: Any) -> TypeGuard[int | float]:
    """Whether a value is a number that a person could say."""
    return is_number(leaf) and abs(leaf) < LARGEST


def _keep_expected(secrets: Secrets, scenario: Scenario, expected: Expected, name: str, role: CellRole | None) -> None:
    source = f"what the scenario expects of {name}"
    value = expected.value
    if role is not None and role.kind == "moment" and is_sayable_number(value):
        secrets.keep_day(float(value), scenario.clock.zone, source)
        return
    for leaf in leaves(value):
        for found in telling(leaf) if isinstance(leaf, str) else ():
            secrets.keep(found.words, source)
        if is_sayable_number(leaf):
            secrets.keep(leaf, source)


def _expectations(scenario: Scenario) -> Iterator[tuple[Expected, str, CellRole | None]]:
    """The values that milestones compare, each with the name and the role of its column or argument."""
    home = scenario.home
    for constraint in (constraint for milestone in scenario.milestones for constraint in milestone.constraints):
        if isinstance(constraint, TableConstraint):
            schema = home.tables.get(constraint.table)
            roles = {item.name: item.role for item in schema.columns} if schema else {}
            for row in constraint.rows:
                yield from ((expected, column, roles.get(column)) for column, expected in row.items())
        elif isinstance(constraint, CallConstraint):
            for pattern in constraint.patterns:
                tool = home.tools.get(pattern.tool)
                roles = {item.name: item.role for item in tool.parameters} if tool else {}
                yield from ((value, name, roles.get(name)) for name, value in pattern.arguments.items())
        else:
            yield constraint.content, "the reply", None
