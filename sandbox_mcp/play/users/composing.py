"""What a person would say about something: of its script what was asked and not just said, and what anybody could say.

Policy: words are compared by their stems. What the agent has just stated is not said again. An offer is one of the next
wish if it names something of it and nothing else; a question about what the wish has said gets it said again, once.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import date
from enum import Enum, auto

from sandbox_scenarios.model import Answer

from sandbox_mcp.engine.talk.acts.kinds import Act, ActReading, ReadSentence
from sandbox_mcp.engine.talk.acts.model import stems
from sandbox_mcp.engine.talk.acts.reading import GENERAL
from sandbox_mcp.engine.talk.clauses import is_question, read
from sandbox_mcp.engine.talk.deeds import base_of, kinds_claimed
from sandbox_mcp.engine.talk.inability import HELPLESS, is_unable
from sandbox_mcp.engine.talk.numbers import figured
from sandbox_mcp.engine.talk.patterns import Lazy, any_case
from sandbox_mcp.engine.talk.text import plain
from sandbox_mcp.engine.talk.values import mentions
from sandbox_mcp.play.users.days import meant, spoken

_REFUSING = any_case(r"(?:no\b|not\b|don['’]t\b|do not\b|never\b|rather not\b|please don['’]t\b|leave\b|only if\b)")
_GRANTING = any_case(
    r"\W*(?:yes|sure|go ahead|you (?:can|may)|turn|switch|of course|fine)\b|.*\b(?:can go (?:on|off)|do the rest)\b"
)
REQUEST = any_case(r"\b(?:can|could|would|will) you\b|\bplease\b|\byou (?:should|must|need to|have to)\b")
_ALONE = any_case(r"\b(?:leave|keep)\b.{1,40}\b(?:as (?:it|they)|alone)\b")
_WARNING = any_case(
    r"\bstill (?:on|off)\b|\bhad to (?:turn|switch|enable|disable)\b|\bheads[- ]up\b|\bkeep in mind\b|\bnote that\b"
    r"|\b(?:will not|can not) (?:be able|sign|log|get back)\b|\b(?:on|off) (?:with it|as well)\b"
)
_SOUGHT = Lazy(r"\b(?:which|what|whom?|whose|when|where|how|or)\b")
_WHICH_ONE = Lazy(r"\bwhich (?:one|of (?:them|these|those))\b")
_CONSENT = Lazy(r"\b(?:confirm|approve|agree|okay|go ahead|permission|consent|your leave|suits you)\b")
_STATED = 0.75
"""So much of an answer, and the agent has said it all."""


# -- leaving ---------------------------------------------------------------------------------------------------------

THANKS = (
    "Great, thanks!", "Perfect, thank you.", "Thanks, that's all.", "Lovely, thanks a lot.", "That's it then, thank you.",
    "Thank you!", "Good, thanks for your help.",
)  # fmt: skip
ENOUGH = (
    "No thanks, that's all.",
    "No, that's all, thanks.",
    "No thank you, that's everything.",
    "No, I'm fine, thanks.",
)
"""What it says to an offer of more once it has all it wanted; each says no."""
THANKS_FOR_PART = (
    "Pity about the rest, but thanks.",
    "All right, thanks for what you could do.",
    "Then so be it. Thanks.",
)
REGRETS = (
    "Pity. Thanks anyway.",
    "Oh well, never mind. Thanks.",
    "That's a pity. Thanks for trying.",
    "Too bad. Bye then.",
)
GOODBYES = ("Thanks, bye!", "Bye, and thanks again.", "Thank you, goodbye.", "All right, bye then.")
DROPS = ("Never mind, I'll see to it another way.", "Never mind then.", "I'll leave it at that, thanks.")
"""What a user says as it leaves whom nobody has served or refused."""


# -- the script ------------------------------------------------------------------------------------------------------


def hearing(answers: Iterable[Answer], text: str) -> list[Answer]:
    """The answers whose catch words a text touches, apart from those that only stand in a question about now."""
    low = plain(text).lower()
    now = set[str]()
    for asked, words in _NOW:
        rest = asked.sub(" ", low)
        now |= words if rest != low else set()
        low = rest
    return [
        item for item in answers
        if not now.isdisjoint(item.about) or any(_touches(low, phrase.lower()) for phrase in item.about)
    ]  # fmt: skip


_NOW = (
    (Lazy(r"\b(?:(?:what is )?today's date|current date|date today|what (?:day|date) is (?:it|today))\b"), frozenset({"today", "today's date"})),
    (Lazy(r"\b(?:what time is it|current time|what is the time)\b"), frozenset({"now", "current"})),
    (Lazy(r"\btime ?zone\b"), frozenset({"zone", "time zone"})),
)  # fmt: skip
"""Questions about now, each with the catch words of the answers that are meant for it."""


def to_give(answers: Sequence[Answer], fresh: Sequence[Answer], asking: str) -> Sequence[Answer]:
    """Of the answers that a question touches those to give: the ``fresh`` ones, unless it names what another one is about.

    "At what time?" names the time, and an answer about "what" is beside it, though the time has been said before.
    """
    named = [item for item in answers if any(phrase.lower() not in _ASKING_WORDS for phrase in _phrases(item, asking))]
    return named if named and not any(item in named for item in fresh) else fresh or answers


def _phrases(answer: Answer, asking: str) -> list[str]:
    """The catch words of an answer that a question touches."""
    low = plain(asking).lower()
    return [phrase for phrase in answer.about if _touches(low, phrase.lower())]


_ASKING_WORDS = frozenset({"what", "which", "which one", "who", "whom", "whose", "when", "where", "how", "why"})


def contradicted(answers: Iterable[Answer], asking: str, text: str) -> Answer | None:
    """The answer with another phone number than the one that the user is asked to confirm; None where they agree."""
    known = list(answers)
    told = _phones(text) if _IS_IT_RIGHT.search(asking) else frozenset[str]()
    if not told or any(told & _phones(item.say) for item in known):
        return None
    return next((item for item in hearing(known, asking) if _phones(item.say)), None)


_IS_IT_RIGHT = Lazy(r"\b(?:correct|(?<!all )(?<!if you are )right)\b")


def _phones(text: str) -> frozenset[str]:
    """The last digits of the phone numbers in a text, which are the same in every form."""
    return frozenset(
        re.sub(r"\D", "", text[at.start : at.end])[-_SAME_NUMBER:] for at in mentions(text) if at.kind == "phone"
    )


_SAME_NUMBER = 7


def in_asked_order(answers: Sequence[Answer], text: str) -> list[Answer]:
    """The answers in the order in which a text touches their catch words; those that it does not touch come first."""
    low = plain(text).lower()
    return sorted(
        answers,
        key=lambda item: min(
            (place for phrase in item.about if (place := _place(low, phrase.lower())) >= 0), default=-1
        ),
    )


def _touches(text: str, phrase: str) -> bool:
    """True if a phrase occurs in a text as whole words."""
    return _place(text, phrase) >= 0


def _place(text: str, phrase: str) -> int:
    """Place of a phrase in a text, as whole words; -1 if it does not occur so."""
    start = text.find(phrase)
    while start >= 0:
        end = start + len(phrase) + (text[start + len(phrase) :][:1] == "s")
        if not text[start - 1 : start].isalnum() and not text[end : end + 1].isalnum():
            return start
        start = text.find(phrase, start + 1)
    return -1


def refuses(answer: Answer) -> bool:
    """True if an answer says no."""
    return bool(_REFUSING.match(answer.say))


def grants(answer: Answer) -> bool:
    """True if an answer gives leave."""
    return bool(_GRANTING.match(answer.say))


def wants_leave(reading: ActReading) -> bool:
    """True if leave is asked beside a question for something else: by a question of its own, or in so many words."""
    asked = (item for item in reading.sentences if item.waits)
    return any((item.act is Act.LEAVE and is_question(item.text)) or _CONSENT.search(item.text) for item in asked)


def refused_part(reading: ActReading, wish: str) -> bool:
    """True if one part of a wish is refused and not all of it: that part belongs to the wish, and is not done."""
    if reading.act is Act.GIVES_UP and not reading.has(Act.DELIVERS):
        return False
    refused = stems(" ".join(item.text for item in reading.sentences if item.act is Act.GIVES_UP and _helpless(item)))
    return bool((refused - GENERAL - stems(reading.text(Act.DELIVERS))) & stems(wish))


def can_be_granted(answer: Answer, reading: ActReading) -> bool:
    """True unless an answer gives leave for a kind of deed for which the agent has no means, or that it leaves to the user."""
    if not grants(answer):
        return True
    beyond = (text for item in reading.sentences if not is_question(item.text) for text in _helpless(item))
    own = (found[0] for item in reading.sentences for found in _YOURSELF.finditer(item.text))
    return not _deeds(answer.say) & frozenset().union(*map(_deeds, (*beyond, *own)))


_YOURSELF = Lazy(
    r"\b(?:will|would) you (?:rather )?(?:turn|switch|enable|put|activate)\b[^,.?!]*|[^,.?!]*\byourself\b[^,.?!]*"
)
"""A deed that is left to the user: "or will you switch it on", "turn it on yourself"."""


def _helpless(sentence: ReadSentence) -> list[str]:
    """The clauses of a sentence that tell of something beyond the agent."""
    clauses = read(sentence.text).clauses
    beyond = (clause.text for clause in clauses if is_unable(clause) and _HELPLESS.search(clause.text))
    return [text for text in beyond if not _FOR_GOOD.search(text)]


_HELPLESS = Lazy(HELPLESS)
_FOR_GOOD = Lazy(
    r"\b(?:undone|undo|reversed?|restored?|recover(?:ed)?|recall(?:ed)?|retrieved?|unsent|(?:taken?|brought|get|got) (?:it |that )?back)\b"
)
"""A warning that a deed is for good, which refuses nothing."""


def names_nothing(asking: str) -> bool:
    """True if a question leaves to the message around it what it is about: "What is it?", "Which one?"."""
    return not stems(asking) - GENERAL or bool(_WHICH_ONE.search(asking))


def told_to_say(reading: ActReading) -> str:
    """The parts of sentences that ask for leave or offer, and ask beside it to be told something."""
    asked = (item for item in reading.sentences if item.act in (Act.LEAVE, Act.OFFERS))
    return " ".join(found[0] for item in asked for found in _TELL_ME.finditer(item.text))


_TELL_ME = Lazy(
    r"\b(?:tell|give|send|write|type|spell) me\b(?! (?:to|if|when|so)\b)[^.?!]*|\bi(?: will|'ll)?(?: still| also| only)? need (?:the|your|a|his|her)\b[^.?!]*"
)
"""A request to be told something, to the end of its sentence."""


def is_asked(reading: ActReading) -> bool:
    """True if a message asks for something in so many words, rather than says what will be needed some time."""
    return any(
        is_question(item.text) or REQUEST.search(item.text) for item in reading.sentences if item.act is Act.ASKS
    )


def meant_instead(answers: Iterable[Answer], asking: str, text: str) -> Answer | None:
    """Whom or which one the user means, where "Her?" asks about another one; None where it asks about the right one."""
    if not asks_for_this_one(asking):
        return None
    naming = (item for item in answers if not _ONE_OF.isdisjoint(item.about))
    return next((item for item in naming if not _is_covered(item.say, _values(text))), None)


def asks_for_this_one(asking: str) -> bool:
    """True if a question is only whether the one named before it is the right one: "Her?", "Is that the one?"."""
    return bool(_THIS_ONE.match(asking))


_THIS_ONE = Lazy(
    r"\W*(?:(?:is|was) (?:that|it|this)|do you mean|would that be|you mean|meaning)? ?"
    r"(?:her|him|them|she|he|they|(?:that|this)(?: one)?|it|these|those|the right (?:one|person))\b"
    r"(?: (?:one|the (?:right )?(?:one|person)))?\W*$"
)
_ONE_OF = frozenset({"who", "whom", "which", "which one"})


def untold(answers: Sequence[Answer], wish: str) -> list[Answer]:
    """Of several answers those that say more than the wish did; all where none does."""
    said = _values(wish)
    return [item for item in answers if not _is_covered(item.say, said)] or list(answers)


def unstated(answers: Sequence[Answer], reading: ActReading, text: str) -> list[Answer]:
    """The answers that tell more than the agent has just said; what it asks to be told, nobody has said yet."""
    if _SOUGHT.search(reading.asking):
        return list(answers)
    said = _values(text)
    return [item for item in answers if not _is_covered(item.say, said)]


def _is_covered(say: str, said: frozenset[str]) -> bool:
    own = _values(say)
    return bool(own) and len(own & said) >= _STATED * len(own)


def _values(text: str) -> frozenset[str]:
    """What a text is about, with words for numbers and times as figures."""
    return stems(figured(text)) | stems(text)


# -- offers ----------------------------------------------------------------------------------------------------------


class Offered(Enum):
    """What an offer is to a user who wants something next."""

    ITS_WISH = auto()
    ANOTHER = auto()
    UNCLEAR = auto()


def answer_to_offer(offered: str, wish: str, before: Sequence[str]) -> Offered:
    """An offer's relation to a wish, by the words of both and by those of the offer alone.

    ``before`` is what has been said so far, which an offer may speak of.
    """
    named, wanted = stems(offered) - GENERAL, stems(wish)
    kinds, own = _deeds(offered), _deeds(wish)
    shared = bool(named & wanted) or bool(kinds & own)
    known = wanted.union(*map(stems, before))
    foreign = {stem for stem in named if stem not in known and stem not in _DEED_STEMS}
    if shared and not foreign:
        return Offered.ITS_WISH
    return Offered.ANOTHER if kinds and own and not shared else Offered.UNCLEAR


def _deeds(text: str) -> frozenset[str]:
    """The kinds of deeds that the words of a text name."""
    words = text.lower().replace("?", " ").replace(",", " ").split()
    return frozenset(kind for word in words for kind in kinds_claimed(base_of(word.strip(".:;!")))) - {"timer"}


_DEED_STEMS = stems(
    "put set send add save calendar reminder message text mail write note event entry list phone turn log go ahead"
)
"""What offers are made of whatever they are about."""


def is_spent(wish: str, before: Sequence[str]) -> bool:
    """True if all numbers and names with digits in a wish, of which it has some, have been said already."""
    values = {stem for stem in stems(wish) if any(char.isdigit() for char in stem)}
    return bool(values) and values <= frozenset().union(*map(stems, before))


def leaves_alone(asking: str) -> bool:
    """True if the proposal is to leave something as it is."""
    return bool(_ALONE.search(asking))


def warns(reading: ActReading) -> bool:
    """True if a message tells what a deed has cost, or what it keeps from being done."""
    return any(_WARNING.search(item.text) for item in reading.sentences if not is_question(item.text))


def is_about(asking: str, unwanted: str) -> bool:
    """True if what leave is asked for is what the user does not want: most of the words that tell are the same.

    Verbs of one kind of deed, such as to update and to change, are nearly the same; with them it has to be more than half.
    """
    told, asked = stems(unwanted), stems(asking)
    common = told & asked
    if not common or 2 * len(common) >= len(told):
        return bool(common)
    deeds = _deeds(asking)
    alike = {stem for word in unwanted.split() if _deeds(word) & deeds for stem in stems(word)}
    return 2 * len(common | alike) > len(told)


# -- without a script ------------------------------------------------------------------------------------------------

LOOK = "Please look it up."
_DATED = any_case(r"\b(?:date|month|year|(?:which|what) (?:day|\w+day)|today)\b")
_TODAY = any_case(r"\btoday\b|\bcurrent date\b|\bwhat (?:day|date) is it\b")
_WHICH = Lazy(r"\b(?:which|what) (?!one\b|of\b)(\w{2,})\b(?: \w+){0,4}(?:$|[?])")
_NAMES = Lazy(r"(?<![.!?] )(?<!^)\b[^\W\d_a-z]\w+(?: [^\W\d_a-z]\w+)+")
"""Two words or more in a row that begin with capitals, but not at the beginning of a sentence."""


def day_asked(asking: str, wish: str, today: date) -> str | None:
    """The day that was asked for: today's date, or the one that the wish means; None where none was asked for."""
    if not _DATED.search(asking):
        return None
    day = None if _TODAY.search(asking) else meant(wish, today) or meant(asking, today)
    return f"{spoken(day)}." if day else f"Today is {spoken(today)}."


