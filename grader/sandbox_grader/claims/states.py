"""States of things (on, off), directions (up, down) and answers (yes, no): whether a message tells the right one.

Policy: of a state the last clause about the thing that tells one counts, because what was before is told on the way.
Plans and orders tell no state.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from sandbox_scenarios.model import Fact

from sandbox_grader.claims.finding import Finding, contrary, doubtful, missing, stated
from sandbox_grader.claims.standing import standing
from sandbox_mcp.engine.talk.clauses import Clause, Talk
from sandbox_mcp.engine.talk.deeds import LATER
from sandbox_mcp.engine.talk.patterns import Lazy

_STATE = Lazy(
    r"\b(?:(?P<on>on|(?:re-?)?enabled|active|(?:re)?activated|running|connected|open|opened|live|energi[sz]ed|up)"
    r"|(?P<off>off|disabled|inactive|deactivated|disconnected|down|closed|shut|dead))\b(?! (?:(?:the|your|my|an?|his"
    r"|her|its?|their|our|this|that|which|top|hand|request)\b|\d))"
)
_STILL = Lazy(r"\b(?:is|are) (?:now |already |still |back )*(?:on|off)\b")
_ORDERS = Lazy(r"\W*(?:please |then |just )*(?:turn|switch|enable|disable|put)\b")
_WITHIN = Lazy(r"\b(?:(?P<off>out of|left|leave|leaving)|in|into)(?: the| a)? $")
"""In low battery mode it is on, out of it off."""
_PAST = Lazy(r"\b(?:was|were|had been) (?:\w+ )?(?:on|off|enabled|disabled|open|closed)\b")
"""Behind the present state, history."""
_OPEN = Lazy(
    r"\b(?:whether|until|unless|once you|(?<!able )(?<!managed )(?<!had )(?<!needed )to (?:\w+ )?(?:turn|switch|enable"
    r"|disable|put|flip|have))\b[^,]*$"
)
"""Before a state that is wished for, waited for or unknown."""
_FAR = 8
"""In a clause of more words without the thing's name, a state is of something else."""


@lru_cache(maxsize=1024)
def letters(name: str) -> str:
    """A name without spaces and signs, in lower case."""
    return re.sub(r"[\W_]", "", name.lower())


def names_pattern(names: Iterable[str]) -> str:
    """A pattern for any of some names, however they are hyphenated."""
    ordered = sorted({name.lower() for name in names if name}, key=len, reverse=True)
    return "|".join(r"[- _]?".join(map(re.escape, re.split(r"[- _]", name))) for name in ordered)


