"""Background that a message is read against: what the user said, what tools answered, and what was done in the session.

Policy: true context costs nothing. A value that the user named is no answer in the place of another; a deed that was
done at any time of the session was not invented.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sandbox_mcp.engine.talk.numbers import figured
from sandbox_mcp.engine.talk.values import Mention, mentions
from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.worlds import default


@dataclass(frozen=True, eq=False)
class Background:
    """The session around a message; only the same one is equal, so that what was read against it is found again.

    ``given``: the user's words. ``known``: texts in results, in lower case. ``deeds``: kinds of deeds that succeeded,
    ``tools``: the tools that did them. ``names``: people and things that the world knows by name. ``people``: the
    words by which each of them may be told, and whether words were sent to them. ``touched``: texts in what was
    changed. ``labels``: by number, the words of the keys under which results have it, and those of the other numbers
    beside it. ``home``: the world that all this is said in; the default one where it is None.
    """

    given: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()
    deeds: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()
    people: tuple[tuple[frozenset[str], bool], ...] = ()
    touched: frozenset[str] = frozenset()
    home: World | None = None
    labels: Mapping[float, Sequence[tuple[frozenset[str], frozenset[str]]]] = field(
        default_factory=dict[float, list[tuple[frozenset[str], frozenset[str]]]]
    )

    @property
    def things(self) -> Mapping[str, tuple[str, ...]]:
        """Names for the switches of the world, by column."""
        return {column: tuple(names) for column, names in (self.home or default()).switches.items()}

    @cached_property
    def given_values(self) -> frozenset[tuple[str, object]]:
        """The kinds and values in the user's words."""
        return frozenset((item.kind, item.value) for item in mentions(figured(". ".join(self.given))))

    @cached_property
    def user_said(self) -> str:
        """The user's words in lower case."""
        return "\n".join(self.given).casefold()

    def was_given(self, item: Mention) -> bool:
        """True if the user named a value."""
        return (item.kind, item.value) in self.given_values or ("number", item.value) in self.given_values
