"""What a world can say for those who try its scenarios, beyond what its declaration tells.

Policy: nothing here is needed. Mutants are made by the roles of columns and arguments and by declared effects; a world
whose arguments say less than that, or whose wrong values are better chosen by hand, says it here.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox_mcp.world import Row, Snapshot
from sandbox_mcp.world.effects import Kind


@dataclass(frozen=True, slots=True)
class Effect:
    """One way to change a table; ``columns`` are those an update may set."""

    table: str
    kind: Kind
    columns: frozenset[str] = frozenset()


Tried = tuple[str, Mapping[str, Any]]
"""A call to try: the tool and its arguments."""


@dataclass(frozen=True, slots=True)
class Hints:
    """A world's own choices; each left out goes by roles.

    ``wrong`` gives values that an argument should not have had, from the state, the tool, the argument and the right
    value; ``read`` those of a call's arguments that the world looks at, since no value of the others is wrong (all
    where it is left out); ``some`` a value that fits an argument of a name, None where it knows none. ``meant`` are
    arguments that say who or what is meant, ``windows`` queries whose result may be one end of a window. ``ends_as`` is
    the column of a table that an argument ends up in under another name, ``switches`` the one that a tool sets to on or
    off. ``looks`` are queries with arguments that an agent may make in passing; ``back`` and ``meddling`` are calls
    that undo a change of a row, and calls that were not asked for.

    ``needs`` says which switches must be on for a call; ``off_first`` is the switch that has to be off before another
    one can be switched on.

    For drafts: ``said`` are the words with which an agent tells that a tool has done its work, where the tool itself
    declares none; ``targets`` the table whose column of the same name an argument names; ``own`` are columns that tools
    fill in by themselves, ``reckons`` queries whose results people work out in their heads. ``clock`` is the query that
    tells the time, ``units`` the argument of a tool that converts which names the unit of its result.
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
    off_first: str = ""
    clock: str = ""
    units: Mapping[str, str] = field(default_factory=dict[str, str])
    looks: tuple[Tried, ...] = ()
    back: Callable[[str, str, Row | None, Row | None], Iterator[Tried]] | None = None
    meddling: Callable[[Snapshot, Snapshot, float], Iterator[Tried]] | None = None
