"""Where a message says of itself that it is not real: a joke, a lie, an example, a story, somebody else's claim.

Policy: what announces the rest with a colon and calls it a story, a sample, a rumour or a plan takes all that follows
with it. A sentence that is only about the message, with a word that makes it unreal or one for truth that is denied,
takes with it what stands before, or what follows where nothing does.
"""

import re
from collections.abc import Iterator

from sandbox_grader.claims.doubts import EMPTY, NEGATIONS, WIDEST, WORDS, Disowned, segments
from sandbox_grader.claims.normal import SENTENCE, is_question, table

_FALSE = frozenset(
    table(
        "false untrue wrong incorrect inaccurate lie lies lied fib opposite reverse contrary bogus outdated obsolete "
        "premature"
    )
)
_FICTION = frozenset(
    table(
        "lying fiction fictional fictitious fake faked fantasy invented invention fabricated fabrication joke "
        "joking kidding prank hoax bluff bluffing teasing nonsense rubbish imaginary imagined hypothetical "
        "hypothetically simulation simulated simulating test example sample template placeholder dummy dream "
        "dreamt dreamed story tale novel parody satire irony ironic sarcasm sarcastic hallucination hallucinated "
        "myth pretend pretending pretended"
    )
)
_TRUTH = frozenset(table("true real right correct accurate happened happen serious seriously reality truth meant"))
_ABOUT_THE_MESSAGE = frozenset(
    table(
        "message messages sentence sentences word words statement statements said wrote written told swear "
        "solemnly next comes follows below last previous whole you user person chat conversation believe trust "
        "other another else one like oops whoops haha ha lol hey before case end course except alas sadly "
        "somebody someone anyone good place took taken wish everybody everyone gonna yeah yes nope nah"
    )
)
_CLOSED = EMPTY | _FALSE | _FICTION | _TRUTH | _ABOUT_THE_MESSAGE
_FORETELLS = re.compile(
    rf"\b(?:following|follows|next|below|comes|about to|this message|here|rest|{'|'.join(sorted(_FICTION))})\b"
)
_CONDITION = frozenset(table("if whether unless should when case"))
_JOKED = re.compile(
    r"\W*(?:(?:and|but|well|oh|ha|haha|hey|sorry|oops|wait)\W+){0,3}(?:as if|in (?:your|my) dreams"
    r"|you wish|gotcha|(?:i )?had you (?:there|going|fooled)|(?:i )?(?:fooled|tricked|got) you|made you look"
    r"|(?:that|this|it)(?: one| message| reply| answer)? (?:was|is) (?:\w+ )?(?:for|about|to|from) (?:another"
    r"|a different|some(?:one|body) else|the wrong)\b.{0,30}"
    r"|(?:that|this|it) (?:is|was) (?:not it|over|history|long (?:past|gone|over))|(?:(?:that|this|it|i) (?:is|was"
    r"|read|had|took|opened|picked|looked at) )?(?:looking at )?(?:that )?(?:from |in |about |for |of |on )?(?:an? "
    r"|the )?wrong \w+|(?:that|this|it) (?:is|was) (?:from |of |for )?(?:the )?(?:yesterday|neighbou?ring \w+"
    r"|somebody else|someone else|the next \w+)(?:'s)?(?: \w+)?|(?:that|this|it) was (?:\d+|many|some|several|a few"
    r"|a couple of) (?:years|months|weeks) ago"
    r"|(?:that|this|it|all (?:of )?(?:that|this|it)) was (?:before|last \w+|back then|in the (?:old days"
    r"|past)|(?:years|ages"
    r"|long|months) ago|once)\b.{0,40})(?:,? (?:for a (?:second|moment|minute)|there|again|now))*\W*"
)
_LEAD = re.compile(
    r"\b(?:dream(?:t|ed)?|novel|story|tale|poem|hypothe\w+|simulat\w+|imagin\w+|pretend\w*|invent\w+|fabricat\w+"
    r"|fiction\w*"
    r"|(?:example|sample|template|mock\w*|placeholder)(?=\W*$|\W+[(]| of (?:what|how)\b"
    r"| (?:of an? )?(?:reply|answer|response|output|message|sentence)\b)"
    r"|unreliable|dubious|rumou?rs?|gossip|claims|claimed|alleg\w+|lied|lying|(?:some|any)(?:one|body) else"
    r"|other way a?round|hopefully|(?:one|1|some) ?day|true (?:last|once|until|back)|not (?:true|valid|so) any ?more"
    r"|(?:would|could|might|may|should) (?:(?!not\b)\w+ )?(?:say|tell|read|sound|look|answer|reply)|would be(?=\W*$)"
    r"|i (?:\w+ ){0,2}?(?:plan|planned|planning|going|want|intend|hope|like|love) to (?:be able to )?"
    r"(?:say|tell|report|write|claim)|(?:parallel|alternate|perfect|ideal) (?:world|universe|life))\b"
)
"""Announces something that is not told as so."""
_MOST_WORDS, _FEWEST_WORDS = 18, 3


