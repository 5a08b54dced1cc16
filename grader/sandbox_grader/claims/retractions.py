"""What a message takes back, announces to be untrue or does not stand by, by where it does so.

Policy: what takes back (``ignore that``) takes back all that was said before it, unless it names one figure of several.
"""

import re
from collections.abc import Iterator

_UNTRUE = (
    r"(?:not (?:actually |really |at all |even )?(?:true|the case|so|right|correct|accurate|real|the (?:real|"
    r"actual|true|correct|right) \w+)|untrue|false|a lie|lies|lying|a fib|wrong|incorrect|inaccurate|"
    r"(?:completely |totally |entirely |all |just |purely )?(?:made[- ]up|made it up|invented|fabricated|"
    r"fictional|fiction|fantasy|nonsense|bogus|fake|a joke|imaginary|a fabrication|an invention|a "
    r"hallucination|rubbish|baloney|a bluff))"
)
_TAKEN_BACK = re.compile(
    r"(?:^|[.!?;:,–(\"\n-])\W{0,12}(?:and |but |oh,? |wait,? |hmm,? |no,? |sorry,? |actually,? |well,? |on second "
    r"thoughts?,? |please,? |hold on,? |oops,? |um,? |ah,? |or rather,? ){0,3}"
    r"(?:(?:you (?:can|should|may|must|had better) |best |better |kindly |do )?(?:ignore|disregard|forget|"
    r"scratch|strike|discard|scrap|delete|cancel|dismiss|pay no attention to|never mind|don't mind)"
    r" (?:that|this|it|what|all|everything|the above|the previous|the last|my|anything|every word|all of)\b"
    r"|(?:i (?:was|am|have been) |i just |we are )?(?:just |only |totally )?(?:kidding|joking|teasing|"
    r"pulling your leg|messing with you|bluffing|lying)\b"
    r"|just a joke|only joking|psych\b|gotcha\b|april fools?\b|not really\b(?=[.,!;:]|$)|i (?:just |simply |"
    r"totally |completely )?(?:made (?:that|it|this|all of (?:that|it|this)|everything|the whole thing|those|"
    r"them) up|made (?:that|this|the|those|these|my) \w+(?: \w+)? up|made up|invented|fabricated|hallucinated"
    r"|imagined|dreamt|faked) ?(?:that|it|this|all|"
    r"everything|those|the|$|[.,!])"
    r"|i (?:lied|take (?:that|it|this|everything|all of it|all that|my words) back|(?:hereby |must |have to "
    r"|now )?(?:retract|withdraw|recant|revoke)|was "
    r"wrong|am wrong|was mistaken|misspoke|had that wrong|got (?:that|it|this) wrong|can not (?:vouch|stand "
    r"behind|back))"
    r"|consider (?:the above|that|this|it|all of (?:that|this)|everything) (?:void|withdrawn|retracted|unsaid"
    r"|cancelled|null|deleted)"
    r"|never mind\b|as if i (?:knew|had|could)\b|or at least i (?:think|believe|hope|guess|assume)\b|"
    r"or (?:is|was|were|are) (?:it|that|this|he|she|they) [^.!?\n]{1,40}\?|or,? (?:if|when|now that) i (?:count"
    r"|check|look|think|calculate|recount|reckon|do)\b|or so (?:i|they|he|she|the story)\b|or so (?:(?:the|a|an|my"
    r"|your|some|people|it|one|rumou?r"
    r"|legend)\b[^.!?\n]{0,40}?\b)(?:say|claim|whisper|tell|believe|goe|hear|suggest|ha)\w*\b|or (?:did|do|does|is"
    r"|was|has|have) (?:i|it|he|she|"
    r"they|that)(?: not)?\s{0,4}\?|my mistake|my bad|that was my error|strike that|scratch that|forget it|take "
    r"that back|i mean\b|(?:that|this|it|all of (?:that|this|it)) (?:is|was) (?:all )?(?:just |only |merely |"
    r"but )?(?:a|my) (?:wild |rough |mere |pure |best )?guess|correction\b|(?:do not|please do not|never|you "
    r"should not|you can not|i would not|"
    r"better not) (?:rely on|trust|believe|count on|take|act on|quote|use|go by) (?:that|this|it|me|what|any|"
    r"my|a word|the above|all)"
    rf"|(?:(?:all|none|nothing|not one word|not a word|everything|any|each word|every word|most|the whole) "
    rf"(?:of )?)?(?:that|this|it|they|both|neither|these|those|(?:both|all|neither) (?:of (?:them|these|those)"
    rf"|figures|numbers|values|amounts)|(?:these|those|the) (?:two |three )?(?:figures|numbers|values|amounts"
    rf"|answers)|which|what i (?:just )?(?:said|told you|wrote)|the (?:above|foregoing|"
    rf"previous|last) ?\w*|(?:all|none) of (?:that|this|it)|everything (?:i (?:just )?said|above)|nothing "
    rf"(?:i (?:just )?said|above)|that number|that (?:answer|figure|value|time|date|name|last (?:bit|part))|"
    rf"my (?:last |previous )?(?:answer|reply|statement|message|claim)|the (?:number|figure|value|answer)) "
    rf"(?:is|was|were|are|would be|has been|turned out(?: to be)?|proved(?: to be)?)(?: (?:of course|actually|all"
    rf"|just|only|in fact|completely|"
    rf"entirely|really|totally|probably|simply|pure|purely|a complete|quite))? {_UNTRUE}(?!\w)(?! (?:now|away|yet)\b)"
    r"|none of (?:that|this|it|what i said|the above) (?:is|was|has|actually|really|ever)? ?(?:true|real|"
    r"happened|correct|right|is true)"
    r"|(?:that|this|it|nothing of the (?:sort|kind)|none of (?:that|this|it)) (?:did not|never|has not|has "
    r"never)(?: actually| really| ever)? (?:happen\w*|took place|occurr?\w*)"
    r"|(?:the )?(?:opposite|contrary|reverse) is (?:true|the case)"
    r")"
)
_DISOWNED = re.compile(
    r"\b(?:i|we) (?:can not|could not|did not|do not want to|would not|will not|can neither|could neither|(?:am"
    r"|was|were|are|have) (?:not|never) (?:been )?able to|(?:am|was|were|are) unable to|have no (?:way"
    r"|means) (?:to|of))"
    r" (?:\w+ly |even |yet )?(?:(?:hear|see|read) (?:it|that|this)(?= myself)|verify|confirm|check|vouch"
    r"|stand behind|repeat|prove)(?:ing)?(?: for"
    r"| up)?(?: (?:it|that|this|them|those|these|either|any of (?:it|that|this|them)|whether (?:it|that"
    r"|this) is \w+"
    r"|(?:that|this|the|those|these) (?:figure|number|value|amount|rate|result|claim|answer"
    r"|information)s?))?(?: (?:myself|yet|so far|in any way|at all|though))?\s*(?=[.,;!?\n–)]|$| and\b| or\b"
    r"| nor\b| because\b| as i\b| since\b)"
    r"|\b(?:the|my) (?:tool|phone|search|look-?up|app|service|converter|map) (?:gave|returned|found|showed|gives"
    r"|shows|has)"
    r"(?: me| us)? nothing\b"
    r"|\b(?:i|we) have (?:nothing|no \w+)(?: \w+)? to (?:check|verify|compare|confirm) (?:it|that|this|them|either)\b"
    r"|\bi am (?:not|far from) (?:\w+ )?(?:convinced|persuaded)\b(?! (?:you|he|she|they|of)\b)|\bi (?:do not"
    r"|would not|can not) (?:trust|believe|buy) (?:it|that|this|them|those)\b"
    r"|\bunless (?:i|we) (?:\w+ )?(?:misread|misremember|misheard|miscounted|miscalculated|mixed|mistook|made|got"
    r"|am mistaken|am wrong|misunderstood)\b|\bunless (?:it|that|this) (?:is|was)(?: actually| really"
    r"| about)? [$€£]?-?\d"
    r"|\bi (?:do not|can not|could not|still do not) (?:\w+ly )?(?:know|tell|say|name|determine|work out"
    r"|give)(?: you)? (?:the (?:real|true|actual|exact|right|correct|proper) \w+"
    r"|which (?:of (?:the|these|those|them)|one|is right|is correct|applies))"
    r"|\b(?:the|its|their) (?:real|true|actual|exact|official|right|correct|current) (?:figure|rate|price|number"
    r"|value|one"
    r"|amount|distance|time|date) (?:i|we) (?:do not|can not|could not)\b"
    r"|\b(?:which|whichever) (?:of (?:the|these|those) (?:two|three) |one )?(?:applies|is right|is correct|it is"
    r"|holds)(?: here)?,? (?:i|we) (?:do not|can not|could not) (?:know|tell|say)"
    r"|\bwhatever (?:that|this|it) (?:refers? to|means?|meant|stands for|is supposed to be|may be)\b|\b(?:take"
    r"|make) your (?:pick|choice)\b|\bpick (?:whichever|the one) you\b"
    r"|\bthere (?:may|might|could|must|will|are probably|are possibly|are certainly|are surely) (?:well |probably "
    r"|possibly |also )?(?:be )?(?:a few |many |several |some |plenty |lots |any )?(?:more|others"
    r"|further ones)(?: of them)?\s*(?=[.!;,\n]|$)"
)
"""The speaker does not stand by what came before: could not check it, does not believe it, leaves open which it is."""
_MARKS = (
    r"(?:^|[.!?;:,–(\"\n-])\W{0,12}(?:and |but |so |oh,? |wait,? |hmm,? |no,? |sorry,? |actually,? |well,? |hold on,? "
    r"|hang on,? |oops,? |whoops,? |um,? |ah,? |apologies,? |on second thoughts?,? ){0,3}"
)
_CORRECTED = re.compile(
    rf"{_MARKS}(?:"
    r"(?:wrong|not so|not right|wait,? no|no,? wait|on second thoughts?,? no|no,? (?:sorry|pardon)|sorry,? no"
    r"|make (?:that|it)(?! (?:happen|work|right|clear|easy|sure|to|so|known|a)\b)|edit|erratum)\b(?=[:.,;!\n–-]"
    r"| (?:it|that|this|the|i|about|actually|rather|-?\d|[$€£¥])|\s*$)|(?<=h )no\b(?=[,.:;!])|(?<=h, )no\b(?=[,.:;!])"
    r"|(?:let me|allow me to|i (?:must|have to|need to|should|want to|would like to)|to|sorry to) (?:correct|amend"
    r"|fix|revise|rephrase) (?:that|this|it|myself|what i|my (?:last|previous|answer|reply|statement|message))\b"
    r"|i (?:just )?meant(?: to (?:say|write))?(?= (?:that |the |about )?[$€£¥-]?\d)|let me take (?:that|it|this"
    r"|all of it) back|forget (?:that )?i (?:said|wrote|mentioned) (?:that|it|this|anything)|i stand corrected"
    r"|correcting (?:that|this|it|myself|my)\b|i (?:have )?(?:made|got) (?:a mistake|an error|a slip|a typo"
    r"|it (?:all )?wrong|it (?:all )?mixed up)(?: (?:there|here|above|in (?:that|my|the) (?:answer|reply|line"
    r"|sentence|calculation|message)))?(?=[.,:;!\n–]|$)|(?:it|that|this) (?:can not|could not|will not) (?:be"
    r"|have been) (?:then|that|it|right|true|so|him|her|the one)\b"
    r"|(?:that|this|it) (?:is|was) (?:a|my) (?:typo|slip|mistake|error|misreading|mix-up)\b"
    r"|(?:i )?(?:misread|miscounted|misheard|miscalculated|mixed up|mistyped|confused) (?:that|this|it|the|two|my)\b"
    r"(?![^.!?\n]{0,40}\b(?:at first|first|earlier|before|initially|so i)\b)"
    r")"
)
"""What was said before was a slip, and what is so comes now, if at all."""
_CONJECTURE = re.compile(
    rf"{_MARKS}(?:"
    r"i am (?:just |only |merely |simply |really )?(?:guessing|making (?:this|it|that) up)\b"
    r"|(?:that|this|it) is (?:just |only |merely |simply )?(?:what|how) (?:i|you|one|we|they) (?:would|might|could"
    r"|may|"
    r"imagine|guess|suppose|suspect|assume)\b"
    r"|(?:that|this|it) (?:is|was) (?:just |only |merely |simply |more |really |all |pure |mere )*(?:speculation"
    r"|conjecture|a hunch|guesswork|hearsay|gossip|a rumou?r|an? (?:assumption|supposition)|off the top of my head)\b"
    r"|(?:at least,? )?(?:that|this|it) is (?:just |only )?(?:what|how) (?:i|my \w+|someone|somebody|people|they) "
    r"(?:heard|remember|recall|hope|believe|told me)\b"
    r"|(?:i|we) (?:have not|had not|did not|never) (?:actually |really |even |yet |in fact )?(?:checked|check|looked|"
    r"look|measured|measure|verified|asked|ask|looked (?:it|that|this) up|look (?:it|that|this) up|counted|count"
    r"|converted|convert|calculated|calculate|computed|compute)"
    r"(?: (?:it|that|this|them|any of (?:it|that|this)|anything|up|at all|though|yet|myself))*\s*(?=[.,;!?\n–)]|$)"
    r"|not\s?(?=[!.]|$)"
    r")"
)
"""What was said before is only supposed, or a joke."""
_ONE_WRONG = re.compile(
    r"\b(?:the|that|my) (first|second|third|last|former|latter)(?: (?:one|figure|number|value|amount|result"
    r"|distance|sum|price|count|answer|of (?:them|those|these|the two)))? (?:is|was|looks|seems"
    r"|turns out to be)(?: \w+){0,2}? ?"
    rf"(?:{_UNTRUE}|off|a typo|a slip|a mistake|mistaken|an error|outdated|invalid)\b"
)
_ANY_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
_ELLIPSIS = re.compile(
    r"(?:^|[,;:.!?–(\n-])\W{0,12}(?:but |and |except |only |only that |well,? |no,? |actually,? |in fact,? |in "
    r"truth,? |to be honest,? |truth be told,? |or rather,? |although |though |then again,? |wait,? |sorry,? |which,? "
    r"|hmm,? ){1,4}"
    r"(?:i|it|that|they|he|she|this|we) (?:actually |really |in fact )?(?:did|do|does|have|has|is|was|are|"
    r"were|could|can|will|would) (?:not|never)"
    r"(?: really| actually| at all| done (?:so|that|it|any of (?:that|this))| do (?:so|that|it|any of "
    r"(?:that|this))| yet| been)?\s{0,4}(?=[.!?;\n]|$)"
)
_FORWARD = re.compile(
    r"\b(?:(?:a |merely |just |only |wild |am ){0,6}(?:guess|guessing|maybe|perhaps|possibly|not sure|no idea|"
    r"can not tell|"
    r"unsure|uncertain)(?:,? (?:but )?(?:maybe|perhaps))?:|or (?:its|the|the very) (?:opposite|contrary)|"
    r"(?:it|this|that) (?:is|was|would be) (?:\w+ ){0,2}(?:not (?:\w+ ){0,2}(?:true|the case|correct|"
    r"right|so|accurate)|untrue|false|a lie|wrong|incorrect|nonsense|a myth|a mistake|inaccurate)(?: to "
    r"(?:say|claim|state|assert|think))?(?: that|:)"
    r"|(?:i|we|nobody|no one|you|one) (?:\w+ ){0,2}?(?:can not|could not|must not|should not|would not|do "
    r"not|will not|never|not)(?: honestly| truthfully| possibly| in good conscience)? (?:say|claim|state|"
    r"confirm|assert|pretend|report|believe|think|swear)(?: for sure| with (?:any )?certainty)?(?: to "
    r"you)?(?: that|:)"
    r"|(?:i|we) (?:would (?:love|have (?:loved|liked)|give (?:a lot|anything)|be lying|be guessing)|wish (?:i"
    r"|we) (?:could|were able)|could|might)(?: to)? (?:just |simply |easily |now |also )?(?:tell|say|claim|report"
    r"|announce|pretend|write|confirm|state|show)(?: to)?(?: you)?(?: that|:)"
    r"|(?:i|we) (?:\w+ )?(?:deny|doubt|dispute|reject the idea|refute)(?: that|:)|(?:nobody|no one) (?:\w+ "
    r")?(?:says|said|claims|claimed|believes)(?: that|:)?"
    r"|(?:the |what |everything |all of )?(?:following|follows|comes next|next (?:sentence|statement|part|"
    r"bit|lines?)|below|i am about to say|rest of (?:this|my) message|i say (?:next|"
    r"now))[^.:\n]{0,60}\b(?:not (?:\w+ )?(?:true|real|correct|right)|untrue|false|a lie|lies|wrong|"
    r"incorrect|made[- ]up|invented|fiction|fictional|nonsense|a joke|fabricated|fake|bogus|imaginary)"
    r"|i am (?:(?!not\b)\w+ )?(?:making (?:this|it|that|these) up|inventing this|guessing)(?: \w+)?:|(?:an? "
    r"|for )?(?:example|sample|template|mock)(?: \w+)?:"
    r"|(?:do not|never|please do not|you should not) (?:believe|trust|rely on|"
    r"listen)[^.:\n]{0,40}(?:following|next|below|anyone who says|people who say|:)"
    r"|(?:not true|untrue|false|a lie|fiction|wrong|fake news|lie|nonsense|myth|made up|joke|incorrect|"
    r"invalid|negative|not)\s*:"
    r"|(?:i wish i could say|it would be (?:a lie|wrong|false|untrue|dishonest|lying) to (?:say|claim|tell)|"
    r"far be it from me to (?:say|claim)|contrary to (?:what|the claim|popular belief)|the opposite of "
    r"(?:the following|this|what follows)|in no way (?:is it true|is it the case) that|by no means (?:is it "
    r"true|is it the case) that|(?:if|(?<!i )suppose|(?<!i )imagine|let us pretend|hypothetically|in theory|pretend"
    r"|in a perfect world|in my dreams|in an alternate universe)[^.:\n]{0,50}:))"
)
_AHEAD = (
    r"(?:(?:the|what|everything|anything|all that|whatever|things?) (?:\w+ ){0,2}?(?:following|follows|"
    r"comes? (?:next|now|after|below)|is (?:to come|next|below)|stands below|i say (?:next|now)|"
    r"i (?:am about to|will|shall|now|next) (?:say|tell|write)\w*)|"
    r"the next (?:sentences?|lines?|statements?|parts?|words?|messages?|thing i say))"
)
_NOT_SO = (
    r"(?:\b(?:not|none|never|nothing|nobody|no one|hardly|cannot|no)\b[^.:\n]{0,60}\b(?:true|real|correct|accurate|"
    r"the case|happen\w*|believ\w+|trust\w*|rel(?:y|ied)|serious\w*)\b|\b(?:false|untrue|a lie|lies|invented|"
    r"fiction\w*|made[- ]up|fabricat\w+|wrong|fake|nonsense|bogus|a joke|imaginary|hallucinat\w+|incorrect|fantasy)\b)"
)
_ANNOUNCED = re.compile(
    rf"(?:^|(?<=[.!?\n] ))(?=[^.:\n]{{0,160}}[.:\n])(?=[^.:\n]*\b{_AHEAD})[^.:\n]*?{_NOT_SO}[^.:\n]*[.:\n]"
)
"""A sentence that says of what comes after it that it is not so."""