def full_name(asking: str, wish: str) -> str | None:
    """Whom a wish means, where it is asked which one of a name, and the wish says more of the name than was asked."""
    asked = _WHICH.search(asking)
    names = (found[0] for found in _NAMES.finditer(wish)) if asked else ()
    return next((f"{name}." for name in names if asked and asked[1] in name.casefold().split()), None)


def promised(asking: str) -> str | None:
    """What a person says who is asked to say when something has come about; None where that is not asked."""
    return "All right, I will." if _SAY_WHEN.search(asking) else None


_SAY_WHEN = Lazy(
    r"\b(?:let me know|(?:tell|write|text|message) me|say so|come back)(?: again)? (?:when|once|as soon as|after)\b"
    r"(?![^.?!]*\b(?:should|want|would|like|need|shall|to)\b)"
)


_KINDS = (
    (Lazy(r"\bwhen\b(?! did| was| were)|\b(?:what|which) (?:time|day|date)\b|\bmorning\b"),
     any_case(r"\b(?:today|tonight|tomorrow|now|noon|midnight|morning|afternoon|evening|o'clock|\w+day|week|\d{1,2}:\d\d|\d+ ?[ap]m|past|half)\b")),
    (Lazy(r"\bhow (?:long|many|much)\b|\bamount\b|\bduration\b"), any_case(r"\d|\b(?:all|both|every\w*|hours?|minutes?)\b")),
    (Lazy(r"\bwhom?\b|\b(?:which|what) (?:person|company)\b"), Lazy(r"(?<!^)(?<![.!?] )\b(?!(?:I|\w+day)\b)[A-Z]\w+")),
    (Lazy(r"\bwhere\b|\b(?:which|what) (?:place|city|town|location)\b"),
     Lazy(r"\b(?:here|outside|home|where I)\b|\b(?:[Ii]n|at|to|near|up|from|around) (?:the )?(?!\w+day\b)[A-Z]\w+")),
    (Lazy(r"\bcurrenc(?:y|ies)\b"), any_case(r"[£$€¥]|\b(?:dollars?|euros?|pounds?|quid|yen|rand|francs?)\b")),
    (Lazy(r"\bwhat should (?:it|i)\b"), any_case(r"\b(?:to|as|is called|new)\b")),
    (Lazy(r"\bwhat\b.{0,60}\b(?:say|write|tell|about|for)\b|\bwording\b|\bcontent\b"), any_case(r"\b(?:that|to|about|ask|saying)\b")),
)  # fmt: skip
"""Kinds of things that may be asked for, and what a wish holds that has said one."""
_UNSAID = Lazy(
    r"\b(?:number|password|code|e?mail|surname|last name|full name|spell\w*|address|right now|is it now|current\w*|are you|do you (?:know|remember))\b"
)
"""Questions whose answer no wish holds."""
_LITERAL = Lazy(r"\b\w+[\d&_@#$%+*!-]+\w*[\d&_@#$%+*!\w]|\"[^\"]+\"")
"""What may be a password or a code: a word with signs or figures in it, or one between quotation marks."""
_CHOICE = Lazy(r"\b(?:which|what) (?!one\b|of\b)(\w{4,})|\b(\w{4,}) or (?:in |by |a |the )*(?:\w+ )?(\w{4,})\b")
"""A thing of which one is to be chosen, or two to choose between."""


