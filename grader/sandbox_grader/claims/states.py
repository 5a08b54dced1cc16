"""Whether a message states the state of a thing (on or off), a polarity (yes or no) or a direction (up or down).

Policy: the last present statement counts and the past is history; two present ones that differ contradict each other.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

from sandbox_scenarios.model import Fact

from sandbox_grader.claims.background import Background
from sandbox_grader.claims.clauses import Clause, Spoken
from sandbox_grader.claims.finding import Finding, contrary, missing, stated
from sandbox_grader.claims.normal import one_of

Things = Mapping[str, Sequence[str]]
"""What people call the switches of a world, by column."""


def _not_behind(*words: str) -> str:
    """A pattern that holds where none of these words stands before."""
    return "".join(rf"(?<!\b{word} )" for word in words)


_NOT_GOING_ON = _not_behind(
    *("going", "later", "carry", "move", "moving", "moved", "hold", "hang", "come", "go", "read", "keep", "early"),
    *("so", "else", "from now", "from here", "from then"),
)
_NOT_SIGNING_OFF = _not_behind("sign", "signing", "log", "logging", "kick", "kicking", "better", "load", "paid", "take")
_NOT_WRITTEN_DOWN = _not_behind(
    *("that", "this", "them", "scroll", "hands", "slow", "come", "further", "write", "wrote", "written", "noted"),
    *("wrote it", "written it", "noted it"),
)
_BEHIND = (
    r"after|again|also|already|and|anyway|as|at|back|because|before|but|by|currently|during|either|for|from|here|if|in"
    r"|instead|just|like|not|now|on|once|only|or|per|rather|right|since|so|still|then|though|till|to|today|tonight|too"
    r"|unless|until|when|where|which|while|with|without|\w{1,20}ly"
)
"""What may stand behind ``on`` and ``off`` as states; before other words they are prepositions, as in *on standby*."""
_ALONE = rf"(?! (?!(?:{_BEHIND})\b)\w)"
_ON = (
    rf"{_NOT_GOING_ON}on{_ALONE}|enabled|active|activated|reactivated|reenabled|running|connected"
    r"|reconnected|up and running|back up"
)
_OFF = (
    rf"{_NOT_SIGNING_OFF}off{_ALONE}|cut|killed|disabled|deactivated|inactive|disconnected|shut down"
    rf"|{_NOT_WRITTEN_DOWN}down"
)
_TURNED = r"(?:turn|switch|flip|put|power|shut)(?:ed|ing)? (?:back )?"
_VALUE = re.compile(rf"\b(?:(?P<on>{_ON}|{_TURNED}on)|(?P<off>{_OFF}|{_TURNED}off))\b")
_OPENED = re.compile(
    r" ?(?:(?:is|are|stays?|remains?|has been|have been|was|were|been)\b[^.,;]{0,16}?|(?:now|[:=–-])) ?"
    r"(?P<state>(?:re)?open(?:ed)?|closed|shut)(?! (?:to|by|for (?:you|us) to)\b)\b"
)
"""Behind what may be open, which is on then, or closed."""
_OPENS = re.compile(r"\b(?P<state>(?:re)?opened|closed|shut)(?: up| down)? (?:the |your |our )?$")
"""Before it."""
_IT_OPENED = re.compile(
    r"\W*(?:(?:and|but|so|now|then|it|that|this|is|has been|again) ){0,5}(?P<state>(?:re)?open(?:ed)?|closed|shut)"
    r"(?: (?:now|again|today|tonight))?\W*"
)
"""A clause about what was spoken of last."""
_WITHIN = re.compile(
    r"\b(?:(?:is|are|be|been|stays?|remains?)(?: \w+){0,2}?"
    r"|(?:put|placed|switched|took|brought)(?: \w+){0,3}?) (?:(?P<on>in|into|running in)|(?P<off>out of))(?: the| a)? $"
)
"""Before a mode that something is in, or out of."""
_ACT = re.compile(
    r"\b(?:turn|switch|flip|put|power|toggl|enabl|disabl|activat|deactivat|shut|set|disconnect|reconnect|connect)\w*\b"
)
_PAST = re.compile(r"\b(?:was|were|had been|used to be|when it is|previously|had)\b")
_PLAN = re.compile(
    r"\b(?:will|shall|going to|about to|let me|would|want to|need to|have to|must|should|can|could|may|might|try|tried"
    r"|trying|wish|to (?:turn|switch|enable|disable|put|set|activate|deactivate)|unable|ready to|turning|switching)\b"
)
_IMPERATIVE = re.compile(
    r"^\W*(?:please |just |then |so |or )*(?:turn|switch|flip|enable|disable|activate|deactivate|put)\b"
)
_PRONOUN = re.compile(
    r"^\W*(?:and |but |so |then |now |which |it|that|this|both|has|is|are|was)\b|\b(?:it|that|both|everything)\b"
)


def letters(name: str) -> str:
    """A name without what its words are set apart by, in lower case."""
    return re.sub(r"[\W_]", "", name).lower()


def wording(names: Iterable[str]) -> str:
    """A pattern for names in lower case: a hyphen may be a space or left out, a space may be a hyphen."""
    longest = sorted({name.lower().replace("_", " ") for name in names}, key=lambda name: (-len(name), name))
    return "|".join(re.escape(name).replace(r"\-", "[- ]?").replace(r"\ ", "[ -]") for name in longest)


def names_of(thing: str, things: Things) -> tuple[str, ...]:
    """All names of the switch that goes by one of them, or by its column's; the name alone where none does."""
    same = letters(thing)
    known = (called for column, called in things.items() if same in {letters(column), *map(letters, called)})
    return (thing, *next(known, ()))


