"""A message as sentences and clauses, and what the form of each clause says about everything in it.

Policy: a line ends a sentence. A clause states, asks or supposes, is sure or hedges; a quotation is a clause by itself,
in which values count, and deeds and denials do not. A denial reaches forward in its own clause. What was said is
withdrawn only in so many words ("ignore that"), and only what stands before them.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from sandbox_mcp.engine.talk.numbers import figured
from sandbox_mcp.engine.talk.patterns import Lazy
from sandbox_mcp.engine.talk.text import lowered

SENTENCE = Lazy(r"[^.!?\n]+(?:[.](?=\w)[^.!?\n]+)*(?:[.!?]+[\"')\]]*|\n|$)")
"""A sentence of a plain text, in which a line is one too."""
NEAR = 3
"""A denial so many words before a value denies it; one further off leaves it in doubt."""
_BRIEF = 6
"""An opening of so many words that hedges ("not sure, but ...") hedges its whole sentence."""


@dataclass(slots=True, eq=False)
class Clause:
    """A clause in lower case, without its quotations, its place in the text, and its form."""

    text: str
    start: int
    end: int
    sentence: int
    quoted: bool = False
    asks: bool = False
    supposes: bool = False
    hedges: bool = False
    denials: tuple[tuple[int, int], ...] = ()

    @property
    def states(self) -> bool:
        """True if it says that something is so, or is not."""
        return not (self.asks or self.supposes)

    def denied(self, place: int) -> tuple[bool, int]:
        """Whether the denials before a place of the text make a denial, and how many words lie behind the last."""
        before = [end for _, end in self.denials if end <= place]
        if not before:
            return False, 0
        return len(before) % 2 == 1, len(self.text[before[-1] - self.start : place - self.start].split())


@dataclass(slots=True, eq=False)
class Talk:
    """A message in plain form with numbers in figures, the same in lower case, and its clauses in order.

    ``withdrawn``: up to where it was taken back.
    """

    text: str
    low: str
    clauses: list[Clause] = field(default_factory=list[Clause])
    withdrawn: int = 0
    _starts: list[int] = field(default_factory=list[int], init=False)
    _sentences: dict[int, list[Clause]] = field(default_factory=dict[int, list[Clause]], init=False)

    def __post_init__(self) -> None:
        """Index the clauses by sentence and place."""
        for clause in self.clauses:
            self._sentences.setdefault(clause.sentence, []).append(clause)
            self._starts.append(clause.start)

    def clause_at(self, place: int) -> Clause:
        """The clause in which a place of the text is."""
        at = max(0, bisect_right(self._starts, place) - 1)
        while at and self.clauses[at].end <= place:  # behind a quotation the clause goes on that it interrupts
            at -= 1
        return self.clauses[at]

    def sentence(self, number: int) -> Sequence[Clause]:
        """The clauses of a sentence."""
        return self._sentences.get(number, ())

    def sentence_text(self, number: int) -> str:
        """A sentence in lower case."""
        return " ".join(clause.text for clause in self.sentence(number))

    @property
    def sentences(self) -> Sequence[int]:
        """The numbers of all sentences, in order."""
        return tuple(self._sentences)

    def shown(self, clause: Clause) -> str:
        """A clause as it was written."""
        return self.text[clause.start : clause.end].strip(" ,;:.\n")


_QUOTE = Lazy(r'"[^"\n]{1,600}"')
_BREAK = Lazy(
    r"[;:()–\[\]]|,(?!\d)|\s-\s|\b(?:but|because|although|though|while|whereas|however|so|which|since|except|unless|as"
    r" (?:i|there|it|you))\b|\b(?:and|or)(?= (?:i|we|you|he|she|it|they|that|there|the|your|his|her|their|no|not|will"
    r"|shall|would|is|are|has)\b)"
)
_ASKING = Lazy(
    r"\W*(?:(?:and|so|or|also|then|ok|okay|alright|now|sorry|sure) )?(?:shall|should|would|do|does|did|is|are|can"
    r"|could|may|might|will|have|has|was|were|what|which|who|whom|whose|when|where|why|how|want|any|anything|need"
    r"|right|correct|ready|sound|am|please)\b"
)
_SUPPOSING = Lazy(
    r"^\W*(?:(?:and|but|or|so|only|even|just|then) )*(?:if|unless|in case|i hope|hopefully|fingers crossed|suppose"
    r"|supposing|imagine|assuming|provided|once(?! (?:\w+ ){1,3}?(?:was|were|had|went)\b)|whether|had (?:i|you|it)"
    r"|should (?:you|that|it|this|the|anything|any)|as soon as|whenever|when you|let me know|tell me|feel free"
    r"|just say|say)\b|\bif (?:everything|it had|i had|you (?:like|want|wish|prefer|would|need)|that (?:works|helps"
    r"|is))\b|\bwould have\b|\bi (?:can|could|would|might) (?:\w+ly |also |just |then |happily )?(?:save|store|add"
    r"|set|send|schedule|text|book|move|change|try|use|put|suggest|propose|help|do|remind|look|give|switch|turn)\b"
)
_HEDGING = Lazy(
    r"(?<!no )(?<!you )\b(?:maybe|perhaps|possibly|probably|presumably|supposedly|allegedly|might|may (?:be|well)"
    r"|could be|could well|not (?:\w+ ){0,2}(?:sure|certain)\b(?! (?:why|how you))|unsure|i (?:\w+ )?(?:think|guess"
    r"|believe|suspect|suppose|expect|assume)|guess(?:es|ing)?|hunch|rumou?r\w*|could be wrong|i do not (?:really"
    r" )?know\W*$|who knows|no idea|unreliable)\b"
)
_UNSURE = ("i am not ", "i think", "i guess", "i believe", "i suppose")
_BACK = Lazy(
    r"\b(?:ignore|disregard|forget|scratch|strike) (?:that|this|it|all|everything|what i|the (?:above|last))\b|\b(?:it"
    r"|that|this|the (?:above|following)|(?:all|none|nothing) of (?:that|this|it|the above)|what i (?:said|wrote)(?:"
    r" \w+)?) (?:is|was|are) (?:all |just |simply |actually )?(?:not (?:so|true|the case|correct|what happened)|false"
    r"|untrue|incorrect|made up|invented)\b|\bi (?:made (?:it|that|this) up|did nothing of the (?:kind|sort))\b|\bi"
    r" (?:misspoke|was wrong about (?:it|that|this))\b"
)
_DENIAL = Lazy(
    r"\b(?:not|never|no|none|nobody|nothing|neither|nor|without|unable|fail(?:s|ed)?|instead of|rather than|hardly"
    r"|barely|nicht|kein\w{0,2})\b"
)
HARMLESS = Lazy(
    r"\bnot (?:only|just|merely|far|bad|long|later than|until|before|to worry|to mention|at all far|once|less than"
    r"|more than|a problem|including|counting)\b|\bno (?:problem|worries|need|later|earlier|fewer|less|more than|doubt"
    r"|trouble|matter|other|further|extra|additional|repl(?:y|ies)|answers?|response|\d)\b|\bor not\b|\bif not\b"
    r"|\bwithout (?:\w+ )?(?:problems?|trouble|issues?|errors?|delay|further|changing|touching)\b|\bnothing (?:else"
    r"|more|but)\b|^\W*no[,.!;:]|\bwhy not\b"
)
"""Words that look like a denial and deny nothing behind them."""


@lru_cache(maxsize=512)
def read(message: str) -> Talk:
    """A message cut into clauses; of a very long one its beginning and its end.

    >>> [(clause.text.strip(), clause.states) for clause in read("It's 5 km, but is that too far?").clauses]
    [('it is 5 km,', True), ('but is that too far?', False)]
    """
    text = figured(message)
    low = lowered(text)
    quotes = [found.span() for found in _QUOTE.finditer(text)]
    if len(quotes) == 1 and quotes[0][1] - quotes[0][0] > 0.6 * len(text):
        quotes = []  # nearly all of it stands in quotes: the reply itself
    clauses = sorted(_clauses(low, text, quotes), key=lambda clause: clause.start) or [Clause(low, 0, len(low), 0)]
    talk = Talk(text, low, clauses)
    taken_back = bool(_BACK.search(low))
    for clause in clauses:
        if not clause.quoted:
            clause.denials = tuple(_denials(clause))
            if taken_back and clause.states and _BACK.search(clause.text):
                talk.withdrawn = clause.start
    return talk


def is_question(sentence: str) -> bool:
    """True if a sentence ends with a question mark, be it in quotes or brackets."""
    return sentence.rstrip("\"'_)]* \n").endswith("?")


def _clauses(low: str, text: str, quotes: Sequence[tuple[int, int]]) -> Iterator[Clause]:
    blind = list(low)
    for start, end in quotes:
        blind[start + 1 : end - 1] = "_" * (end - start - 2)
        if low[end - 2] in ".!?" and text[end : end + 2].lstrip(" ")[:1].isupper():
            blind[end - 2] = low[end - 2]  # the quotation ends its sentence
    masked = "".join(blind)
    number = 0
    made = list[Clause]()
    for found in SENTENCE.finditer(masked):
        if not found[0].strip():
            continue
        here = _cut(masked, found.span(), number)
        if not here:
            continue
        _mark_form(here, found[0])
        made += here
        number += 1
    yield from made
    for start, end in quotes:
        for found in SENTENCE.finditer(low, start + 1, end - 1):
            yield Clause(found[0], *found.span(), number, quoted=True)
            number += 1


def _cut(masked: str, span: tuple[int, int], number: int) -> list[Clause]:
    breaks = (item.end() if item[0][0] in ",;:()–[]" else item.start() for item in _BREAK.finditer(masked, *span))
    cuts = sorted({span[0], *breaks, span[1]})
    return [
        Clause(masked[start:end], start, end, number)
        for start, end in pairwise(cuts) if masked[start:end].strip()
    ]  # fmt: skip


def _mark_form(here: Sequence[Clause], sentence: str) -> None:
    """Say of the clauses of a sentence which ask, suppose and hedge."""
    if is_question(sentence):
        first = next((place for place, clause in enumerate(here) if _ASKING.match(clause.text)), len(here) - 1)
        for clause in here[first:]:
            clause.asks = True
    unlikely = False
    for clause in here:
        clause.supposes = bool(_SUPPOSING.search(clause.text)) or (unlikely and " would " in clause.text)
        unlikely = unlikely or clause.supposes
        clause.hedges = not clause.asks and bool(_HEDGING.search(clause.text))
    opening = next((clause for clause in here if clause.hedges), None)
    ending = here[-1].text.lstrip(" ,–") if len(here) > 1 and here[-1].hedges else ""
    if ending.startswith(_UNSURE) and len(ending.split()) < _BRIEF:
        for clause in here:  # "61 degrees in either scale, I am not sure which"
            clause.hedges = not clause.asks
    if opening and len(opening.text.split()) <= _BRIEF and opening.text.rstrip().endswith((",", ":")):
        for clause in here:
            clause.hedges = clause.hedges or clause.start > opening.start


def _denials(clause: Clause) -> Iterator[tuple[int, int]]:
    found = [denial.span() for denial in _DENIAL.finditer(clause.text)]
    harmless = [harmless.span() for harmless in HARMLESS.finditer(clause.text)] if found else ()
    for start, end in found:
        if not any(begin <= start < stop for begin, stop in harmless):
            yield clause.start + start, clause.start + end
