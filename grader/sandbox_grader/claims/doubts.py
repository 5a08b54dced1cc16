"""Where a speaker does not stand by what is told: ``I'm only guessing``, ``not certain, but ...``, ``... Who knows.``.

Policy: words that say nothing but how little their speaker knows are about all that is told. They are known by what
they are made of: a word for a guess, or one for knowledge that is denied, and beside it only words without a content of
their own. So what names something else that is unknown (``not sure why it took so long``) costs nothing, nor does what
was looked up after all.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sandbox_grader.claims.normal import SENTENCE, is_question, one_of

Doubt = Literal["", "guess", "ignorance", "failed", "unreal"]
"""How something is disowned. A refusal may say what is not known or what failed; it is none where it is guessed."""
_GUESSING = one_of(
    "guess guesses guessing guesswork speculation speculations speculating speculative conjecture conjectures hunch "
    "hunches supposition suppositions assumption assumptions assuming presumption hypothesis maybe perhaps possibly "
    "conceivably chance chances possible possibility possibilities likelihood conceivable imaginable presumably "
    "supposedly allegedly unverified unconfirmed unchecked untested doubt doubts doubtful dubious salt rumour rumor "
    "hearsay imagination feeling"
)
_KNOWING = one_of(
    "sure certain confident positive convinced certainty know knowing idea clue notion clear tell say saying"
)
_VOUCHING = one_of(
    "swear bet vouch promise guarantee rely count bank depend quote word checked check verified verify verifying "
    "checking confirmed confirm looked look looking tested proof evidence back basis source support grounds"
)
_WRONG = one_of("wrong mistaken incorrect inaccurate false untrue off error mistake misremembering confused lying")
_NOT_KNOWING = one_of("unsure uncertain clueless")
NEGATIONS = one_of("not no never without hardly nothing neither nor cannot far nobody none")
_MAY = one_of("may might could can")
_PAST = one_of("was were did had")
_OPINION = one_of(
    "think guess suppose believe assume imagine suspect reckon presume expect bet wager venture probably likely"
)
_FUNCTION = one_of(
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
_IDIOM = re.compile(
    r"\W*(?:(?:and|but|or|well|honestly|oh|hm+|ah|then again)\W+){0,3}(?:who (?:really )?knows|who can (?:say|tell)"
    r"|(?:it is |that is )?(?:\w+ )?(?:hard|difficult|impossible|tricky|tough) (?:for me )?to (?:say|tell|know|be sure)"
    r"|your guess is as good as mine|(?:it is |that is )?any(?:one|body)'s guess|search me|beats me"
    r"|(?:it is |this is |that is )?(?:just |only |merely |but |a |my |complete |total )*(?:shot|stab|leap) in the dark"
    r"|off the top of my head|(?:(?:going|judging|just|only) )*(?:by|from|on|with) (?:my |a |pure |mere )*(?:gut|memory"
    r"|instinct|intuition|feeling)(?: feeling| alone)?|if (?:i had to|you forced me to|pressed, i would) guess"
    r"|at a guess|(?:as|so) far as i (?:can |could )?(?:guess|imagine|remember|recall)"
    r"|if (?:my )?memory serves(?: me)?(?: right| well)?|if i (?:remember|recall)(?: right| correctly)?"
    r"|if i am not (?:mistaken|wrong)|unless i am (?:mistaken|wrong)"
    r"|or (?:maybe|perhaps) not)(?:,? (?:really|though|honestly|at all|of course))*\W*"
)
_FOUND_OUT = re.compile(
    r"\b(?:(?:i|we) (?:have |had |then |also |just |therefore |now )*(?:double-?checked|checked|looked|searched|asked"
    r"|found|verified|confirmed|consulted|went|know|tried|measured|counted|used|made sure)|let me|so i \w+ed|turns out"
    r"|turned out|according to|after (?:checking|looking|searching)|i will (?:check|look|find|ask|see))\b"
)
"""Says that what was not known is known by now."""
_SEAM = re.compile(
    r",? (?:but|though|although|however|yet)\b,?"
    r"|,? (?:and|or|because|since|as)(?= (?:i|this|that|it|maybe|perhaps|possibly)\b)|[,;:()](?!\d)| –(?= )| - |--"
)
_FRONTED = re.compile(
    r"\W*(?:and |but |so )?(?:as for|as to|about|regarding|concerning|when it comes to|on|why|how|what|when|where|who"
    r"|whom|whose|which|whether (?!(?:it|that|this)\b)|if)\b"
)
"""Names what the doubt behind it is about."""
WORDS = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_LONGEST, WIDEST = 24, 160
"""Words and characters that a doubt has at most."""
HEDGE = re.compile(
    r"\b(?:might|perhaps|maybe|possibly|probably|i (?:think|guess|suppose|assume|imagine|suspect"
    r"|would (?:guess|say|estimate|imagine))|(?:not|un|hardly|far from|cannot be|am not|never) ?(?:entirely |quite "
    r"|really |so |completely |at all )?(?:sure|certain)|could (?:well )?be|may (?:well )?be|may have|might have"
    r"|could have been|(?:just|only|merely|wild|rough|best|blind|pure|educated) (?:a )?guess|a guess|guess(?:ing|work)"
    r"|my guess|presumably|supposedly|allegedly|rumou?r has|give or take|who knows|if i (?:had to|recall|remember)"
    r"|i (?:can not|could not) (?:confirm|verify|tell|say) (?:that|whether|if)|unverified|unconfirmed|i doubt|doubtful"
    r"|i would bet|i bet|betting on|my money is on|(?:may|might) or (?:may|might) not|should (?:give|show|tell) you"
    r"|something (?:near|around|like)|i (?:would )?expect\b|or whatever (?:it|that|they)|ballpark|eyeball\w*"
    r"|chances are|odds are|reportedly|or thereabouts|from memory|(?:i|we) (?:have |had )?(?:once )?heard (?:that|it)\b"
    r"|(?:is|are|seems?|sounds?|looks?) (?:\w+ly )?(?:possible|conceivable|plausible"
    r"|thinkable)(?=\W*(?:$|[,;.]|and|but|too|as))|somewhere between|anywhere (?:between|from)"
    r"|anything (?:between|from)|for example|e\.?g|i believe|i fancy|conceivably"
    r"|(?:is|are|was) (?:just |only |merely )?an? (?:random |mere |made-up )?(?:example|placeholder|sample)"
    r"|(?:some|many|other|most) (?:people|sites?|sources?) (?:say|claim|think|believe)|people (?:say|claim))\b"
)
"""Says in a sentence that it may not be so."""
HEARSAY = re.compile(
    r"\b(?:(?:someone|somebody|some(?: \w+)?|people|locals|folks|others|an? (?:\w+ )?(?:friend|forum|blog|post|thread"
    r"|stranger|cousin|neighbou?r|colleague|commenter|user|guy|website|site|page|article|source)|one (?:website|site"
    r"|page|forum|blog|source))(?: (?:on|in|from|at|of|over)(?: \w+){1,2}| there| online| who \w+)? (?:\w+ly )?(?:claim"
    r"|reckon|swear|maintain|insist|believe|gossip|say|said|told me|think|quote|cite|put it at)(?:s|ed)?"
    r"|(?<!this )(?<!that )(?:thinks|reckons|believes|guesses|suspects|assumes|supposes|swears|insists|boasts|brags"
    r"|bets|has heard)(?! in\b)|they (?:say|claim|reckon)|(?:the )?(?:neighbou?rs|locals|experts|critics|gossips"
    r"|villagers|press|tabloids|internet) (?:\w+ )?(?:say|says|swear|swears|claim|claims|think|believe|insist|reckon)"
    r"|(?:one|1) (?:hears|says|reads) that|(?:it|this|that) is (?:\w+ly )?(?:said|rumou?red|believed|claimed|alleged"
    r"|thought) (?:that|to)|(?:word|legend|rumou?r|gossip|tradition) (?:has it|on the street|goes|says)|the story goes"
    r"|my (?:grand\w+|mother|father|mom|mum|dad|aunt|uncle|sister|brother|cousin|friends?|neighbou?rs?|colleagues?|boss"
    r"|teacher) (?:\w+ )?(?:say|says|said|swears?|swore|claims?|claimed|told me|thinks?|believes?)"
    r"|(?<!you )(?<!tool )(?<!phone )(?<!app )(?<!search )(?<!service )\btold me(?! to\b)|the \w+ (?:at|in|on|from"
    r"|behind) (?:the|my|your|his|her) (?!phone|inbox|list|map|app|calendar)\w+ (?:said|says|told me|tells me)"
    r"|(?:an?|some|any) (?:anonymous|random|unknown|unnamed) \w+ (?:says|said|claims|claimed|states|told me))\b"
)
"""What only people say whom the speaker does not name."""


@dataclass(frozen=True, slots=True)
class Disowned:
    """Where a message is disowned, as a guess or for ignorance; ``wholly`` if not only by an adverb in a sentence."""

    start: int
    end: int
    how: Doubt
    wholly: bool


def doubt_in(words: str) -> Doubt:
    """How some words disown what is told beside them; nothing if they say anything else."""
    if _IDIOM.fullmatch(words):
        return "guess" if re.search(r"guess|gut|dark|head|memory|instinct|not", words) else "ignorance"
    low = re.sub(r"\b(?:no|nothing|little) (?:more |other |else )?(?:than|but)\b", "only", words.lower())
    low = re.sub(r"\bnot (?:only|just|merely)(?= (?:did|do|have|has|had|i)\b)", "also", low)
    low = re.sub(r"\b(?:not|cannot) (?:\w+ )?\w+ (?:any(?:thing)? )?more (?:than|about|on) (?:that|this|it)\b", "", low)
    low = re.sub(r"^\W*no\W*[,.:;–-]", "", low)
    parts = WORDS.findall(low)
    if not parts or len(parts) > _LONGEST or not EMPTY.issuperset(parts) or "you" in parts[:-1]:
        return ""
    if parts[-1] in _OPINION and parts[:-1] in (["i"], ["so", "i"], ["or", "so", "i"], ["i", "would"], []):
        return "guess"
    if parts[0] == "i" and len(parts) > 1 and parts[1] in _OPINION:
        return "guess" if set(parts[2:]) <= {"so", "though", "not", "maybe", "perhaps", "anyway"} else ""
    denied = 0
    for position, word in enumerate(parts):
        odd, before = denied % 2 == 1, parts[:position]
        may = bool(_MAY & set(before))
        if word in _GUESSING and not odd:
            return "guess"
        if word in _NOT_KNOWING and not odd and not _PAST & set(before):
            return "ignorance"
        if may and (word in _WRONG if not odd else word in ("right", "true", "correct", "accurate")):
            return "guess"
        if word in _VOUCHING and odd and not (word in ("word", "quote") and "me" not in parts and "my" not in parts):
            return "guess"
        if word in _KNOWING and odd and not _PAST & set(before):
            return "ignorance"
        denied += word in NEGATIONS
    return ""


EMPTY = _GUESSING | _KNOWING | _VOUCHING | _WRONG | _NOT_KNOWING | NEGATIONS | _MAY | _PAST | _OPINION | _FUNCTION


def disowned(blind: str) -> Iterator[Disowned]:
    """Where a message is disowned by what it says of itself, in order.

    ``blind`` is the message in plain form, with what stands in quotes made unreadable.
    """
    known = max((found.end() for found in _FOUND_OUT.finditer(blind)), default=0)
    told, puzzled = False, False
    for sentence in SENTENCE.finditer(blind):
        asks = is_question(sentence[0])
        parts = [_part(blind, *place) for place in segments(sentence.start(), sentence.end(), blind)]
        says = [number for number, part in enumerate(parts) if part.says]
        for number, part in enumerate(parts):
            if not part.how or known > part.end or (asks and part.how == "ignorance" and not part.idiom):
                continue
            if part.how == "ignorance" and number and _FRONTED.match(blind, parts[number - 1].start, part.start):
                continue
            lead, mark = blind[max(0, part.start - 9) : part.start], blind[part.end : part.end + 9]
            if not says:
                if not (puzzled and part.how == "ignorance"):
                    yield Disowned(0, len(blind), part.how, wholly=True)
            elif number < says[0]:
                how = "guess" if mark[:1] == ":" or _SETS_AGAINST.match(mark) else part.how
                reach = sentence.end() if told and mark[:1] != ":" else len(blind)
                yield Disowned(part.start, reach, how, part.wholly)
            elif number < says[-1]:
                yield Disowned(sentence.start(), sentence.end(), part.how, part.wholly)
            else:
                how = "guess" if _SETS_AGAINST.search(lead) else part.how
                yield Disowned(0 if part.wholly else sentence.start(), part.end, how, part.wholly)
        for part in parts:
            if part.hedged:
                yield Disowned(part.start, part.end, "guess", wholly=False)
        if not (told or asks) and (parts[0].hedged or _MAYBE.match(blind, sentence.start())):
            yield Disowned(sentence.start(), len(blind), "guess", wholly=True)
        told = told or bool(says)
        puzzled = asks or re.search(r"\b(?:not|no|unable|never)\b", sentence[0]) is not None


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a sentence: how it disowns the others, if only by an adverb, and whether it says anything itself."""

    start: int
    end: int
    how: Doubt = ""
    wholly: bool = False
    idiom: bool = False
    says: bool = False
    hedged: bool = False


