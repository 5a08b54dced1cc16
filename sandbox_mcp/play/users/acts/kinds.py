"""The acts of a message, and what a clause can be: one vocabulary for the rules, the model and the user's policy."""

from dataclasses import dataclass
from enum import StrEnum


class Act(StrEnum):
    """What an agent does by saying something."""

    ASKS = "asks"
    """Asks for information."""
    OPEN = "open"
    """Asks what it is to do at all, or greets and offers its services."""
    LEAVE = "leave"
    """Asks leave for something that serves the wish."""
    OFFERS = "offers"
    """Offers something beyond the wish."""
    CLOSES = "closes"
    """Offers more help in general: "anything else?"."""
    PROMISES = "promises"
    """Promises, announces, reports progress or something found on the way."""
    DELIVERS = "delivers"
    """Delivers, or claims to have done it."""
    GIVES_UP = "gives up"
    """Says that it cannot be done."""
    PARTS = "parts"
    """Answers thanks, or wishes well: nothing more is to come."""
    SMALL = "small talk"
    """Thanks, agrees, apologises."""
    UNREADABLE = "unreadable"
    """Another language, data, or nothing at all."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What of the user's wish a reader of acts needs: the classes of deeds that its words name.

    ``told`` means that the user wants to be told something, rather than have something done; ``words`` are its words, and
    ``switched`` is "on" or "off" where it wants a setting so, and ``sought`` the kind of value that it asks to be told.
    """

    classes: frozenset[str] = frozenset()
    told: bool = False
    words: frozenset[str] = frozenset()
    switched: str = ""
    sought: str = ""


@dataclass(frozen=True, slots=True)
class ActReading:
    """What a message was read as: the act to answer to, and all acts that were seen.

    ``asking`` is the text of the sentences that ask for something or ask leave; ``grants`` tells that leave was asked
    beside a question for something else.
    """

    act: Act
    acts: frozenset[Act]
    asking: str = ""
    grants: bool = False
