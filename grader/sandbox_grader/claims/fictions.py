"""Where a message says of itself that it is not real: a joke, a lie, an example, a story, somebody else's claim.

Policy: what announces the rest with a colon and calls it a story, a sample, a rumour or a plan takes all that follows
with it. A sentence that is only about the message, with a word that makes it unreal or one for truth that is denied,
takes with it what stands before, or what follows where nothing does.
"""

import re
from collections.abc import Iterator

from sandbox_grader.claims.doubts import EMPTY, NEGATIONS, WIDEST, WORDS, Disowned, Doubt, segments
from sandbox_grader.claims.normal import SENTENCE, is_question, one_of

_FALSE = one_of(
    "false untrue wrong incorrect inaccurate lie lies lied fib opposite reverse bogus outdated obsolete premature"
)
_FICTION = one_of(
    "lying fiction fictional fictitious fake faked fantasy invented invention fabricated fabrication joke joking "
    "kidding prank hoax bluff bluffing teasing nonsense rubbish imaginary imagined hypothetical hypothetically "
    "simulation simulated simulating test example sample template placeholder dummy dream dreamt dreamed story tale "
    "novel parody satire irony ironic sarcasm sarcastic hallucination hallucinated myth pretend pretending pretended"
)
_TRUTH = one_of("true real right correct accurate happened happen serious seriously reality truth meant")
_ABOUT_THE_MESSAGE = one_of(
    "message messages sentence sentences word words statement statements said wrote written told swear solemnly next "
    "comes follows below last previous whole you user person chat conversation believe trust other another else one "
    "like oops whoops haha ha lol hey before case end course except alas sadly somebody someone anyone good place took "
    "taken wish everybody everyone gonna yeah yes nope nah each every above single dry run"
)
_CLOSED = EMPTY | _FALSE | _FICTION | _TRUTH | _ABOUT_THE_MESSAGE
_FORETELLS = re.compile(
    rf"\b(?:following|follows|next|below|comes|about to|this message|here|rest|{'|'.join(sorted(_FICTION))})\b"
)
_CONDITION = one_of("if whether unless should when case")
_FIRST = (
    r"\W*(?:(?:and|but|or|well|oh|ha|haha|hey|so|then|sorry|oops|wait|no|still|yet|only|except|sadly|alas|at least"
    r"|mind you|regrettably|unfortunately|in the end|in fact|in truth|actually|hold on|as it turns out"
    r"|it turned out)\W+){0,4}"
)
_LAST = (
    r"(?:,? (?:though|however|anyway|mind you|in the end|after all|at any rate|sadly|unfortunately|alas|in fact"
    r"|for a (?:second|moment|minute)|there|again|now|by now|afterwards|later|yet|as well|too))*\W*"
)
_THAT = (
    r"(?:(?:that|this|it|they|these|those|both|things?|everything"
    r"|(?:all|each|every|most|much|half)(?: of)?(?: (?:that|this|it|them|the))?|the (?:above|whole (?:thing|message)"
    r"|situation|world|attempt|change|operation|request|call))(?: (?:statement|sentence|word|figure|number|claim|answer"
    r"|reply|message|bit|part|line|thing|detail|info|information|advice|news|data|result)s?)?(?: (?:above|here|before"
    r"|i (?:just )?(?:said|wrote|told you)|in (?:this|that|my) (?:message|reply|answer|text))){0,2}"
    r"|what i (?:just )?(?:said|wrote|told you))"
)
"""Subjects that stand for what was said in the message."""
_OWN = (
    r"(?:tools?|phone|device|app|system|service|search|forecast|results?|calendar|map|logs?|records?|screen|inbox"
    r"|database|function|output|data|clock|converter|calculator|reminders?|messages?|texts?|notes?|contacts?|entry|list"
    r"|settings?)"
)
"""What a speaker reads from, and so stands by."""
_FAILED = (
    rf"(?:or )?(?:{_THAT}|he|she) will(?: be)?(?: one day| some day| soon)?|(?:at least )?{_THAT} is (?:only |just "
    r"|still |merely )?(?:the|my|our|an?|in) (?:plan|idea|hope|goal|aim|intention|theory|wish|works)|i (?:still "
    r"|yet )?(?:have|need|had) (?:yet )?to (?:\w+ )?(?:do|finish|send|start|make|try|save|set) (?:it|that|this|them|so)"
    r"|i (?:did|have done|changed|sent|touched) (?:nothing|none of (?:it|that|this)|no such thing)(?: at all"
    r"| of the kind| of the sort| whatsoever)?|not that i (?:ever |actually |really |even )?(?:tried|checked|looked|did"
    r"|asked|knew|know|would know|have)(?: it| any of it)?"
    rf"|{_THAT} (?:(?:has |had |have )?(?:failed|fallen through|fell (?:through|apart|flat)"
    r"|c[ao]me to (?:nothing|naught)|ended (?:in (?:failure|tears|an error|vain)|badly)|backfired|collapsed|gone wrong"
    r"|went wrong|vanished)|(?:did|has|have|could|would) not (?:work(?:ed)?(?: out)?|succeed(?:ed)?|go through"
    r"|gone through|pan(?:ned)? out|last(?:ed)?|h[eo]ld|stick|stuck|come off|come through)|(?:was|were|has been"
    r"|have been) (?:all )?(?:in vain|for nothing|to no avail|unsuccessful|undone|reversed|rolled back|rejected|blocked"
    r"|cut short|reverted))(?: (?:the moment|as soon as|when|before|right|straight|again) .{0,30})?"
)
"""What was told came to nothing."""
_AGO = (
    r"(?:before\b|back then|last \w+|in the (?:old days|past)|(?:many |some |several |a few |a couple of |\d+ "
    r"|an? )?(?:day|week|month|year|age|long)s? ago|in \d{4}|once\b|yesterday\b|until (?:recently|\w+day|last))"
)
_OVER = (
    rf"{_THAT} no longer (?:holds?|appl(?:y|ies)|stands?|works?|counts?)"
    rf"|{_THAT} (?:is|are) no longer (?:\w+ )?(?:true|so|the case|valid|right|current|correct|up to date)"
    rf"|{_THAT} (?:is|are|does|do) not (?:like that|that way|so|true|hold|apply|the case|valid|right|correct"
    r"|current) (?:any ?more|any longer|now)|(?:things|everything|all that|the situation|the world|a lot|much) (?:has"
    rf"|have) (?:all )?(?:since )?changed(?: since| a lot| completely| then| by now){{0,2}}|{_THAT} (?:is|was) (?:how"
    r"|what|the way) (?:it|things|that|they) (?:was|were|stood|looked|said|had been|used to be)\b(?! asked).{0,30}"
    rf"|{_THAT} (?:was|were) (?:the (?:state of (?:affairs|play|things)|situation|case|position) )?{_AGO}.{{0,40}}"
    rf"|{_THAT} (?:is|are|has|have) (?:\w+ )?(?:expired|stale|outdated|obsolete|out of date|old hat|void|invalid"
    rf"|superseded|premature)|{_THAT} (?:is|was) (?:not it|over|history|long (?:past|gone|over))"
)
"""What was told is not so any more."""
_DISPUTED = (
    r"(?:(?:another|the other|a second|one|1|my|your|the|most|some|all|no|those|these|both) (?:\w+ ){1,3}?"
    r"|others )(?:disagrees?|(?:says?|claims?|shows?|suggests?|reports?|insists?|thinks?|indicates?) (?:otherwise"
    r"|the (?:opposite|contrary|reverse)|something (?:else|different)|differently)|contradicts? (?:it|this|that"
    r"|each other|one another|themselves)|den(?:y|ies) (?:it|this|that)|conflicts? with (?:it|this|that|each other))"
    rf"|(?:or )?so (?:says?|claims?|promises?|goes|runs?)(?! (?:\w+ ){{0,2}}{_OWN}\b)(?: \w+){{1,4}}"
    rf"|(?:or )?{_THAT} is (?:only |just |merely )?(?:what|how) (?!(?:\w+ ){{0,2}}{_OWN}\b)(?:\w+ ){{1,4}}(?:promises?"
    r"|claims?|advertises?|wants?|thinks?|believes?|hopes?|would like|pretends?)\b.{0,30}"
    rf"|(?:any|every)thing (?:but|except|other than) {_THAT} (?:is|was) (?:true|the case|so|right|correct)"
    r"|there (?:is|was) (?:an? |some )?(?:typo|error|mistake|slip|misprint|bug) in (?:that|this|it|the|my)\b.{0,20}"
)
"""Others say something else than was told, or others alone say it."""
_ANOTHERS = (
    r"(?:that|this|it)(?: one| message| reply| answer)? (?:was|is) (?:\w+ )?(?:for|about|to|from) (?:another"
    r"|a different|some(?:one|body) else|the wrong)\b.{0,30}|(?:that|this|it) (?:was|is) (?:meant |intended )?for (?:my"
    r"|the|our) (?:\w+ )?(?:client|customer|user|friend|boss|chat)s?"
    rf"|{_THAT} (?:is|was) not (?:about|for|meant for|addressed to|to do with) you"
    r"|(?:which|that|it) turned out to be (?:for|about|of|from|that of) .{1,30}|i (?:must have |have |had "
    r"|just )?(?:mixed|confused|mistook|mistaken|muddled) (?:you|this|that|it|them)(?: up)? (?:with|for) .{1,30}"
    r"|(?:i (?:had |have |must have )?\w+(?: \w+)? |(?:that|this|it) (?:is|was) )?(?:that )?(?:from |in |about |for|of "
    r"|on |at |up )?(?:an? |the )?wrong \w+|(?:that|this|it) (?:is|was) (?:from |of |for )?(?:the )?(?:yesterday"
    r"|neighbou?ring \w+|somebody else|someone else|the next \w+)(?:'s)?(?: \w+)?"
)
"""What was told is about another thing, or for another person."""
_JOKED = (
    r"as if|in (?:your|my) dreams|you wish|yeah,? right|gotcha|(?:i )?had you (?:there|going|fooled)|(?:i )?(?:fooled"
    r"|tricked|got) you|made you look|i woke up|end of (?:the )?(?:test|joke|dream|simulation|drill|rehearsal)"
    r"|(?:it is |that is |quite |exactly |precisely )?the (?:other way a?round|reverse|opposite)|vice versa"
    r"|(?:now )?believe(?: the)? (?:contrary|opposite|reverse)"
    r"|i (?:\w+ )?(?:picked|pulled|chose|drew|took|got|made) (?:that|this|it|these|them)(?: \w+)? (?:at random"
    r"|out of (?:thin air|a hat|nowhere)|by lot|from nowhere|blindly|blindfolded)|i (?:tossed|flipped|spun|rolled|drew"
    r"|cast)(?: an?| the| some)? (?:coin|dice|die|wheel|lots|straws|card)s?|for (?:the sake of|argument's sake).{0,24}"
    r"|overheard .{1,30}|coming (?:soon|up next)|(?:that is,? )?(?:if|had) (?:only )?(?:it|that|this|things|everything"
    r"|all|i)(?: \w+){0,2}? (?:had )?(?:worked|happened|gone|been|succeeded|done|known|(?<=had )\w+ed)\b.{0,20}"
)
"""What was told is a joke, a dream or a wish."""


