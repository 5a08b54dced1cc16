"""What one clause does: a table of forms, of which the first that fits decides.

Policy: forms are of grammar rather than of phrases ("shall I" + verb asks leave, whatever the verb). A question that
fits no form asks for information; a statement that fits none says nothing about acts.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache


class ClauseKind(StrEnum):
    """What a clause is."""

    ASK = "ask"
    OPEN = "open"
    LEAVE = "leave"
    OFFER = "offer"
    """A conditional "if you like, I can ..."; leave or offer, by what it is about."""
    CLOSER = "closer"
    PROMISE = "promise"
    GIVE_UP = "give up"
    DEED = "deed"
    FINDING = "finding"
    PARTING = "parting"
    """What is said when all is done: "my pleasure", "have a good trip"."""
    SMALL = "small"
    STATE = "state"
    ANSWER = "answer"
    """A statement that is what the user wanted to hear, by its wish."""
    INSTRUCTS = "instructs"
    """Tells the user what to do themselves, after it could not be done."""


_NOUNS = (
    r"(?:name|number|numbers|phone|contact|address|recipient|person|time|date|day|hour|city|town|place|location|"
    r"position|starting|"
    r"content|text|wording|message|details?|information|info|amount|currenc(?:y|ies)|country|spelling|surname|answer|answers|"
    r"input|"
    r"clarification|following|specifics|destination|title|subject|coordinates|label|relationship|password|user|id)"
)
_ACTION = (
    r"(?:send|text|message|turn|switch|enable|disable|set|add|create|save|store|remove|delete|erase|update|change|"
    r"move|convert|"
    r"calculate|schedule|search|look|check|activate|deactivate|proceed|continue|go|do|try|retry|use|put|start|make|"
    r"open|run|fetch|get|"
    r"call|book|order|cancel|confirm|apply|keep|leave|replace|rename|resend|shift|wipe|drop|clear|access|find|pull|"
    r"read|include|"
    r"forward|bin|scrap|trash|purge|nuke|push|kick|strike|toss|silence|kill|bring|lift|unblock|unlock|allow|end|stop|write|reply|notify|inform|tell|remind|buy|share|edit|modify|overwrite|register|note|mark|finalize|"
    r"finalise|complete|submit|execute|flip|publish|grant|approve|allow|launch|commit|cut|dispatch|release|disconnect|connect|deliver)"
)
_OK = r"(?:ok|okay|fine|right|correct|good|acceptable|alright|all right|agreeable|agreed|accurate|cool|great|in order)"
_WH = r"(?:what|when|where|which|who|whom|whose|how|why)"
_GIVE = (
    r"(?:tell|give|provide|share|send|specify|clarify|say|describe|spell|supply|indicate|name|choose|select|pick|"
    r"enter|state|repeat|"
    r"rephrase|elaborate|explain|list|include|fill|narrow|point|furnish|designate|advise|mention|toss|drop|hand|"
    r"shoot|pass|identify|supply|confirm (?:which|what|when|where|who|how|whether it|if it)|remind me|let me know)"
)
_SURE = (
    r"(?:permission|approval|consent|confirmation|go ahead|ok|okay|blessing|authori[sz]ation|green light|thumbs up|"
    r"nod|say[- ]so|agreement|sign-?off)"
)
_UNGIVEN = "(?<!gave )(?<!gave it )(?<!gave that )"
"""Before a word for leave, to keep out leave that was given already."""

_NOWHERE = "(?!)"
"""A pattern that is found in no text."""


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of clause with its patterns: those that begin a clause, those that begin at a word, and the others."""

    kind: ClauseKind
    first: re.Pattern[str]
    at_words: re.Pattern[str]
    others: re.Pattern[str]
    asks: bool | None

    def fits(self, clause: str) -> bool:
        """Whether one of the patterns is found in a clause."""
        return bool(self.first.match(clause) or self.at_words.search(clause) or self.others.search(clause))


def _form(kind: ClauseKind, *patterns: str, asks: bool | None = None) -> Form:
    """A form of some patterns; what many of them begin with is looked for once, which halves the time."""
    ways = [way for pattern in patterns for way in alternatives(pattern)]
    starting = [way.removeprefix("^") for way in ways if way.startswith("^")]
    at_words = [way.removeprefix(r"\b") for way in ways if way.startswith(r"\b")]
    others = [f"(?:{way})" for way in ways if not way.startswith(("^", r"\b"))]
    return Form(
        kind,
        re.compile("|".join(starting) or _NOWHERE),
        re.compile(rf"\b(?:{'|'.join(at_words)})" if at_words else _NOWHERE),
        re.compile("|".join(others) or _NOWHERE),
        asks,
    )


def alternatives(pattern: str) -> list[str]:
    """The parts of a pattern between the bars that stand in no brackets."""
    found, start, depth, in_set, at = list[str](), 0, 0, False, 0
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            at += 1
        elif in_set:
            in_set = sign != "]"
        elif sign == "[":
            in_set = True
        elif sign in "()":
            depth += 1 if sign == "(" else -1
        elif sign == "|" and not depth:
            found.append(pattern[start:at])
            start = at + 1
        at += 1
    return [*found, pattern[start:]]


