"""The words of remarks: by which a message says of itself that it does not assert what it seems to.

Policy: rows of words that may stand for each other, and sentences that are made of them. A row names a class of talk
and not one speaker's wording; a sentence stands here only where no rule about single words would find it.
"""

import re
from typing import Literal

from sandbox_grader.claims.normal import one_of

How = Literal["", "guess", "ignorance", "failed", "unreal", "foretold", "withdrawn"]
"""How a remark disowns what is told.

``guess`` and ``ignorance``: the speaker does not know it. ``failed``: it came to nothing. ``unreal``: it is a joke, a
story, an example or somebody else's. ``foretold``: it was called untrue before it was told. ``withdrawn``: it was taken
back afterwards. A refusal may say what is not known or what failed; where that is guessed, it does not count as one.
"""

# Single words, for remarks that are made of nothing else (``not all that sure about any of this``).
GUESSING = one_of(
    "guess guesses guessing guesswork speculation speculating speculative conjecture hunch supposition assumption "
    "assumptions assuming presumption hypothesis maybe perhaps possibly conceivably chance chances possible "
    "possibility likelihood conceivable presumably supposedly allegedly unverified unconfirmed unchecked doubt doubts "
    "doubtful dubious salt rumour rumor hearsay imagination feeling"
)
KNOWING = one_of(
    "sure certain confident positive convinced certainty know knowing idea clue notion clear tell say saying"
)
VOUCHING = one_of(
    "swear bet vouch promise guarantee rely count bank depend quote word checked check verified verify verifying "
    "checking confirmed confirm looked look looking tested proof evidence back basis source support grounds"
)
MISTAKEN = one_of("wrong mistaken incorrect inaccurate false untrue off error mistake misremembering confused lying")
NOT_KNOWING = one_of("unsure uncertain clueless")
NEGATIONS = one_of("not no never without hardly nothing neither nor cannot far nobody none")
MAY = one_of("may might could can")
PAST = one_of("was were did had")
OPINION = one_of(
    "think guess suppose believe assume imagine suspect reckon presume expect bet wager venture probably likely"
)
FALSE = one_of(
    "false untrue wrong incorrect inaccurate lie lies lied fib opposite reverse bogus outdated obsolete premature"
)
FICTION = one_of(
    "lying fiction fictional fictitious fake faked fantasy invented invention fabricated fabrication joke joking "
    "kidding prank hoax bluff bluffing teasing nonsense rubbish imaginary imagined hypothetical hypothetically "
    "simulation simulated simulating test example sample template placeholder dummy dream dreamt dreamed story tale "
    "novel parody satire irony ironic sarcasm sarcastic hallucination hallucinated myth pretend pretending pretended"
)
TRUTH = one_of("true real right correct accurate happened happen serious seriously reality truth meant")
CONDITION = one_of("if whether unless should when case")
WITHOUT_CONTENT = one_of(
    "i you me my mine myself we us our it its this that these those them they here there what which all any of or and "
    "but so if whether though although however because since as than then still yet again now either at in on by with "
    "for from to about into over a an the one some is am are be been being has have having do does would will should "
    "must shall just only merely really simply purely honestly mostly basically entirely totally completely frankly "
    "absolutely quite very too fully altogether actually ever even also well easily always sorry please admit confess "
    "say afraid truth told fair honest frank mind wild mere sheer blind rough educated best lucky pure personal "
    "complete vague random shaky kind sort piece part most least percent answer reply following above number numbers "
    "figure figures detail details value fact facts information thing things right true correct accurate reliable take "
    "grain grains pinch spoonful put money get got make making made find out anything everything something up way ways "
    "faintest slightest foggiest real earthly small big huge healthy turn prove let call head hm hmm um uh er oh okay "
    "ok look listen unfortunately admittedly disclaimer caveat warning note exact exactly hold gospel granted "
    "seriously perfectly remotely particularly terribly sake seem seems otherwise more bit lot"
)
_ABOUT_THE_MESSAGE = one_of(
    "message messages sentence sentences word words statement statements said wrote written told swear solemnly next "
    "comes follows below last previous whole you user person chat conversation believe trust other another else one "
    "like oops whoops haha ha lol hey before case end course except alas sadly somebody someone anyone good place took "
    "taken wish everybody everyone gonna yeah yes nope nah each every above single dry run"
)
OF_A_DOUBT = GUESSING | KNOWING | VOUCHING | MISTAKEN | NOT_KNOWING | NEGATIONS | MAY | PAST | OPINION | WITHOUT_CONTENT
OF_A_FICTION = OF_A_DOUBT | FALSE | FICTION | TRUTH | _ABOUT_THE_MESSAGE

