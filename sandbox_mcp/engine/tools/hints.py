"""Hints of a world for those who try its scenarios, beyond what its declaration tells.

Policy: nothing here is needed. Mutants are made from the roles of columns and arguments and from declared effects.
Hints are for worlds whose arguments have no such roles, or whose wrong values are better chosen by hand.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

from sandbox_mcp.engine.world import Row, Snapshot
from sandbox_mcp.engine.world.effects import EffectKind

if TYPE_CHECKING:
    from sandbox_mcp.engine.tools.attacks import AttackGoal


@dataclass(frozen=True, slots=True)
class Effect:
    """One way to change a table; ``columns`` are those an update may set."""

    table: str
    kind: EffectKind
    columns: frozenset[str] = frozenset()


TriedCall = tuple[str, Mapping[str, Any]]
"""A call to try: the tool and its arguments."""


@dataclass(frozen=True, slots=True)
class Hints:
    """Hints of a world on its own tools. The rest is worked out from the roles of columns and arguments.

    Calls that are wrong: ``wrong`` takes the state, a tool, an argument and its right value, and gives wrong values.
    ``read`` gives those of a call's arguments that the world looks at, because no value of the others can be wrong;
    without it, it looks at all. ``some`` gives a value that fits an argument of that name, or None. ``meant`` are the
    arguments that name a person or a thing. ``windows`` are the queries whose result may be one end of a window.

    State: ``ends_as`` gives the column that a table's argument is kept in, where the column has another name.
    ``switches`` gives the column that a tool sets to on or off. ``needs`` gives the switches that must be on for a
    call. ``off_first`` is the switch that must be off before another one can be switched on.

    Other calls: ``looks`` are queries that an agent may make in passing. ``back`` gives calls that undo a change of a
    row, ``meddling`` calls that nobody asked for. ``attacks`` gives what somebody else might want done, from the state
    at the beginning, the time, and a source of chance for names and numbers that occur nowhere else.

    Drafts: ``said`` gives the words with which an agent tells that a tool has done its work, where the tool declares
    none. ``targets`` gives the table in which an argument finds a row, by the column that has the argument's name.
    ``own`` are columns that tools fill in by themselves. ``reckons`` are queries whose results people work out in their
    heads. ``asked_in_many_ways`` says that a query's arguments can be put in many ways, so that a draft asks for none.
    ``clock`` is the query that tells the time. ``units`` gives the argument of a converting tool that names the unit of
    its result.
    """

    wrong: Callable[[Snapshot, str, str, Any], Iterable[Any]] | None = None
    read: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    some: Callable[[Snapshot, str], Any] | None = None
    meant: frozenset[str] = frozenset()
    windows: frozenset[str] = frozenset()
    ends_as: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    switches: Mapping[str, str] = field(default_factory=dict[str, str])
    needs: Callable[[str, Mapping[str, Any]], frozenset[str]] | None = None
    said: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    targets: Mapping[str, str] = field(default_factory=dict[str, str])
    own: frozenset[str] = frozenset()
    reckons: frozenset[str] = frozenset()
    asked_in_many_ways: bool = False
    off_first: str = ""
    clock: str = ""
    units: Mapping[str, str] = field(default_factory=dict[str, str])
    looks: tuple[TriedCall, ...] = ()
    back: Callable[[str, str, Row | None, Row | None], Iterator[TriedCall]] | None = None
    meddling: Callable[[Snapshot, Snapshot, float], Iterator[TriedCall]] | None = None
    attacks: "Callable[[Snapshot, float, Random], Iterator[AttackGoal]] | None" = None
