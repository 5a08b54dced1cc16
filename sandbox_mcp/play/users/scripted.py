"""The scripted user: a person to work with, who answers from what the scenario lets it know, without any model.

Policy: it reads what each message of the agent does and answers by the table ``POLICY``. It says what it is asked and
nothing else, agrees to what serves its wish and to nothing beyond, believes what it is told, and leaves only when it
was delivered to, was refused, or its patience is at an end.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sandbox_scenarios.model import Script, UserSpec

from sandbox_mcp.engine.tools.gates import codes_in
from sandbox_mcp.play.users import acts
from sandbox_mcp.play.users.acts import Act, ActReading
from sandbox_mcp.play.users.base import Line, UserAct, UserTurn

ALL = "No thanks, that's all."
NO_MORE = "No thanks."
WAITING = "All right."
PUZZLED = "Sorry, what do you need from me?"
_UNKNOWN = Script().unknown
"""Where a script has no other words for what it does not know, it says first what any person could say."""
_REFUSING = re.compile(
    r"(?:no\b|not\b|don['’]t\b|do not\b|never\b|rather not\b|please don['’]t\b|leave\b)", re.IGNORECASE
)
_SENTENCE = re.compile(r"[^.!?]+[.!?]?")
_REQUEST = re.compile(
    r"\b(?:can|could|would|will) you\b|\bplease\b|\byou (?:should|must|need to|have to)\b", re.IGNORECASE
)
_THANKS = re.compile(r"\W*(?:thanks|thank you|great|perfect|cheers)\b[^?]{0,40}$", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]{3,}")
_EMPTY = frozenset(
    "the and that this with for from have has had any are was were will would should could can may want wants you your they them "
    "their its his her she him not without than then but into onto out anything anybody anyone else other please proceed like "
    "what when where which who how make made being been get got let also just".split()
)
_WHICH = re.compile(r"\b(?:which|what) (?!one\b|of\b)(\w{2,})\b(?: \w+){0,4}(?:$|[?])")
_NAMES = re.compile(r"(?<![.!?] )(?<!^)\b[^\W\d_a-z]\w+(?: [^\W\d_a-z]\w+)+")
"""Two words or more in a row that begin with capitals, but not at the beginning of a sentence."""
_STEM = 5
"""Letters by which words of one stem are told: switched, switching."""


@dataclass(frozen=True, slots=True)
class ScriptedUser:
    """A user that follows a scenario's script. Deterministic, and the same whoever drives the agent.

    ``opening`` is what it wants in its own words; left empty, it is taken from the dialogue. ``wants_not`` is what it
    refuses leave for, whatever its script agrees to.
    """

    script: Script
    opening: str = ""
    wants_not: tuple[str, ...] = ()
    kind: str = "scripted"

    @classmethod
    def of(cls, spec: UserSpec) -> "ScriptedUser":
        """The user of a scenario."""
        return cls(spec.script, spec.opening, spec.wants_not)

    def describe(self) -> Mapping[str, Any]:
        """Nothing beside its kind: the script is in the scenario."""
        return {}

    async def respond(self, dialogue: Sequence[Line]) -> UserTurn:
        """Answer the agent's last line."""
        heard = [line for line in dialogue if line.speaker == "agent"]
        opening = self.opening or next((line.text for line in dialogue if line.speaker == "user"), "")
        codes = codes_in(heard[-1].text) if self.script.approves and heard else ()
        says = _Standing(self, opening).after(heard)
        done = [act for line, act in self.script.does.items() if f" {line} " in f" {says or ''} "]
        return UserTurn(says, confirms=codes, does=tuple(UserAct(act.name, act.arguments) for act in done))