def _part(blind: str, start: int, end: int) -> _Part:
    words = blind[start:end]
    if end - start < WIDEST:
        how = doubt_in(words)
        if how:
            return _Part(start, end, how, len(WORDS.findall(words)) > 1, _IDIOM.fullmatch(words) is not None)
    says = not _FUNCTION.issuperset(WORDS.findall(words.lower()))
    return _Part(start, end, says=says, hedged=_opens_with_a_guess(words))


def _opens_with_a_guess(words: str) -> bool:
    """Whether words begin like ``it is possible that`` or ``my guess is that``; ``I think that`` is too common."""
    lead, that, _ = words[:WIDEST].partition(" that ")
    ends = lead.rsplit(" ", 1)[-1].lower()
    return bool(that) and ends not in _OPINION and doubt_in(lead) != ""


_SETS_AGAINST = re.compile(r",? ?\b(?:but|though|although|however|yet),? ?(?:$|(?<=[ ,])(?=\w))")
_MAYBE = re.compile(
    r"\W*(?:(?:well|hm+|so|okay|ok|sure|oh)\W+)?(?:maybe|perhaps|possibly|conceivably|presumably|supposedly"
    r"|allegedly)\b(?!,? (?:you|one|because|due|since|as|a|some|another|not|even)\b)"
)
"""Makes a guess of what a message begins with, and so of all that it says."""


def segments(start: int, end: int, blind: str) -> Iterator[tuple[int, int]]:
    """The parts of a sentence between its marks and the words that set one thing against another."""
    for seam in _SEAM.finditer(blind, start, end):
        yield start, seam.start()
        start = seam.end()
    yield start, end
