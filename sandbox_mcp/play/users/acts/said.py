"""What a question asks of a user beyond its catch words: what its wish has already said, and what a clock would tell.

Policy: a user that is asked for what it has just said says it again, and does not claim to know nothing about it. What is
asked for is read by its kind (a time, a place, words to write, ...), and the wish has said it if something of that kind
stands in it. Numbers, surnames, passwords and what the clock says are never taken for said: they are looked up or
typed, and a wish that happens to name a person or a day does not have them. "What is today's date?" does not ask for the
day of a wish: what is asked about now is answered only by what was written for such questions.
"""

import re
from collections.abc import Sequence

_NEVER = re.compile(
    r"\b(?:number|digits|password|passcode|e-?mail|surname|last name|full name|family name|spell\w*|today's date"
    r"|right now|is it now|is it today|what day is it|what time is it|current\w*|are you"
    r"|at the moment|do you know|do you remember)\b"
)
"""Questions whose answer no wish holds."""
_TIME = (
    r"(?i:\b(?:today|tonight|tomorrow|yesterday|now|at the moment|noon|midnight|mornings?|afternoon|evening|o'clock"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:this|next|last) (?:week|month|year)|weeks?|days?|hours?|minutes?"
    r"|half \w+|quarter (?:to|past)|\d{1,2}(?::\d\d|\s?[ap]m))\b)"
)
_LENGTH = r"(?i:\b(?:hours?|minutes?|seconds?|quarter of an hour)\b)"
_MONEY = r"(?i:[£$€¥]|\b(?:dollars?|euros?|pounds?|quid|yen|rand|francs?|currency)\b)"
_UNIT = (
    r"(?i:\b(?:kilometers?|kilometres?|km|miles?|celsius|fahrenheit|kilos?|kilograms?|pounds?|knots?|hours|minutes|days"
    r")\b)"
)
_COUNT = r"(?i:\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty)\b)"
_HOW_MANY = r"(?i:\b(?:all|every\w*|both|each|twice|two|three|the|my|an?)\b)"
_NAME = r"(?<!^)(?<![.!?] )\b(?!(?:I|Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)(?:day)?\b)[A-Z\u00c0-\u00de]\w+"
_PLACE = (
    r"\b(?:here|out there|outside|home|where I)\b|\b(?:[Ii]n|at|to|near|up|from|around) (?:the )?(?!\w+day\b)[A-Z]\w+"
)
_WORDS = r"\b(?:that|to|about|ask|saying|say|is|what|how)\b"
_CHANGE = r"\b(?:to|as|is called|new|down as)\b"


_KINDS = tuple(
    (re.compile(asked), re.compile(said))
    for asked, said in (
        (r"\b(?:when(?! did| was| were| is the)|(?:what|which) (?:time|day|date)|morning|afternoon|evening)\b", _TIME),
        (r"\b(?:how long|what length|duration)\b", _LENGTH),
        (r"\bcurrenc(?:y|ies)\b", _MONEY),
        (r"\bunits?\b", _UNIT),
        (r"\b(?:how many|how much|amount)\b", _COUNT),
        (r"\bwhom?\b(?! (?:sent|wrote|is it from|is this from))|\b(?:which|what) (?:person|company|holiday)\b", _NAME),
        (r"\bwhere\b|\b(?:which|what) (?:place|city|town|location)\b", _PLACE),
        (r"\bwhat\b.{0,60}\b(?:say|write|tell|about|for)\b|\bwording\b|\bcontent\b", _WORDS),
        (
            r"\b(?:just|only) one\b|\bone or (?:two|more|several|many|both|all)\b|\bseveral\b|\ball of (?:them|it)\b",
            _HOW_MANY,
        ),
        (r"\bchange\b.{0,60}\bto\b|\bwhat should (?:it|i)\b", _CHANGE),
    )
)
"""Kinds of things that may be asked for: what asks for one, and what a wish holds that has said it."""
_CHOICE = re.compile(r"\b(?:which|what) (?!one\b|of\b)(\w{4,})|\b(\w{4,}) or (?:in |by |a |the )*(\w+ )?(\w{4,})\b")
"""A thing of which one is to be chosen, or two to choose between."""
_STEM, _SHORT = 6, 3
"""Letters by which a word is told in all its forms, and of how few it says too little."""


def said_already(wish: str, asking: str) -> bool:
    """Whether ``wish`` has said what ``asking`` asks for, a question in lower case; linear in the length of both."""
    if not wish or _NEVER.search(asking):
        return False
    if any(asked.search(asking) and said.search(wish) for asked, said in _KINDS):
        return True
    words = (word.strip() for found in _CHOICE.finditer(asking) for word in found.groups() if word)
    return any(re.search(rf"\b{re.escape(word[:_STEM])}", wish, re.IGNORECASE) for word in words if len(word) > _SHORT)


