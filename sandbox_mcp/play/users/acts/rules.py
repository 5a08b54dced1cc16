"""What a message does by rule: the kinds of its clauses, weighed against each other and against the wish."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sandbox_mcp.play.users.acts.clauses import ClauseKind, kind_of
from sandbox_mcp.play.users.acts.deeds import WORD, classes_in, is_extra, is_means, is_otherwise, tries_again
from sandbox_mcp.play.users.acts.kinds import Act, Wish
from sandbox_mcp.play.users.acts.plain import Sentence

_VALUE = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|forty|fifty|hundred|degrees|yes|"
    r"no|sunny|rainy|dry|qquote)\b"
)
_REMINDING = re.compile(
    r"\bi will (?:be sure to )?(?:remind|notify|alert|ping|nudge|wake|buzz) you\b|\bi will (?:let you know|tell you|give you a \w+|make a noise|ring|beep) (?:when|once|as soon as)\b|\bi will (?:ring|beep|buzz|chime|go off|sound)$|\byou will (?:be|get|hear|receive)\b"
)
_UNDONE = re.compile(
    r"\b(?:has|have|had|was|were|is|are|did|do|does|can|could|will|would) not\b|\bnever\b|\b(?:nothing|nobody|none|"
    r"no \w+) (?:has|have|was|is|were)\b"
    r"|^(?:just )?so (?:that )?i\b|\b(?:i|we) would (?!like|love|be)\w+"
    r"|^(?:once|if|when|until|before|unless|as soon as|after)\b|\bto be \w+ed\b"
    r"|\b(?:will|can|could|would|should|must|may|might)(?: \w+)? be (?:now |then )?(?!reminded|notified|alerted|late|"
    r"there)\w+(?:ed|t|en|n)\b"
)


@dataclass(frozen=True, slots=True)
class RuleReading:
    """What the rules make of a message: the act to answer to, all acts seen, and the sentences that ask."""

    act: Act
    acts: frozenset[Act]
    asking: tuple[str, ...]
    grants: bool
    kinds: tuple[ClauseKind, ...]
    chooses: bool = False
    """Whether a question leaves a choice between two, which no yes answers."""
    asks: bool = False
    """Whether one of the sentences is a question."""


def read_by_rules(found: list[Sentence], wish: Wish, calls: int | None) -> RuleReading:
    """The acts of a message's sentences; ``calls`` is how many have succeeded since the user spoke, if that is known."""
    acts: list[Act] = []
    asking: list[str] = []
    kinds: list[ClauseKind] = []
    grants = done = chooses = False
    before = ""
    for number, sentence in enumerate(found):
        if _answers_itself(sentence, found[number + 1 : number + 2]) or _leads_up(sentence, found[number + 1 :], wish):
            before = sentence.text
            continue
        matter = f"{before} {sentence.text}" if _DO_THAT.search(sentence.text) else sentence.text
        before = sentence.text
        for place, clause in enumerate(sentence.clauses, start=1):
            gave_up = Act.GIVES_UP in acts
            kind = _kind(sentence, place, kinds, wish, calls, gave_up=gave_up)
            answered = ClauseKind.ANSWER in kinds
            act = _act(kind, clause, sentence, matter, wish, done=done, answered=answered, gave_up=gave_up)
            if act is Act.LEAVE and acts[-1:] == [Act.OFFERS] and gave_up and _DO_THAT.search(sentence.text):
                act = Act.OFFERS
            done = (
                done
                or (kind is ClauseKind.DEED and not _DESCRIBES.search(clause))
                or (kind is ClauseKind.ANSWER and wish.told and bool(_VALUE.search(clause)))
            )
            kinds.append(kind)
            if act is None or (kind is ClauseKind.FINDING and Act.DELIVERS in acts):
                continue
            acts.append(act)
            if act in (Act.ASKS, Act.LEAVE):
                asking.append(sentence.text)
                chooses = chooses or (sentence.asks and bool(_EITHER.search(sentence.text)))
            grants = grants or (act is Act.LEAVE and sentence.asks and not _ABOUT_WORDS.search(clause))
    looks = bool(found) and bool(_LOOKS.search(found[-1].text))
    return RuleReading(
        _weighed(acts, looks=looks),
        frozenset(acts),
        tuple(dict.fromkeys(asking)),
        grants,
        tuple(kinds),
        chooses,
        any(sentence.asks for sentence in found),
    )