def has_said(wish: str, asking: str) -> bool:
    """True if a wish has said what a question in lower case asks for."""
    if not wish:
        return False
    if unsaid := [found[0] for found in _UNSAID.finditer(asking)]:
        return any(word in wish.lower() for word in unsaid) and bool(_LITERAL.search(wish))
    if any(asked.search(asking) and said.search(figured(wish)) for asked, said in _KINDS):
        return True
    words = {word for found in _CHOICE.finditer(asking) for word in found.groups() if word}
    return bool(stems(" ".join(words)) & stems(wish))


_OFFHAND = (
    (Lazy(r"\b(?:which|what) (?:app|application|service|platform|tool|program|device|phone|map)s?\b(?! number)"), "Whichever you have."),
    (Lazy(r"\btime ?zone\b"), "The one here."),
    (Lazy(r"\b(?:what|which|any|a|specific|particular|preferred) (?:\w+ )?(?:title|label|subject|format|tone|style|wording|phrasing|sound|ringtone|colou?r)\b"), "Whatever you think fits."),
    (Lazy(r"\btoday's date\b|\bwhat (?:day|date|time) is it\b|\bcurrent (?:time|date)\b|\bwhat is your (?:\w+ )?name\b"), LOOK),
    (Lazy(r"\b(?:in|on|among|from) (?:your|the) (?:\w+ )?(?:contacts?|address book|phone ?book|phone)\b"), LOOK),
)  # fmt: skip
"""What anybody can say who knows no more than where they are, by what is asked for."""