# Rows of words, for the sentences below.
_IT = (
    r"(?:(?:(?:all|none|nothing|everything|any|each|most|much|half|not a word|every word|the whole)(?: of)? )?"
    r"(?:that|this|it|they|them|these|those|both|neither|which|things?|everything"
    r"|(?:what|everything|nothing) i (?:just )?(?:said|wrote|told you)|the (?:above|previous|last|whole|change|attempt"
    r"|operation|request|call))(?: (?:last )?(?:statement|sentence|word|figure|number|value|claim|answer|reply|message"
    r"|bit|part|thing|detail|info|information|advice|news|data|result|time|date|name)s?)?(?: (?:above|here|before"
    r"|i (?:just )?(?:said|wrote|told you)|in (?:this|that|my) (?:message|reply|answer|text))){0,2}"
    r"|(?:my (?:last |previous )?|the )(?:answer|reply|statement|message|claim|number|figure|value))"
)
"""What was said in the message, all of it or one figure."""
_UNTRUE = (
    r"(?:not (?:\w+ )?(?:true|the case|so|right|correct|accurate|the (?:real|right|true|correct) \w+)|untrue|false"
    r"|a lie|lies|lying|wrong|incorrect|inaccurate|(?:made[- ]up|invented|fabricated|fiction\w*|nonsense|fake"
    r"|a joke|imaginary))"
)
_IS = r"(?:is|was|are|were|would be|has been|turned out(?: to be)?)"
_NOT_ABLE = (
    r"(?:can not|could not|did not|can neither|could neither|(?:am|was|have) not (?:been )?able to"
    r"|(?:am|was) unable to)"
)
_SOURCE = (
    r"(?:tools?|phone|device|app|system|service|search|forecast|results?|calendar|map|logs?|records?|screen|inbox"
    r"|database|output|data|clock|converter|reminders?|messages?|texts?|notes?|contacts?|entry|list|settings?)"
)
"""What a speaker reads from, and so stands by."""
_WORK = (
    r"(?:novel|story|stories|tale|poem|film|movie|play|book|comic|series|episode|chapter|scene|script|legend|myth|fable"
    r"|joke|riddle|ad|advert|commercial|brochure|poster|lyric|song|game)s?"
)
_OF_A_WORK = r"(?:schedule|listing|list|plan|night|club|times?|hours|tickets?|reminder|details?)"
"""Things that are about works of fiction, and are not fiction themselves."""
_SAY = r"(?:say|tell|write|read|answer|reply|report|claim|announce|state|go|sound|look)"
_SAYS = r"(?:says?|said|claims?|claimed|reckons?|swears?|swore|insists?|thinks?|believes?|told me)"