class _Standing:
    """Where the script stands, refolded from the agent's lines each time."""

    def __init__(self, user: ScriptedUser, opening: str) -> None:
        self._script = user.script
        self._wants_not = user.wants_not
        self._wishes = [opening] if opening else []
        self._then = list(user.script.then)
        self._said: set[str] = set()
        self._waited = 0
        self._declined = False

    def after(self, heard: Sequence[Line]) -> str | None:
        answer: str | None = None
        for line in heard:
            answer = self._answer(line)
        return answer

    def _answer(self, line: Line) -> str | None:
        if codes_in(line.text):
            self._waited = 0
            return self._script.confirm if self._script.approves else self._script.decline
        reading = _read(line, tuple(self._wishes))
        if self._declined and reading.act in _NOTHING_NEW:
            return self._move_on()
        if self._is_asked_to_act(line):
            return self.facts(line, reading)
        return POLICY[reading.act](self, line, reading)

    def _is_asked_to_act(self, line: Line) -> bool:
        """Whether a sentence asks it to do what its script has it do: such a request is not an offer, whatever it follows."""
        undone = [item for item in self._script.answers if item.say in self._script.does and item.say not in self._said]
        asked = [acts.typed_plainly(text) for text in _SENTENCE.findall(line.text) if _REQUEST.search(text)]
        return any(acts.hears(text, item.about) for text in asked for item in undone)

    def facts(self, line: Line, reading: ActReading) -> str | None:
        """What it knows about what was asked; a yes as well where leave was asked in another sentence."""
        plain = acts.typed_plainly(line.text)
        known = [answer.say for answer in self._script.answers if acts.hears(plain, answer.about)]
        asked = [answer.say for answer in self._script.answers if acts.hears(reading.asking, answer.about)]
        chosen = [say for say in known if say not in self._said or say in asked] or known
        if reading.grants and not any(map(_REFUSING.match, asked)):
            chosen = [self._script.confirm, *chosen]
        if known and Act.GIVES_UP in reading.acts and self._said.issuperset(known):
            return self._move_on()
        if chosen:
            self._waited = 0
            self._said.update(known)
            return " ".join(chosen)
        named = self._full_name(reading.asking)
        if named:
            return self._wait(f"{named}.")
        wish = self._wishes[-1] if self._wishes else ""
        said = self._again(reading.asking)
        if said is None and self._script.unknown == _UNKNOWN:
            said = acts.offhand(wish, reading.asking.casefold())
            if said is None and acts.proposes(reading.asking.casefold()):
                if line.met:
                    return self.decline(line, reading)
                if not _stems(reading.asking) & _stems(wish):
                    said = NO_MORE
        return self._wait(said or self._script.unknown)

    def _full_name(self, asking: str) -> str | None:
        """Whom it means, where it is asked which one of a name, and its wish says more of the name than was asked."""
        asked = _WHICH.search(asking)
        if not asked or not self._wishes:
            return None
        names = (found[0] for found in _NAMES.finditer(self._wishes[-1]))
        return next((name for name in names if asked[1] in name.casefold().split()), None)

    def _again(self, asking: str) -> str | None:
        """The wish once more where it has said what is asked, but not a second time."""
        wish = self._wishes[-1] if self._wishes else ""
        if wish in self._said or not acts.said_already(wish, asking.casefold()):
            return None
        self._said.add(wish)
        return wish

    def wish_again(self, line: Line, reading: ActReading) -> str | None:
        """Its wish once more, with what it knows about what was asked."""
        if not self._wishes:
            return self.facts(line, reading)
        return self._wait(self._wishes[-1])

    def leave(self, line: Line, reading: ActReading) -> str | None:
        """Yes, with what belongs to it; or no, where the brief says no to exactly this."""
        self._waited = 0
        plain = acts.typed_plainly(line.text)
        asked = [answer.say for answer in self._script.answers if acts.mentions(reading.asking, answer.about)]
        refused = [say for say in asked if _REFUSING.match(say)]
        if refused:
            self._said.update(refused)
            return " ".join(refused)
        asking = reading.asking or plain  # an offer that serves the wish asks nothing in so many words
        if any(_is_about(asking, unwanted) for unwanted in self._wants_not):
            return self._script.decline
        known = [answer.say for answer in self._script.answers if acts.mentions(plain, answer.about)]
        fresh = [say for say in known if say not in self._said and not (_REFUSING.match(say) and say not in asked)]
        self._said.update(known)
        return " ".join([self._script.confirm, *fresh])

    def decline(self, line: Line, reading: ActReading) -> str | None:  # noqa: ARG002
        """No to what it has not asked for, and on to what it still wants."""
        following = self._next_wish()
        if following is not None:
            return f"{NO_MORE} {following}"
        if self._declined:
            return None
        self._declined = True
        return ALL

    def closing(self, line: Line, reading: ActReading) -> str | None:
        """What an agent hears that offers more help in general: the wish again if nothing has been done about it."""
        if Act.DELIVERS in reading.acts or Act.GIVES_UP in reading.acts:
            return self._move_on()
        if line.calls or line.met:
            return self.decline(line, reading)
        return self.wish_again(line, reading) if line.calls == 0 else self._move_on()

    def move_on(self, line: Line, reading: ActReading) -> str | None:  # noqa: ARG002
        """The next wish, or the end."""
        return self._move_on()

    def acknowledge(self, line: Line, reading: ActReading) -> str | None:
        """Patience, as long as it lasts; a call that was made restores it. Thanks for thanks end the talk."""
        if reading.act in (Act.SMALL, Act.PARTS) and self._wishes and _THANKS.match(self._wishes[-1]):
            return self._move_on()
        if line.calls:
            self._waited = 0
        return self._wait(WAITING)

    def part(self, line: Line, reading: ActReading) -> str | None:
        """On to the next wish or the end where what it wants holds, because nothing is left to be said; patience else."""
        return self._move_on() if line.met else self.acknowledge(line, reading)

    def repair(self, line: Line, reading: ActReading) -> str | None:  # noqa: ARG002
        """Ask back, as long as patience lasts."""
        return self._wait(PUZZLED)

    def _wait(self, words: str) -> str | None:
        self._waited += 1
        return words if self._waited < self._script.patience else None

    def _move_on(self) -> str | None:
        self._waited = 0
        return self._next_wish()

    def _next_wish(self) -> str | None:
        while self._then:
            wish = self._then.pop(0)
            if wish not in self._said:
                self._wishes.append(wish)
                self._declined = False
                return wish
        return None


