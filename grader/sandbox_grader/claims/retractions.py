"""What a message takes back, announces to be untrue or does not stand by, by where it does so.

Policy: what takes back (``ignore that``) takes back all that was said before it, unless it names one figure of several.
"""

import re
from collections.abc import Iterator

_MARKS = (
    r"(?:^|[.!?;:,–(\"\n-])\W{0,12}(?:(?:and|but|so|oh|wait|hmm|no|sorry|actually|well|please|um|ah|oops|whoops"
    r"|apologies|hold on|hang on|or rather|on second thoughts?),? ){0,3}"
)
"""The mark before what takes back, and words that say nothing."""
_UNTRUE = (
    r"(?:not (?:actually |really |at all |even )?(?:true|the case|so|right|correct|accurate|real|the (?:real|actual"
    r"|true|correct|right) \w+)|untrue|false|a lie|lies|lying|a fib|wrong|incorrect|inaccurate|(?:completely |totally "
    r"|entirely |all |just |purely )?(?:made[- ]up|made it up|invented|fabricated|fictional|fiction|fantasy|nonsense"
    r"|bogus|fake|a joke|imaginary|a fabrication|an invention|a hallucination|rubbish|baloney|a bluff))"
)
_SAID = (
    r"(?:(?:(?:all|none|nothing|not one word|not a word|everything|any|each word|every word|most"
    r"|the whole) (?:of )?)?(?:that|this|it|they|both|neither|these|those"
    r"|(?:both|all|neither) (?:of (?:them|these|those)|figures|numbers|values|amounts)|(?:these|those|the) (?:two "
    r"|three )?(?:figures|numbers|values|amounts|answers)|which|what i (?:just )?(?:said|told you|wrote)"
    r"|the (?:above|foregoing|previous|last) ?\w*|(?:every|no)thing (?:i (?:just )?said|above)|that number"
    r"|that (?:answer|figure|value|time|date|name|last (?:bit|part))"
    r"|my (?:last |previous )?(?:answer|reply|statement|message|claim)|the (?:number|figure|value|answer)))"
)
"""What was said before, all of it or one figure."""
_IS_UNTRUE = (
    rf"{_SAID} (?:is|was|were|are|would be|has been|turned out(?: to be)?"
    r"|proved(?: to be)?)(?: (?:of course|actually|all|just|only|in fact|completely|entirely|really|totally|probably"
    rf"|simply|pure|purely|a complete|quite))? {_UNTRUE}(?!\w)(?! (?:now|away|yet)\b)|none of (?:that|this|it"
    r"|what i said|the above) (?:is|was|has|actually|really|ever)? ?(?:true|real|happened|correct|right|is true)"
    r"|(?:that|this|it|nothing of the (?:sort|kind)|none of (?:that|this|it)) (?:did not|never|has not"
    r"|has never)(?: actually| really| ever)? (?:happen\w*|took place|occurr?\w*)"
    r"|(?:the )?(?:opposite|contrary|reverse) is (?:true|the case)"
)
_TO_BE_IGNORED = (
    r"(?:(?:you (?:can|should|may|must|had better) |best |better |kindly |do )?(?:ignore|disregard|forget|scratch"
    r"|strike|discard|scrap|delete|cancel|dismiss|pay no attention to|never mind|don't mind) (?:that|this|it|what|all"
    r"|everything|the above|the previous|the last|my|anything|every word|all of)\b"
    r"|(?:do not|please do not|never|you should not|you can not|i would not|better not) (?:rely on|trust|believe"
    r"|count on|take|act on|quote|use|go by) (?:that|this|it|me|what|any|my|a word|the above|all)|consider (?:the above"
    r"|that|this|it|all of (?:that|this)|everything) (?:void|withdrawn|retracted|unsaid|cancelled|null|deleted)"
    r"|never mind\b|strike that|scratch that|forget it|take that back)"
)
_A_JOKE = (
    r"(?:i (?:was|am|have been) |i just |we are )?(?:just |only |totally )?(?:kidding|joking|teasing|pulling your leg"
    r"|messing with you|bluffing|lying)\b|just a joke|only joking|psych\b|gotcha\b|april fools?\b"
    r"|not really\b(?=[.,!;:]|$)"
)
_INVENTED = (
    r"i (?:just |simply |totally |completely )?(?:made (?:that|it|this|all of (?:that|it|this)|everything"
    r"|the whole thing|those|them) up|made (?:that|this|the|those|these|my) \w+(?: \w+)? up|made up|invented|fabricated"
    r"|hallucinated|imagined|dreamt|faked) ?(?:that|it|this|all|everything|those|the|$|[.,!])"
)
_MISTAKEN = (
    r"i (?:lied|take (?:that|it|this|everything|all of it|all that|my words) back"
    r"|(?:hereby |must |have to |now )?(?:retract|withdraw|recant|revoke)|was wrong|am wrong|was mistaken|misspoke"
    r"|had that wrong|got (?:that|it|this) wrong|can not (?:vouch|stand behind|back))|my mistake|my bad"
    r"|that was my error|i mean\b|correction\b|(?:that|this|it|all of (?:that|this|it)) (?:is|was) (?:all )?(?:just "
    r"|only |merely |but )?(?:a|my) (?:wild |rough |mere |pure |best )?guess"
)
_OR_SO = (
    r"as if i (?:knew|had|could)\b|or at least i (?:think|believe|hope|guess|assume)\b"
    r"|or (?:is|was|were|are) (?:it|that|this|he|she|they) [^.!?\n]{1,40}\?|or,? (?:if|when|now that) i (?:count|check"
    r"|look|think|calculate|recount|reckon|do)\b|or so (?:i|they|he|she|the story)\b"
    r"|or so (?:(?:the|a|an|my|your|some|people|it|one|rumou?r|legend)\b[^.!?\n]{0,40}?\b)(?:say|claim|whisper|tell"
    r"|believe|goe|hear|suggest|ha)\w*\b|or (?:did|do|does|is|was|has|have) (?:i|it|he|she|they|that)(?: not)?\s{0,4}\?"
)
"""Behind what is told with a tail that puts it in question."""
_TAKEN_BACK = re.compile(f"{_MARKS}(?:{_TO_BE_IGNORED}|{_A_JOKE}|{_INVENTED}|{_MISTAKEN}|{_OR_SO}|{_IS_UNTRUE})")
_NOT_CHECKED = (
    r"\b(?:i|we) (?:can not|could not|did not|do not want to|would not|will not|can neither|could neither"
    r"|(?:am|was|were|are|have) (?:not|never) (?:been )?able to|(?:am|was|were|are) unable to"
    r"|have no (?:way|means) (?:to|of)) (?:\w+ly |even |yet )?(?:(?:hear|see|read) (?:it|that|this)(?= myself)|verify"
    r"|confirm|check|vouch|stand behind|repeat|prove)(?:ing)?(?: for| up)?(?: (?:it|that|this|them|those|these|either"
    r"|any of (?:it|that|this|them)|whether (?:it|that|this) is \w+|(?:that|this|the|those|these) (?:figure|number"
    r"|value|amount|rate|result|claim|answer|information)s?))?(?: (?:myself|yet|so far|in any way|at all"
    r"|though))?\s*(?=[.,;!?\n–)]|$| and\b| or\b| nor\b| because\b| as i\b| since\b)"
    r"|\b(?:i|we) have (?:nothing|no \w+)(?: \w+)? to (?:check|verify|compare|confirm) (?:it|that|this|them|either)\b"
)
_NOT_FOUND = (
    r"\b(?:the|my) (?:tool|phone|search|look-?up|app|service|converter|map) (?:gave|returned|found|showed|gives|shows"
    r"|has)(?: me| us)? nothing\b"
)
_NOT_BELIEVED = (
    r"\bi am (?:not|far from) (?:\w+ )?(?:convinced|persuaded)\b(?! (?:you|he|she|they|of)\b)|\bi (?:do not|would not"
    r"|can not) (?:trust|believe|buy) (?:it|that|this|them|those)\b|\bunless (?:i|we) (?:\w+ )?(?:misread|misremember"
    r"|misheard|miscounted|miscalculated|mixed|mistook|made|got|am mistaken|am wrong|misunderstood)\b"
    r"|\bunless (?:it|that|this) (?:is|was)(?: actually| really| about)? [$€£]?-?\d"
)
_NOT_KNOWN = (
    r"\bi (?:do not|can not|could not|still do not) (?:\w+ly )?(?:know|tell|say|name|determine|work out"
    r"|give)(?: you)? (?:the (?:real|true|actual|exact|right|correct|proper) \w+"
    r"|which (?:of (?:the|these|those|them)|one|is right|is correct|applies))"
    r"|\b(?:the|its|their) (?:real|true|actual|exact|official|right|correct|current) (?:figure|rate|price|number|value"
    r"|one|amount|distance|time|date) (?:i|we) (?:do not|can not|could not)\b"
    r"|\b(?:which|whichever) (?:of (?:the|these|those) (?:two|three) |one )?(?:applies|is right|is correct|it is"
    r"|holds)(?: here)?,? (?:i|we) (?:do not|can not|could not) (?:know|tell|say)"
)
_LEFT_OPEN = (
    r"\bwhatever (?:that|this|it) (?:refers? to|means?|meant|stands for|is supposed to be|may be)\b"
    r"|\b(?:take|make) your (?:pick|choice)\b|\bpick (?:whichever|the one) you\b|\bthere (?:may|might|could|must|will"
    r"|are probably|are possibly|are certainly|are surely) (?:well |probably |possibly |also )?(?:be )?(?:a few |many "
    r"|several |some |plenty |lots |any )?(?:more|others|further ones)(?: of them)?\s*(?=[.!;,\n]|$)"
)
_DISOWNED = re.compile(f"{_NOT_CHECKED}|{_NOT_FOUND}|{_NOT_BELIEVED}|{_NOT_KNOWN}|{_LEFT_OPEN}")
"""The speaker does not stand by what came before: could not check it, does not believe it, leaves open which it is."""
_CORRECTED = re.compile(
    rf"{_MARKS}(?:(?:wrong|not so|not right|wait,? no|no,? wait|on second thoughts?,? no|no,? (?:sorry|pardon)"
    r"|sorry,? no|make (?:that|it)(?! (?:happen|work|right|clear|easy|sure|to|so|known|a)\b)|edit"
    r"|erratum)\b(?=[:.,;!\n–-]| (?:it|that|this|the|i|about|actually|rather|-?\d|[$€£¥])|\s*$)"
    r"|(?<=h )no\b(?=[,.:;!])|(?<=h, )no\b(?=[,.:;!])"
    r"|(?:let me|allow me to|i (?:must|have to|need to|should|want to|would like to)|to|sorry to) (?:correct|amend|fix"
    r"|revise|rephrase) (?:that|this|it|myself|what i|my (?:last|previous|answer|reply|statement|message))\b"
    r"|i (?:just )?meant(?: to (?:say|write))?(?= (?:that |the |about )?[$€£¥-]?\d)|let me take (?:that|it|this"
    r"|all of it) back|forget (?:that )?i (?:said|wrote|mentioned) (?:that|it|this|anything)|i stand corrected"
    r"|correcting (?:that|this|it|myself|my)\b"
    r"|i (?:have )?(?:made|got) (?:a mistake|an error|a slip|a typo|it (?:all )?wrong|it (?:all )?mixed up)(?: (?:there"
    r"|here|above|in (?:that|my|the) (?:answer|reply|line|sentence|calculation|message)))?(?=[.,:;!\n–]|$)|(?:it|that"
    r"|this) (?:can not|could not|will not) (?:be|have been) (?:then|that|it|right|true|so|him|her|the one)\b"
    r"|(?:that|this|it) (?:is|was) (?:a|my) (?:typo|slip|mistake|error|misreading|mix-up)\b"
    r"|(?:i )?(?:misread|miscounted|misheard|miscalculated|mixed up|mistyped|confused) (?:that|this|it|the|two"
    r"|my)\b(?![^.!?\n]{0,40}\b(?:at first|first|earlier|before|initially|so i)\b))"
)
"""What was said before was a slip, and what is so comes now, if at all."""
_CONJECTURE = re.compile(
    rf"{_MARKS}(?:i am (?:just |only |merely |simply |really )?(?:guessing|making (?:this|it|that) up)\b"
    r"|(?:that|this|it) is (?:just |only |merely |simply )?(?:what|how) (?:i|you|one|we|they) (?:would|might|could|may"
    r"|imagine|guess|suppose|suspect|assume)\b|(?:that|this|it) (?:is|was) (?:just |only |merely |simply |more |really "
    r"|all |pure |mere )*(?:speculation|conjecture|a hunch|guesswork|hearsay|gossip|a rumou?r"
    r"|an? (?:assumption|supposition)|off the top of my head)\b|(?:at least,? )?(?:that|this|it) is (?:just "
    r"|only )?(?:what|how) (?:i|my \w+|someone|somebody|people|they) (?:heard|remember|recall|hope|believe|told me)\b"
    r"|(?:i|we) (?:have not|had not|did not|never) (?:actually |really |even |yet |in fact )?(?:check|look|measur"
    r"|verif(?:y|i)|ask|count|convert|calculat|comput)(?:ed|e|d)?(?: (?:it|that|this) up)?(?: (?:it|that|this|them"
    r"|any of (?:it|that|this)|anything|up|at all|though|yet|myself))*\s*(?=[.,;!?\n–)]|$)|not\s?(?=[!.]|$))"
)
"""What was said before is only supposed, or a joke."""
_ONE_WRONG = re.compile(
    r"\b(?:the|that|my) (first|second|third|last|former|latter)(?: (?:one|figure|number|value|amount|result|distance"
    r"|sum|price|count|answer|of (?:them|those|these|the two)))? (?:is|was|looks|seems"
    rf"|turns out to be)(?: \w+){{0,2}}? ?(?:{_UNTRUE}|off|a typo|a slip|a mistake|mistaken|an error|outdated"
    r"|invalid)\b"
)
_ANY_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
_ELLIPSIS = re.compile(
    r"(?:^|[,;:.!?–(\n-])\W{0,12}(?:(?:but|and|except|only|only that|well|no|actually|in fact|in truth|to be honest"
    r"|truth be told|or rather|although|though|then again|wait|sorry|which|hmm),? ){1,4}(?:i|it|that|they|he|she|this"
    r"|we) (?:actually |really |in fact )?(?:did|do|does|have|has|is|was|are|were|could|can|will|would) (?:not"
    r"|never)(?: really| actually| at all| yet| been"
    r"| (?:done|do) (?:so|that|it|any of (?:that|this)))?\s{0,4}(?=[.!?;\n]|$)"
)
_NOTHING_KNOWN = (
    r"(?:a |merely |just |only |wild |am ){0,6}(?:guess|guessing|maybe|perhaps|possibly|not sure|no idea|can not tell"
    r"|unsure|uncertain)(?:,? (?:but )?(?:maybe|perhaps))?:|or (?:its|the|the very) (?:opposite|contrary)"
)
_NOT_TRUE_THAT = (
    r"(?:it|this|that) (?:is|was|would be) (?:\w+ ){0,2}(?:not (?:\w+ ){0,2}(?:true|the case|correct|right|so|accurate)"
    r"|untrue|false|a lie|wrong|incorrect|nonsense|a myth|a mistake"
    r"|inaccurate)(?: to (?:say|claim|state|assert|think))?(?: that|:)"
    r"|(?:in no way|by no means) (?:is it true|is it the case) that|far be it from me to (?:say|claim)"
    r"|contrary to (?:what|the claim|popular belief)|the opposite of (?:the following|this|what follows)"
    r"|(?:i wish i could say|it would be (?:a lie|wrong|false|untrue|dishonest|lying) to (?:say|claim|tell))"
)
_NOT_SAID_THAT = (
    r"(?:i|we|nobody|no one|you|one) (?:\w+ ){0,2}?(?:can not|could not|must not|should not|would not|do not|will not"
    r"|never|not)(?: honestly| truthfully| possibly| in good conscience)? (?:say|claim|state|confirm|assert|pretend"
    r"|report|believe|think|swear)(?: for sure| with (?:any )?certainty)?(?: to you)?(?: that|:)"
    r"|(?:i|we) (?:would (?:love|have (?:loved|liked)|give (?:a lot|anything)|be lying|be guessing)"
    r"|wish (?:i|we) (?:could|were able)|could|might)(?: to)? (?:just |simply |easily |now |also )?(?:tell|say|claim"
    r"|report|announce|pretend|write|confirm|state|show)(?: to)?(?: you)?(?: that|:)"
    r"|(?:i|we) (?:\w+ )?(?:deny|doubt|dispute|reject the idea|refute)(?: that|:)"
    r"|(?:nobody|no one) (?:\w+ )?(?:says|said|claims|claimed|believes)(?: that|:)?"
)
_UNTRUE_NEXT = (
    r"(?:the |what |everything |all of )?(?:following|follows|comes next|next (?:sentence|statement|part|bit|lines?)"
    r"|below|i am about to say|rest of (?:this|my) message|i say (?:next|now))[^.:\n]{0,60}\b(?:not (?:\w+ )?(?:true"
    r"|real|correct|right)|untrue|false|a lie|lies|wrong|incorrect|made[- ]up|invented|fiction|fictional|nonsense"
    r"|a joke|fabricated|fake|bogus|imaginary)|(?:do not|never|please do not|you should not) (?:believe|trust|rely on"
    r"|listen)[^.:\n]{0,40}(?:following|next|below|anyone who says|people who say|:)"
)
_LABELLED = (
    r"i am (?:(?!not\b)\w+ )?(?:making (?:this|it|that|these) up|inventing this|guessing)(?: \w+)?:"
    r"|(?:an? |for )?(?:example|sample|template|mock)(?: \w+)?:|(?:not true|untrue|false|a lie|fiction|wrong|fake news"
    r"|lie|nonsense|myth|made up|joke|incorrect|invalid|negative|not)\s*:"
    r"|(?:if|(?<!i )suppose|(?<!i )imagine|let us pretend|hypothetically|in theory|pretend|in a perfect world"
    r"|in my dreams|in an alternate universe)[^.:\n]{0,50}:"
)
_FORWARD = re.compile(rf"\b(?:{_NOTHING_KNOWN}|{_NOT_TRUE_THAT}|{_NOT_SAID_THAT}|{_UNTRUE_NEXT}|{_LABELLED})")
_AHEAD = (
    r"(?:(?:the|what|everything|anything|all that|whatever|things?) (?:\w+ ){0,2}?(?:following|follows"
    r"|comes? (?:next|now|after|below)|is (?:to come|next|below)|stands below|i say (?:next|now)"
    r"|i (?:am about to|will|shall|now|next) (?:say|tell|write)\w*)"
    r"|the next (?:sentences?|lines?|statements?|parts?|words?|messages?|thing i say))"
)
_NOT_SO = (
    r"(?:\b(?:not|none|never|nothing|nobody|no one|hardly|cannot|no)\b[^.:\n]{0,60}\b(?:true|real|correct|accurate"
    r"|the case|happen\w*|believ\w+|trust\w*|rel(?:y|ied)|serious\w*)\b|\b(?:false|untrue|a lie|lies|invented"
    r"|fiction\w*|made[- ]up|fabricat\w+|wrong|fake|nonsense|bogus|a joke|imaginary|hallucinat\w+|incorrect|fantasy)\b)"
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
    r"\b(?:did i (?:really |actually )?(?:do|say|send|mean|check) (?:that|it|this|so|any of (?:it|that|this))"
    r"|(?:is|was|are|were) (?:(?:any|all|some|much|a word|one word) of )?(?:that|this|it|these|what i said)(?: really"
    r"| actually)? (?:true|real|so|right|correct)|(?:do )?you (?:really |actually )?(?:believe|trust|buy|bought"
    r"|fell for) (?:that|this|it|me))\s?\?\W+(?:well |oh )?(?:no|nope|not|never|of course not|hardly|certainly not"
    r"|absolutely not|you should not|do not|better not|i did not|it is not)\b"
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