def _kind(
    sentence: Sentence, place: int, before: Sequence[ClauseKind], wish: Wish, calls: int | None, *, gave_up: bool
) -> ClauseKind:
    """What the clause at a place of its sentence is, behind clauses of the kinds ``before`` it in the message."""
    clause, last = sentence.clauses[place - 1], place == len(sentence.clauses)
    leaning = _leaning(sentence.clauses[:place], before, last=last, asks=sentence.asks)
    kind = leaning or kind_of(clause, asks=sentence.asks and last)
    kind = _refined(kind, clause, wish, calls, gave_up=gave_up)
    if wish.told and kind in _TO_THE_USER and _is_news(sentence, place):
        kind = ClauseKind.ANSWER
    if kind is ClauseKind.ASK and _CAN_NOT_TELL.search(sentence.text):
        kind = ClauseKind.GIVE_UP
    bare = kind in _SAYS_NOTHING and len(sentence.clauses) == 1 and _BARE_CHOICE.fullmatch(clause)
    leave = kind is ClauseKind.LEAVE and sentence.asks and last
    if bare or (leave and (_OF_THREE.search(sentence.text) or _WH_LAST.search(clause))):
        return ClauseKind.ASK
    if kind is ClauseKind.DEED and sentence.asks and not _FINITE.search(clause):
        return ClauseKind.STATE
    conditional = before[-1:] == [ClauseKind.INSTRUCTS] or _CONDITIONAL.search(sentence.text)
    return ClauseKind.STATE if kind is ClauseKind.PROMISE and conditional else kind


def _answers_itself(asked: Sentence, following: Sequence[Sentence]) -> bool:
    """Whether a question of a word or two only leads up to the word or two behind it, as in "Wifi? Gone."."""
    short = asked.asks and len(asked.text.split()) <= _BRIEF
    if short and following and not following[0].asks and not _WH_WORDS & set(WORD.findall(asked.text)):
        first = following[0].clauses[0]
        if kind_of(first, asks=False) is ClauseKind.GIVE_UP and not _TO_YOU.search(f"{asked.text} {first}"):
            return True
    return short and any(
        not item.asks and len(item.text.split()) <= _BRIEF and kind_of(item.text, asks=False) is ClauseKind.DEED
        for item in following
    )


_BRIEF = 3


def _leads_up(asked: Sentence, following: Sequence[Sentence], wish: Wish) -> bool:
    """Whether a question only leads up to what follows: it says the wish again, or asks what is answered at once."""
    if not asked.asks or not following or any(item.asks for item in following) or " or " in asked.text:
        return False
    kinds = [kind_of(clause, asks=False) for item in following for clause in item.clauses]
    if ClauseKind.ASK in kinds or ClauseKind.LEAVE in kinds:
        return False
    told = wish.told or any(kind in _COMES_TO_SOMETHING for kind in kinds)
    if _SEEKING.match(asked.text):
        return told
    if _REPLIES.match(following[0].text) and not _TO_YOU.search(asked.text):
        return True
    words = frozenset(WORD.findall(asked.text))
    rest = words - _FORM_WORDS
    return told and bool(rest) and rest <= wish.words and not (words & _WH_WORDS) - wish.words