FORMS: tuple[Form, ...] = (
    _form(
        ClauseKind.GIVE_UP,
        r"^(?:(?:and|but|so|yet|sadly) )?(?:nothing|nobody|no one|none|neither|no (?!problem|worries|need|doubt|rush|trouble)\w+)(?: (?!until|unless|before|once|if|but|except|and|so|that|i|you)\w+){0,6}? "
        r"(?:gives?|tells?|lets?|allows?|helps?|shows?|gets?|brings?|offers?|takes?) (?:me|us)\b",
        r"^which (?:\w+ly |always |just |simply ){0,2}(?:refuses?|blocks?|forbids?|prevents?|rejects?|denies|disallows?|rules? out|stops?|does not (?:let|allow|permit))\b",
        asks=False,
    ),
    _form(
        ClauseKind.SMALL,
        r"^(?:\w+ ){0,2}(?:thanks|thank you)(?: so much| very much)? for (?:reaching out|getting in touch|contacting (?:me|us)|"
        r"writing|asking|your (?:message|request|question))$",
        r"^(?:(?:oh|ah|wow|okay|hmm) )?(?:(?:that|this|it) is |what )?(?:an? )?(?:very |really )?(?:good|great|nice|"
        r"excellent|interesting|fair|tricky|tough) (?:one|question|request)$",
        r"^(?:(?:oh|ah|wow|ha|aw) )?(?:how (?:very |absolutely )?(?:nice|cool|great|sweet|sad|fun|cute|kind|funny|lucky|annoying|frustrating|lovely|awful|\w{3,12}(?:ing|ful|ous|ible))"
        r"(?: (?:for|of) \w+)?|what an? (?:\w+ ){0,2}\w+)$",
    ),
    _form(
        ClauseKind.PARTING,
        r"^(?:(?:and |so |then )?(?:it was (?:nothing|no (?:trouble|bother|problem|effort))(?: at all)?|(?:it (?:is|was) )?(?:a |my |our |always a |the )?pleasure(?: (?:is|was)(?: all)? mine)?|you are (?:\w+ )?welcome|any ?time|do not mention it|no (?:problem|worries|trouble)(?: at all)?)\b[ ,!]*)+$",
        r"\b(?:glad|happy|pleased|delighted) (?:that )?(?:i|we) (?:could|was able to|were able to|can) (?:help|assist|be of)\b(?!.{0,30}\b(?:with|but|once|if)\b)",
        r"\b(?:glad|happy|pleased|delighted) to (?:have (?:helped|assisted|been)|hear it|be of (?:help|service|use)|(?:help|assist)(?! you| with| by| out| once| if)$)",
        r"\b(?:enjoy|have (?:a|an) (?:\w+ )?(?:great|nice|good|lovely|wonderful|safe|pleasant|fun|relaxing|productive|restful)|safe (?:travels|trip|journey)|good luck|best of luck|take care(?! of)|until next time|see you (?:soon|then|around|next time))\b(?!.{0,40}\b(?:you prefer|or)\b)",
        r"^(?:good)?bye\b|^cheers$|^you are (?:very |most |always |so )?welcome\b(?! to\b)|^(?:always )?(?:a |my )?pleasure,? \w+$",
        r"^(?:please |do )?(?:drive|travel|ride|arrive|sleep|rest|get (?:there|home)|stay) (?:\w+ )?(?:safely|safe|well|dry|warm|tight|home|soon)$",
    ),
    _form(
        ClauseKind.OFFER,
        r"^(?:i|we) (?:can|could|would be (?:happy|glad|pleased) to|would happily)\b(?! "
        r"not\b)(?!.{0,40}\b(?:anything else|further|more help)\b).{0,160}\b(?:if|should) you\b(?! (?:could |can "
        r"|would )?(?:give|tell|provide|share|let|have|confirm|say|approve|know|send|specify|agree))",
        r"^(?:i|we) (?:can|could) (?:also|additionally|even|however|as well)\b",
        r"^(?:i|we) (?:can|could)\b(?! not\b).{0,120}\b(?:instead|alternatively|if (?:that|it|this) (?:would )?helps?|if that (?:is|would be) (?:useful|helpful|any help))$",
        r"^(?:perhaps|maybe|alternatively,?) i (?:can|could|might)\b(?! not\b)(?!.{0,40}\belse\b)",
        r"\bwould it (?:help|be (?:useful|helpful|of (?:any )?(?:use|help)|handy|good|nice|better)) (?:you )?if i\b",
        r"\binterest you in\b|\b(?:would|does|might|could|may) (?!it\b|that\b|this\b)[^?]{1,60} (?:interest you|be of (?:any )?interest)\b",
    ),
    _form(
        ClauseKind.PROMISE,
        r"\bgive me (?:just )?(?:(?:a|one|two|three|some|half a|another) )?(?:few |quick |little |brief |short ){0,8}(?:moments?|seconds?|secs?|minutes?|mins?|ticks?|bit|time|while)\b",
        r"\b(?:please )?(?:stay with me|stay tuned|hang in there)\b|\bi (?:would|will) be (?:glad|happy|pleased|delighted) to (?:take care of|handle|see to|do|sort) (?:this|that|it)\b",
        r"\b(?:thanks?|patience|hold|wait|bear|patient|standby|stand by)\b.{0,40}\bwhile (?:i|we)\b",
    ),
    _form(ClauseKind.OFFER, r"^(?:want to (?!proceed\b|continue\b|go\b|know\b|confirm\b|send\b|cancel\b|keep\b|do (?:this|that|it)\b|see (?:it|them) first)|fancy|care for|interested in|curious (?:about|for|what|how)|up for|feel like)\b", asks=True),
    _form(
        ClauseKind.PROMISE,
        r"^not (?:quite |all )?(?:there|done|ready|finished) yet$|^being \w{3,12}(?:ed|t|n)$",
        r"(?<!as )(?<!what )\b(?:follows|is to follow)$",
    ),
    _form(
        ClauseKind.GIVE_UP,
        r"^(?:aborting|giving up|stopping here|terminating)$",
        r"\bi do not know what (?:else|more) (?:to|i)\b|\b(?:out of|no more) ideas\b",
    ),
    _form(
        ClauseKind.SMALL,
        r"^(?:oh|ah|aw+|uh|ooh|oops)[ ,]+(?:no|dear|my|boy|wow|man)\b",
        r"^i (?:do |really |sincerely )?hope (?:it is|that is|everything|nothing|all|you (?:are|get|make|feel|arrive))\b",
    ),
    _form(
        ClauseKind.ASK,
        r"\b(?:what|all|the (?:one |only )?\w+)(?: that)? (?:i|we) (?:still |yet )?(?:do not (?:yet |quite )?(?:have|know)|have not(?: got)?|am (?:missing|lacking)|lack|miss|need|could use)(?: yet| still| now| from you)? (?:is|are|would be)\b",
    ),
    _form(
        ClauseKind.ASK,
        rf"^(?:and |so |but |sorry )*(?:is|are|was|do|does|have|has) (?!(?:it|that|this) (?:be )?{_OK}\b)[^?]{{1,60}}? (?:in|on|among|under) (?:your|the) (?:\w+ )?(?:contacts?|phone ?book|address book)(?: list)?$",
        asks=True,
    ),
    _form(
        ClauseKind.LEAVE,
        r"^(?:(?:and|so) )?(?:is|was) (?:this|that|it|he|she)(?: really| truly| indeed| still| actually)* (?:what|how|who|whom|where) you (?:want|mean|meant|wanted|wish|had in mind|would like)\b",
        r"\b(?:tell|give|send|text) me (?:a |the |just )?(?:go|yes|okay|y|proceed|do it|qquote)\b",
        r"\b(?:when|once|if|until|unless|as soon as|the moment) you (?:tell|told|have told) me (?:to|so)\b",
        r"\b(?:do|would|did) you (?:\w+ )?(?:want|wish|like|prefer|have) (?:it|this|that|him|her|them|(?:the |your )?(?!me\b|us\b|to\b|that\b)\w+)(?: \w+)? (?:\w{3,12}ed|sent|set|done|gone|off|on|put|cut|erased|out|up|down|back|running|active)(?: now| then| right away| for good)?$",
        r"\b(?:requires?|needs?) (?:your |user |explicit |a )?(?:confirmation|approval|permission|consent|authori[sz]ation)\b|\bawaiting (?:the )?user$|\brequesting (?:your )?(?:access|permission|approval|confirmation|consent)\b",
        r"^(?:do you )?want (?:it|this|that|him|her|them) (?:\w{3,12}(?:ed|en)|cut|off|on|out|gone|done|sent|set|put|saved)$",
        r"^(?:and |so )?(?:he|she|it|that|this|they) (?:is|are) (?:the one|who|what|whom) you (?:want|mean|meant|wanted)\b",
        r"\blet me know (?:whether|if)$|^(?:so )?i have (?:understood|got) (?:you|that|it|this|everything) (?:right|correctly)$",
        rf"\b(?:need|want|require|like|await) (?:just |only )?(?:a|an|your|one|the) (?:\w+ )?{_SURE}\b(?! (?:code|number|e?mail|message|id|letter|page)\b)",
        r"^(?:i )?(?:just |only |simply )?(?:give|await|waiting for|wait for) (?:me )?(?:a|the|your) (?:signal|sign|cue)\b",
    ),
    # closers: more help in general
    _form(
        ClauseKind.CLOSER,
        r"\b(?<!as )(?<!under )(?<!like )(?<!called )(?<!by )(?<!try )(?<!trying )(?:any|some)thing (?:else|more|further)\b(?!.{0,40}\b(?:know before|missing|i should know|you can "
        r"tell|need to know|for the|be in|be on|to (?:add|include|put|mention|say))\b)",
        r"^(?:so |and |now )?what (?:is|comes) next$|^what more\b|^any (?:further|more|other) \w+$|^something else(?: \w+){0,4}$|^more to do$",
        r"\b(?:what|how) else (?:can|may|could|would|do|should|shall)\b(?!.{0,30}\b(?:know|need from)\b)",
        r"\b(?:further|more|other|additional|another) (?:help|assistance|questions?|requests?|needs?|tasks?|"
        r"adjustments|changes)\b(?! (?:from|to))",
        r"\b(?:feel free|do not hesitate|at your service|at your disposal|here (?:if|whenever|when|for you)|"
        r"always here|"
        r"(?:i am )?(?:around|available) if)\b(?!.{0,40}\b(?:to (?:tell|give|send|share|provide|say|answer)|with "
        r"the)\b)",
        r"^(?:if|should|whenever|in case) (?:you|there is|there are|anything|something)(?: \w+){0,4} (?:need|"
        r"want to (?:change|adjust|edit|update|add|remove|undo|know)|change|changes|"
        r"adjust(?:ed|ments?)?|tweak(?:s|ed)?|questions?|come[s]? up|differently|off|wrong|assistance|help)\b",
        r"\b(?:let me know|just (?:ask|tell me|say|shout|ping me|holler)|shout|reach out|message me|ping me) "
        r"(?:if|whenever|when|should|in case) (?:you|there|anything|something|it|that)\b"
        r"(?!.{0,30}\b(?:should|proceed|go ahead|correct|okay|fine|right|looks?|sounds?|works?|me to|agree|"
        r"approve|happy|good|acceptable|like (?:me )?to (?!change|adjust|edit|know|do any|make any|add any)\w+)\b)",
        r"\b(?:standing by|ready|waiting|available) for (?:further|more|new|other|your next|additional) (?:orders?|instructions?|commands?|requests?|tasks?)\b",
        r"^(?:so |and |then )?(?:is|was|will) (?:that|this|it) (?:be )?(?:all|everything)\b(?! (?:right|okay|fine|correct|good|as|set|in order)\b)",
        r"\bhappy to (?:help|assist)(?! you)(?!.{0,30}\b(?:once|if|with|by|but|though)\b)\b",
    ),
    # open questions: what is wanted at all
    _form(
        ClauseKind.OPEN,
        r"\b(?:what|how) (?:can|may|could|do|would|should|shall) (?:i|we) (?:do|help|assist|be of)\b",
        r"\b(?:i am|this is|you are talking to|meet) (?:your|an?|the) (?:\w+ ){0,4}(?:assistant|agent|bot|helper|concierge)\b",
        r"\blet me know (?:how i can|what i can|how i may|what specific|what) (?:\w+ ){0,3}(?:help|assist|assistance|do|support|be of)\b(?!.{0,20}\b(?:else|further)\b)",
        r"\bwhat (?:would|do|did) you (?:like|want|need|wish|mean)(?: me)?(?: to do| done| from me| help with| "
        r"by that)?(?: for you| today| now| exactly| next| instead| first){0,8}$",
        r"\bwhat (?:is it|exactly) (?:that )?you (?:want|need|would like|are after)(?: \w+){0,4}$",
        r"\b(?:instruction|request|input) not understood\b|\bwhat(?:cha| do you) need$",
        r"\b(?:rephrase|say that again|repeat (?:that|your request|what)|did not (?:quite )?(?:understand|catch|"
        r"follow|get that)|do not (?:quite )?(?:understand|follow)|"
        r"what you (?:want|need|would like|are (?:looking for|after|asking|trying to))(?: me)?(?: to do| done| "
        r"exactly| help with){0,8}$)",
        r"\bhow (?:can|may) i (?:help|assist|serve)\b|\bwhat brings you\b|\bwhat (?:are you looking for|is on "
        r"your mind|can i do)\b",
    ),
    # leave: confirmations asked for in so many words
    _form(
        ClauseKind.ASK,
        rf"\b(?:may|can|could|might|should) i (?:please |just |also |quickly |first ){{0,8}}(?:ask(?! you to confirm)|"
        rf"know|have (?!your {_SURE}|an? (?:\w+ )?(?:look|peek|glance|go|try)\b)|get (?:the|your|a|his|her|some|more))\b",
        r"\bwould you mind (?!(?:confirming|approving|acknowledging|allowing|permitting|authori[sz]ing|agreeing|okaying|me|my|waiting|holding|giving (?:me )?(?:your|the|a) "
        rf"{_SURE}|letting me (?!know))\b(?! (?:which|what|who|when|where|how)\b))\w+ing\b",
        r"\b(?:could|can|may|might) (?:i|one) (?:please )?(?:trouble you for|bother you for|enquire|inquire|double-check which)\b",
        rf"\b(?:trouble|bother|ask|invite|beg|get|need|urge|request|like|want|implore) you (?:to )?(?:please |kindly |just )?{_GIVE}\b"
        rf"(?!.{{0,40}}\b(?:{_SURE}|if that is {_OK}|if i should|to (?:proceed|confirm|approve))\b)",
        r"^(?:please |just |simply )*(?:reply|respond|answer|type|enter|send|write|text|say)(?: back| me)?(?: with| by)? "
        r"(?:just )?(?:the |a |its |his |her |your |either |one of )?(?:\d{1,2}\b(?![.:,]?\d)|numbers?\b|digits?\b|letters?\b|options?\b|choices?\b|rows?\b|lines?\b|entry\b|items?\b|one (?:that )?you\b|names?\b|first\b|second\b|[abc]\b)",
        rf"\b(?:could|can|would|will) you (?:please |kindly |just |also |perhaps |maybe |possibly |quickly "
        rf"){{0,8}}{_GIVE}\b(?!.{{0,30}}\b(?:{_SURE}|if that is {_OK}|if i should)\b)",
        rf"\b(?:please|kindly|just|do|first|simply) (?:also |just |kindly ){{0,8}}{_GIVE}\b(?! (?:yes|ok|okay|go|so|"
        rf"when|confirm|the word|me (?:know|the (?:word|{_SURE})|your {_SURE}|a (?:{_SURE}|thumbs)|(?:a|one|just|"
        rf"another|some) (?:\w+ )?(?:moment|second|sec|minute|time|min|tick)))\b)(?!.{{0,40}}\b(?:if (?:that|"
        rf"this|it|everything|all)|i should|i may|{_SURE}|to (?:proceed|confirm|accept|approve)|(?:if|whether) you (?:also )?(?:agree|approve|consent|accept|permit|"
        rf"allow|object|mind|want me|would like me|are (?:happy|okay|fine|comfortable|content|sure|certain|in favou?r)))\b)",
        rf"\blet me (?:just )?know (?:{_WH}|the|your|his|her|their|its|a|an|whether (?:it|he|she|you (?:mean|"
        rf"meant)|this)|if (?:it is the|he|she|you (?:mean|meant)))\b",
        rf"\bconfirm (?:for me )?(?:{_WH}|the (?:correct|right|exact|spelling|recipient|last name|number you|"
        rf"date you|time you|(?:\w+ )?(?:reason|name|date|time|destination|city|address|amount|number|email)\b(?!.{{0,50}}\b(?:is|are|before|{_OK})\b))|your (?!{_SURE}))",
        rf"\b(?:{_WH}|how (?:many|much|long|far|soon)) (?:[\w']+ ){{0,6}}?(?:should|shall|would|do|can|could|may|"
        rf"must|did|will) (?:i|you|we)\b",
        rf"^(?:and |so |but |okay |now |then |also |great |sure |thanks |first |next |well |just |hmm |or |right "
        rf"){{0,8}}(?:(?:for|to|at|from|in|on|by|with|about|until|of) )?{_WH}(?: \w+){{0,3}}$",
        r"\b(?:tell|give|send|provide|share|get|supply|drop|toss|shoot|hand|throw|lend|slip) me (?:with )?(?:the|your|his|her|their|its|a|an|some|"
        r"more|one|that|those|these|what|which|when|who|where|how)\b",
    ),
    _form(
        ClauseKind.ASK,
        rf"^(?:and |so |but |okay |now |then |also |great |sure |thanks |first |next |well |just |hmm |or |right "
        rf"){{0,8}}(?:(?:for|to|at|from|in|on|by|with|about|until|of) )?{_WH}\b",
        asks=True,
    ),
    _form(
        ClauseKind.LEAVE,
        r"\b(?:shall|should|may|can|could|might|must|do) (?:i|we)\b(?! (?:ask|know|have(?! an? (?:\w+ )?(?:look|peek|glance|go|try)\b)|understand|interpret|"
        r"take it you mean|call you)\b)(?!.{0,120} or (?:the|to|at|your|his|her|a|with|on|in|for|from|another|"
        r"this|by|just|only|leave|keep|both|do you)\b)",
        r"^(?:so |and |then )?(?:do |will |would )?you (?:permit|allow|let|authori[sz]e|want|wish|agree) (?:me|us|that i)\b",
        r"\b(?:if|provided|assuming) you (?:also |too )?(?:think|feel|see|say|reckon|believe) (?:so|the same|it (?:too|the same|likewise)|likewise)\b|\bif you (?:concur|second (?:this|that)|are with me)\b",
        r"\b(?:shall|should|may|can) i(?: please)? have your (?:permission|approval|ok|okay|consent|go ahead)\b",
        r"\b(?:would|do|did) you (?:still |really |perhaps |rather |also |maybe |care for ){0,8}(?:like|want|prefer|wish|need|have) (?:me|us) to\b|^(?:so |then |or |still |really ){0,2}(?:want|like|"
        r"need|okay for|okay with you for|fine for|wish) me to\b",
        r"\b(?:would|do) you (?:still |really )?(?:like|want|wish|care|intend) to (?:carry|perform|execute|remove|delete|switch|turn|go through|proceed|continue|go ahead|confirm|go through|move "
        r"forward|approve|allow|send|keep|do (?:that|this|so))\b|^want to (?:proceed|continue|go ahead|send)\b",
        rf"\b(?:are you|if you are|whether you are|that you are) (?:{_OK}|sure|certain|happy|comfortable|"
        rf"ready)(?: (?:with|about|for|that|to|if|you))?\b|^you (?:{_OK}|sure|certain|happy)\b"
        r"|^(?:(?:and|so|then) )?you are (?:really |quite |absolutely |completely |100% |still )?(?:sure|certain|positive|okay with|fine with|happy with|comfortable with)\b",
        rf"\b(?!in order)(?:{_OK}|good|ready|set|clear) to (?:go|send|proceed|save|continue)\b",
        rf"\b{_UNGIVEN}(?:your|the|a|me a|me the|you give me|for|with|explicit|final|need) {_SURE}\b(?! (?:code|number|e?mail|message|id|letter|page)\b)",
        r"\b(?:do|would|if) you (?:do not |would not )?(?:mind|object|consent|agree|approve|authori[sz]e|allow|permit|give me leave|"
        r"confirm|say so)\b|\bany objections?\b|\bunless you (?:object|say|would rather|tell me not|prefer|stop|"
        r"have objections)\b",
        rf"\b(?:once|if|as soon as|when|after|until|unless) (?:you|i) (?:have |get |hear |receive ){{0,8}}(?:your "
        rf")?(?:confirm|confirmed|approve|approved|say (?:yes|so|the word|go|okay)|agree|{_SURE}|are happy|are "
        rf"(?:okay|fine)|give (?:me |it )?(?:the |your |a )?{_SURE}|nod|authori[sz]e)"
        r"|\b(?:once|if|as soon as|when|after|until|unless) (?:i|we) (?:have |get to |can )?(?:hear|heard)(?: back)? from you$",
        r"\b(?:a|your|one|the) (?:\w+ )?(?:yes|yea|nay)\b",
        r"^(?:(?:and|so|then|now) )*(?:can|may|could|shall|should|will) (?:it|he|she|they|this|that|the \w+|these|those) (?:now |then |already )?(?:go(?: (?:out|ahead|now|off))?|come off|leave|be (?:sent|saved|deleted|removed|stored|set|added|erased|turned|switched))$",
        r"\b(?:am i|are we|would i be) (?:allowed|permitted|free|clear|cleared|good|authori[sz]ed|welcome) to\b",
        rf"^(?:(?:and|so|then) )?you (?:would|will|do)(?: really| still| indeed| then| surely)? (?:be {_OK}|be comfortable|be happy|want|wish|realise|realize|agree|consent)\b(?! (?:to )?(?:get|be|hear|receive|see|find|need)\b)",
        r"\b(?:one|a|your) (?:\w+ )?(?:word|nod|signal|sign) (?:from|by|of) (?:you|yours|your side)\b|\byour (?:nod|word|say)\b(?! (?:in|on) (?:which|what))|\buntil you(?: have)? (?:speak|spoken|had your say|said so|decided|decide)\b|\bunless you (?:tell|say|want|let|allow|ask)\b"
        r"|\b(?:once|when|after|the moment|as soon as) you(?: have)? (?:said so|spoken|had your say|looked (?:it|this|that) over|seen it|read it|okayed|checked it)\b|\bbehind your back\b|\bnot (?:my place|for me) to\b.{0,40}\b(?:unasked|without|decide|choose)\b|\b(?:with|without|need|needs|take|takes|want|lack|on) your (?:explicit |prior )?(?:agreement|consent|blessing|nod|word)\b",
        r"\b(?<!to )(?:please |kindly |just |first ){0,8}(?<!\bto )(?:confirm|approve|acknowledge|authori[sz]e)\b(?!.{0,25}\b(?:which|"
        r"what|when|where|who|whom|how)\b)(?! (?:your|the (?:correct|right|exact|spelling))\b)",
        r"\b(?:reply|answer|type|say|write|respond|enter|press|hit|send)(?: back| me)?(?: with| by)?(?: a| an| "
        r"the| just| simply| either)? (?:yes|ok|okay|y|go|confirm|confirmed|qquote|word|yes/no|proceed|sure|"
        r"quick yes|send|start|delete|do it|continue)\b",
        r"\b(?:if|whether) you are (?:content|happy|okay|fine|satisfied|pleased)\b",
        r"\blet me know$|\b(?<!to )(?:just )?(?<!to )say (?:when|go|so|yes)$|\btell me to (?:go|proceed|send|continue|do)\b|"
        rf"\b{_UNGIVEN}(?:a|your) thumbs\b",
        r"\b(?:would|will|does) (?:it|that) (?:\w+ ){0,2}?(?:bother|trouble|annoy|upset|disturb|inconvenience|put) you\b|\bwould (?:it|that) be (?:rude|amiss|too much|a nuisance|an imposition|a bother|a problem|terribly wrong) (?:if|to)\b",
        rf"\b(?:i )?(?:await|request|need|require|seek) your (?:instructions?|orders?|{_SURE})\b|\b{_SURE} "
        rf"(?:\w+ ){{0,6}}(?:is|are) (?:hereby )?(?:required|requested|needed|pending|necessary|awaited)\b",
        rf"\bshould (?:that|this|it) be (?:{_OK})\b|\bif you will (?:let|allow|permit) (?:me|it|us)\b",
        r"\bprovided (?:that )?you\b|^should you (?:agree|approve|consent|confirm|wish me to|want me to)\b|\bif "
        r"i may\b|\bif you (?:allow|permit|let) (?:me|it)\b",
        r"\b(?<!to )(?:say|give me) (?:the word|so|yes|when|a shout|a yes)\b|\bthe word and\b|\bgive me (?:the |a |your "
        r")?(?:green|go|nod|thumbs)",
        r"\blet me know (?:if|whether|that|when) (?:i (?:should|may|can|could|ought)|(?:that|this|it|these|"
        r"those|they|everything|all|the \w+) (?:is|are|looks?|sounds?|works?|seems?)|you (?:want|would like|wish|"
        r"approve|agree|are (?:okay|happy|fine|good|ready))(?: me)?(?: to)?|to (?:proceed|go|send)|okay)",
        r"^(?:please )?(?:confirm|approve|proceed|okay to \w+)$",
        r"\bto confirm$|^to confirm (?:that )?you\b|\b(?:me|us|you) to confirm\b",
        r"\b(?<!not )(?<!unable to )(?<!not able to )(?:proceed|continue|go ahead|confirm)(?: \(?(?:y/n|yes/no|yes or no)\)?)?$",
        r"\b(?:yes/no|y/n|yes or no)\b",
        rf"\b(?:await|awaiting|waiting (?:for|on)|wait for|pending|hold(?:ing)? (?:off )?(?:until|for)) (?:your "
        rf")?(?:{_SURE}|word|call|signal|reply|decision|you to confirm|you confirm|you say)",
        r"\b(?:your|that is your) (?:call|decision|choice)\b|\bup to you\b",
        r"\b(?:want|wanted|like|prefer|wish|have|need|thought i would|going|rather)(?: just| first| quickly){0,8} (?:to )?(?:check|ask|confirm|verify|make sure|double-check|run (?:it|this|that) by)(?: this| that| it)?(?: with you| you| by you)?(?: first| before\b.{0,40}| since\b.{0,60}| because\b.{0,60}){0,8}$",
        r"\bif (?:that|this|it|everything|all|all of that|these|those|the \w+)(?: all)? (?:is|are|looks?|"
        r"sounds?|works?|seems?|suits?)\b(?! (?:an?|the|still|possible|needed|necessary|available|required|not)\b)",
        asks=None,
    ),
    _form(
        ClauseKind.LEAVE,
        rf"^(?:and |so |but |then )*(?:is|are|was|will|would|were) (?:it|that|this|you|the \w+|everyone) (?:be |also |really |quite |all )*(?:{_OK}|possible)(?: with you| for you| by you)? (?:if i|for me|that i|me \w+ing|with me|about me|for my)\b",
        r"^(?:and |so )?(?:is|are|was) (?!one\b|either\b|any\b|there\b)[^?]{1,60}? (?:the|your) (?:right|correct|same|intended|proper) \w+\b(?!.* or )",
        r"^(?:and |so )?(?:is|are|was) (?!one\b|either\b|any\b|there\b|it\b)(?:\w+ ){1,3}the (?:\w+ )?(?:one|person|place|contact|city|entry|man|woman|guy|number|reminder|message|flight|two)(?: \w+)? (?:you|i should|to)\b(?!.* or )",
        r"^(?:and |so )?(?:is|are) (?:that|this|it|he|she|they) (?:the one|him|her|them)$",
        rf"^(?:and |so )?(?:is|are) (?!there\b)[^?]{{1,50}}? (?:(?:spelled|spelt|written|entered|typed|put) )?(?:correctly|{_OK})(?: (?:spelled|spelt|written|like (?:this|that)))?$",
        rf"\b(?:is|are|does|do|would|will|sounds?|looks?|seems?|all|that|everything)(?: (?:that|this|it|"
        rf"everything|all|these|those|the \w+|you|both|of that|of this)){{0,8}}(?: (?:sound|look|seem|all|work|be|"
        rf"still|okay)){{0,8}}(?: {_OK})(?: (?:with|for|by|to) (?:you|me|go|send|proceed))?(?: so far| as is| then)?$",
        rf"^(?:{_OK}|proceed|continue|go ahead|confirm|ready|agreed|deal|yes|no|y|sure|really|right|then)$",
        rf"^(?:so |okay |then |and |now |well |just |really |still |shall i |go ahead and |to ){{0,8}}{_ACTION}\b(?! "
        rf"(?:you|he|she|they|i|we|to|of|which|what)\b)(?!.{{0,120}} or (?:the|to|at|your|his|her|a|with|on|in|"
        rf"for|from|another|this|by|just|only|leave|keep|both|do you)\b)",
        r"^(?:commit|execute|apply|accept|agreed|run it|do it)$|\bhave i (?:understood|got|captured)\b|\bare you (?:quite |really |absolutely |very |fully )?(?:sure|certain)\b",
        r"^do you (?:really |still )?want (?:this|that|it)$|\b(?:do|would) you (?:want|wish|like|agree) that (?:i|we)\b|^you want that (?:i|we)\b",
        r"^(?:so )?(?:shall|should) (?!i\b|we\b)(?:\w+ ){1,5}?be \w+(?:ed|en|n|t|ck|ff|out)\b",
        r"^(?:so )?(?:am i to|do i|have i|did i) (?:correctly |rightly )?(?:understand|take it|gather|assume|read)\w*\b",
        r"\b(?:happy|content|pleased|satisfied) (?:with (?:it|that|this)|for me to)\b|^(?:happy|will that do|does that work|how does that (?:sound|look)|sound good|looks? good|that work)\b",
        r"\b(?:want|need|wish) (?:me|us) to$|^(?:mind|cool|okay|fine|alright|good|correct|right) (?:if|with|by|for|to|like (?:that|this|so)|as (?:is|it is|written|that)|(?:this|that) way$|so$|now$|then$)\b|^you "
        r"(?:agree|sure|okay|confirm)\b",
        rf"[,;] (?:{_OK}|yes|yeah|you agree|sure|is (?:it )?{_OK}|you (?:are )?sure|y/n)$",
        r"\b(?:go ahead|proceed|continue)\b(?!.{0,30}\bwhich\b)",
        r"^(?!(?:does|do you have|has|have you|is there|are there|did|do they) )(?:.*? )??\b(?:i|we) (?:will|would|am going to|should|can|could|may)\b(?! know)(?!.{0,120} or (?:the|to|at|your|his|her|a|"
        r"with|on|in|for|from|another|this|by|just|only|leave|keep|both|do you)\b).{0,80}$",
        r"^(?:so |okay |and |then |just to be clear ){0,8}you (?:would like|want|wish|need)\b(?! to know)(?!.{0,120} or ).{0,80}$",
        r"^(?:so |okay |and ){0,8}(?:is it|was it|it is|that is|you want|you would like|to be clear|just to be sure|"
        r"just to confirm|just checking)\b.{0,120}\b(?:to|that you want)\b(?!.{0,120} or )",
        asks=True,
    ),
    _form(
        ClauseKind.OFFER,
        r"\b(?:if|should|whenever|in case) you(?: would|'d)? (?:like|want|prefer|wish|need|feel like|fancy|are "
        r"interested|care|so (?:wish|desire))\b",
        r"\bif (?:needed|desired|helpful|useful|preferred|you would)\b",
        r"\b(?:i (?:can|could|would be (?:happy|glad)|am (?:happy|glad))|happy|glad) (?:to |also "
        r"){0,8}(?!not\b)(?:\w+ ){0,10}?(?:if|should) (?:you|that|it)\b",
    ),
    # questions that are left
    _form(ClauseKind.ASK, r".", asks=True),
    _form(
        ClauseKind.GIVE_UP,
        r"\b(?:falls?|fell|lies|lay|sits?|is|are|goes|reaches) (?:\w+ ){0,2}?(?:outside|beyond|above)(?: of)? (?:what|my|our|the (?:scope|reach|limits|bounds|remit)|anything)\b",
        r"\b(?:service|server|system|tool|app|network|api|function|feature|database)s? (?:is|are|seems?|appears?)(?: to be)?(?: \w+)? (?:down|broken|offline|out of order|out of service|unreachable)\b",
        r"^(?:(?:so|and) )?(?:i )?(?:will|must|have to|am going to) (?:now |therefore )?(?:leave (?:it|this) (?:at|there|here)|stop (?:here|there|trying)|give up)\b",
        r"\bi (?:am|will be|have to|must|will|would rather) (?:now |just |therefore )?(?:stop|stopping|leave it|leaving it|end|ending|call it quits|calling it quits|throw in the towel|throwing in the towel)"
        r"(?: (?:it|this|things))?(?: (?:right )?(?:here|there|at (?:this|that) point|at that|now))?$|\bthat is (?:as far as i|all i (?:could|can) (?:do|try|offer))\b|\bi have (?:run out of|exhausted)\b|\bi am (?:giving (?:this|that|it)(?: \w+)? up|giving up|closing (?:the|this) (?:matter|case)|calling it a day|done trying|ending (?:my|the|this|these)|out of (?:options|ideas|ways))\b|\bthat is where (?:this|it) (?:ends|stops)\b|\b(?:this|that) is where i (?:\w+ ){0,3}?(?:stop|leave it|end|give up)\b|\bnothing else (?:left )?to try\b",
    ),
    # promises, before inability: "let me try", "one moment"
    _form(
        ClauseKind.ASK,
        rf"\b(?:i|we|it)(?: will| would| do| am|'d| only| just| still| also| first| really| might| may| then){{0,8}} "
        rf"(?:need|require|lack|miss|am missing|am lacking|want|am after|could use|could do with)(?: to know| to "
        rf"have| know| to get| from you|(?! to (?!know|have|get|hear|be)\w+)(?: [\w']+){{0,3}} (?:{_NOUNS}))\b(?!.{{0,30}}\bso i (?:will|am)\b)",
        r"\b(?:i|we)(?: will| would| do| just| still| also| first| only){0,8} (?:need|require) (?:you to (?!approve|"
        r"confirm|agree|say yes)|(?:a (?:few|bit|little)|some|more|additional|further|one more|another|two|three|"
        r"the following) (?!moment|time|second|minute))",
        rf"\b(?:i|we) (?:am|are) (?:not (?:\w+ )?(?:sure|certain|clear)|unsure|unclear|uncertain|wondering)(?: "
        rf"about| on| of| as to)? (?:{_WH}|whether|if|the)\b",
        rf"\b(?:it is|that is|it was|that was) (?:not (?:\w+ )?(?:clear|certain|obvious)|unclear|ambiguous) "
        rf"(?:to me )?(?:{_WH}|whether|if)\b",
        r"\bif you (?:happen to |do |still ){0,8}have (?:it|that|one|them|his|her|their|the|a|an|any|\w+'s)\b(?!.{0,20}\b(?:questions?|concerns?|requests?|other|needs?|further|objections?)\b)",
        r"\b(?:would|will|might|could) (?:help|be (?:helpful|useful|handy|great|good|perfect|nice|enough)) "
        r"(?:me )?(?:to know|if (?:you|i)|to have|to get|for me)",
        rf"\b{_NOUNS} (?:would|will|might) (?:help|suffice|do|settle it|decide it|clear (?:it|this|that) up|solve (?:it|this|that)|be (?:helpful|useful|handy|great|good|needed|required|"
        rf"necessary|enough|lovely))\b",
        rf"\b(?:if|once|unless|until|as soon as|when|after) (?:you|i)(?: could| can| would| have| will)?(?: "
        rf"please| kindly| just)? (?:tell|give|given|provide|provided|share|shared|send|sent|let|narrow|pick|point|describe|identify|spell|specify|"
        rf"specified|supply|have|get|got|know|hear|clarify)\b(?!.{{0,30}}\b(?:concerns?|issues?|doubts?|objections?|trouble|problems?|questions?)\b)(?! (?:me )?(?:your |the |a "
        rf")?{_SURE})(?!.{{0,25}}\b(?:any (?:questions|other|further)|(?:he|she|they) (?:repl|answ)))",
        rf"\b{_NOUNS}(?: \w+){{0,3}} (?:is|are|was) (?:missing|needed|required|unknown|unclear|still open|not "
        rf"(?:given|specified|provided|clear|stated|mentioned))\b|\bmissing (?:is|are)?\b.{{0,30}}\b{_NOUNS}\b",
        r"\byou (?:did not|have not|had not|forgot to|still have to|need to|must|will have to) (?:yet )?(?:say|"
        r"said|mention|mentioned|tell|told|specify|specified|give|given|provide|provided|include|choose|decide|name)\b",
        rf"\bi (?:do not|still do not) (?:yet )?(?:know|have) (?:{_WH}|whether|(?:the|his|her|their|your|a|an|"
        rf"enough)(?: \w+){{0,3}} (?:{_NOUNS}))\b(?!.{{0,50}}\b(?:let me|i will|so i)\b)",
        rf"^(?:please |kindly |just |then |and |or |also ){{0,8}}{_GIVE} (?:me )?(?:the|your|his|her|their|its|a|an|"
        rf"one|which|what|when|who|where|how|me|more|both|between|from|to me)\b",
        r"\b(?:awaiting|waiting for|pending) (?:your )?(?:answer|input|details|information|reply|response)\b",
        r"\bi (?:have|had) (?:a|one|two|three|some|a few|a couple)(?: \w+){0,3} (?:questions?|things? (?:i "
        r"need|to (?:ask|clear|clarify|know|pin)))",
        rf"^(?:(?:and|now|next|then|just|only|but|the|his|her|your|a|exact|full|last|first|phone|my|recipient's|recipient) ){{0,8}}{_NOUNS}(?: (?:and|"
        rf"or|\+) (?:\w+ ){{0,2}}{_NOUNS})?(?:,? (?:please|missing|needed|required|unknown))?$",
        rf"^(?:\w+ ){{0,4}}{_NOUNS},? (?:no\.? )?please\b|^(?:just |only |still |also ){0,3}need(?:s|ed)? (?:the |a |his |her |your )?(?:\w+ "
        rf"){{0,2}}{_NOUNS}\b|^phone no\b",
        rf"\b(?:lacks|lacking)\b.{{0,40}}\b{_NOUNS}\b|\b(?:has|have) not (?:yet )?been (?:specified|stated|given|"
        rf"provided|mentioned)\b|\b(?:does|do) not (?:state|say|specify|mention)\b.{{0,40}}\b{_NOUNS}\b",
        r"\b(?:grateful|appreciate|great|helpful|kind|nice) if you could\b|\b(?:is|are) still (?:needed|"
        r"required|missing)\b|\bif i knew\b|\bknow (?:who|what|where|which|when) \w+ is\b",
        rf"\bi can not (?:quite )?(?:tell|see|say|work out)(?: from here| yet)?(?: is)? {_WH}\b|\bthe (?:moment|minute|second) i (?:have|know|get)\b",
        rf"\b(?:am|is|are) (?:just |still |only )?missing (?:\w+ )?[\w']+ (?:{_NOUNS})\b",
        r"^(?:and |so |but |then )?(?:i|we) (?:still |only |just |also |will |would |now ){0,4}(?:need|require)$",
        rf"\b(?:stuck|at a loss|torn|in doubt|in the dark|puzzled|undecided)\b.{{0,30}}?\b(?:{_WH}|about|between)\b",
        rf"\b(?:i|we) (?:\w+ ){{0,3}}(?:have|need|want|like|ought|got) (?:first )?to (?:first )?(?:know|learn|find out from you|hear)\b(?! (?:your|the) {_SURE})",
        r"^(?:please )?(?:specify|restate|clarify|elaborate|select one|choose one|advise|please explain)$|^(?:please )?specify \w+|\b(?:should|would) be (?:\w+ )?(?:grateful|obliged|indebted|thankful|glad of) (?:for|of)\b",
        rf"\b(?:{_WH})(?: one| of them| of these)?$|\bas in \w+ or \w+$|\bno telling {_WH}\b|\b(?:unresolved|ambiguous|incomplete|not specified|missing argument|required field)\b|\bcould use (?:a little|some|a bit of|your) help\b",
        r"\bpick (?:one|from)\b|\bone of (?:these|those|the following)\?$|\bhelp me (?:pick|choose|find out|"
        r"narrow|understand)\b",
    ),
    _form(
        ClauseKind.ASK,
        r"\b(?:all|what|the only thing|one thing|the rest)(?: that)?(?: i| is| still| now| remains| left| would)* (?:lack|miss|left|open|missing|need|remains?|remaining)(?: (?:open|now|is|for you|to know|to be|from you)){1,3}\b(?=.{0,60}\b(?:you|is the|is a|is his|is her|is your|is how|is where|is when|is what|is which|is who)\b)",
        r"\bonly you (?:know|can (?:say|tell))\b|\b(?:is|are) for you to (?:say|tell|name|choose|decide|pick)\b(?! if)|\b(?:it |that )?(?:now |still |just )?only takes? (?:the|a|your|his|her) (?:name|number|time|day|hour|city|town|place|date|address)\b",
        r"\bthe \w+ i (?:do not|still do not|have not)(?: have| got| yet)?$|\b(?:i would have|i will have) to (?:get|have|hear|learn) (?:it |that |this |those |them )?from you\b|\bdid not (?:quite )?(?:reach|get to|come through to) me\b",
    ),
    _form(
        ClauseKind.PROMISE,
        r"\b(?:am|is|are) (?:just |now )?about to (?!you\b)\w+|\b(?:is|are) (?:now )?(?:going|heading|coming) (?:off|out|away|through)\b",
        r"^(?:i am |we are )?(?:repeating|retrying|redoing|rerunning) (?:it|this|that|the)\b",
        r"^(?:the |your )?\w+(?: \w+)? (?:first|now),? (?:then |and )?(?:the |your )?\w+(?: \w+)? (?:second|next|after|afterwards|later|then)$",
        r"^(?:the |your |its |his |her )?(?:\w+ ){1,3}(?:follows|comes next|is next|next|is about to \w+|about to \w+)$|^(?:one|two|three|the (?:first|second)|that)(?: \w+){0,3},? (?:down|done),? (?:and )?(?:one|two|three|\w+) (?:more )?to go$|^on to (?:the|your|his|her) \w+",
        r"\b(?:almost|nearly|not quite|just about|practically|half ?way|all but|very close to) (?:there|done|ready|finished|completed?|through|over|set)\b",
        r"\b(?:one|two|three|four|a few|a couple of|several|some|\d) (?:more |last |final |further |remaining |other |quick |small |little ){1,3}"
        r"(?:steps?|checks?|calls?|look-?ups?|moves?|hops?|touch(?:es)?|things? (?:to do|to go|left))\b(?!.{0,40}\b(?:you|your)\b)",
        r"\b(?:steps?|calls?|parts?|things?|work|bits?) (?:left|to go|remain(?:s|ing)?)\b|\b(?:all|what|only thing) (?:that )?(?:remains|is left)\b"
        r"|\b(?:to follow|to come|yet to come|outstanding|queued|in the queue|underway)\b|\b(?:interim|partial|progress|preliminary|intermediate) (?:report|update|results?|status)\b"
        r"|^(?:(?!i\b|you\b|he\b|she\b|they\b|we\b|it\b|is\b|are\b|was\b|that\b|no\b|not\b|for\b|of\b|by\b|about\b|without\b)[\w']+ ){0,6}"
        r"(?:send|search|look|check|turn|switch|enabl|add|sav|delet|remov|sett|mov|calculat|convert|fetch|load|writ|text|creat|updat)ing$"
        r"|\bgetting (?:there|closer|close)\b|\b(?:good|some|making) (?:\w+ )?progress\b|^so far so good$|\bon (?:the )?track\b",
        rf"\b(?:now|next|then) (?:i|we) (?:only |just |quickly )?(?!ask|need|know|have){_ACTION}\b",
        r"\b(?:(?:now|still|next|then|only|first) (?:has|have|needs?)|(?:has|have|needs?) (?:now|still|only|next|first)|remains?|^(?:now|then|next|so|first) .{0,40}(?:has|have|needs?)) to be (?!confirmed|approved|"
        r"answered|given|told|decided|chosen|specified|provided|clarified)\w+(?:ed|en|t|ne)\b(?!.{0,30}\bby you\b)",
        r"^(?:(?:and|now|next|then) )*(?:on ?to|over to|off to) (?:the|your|yours|his|her|my|step|part|number|message)\b|^off i go\b|^first stop\b|\bleave (?:it|this|that) (?:with|to) me\b",
        r"\b(?:one|two|three|just a|give me (?:a|one|two|some|a few|half a)|a|another|a few) (?:quick )?"
        r"(?:moments?|seconds?|secs?|minutes?|min|ticks?|bit|jiffy|mo)\b(?! ago)|\b(?:hold on|hang on|hold tight|sit tight|bear with me|stand by|standby|please wait|wait "
        r"a)\b",
        r"^(?:(?!not\b|no\b|never\b|would\b|will\b|that\b|which\b|does\b|to\b|tools?\b)\w+ ){0,8}?(?:let me|allow me|let us|lemme)\b(?! know)(?! tell you| explain that)",
        r"^(?:i am |i will get |am )?(?:right )?on it\b(?! (?:so|now|yet))|\b(?:right away|right on it|will do|"
        r"consider it|coming (?:right )?up|in progress|under ?way|in a (?:moment|second|sec|jiffy)|shortly|"
        r"momentarily|leave it (?:to|with) me|"
        r"working on|getting (?:right )?(?:on|to|started)|here i go|here goes|next up|almost (?:there|done)|not "
        r"(?:quite )?done yet|still (?:working|running|looking|checking|trying)|step \w+|first things first|"
        r"first step|next step)\b",
        r"\b(?:i|we) (?:will|shall|am going to|are going to|am about to|would then|then will|plan to|intend to|"
        r"have to|need to|must|still have to|still need to|want to|should|'ll)"
        r"(?: now| then| just| first| also| quickly| only| next| go ahead and| start by| begin by| try to| "
        r"proceed to| get to){0,8} (?!not\b|be unable\b|be able\b|be happy\b|be glad\b|need\b|wait\b|let you know "
        r"if\b|(?:have to )?(?:pass|decline|give up|stop here|stop there|disappoint|admit|leave it (?:at|there|here))\b)",
        r"\b(?:i am|we are)(?: now| currently| just| still| already| also| going ahead and){0,8} (?!sorry|afraid|not|"
        r"unable|happy|glad|sure|missing|lacking|wondering|willing|interest)\w+ing\b(?! (?:this|that) is\b)",
        r"^(?:okay |sure |great |alright |right |got it |perfect |now |certainly |and |so |then |just |still |also ){0,8}"
        r"(?!nothing|anything|something|everything|morning|evening|during|missing|going to be|regarding|according|concerning|interesting|string|king|thing|being|having|"
        r"awaiting|pending|waiting for your|confirming|seeing)"
        r"[a-z]{2,12}ing\b(?!.{0,60}\b(?:not|beyond|impossible|unavailable|out of|is|are|was|gives|makes|yields|comes|failed|fails|did|does|went|turned out|no)\b)",
        r"\bwill (?:now |then |soon |shortly |be |presently ){0,8}(?:be )?(?:\w+ ){0,2}?(?:processed|created|sent|"
        r"dispatched|removed|deactivated|activated|determined|located|added|deleted|turned|switched|follow|go "
        r"out)\b(?!.{0,40}\b(?:once|if|when|as soon as|after) you\b)|\b(?:is|are) being \w+(?:ed|en|t|ade|one|"
        r"ent)\b|\bgoes out next\b",
        r"^(?:first |now |next ){0,8}i (?:now |first |then ){0,8}(?:search|check|look|call|use|send|get|turn|set|find|"
        r"add|make(?! (?:that|it|this)\b.{0,16}(?:\d|\bto be\b))|go|try)\b|^(?:moment|second|wait|searching|looking|checking|working)\b(?!.{0,60}\b(?:is|was|are) (?:something|not|beyond|what|one|out)\b)",
        r"^(?:then |now |next ){0,8}(?:will|going to|about to|gonna) (?:now |then |just )?(?!be\b|not\b|you\b|that\b|this\b|it\b)\w+|\bnow (?:to|for) the\b|^(?:now |so )?(?:it is )?time to\b|\bnow it is time\b|\bi will\b(?! (?:not|never|be unable|have to (?:pass|decline|give|stop|leave))\b)",
    ),
    _form(
        ClauseKind.GIVE_UP,
        r"\b(?:can|could) (?:not|only)\b(?!.{0,20}\b(?:wait|go wrong|be undone|be happier|agree more)\b)|\b(?:am|"
        r"are|is|was|were|be|been|being|remain) (?:\w+ )?(?:unable|not able|incapable|powerless)\b|\bunable to\b|"
        r"\bwill not be able\b|\bnot able to\b",
        r"\bnot (?:look|seem|appear|sound|prove)(?: to be)? (?:\w+ )?(?:possible|feasible|doable|workable|supported|available)\b|"
        r"\bnothing (?:\w+ ){0,3}?(?:with which|by which|that (?:can|could|would|lets?|allows?|sends?|does)|for (?:this|that))\b",
        r"\b(?:not|isn't|never) (?:\w+ )?(?:eligible|refundable|permissible|qualif\w+|modifiable|(?:typically |usually |normally )?(?:made|offered|granted)|possible|supported|available|accessible|allowed|permitted|feasible|"
        r"part of|among|within|something (?:i|that)|an option|in my|equipped|connected|set up|designed|capable|"
        r"authori[sz]ed)\b",
        r"\b(?:impossible|unsupported|unavailable|inaccessible|out of (?:my )?reach|out of (?:the )?question|"
        r"off[- ]limits|a dead end|non-?refundable|ineligible|c[ao]me up empty|c[ao]me away with nothing|drew a blank)\b",
        r"\b(?:there is|there are|there was|have|has|had|got|see|know of|with|exists?|provides?|offers?|find|"
        r"found) (?:\w+ )?(?:no|neither|nothing|not any|none)\b(?! (?:problem|issue|worries|need|trouble|"
        r"conflict|doubt|longer|other|more than|changes))",
        r"\bnot among\b|\bnot mine to\b|\bhas not got\b|\bhave not (?:got|been given)\b|\bwould not load\b|\bdoes not (?:include|offer|come)\b",
        r"^(?:sorry )?no$|^not (?:\w+ )?(?:found|possible|there)\b|\bnot (?:provided|given|there|known|exist|"
        r"found)\b|\bnone of\b|\bno \w+ (?:tool|data|available|is|was|could|can|of that|in (?:your|my|the))\b|"
        r"\bmore than i can\b|^no (?:\w+ ){0,3}(?:tool|data|rates?|available|access|location|luck|messaging)\b",
        r"\bno (?:tool|tools|function|functions|access|means|way|ability|capability|option|permission|results?|"
        r"such|contact|contacts|one|entry|reminder|reminders|match|matches|method|feature|api|command|route|luck|"
        r"dice)\b",
        r"\b(?:do|does|did) not (?:\w+ )?(?:have|let me|allow|support|exist|include|offer|provide|give me|work|"
        r"go through|succeed|permit|cover|come with|extend|find|see|show|contain|know how|reach|return|give)\b",
        r"\b(?:lack|lacks|lacking|without) (?:\w+ )?(?:the|a|any|access|an|that|your|such|permission|tools?|further)\b",
        r"\b(?:beyond|outside|exceeds?) (?:of )?(?:what|my|the|this|these|of)\b",
        r"\b(?:failed|fails|failing|keeps? (?:failing|being)|errored|rejected|refused|went wrong|error|timed out|"
        r"gave up|give up|stuck|have to (?:decline|pass)|must decline)\b",
        r"\b(?:you will|you would|you|you may|you might|you can)(?: \w+){0,2} (?:have|need|want) to (?:\w+ "
        r"){0,4}(?:yourself|manually|on your own|by hand|elsewhere|your carrier|someone else)\b|\byourself\b",
    ),
    _form(
        ClauseKind.FINDING,
        r"^\+?\(?\d[\d ().-]{5,}$",
        r"^(?:and |then |just |okay )*found (?:him|her|it|them|one|two|the|your|a)\b",
        r"^(?:there are |only |exactly )?(?:two|three|four|five|several|multiple|many|a few|both|\d{1,3}) (?:\w+ ){1,3}(?:are|were) (?:in|there|here|called|named|saved|stored|listed|on)\b",
    ),
    _form(
        ClauseKind.DEED,
        r"\b(?:on|off|enabled|disabled|active|inactive) ?(?:-+>|=+>|>|to) ?(?:on|off|enabled|disabled|active|inactive)$",
        r"^(?:and |then |also |just |now ){0,4}(?:sent|told|wrote|made|took|gave|texted) (?:the|a|an|him|her|them|your|this|that|it|off|out|\w+ (?:a|the|your|that))\b",
        r"\b(?:has|have|is|are|says|reads|lists|shows|knows?|comes?)\b.{0,60}(?<!from )\bnow$",
        r"^(?!who\b|nobody\b|what\b|if\b|it\b)(?:your )?\w+ knows$",
        r"^(?:and |then |also |just ){0,8}(?!need|found|wait|want|check|look|search|permitted|required|tried|based|"
        r"according|interested)\w{3,14}(?:ed|sent)(?: |$)|^(?:just |now |already ){0,8}(?:sent|told|set|put|done|gone|off|on|out)(?:,? (?:it|"
        r"to|for|him|her|now|them|and)\b|$)|\b(?:told|gone|deleted|removed|saved|added|informed|out|in the loop|"
        r"in the know)$",
        r"\bi (?:have |had )?(?:wrote|written|let|put|made|took|taken|told|sent|gave|given|got|left|did|done)\b|"
        r"\b(?:is|are) (?:now )?(?:in|on|off|out|gone|back|there|inactive|active|set|saved)\b(?! (?:the way|a "
        r"dead|my))",
        r"\b(?:message|text|note|reminder|contact|it) (?:has )?(?:reached|landed|arrived)\b",
        r"\b(?:succeeded|was successful|were successful)$",
        r"\byou will (?:be reminded|be notified|be alerted|find|hear from me|get a|receive a)\b",
        r"^(?:\w+ ){0,3}?(?:done|sent|finished|completed?|sorted|settled|delivered|saved|deleted|removed|"
        r"scheduled|fixed|all set|all good|all done|set|ready|success|successfully|voila|ta-?da|there you go|"
        r"here you go|here you are|that is it|that is that|mission accomplished|consider it done|good news|great "
        r"news)$",
        r"\b(?:i|we)(?: have| had)?(?: just| now| already| also| successfully| then| only| gone ahead and| went "
        r"ahead and| was able to| managed to| therefore| accordingly){0,8}"
        r" (?:sent|texted|messaged|set|added|created|saved|stored|scheduled|turned|switched|enabled|disabled|"
        r"activated|deactivated|removed|deleted|erased|updated|changed|moved|converted|notified|informed|told|"
        r"delivered|placed|put|made|taken|took|did|done|got|booked|cancelled|canceled|registered|recorded|noted|"
        r"marked|rescheduled|postponed|shifted|renamed|replaced|modified|corrected|passed|forwarded|wrote|"
        r"written|replied|asked|let|swapped|reset|arranged|dropped|pinned|wiped|cleared|listed|entered|completed|"
        r"finished|resent|reminded|managed|fixed|sorted|handled)\b",
        r"\b(?:i|we)(?: have| had)?(?: just| now| already| also| successfully| then){0,8} (?!need|want|check|look|"
        r"search|tri|notic|locat|identif|retriev|discover|seem|believ|assum|wonder|ask|fail|require|"
        r"attempt)\w{2,14}ed\b",
        r"\b(?:has|have|had|was|were|is|are)(?: now| just| already| also| been| successfully){0,8} (?!need|requir|"
        r"suppos|call|disabl|interest|limit|block|want|fail|reject|refus|ask|miss|schedul|nam|list)\w{2,14}ed\b",
        r"\b(?:has|have|had|was|were|is|are|been|being|got|gets)(?: now| just| already| also| all| both| been| "
        r"successfully| officially| safely){0,8}"
        r" (?:sent|texted|messaged|set|added|created|saved|stored|scheduled|turned|switched|enabled|disabled|"
        r"activated|deactivated|removed|deleted|erased|updated|changed|moved|notified|informed|told|delivered|"
        r"placed|put|taken care of|"
        r"done|in place|on its way|out|off|on|over|in|complete|completed|booked|cancelled|canceled|gone|"
        r"registered|recorded|noted|marked|listed|rescheduled|postponed|shifted|renamed|replaced|modified|"
        r"corrected|passed on|forwarded|reset|up to date|in your|up and running|sorted|settled|aware|good to go|"
        r"finished|handled|history|no longer)\b",
        r"\b(?:message|text|sms|reminder|contact|wifi|number|entry|everything|it|that|he|she|alarm|timer|"
        r"note)(?: \w+){0,6}? (?:sent|set|saved|deleted|removed|added|delivered|created|scheduled|updated|off|on|"
        r"went (?:out|through)|gone)$",
        r"\b(?:went (?:out|through)|knows (?:now|about it|that|already)|you are (?:all )?(?:set|done|good)|all "
        r"(?:set|done|sorted|good)|no longer|(?<!i )(?<!we )now (?:knows?|has|have|off|on|says?|reads?|gone|lists?|comes?)|you "
        r"will (?:be (?:reminded|notified|alerted)|get|receive|hear|have) |as (?:you )?(?:requested|asked|"
        r"instructed)|successfully)\b",
    ),
    _form(
        ClauseKind.FINDING,
        r"\b(?:i|we)(?: have| can| do| could)?(?: just| also| only| already){0,8} (?:found|find|see|located|"
        r"identified|spotted|noticed|looked|checked|searched|retrieved|discovered|got)\b",
        r"\b(?:there is|there are|there was|appears?|seems?|turns out|it looks like|according to|based on)\b",
    ),
    _form(
        ClauseKind.SMALL,
        r"^(?:\w+ ){0,2}(?:thanks|thank you|welcome|sorry)$",
        r"^(?>(?:of course|sure(?: thing)?|certainly|absolutely|gladly|okay|alright|all right|no problem|no "
        r"worries|got it|understood|i understand|i see|noted|perfect|great|thanks?(?: you)?(?: so much| very "
        r"much| a lot)?|"
        r"you are (?:very |most )?welcome|welcome|my pleasure|hello|hi|hey|good (?:morning|afternoon|evening|"
        r"day)|sorry|i am sorry|my apologies|apologies|i apologi[sz]e|yes|yep|no|nope|oh|ah|hmm|right|cheers|bye|"
        r"goodbye|excellent|wonderful|fantastic|awesome|interesting|happy to help|glad to help|there|again|so "
        r"much|for that|about that|for the confusion|at all)\b[ ,!]*)+$",
        r"\b(?:thanks|thank you|apologi[sz]e|apologies|appreciate(?:d)?|you are welcome|pleasure)\b",
    ),
)  # fmt: skip
"""The forms in order; the first that fits decides."""


@lru_cache(maxsize=8192)
def kind_of(clause: str, *, asks: bool) -> ClauseKind:
    """What a clause is; ``asks`` if its sentence ends in a question mark and it is the last clause."""
    return next((form.kind for form in FORMS if (asks or not form.asks) and form.fits(clause)), ClauseKind.STATE)