def state(spoken: Spoken, fact: Fact, things: Things) -> Finding:
    """Whether a thing is said to be in a state, now."""
    wanted, thing = str(fact.value[0]).lower(), fact.unit
    found, before = missing(f"does not say that {thing} is {wanted}"), ""
    for clause, text, values in _about(spoken, thing, things):
        said = spoken.said(clause)
        now = _told(clause, text, values, wanted)
        if not now:
            continue
        if now == "open":
            found = contrary(f"leaves open whether {thing} is on or off: {said!r}")
        elif now == "undone":
            found = contrary(f"says that {thing} was not turned {wanted}: {said!r}")
        elif clause.start < spoken.withdrawn:
            found = contrary(f"takes back that {thing} is {now}: {said!r}")
        else:
            acted = _ACT.search(text) is not None
            if before and before != now and not acted and not _SINCE.search(text):
                return contrary(f"says that {thing} is {before} and that it is {now}")
            before = "" if acted else now
            found = (
                stated(f"says that {thing} is {now}: {said!r}")
                if now == wanted
                else contrary(f"says that {thing} is {now}, not {wanted}: {said!r}")
            )
    return found


_SINCE = re.compile(r"\b(?:now|again|back|then|afterwards|since)\b")
_Values = list[tuple[bool, int]]
"""States named in a clause, on as true, and where."""
_IS_NOT = re.compile(r" (?:is|are) not\W*$")
_CONDITION = re.compile(r"\b(?:in|during|under|while in|because of|due to)(?: the| your)? $")
"""Before a mode under which something else is so."""
_ELLIPTIC = 4
"""A clause of so few words needs no subject."""