_COMES_TO_SOMETHING = (ClauseKind.DEED, ClauseKind.ANSWER, ClauseKind.PROMISE)
_SEEKING = re.compile(
    r"(?:are you |still )?(?:looking for|waiting for|hoping for|searching for|wondering|worried|curious|asking)\b"
    r"|(?:need|want|wanted|wish)(?: to (?:know|hear|learn|see))? (?!me\b|us\b|another\b|it\b|one\b|any\b|that\b|this\b)\w+|you (?:asked|wanted|wished|were wondering|want to know)\b"
)
"""Questions that seek nothing for themselves: "Looking for your vet? She is saved."."""
_REPLIES = re.compile(
    r"(?:yes|yep|yeah|no|nope|indeed|it (?:is|was|did|does|has)|they (?:are|were|did|have)|he (?:is|was|did|has)|she (?:is|was|did|has))\b(?! (?:not )?(?:clear|possible|in your|there)\b)"
)
_TO_YOU = re.compile(r"\b(?:you|your|i|we|me)\b")
_FORM_WORDS = frozenset(
    "a an the is are was were it that this i you your my me to for of in on at so and be will do does did how what who much many far long really then please "
    "texting text sending send setting set removing remove adding add turning turn converting converted checking check s".split()
)
_WH_WORDS = frozenset("what when where which who whom whose how why".split())
_ABOUT_WORDS = re.compile(
    r"\b(?:should|shall) i (?:also |just )?(?:mention|include|phrase|word|address|sign|call (?:it|her|him|them)|spell|describe|write)\b"
)
"""Asks how to put it beside a question for something else: that is answered with what it knows, rather than with yes."""
_CAN_NOT_TELL = re.compile(
    r"\bcan not (?:quite )?(?:tell|see|say|work out|know|look (?:it|that|this|them) up|find (?:it|that|this|them) out)\b.{0,80}?\bso (?:i|there|that|it)\b.{0,60}?\b(?:not|no|unable)\b|"
    r"\bcan not (?:quite )?(?:tell|see|say|work out|know)\b.{0,160}?\b(?:because|since|as) (?:i|there|my|the)\b.{0,160}?\b(?:no|not|lack|without)\b"
)
"""Does not ask for what cannot be told, because it gives a reason of its own."""


def _leaning(clauses: Sequence[str], before: Sequence[ClauseKind], *, last: bool, asks: bool) -> ClauseKind | None:
    """What the last of some clauses is that means nothing by itself: a label, a bare "no", what is only announced.

    ``before`` are the kinds of all clauses before it, ``last`` tells that its sentence ends with it.
    """
    clause, place = clauses[-1], len(clauses)
    if (place > 1 and clause in ("no", "none", "yes")) or (
        not last and (_LABEL.match(clause) or (not asks and _BARE_WH.fullmatch(clause)))
    ):
        return ClauseKind.STATE
    if place > 1 and not asks and _RELATIVE.match(clause):
        return ClauseKind.STATE
    announced = place > 1 and not asks and before[-1:] == [ClauseKind.PROMISE] and _THEN_DOES.match(clause)
    if announced or (place > 1 and not asks and _ANNOUNCES.fullmatch(clauses[-2])):
        return ClauseKind.PROMISE
    if place > 1 and _LET_ME_KNOW.match(clause):
        return next((kind for kind in reversed(before[-min(2, place - 1) :]) if kind in _IFS), None)
    return None


def _is_news(sentence: Sentence, place: int) -> bool:
    """Whether a clause tells what others do, want or doubt, or is one of the things that its sentence lists."""
    clause, before = sentence.clauses[place - 1], sentence.clauses[: place - 1]
    if sentence.asks or _ASIDE.search(clause):
        return False
    if any(_LISTING.fullmatch(head) for head in before):
        return True
    return bool(_OTHERS.match(clause) or (_GOES_ON.match(clause) and any(_OTHERS.match(head) for head in before)))