LOOK = "Please look it up."
_OFFHAND = tuple(
    (re.compile(asked), says)
    for asked, says in (
        (
            r"\b(?:which|what) (?:app|application|service|platform|tool|program|device|phone|map)s?\b(?! (?:number|no)\b)",
            "Whichever you have.",
        ),
        (r"\btime ?zone\b", "The one here."),
        (
            (
                r"\bwhere (?:are you|you are|is your phone)\b|\b(?:which|what) (?:city|town|country|place|address) are you\b"
                r"|\byour (?:current |present |exact |own )?(?:location|position|whereabouts|starting point)\b"
            ),
            "Here, where I am now.",
        ),
        (
            (
                r"\btoday's date\b|\bwhat (?:day|date|time) is it\b|\bcurrent (?:time|date)\b"
                r"|\bwhat is (?:the (?:time|date)(?= now|[?.]|$)|your (?:full |own |first |last )?name)\b"
            ),
            LOOK,
        ),
    )
)
"""What anybody can say who knows no more than where they are, by what is asked for."""
_KEPT = re.compile(
    r"(?:^|[.!?,] )(?:and |but |so |also )?(?:is|are|was|were|do|does|did|have|has)\b[^.!?]{0,80}\b(?:in|on|"
    r"among|from|to|under) (?:your|the) (?:\w+ )?"
    r"(?:contacts?|address book|phone ?book|phone)\b"
)
_KEEPS = re.compile(
    r"(?i)\b(?:remove|delete|change|rename|update|correct|replace|forget|keep)\b.{0,80}"
    r"\bmy (?:contacts?|address book|phone ?book)\b"
    r"|\b(?:in|from|under|among) my (?:contacts?|address book|phone ?book)\b.{0,60}"
    r"\b(?:listed|twice|called|ought|should|remove|delete|change|rename|update)\b"
)
_NEW = re.compile(r"(?i)\bnew contact\b")


def offhand(wish: str, asking: str) -> str | None:
    """What a person says to ``asking``, a question in lower case, without knowing more than ``wish`` tells; None if nothing.

    That a person is in the contacts follows from a wish to change or remove what is there; what only the phone tells is
    for the agent to look up.
    """
    if _KEPT.search(asking):
        return "As far as I know." if _KEEPS.search(wish) else "Not yet." if _NEW.search(wish) else LOOK
    return next((says for asked, says in _OFFHAND if asked.search(asking)), None)


_WOULD = re.compile(
    r"\b(?:would|do|might|may) you (?:\w+ )?(?:care|like|want|prefer|fancy|need)\b|(?<!one )(?<!ones )(?<!whichever )(?<!what )(?<!which )(?<!that )\byou(?:'d| would) (?:\w+ )?(?:like|prefer)\b"
    r"|(?:^|[.!?,:] )(?:want|fancy|need|care for)\b|\binterest(?:ed)?\b|\bof (?:any )?(?:use|help)\b|\b(?:shall|should|can|may) i\b"
    r"|\bi (?:could|can|might) (?:also|still|even)\b"
)
_OPEN = re.compile(
    r"\b(?:what|which|whom?|whose|when|where|why|how|or)\b"
    r"|\b(?:tell|give|send) me (?:the|your|his|her|their|its|an?|another)\b"
)


def proposes(asking: str) -> bool:
    """Whether ``asking``, a question in lower case, can be answered with no thanks: it proposes one thing, and asks for none."""
    return bool(_WOULD.search(asking)) and not _OPEN.search(asking)


_NOW = tuple(
    (re.compile(rf"\b(?:{asked})\b", re.IGNORECASE), frozenset(about))
    for asked, about in (
        (r"(?:what(?:'s| is) )?today's date|current date|date today|what (?:day|date) is (?:it|today)",
         ("today", "today's date")),
        (r"what time is it(?: right| just)?(?: now)?|current time|what(?:'s| is) the time(?= now|\?|$)",
         ("now", "current")),
        (r"(?:(?:which|what) )?time ?zone(?: are you in| is that)?", ("zone", "time zone")),
    )
)  # fmt: skip
"""Questions about now, each with the catch words of the answers that are meant for it."""


def hears(text: str, about: Sequence[str]) -> bool:
    """Whether a text touches an answer's catch words, apart from those that only stand in a question about now."""
    for asked, words in _NOW:
        text, found = asked.subn(" ", text)
        if found and not words.isdisjoint(about):
            return True
    return mentions(text, about)


def mentions(text: str, phrases: Sequence[str]) -> bool:
    """Whether one of the phrases occurs in a text, as whole words."""
    return any(re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text, re.IGNORECASE) for phrase in phrases)