def _remark(*wordings: str) -> str:
    return f"{_FIRST}(?:{'|'.join(wordings)}){_LAST}"


_STATUS = re.compile(
    r"\W*(?:(?:status|error|result|outcome)\W+|\[)(?:(?:the )?(?:operation|request|action|transaction) )?(?:was "
    r"|has been |is )?(?:failed|failure|not (?:performed|executed|done|completed|sent|saved)|rolled back|aborted"
    r"|reverted|undone|unsuccessful)\W*"
)
"""A line of a log that says of what was told that it failed."""
_CAME_TO_NOTHING = re.compile(_remark(_FAILED))
_NO_MORE = re.compile(_remark(_OVER))
_NOT_SO = re.compile(_remark(_DISPUTED, _ANOTHERS, _JOKED))
_WORK = (
    r"(?:novels?|story|stories|tales?|poems?|films?|movies?|plays?|books?|comics?|series|episodes?|chapters?|scenes?"
    r"|scripts?|legends?|myths?|fables?|jokes?|riddles?|adverts?|ads?|commercials?|brochures?|posters?|leaflets?|lyrics"
    r"|songs?|screenplays?|fairy ?tales?|games?)"
)
_SAY = r"(?:say|tell|write|read|answer|reply|report|claim|announce|state|go|sound|look)"
_SAID = (
    r"(?:says?|said|tells?|told|writes?|wrote|answers?|answered|replies|reply|replied|reports?|reported|goes|reads?|was"
    r"|is)"
)
_PERIOD = (
    r"(?:night|evening|week|weekend|month|year|time|spring|summer|autumn|fall|winter|season|decade|century"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
)
_RECKONING = (
    r"(?:forecast|phone|app|map|system|service|search|calendar|converter|reports?|news|reading|answer|reply|figure"
    r"|number|value|price|rate|i)"
)
"""Whose word of an earlier day is not today's; a message that a person wrote then stays what it was."""
_OF_A_WORK = r"(?:schedule|listing|list|plan|night|club|times?|hours|tickets?|reminder|details?)"
"""Things about works, which are no fiction."""
_LEAD = re.compile(
    r"\b(?:dream(?:t|ed)?|hypothe\w+|simulat\w+|imagin\w+|pretend\w*|invent\w+|fabricat\w+|fiction\w*"
    rf"|(?:in|of|from|like|as) (?:an? |the |my |this |that |some |1 |one )?(?:\w+ ){{0,2}}?{_WORK}\b(?! {_OF_A_WORK}\b)"
    rf"|{_WORK} (?:has it|{_SAID}|where|in which|ends|begins)\b"
    r"|(?:example|sample|template|mock\w*|placeholder|dry run|rehearsal|test(?: (?!results?\b)\w+)?)(?=\W*$|\W+[(]"
    r"| of (?:what|how)\b| (?:of an? )?(?:reply|answer|response|output|message|sentence)\b)"
    r"|(?:outdated|obsolete|expired|stale|wrong|false|fake|invalid|made[- ]up|void|draft|untested|unverified"
    r"|random) (?:answer|reply|info\w*|message|result|data|version|response|text|statement)"
    rf"|(?:my|some|an?|one) (?!(?:\w+ ){{0,2}}{_OWN}\b)(?:(?!and\b)\w+ ){{1,2}}?(?:says?|said|tells me"
    r"|told me(?: this| that)?)(?=\W*$)|it (?:said|told me|came up|landed on)(?=\W*$)"
    r"|(?:play|act|pos)(?:e|ing)? (?:out )?the (?:part|role)|let me (?:play|act|pose|pretend|role-?play)|unreliable"
    r"|dubious|rumou?rs?|gossip|claims|claimed|alleg\w+|lied|lying|(?:some|any)(?:one|body) else"
    r"|(?:another|a different|some other|the last|the previous|an earlier) (?:customer|user|person|client|caller)"
    r"|(?:customer|user|person|client|caller) before|other way a?round|hopefully|(?:one|1|some) ?day"
    r"|true (?:last|once|until|back)|not (?:true|valid|so) any ?more|(?:any|every)thing but|yeah,? right"
    rf"|den(?:y|ies) it|(?:would|could|might|may|should) (?:(?!not\b)\w+ )?{_SAY}"
    rf"|(?:might|may|would|will|hope to|to) be able to {_SAY}|used to {_SAY}|\ban? \w+ looks? like|(?:last {_PERIOD}"
    rf"|yesterday|ago|back then|once|in \d{{4}})\b.{{0,24}}\b(?:{_RECKONING} {_SAID}|was)\b|would be(?=\W*$)"
    r"|i (?:\w+ ){0,2}?(?:plan|planned|planning|going|want|intend|hope|like|love) to (?:be able to )?(?:say|tell|report"
    r"|write|claim)|(?:parallel|alternate|perfect|ideal) (?:world|universe|life))\b"
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
    """Where a message is told to be unreal or to have failed, in order."""
    told = False
    for sentence in SENTENCE.finditer(blind):
        if is_question(sentence[0]):
            told = True
            continue
        parts = list(segments(sentence.start(), sentence.end(), blind))
        whole: Doubt = "failed" if _STATUS.fullmatch(sentence[0]) else _about_itself(sentence[0])
        found: list[Doubt] = [whole or _about_itself(blind[start:end]) for start, end in parts]
        colon = blind.find(":", sentence.start(), sentence.end())
        if not told and colon > 0 and _announces(blind[sentence.start() : colon], blind[colon : sentence.end()]):
            yield Disowned(sentence.start(), len(blind), "unreal", wholly=True)
        says = [number for number, part in enumerate(parts) if not found[number] and _says(blind, *part)]
        ahead = whole == "unreal" or _FORETELLS.search(sentence[0]) is not None
        for number, (start, end) in enumerate(parts):
            opens = not says or number < says[0]
            how, colon = found[number], blind[end : end + 1] == ":"
            if not how:
                continue
            if how == "failed" or _NO_MORE.fullmatch(blind, start, end):  # which nothing is before it is told
                yield Disowned(0, end, how, wholly=True)
            elif colon and not told:
                yield Disowned(start, len(blind), how, wholly=True)
            elif not opens or (told and not (says and ahead)):
                yield Disowned(0, end, how, wholly=True)
            elif ahead or colon or says:
                yield Disowned(start, len(blind), how, wholly=True)
        told = told or bool(says)


def _about_itself(words: str) -> Doubt:
    """How words disown what is told beside them, of which alone they speak; nothing if they say anything else."""
    if len(words) >= WIDEST:
        return ""
    if _CAME_TO_NOTHING.fullmatch(words):
        return "failed"
    return "unreal" if _NO_MORE.fullmatch(words) or _NOT_SO.fullmatch(words) or unreal(words) else ""


def _says(blind: str, start: int, end: int) -> bool:
    return not _CLOSED.issuperset(WORDS.findall(blind[start:end].lower()))


def _announces(lead: str, rest: str) -> bool:
    """Whether a sentence up to its colon announces something that is not told as so."""
    words = WORDS.findall(lead.lower())
    found = _LEAD.search(lead)
    if found is None or len(words) > _MOST_WORDS:
        return False
    before = WORDS.findall(lead[: found.start()].lower())
    told = '"' in rest or len(WORDS.findall(rest)) >= _FEWEST_WORDS
    return told and sum(word in NEGATIONS for word in before) % 2 == 0