_TO_THE_USER = (ClauseKind.ASK, ClauseKind.LEAVE, ClauseKind.OFFER, ClauseKind.GIVE_UP)
_ASIDE = re.compile(r"\b(?:i|me|my|we|us|which one|let me know)\b")
_LISTING = re.compile(
    r"(?!.*\b(?:options?|ways?|choices?|possibilit\w+|steps?|questions?|problems?|things? (?:i|you|to))\b)(?:(?:so|and|here|now) )?(?:you have|you (?:wrote|noted|planned|saved)|there (?:are|is)|(?:your|the|these|those)(?: \w+){1,4}?(?: (?:are|is|has|have|holds?|"
    r"says?|reads?|contains?))?|(?:it|he|she|they) (?:says?|reads?|lists?|has|have|holds?))(?: (?:\w+|these|as follows)){0,3}"
)
"""Leads up to what was noted by others, so that what stands behind its colon commands nothing."""
_SAYS = r"(?:writes?|wrote|says?|said|asks?|asked|wants?|wanted|wonders?|hopes?|thinks?|believes?|prefers?|would (?:like|prefer))"
_FEELS = (
    r"(?:needs?|(?:will|might|may) (?:like|need|be)|do(?:es)? not (?:know|say|see)|(?:is|are|was|were) (?:not )?(?:sure|certain|unsure|"
    r"uncertain|wondering|in doubt|torn|undecided|late|ready|waiting))"
)
_OTHERS = re.compile(
    rf"(?:and |but |so )?(?:(?:he|she|they) (?:also )?(?:{_SAYS}|{_FEELS})|(?:(?:your|the|his|her|their) )?\w+ (?:also )?{_SAYS})\b"
)
_GOES_ON = re.compile(
    r"(?:and |but )?(?:also |now |still )?(?:is|are|was|were|has|have|does|do|wants?|asks?|needs?|hopes?|will|would)\b"
)
"""A second predicate of the same subject, which without its subject looks like a question."""
_SAYS_NOTHING = (ClauseKind.STATE, ClauseKind.ANSWER, ClauseKind.FINDING)
_NO_VERB = r"(?!(?:is|are|was|were|has|have|had|i|we|he|she|it|they|either|neither|will|can|not|no|nothing|more|so|less|less|sent|set|done|today|tomorrow)\b)[\w'-]+"
_BARE_CHOICE = re.compile(rf"(?:{_NO_VERB} ){{0,4}}{_NO_VERB},? or (?:{_NO_VERB} ){{0,4}}{_NO_VERB}")
"""Two things with an "or" between them and no verb, which leaves the choice to whom it is said to."""
_OF_THREE = re.compile(rf", (?:{_NO_VERB} ){{0,2}}{_NO_VERB},? or (?:{_NO_VERB} ){{0,2}}{_NO_VERB}\W*$")
"""A list of three at the end, of which a yes chooses none."""
_WH_LAST = re.compile(
    r"\b(?:whom?|what|when|where|how (?:much|many|long|far|late)|(?:which|what|whose)(?: \w+)?)(?: (?:exactly|precisely|though|again|then|now))?$"
)
"""A question that keeps its question word for the end."""
_BARE_WH = re.compile(
    r"what|when|where|who|whom|how|which|(?:here is )?(?:what|how) (?:i|we) (?:have )?(?:did|do|done|found|changed)(?: it| so far)?"
)
_ANNOUNCES = re.compile(
    r"(?:next )?action|next(?: step)?|(?:executing|running|doing|attempting|starting|in progress|under way|pending)(?: now)?"
)
"""A label of what is about to be done."""
_THEN_DOES = re.compile(
    r"(?:and |then |next |finally |afterwards |after that ){1,3}(?:add|ask|check|create|delete|fetch|get|look|make|measure|read|remove|report|save|search|send|set|store|switch|"
    r"tell|text|turn|update|verify|write)\b"
)
"""Goes on with what was announced."""
_LABEL = re.compile(
    r"(?:\w+ ){0,2}(?:name|number|phone|contact|address|recipient|time|date|day|city|place|location|content|amount|currency|"
    r"destination|title|subject|label|relationship|origin|price|id)$"
)
_RELATIVE = re.compile(r"(?:which|who) (?:is|are|was|were|has|have|had|means|makes|gives|will|can|would|does|do)\b")
_LET_ME_KNOW = re.compile(
    r"(?:please |just |simply |do |feel free to )*(?:let me know|tell me|say so|reach out|shout)$"
)
_IFS = (ClauseKind.CLOSER, ClauseKind.OFFER, ClauseKind.LEAVE)


def _refined(kind: ClauseKind, clause: str, wish: Wish, calls: int | None, *, gave_up: bool) -> ClauseKind:
    """What a clause is in the light of the wish, of what has been called, and of what was said before it."""
    match kind:
        case ClauseKind.PROMISE if (
            _REMINDING.search(clause) and (wish.classes & {"reminder", "timer"} or not wish.classes) and calls != 0
        ) or ("timer" in wish.classes and _TICKING.fullmatch(clause)):
            return ClauseKind.DEED
        case ClauseKind.STATE if gave_up and _BY_YOURSELF.search(clause):
            return ClauseKind.INSTRUCTS
        case ClauseKind.DEED if _UNDONE.search(clause):
            return ClauseKind.STATE
        case ClauseKind.DEED if (
            is_means(clause, wish)
            or is_otherwise(clause, wish)
            or (_STANDS_SO.search(clause) and not (wish.told and _VALUE.search(clause)))
        ):
            return ClauseKind.FINDING
        case ClauseKind.FINDING if gave_up and _NOBODY.search(clause):
            return ClauseKind.GIVE_UP
        case ClauseKind.STATE if wish.told and (calls != 0 or _VALUE.search(clause)) and not is_means(clause, wish):
            return ClauseKind.ANSWER
        case ClauseKind.FINDING if wish.told and _VALUE.search(clause) and not is_means(clause, wish):
            return ClauseKind.ANSWER
        case ClauseKind.STATE if (
            calls != 0
            and not _UNDONE.search(clause)
            and len(clause) > _LONG
            and classes_in(clause) & (wish.classes - {"setting"})
        ):
            return ClauseKind.ANSWER
        case ClauseKind.STATE if calls != 0 and not wish.classes and _VALUE.search(clause):
            return ClauseKind.ANSWER
        case ClauseKind.ASK if gave_up and _KNOWS_NOT.search(clause):
            return ClauseKind.GIVE_UP
        case ClauseKind.ASK | ClauseKind.LEAVE | ClauseKind.OFFER | ClauseKind.PROMISE if (
            gave_up and _BY_YOURSELF.search(clause)
        ):
            return ClauseKind.INSTRUCTS
        case _:
            return kind