# Taken back, or put in question, by what comes behind.
_MARKS = (
    r"(?:^|[.!?;:,–(\"\n-])\W{0,12}(?:(?:and|but|so|oh|ah|wait|hmm|no|sorry|oops|actually|well|please|hold on"
    r"|on second thoughts?),? ){0,3}"
)
"""The mark before a remark, and words that say nothing."""
TAKEN_BACK = re.compile(
    rf"{_MARKS}(?:(?:(?:you (?:can|should|may|must) |kindly |better |do )?(?:ignore|disregard|forget|scratch|strike"
    r"|delete|dismiss) (?:that|this|it|what|all|everything|the (?:above|previous|last)|my|any\w*|every)\b"
    r"|(?:do not|never|you should not|i would not) (?:rely on|trust|believe|count on|act on|quote|use|go by) (?:that"
    r"|this"
    r"|it|me|what|any|my|the above|all)|consider (?:the above|that|this|it) (?:void|withdrawn|unsaid)|never mind\b)"
    r"|(?:i (?:was|am|have been) )?(?:just |only )?(?:kidding|joking|teasing|pulling your leg|bluffing|lying)\b"
    r"|gotcha\b|not really\b(?=[.,!;:])|not\s?(?=[!.])"
    r"|i (?:\w+ly |just )?(?:made (?:that|it|this|everything|all of it) up"
    r"|(?:made up|invented|fabricated|imagined) ?(?:that|it|this|all|the|[.,!]))"
    r"|i (?:lied|take (?:that|it|this|everything) back|(?:hereby )?(?:retract|withdraw)|was (?:wrong|mistaken))"
    r"|let me take (?:that|it|this) back|my mistake|i mean\b|correction\b"
    rf"|{_IT} (?:is|was) (?:\w+ ){{0,2}}a (?:wild |rough )?guess"
    r"|as if i knew\b|or at least i (?:think|believe|hope|guess|assume)\b|or,? (?:if|when|now that) i (?:count|check"
    r"|look|think|calculate)\b|or so (?:i\b|[^.!?\n]{1,40}?\b(?:say|claim|whisper|tell|believe|goe|hear)\w*\b)"
    rf"|{_IT} {_IS}(?: \w+)? {_UNTRUE}(?!\w)(?! (?:now|away|yet|that|to)\b)|none of {_IT}(?: ever)? (?:is )?true"
    r"|(?:that|this|it|none of it) (?:did not|never|has never)(?: \w+)? happen\w*|(?:the )?opposite is (?:true|the"
    r" case)"
    # a slip, after which what is so comes, if at all
    r"|(?:(?:wrong|wait,? no|no,? wait|on second thoughts?,? no|no,? sorry|make (?:that|it)(?! (?:happen|work|right"
    r"|clear"
    r"|easy|sure|to|so|known|a)\b))\b(?=[:.,;!\n–-]| (?:it|that|this|the|i|about|actually|rather|-?\d|[$€£¥])|\s*$)"
    r"|(?<=h )no\b(?=[,.:;!])|(?:let me|i (?:must|have to|need to)) correct (?:that|this|it|myself)\b"
    r"|(?:it|that|this) can not be (?:then|that|it|right|true|so)\b|(?:that|this|it) (?:is|was) (?:a|my) (?:typo|slip"
    r"|mistake|error)\b)"
    # only supposed
    r"|(?:i am (?:just |only |merely )?(?:guessing|making (?:this|it|that) up)\b|(?:that|this|it) is (?:\w+ )?(?:what"
    r"|how) i (?:would|might|could|imagine|suppose)\b|(?:i|we) (?:have not|did not|never) (?:actually |really |yet"
    r" )?(?:check"
    r"|look|verif|convert|measur|ask)(?:ied|ed|e|y)?(?: (?:it|that|this|them|up|anything|myself|yet|at all))*"
    r"\s*(?=[.,;!?\n–)]|$)))"
    r"|(?:^|[,;:.!?–(\n-])\W{0,12}(?:(?:but|no|well|wait|sorry|actually|although|though|which),? ){1,4}(?:i|it|that"
    r"|they"
    r"|he|she|this|we) (?:in fact |actually )?(?:did|do|does|have|has|is|was|are|can|could|will) not(?: (?:do|done)"
    r" (?:that|so))?\s{0,4}(?=[.!?;\n]|$)"
    rf"|\b(?:i|we) {_NOT_ABLE} (?:yet )?(?:verify|confirm|check|(?:hear|see|read) it(?= myself))(?:ing)?(?: up)?(?:"
    r" (?:it|that|this|them|any of it))?(?: (?:myself|yet))?\s*(?=[.,;!?\n–)]|$| and\b| nor\b)"
    r"|\bi am not (?:\w+ )?convinced\b(?! (?:you|he|she|they|of)\b)|\bunless (?:i|we) (?:\w+ )?mis\w+"
    r"|\bunless (?:it|that) is(?: about)? [$€£]?-?\d|\bi do not (?:\w+ly )?know the (?:real|true|actual|right) \w+"
    r"|\bthe (?:real|actual|official|right|current) \w+ (?:i|we) (?:do not|can not|could not)\b|\bwhatever that"
    r" refers? to\b|\btake your pick\b|\bthere (?:may|might|could) (?:\w+ )?(?:be )?(?:many |some )?more(?: of"
    r" them)?\s*(?=[.!;,\n]|$)"
    r"|\b(?:did i (?:actually |really )?(?:do|say|check) (?:that|it|this)|(?:is|was) (?:any of )?(?:that|this|it)"
    r"(?: actually| really)? (?:true|real|right)|(?:do )?you (?:really )?believe (?:that|this|it))\s?\?\W+(?:well |oh"
    r" )?(?:no|nope|not|never|of course not|hardly|you should not|i did not)\b"
)
"""All that was said before is not so, or not vouched for."""
ONE_WRONG = re.compile(
    r"\b(?:the|that) (first|second|third|last|former|latter)(?: (?:one|figure|number|value|amount))? (?:is|was)"
    rf"(?: \w+){{0,2}}? ?(?:{_UNTRUE}|a typo|a slip)\b"
)
"""Names which figure of several is wrong."""