_LABEL_OF_BEFORE = re.compile(
    r"(?<=\w)[.!?;,–\n-]\W{0,8}(?:sorry|oops|whoops|no|ah|oh|hmm|wait|that is|that was|this is|i was|i am|it was"
    r"|it is)?,? ?$|\b(?:sorry|oops|no|wait),? $"
)
"""Before "wrong:", which then is said of what went before and not of what comes."""


_LABEL = re.compile(r"[^\W_]+(?: \w+)?\s*:")
"""A word or two and a colon."""


_ASKED_AND_DENIED = re.compile(
    r"\b(?:did i (?:really |actually )?(?:do|say|send|mean|check) (?:that|it|this|so|any of (?:it|that|this))|(?:is"
    r"|was|are|were)"
    r" (?:(?:any|all|some|much|a word|one word) of )?(?:that|this|it|these|what i said)(?: really"
    r"| actually)? (?:true|real|so|right"
    r"|correct)|(?:do )?you (?:really |actually )?(?:believe|trust|buy|bought|fell for) (?:that|this|it"
    r"|me))\s?\?\W+(?:well |oh )?"
    r"(?:no|nope|not|never|of course not|hardly|certainly not|absolutely not|you should not|do not|better not"
    r"|i did not|it is not)\b"
)
"""A question about what was said, which the speaker answers with no."""