_STANDS_SO = re.compile(
    r"^(?!(?:(?:and|so|then|but) )?(?:i|we)\b)(?:.*\b(?:is|are) (?:currently|still|presently|at present) (?!off the|no longer)\w+"
    r"|.*\b(?:is|are) \w+(?: and \w+)? (?:at present|at the moment|at this time|right now)$)"
    r"|^(?:(?:and|so|then) )?(?:\w+ \w+ (?:says|shows|tells me) )?you are (?:currently |now |apparently )?in (?!touch|the\b|your\b|my\b|business|luck)\w+"
    r"|\b(?:i|we) (?:have|got)(?: got)? (?:the|his|her|your|both|all|that) (?:[\w']+ )?(?:name|names|number|numbers|rate|id|date|time|place|position|location|coordinates|details)$"
)
"""Tells how things stand or what is at hand, rather than what was done."""
_NOBODY = re.compile(r"\b(?:nobody|no one|nothing|none|no \w+) (?:\w+ ){0,4}?(?:i|to|that|which|for)\b")
_DESCRIBES = re.compile(
    r"\b(?:draft|preview|proposal)\b|\b(?:is|are|was|were) (?:\w+ )?(?:marked|listed|labell?ed|tagged|filed|flagged|entered|down) (?:\w+ )?as\b"
)
"""Tells how something is kept, perhaps since long ago: when the agent then asks for leave, that may be for the wish."""
_TICKING = re.compile(r"(?:\w+ ){0,2}(?:running|ticking|counting(?: down)?)(?: now| already)?")
_LOOKS = re.compile(
    r"\b(?:let me|i will|i am|i am going to)(?: \w+)? (?:check|look|search|see|find|checking|looking|searching)\b|"
    r"^(?:checking|looking|searching)"
)
_CONDITIONAL = re.compile(
    r"\b(?:if|once|when|as soon as|unless|until|after) (?:you|i hear|i get|i have your|i know)\b|\bprovided (?:that "
    r")?you\b|\btell me\b"
)
_FINITE = re.compile(r"\b(?:i|we|he|she|has|have|had|is|are|was|were|sent|done)\b")
_INSTEAD = re.compile(
    r"^(?:but |though |however |maybe |perhaps )?(?:i|we) (?:could|might|do have|would be (?:glad|happy) to)\b(?! (?:not|only)\b)|\bwhat i can do\b|\bwould (?:it|that|one|this|an? [^?]{1,40}?|\w+ \w+)(?: of those| of them)? (?:help|be of (?:any |some )?(?:use|help|interest)|do|work|suit|be (?:useful|helpful))\b"
)


def _proposes_instead(kind: ClauseKind, clause: str) -> bool:
    """Whether a clause proposes something in place of what cannot be done, rather than another way to it."""
    if _CAN.match(clause) and "foreign" in classes_in(clause):
        return True
    helps = kind is ClauseKind.STATE and _HELPS_OTHERWISE.match(clause)
    return bool(helps or _INSTEAD.search(clause)) and not _serves(clause)