# Called untrue by what comes before.
FOREGOING = re.compile(
    r"\b(?:(?:only |a ){0,3}(?:guess|not sure|can not tell)(?:,? (?:but )?(?:maybe|perhaps))?:|or (?:its|the) opposite"
    rf"|(?:it|this|that) (?:is|was|would be) (?:\w+ ){{0,2}}{_UNTRUE}(?: to (?:say|claim)(?: that|:)?| that|:)"
    r"|contrary to what|the opposite of (?:the following|this)"
    r"|(?:i|we|nobody|one) (?:\w+ ){0,2}?(?:not|never)(?: honestly)? (?:say|claim|confirm|swear)"
    r"(?: with (?:any )?certainty)?(?: to you)?(?: that|:)|(?:i|we) (?:would (?:love|have loved|like)|wish i could"
    r"|could|might)(?: to)? (?:also |just )?(?:tell|say|claim|report)(?: to)?(?: you)?(?: that|:)"
    r"|(?:i|we) (?:\w+ )?(?:doubt|deny)(?: that|:)|(?:do not|never) (?:believe|trust|rely on)[^.:\n]{0,40}(?:following"
    r"|next|:)|i am (?:(?!not\b)\w+ )?(?:making (?:this|it|that) up|guessing)(?: \w+)?:|(?:an? |for )?(?:example|sample"
    r"|template)(?: \w+)?:|(?:wrong|untrue|false|incorrect|a lie|joke|fiction|not)\s*:|(?:if|(?<!i )suppose"
    r"|(?<!i )imagine|let us pretend|in (?:theory|a perfect world))[^.:\n]{0,50}:)"
)
"""The rest of the sentence is not so, and behind a colon the rest of the message."""
LABEL = r"[^\W_]+(?: \w+)?\s*:"
"""A word or two and a colon."""
LABEL_OF_BEFORE = re.compile(
    r"(?<=\w)[.!?;,–\n-]\W{0,8}(?:sorry|oops|no|oh|wait|that is)?,? ?$|\b(?:sorry|oops|no),? $"
)
"""Before "wrong:", which then is said of what went before and not of what comes."""
FORETOLD = re.compile(
    r"(?:^|(?<=[.!?\n] ))(?=[^.:\n]{0,160}[.:\n])(?=[^.:\n]*\b(?:(?:the|what|everything) (?:\w+ ){0,2}?(?:following"
    r"|follows"
    r"|comes? (?:next|now|after|below)|i (?:am about to|will|say|tell)\b)|the next (?:sentences?|lines?|statements?)))"
    r"[^.:\n]*?(?:\b(?:not|none|nobody|never|nothing|no one)\b[^.:\n]{0,60}\b(?:true|real|correct|happen\w*|believ\w+"
    r"|trust\w*)\b|\b(?:false|untrue|wrong|a lie|lies|invented|made[- ]up|fiction\w*|nonsense)\b)[^.:\n]*[.:\n]"
)
"""A sentence that says of what comes after it that it is not so."""
ANNOUNCES = re.compile(
    r"\b(?:dream(?:t|ed)?|hypothe\w+|simulat\w+|imagin\w+|pretend\w*|fabricat\w+|fiction\w*"
    r"|invent(?:ing|s)?|(?:an?|my|pure|complete|mere|sheer|free) invention"
    r"|(?:(?<=\bi )|(?<=\bi just )|(?<=\bi have ))invented|invented(?! (?:by|it|this|that|the)\b)"
    rf"|(?:in|of|from|as) (?:an? |the |my |1 |one )?(?:\w+ ){{0,2}}?{_WORK}\b(?! {_OF_A_WORK}\b)"
    rf"|{_WORK} (?:has it|where|in which)\b"
    r"|(?:example|sample|template|mock\w*|rehearsal|test(?: (?!results?\b)\w+)?)(?=\W*$|\W+[(]| of (?:what|how)\b"
    r"| (?:of an? )?(?:reply|answer|output|message)\b)|(?:outdated|expired|wrong|false|fake|made[- ]up|draft) (?:answer"
    r"|reply|info\w*|message|data|text|statement)"
    rf"|(?:my|some|an?|one) (?!(?:\w+ ){{0,2}}{_SOURCE}\b)(?:(?!and\b)\w+ ){{1,2}}?(?:says?|said|tells me"
    r"|told me(?: this| that)?)(?=\W*$)|it said(?=\W*$)|(?:play|act)(?:ing)? (?:out )?the (?:part|role)|let me (?:play"
    r"|act|pretend)|unreliable|rumou?rs?|gossip|claims|alleg\w+|lied|lying|some(?:one|body) else"
    r"|(?:another|a different|the last|the previous) (?:customer|user|person|client)|(?:customer|user|person|client)"
    r" before|hopefully|(?:one|some) ?day|(?:any|every)thing but|yeah,? right|den(?:y|ies) it"
    rf"|(?:would|could|might|may|should) (?:(?!not\b)\w+ )?{_SAY}|(?:might|may|would|will|hope to) be able to {_SAY}"
    rf"|used to {_SAY}|(?:last \w+|yesterday|ago|back then|in \d{{4}})\b.{{0,24}}\b(?:forecast|phone|app|map|system"
    r"|search"
    r"|news|rate|price|i) (?:said|told|was|wrote)\b|i (?:\w+ ){0,2}?(?:plan|planned|going|want|hope|like|love) to"
    r" (?:be able to )?(?:say|tell|report)|(?:parallel|perfect|ideal) (?:world|universe))\b"
)
"""Announces, before a colon, something that is not told as so."""