def _about(spoken: Spoken, thing: str, things: Things) -> Iterator[tuple[Clause, str, _Values]]:
    """The clauses that speak of a thing, by its name or as what was spoken of last, with the states they name."""
    own = names_of(thing, things)
    foreign_names = [item for called in things.values() for item in called if item not in own]
    name = re.compile(rf"\b(?:{wording(own)})\b")
    others = re.compile(rf"\b(?:{wording(foreign_names)})\b" if foreign_names else r"(?!)")
    subject = False
    for clause, behind in zip_longest(spoken.clauses, spoken.clauses[1:]):
        text = clause.text
        subject = subject or (
            behind is not None and re.fullmatch(rf"\W*(?:{wording(own)})\W*", behind.text) is not None
        )
        named, foreign = name.search(text), others.search(text)
        subject = bool(named) or (subject and not foreign)
        if not subject or not (named or _PRONOUN.search(text) or len(text.split()) <= _ELLIPTIC):
            continue
        values = [(item.group("on") is not None, item.start()) for item in _VALUE.finditer(text)]
        within = _WITHIN.search(text[: named.start()]) if named and not values else None
        if named and values and not within and _CONDITION.search(text[: named.start()]):
            continue
        if within:
            values = [(within["on"] is not None, within.start("on" if within["on"] else "off"))]
        if not values:
            values = _opened(text, named)
        if foreign and named:
            values = _own_values(values, named.start(), foreign.start())
        if named and values and _IS_NOT.match(text, named.end()):  # "bluetooth is on, wifi is not"
            values = [(not values[-1][0], named.start())]
        if values:
            yield clause, text, values


def _opened(text: str, named: re.Match[str] | None) -> _Values:
    """Whether a thing, named or spoken of last, is said to be open or closed, as people say of a desk or a bar."""
    found = (
        _OPENED.match(text, named.end()) or _OPENS.search(text[: named.start()])
        if named
        else _IT_OPENED.fullmatch(text)
    )
    return [("open" in found["state"], found.start("state"))] if found else []


def _told(clause: Clause, text: str, values: _Values, wanted: str) -> str:
    """Which state a clause tells, now: ``on``, ``off``, ``open``, or ``undone`` where it was not brought about."""
    if clause.disowned and clause.says:
        return "open"
    if clause.asks or clause.supposes or (clause.hedges and not clause.untrue) or _IMPERATIVE.match(text):
        return ""
    if re.search(r"\bor\b|\beither\b", text) and {value for value, _ in values} == {True, False}:
        return "open"
    value, place = values[-1]
    if _PLAN.search(text) and not _NOW.search(text):
        return "undone" if clause.denials and not clause.history and value == (wanted == "on") else ""
    flipped = re.search(r"\bno longer\b|\bnot\b[^.]{0,24}\bany ?more\b", text[:place]) is not None
    if (_PAST.search(text) or clause.history) and not _ACT.search(text) and not flipped:
        return ""
    denied = clause.denied(clause.start + place) or clause.untrue or flipped
    return "on" if value != denied else "off"


_NOW = re.compile(
    r"\b(?:is|are) (?:now |already |still |back |all )*(?:on|off|enabled|disabled|active|inactive|deactivated|activated"
    r"|connected|disconnected|turned|switched)\b|\bhave (?:now |just )?(?:turned|switched|enabled|disabled)\b"
    r"|\bnow (?:on|off)\b"
)
"""Tells how something stands, whatever is planned beside it."""


def _own_values(values: list[tuple[bool, int]], own: int, foreign: int) -> list[tuple[bool, int]]:
    """Of two things in one clause each has the values that stand nearer after it; a single value is shared."""
    if len(values) == 1:
        return values
    if own < foreign:
        return [value for value in values if value[1] < foreign] or values[:1]
    return [value for value in values if value[1] > own] or values[-1:]


_UP = (
    r"rise[sn]?|rose|rising|rais(?:ed|e|es)|up|increas\w*|higher|more|gain(?:ed|s)?|climb\w*|grew|grown|grow(?:s|ing)?"
    r"|upward\w*|extra|dearer|pricier|jump(?:ed|s)?|surged?|hike\w*|bigger|greater|longer|later|warmer|plus"
    r"|appreciat\w*|strengthen\w*"
)
_DOWN = (
    r"fell|fall(?:s|en|ing)?|down|decreas\w*|lower(?:ed|s)?|less|drop(?:ped|s|ping)?|declin\w*|reduc\w*|sank|sunk"
    r"|cheaper|smaller|shrank|downward\w*|fewer|lost|loss|loses|dip(?:ped|s)?|slid|slipped|shorter|earlier|cooler"
    r"|colder|cut|minus|weaken\w*|depreciat\w*"
)
_DIRECTION = re.compile(rf"\b(?:(?P<up>{_UP})|(?P<down>{_DOWN}))\b")
_NO_CHANGE = re.compile(
    r"\b(?:no|any|once) (?:more|longer|later)\b|\bmore(?= (?:details|information|help|about|questions)\b)"
    r"|\b(?:set|pick|end|sign|look)\w* (?:it |that |this |them )?up\b"
)
"""Ends with a word for more, as people say it of other things than of what goes up."""


