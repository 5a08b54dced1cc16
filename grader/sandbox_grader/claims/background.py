"""What a message is read against: what the user said, what the session's tools answered, and what was done.

Policy: true context costs nothing. A value that the user named or that a tool answered is about something, so that it
is held against a reply only where it is offered as the answer's alternative.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sandbox_grader.claims.normal import kept, one_of, plain, words_of
from sandbox_grader.claims.values import Mention, mentions
from sandbox_grader.claims.verbs import stem_of
from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.worlds import default

_OF_THE_PAST = one_of(
    "ago since last past was were did been had old passed elapsed happened already late earlier before previous"
)
"""Words of a user who asks about what has been; who asks what is to come is not told by ``9 days ago``."""
_DAYS = (
    re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"),
    re.compile(r"\b(?:yesterday|today|tonight|tomorrow)\b"),
)
_FULL_NAME = re.compile(r"\b[A-Z]\w+ [A-Z]\w+\b")
_DENIES = re.compile(r"\b(?:not|no|never|none|nothing|without)\b|n['’]t\b", re.IGNORECASE)

_words_said = kept(words_of)
"""The user's words are the same behind all messages that come between two of them."""


@dataclass(frozen=True, eq=False)
class Background:
    """The session until a message; only the same one is equal, so that what was read against it is found again.

    ``given``: the user's words. ``known``: texts and numbers from calls' arguments and results. ``deeds``: kinds of
    deeds that succeeded (``send``, ``remove``; see ``deeds.kinds_of``). ``names``: whom the world knows. ``touched``:
    names that successful deeds were about, and other texts in them. ``persons``: of ``names`` those of persons.
    ``moments``: local times (year, month, day, hour, minute) of all timestamps
    that calls were made with or answered. ``switches``: what was switched on or off, and how it stands.
    ``home``: the world that all this is said in; the default one where it is None.
    """

    given: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    numbers: frozenset[float] = frozenset()
    deeds: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()
    touched: frozenset[str] = field(default_factory=frozenset[str])
    moments: frozenset[tuple[int, int, int, int, int]] = field(
        default_factory=frozenset[tuple[int, int, int, int, int]]
    )
    switches: Mapping[str, str] = field(default_factory=dict[str, str])
    persons: frozenset[str] = field(default_factory=frozenset[str])
    home: World | None = None

    @property
    def things(self) -> Mapping[str, Sequence[str]]:
        """What people call the switches of the world, by column."""
        return (self.home or default()).switches

    @cached_property
    def world_words(self) -> frozenset[str]:
        """The words for what the world has, whether or not it was spoken of: its tables, and its switches."""
        tables = (name for name, schema in (self.home or default()).tables.items() if not schema.optional)
        names = (*tables, *self.things, *(name for called in self.things.values() for name in called))
        return words_of(" ".join(names).replace("_", " "))

    @cached_property
    def given_values(self) -> Sequence[Mention]:
        """The typed values in the user's words."""
        return mentions(plain(". ".join(self.given))) if self.given else ()

    @cached_property
    def user_said(self) -> str:
        """What the user said, without regard to capitals."""
        return "\n".join(self.given).casefold()

    @cached_property
    def done_to(self) -> str:
        """What deeds were about, a line each, without regard to capitals."""
        return "\n".join(sorted(self.touched)).casefold()

    @cached_property
    def brought_up(self) -> str:
        """What the user said and what deeds were about, without regard to capitals."""
        return f"{self.user_said}\n{self.done_to}"

    @cached_property
    def given_words(self) -> frozenset[str]:
        """The words that the user used."""
        return _words_said(self.user_said)

    @property
    def asks_of_the_past(self) -> bool:
        """Whether the user asks about what has been."""
        return bool(self.given_words & _OF_THE_PAST)

    def of_another_day(self, text: str) -> bool:
        """Whether words in lower case are about other days than the user asked about, by their names."""
        pairs = [(set(days.findall(self.user_said)), set(days.findall(text))) for days in _DAYS]
        return any(one and other for one, other in pairs) and not any(one & other for one, other in pairs)

    @cached_property
    def known_words(self) -> frozenset[str]:
        """The words that occur in what tools were asked and answered."""
        return words_of(" ".join(self.known))

    @cached_property
    def own_words(self) -> frozenset[str]:
        """The words that the session knows: the user's, those of tools' answers, and of what deeds were about."""
        return self.given_words | self.known_words | words_of(self.done_to)

    @cached_property
    def names_as_said(self) -> frozenset[str]:
        """The names of the world, in any case."""
        return frozenset(map(str.casefold, self.names))

    @cached_property
    def names_and_parts(self) -> frozenset[str]:
        """The names of the world, and their words, in any case."""
        return self.names_as_said.union(*map(str.split, self.names_as_said))

    @cached_property
    def has_full_names(self) -> bool:
        """Whether the user speaks of people by first name and surname."""
        return any(map(_FULL_NAME.search, self.given))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The words that the user or a tool brought up, without their endings."""
        return frozenset(map(stem_of, self.given_words | self.known_words))

    @cached_property
    def people(self) -> frozenset[str]:
        """The first names, of those in the world, that the user, a tool or a deed brought up."""
        brought_up = "\n".join((self.user_said, self.done_to, *self.known)).casefold()
        return frozenset(first for name in self.names if (first := name.split()[0].casefold()) in brought_up)

    @cached_property
    def passed_over(self) -> frozenset[str]:
        """The first names of persons whom no deed was about, nor any text in one, where deeds were about persons."""
        if self.persons.isdisjoint(self.touched):
            return frozenset()
        return frozenset(first for name in self.persons if (first := name.split()[0].casefold()) not in self.done_to)

    @cached_property
    def known_values(self) -> frozenset[tuple[str, object]]:
        """The typed values in what tools were asked and answered."""
        return frozenset((item.kind, item.value) for item in mentions(plain("\n".join(self.known)[:20000])))

    @cached_property
    def written_values(self) -> frozenset[tuple[str, object]]:
        """The typed values in texts that deeds wrote and that deny nothing."""
        texts = sorted(text for text in self.touched if any(map(str.isdigit, text)) and not _DENIES.search(text))
        return frozenset((item.kind, item.value) for item in mentions(plain("\n".join(texts)[:20000])))

    def was_given(self, item: Mention) -> bool:
        """Whether the user named a value."""
        return any(other.value == item.value and item.kind in (other.kind, "number") for other in self.given_values)

    def knows(self, item: Mention) -> bool:
        """Whether a value occurs in what tools were asked or answered, as such or rounded as it was written."""
        if (item.kind, item.value) in self.known_values:
            return True
        if isinstance(item.value, int | float) and self.numbers and item.kind != "time":
            step, written = item.step or 1.0, item.number / item.factor  # a result may be in megawatts, as what is said
            return any(
                abs(number - item.value) <= step / 2 or abs(number - written) <= step / item.factor / 2
                for number in self.numbers
            )
        return False