HERE = "Here, where I am now."
_OWN_PLACE = any_case(
    r"\bwhere (?:exactly )?(?:are you|you are|do you live|you live|is your phone)\b|\b(?:city|town|place) (?:are you|do you live)\b"
    r"|\byour (?:\w+ )?(?:location|position|whereabouts)\b"
)
_CITY = any_case(r"\b(?:city|town|place|live)\b")
_OF_ONESELF = any_case(r"\b(?:here|I am|I'm|where I|home|outside|my (?:location|position))\b")


def whereabouts(answers: Iterable[Answer], asking: str, place: str, said: Iterable[str]) -> list[str]:
    """Where the user is, in the script's words or its own, and the answers to the rest of a question.

    Without what has been said, unless nothing else is left; empty where it is not asked.
    """
    bare = plain(asking)
    rest = _OWN_PLACE.sub(" ", bare)
    if rest == bare:
        return []
    name = place.strip(".").partition(" ")[2]
    known = list(answers)
    own = [item.say for item in hearing(known, asking) if _is_of_oneself(item, name)]
    own = own or [item.say for item in known if any(map(_OWN_PLACE.search, item.about))]
    city = _CITY.search(bare)
    untold = [words for words in ((place, HERE) if city else (HERE, place)) if words and words not in said]
    told = own or untold[:1]
    beside = hearing(known, rest) if told and not names_nothing(rest) else []
    more = [item.say for item in beside if "where" not in item.about or "where" in rest]  # not of other places
    every = list(dict.fromkeys([*told, *more])) or [place or HERE]
    return [words for words in every if words not in said] or every


def _is_of_oneself(answer: Answer, place: str) -> bool:
    """True if an answer says where the user is, rather than where something else is."""
    asked = any("you" in phrase for phrase in answer.about)
    return asked or bool(_OF_ONESELF.search(answer.say)) or bool(place and place in answer.say)


def place_known(facts: Iterable[str]) -> str:
    """The place where a user knows itself to be, in its words; empty where its brief does not tell.

    >>> place_known(["You live in Kyoto and grew up in Portland, Oregon."])
    'In Kyoto.'
    """
    found = (_LIVES.match(fact) for fact in facts)
    return next((f"{place[1].capitalize()} {place[2]}." for place in found if place), "")


_LIVES = Lazy(r"You (?:live|are)\b[^.,;]*? (in|near) ((?:the )?(?:[A-Z][\w'-]+)(?: [A-Z][\w'-]+)*)")


def offhand(wish: str, asking: str) -> str | None:
    """What a person says without knowing more than its wish tells; None if nothing."""
    said = next((says for asked, says in _OFFHAND if asked.search(asking)), None)
    if said is LOOK and "contact" in wish.lower() and "contact" in asking:
        return "Not yet." if "new contact" in wish.lower() else "As far as I know."
    return said