def foretold(blind: str) -> Iterator[tuple[int, bool]]:
    """Where it is announced that what follows is not so, and whether for the whole rest or only for its sentence."""
    announced = _ANNOUNCED.search(blind)
    if announced:
        yield announced.start(), True
    for found in _FORWARD.finditer(blind):
        before = blind[max(0, found.start() - 24) : found.start()]
        if _LABEL.match(found[0]) and _LABEL_OF_BEFORE.search(before):
            continue
        if re.search(r"\b(?:not|no|never|without)(?: (?:an?|have to|need to|any|just|here))*\s*$", before):
            continue
        yield (
            found.start(),
            blind[found.start() : found.end() + 1].endswith(":")
            or found[0].endswith(":")
            or bool(re.search(r"follow|next|below|rest of|about to say", found[0])),
        )


def one_wrong(blind: str) -> tuple[int, int]:
    """Where the figure stands that is called wrong by its place among those before: ``the second one is a typo``."""
    for found in _ONE_WRONG.finditer(blind):
        before = list(_ANY_FIGURE.finditer(blind, 0, found.start()))
        place = {"first": 0, "former": -2, "second": 1, "third": 2}.get(found[1].lower(), -1)
        if -len(before) <= place < len(before):
            return before[place].span()
    return 0, 0


def withdrawn_until(blind: str) -> int:
    """Up to where a message is taken back by what it says later; 0 if nothing is."""
    places = [
        found
        for pattern in (_TAKEN_BACK, _CORRECTED, _CONJECTURE, _ELLIPSIS, _DISOWNED, _ASKED_AND_DENIED)
        for found in pattern.finditer(blind)
    ]
    last = 0
    for found in places:
        before = blind[max(0, found.start() - 12) : found.start() + 2]
        if re.search(r"\b(?:not|no|never|am not)\s*$", before):
            continue
        sentence = blind[found.start() : found.end() + 40]
        if re.match(r"[^\w]*i mean\b(?! it)", sentence) and not re.search(r"\d|not|no\b", sentence):
            continue
        last = max(last, found.end())
    return last