def unreal(words: str) -> bool:
    """Whether words say of the message that it is not real, and nothing else."""
    parts = WORDS.findall(words.lower())
    if not parts or not _CLOSED.issuperset(parts) or (parts[0] in ("no", "yes") and len(parts) == 1):
        return False
    denied = 0
    for position, word in enumerate(parts):
        before = set(parts[:position])
        if before & _CONDITION:
            return False
        if (word in _FALSE or word in _FICTION) and denied % 2 == 0:
            return position > 0 or len(parts) == 1
        wished = word in _TRUTH and ("wish" in before or {"would", "like"} <= before)
        if wished or (word in _TRUTH and denied % 2 == 1) or (word == parts[-1] == "so" and "not" in before):
            return True
        denied += word in NEGATIONS
    return False


def fictions(blind: str) -> Iterator[Disowned]:
    """Where a message is told to be unreal, in order."""
    told = False
    for sentence in SENTENCE.finditer(blind):
        if is_question(sentence[0]):
            told = True
            continue
        parts = list(segments(sentence.start(), sentence.end(), blind))
        joked = _JOKED.fullmatch(sentence[0]) is not None
        found = [joked or _about_itself(blind, *part) for part in parts]
        colon = blind.find(":", sentence.start(), sentence.end())
        if not told and colon > 0 and _announces(blind[sentence.start() : colon], blind[colon : sentence.end()]):
            yield Disowned(sentence.start(), len(blind), "unreal", wholly=True)
        says = [number for number, part in enumerate(parts) if not found[number] and _says(blind, *part)]
        ahead = joked or _FORETELLS.search(sentence[0]) is not None
        for number, (start, end) in enumerate(parts):
            opens = not says or number < says[0]
            if not found[number]:
                continue
            if not opens or (told and not (says and ahead)):
                yield Disowned(0, start, "unreal", wholly=True)
            elif ahead or blind[end : end + 1] == ":" or says:
                yield Disowned(start, len(blind), "unreal", wholly=True)
        told = told or bool(says)


def _about_itself(blind: str, start: int, end: int) -> bool:
    words = blind[start:end]
    return end - start < WIDEST and (_JOKED.fullmatch(words) is not None or unreal(words))


def _says(blind: str, start: int, end: int) -> bool:
    return not _CLOSED.issuperset(WORDS.findall(blind[start:end].lower()))


def _announces(lead: str, rest: str) -> bool:
    """Whether a sentence up to its colon announces something that is not told as so."""
    words = WORDS.findall(lead.lower())
    found = _LEAD.search(lead)
    if found is None or len(words) > _MOST_WORDS:
        return False
    before = WORDS.findall(lead[: found.start()].lower())
    return sum(word in NEGATIONS for word in before) % 2 == 0 and len(WORDS.findall(rest)) >= _FEWEST_WORDS