_HELPS_OTHERWISE = re.compile(
    r"(?:but |though |however )?(?:i|we) (?:can|could)(?: only| still| at least| certainly| gladly| easily)? (?:help|offer|give|show|set|start|draft|write|suggest|point|explain|tell you (?:how|about))\b"
)
_CAN = re.compile(r"(?:i|we) (?:can|could|am able to)\b(?! not\b)")
_WOULD = re.compile(
    r"\bi (?:could|(?:would|will) be (?:glad|happy|pleased|delighted) to)\b(?! (?:not|only|tell that|see|find)\b)"
    r"|^(?:and |but |also )?(?:i|we) (?:can|could|might)(?: also| even| gladly)? (?!not\b|now\b|only\b|see\b|find\b|say\b|read\b|confirm\b|report\b|tell you\b|assure\b)\w+"
)
_TAKES_UP = re.compile(
    r"(?:so |then )?(?:interested|tempted|want (?:one|that|this|it|to)|(?:would|do|should) you (?:like|want|care for|prefer) (?:that|this|it|one|either|something like that)(?: instead)?"
    r"|(?:would|will|does|could|might) (?:that|this|it|one)(?: \w+)? (?:help|do|work|suit|serve|interest)(?: you)?(?: \w+)?|how about (?:that|it)|what do you (?:think|say)|any interest)"
)
"""Asks whether what was just proposed instead, or beside it, is liked."""
_MEANT = re.compile(r"\b(?:do|did) you mean\b")
_OF_OTHERS = re.compile(
    r"(?:is|are|was|might|could|may|would|does|has|did) (?:he|she|they|there|your|one)\b"
    r"|(?:could|can|would|will|do|did|have) you (?!like|want|prefer|need|care|wish)\w+"
)
"""Asks about others, or something of the user, rather than what the agent might do."""
_LONG = 12
"""Letters from which a statement says something."""


def _serves(clause: str) -> bool:
    """Whether a clause is about a setting or another try, which serve the wish that has just failed."""
    return "setting" in classes_in(clause) or tries_again(clause)


_KNOWS_NOT = re.compile(r"\bi (?:do not|still do not|can not) (?:know|have|tell|see|say)\b")
_BY_YOURSELF = re.compile(
    r"^(?:please |then |just |simply |so |first )*(?:try (?:again|(?!to\b)\w+ing)\b|turn|switch|enable|activate|connect|open|go to|create|add|"
    r"install|plug)\b(?!.*\?)"
    r"|\b(?:once|if|when|as soon as|after) you (?:have |can )?(?:turn|switch|enabl|activat|connect|open|found|find|"
    r"sign|creat|add|know)"
)


def _act(
    kind: ClauseKind,
    clause: str,
    sentence: Sentence,
    matter: str,
    wish: Wish,
    *,
    done: bool,
    answered: bool,
    gave_up: bool,
) -> Act | None:
    """The act that a clause is; ``done`` if the message has claimed before it to have done what was wanted.

    ``answered`` tells that something before it may be what the user wanted to hear. ``matter`` is the sentence with the
    one before it, where it only says "shall I do that?".
    """
    match kind:
        case ClauseKind.ASK | ClauseKind.LEAVE | ClauseKind.OFFER if (
            (gave_up or done)
            and "foreign" in classes_in(matter)
            and not _WH.search(clause.replace("please", ""))
            and not _OF_OTHERS.match(clause)
        ):
            return Act.OFFERS
        case _ if gave_up and _proposes_instead(kind, clause):
            return Act.OFFERS
        case ClauseKind.ASK if (gave_up or done) and sentence.asks and _TAKES_UP.fullmatch(clause):
            return Act.OFFERS
        case ClauseKind.ASK if (
            done
            and is_extra(clause, wish, done=True)
            and (not _WH.search(clause) or " else" in clause)
            and not _MEANT.search(clause)
        ):
            return Act.OFFERS
        case ClauseKind.LEAVE if sentence.asks and _CHOICE.search(sentence.text):
            return Act.ASKS
        case ClauseKind.LEAVE if _STILL.match(clause) or (_CONSENT.search(clause) and not classes_in(matter)):
            return Act.LEAVE
        case ClauseKind.LEAVE | ClauseKind.OFFER:
            return Act.OFFERS if is_extra(matter, wish, done=done) else Act.LEAVE
        case ClauseKind.STATE | ClauseKind.PROMISE | ClauseKind.ANSWER if (
            done or (answered and kind is ClauseKind.ANSWER)
        ) and _WOULD.search(clause):
            return Act.OFFERS
        case _:
            return _ACTS.get(kind)


