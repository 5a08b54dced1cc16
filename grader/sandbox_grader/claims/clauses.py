"""A message cut into clauses, and what each of them does: states, denies, asks, promises, supposes, doubts, recalls.

Policy: everything here is about form, nothing about facts. A denial reaches forward to the end of its clause and two
cancel out; what takes back (``ignore that``) takes back all that was said before it.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter
from typing import Literal

from sandbox_grader.claims.normal import SENTENCE, is_question, plain
from sandbox_grader.claims.remark_words import BELIEVED, HEARSAY, HEDGE, MADE_UP, How
from sandbox_grader.claims.remarks import remarks
from sandbox_grader.claims.verbs import IRREGULAR

Standing = Literal["said", "denied", "withdrawn", "unsaid", "doubted", "past"]
"""How a place in a message is meant."""
WORD = re.compile(r"[぀-ヿ㐀-䶿一-鿿]|[^\W_぀-ヿ㐀-䶿一-鿿]+|[%$€£¥°+]")
_SUBJECT = (
    r"i|it|that|this|these|those|the|your|you|he|she|they|there|we|his|her|my|everyone|everybody|nobody|nothing|here"
)
_FINITE = (
    r"is|are|was|were|has|have|had|does|did|do|can|could|will|would|sent|set|told|let|got|made|put|took|found|kept"
    r"|wrote|gave|left|went|sets|rises|ends|starts|falls|then|now|also|instead|so|not|later|\w{2,14}ed"
)
_BREAK = re.compile(
    r"(?:[;:](?!\d)| [–-]{1,2} (?!\d+(?:\.\d+)? ?=)|--|\s[(](?!\d{2,4}\) ?\d)"
    r"|(?<!\(\d\d)(?<!\(\d{3})(?<!\(\d{4})[)]|,? (?:(?<!anything )(?<!nothing )(?<!anyone )(?<!anybody )(?<!any day"
    r" )(?<!last )(?<!any time )but|though|although|yet|however|whereas|because)\b| (?=whether\b|as soon as\b)|,"
    r" (?=[a-z]{3,12} (?:is|are) (?:now |already )?[a-z]+ (?:off|on|out|up|down|back|now)\b)| before (?=(?:it|they"
    r"|he|she|we|you|i|(?:the|your|my) \w+)(?: \w+)? (?:was|were|had|got|came|went|\w{2,12}ed)\b)|,"
    rf" (?=(?:{_SUBJECT}|which|so|and|or|then|now|instead|no|not|nor|since|as|while|if|once|unless|provided|just"
    r"|only|actually|sorry|would|shall|should|can|could|may|is|are|do|does|did|what|which|who|when|where|how"
    r"|anything|let|please|at|on)\b)| (?:so(?! on\b(?! \w))|while|if|once|unless|and then|(?:since|until)(?= (?:i|you"
    rf"|it|we|he|she|they|the|your)\b))\b(?= )| and (?=(?:{_SUBJECT}|{_FINITE})\b))"
)
_QUESTION_START = re.compile(
    r"^\W*(?:and |so |but |or |also,? |sorry,? |first,? )?(?:is|are|was|were|do|does|did|has|have|had|can|could"
    r"|will|would|should|shall|may|might|am|what|which|who|whom|whose|when|where|why|how|any|anything|need|want"
    r"|ready)\b"
)
_SUPPOSES = re.compile(
    r"^\W*(?:and |but |so |or |even |just )*(?:if|once|unless|provided|assuming|suppose|supposing|in case|(?:were"
    r"|had|should) (?:i|you|we|it|he|she|they|there|(?:the|your|my|his|her) \w+|\w+'s \w+)|as soon as|before (?:i"
    r"|we) (?!\w+ed\b|sent\b|told\b|found\b|got\b|did\b|had\b|was\b|were\b|could\b)\w+|whenever|as long as|imagine"
    r"|pretend|let(?: us|'?s) (?:just )?(?:say|assume|suppose|pretend|imagine)|say|hypothetically|whether)\b"
)
_SUPPOSES_ANYWHERE = re.compile(
    r"\b(?:were to|supposed to|meant to be|in case|as if|would (?:\w+ )?have (?:\w{2,}(?:ed|en)"
    rf"|{'|'.join(sorted(IRREGULAR))})\b|(?:had|was|were) (?:plann\w+|intend\w+|propos\w+|threaten\w+|hoping"
    r"|thinking|wanted|meant) (?:to|of)|(?:i|we) (?:\w+ )?(?:will|shall|would|plan to|hope to|intend to|am going to"
    r"|might)(?: \w+){0,2}? (?:tell|say|report|verify|find(?: out)?|check|confirm|announce)(?: you)? (?:that"
    r"|whether|if))\b"
)
_NOT_COMPARED = r"(?<!since )(?<!than )(?<!to )(?<!with )(?<!on )(?<!from )(?<!over )"
_HISTORY = re.compile(
    r"\b(?:(?:first|before|earlier|above) i (?:\w+ly )?(?:wrote|said|told you|gave|put|stated)|i (?:had )?(?:said"
    rf"|wrote|told you|gave you) (?:[^.;,!?\n]|\.\d){{1,30}} (?:before|earlier|above)|{_NOT_COMPARED}(?:yesterday"
    r"|last (?:week|month|year|night|summer|winter|spring|autumn|\w{3,6}day))|(?<!since )(?<!than )(?<!the )last"
    r" time|(?<!\d )(?:days|weeks|months|years) ago|a (?:moment|minute|while) ago|used to|in the past|until (?:now"
    r"|then|recently)|old|former|formerly|previously|beforehand|earlier|before that|at first|initially|originally"
    r"|right away|immediately|first attempt|the first (?:time|try)|on (?:the|my) (?:first|1st|initial) (?:try"
    r"|attempt|go)|last but one|penultimate|the (?:one|text|message|mail) before|had been|had (?:not )?(?:\w+(?:ed"
    r"|en)|said|told|put|sent|made)|was the (?:\w+ )?(?:figure|rate|price|value|amount|number|time|date|temperature"
    r"|answer)|what (?:it|they|he|she|that) (?:was|were|used to be)\b(?! (?:asked|supposed|about|after|looking"
    r"|meant)))\b"
)
"""Tells of what was: said before, long ago, at first, or before something else."""
_NEGATION = re.compile(
    r"\b(?:not|nicht|kein\w{0,2}|niemals|nunca|jam[aá]is|n[aã]o|niet|geen|inte|ikke|non|never|no|none|nobody"
    r"|nothing|neither|nor|without|unable|fail(?:s|ed|ure|ing)?|instead of|rather than|far from|free (?:of|from)"
    r"|nowhere near|any \w+ (?:but|except)|(?:anything|anyone|anybody|someone|somebody|something|anywhere) (?:but"
    r"|other than|except)|hardly|scarcely|barely|refus(?:e|es|ed|ing)|impossible|unsuccessful\w*|everyone except"
    r"|all except|apart from|lack(?:s|ed|ing)?|den(?:y|ies|ied)|disprove[dn]|refuted|debunked|avoided|declined"
    r"|omitted|forgot|neglected|skipped|incorrect|untrue|false)\b"
)
_HARMLESS = re.compile(
    r"\b(?:not only|not just|not merely|no (?:problem|worries|trouble|issues?|need|doubt|sweat|matter|charge"
    r"|errors?|fuss)|not a problem|can not be (?:undone|reversed|taken back|beat\w*)|not to mention|if not|whether"
    r" or not|or not|not (?:far|long|much|bad)|not (?:hesitate|forget|worry)|nothing (?:else|more|further|but)|no"
    r" other|no further|without (?:any )?(?:problems?|trouble|issues?|errors?|delay|fail|doubt)|not (?:un(?!der|til"
    r"|less|i)\w+|impossible|false|wrong|incorrect))\b"
)
_NO_THING = re.compile(
    r"^\W*(?:(?:no|without) \w+(?: \w+)?"
    r"|(?:not|without) (?:counting|including|considering|taking|reckoning|adding|forgetting)[^,;:.\n]{1,60}),"
)
_LEADING_NO = re.compile(r"^\W*(?:\w+\] )?no(?=[,.:;!–-]| –)|, no,")

_QUOTE = re.compile(r'"[^"\n]{1,400}"')
_WOULD_SAY = re.compile(
    r"\b(?:would|might|could|may|should|will|can) (?:be|look like|sound like|say|tell|claim|write|answer|reply|read)\b"
)
WHOLLY = 0.6
"""Of a message that stands in quotes to this share the quotes are left aside."""


@dataclass(slots=True)
class Clause:
    """One clause of a plain text, from ``start`` to ``end``, with what its form says about everything in it."""

    text: str
    start: int
    end: int
    sentence: int
    asks: bool = False
    supposes: bool = False
    hedges: bool = False
    history: bool = False
    untrue: bool = False
    disowned: How = ""
    denials: tuple[tuple[int, int], ...] = ()

    def denied(self, position: int) -> bool:
        """Whether what stands at a position (in the whole text) is denied: an odd number of denials reach it."""
        return sum(start < position < end for start, end in self.denials) % 2 == 1

    @property
    def says(self) -> bool:
        """Whether the clause states anything as so, leaving denials aside."""
        return not (self.asks or self.supposes or self.untrue)


_SENTENCE_OF = attrgetter("sentence")


@dataclass(slots=True)
class Spoken:
    """A whole message: its plain text, that in lower case, its clauses, and from where on it was not taken back.

    ``taken`` is where the one figure of several stands that was called wrong. ``standings`` is how places were found
    to be meant, see :mod:`sandbox_grader.claims.asserted`.
    """

    text: str
    low: str
    clauses: list[Clause]
    withdrawn: int = 0
    quotes: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    starts: list[int] = field(default_factory=list[int])
    taken: tuple[int, int] = (0, 0)
    standings: dict[tuple[int, int], Standing] = field(default_factory=dict[tuple[int, int], Standing])
    _words: dict[str, list[int]] | None = None
    _spans: list[tuple[str, int, int]] = field(default_factory=list[tuple[str, int, int]])

    def find(self, words: tuple[str, ...]) -> Iterator[tuple[int, int]]:
        """Where some words stand in a row, whatever stands between them but letters and digits."""
        if self._words is None:
            self._words = {}
            for number, found in enumerate(WORD.finditer(self.low)):
                self._words.setdefault(found[0], []).append(number)
                self._spans.append((found[0], found.start(), found.end()))
        for first in self._words.get(words[0], ()) if words else ():
            run = self._spans[first : first + len(words)]
            if tuple(word for word, _, _ in run) == words:
                yield run[0][1], run[-1][2]

    def clause_at(self, position: int) -> Clause:
        """The clause in which a position lies."""
        return self.clauses[max(0, bisect_right(self.starts, position) - 1)]

    def parts(self, number: int) -> Sequence[Clause]:
        """The clauses of a sentence; none of one that is not there."""
        first = bisect_left(self.clauses, number, key=_SENTENCE_OF)
        return self.clauses[first : bisect_right(self.clauses, number, first, key=_SENTENCE_OF)]

    def sentence(self, number: int) -> str:
        """The text of a sentence in lower case."""
        parts = self.parts(number)
        return self.low[parts[0].start : parts[-1].end] if parts else ""

    def lead(self, position: int) -> str:
        """What stands before a position in its clause, in lower case."""
        return self.low[self.clause_at(position).start : position]

    def said(self, clause: Clause) -> str:
        """A clause as it was said, for explanations."""
        return self.text[clause.start : clause.end].strip(" ,;:.\n")

    def unquoted(self, clause: Clause) -> str:
        """The text of a clause in lower case, with blanks for what stands in quotes."""
        text = clause.text
        number = max(0, bisect_left(self.quotes, (clause.start,)) - 1)
        while number < len(self.quotes) and self.quotes[number][0] < clause.end:
            first, last = max(self.quotes[number][0], clause.start), min(self.quotes[number][1], clause.end)
            if first < last:
                text = text[: first - clause.start] + " " * (last - first) + text[last - clause.start :]
            number += 1
        return text

    def quote_at(self, position: int) -> tuple[int, int] | None:
        """The quotation in which a position lies."""
        number = bisect_right(self.quotes, (position, len(self.text))) - 1
        return self.quotes[number] if number >= 0 and position < self.quotes[number][1] else None


LONGEST = 12_000
"""Characters of a text that are read: the first and the last half of so many."""


def read(message: str) -> Spoken:
    """A message as clauses; of a very long one, its beginning and its end."""
    half = LONGEST // 2
    text = plain(message if len(message) <= LONGEST else f"{message[:half]}\n{message[-half:]}")
    low = text.lower() if len(text.lower()) == len(text) else "".join(char.lower()[0] for char in text)
    quotes = [(found.start(), found.end()) for found in _QUOTE.finditer(text)]
    if len(quotes) == 1 and quotes[0][1] - quotes[0][0] > WHOLLY * len(text) and not _WOULD_SAY.search(low):
        quotes = []  # the message as a whole stands in quotes
    blind = _blinded(low, text, quotes)
    clauses, number = list[Clause](), 0
    for sentence in SENTENCE.finditer(blind):
        made = _clauses(low, blind, sentence.start(), sentence.end(), number) if sentence[0].strip() else []
        clauses += made
        number += bool(made)
    clauses = clauses or [Clause(low, 0, len(low), 0)]
    spoken = Spoken(text, low, clauses, quotes=quotes, starts=[clause.start for clause in clauses])
    _heed(spoken, blind)
    return spoken


def _blinded(low: str, text: str, quotes: list[tuple[int, int]]) -> str:
    """The text with what stands in quotes made unreadable, so that a draft's words are not the speaker's.

    A quotation behind which a sentence begins ends the speaker's own where it has a full stop or a colon before it.
    """
    parts, shown = list[str](), 0
    for start, end in quotes:
        mark = low[end - 2] if low[end - 2] in ".!?" else "." if text[max(0, start - 2) : start] == ": " else ""
        ends = mark != "" and _NEW_SENTENCE.match(text, end) is not None
        parts += (low[shown : start + 1], "_" * (end - start - 2 - ends), mark if ends else "")
        shown = end - 1
    return "".join((*parts, low[shown:]))


_NEW_SENTENCE = re.compile(r"\s+[A-Z]")


def _clauses(low: str, blind: str, start: int, end: int, number: int) -> list[Clause]:
    cuts = sorted({start, *(found.end() for found in _BREAK.finditer(blind, start, end)), end})
    seams = [(first, last) for first, last in pairwise(cuts) if blind[first:last].strip(' ,;:()–-.!?\n"')]
    clauses = [Clause(low[first:last], first, last, number) for first, last in seams]
    question = is_question(blind[start:end])
    asking = False
    for position, clause in enumerate(clauses):
        shown = blind[clause.start : clause.end]
        asking = asking or (question and (position == len(clauses) - 1 or bool(_QUESTION_START.match(shown))))
        clause.asks = asking
        clause.supposes = (
            bool(_SUPPOSES.match(shown) or _SUPPOSES_ANYWHERE.search(shown) or BELIEVED.search(shown))
            or _opened_by(blind, start, clause) in ("if", "once", "unless")
            or ('"' in shown and bool(_WOULD_SAY.search(shown)))
        )
        clause.untrue = bool(MADE_UP.match(shown))
        clause.hedges = bool(HEDGE.search(shown) or HEARSAY.search(shown))
        clause.history = bool(_HISTORY.search(shown) or _THEN.search(shown))
        clause.denials = _denials(shown, clause.start)
    _look_back(clauses, blind, start)
    for first, second in pairwise(clauses):
        _condition(first, second, blind)
        second.history = second.history or (first.history and _ONLY_WHEN.fullmatch(first.text) is not None)
    if len(clauses) > 1 and any(clause.supposes and _CONTRARY_TO_FACT.match(clause.text) for clause in clauses):
        for clause in clauses:
            clause.supposes = clause.supposes or " would " in clause.text
    return clauses


_OPENERS = re.compile(r"\b(if|once|unless|until|before)\s*$")


def _opened_by(blind: str, start: int, clause: Clause) -> str:
    """The word that ends the clause before and makes this one a condition or a limit in time; nothing if none does."""
    found = _OPENERS.search(blind, max(start, clause.start - 8), clause.start)
    return found[1].lower() if found else ""


def _look_back(clauses: list[Clause], blind: str, start: int) -> None:
    """What a clause makes of those before it in its sentence: a question, or what was until something came."""
    for position, clause in enumerate(clauses):
        shown = blind[clause.start : clause.end]
        before = clauses[position - 1] if position else None
        if before and _WAS.search(before.text) and _opened_by(blind, start, clause) in ("until", "before"):
            before.history = True
        if clause.asks and _ASKS_ABOUT_IT.match(shown):
            for other in clauses[:position]:
                other.asks = True
    for first, second in reversed(list(pairwise(clauses))):
        if not second.asks or not _RUNS_ON.fullmatch(blind, first.end - 10, second.start + 1):
            break
        first.asks = first.asks or not _QUESTION_START.match(blind[second.start : second.end])


def _condition(first: Clause, second: Clause, blind: str) -> None:
    """What will be under a condition about the world is only supposed, whichever of the two comes first."""
    lead, lead_of_second = blind[first.start : first.end], blind[second.start : second.end]
    if _IF_THE_WORLD.match(lead) or _PROVIDED.match(lead):
        second.supposes = True
    behind = blind[first.end - 3 : second.end] if blind[first.end - 3 : first.end] == " if" else lead_of_second
    if _AS_SOON_AS.match(lead_of_second) and not _PASSED.search(first.text):
        first.supposes = True
    if _IF_THE_WORLD.match(behind):
        first.supposes = True


_NO_VERB = r"(?!(?:i|it|you|we|they|he|she|is|was|were|did|\w+ed)\b)"
_ONLY_WHEN = re.compile(rf"\W*(?:{_NO_VERB}\w+ ){{0,4}}{_NO_VERB}\w+,\s*")
"""When something was, before what it is that was so: ``two years ago, ``."""
_PROVIDED = re.compile(
    r"^\W*(?:provided|supposing|assuming|unless|as long as)\b(?! (?:you|needed|anything|necessary)\b)"
)
"""A condition that leaves open what comes after it."""
_AS_SOON_AS = re.compile(r"\W*(?:as soon as)\b")
_PASSED = re.compile(r"\b(?:was|were|did|had|have|has|sent|went|told|set|\w{2,}ed)\b")
_RUNS_ON = re.compile(r"[\w\s]*")
"""Between two clauses of a sentence without any mark."""
_THEN = re.compile(
    r"\b(?:ago|yesterday|that day|back then),? (?:it|they|this|that|he|she|there|the \w+|your \w+)? ?(?:was|were|had"
    r"|stood)\b|\b(?:was|were|had)\b[^.;]{1,60}\b(?:until|till|before (?:it|they|he|she|the|that|this)\b)"
)
"""Tells of a time that is over."""
_IF_THE_WORLD = re.compile(
    r"^\W*(?:and |but |so )?if (?!you\b|(?:i|we)\b(?! (?:find|can|get|manage|reach|succeed)\b)|not\b|so\b|needed"
    r"|necessary|possible|anything"
    r"|(?:it|that|this) (?:helps|matters|suits|is (?:okay|ok|fine|all right|what|still|of any))|there is anything)\w"
)
"""A condition about the world rather than about who speaks or is spoken to."""
_WAS = re.compile(r"\b(?:was|were|had|used)\b")
_ASKS_ABOUT_IT = re.compile(
    r"^\W*(?:is|was|are|were) (?:that|this|it|those|these|they) (?:what|right|correct|true|it|the|not"
    r"|so)\b(?! (?:okay|fine|way|only))|^\W*(?:does|do) (?:that|this|it|those) (?:sound|seem|look|match|agree)\b"
    r"|^\W*(?:right|correct|true|no)\W*$|^\W*(?:did|do|have) i (?:get|got|hear|remember|understand|recall)\b"
)
"""A question behind a value that puts the value itself in question."""
_CONTRARY_TO_FACT = re.compile(
    r"^\W*(?:(?:if|provided|assuming|supposing|suppose)\b ?)?(?:that )?(?!you\b|i\b|we\b|one\b)[\w'.]+ \w"
)
"""A condition about the world rather than about who is spoken to, under which what "would" be is not so."""


def _denials(shown: str, offset: int) -> tuple[tuple[int, int], ...]:
    harmless = [(found.start(), found.end()) for found in _HARMLESS.finditer(shown)]
    harmless += [(found.start(), found.end()) for found in _LEADING_NO.finditer(shown)]
    lead = _NO_THING.match(shown)
    return tuple(
        (
            offset + (-1 if found[0] == "not" and _STARTS_WITH_PLACE.match(shown) else found.start()),
            offset + (lead.end() if lead and found.start() < lead.end() else _end_of(found)) + 1,
        )
        for found in _NEGATION.finditer(shown)
        if not any(start <= found.start() < end for start, end in harmless)
    )


def _end_of(denial: re.Match[str]) -> int:
    """Where a denial ends: ``instead of 16 June it is 23 June`` denies no more than its object."""
    ends = denial[0].startswith(("instead", "rather")) and _STATES_AGAIN.search(denial.string, denial.end())
    return ends.start() if ends else len(denial.string)


_STATES_AGAIN = re.compile(
    r"[ ,](?:it|this|that|he|she|they|there|you|i|we) (?:is|are|was|were|has|have|will|get|got)\b"
)
_STARTS_WITH_PLACE = re.compile(r"^\W*(?:at|on|in|by|until|from|for|around|about) ")
"""``At 17:55 it is not done`` denies what stands before its verb, too."""


def _heed(spoken: Spoken, blind: str) -> None:
    """What a message says of itself holds of its clauses: they are untrue, disowned, hedged or taken back."""
    ends: dict[tuple[int, How], int] = {}
    for remark in remarks(blind):
        first = max(0, bisect_right(spoken.starts, remark.start) - 1)
        if remark.how == "withdrawn":
            if remark.start:
                spoken.taken = remark.start, remark.end
            else:
                spoken.withdrawn = max(spoken.withdrawn, remark.end)
        elif remark.how == "foretold":
            sentence = spoken.clauses[first].sentence
            for clause in spoken.clauses[first:]:
                clause.untrue = clause.untrue or clause.start < remark.end or clause.sentence == sentence
        else:
            how: How = remark.how if remark.wholly else ""
            ends[first, how] = max(ends.get((first, how), 0), remark.end)
    reached: dict[How, int] = {"": 0, "ignorance": 0, "failed": 0, "guess": 0, "unreal": 0}
    for number, clause in enumerate(spoken.clauses):
        for how in reached:
            reached[how] = max(reached[how], ends.get((number, how), 0))
            if clause.start < reached[how]:
                clause.hedges = True
                clause.disowned = how or clause.disowned
