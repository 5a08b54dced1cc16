"""The scripted user: a person to work with, who answers from what the scenario lets it know, without any model.

Policy: it reads what each message of the agent does and answers by the table ``POLICY``. It says what it is asked and
nothing that was just said, agrees to what serves its wish and to nothing beyond, takes an offer of what it wants next,
believes what it is told, and leaves only when it was delivered to, was refused, or its patience is at an end. Its
personas change when it says what it wants, and what it says beside that.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from typing import Any

from sandbox_scenarios.model import Answer, Clock, Persona, Script, Slip, UserSpec
from sandbox_scenarios.personas import pick

from sandbox_mcp.engine.talk.acts import Act, ActReading, read_acts
from sandbox_mcp.engine.talk.patterns import any_case
from sandbox_mcp.engine.tools.gates import codes_in
from sandbox_mcp.play.users import composing, own_acts
from sandbox_mcp.play.users.base import Line, UserAct, UserTurn
from sandbox_mcp.play.users.days import doubted, known_today
from sandbox_mcp.play.users.manner import Manner

NO_MORE = "No thanks."
WAITING = "All right."
PUZZLED = "Sorry, what do you need from me?"
PITY = "Pity."
THE_REST = "Pity. Then just the rest."
_UNKNOWN = Script().unknown
"""Where a script has no other words for what it does not know, it says first what any person could say."""
_THANKS = any_case(r"\W*(?:thanks|thank you|great|perfect|cheers)\b[^?]{0,40}$")
_NO = any_case(r"(?:no|not|rather not|only if)\b")
_EXCLAIMS = any_case(r"\W*(?:\w+ )?\w{1,7}[,.!] ")
"""A wish that begins with a word of its own for what was heard: "Good.", "Oh no,", "Hm,"."""


@dataclass(frozen=True, slots=True)
class ScriptedUser:
    """A user that follows a scenario's script. Deterministic, and the same whoever drives the agent.

    ``opening`` is what it wants in its own words; left empty, it is taken from the dialogue. ``wants_not`` is what it
    refuses leave for, whatever its script agrees to. ``today`` is the date, unless its brief says that it has none, and
    ``place`` where it is, in its words. ``personas`` are its manners, with what it says wrongly in ``slips`` and comes
    to want instead in ``changes``.
    """

    script: Script
    opening: str = ""
    wants_not: tuple[str, ...] = ()
    kind: str = "scripted"
    today: date | None = None
    place: str = ""
    personas: tuple[Persona, ...] = ()
    slips: tuple[Slip, ...] = ()
    changes: tuple[str, ...] = ()

    @classmethod
    def of(cls, spec: UserSpec, clock: Clock | None = None) -> "ScriptedUser":
        """The user of a scenario that begins at a time."""
        today = clock and known_today(spec, clock)
        place = composing.place_known(spec.knows)
        user = cls(spec.script, spec.wish or spec.opening, spec.wants_not, today=today, place=place)
        if not spec.personas:
            return user
        slips = spec.slips if "mistaken" in spec.personas else ()
        changes = spec.changes if "changes_mind" in spec.personas else ()
        return replace(user, personas=spec.personas, slips=slips, changes=changes)

    def describe(self) -> Mapping[str, Any]:
        """Nothing beside its kind: the script is in the scenario."""
        return {}

    async def respond(self, dialogue: Sequence[Line]) -> UserTurn:
        """Answer the agent's last line."""
        heard = [line for line in dialogue if line.speaker == "agent"]
        opening = self.opening or next((line.text for line in dialogue if line.speaker == "user"), "")
        codes = codes_in(heard[-1].text) if self.script.approves and heard else ()
        standing = _Standing(self, opening)
        says = standing.after(heard)
        said = f" {says or ''} "
        lines = sorted(
            (line for line in self.script.does if f" {line} " in said), key=lambda line: said.index(f" {line} ")
        )
        done = (self.script.does[line] for line in lines)
        acts = tuple(UserAct(act.name, act.arguments, act.place) for act in done)
        return UserTurn(says, confirms=codes, does=acts, parting=standing.parting)


