"""The world of a draft: which base it branches from, the differences, and what its rows are called.

Policy: the base that shares most rows is the one; what differs is written row by row. A world that no base resembles
is written whole. Rows get the base's labels, or labels made of what stands in them.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sandbox_grader.grading.values import is_array, is_object
from sandbox_scenarios import Suite, UnknownScenarioError
from sandbox_scenarios.errors import ScenarioFileError

from sandbox_mcp.app.authoring.drafting.story import DraftStory
from sandbox_mcp.app.authoring.drafting.words import free_name
from sandbox_mcp.engine.tools import Tool, World
from sandbox_mcp.engine.world import Column, Row, Snapshot, TableSchema, to_local, to_timestamp
from sandbox_mcp.engine.world.schema import CellRole

_WORD = re.compile(r"[a-z0-9]+")
UNTIMED = 365 * 86400.0
"""Up to this the times of a log without a state are numbers of events."""
SOME_DAY = 1767603600.0
"""The fifth of January 2026, nine in the morning: when a draft begins whose log tells no time."""


@dataclass(frozen=True, slots=True)
class DraftSetting:
    """Setting of a draft: ``labels`` maps row ids to ``table.label``; the rest is as a file has it."""

    base: str | None
    world: Mapping[str, Any]
    clock: Mapping[str, Any]
    labels: Mapping[str, str]
    zone: str
    moments: frozenset[str]

    def value(self, name: str, value: Any) -> Any:
        """A value as a file has it: ids by their labels, moments as dates."""
        return _cell(name in self.moments, value, self.labels, self.zone)

    def argument(self, tool: Tool, name: str, value: Any) -> Any:
        """An argument of a call as a file has it: moments as dates also inside lists and objects."""
        given = next((item for item in tool.parameters if item.name == name), None)
        return self.value(name, given.with_roles(value, self._dated) if given else value)

    def _dated(self, role: CellRole, value: Any) -> Any:
        dated = role.kind == "moment" and isinstance(value, int | float)
        return moment(value, self.zone) if dated else value


def moment(timestamp: float, zone: str) -> datetime | float:
    """A timestamp as local wall time; as it is where that would mean another moment."""
    wall = to_local(timestamp, zone).replace(tzinfo=None, fold=0)  # a file knows no second half past two
    return wall if to_timestamp(wall, zone) == timestamp else timestamp


def setting_of(story: DraftStory, suite: Suite) -> DraftSetting:
    """Find the setting of a story. Raises like :meth:`Suite.get`."""
    clock, home, zone = story.started.clock, story.home, story.zone
    at = clock["now"] if not story.stateless or clock["now"] > UNTIMED else SOME_DAY
    now = {"now": moment(at, zone), "zone": zone, "step": clock["step"]}
    base = _nearest(story, suite)
    if base is None:
        labels = _labels(home, story.start, {})
        world = _different(home, Snapshot({}), story.start, labels, zone)
        return DraftSetting(None, world, now, labels, zone, _moments(home))
    given, known = suite.base(base), suite.labels(base)
    labels = _labels(home, story.start, known)
    world = _different(home, given.world, story.start, {**known, **labels}, zone)
    changed = {name: now[name] for name in ("zone", "now", "step") if getattr(given.clock, name) != clock[name]}
    return DraftSetting(base, world, changed, labels, zone, _moments(home))


def _moments(home: World) -> frozenset[str]:
    """The columns and arguments that hold moments; an argument without a role says so by its name."""
    columns = (column for schema in home.state_tables.values() for column in schema.columns)
    parameters = [parameter for tool in home.agent_tools.values() for parameter in tool.parameters]
    by_role = (item.name for item in parameters if item.role and item.role.kind == "moment")
    by_name = (item.name for item in parameters if item.role is None and "timestamp" in item.name)
    return frozenset((*(item.name for item in columns if _holds_moments(item)), *by_role, *by_name))


def _nearest(story: DraftStory, suite: Suite) -> str | None:
    """The base of the same world that shares the most rows with the log; where the world has no rows, its only base.

    Candidates are the base of the scenario that the log names, or for a log of anything else all there are.
    """
    scenario = story.started.scenario
    try:
        names = tuple(name for name in suite.lineage(scenario)[-1:] if name != scenario)
    except UnknownScenarioError:
        names = suite.bases()
    bases = dict[str, Mapping[str, Any]]()
    for name in names:
        with suppress(ScenarioFileError):  # a base that is no state before a scenario adds its rows
            base = suite.base(name)
            bases |= {name: base.world.tables} if base.home.name == story.home.name else {}
    shared = {
        name: sum(key in story.start.table(table) for table, rows in tables.items() for key in rows)
        for name, tables in bases.items()
    }
    best = max(shared, key=lambda name: shared[name], default=None)
    if best is not None and len(names) == 1 and not any(story.start.tables.values()):
        return best
    return best if best is not None and shared[best] > 1 else None


def _labels(home: World, state: Snapshot, known: Mapping[str, str]) -> Mapping[str, str]:
    """The labels of all rows: those that are known, and new ones, which no other row has."""
    labels: dict[str, str] = {}
    taken = set(known.values())
    for table, rows in state.tables.items():
        for key, row in rows.items():
            stem = f"{table}.{_label(home.state_tables[table], row)}"
            labels[key] = known.get(key) or free_name(stem, taken)
            taken.add(labels[key])
    return labels


def _label(schema: TableSchema, row: Row) -> str:
    """A word or two of what stands in the row."""
    if schema.single:
        return schema.label
    told = [item.name for item in schema.columns if item.role is None or item.role.kind == "text"]
    named = [name for name in told if name == "name"] or told
    text = next((str(row[name]) for name in named if isinstance(row[name], str) and row[name]), schema.name)
    words = [word for word in _WORD.findall(text.casefold()) if not word.isdigit()]
    return "_".join(words[:1] if named == ["name"] else words[:2]) or schema.name


def _cell(is_moment: bool, value: Any, labels: Mapping[str, str], zone: str) -> Any:
    if isinstance(value, str) and value in labels:
        return f"@{labels[value]}"
    if is_array(value):
        return [_cell(is_moment, item, labels, zone) for item in value]
    if is_object(value):
        return {name: _cell(is_moment, item, labels, zone) for name, item in value.items()}
    return moment(value, zone) if is_moment and isinstance(value, float) else value


def _holds_moments(column: Column) -> bool:
    role = column.item_role or column.role
    return role is not None and role.kind == "moment"


def _different(home: World, base: Snapshot, state: Snapshot, labels: Mapping[str, str], zone: str) -> dict[str, Any]:
    """Rows to be added to, changed in and taken from a base."""
    world: dict[str, Any] = {}

    def written(schema: TableSchema, row: Row) -> dict[str, Any]:
        cells = {name: value for name, value in row.items() if name != schema.key and value is not None}
        moments = {item.name for item in schema.columns if _holds_moments(item)}
        return {name: _cell(name in moments, value, labels, zone) for name, value in cells.items()}

    for table, schema in home.state_tables.items():
        before, after = base.table(table), state.table(table)
        changed: dict[str, Any] = {labels[key].partition(".")[2]: None for key in before if key not in after}
        for key, row in after.items():
            if row != before.get(key):
                old, new = written(schema, before.get(key, {})), written(schema, row)
                gone = dict.fromkeys(name for name in old if name not in new)
                fresh = {name: value for name, value in new.items() if name not in old or old[name] != value}
                changed[labels[key].partition(".")[2]] = {**fresh, **gone}
        if changed:
            world[table] = changed[schema.label] if schema.single else changed
    return world