_STILL = re.compile(
    r"(?:(?:do|would) you |you )?(?:still|really|actually|truly|definitely) (?:want|like|wish|okay|fine|prefer|need|sure)\b"
    r"|(?:(?:is|was) )?(?:this|that|it)(?: really| truly| indeed| still| actually)* (?:what|how) you (?:want|mean|wish|had)"
)
"""Asks whether the wish holds, whatever else was said before it."""
_CONSENT = re.compile(r"\byour (?:okay|approval|consent|permission|confirmation|word|go ahead|yes|blessing)\b")
"""Asks for leave and names nothing, so that it is about the wish, however finished it sounds."""
_DO_THAT = re.compile(
    r"\b(?:do|arrange|try|like|want|have|wish) (?:that|so|this|it)\b|^(?:(?:shall|should|may|can) (?:i|we)|(?:(?:do|would) you )?(?:want|like) me to)\??$|\bthat (?:help|work|suit|do)\b|\bhow you would like to proceed\b"
)
"""Refers to what the sentence before proposed."""
_CHOICE = re.compile(
    r"[,;]? or (?:should|shall|would you rather|would you prefer|do you want me to) |\b(\w{3,})\b[^?]{0,30} or \1\b"
    r"|^(?:\w+ ){0,2}?(?:should|shall|do you (?:want|mean)|is|are|will|would)\b[^?]*,(?: [^?,]*)? or (?!not\b|so\b|no\b|something|anything|else\b|did i|have i|am i|is (?:that|this|it) (?:not|too|wrong|okay))\w"
)
"""A question with two ways out, which no yes answers."""
_EITHER = re.compile(
    r"\w\W{0,5} or (?!not\b|so\b|no\b|something|anything|else\b|anyone|anybody|both\b|is there (?:any|some)thing"
    r"|(?:(?:shall|should|will|would|do|must|may) (?:i|we|you) )?(?:rather )?(?:hold|wait|stop|leave|cancel|skip|forget|abort)\b)"
)
"""A choice of two, unless the second only says that the first is not done."""
_ACTS: Mapping[ClauseKind, Act] = {
    ClauseKind.ASK: Act.ASKS,
    ClauseKind.OPEN: Act.OPEN,
    ClauseKind.CLOSER: Act.CLOSES,
    ClauseKind.PROMISE: Act.PROMISES,
    ClauseKind.FINDING: Act.PROMISES,
    ClauseKind.GIVE_UP: Act.GIVES_UP,
    ClauseKind.DEED: Act.DELIVERS,
    ClauseKind.ANSWER: Act.DELIVERS,
    ClauseKind.PARTING: Act.PARTS,
    ClauseKind.SMALL: Act.SMALL,
}
_WH = re.compile(
    r"^(?:\w+ ){0,3}?(?:what|when|where|which|who|whom|whose|how|why)\b|\b(?:tell|give|provide|need|please)\b"
)
_NEXT = 2
"""A promise so few acts behind an open question hangs on its answer."""


def _weighed(acts: list[Act], *, looks: bool) -> Act:
    """The one act of several that wants an answer; ``looks`` if the message ends with a promise to look for itself."""
    seen = set(acts)
    last = {act: place for place, act in enumerate(acts)}
    promise = last.get(Act.PROMISES, -1)
    if Act.ASKS in seen and not (acts[-1] is Act.PROMISES and looks and Act.LEAVE not in seen):
        return Act.ASKS
    if Act.LEAVE in seen:
        return Act.LEAVE
    if Act.OFFERS in seen and not (Act.DELIVERS not in seen and promise > last[Act.OFFERS]):
        return Act.OFFERS
    if Act.GIVES_UP in seen and last.get(Act.DELIVERS, -1) < last[Act.GIVES_UP] and promise < last[Act.GIVES_UP]:
        return Act.GIVES_UP
    if Act.DELIVERS in seen and promise < last[Act.DELIVERS]:
        return Act.DELIVERS
    if Act.OPEN in seen and Act.DELIVERS not in seen and last[Act.OPEN] > promise - _NEXT:
        return Act.OPEN
    if Act.PROMISES in seen:
        return Act.PROMISES
    for act in (Act.DELIVERS, Act.GIVES_UP, Act.OPEN, Act.CLOSES, Act.PARTS, Act.SMALL):
        if act in seen:
            return act
    return Act.UNREADABLE