def names_of(thing: str, things: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """What a switch is called, itself included, whichever of its names is given."""
    same = letters(thing)
    for column, called in things.items():
        if same == letters(column) or same in map(letters, called):
            return (thing, *called)
    return (thing,)


@lru_cache(maxsize=256)
def _named(names: tuple[str, ...]) -> Lazy:
    return Lazy(rf"\b(?:{names_pattern(names) or '(?!)'})")


def state(talk: Talk, fact: Fact, things: Mapping[str, Sequence[str]]) -> Finding:
    """Whether a thing is said to be in a state."""
    wanted, thing = str(fact.value[0]).lower(), fact.unit.lower()
    own = names_of(thing, things)
    name = _named(own)
    others = [(column.replace("_", " "), *names) for column, names in things.items() if not set(names) & set(own)]
    foreign = _named(tuple(chain.from_iterable(others)))
    about, last, doubted = False, "", False
    for clause in talk.clauses:
        if clause.quoted or not clause.states:
            continue
        here = name.search(clause.text)
        about = bool(here) or (about and not foreign.search(clause.text))
        planned = LATER.search(clause.text) and not _STILL.search(clause.text)
        if not about or planned or _ORDERS.match(clause.text):
            continue
        told = _told(clause, here, foreign)
        if told and not (last and _PAST.search(clause.text)):
            last = "back" if clause.start < talk.withdrawn else told
            doubted = clause.hedges
    if not last:
        return missing(f"does not say that {thing} is {wanted}")
    if last == wanted:
        why = f"says that {thing} is {wanted}"
        return doubtful(f"is unsure, but {why}") if doubted else stated(why)
    return contrary(f"says that {thing} is {last}, expected {wanted}")


def _told(clause: Clause, here: re.Match[str] | None, foreign: Lazy) -> str:
    """The state that a clause tells of a thing named ``here``, or named before; empty where it tells none."""
    text = clause.text
    if here:
        other = foreign.search(text, here.end())
        before = foreign.search(text, 0, here.start())
        part = text[: other.start()] if other else text
        part = " " * here.start() + part[here.start() :] if before else part
        found = list(_STATE.finditer(part)) or list(_STATE.finditer(text))
        within = _WITHIN.search(text, 0, here.start())
        if within and not _STATE.search(part):
            return "off" if within["off"] else "on"
    else:
        found = list(_STATE.finditer(text)) if len(text.split()) <= _FAR else []
    found = [item for item in found if not _OPEN.search(text, 0, item.start())]
    if not found:
        return ""
    denied, _ = clause.denied(clause.start + found[-1].start())
    return "on" if bool(found[-1]["on"]) != denied else "off"


_WAY = Lazy(
    r"\b(?:(?P<up>rise\w*|rose|rising|rais\w+|up|increas\w*|higher|gain\w*|climb\w*|gr[eo]w\w*|more|dearer|longer"
    r"|later|warmer|jump\w*|plus)|(?P<down>fell|fall\w*|down|decreas\w*|lower\w*|less|drop\w*|declin\w*|reduc\w*"
    r"|cheaper|smaller|fewer|lost|loss|dip\w*|slid|slipped|shorter|earlier|colder|cooler|cut|minus))\b"
)


def direction(talk: Talk, fact: Fact) -> Finding:
    """Whether something is said to have gone up or down."""
    wanted = str(fact.value[0]).lower()
    said = set[str]()
    for found in _WAY.finditer(talk.low):
        how = standing(talk, found.start())
        if how in ("said", "denied"):
            said.add(f"{'not ' if how == 'denied' else ''}{found.lastgroup}")
    if wanted in said:
        why = f"says that it went {wanted}"
        return stated(why) if len(said) == 1 else doubtful(f"{why}, and the reverse")
    return (contrary if said else missing)(f"does not say that it went {wanted}")


_ANSWER = Lazy(r"\W*(?P<word>yes|yep|yeah|indeed|correct|no|nope)\b(?! (?:need|problem|worries|trouble))")


def polarity(talk: Talk, fact: Fact) -> Finding:
    """Whether a question is answered with yes or no: by the word, or by the topic with or without a denial."""
    wanted = str(fact.value[0]).lower() == "yes"
    about = _topic(tuple(str(word).lower() for word in fact.about or (fact.unit,) if word))
    word: bool | None = None
    topic: bool | None = None
    for clause in talk.clauses:
        if not clause.states or clause.hedges or clause.quoted or clause.start < talk.withdrawn:
            continue
        answer, found = _ANSWER.match(clause.text), about.search(clause.text)
        if answer and word is None:
            word = answer["word"] not in ("no", "nope")
        if found and not answer:
            topic = not clause.denied(clause.start + found.start())[0]
        elif found and answer and len(clause.text.split()) > 1:
            topic = word
    said = topic if word is None else word
    if said is None:
        return missing("gives no answer")
    if word is not None and topic is not None and word != topic:
        return doubtful(f"answers {'yes' if word else 'no'}, and speaks of it as if it were not so")
    return (stated if said == wanted else contrary)(f"answers {'yes' if said else 'no'}")


@lru_cache(maxsize=256)
def _topic(words: tuple[str, ...]) -> Lazy:
    return Lazy(rf"\b(?:{'|'.join(map(re.escape, words)) or '(?!)'})\w{{0,4}}\b")
