"""The acts of a message, and the reading of one."""

from dataclasses import dataclass
from enum import StrEnum

from sandbox_mcp.engine.talk.clauses import is_question


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
    SMALL = "small talk"
    """Thanks, agrees, apologises, wishes well."""
    UNREADABLE = "unreadable"
    """Another language, data, or nothing at all."""


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence in lower case, in the place of whose quotations one mark stands, and what it does by itself."""

    text: str
    act: Act

    @property
    def waits(self) -> bool:
        """True if it wants an answer."""
        return self.act in WAITING


@dataclass(frozen=True, slots=True)
class ActReading:
    """What a message does as a whole, and what each of its sentences does."""

    act: Act
    sentences: tuple[ReadSentence, ...] = ()

    def text(self, *acts: Act) -> str:
        """The sentences that do one of these."""
        return " ".join(item.text for item in self.sentences if item.act in acts)

    @property
    def asking(self) -> str:
        """The sentences that want an answer."""
        return self.text(*WAITING)

    @property
    def stated(self) -> str:
        """The sentences that want none."""
        return " ".join(item.text for item in self.sentences if not item.waits)

    @property
    def asks(self) -> bool:
        """True if a sentence ends with a question mark."""
        return any(is_question(item.text) for item in self.sentences)

    def has(self, act: Act) -> bool:
        """True if a sentence does this."""
        return any(item.act is act for item in self.sentences)


WAITING = frozenset({Act.ASKS, Act.OPEN, Act.LEAVE, Act.OFFERS, Act.CLOSES})