def direction(spoken: Spoken, fact: Fact) -> Finding:
    """Whether something is said to have gone up or down."""
    wanted = str(fact.value[0]).lower()
    said, unsaid = set[str](), set[str]()
    for clause in spoken.clauses:
        if clause.asks or clause.supposes or (clause.hedges and not clause.disowned):
            continue
        other = {found.end() for found in _NO_CHANGE.finditer(clause.text)}
        for item in _DIRECTION.finditer(clause.text):
            place = clause.start + item.start()
            if item.end() in other:
                continue
            denied = clause.denied(place) or clause.untrue or clause.disowned or place < spoken.withdrawn
            (unsaid if denied else said).add("up" if item["up"] else "down")
    if said == {wanted}:
        return stated(f"says that it went {wanted}")
    if said:
        return contrary(f"says that it went {' and '.join(sorted(said))}, not {wanted}")
    if wanted in unsaid:
        return contrary(f"denies that it went {wanted}")
    return missing(f"does not say that it went {wanted}")


_SAYS_NO = ("dry", "clear", "sunny", "cloudless")
_DRY = re.compile(rf"\b(?:{'|'.join(_SAYS_NO)})\b")
"""Says no to what falls from the sky."""
_WET = one_of("rain rainy wet umbrella snow snowy shower showers storm drizzle")
_UNLIKELY = re.compile(
    r"\b(?:unlikely|no need (?:for|of|to)|0 ?(?:%|percent\b)|leave (?:\w+ ){1,3}(?:at home|behind|in the \w+)"
    r"|not need\w*|can skip|(?:is|are|was) not (?:\w+ )?(?:expected|forecast|predicted|likely|coming|due|in sight"
    r"|needed|necessary|required|on the cards))"
)


def polarity(spoken: Spoken, fact: Fact, back: Background) -> Finding:
    """Whether a question about a topic is answered with yes or no."""
    wanted = str(fact.value[0]).lower() == "yes"
    topics = tuple(word.lower() for word in fact.about or (fact.unit,) if word)
    about = re.compile(rf"\b(?:{'|'.join(map(re.escape, topics))})\w{{0,4}}\b" if topics else r"(?!)")
    last = max(
        (number for number, clause in enumerate(spoken.clauses) if clause.says and not clause.history), default=0
    )
    answers: list[tuple[bool, int, Clause]] = []
    for number, clause in enumerate(spoken.clauses):
        text = clause.text
        doubted = clause.hedges and not clause.disowned
        if clause.asks or clause.supposes or doubted or re.search(r"\b(?:whether|if it|wonder)\b", text):
            continue
        over = clause.history and not back.asks_of_the_past and number < last
        if over or back.of_another_day(text):
            continue
        lead = re.match(r"\W*(yes|yep|yeah|indeed|no|nope)\b(?! (?:rain|need|problem|worries|one))", text)
        item = about.search(text) or (_DRY.search(text) if _WET & set(topics) else None)
        if item:
            yes = not clause.denied(clause.start + item.start()) and not clause.untrue
            if item[0] in _SAYS_NO and topics != ("dry",):
                yes = not yes
            elif _UNLIKELY.search(text + spoken.low[clause.end : clause.end + 5]):
                yes = False
            answers.append((yes, clause.start, clause))
        elif lead:
            answers.append((lead[1] in ("yes", "yep", "yeah", "indeed"), clause.start, clause))
    live = [yes for yes, place, clause in answers if place >= spoken.withdrawn and not clause.disowned]
    if not live:
        return contrary("takes its answer back") if answers else missing("gives no answer")
    if all(yes == wanted for yes in live):
        return stated(f"answers {'yes' if wanted else 'no'}")
    return contrary(f"answers {'no' if wanted else 'yes'}")