class _Standing:
    """Where the script stands, refolded from the agent's lines each time."""

    def __init__(self, user: ScriptedUser, opening: str) -> None:
        self._whole = self._script = user.script
        self._holds: frozenset[str] = frozenset()
        self._wants_not = user.wants_not
        self._today = user.today
        self._place = user.place
        self._wishes = [opening] if opening else []
        self._then = list(user.script.then)
        self._said: set[str] = set()
        self._told: list[str] = []
        self._waited = 0
        self._declined = self._met = self._objected = False
        self.parting = ""
        self._manner = Manner(user.personas, [*user.slips], [*user.changes]) if user.personas else None

    def after(self, heard: Sequence[Line]) -> str | None:
        answer: str | None = None
        for line in heard:
            answer = self._in_manner(self._manner, line) if self._manner else self._answer(line)
            self._told += [answer or "", line.text]
        if heard and answer is None:
            self.parting = self._parting(heard[-1])
        return answer

    def _parting(self, line: Line) -> str:
        """What it says as it leaves: thanks for what was done, regret for what was not, and a goodbye for a goodbye."""
        reading, opening = _read(line, self._wish), self._wishes[0] if self._wishes else ""
        if self._declined or reading.act is Act.SMALL:
            words = composing.GOODBYES
        elif composing.refused_part(reading, self._wish):
            words = composing.THANKS_FOR_PART
        elif reading.act is Act.GIVES_UP:
            words = composing.REGRETS
        elif reading.asks and (line.met or reading.act in (Act.CLOSES, Act.OFFERS)):
            words = composing.ENOUGH
        elif line.met or line.calls or reading.act in (Act.DELIVERS, Act.CLOSES, Act.OFFERS):
            words = composing.THANKS
        else:
            words = composing.DROPS
        said = pick(words, f"{opening} {len(self._told)}")
        return " ".join([said, *self._manner.aside(opening)]) if self._manner else said

    def _in_manner(self, manner: Manner, line: Line) -> str | None:
        """Its answer under its personas."""
        reading = _read(line, self._wish)
        said = manner.interjects(line, reading, self._wish)
        if said and said.wish != self._wish:
            self._wishes.append(said.wish)
        if said and said.alone:
            self._waited = 0
            return manner.around(said, None, agrees=False, wish=self._wishes[0])
        answer = self._answer(line)
        agrees = bool(answer and reading.act is Act.LEAVE and not _NO.match(answer))
        return manner.around(said, answer, agrees=agrees, wish=self._wishes[0])

    @property
    def _wish(self) -> str:
        return self._wishes[-1] if self._wishes else ""

    def _says_now(self, words: str) -> bool:
        """True unless these words are for another state of the world."""
        return words not in self._whole.when or words in self._holds

    def _answer(self, line: Line) -> str | None:
        if self._whole.when:
            self._holds = line.holds
            fitting = tuple(item for item in self._whole.answers if self._says_now(item.say))
            self._script = replace(self._whole, answers=fitting)
        if codes_in(line.text):
            self._waited = 0
            return self._script.confirm if self._script.approves else self._script.decline
        self._met = line.met
        reading = _read(line, self._wish)
        if self._declined and reading.act in _NOTHING_NEW:
            return self._next_wish()
        if asked := own_acts.asked_to_do(self._script.answers, self._script.does, line.text, self._said):
            return self.facts(line, reading, asked)  # what it is asked to do itself is no offer, whatever it follows
        if objection := self._objection(line, reading):
            return self._wait(objection)
        return POLICY[reading.act](self, line, reading)

    def _objection(self, line: Line, reading: ActReading) -> str | None:
        """What it has against the day that a report names, once."""
        if (
            self._today is None
            or self._objected
            or not reading.has(Act.DELIVERS)
            or reading.act in (Act.ASKS, Act.LEAVE)
        ):
            return None
        coming = next(iter(self._then), "")
        objection = doubted(line.text, self._wish, coming, self._today)
        self._objected = objection is not None
        return objection

    def facts(self, line: Line, reading: ActReading, acts: Sequence[Answer] = ()) -> str | None:
        """What it knows about what was asked; a yes as well where leave was asked in another sentence.

        ``acts`` are asked of it elsewhere in the message, and done in the order in which they are named there, also if
        they were done before.
        """
        asking = reading.text(Act.ASKS, Act.OPEN) or reading.asking or line.text
        answers = [item for item in self._script.answers if composing.can_be_granted(item, reading)]
        if here := composing.whereabouts(answers, asking, self._place, self._said):
            if self._said.issuperset(here) and reading.has(Act.GIVES_UP):
                return self._move_on(reading)
            self._said.update(here)
            return self._wait(" ".join(here))
        around = line.text if composing.names_nothing(asking) or not reading.asking else ""
        if self._script.does:
            asking, around = (
                own_acts.to_do_now(self._script.answers, self._script.does, text) for text in (asking, around)
            )
        about = composing.hearing(answers, asking)
        known = about or composing.hearing(answers, around)
        known = [*known, *(item for item in acts if item not in known)]
        fresh = [item for item in known if item.say not in self._said or item in acts]  # a key may be pressed twice
        given = composing.to_give(known, fresh, asking)
        chosen = composing.untold(composing.unstated(given, reading, line.text), self._wish)
        if self._script.does:
            acts = [item for item in fresh if item.say in self._script.does]
            ordered = iter(composing.in_asked_order(acts, line.text))
            chosen = [next(ordered) if item in acts else item for item in chosen]
            chosen += ordered  # an act says nothing of its own that could have been said before
        if known and all(item.say in self._said for item in known) and reading.has(Act.GIVES_UP):
            return self._move_on(reading)
        if chosen:
            self._waited = 0
            self._said.update(item.say for item in known)
            leave = composing.wants_leave(reading) and not any(map(composing.refuses, chosen))
            return " ".join([*([self._script.confirm] if leave else []), *(item.say for item in chosen)])
        if known:
            return self._wait(self._script.confirm)  # it has been said right, and is only to be confirmed
        return self._without_script(line, reading, f"{asking} {around}" if composing.names_nothing(asking) else asking)

    def _without_script(self, line: Line, reading: ActReading, asking: str) -> str | None:
        """What anybody could say who has no answer in the script: the day, a name, the wish again, or that it is unknown."""
        if reading.has(Act.DELIVERS) and (line.met or (line.calls and any(map(self._says_now, self._then)))):
            return self._move_on(reading)  # what a report asks at its end is not answered with the wish that it serves
        day = self._today and composing.day_asked(asking, self._wish, self._today)
        said = day or composing.full_name(asking, self._wish) or composing.promised(asking)
        if said is None and self._wish not in self._said and composing.has_said(self._wish, asking):
            self._said.add(self._wish)
            said = self._wish
        if said is None and self._script.unknown == _UNKNOWN:
            said = composing.offhand(self._wish, asking)
            if said is None and line.met and reading.act is not Act.ASKS:
                return self.decline(line, reading)
        return self._wait(said or self._script.unknown)

    def wish_again(self, line: Line, reading: ActReading) -> str | None:
        """Its wish once more, with what it knows about what was asked; after a delivery the next one."""
        if not self._wishes:
            return self.facts(line, reading)
        if line.calls or line.met or reading.has(Act.DELIVERS):
            return self._move_on(reading)
        return self._wait(self._wish)

    def leave(self, line: Line, reading: ActReading) -> str | None:
        """Yes, with what else was asked; or no, where the brief says no to exactly this."""
        self._waited = 0
        asking = reading.text(Act.LEAVE) or reading.asking or line.text  # an offer may ask nothing in so many words
        about = composing.hearing(self._script.answers, asking)
        refused = [item for item in about if composing.refuses(item)]
        unwanted = any(composing.is_about(asking, deed) for deed in self._wants_not)
        if refused:
            self._said.update(item.say for item in refused)
            said = " ".join(item.say for item in refused)
            as_it_is = not unwanted or composing.leaves_alone(asking) or _NO.match(said)
            return said if as_it_is else f"No. {said}"
        if unwanted:
            return self._script.decline
        if named := composing.meant_instead(self._script.answers, asking, line.text):
            self._said.add(named.say)
            return named.say
        if other := composing.contradicted(self._script.answers, asking, line.text):
            self._said.add(other.say)
            return f"No. {other.say}"
        granted = [item for item in about if composing.grants(item) and composing.can_be_granted(item, reading)]
        waived = composing.hearing(self._script.answers, reading.text(Act.GIVES_UP))
        waived = [item for item in waived if composing.grants(item) and item.say not in self._said]
        besides = f"{reading.text(Act.ASKS) if composing.is_asked(reading) else ''} {composing.told_to_say(reading)}"
        asked = composing.hearing(self._script.answers, besides)
        asked = [item for item in asked if item.say not in self._said and item not in (*granted, *waived)]
        asked = [item for item in composing.unstated(asked, reading, line.text) if not composing.refuses(item)]
        again = [item for item in granted if item.say in self._said and item.say not in self._script.does]
        self._said.update(item.say for item in (*granted, *waived, *asked))
        agreed = [item.say for item in waived or granted if item not in again] or [self._script.confirm]
        refused_part = not _NO.match(agreed[0]) and composing.refused_part(reading, self._wish)
        pity = [PITY] if refused_part and not waived and not granted else []
        return " ".join([*pity, *agreed, *(item.say for item in asked)])

    def decline(self, line: Line, reading: ActReading) -> str | None:
        """An answer to an offer: yes if it is of what it wants next, no to what it wants never."""
        offered = reading.asking
        if not offered:
            return self._move_on(reading)
        if composing.asks_for_this_one(offered):
            return self.leave(line, reading)
        about = [item for item in composing.hearing(self._script.answers, offered) if item.say not in self._said]
        if not (line.met or reading.has(Act.DELIVERS)) and any(map(composing.grants, about)):
            return self.leave(line, reading)  # how a deed that its wish needs is put forward makes no difference
        refused = [item.say for item in about if composing.refuses(item)]
        if composing.leaves_alone(offered):
            return self._wait(self._script.confirm)
        if coming := [wish for wish in self._then if self._says_now(wish)]:
            taken = composing.answer_to_offer(offered, coming[0], [*self._told, self._wish, reading.stated])
            if taken is composing.Offered.ITS_WISH:
                wish = self._next_wish()
                spent = wish is None or composing.is_spent(wish, self._told)
                return self._script.confirm if spent else f"{self._script.confirm} {wish}"
            wish = self._next_wish()
            if wish is not None:
                refusal = refused or ([NO_MORE] if taken is composing.Offered.ANOTHER else [])
                return " ".join([*refusal, wish])
        if self._declined:
            return None
        no = self._script.confirm
        if _NO.match(no) and no not in self._said and not line.met and not refused:
            self._said.add(no)
            return self._wait(no)  # its own reason for refusing what is less than its wish
        self._said.update(refused)
        if line.calls is not None and not (line.met or reading.has(Act.DELIVERS) or reading.has(Act.GIVES_UP)):
            return self._wait(" ".join(refused) or NO_MORE)  # what it wants is still to come
        self._declined = True
        if reading.has(Act.GIVES_UP) and not reading.has(Act.DELIVERS):
            return " ".join(refused) or self._script.decline
        return " ".join(refused) or pick(composing.ENOUGH, f"{self._wishes[0] if self._wishes else ''} {line.text}")

    def closing(self, line: Line, reading: ActReading) -> str | None:
        """What an agent hears that offers more help in general: the wish again if nothing has been done about it."""
        if line.calls == 0 and not (
            line.met or self._declined or reading.has(Act.DELIVERS) or reading.has(Act.GIVES_UP)
        ):
            return self.wish_again(line, reading)
        asked = [item for item in composing.hearing(self._script.answers, reading.asking) if item.say not in self._said]
        return self.facts(line, reading) if asked and reading.asks else self._move_on(reading)

    def move_on(self, line: Line, reading: ActReading) -> str | None:  # noqa: ARG002
        """The next wish, or the end."""
        return self._move_on(reading)

    def acknowledge(self, line: Line, reading: ActReading) -> str | None:
        """Patience, as long as it lasts; a call that was made restores it. Thanks for thanks, and a goodbye, end the talk."""
        parting = reading.act is Act.SMALL and (line.met or (self._wishes and _THANKS.match(self._wish)))
        if parting or self._declined:
            return self._next_wish()
        if line.calls:
            self._waited = 0
        return self._wait(THE_REST if composing.refused_part(reading, self._wish) else WAITING)

    def repair(self, line: Line, reading: ActReading) -> str | None:  # noqa: ARG002
        """Ask back, as long as patience lasts."""
        return self._wait(PUZZLED)

    def _wait(self, words: str) -> str | None:
        self._waited += 1
        return words if self._waited < self._script.patience else None

    def _move_on(self, reading: ActReading) -> str | None:
        """The next wish, behind a word about what could not be done, or what it cost, unless it has its own."""
        refused = composing.refused_part(reading, self._wish)
        wish = self._next_wish()
        if wish is None or _EXCLAIMS.match(wish):
            return wish
        if refused:
            return f"{PITY} {wish}"
        return f"{WAITING} {wish}" if composing.warns(reading) else wish

    def _next_wish(self) -> str | None:
        self._waited = 0
        while self._then:
            wish = self._then.pop(0)
            done = self._met and composing.is_spent(wish, self._told)
            if wish not in self._said and not done and self._says_now(wish):
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
    Act.SMALL: _Standing.acknowledge,
    Act.UNREADABLE: _Standing.repair,
}
"""What the user does about each act; docs/users.md has the same table in words."""
_NOTHING_NEW = frozenset(
    {Act.CLOSES, Act.SMALL, Act.OFFERS, Act.OPEN, Act.DELIVERS, Act.GIVES_UP, Act.UNREADABLE, Act.PROMISES}
)
"""What an agent may say to a user who wants nothing more, without keeping it."""


@lru_cache(maxsize=4096)
def _read(line: Line, wish: str) -> ActReading:
    """A reading, remembered, because a dialogue is read again from its beginning at each of its lines."""
    return read_acts(line.text, wish, line.calls, met=line.met)