_Answering = Callable[[_Standing, Line, ActReading], str | None]
POLICY: Mapping[Act, _Answering] = {
    Act.ASKS: _Standing.facts,
    Act.OPEN: _Standing.wish_again,
    Act.LEAVE: _Standing.leave,
    Act.OFFERS: _Standing.decline,
    Act.CLOSES: _Standing.closing,
    Act.PROMISES: _Standing.acknowledge,
    Act.DELIVERS: _Standing.move_on,
    Act.GIVES_UP: _Standing.move_on,
    Act.PARTS: _Standing.part,
    Act.SMALL: _Standing.acknowledge,
    Act.UNREADABLE: _Standing.repair,
}
"""What the user does about each act; docs/users.md has the same table in words."""
_NOTHING_NEW = frozenset(
    {Act.CLOSES, Act.PARTS, Act.SMALL, Act.OFFERS, Act.OPEN, Act.DELIVERS, Act.GIVES_UP, Act.UNREADABLE}
)
"""What an agent may say to a user who wants nothing more, without keeping it."""


@lru_cache(maxsize=4096)
def _read(line: Line, wishes: tuple[str, ...]) -> ActReading:
    """A reading, remembered, because a dialogue is read again from its beginning at each of its lines."""
    return acts.read_acts(line.text, acts.wish_of(wishes[-1] if wishes else ""), line.calls, met=line.met)


def _is_about(asking: str, unwanted: str) -> bool:
    """Whether what leave is asked for is what the user does not want: most of the words that tell are the same."""
    told, asked = _stems(unwanted), _stems(asking)
    common = told & asked
    return bool(common) and 2 * len(common) >= len(told)


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:_STEM] for word in _WORD.findall(text.casefold()) if word not in _EMPTY)