# Remarks that are all that a part of a sentence says.
_FIRST = (
    r"\W*(?:(?:and|but|or|well|oh|ha|haha|so|then|sorry|oops|wait|no|still|sadly|alas|at least|unfortunately|in the end"
    r"|actually|hold on)\W+){0,4}"
)
_LAST = (
    r"(?:,? (?:though|however|anyway|in the end|after all|sadly|unfortunately|for a (?:second|moment)|now|by now|yet))*"
    r"\W*"
)


def _remark(*wordings: str) -> str:
    return f"{_FIRST}(?:{'|'.join(wordings)}){_LAST}"


IDIOM = (
    r"\W*(?:(?:and|but|or|well|honestly|oh|hm+|then again)\W+){0,3}(?:who (?:really )?knows|who can (?:say|tell)"
    r"|(?:it is |that is )?(?:\w+ )?(?:hard|difficult|impossible) (?:for me )?to (?:say|tell|know)"
    r"|your guess is as good as mine|off the top of my head|(?:going |just )?(?:by|from) (?:my )?(?:gut|memory"
    r"|instinct)(?: feeling| alone)?|if (?:i had to|pressed, i would) guess|at a guess|if (?:my )?memory serves(?: me)?"
    r"(?: right| well)?|(?:if|unless) i am (?:not )?(?:mistaken|wrong)|or (?:maybe|perhaps) not)"
    r"(?:,? (?:really|though|honestly|of course))*\W*"
)
FAILED = _remark(
    r"(?:i (?:did|have done|changed|sent) (?:nothing|none of it|no such thing)(?: at all| of the kind)?)",
    rf"(?:or )?{_IT} will(?: be)?(?: soon)?",
    rf"{_IT} is (?:\w+ )?(?:the|my) (?:plan|idea|hope|goal|intention)",
    r"i (?:still )?have (?:yet )?to (?:\w+ )?(?:do|send|start|make|save|set) (?:it|that|this)",
    r"not that i (?:ever |actually )?(?:tried|checked|looked|did)(?: it| any of it)?",
    rf"{_IT} (?:(?:has |have )?(?:failed|fell through|c[ao]me to nothing|ended in (?:failure|tears)|gone wrong|went"
    r" wrong)"
    r"|(?:did|has|have|could) not (?:work(?:ed)?(?: out)?|succeed(?:ed)?|go through|gone through)|(?:was|were|has been)"
    r" (?:all )?(?:in vain|for nothing|unsuccessful|undone|reversed|rolled back|rejected|blocked))(?: again .{0,30})?",
)
"""What was told came to nothing."""
STATUS = (
    r"\W*(?:(?:status|error|result|outcome)\W+"
    r"|\[)(?:(?:the )?(?:operation|request|action) )?(?:was |is )?(?:failed|failure"
    r"|not (?:performed|executed|done|completed|sent|saved)|rolled back|aborted|reverted)\W*"
)
"""A line of a log that says of what was told that it failed."""
OVER = _remark(
    rf"{_IT} no longer (?:holds?|appl(?:y|ies)|stands?)",
    rf"{_IT} (?:is|are|does|do) not (?:\w+ )?(?:like that|that way|so|true|hold|apply|the case|valid) (?:any ?more"
    r"|any longer|now)",
    r"(?:things|everything|a lot) (?:has|have) (?:all )?(?:since )?changed(?: since)?",
    rf"{_IT} (?:is|was) (?:how|what|the way) (?:it|things|that|they) (?:was|were|stood|looked|said|had been)\b(?!"
    rf" asked).{{0,30}}",
    rf"{_IT} (?:was|were) (?:the (?:state of affairs|situation|case) )?(?:before\b|back then|last \w+|in \d{{4}}|once\b"
    r"|yesterday\b|(?:\w+ )?(?:day|week|month|year)s? ago).{0,40}",
    rf"{_IT} (?:is|are|has|have) (?:\w+ )?(?:expired|outdated|obsolete|out of date|superseded)|{_IT} (?:is|was)"
    r" (?:not it|over|history)",
)
"""What was told is not so any more."""
NOT_SO = _remark(
    # others say something else, or others alone say it
    r"(?:(?:another|the other|my|your|the|some|all) (?:\w+ ){1,3}?|others )(?:disagrees?|says? (?:otherwise|the"
    r" opposite|something else)|contradicts? (?:it|this|that|each other)|den(?:y|ies) (?:it|this|that))",
    rf"(?:or )?so (?:says?|claims?|goes)(?! (?:\w+ ){{0,2}}{_SOURCE}\b)(?: \w+){{1,4}}",
    rf"(?:or )?{_IT} is (?:\w+ )?(?:what|how) (?!(?:\w+ ){{0,2}}{_SOURCE}\b)(?:\w+ ){{1,4}}(?:promises?|claims?|wants?"
    r"|thinks?|believes?|hopes?)\b.{0,30}",
    rf"everything but {_IT} is (?:true|so|right)|there (?:is|was) (?:an? )?(?:typo|error|mistake|slip) in (?:that"
    r"|this|it)\b.{0,20}",
    # about another thing, or for another person
    r"(?:that|this|it)(?: one| message| reply| answer)? (?:was|is) (?:\w+ )?(?:for|about|to|from) (?:another|a"
    r" different|some(?:one|body) else|my)\b.{0,30}",
    rf"{_IT} is not (?:about|for|meant for) you|i (?:must have |have |had |just )?(?:mixed|confused|mistook) (?:you"
    r"|this|that|it|them)(?: up)? (?:with|for) .{1,30}",
    r"(?:i (?:had |have |must have )?\w+(?: \w+)? |(?:that|this|it) (?:is|was) )?(?:that )?(?:from |in |for |of |up"
    r" )?(?:the )?wrong \w+|(?:that|this|it) (?:is|was) (?:for )?(?:yesterday|some(?:body|one) else)(?:'s)?(?: \w+)?",
    # a joke, a dream or a wish
    r"as if|in (?:your|my) dreams|gotcha|(?:i )?had you (?:there|going)|(?:i )?(?:fooled|tricked) you|i woke up"
    r"|end of (?:the )?(?:test|joke|dream)|(?:\w+ )?the (?:other way a?round|reverse|opposite)"
    r"|(?:now )?believe(?: the)? (?:contrary|opposite)",
    r"i (?:\w+ )?(?:picked|pulled|chose|drew) (?:that|this|it)(?: \w+)? (?:at random|out of thin air|out of a hat)"
    r"|i (?:tossed|flipped|rolled) an? (?:coin|die)|for the sake of.{0,24}|overheard .{1,30}|coming soon",
    r"(?:that is,? )?(?:if|had) (?:only )?(?:it|that|this|everything|all|i)(?: \w+){0,2}? (?:had )?(?:worked|happened"
    r"|succeeded|(?<=had )\w+ed)\b.{0,20}",
)
"""What was told is disputed, another's, or not meant."""

