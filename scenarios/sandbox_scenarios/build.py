"""From a validated file entry to a scenario: its world found, its clock set, its parts put together and checked.

Policy: whatever can be checked without playing the scenario is checked here, so that a scenario that loads can be
played; whether it is a good one is for lint to say.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, cast

from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.world import Clock, to_timestamp, zone_info
from sandbox_scenarios.checks import check_calls, check_order
from sandbox_scenarios.homes import filled_by, home_of, identity_of, is_named
from sandbox_scenarios.instances import MARK
from sandbox_scenarios.means import modelled, with_means
from sandbox_scenarios.merge import RESERVED
from sandbox_scenarios.model import Milestone, Scenario, Solution, UserSpec
from sandbox_scenarios.parts import ScenarioParts
from sandbox_scenarios.problem import ProblemError, at
from sandbox_scenarios.rows import labels_of
from sandbox_scenarios.schema import RawEvent, RawScenario
from sandbox_scenarios.values import Resolver

EARLIEST, LATEST = datetime(1970, 1, 2, tzinfo=UTC).timestamp(), datetime(2100, 1, 1, tzinfo=UTC).timestamp()
"""Between these a scenario may begin."""
MAX_TURNS, MAX_CALLS = 30, 100


def build(
    raw: RawScenario, merged: Mapping[str, Any], path: str, line: int, worlds: Mapping[str, World] | None = None,
    instance: str = "",
) -> Scenario:  # fmt: skip
    """Resolve one scenario; ``merged`` is the entry with all it inherits, ``raw`` the same after validation.

    ``worlds`` are found by name before all others.

    Raises:
        ProblemError: something in it does not fit; its path says what, and ``more`` what else does not fit.
    """
    try:
        return _built(raw, merged, path, line, worlds or {}, instance)
    except ProblemError as problem:
        found = {(item.path, item.text): item for item in (problem, *problems(raw, worlds or {}))}
        problem.more = tuple(found.values())[1:]
        raise


def problems(raw: RawScenario, worlds: Mapping[str, World]) -> Iterator[ProblemError]:
    """The faults in those parts of an entry that can be read without the others."""
    readers: list[Callable[[], object]] = [lambda: _clock(raw)]
    try:
        home, (rows, place) = home_of(raw.world, worlds), _rows_of(raw)
        zone = "UTC"
        with suppress(ProblemError):  # what is wrong with the zone is told of the clock
            zone = _zone(raw)
        parts = ScenarioParts(home, _resolver(home, rows, zone, events=raw.events))
        readers += [lambda: parts.user(raw.user), *parts.readers(raw, rows, place), lambda: _gates(raw, home)]
    except ProblemError:  # without a world nothing else can be told; this one has been
        pass
    for read in readers:
        try:
            read()
        except ProblemError as problem:
            yield problem


def _built(
    raw: RawScenario, merged: Mapping[str, Any], path: str, line: int, worlds: Mapping[str, World], instance: str
) -> Scenario:
    home = home_of(raw.world, worlds)
    rows, place = _rows_of(raw)
    clock = _clock(raw)
    made_for = {"instance": instance} if instance else {}
    named = {"world": identity_of(raw.world, worlds)} if "world" in merged else {}
    parts = ScenarioParts(home, _resolver(home, rows, clock.zone, instance, raw.events))
    tools = parts.tools(raw.tools or [], ("tools",))
    user, listed = parts.user(raw.user), raw.milestones or []
    built = tuple(parts.milestones(listed, "milestones"))
    milestones = with_means(built, [item.transient for item in listed], user, home.switches)
    ends = tuple(_end_states(raw, parts, user, milestones))
    minefields = tuple(parts.milestones(raw.minefields or [], "minefields"))
    for end in ends or (milestones,):
        check_order(end, "milestones")
    check_order(minefields, "minefields")
    solutions = tuple(
        Solution(tuple(parts.turn(turn, ("reference", i, "turns", j)) for j, turn in enumerate(item.turns)), item.about)
        for i, item in enumerate(raw.reference or [])
    )
    check_calls(solutions, tools)
    return Scenario(
        name=f"{raw.name}{MARK}{instance}" if instance else raw.name,
        about=raw.about or "",
        categories=tuple(raw.categories or ()),
        world=parts.rows.state(rows, place),
        clock=clock,
        where=raw.where or "",
        tools=tools,
        without=parts.tools(raw.without or [], ("without",)),
        user=user,
        solutions=solutions,
        milestones=modelled(ends[0] if ends else milestones, solutions),
        minefields=minefields,
        allows={**dict.fromkeys(sorted(home.free), ("*",)), **parts.allows(raw.allows or {})},
        confirm=parts.tools(raw.confirm or [], ("confirm",)),
        gates=_gates(raw, home),
        max_turns=raw.max_turns or MAX_TURNS,
        max_calls=raw.max_calls or MAX_CALLS,
        idle_score=raw.idle_score,
        digest=_digest({**merged, **named, **made_for}),
        path=path,
        line=line,
        home=home,
        fill=filled_by(raw.world) or "",
        tags=tuple(raw.tags),
        offered=parts.offered(raw.offered),
        original=raw.original,
        generated=raw.generate is not None,
        faults=tuple(parts.faults(raw.faults)),
        events=tuple(parts.events(raw.events)),
        end_states=tuple(modelled(end, solutions) for end in ends),
        judge=raw.judge,
    )


def _end_states(
    raw: RawScenario, parts: ScenarioParts, user: UserSpec, milestones: tuple[Milestone, ...]
) -> Iterator[tuple[Milestone, ...]]:
    """The milestones of each right end state: those of the scenario, and its own."""
    for number, end in enumerate(raw.end_states):
        own = tuple(parts.milestones(end.milestones, "end_states", number, "milestones"))
        yield (*milestones, *with_means(own, [item.transient for item in end.milestones], user, parts.home.switches))


def _rows_of(raw: RawScenario) -> tuple[Mapping[str, Any], str]:
    """The rows of a scenario, and under which key they stand."""
    if not raw.world or is_named(raw.world):
        return raw.state, "state"
    if raw.state:
        raise ProblemError(("state",), "the rows of this scenario stand under 'world' already; write them in one place")
    return cast("dict[str, Any]", raw.world), "world"


def _gates(raw: RawScenario, home: World) -> tuple[str, ...]:
    names = [*(raw.gates or []), *(["sign_in"] if raw.sign_in else [])]
    for index, name in enumerate(names):
        if name not in home.gates:
            known = ", ".join(home.gates) or "none"
            raise ProblemError(("gates", index), f"world {home.name!r} has no gate {name!r}; known: {known}")
    return tuple(dict.fromkeys(names))


def _digest(merged: Mapping[str, Any]) -> str:
    """Changes with whatever a session depends on; not with its wording or the file it was inherited from."""
    what = {key: value for key, value in merged.items() if key == "name" or key not in (*RESERVED, "draws")}
    text = json.dumps(what, sort_keys=True, default=str, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _zone(raw: RawScenario) -> str:
    zone = raw.clock.zone or "UTC"
    with at("clock", "zone"):
        zone_info(zone)
    return zone


def _clock(raw: RawScenario) -> Clock:
    zone = _zone(raw)
    now = raw.clock.now
    if now is None:
        example = "{now: 2025-03-14 09:26:00, zone: Europe/Berlin}"
        lacks = "its clock lacks 'now'" if raw.clock.model_fields_set else "it has no clock"
        raise ProblemError(("clock",), f"{lacks}; write 'clock: {example}', or extend a base world that has one")
    if not isinstance(now, datetime):
        raise ProblemError(("clock", "now"), f"now must be a date and time such as 2025-03-14 09:26:00, not {now!r}")
    timestamp = to_timestamp(now, zone)
    if not EARLIEST <= timestamp <= LATEST:
        raise ProblemError(("clock", "now"), f"`now` {timestamp!r} is out of range; expected {EARLIEST} to {LATEST}")
    return Clock(timestamp, zone, 1.0 if raw.clock.step is None else raw.clock.step)


def _resolver(
    home: World, tables: Mapping[str, Any], zone: str, instance: str = "", events: Sequence[RawEvent] = ()
) -> Resolver:
    """Resolver of a scenario's values by the labels of its rows, those that events add included, and their names."""
    labels = {table: frozenset(labels_of(home, table, rows)) for table, rows in tables.items()}
    for table, added in (item for event in events for item in event.adds.items()):
        labels[table] = labels.get(table, frozenset()) | frozenset(labels_of(home, table, added))
    names: dict[str, dict[str, str]] = {table: {} for table in tables}
    for table, rows in tables.items():
        for label, row in cast("dict[Any, Any]", rows).items() if isinstance(rows, dict) else ():
            if isinstance(row, dict) and isinstance(cast("dict[str, Any]", row).get("name"), str):
                names[table][str(label)] = cast("dict[str, Any]", row)["name"]
    return Resolver(zone, labels, names, instance)
