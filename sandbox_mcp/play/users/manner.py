"""Manners of a scripted user: when it says what it wants under its personas, and what it says beside that.

Policy: a vague user says all it wants in its first answer, whatever was said. A mistaken one notices its slip when the
agent repeats it, asks something, or finds nothing, and one that changes its mind does so in its first answer. One that
pushes insists once where it is refused, and complains once about being asked for leave.
"""

from dataclasses import dataclass, field

from sandbox_scenarios.model import Persona, Slip
from sandbox_scenarios.personas import ASIDES, IMPATIENT, PUSHES, pick

from sandbox_mcp.engine.talk.acts import Act, ActReading
from sandbox_mcp.engine.talk.text import plain
from sandbox_mcp.play.users.base import Line

_NOTICING = frozenset({Act.ASKS, Act.LEAVE, Act.GIVES_UP})
"""Acts about a wish that let a mistaken user see what it has said."""


@dataclass(frozen=True, slots=True)
class _Interjection:
    """Words that a persona brings in: in place of an answer, or before one; with the ``wish`` from then on."""

    words: str
    wish: str
    alone: bool = True


@dataclass(slots=True)
class Manner:
    """What the personas of a user have left to do in its conversation."""

    personas: tuple[Persona, ...]
    slips: list[Slip]
    changes: list[str]
    spoken: int = 0
    _done: set[str] = field(default_factory=set[str])

    def _once(self, persona: Persona, what: str, *, now: bool = True) -> bool:
        """True the first time that a user who has this persona has occasion for this."""
        if not now or persona not in self.personas or what in self._done:
            return False
        self._done.add(what)
        return True

    def interjects(self, line: Line, reading: ActReading, wish: str) -> _Interjection | None:
        """What a user with this wish brings in at a message; None if nothing."""
        if self._once("vague", "begins"):
            acted = line.calls and reading.act is Act.DELIVERS
            return None if line.met else _Interjection(f"Let me say it properly. {wish}" if acted else wish, wish)
        asked = reading.act is Act.ASKS
        if noticed := [slip for slip in self.slips if reading.act in _NOTICING or _repeats(line.text, slip.says)]:
            self.slips = [slip for slip in self.slips if slip not in noticed]
            for slip in noticed:
                wish = wish.replace(slip.says, slip.means)
            words = (f"Sorry, I said {slip.says}, but I meant {slip.means}." for slip in noticed)
            return _Interjection(" ".join(words), wish, alone=not asked)
        if self._once("pushes", "insists", now=reading.act is Act.GIVES_UP):
            return _Interjection(pick(PUSHES, wish), wish)
        if self.changes:
            changed = self.changes.pop(0)
            return _Interjection(changed, changed, alone=not asked)
        return None

    def around(self, said: _Interjection | None, answer: str | None, *, agrees: bool, wish: str) -> str | None:
        """An answer with what it says beside it; ``agrees`` if it gives leave. None if there is nothing of both."""
        words = [said.words] if said else []
        if self._once("pushes", "complains", now=agrees):
            words.append(pick(IMPATIENT, wish))
        words += [answer] if answer else []
        self.spoken += 1
        return " ".join([*words, *self.aside(wish)]) if words else None

    def aside(self, wish: str) -> list[str]:
        """A sentence about something else, of a talkative user."""
        return [ASIDES[(len(wish) + self.spoken) % len(ASIDES)]] if "talkative" in self.personas else []


def _repeats(text: str, words: str) -> bool:
    """True if a text repeats words."""
    return plain(words).casefold() in plain(text).casefold()