# Within a sentence.
HEDGE = re.compile(
    r"\b(?:might|perhaps|maybe|possibly|probably|presumably|supposedly|allegedly|reportedly|i (?:think|guess|suppose"
    r"|assume"
    r"|imagine|suspect|believe|would (?:guess|say|estimate|imagine))|(?:not|un|hardly|never) ?(?:\w+ |at all )?(?:sure"
    r"|certain)|could (?:well )?be|may (?:well )?be|(?:may|might) have|could have been|a guess|(?:best|rough"
    r"|educated) guess|guess(?:ing|work)|my guess|rumou?r has|give or take|who knows|if i (?:had to|recall|remember)"
    r"|i (?:can not|could not) (?:confirm|verify|tell|say) (?:that|whether|if)|unverified|unconfirmed|i doubt|doubtful"
    r"|i (?:would )?bet|my money is on|(?:may|might) or (?:may|might) not|should (?:give|show|tell) you"
    r"|something (?:near|around|like)|i (?:would )?expect\b|or whatever (?:it|that|they)|ballpark|eyeball\w*"
    r"|(?:chances|odds) are|or thereabouts|from memory|(?:is|are|seems?|sounds?) (?:\w+ly )?(?:possible|plausible)"
    r"(?=\W*(?:$|[,;.]|and|but))|somewhere between|anything (?:between|from)|for example|e\.?g"
    r"|(?:is|was) (?:\w+ )?an? (?:random |made-up )?(?:example|placeholder|sample)|(?:some|many|most) (?:people|sites?"
    r"|sources?) (?:say|claim|think|believe)|people (?:say|claim))\b"
)
"""Says in a sentence that it may not be so."""
HEARSAY = re.compile(
    r"\b(?:(?:someone|somebody|some(?: \w+)?|people|locals|others|an? (?:\w+ )?(?:friend|forum|blog|post|stranger"
    r"|cousin|neighbou?r|colleague|user|guy|website|site|page|article))(?: (?:on|in|from|at|of)(?: \w+){1,2})?"
    rf" (?:\w+ly )?(?:quotes?|{_SAYS})"
    r"|(?<!this )(?<!that )(?:thinks|reckons|believes|guesses|suspects|swears|insists)(?! in\b)|they (?:say|claim"
    r"|reckon)"
    rf"|(?:the )?(?:neighbou?rs|locals|experts|press|internet) (?:\w+ )?{_SAYS}|(?:it|this|that) is (?:\w+ly )?(?:said"
    r"|rumou?red|believed|alleged) (?:that|to)|(?:word|legend|rumou?r|gossip) (?:has it|goes|says)|the story goes"
    r"|my (?:grand\w+|mother|father|mom|mum|dad|aunt|uncle|sister|brother|cousin|friends?|neighbou?rs?|colleagues?|boss"
    rf"|teacher) (?:\w+ )?{_SAYS}"
    r"|(?<!you )(?<!tool )(?<!phone )(?<!app )(?<!search )(?<!service )\btold me(?! to\b)|the \w+ (?:at|in|on|from"
    r"|behind) (?:the|my|your) (?!phone|inbox|list|map|app|calendar)\w+ (?:said|says|told me)"
    r"|an? (?:anonymous|random|unknown) \w+ (?:says|said|claims))\b"
)
"""What only people say whom the speaker does not name."""
BELIEVED = re.compile(
    r"\b(?:i|we|you)(?: had| have| may have| might have)?(?: at)?(?: first| initially| originally| always| mistakenly"
    r"| wrongly| once)? (?:thought|believed|assumed|expected|could have sworn"
    r"|(?:wanted|was going|meant|intended|was about) to (?:give|tell|say|name|report|answer)\b"
    r"|(?:might|may|could|would) (?:\w+ )?(?:think|expect|believe|assume|suppose|guess))\b(?! of\b| about (?!\d))"
)
"""What was or may be believed, which is not said to be so."""
MADE_UP = re.compile(
    r"^\W*(?:and |but |sorry,? |well,? )?i (?:\w+ly |just |simply )?(?:made up|invented|fabricated|guessed|dreamt up"
    r"|hallucinated)\b"
)
OPENS_WITH_MAYBE = (
    r"\W*(?:(?:well|hm+|so|okay|oh)\W+)?(?:maybe|perhaps|possibly|presumably|supposedly|allegedly)\b(?!,? (?:you|one"
    r"|because|due|since|as|a|some|another|not|even)\b)"
)
"""Makes a guess of what a message begins with, and so of all that it says."""
FOUND_OUT = re.compile(
    r"\b(?:(?:i|we) (?:have |had |then |also |just |now )*(?:double-?checked|checked|looked|searched|asked|found"
    r"|verified|confirmed|went|know|tried|measured|counted|used)|let me|so i \w+ed|turns out|turned out|according to"
    r"|after (?:checking|looking|searching)|i will (?:check|look|find|ask|see))\b"
)
"""Says that what was not known is known by now."""
SETS_AGAINST = re.compile(r",? ?\b(?:but|though|although|however|yet),? ?(?:$|(?<=[ ,])(?=\w))")
SEAM = re.compile(
    r",? (?:but|though|although|however|yet)\b,?"
    r"|,? (?:and|or|because|since|as)(?= (?:i|this|that|it|maybe|perhaps|possibly)\b)|[,;:()](?!\d)| –(?= )| - |--"
)
"""Between the parts of a sentence."""
FRONTED = (
    r"\W*(?:and |but |so )?(?:as for|as to|about|regarding|on|why|how|what|when|where|who|which"
    r"|whether (?!(?:it|that|this)\b)|if)\b"
)
"""Names what the doubt behind it is about."""
