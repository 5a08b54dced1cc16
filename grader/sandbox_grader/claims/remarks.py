"""Remarks: where a message says of itself that it does not assert what it seems to.

Policy: ``Ignore that``, ``I'm only guessing``, ``it was all a dream`` and ``none of what follows is true`` are one kind
of talk: they speak of the message and not of the world, and so disown what it tells. A remark is known by what it is
made of: a word for a guess, a fiction or an untruth, or one for knowledge or truth that is denied, and beside it only
words without a content of their own. What names something else that is unknown (``not sure why it took so long``)
costs nothing, nor does what was looked up after all.

How far a remark reaches hangs on where it stands: ``Just a hunch: 5 km. Bring water.`` disowns all, ``5 km, perhaps.
Bring water.`` its own sentence, ``5 km. I made that up. Bring water.`` what was told until then.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sandbox_grader.claims import remark_words as row
from sandbox_grader.claims.normal import SENTENCE, is_question
from sandbox_grader.claims.remark_words import How

_FAILED, _STATUS, _OVER = re.compile(row.FAILED), re.compile(row.STATUS), re.compile(row.OVER)
_NOT_SO, _IDIOM, _FRONTED = re.compile(row.NOT_SO), re.compile(row.IDIOM), re.compile(row.FRONTED)
_LABEL, _OPENS_WITH_MAYBE = re.compile(row.LABEL), re.compile(row.OPENS_WITH_MAYBE)
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_LONGEST, _WIDEST = 24, 160
"""Words and characters that a remark has at most."""
_MOST_WORDS, _FEWEST_WORDS = 18, 3
"""Words before a colon that may announce something, and words behind it that tell anything."""
_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")


@dataclass(frozen=True, slots=True)
class Remark:
    """What a remark disowns, and how; ``wholly`` if not only by an adverb in a sentence."""

    start: int
    end: int
    how: How
    wholly: bool = True


def remarks(blind: str) -> Iterator[Remark]:
    """The remarks of a message in plain form and lower case, with what stands in quotes made unreadable."""
    told = _Told(known=max((found.end() for found in row.FOUND_OUT.finditer(blind)), default=0))
    for found in SENTENCE.finditer(blind):
        sentence = _Sentence(blind, *found.span(), is_question(found[0]))
        yield from _doubts(sentence, told)
        yield from () if sentence.asks else _fictions(sentence, told)
        told.told = told.told or any(part.says for part in sentence.parts)
        told.real = told.real or sentence.asks or any(part.tells for part in sentence.parts)
        told.puzzled = sentence.asks or re.search(r"\b(?:not|no|unable|never)\b", found[0]) is not None
    yield from _foretold(blind)
    yield from _withdrawn(blind)


@dataclass(slots=True)
class _Told:
    """What the sentences before one came to: whether they told anything, and up to where it is known after all."""

    known: int
    told: bool = False
    real: bool = False
    puzzled: bool = False


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a sentence: how it doubts or unmakes the others, and whether it tells anything itself."""

    start: int
    end: int
    doubts: How
    unmakes: How
    says: bool
    tells: bool
    several_words: bool
    idiom: bool
    hedged: bool


class _Sentence:
    """A sentence between its marks and the words that set one thing against another."""

    def __init__(self, blind: str, start: int, end: int, asks: bool) -> None:
        self.blind, self.start, self.end, self.asks = blind, start, end, asks
        self.whole: How = "failed" if _STATUS.fullmatch(blind, start, end) else fiction_in(blind[start:end])
        seams = (edge for seam in row.SEAM.finditer(blind, start, end) for edge in seam.span())
        edges = [start, *seams, end]
        self.parts = [self._part(*place) for place in zip(edges[::2], edges[1::2], strict=True)]

    def _part(self, start: int, end: int) -> _Part:
        text = self.blind[start:end]
        words = _WORD.findall(text)
        doubts = doubt_in(text)
        unmakes: How = "" if self.asks else self.whole or fiction_in(text)
        return _Part(
            start, end, doubts, unmakes,
            says=not doubts and not row.WITHOUT_CONTENT.issuperset(words),
            tells=not unmakes and not row.OF_A_FICTION.issuperset(words),
            several_words=len(words) > 1,
            idiom=bool(doubts) and _IDIOM.fullmatch(text) is not None,
            hedged=not doubts and _opens_with_a_guess(text),
        )  # fmt: skip


def doubt_in(words: str) -> How:
    """How some words doubt what is told beside them; nothing if they say anything else."""
    if len(words) >= _WIDEST:
        return ""
    if _IDIOM.fullmatch(words):
        return "guess" if re.search(r"guess|gut|head|memory|instinct|not", words) else "ignorance"
    low = re.sub(r"\b(?:no|nothing|little) (?:more |other |else )?(?:than|but)\b", "only", words.lower())
    low = re.sub(r"\bnot (?:only|just|merely)(?= (?:did|do|have|has|had|i)\b)", "also", low)
    low = re.sub(r"\b(?:not|cannot) (?:\w+ )?\w+ (?:any(?:thing)? )?more (?:than|about|on) (?:that|this|it)\b", "", low)
    low = re.sub(r"^\W*no\W*[,.:;–-]", "", low)
    parts = _WORD.findall(low)
    if not parts or len(parts) > _LONGEST or not row.OF_A_DOUBT.issuperset(parts) or "you" in parts[:-1]:
        return ""
    if parts[-1] in row.OPINION and parts[:-1] in (["i"], ["so", "i"], ["or", "so", "i"], ["i", "would"], []):
        return "guess"
    if parts[0] == "i" and len(parts) > 1 and parts[1] in row.OPINION:
        return "guess" if set(parts[2:]) <= {"so", "though", "not", "maybe", "perhaps", "anyway"} else ""
    for word, before, denied in _walked(parts):
        may, past = not row.MAY.isdisjoint(before), not row.PAST.isdisjoint(before)
        if word in row.GUESSING and not denied:
            return "guess"
        if word in row.NOT_KNOWING and not denied and not past:
            return "ignorance"
        if may and (word in ("right", "true", "correct", "accurate") if denied else word in row.MISTAKEN):
            return "guess"
        if denied and word in row.VOUCHING and (word not in ("word", "quote") or not {"me", "my"}.isdisjoint(parts)):
            return "guess"
        if denied and word in row.KNOWING and not past:
            return "ignorance"
    return ""


def fiction_in(words: str) -> How:
    """How words unmake what is told beside them, of which alone they speak; nothing if they say anything else."""
    if len(words) >= _WIDEST:
        return ""
    if _FAILED.fullmatch(words):
        return "failed"
    return "unreal" if _OVER.fullmatch(words) or _NOT_SO.fullmatch(words) or _calls_unreal(words) else ""


def _calls_unreal(words: str) -> bool:
    """Whether a word for what is false or made up stands among words that say nothing else: ``that was a lie``."""
    parts = _WORD.findall(words.lower())
    if not row.OF_A_FICTION.issuperset(parts) or parts in (["no"], ["yes"]):
        return False
    for word, before, denied in _walked(parts):
        if not row.CONDITION.isdisjoint(before):
            return False
        if word in row.FALSE | row.FICTION and not denied:
            return bool(before) or len(parts) == 1
        wished = word in row.TRUTH and ("wish" in before or {"would", "like"}.issubset(before))
        if wished or (word in row.TRUTH and denied) or (word == parts[-1] == "so" and "not" in before):
            return True
    return False


def _walked(parts: Sequence[str]) -> Iterator[tuple[str, Sequence[str], bool]]:
    """Each word with those before it, and whether an odd number of them deny it."""
    denied = False
    for position, word in enumerate(parts):
        yield word, parts[:position], denied
        denied ^= word in row.NEGATIONS


def _doubts(sentence: _Sentence, told: _Told) -> Iterator[Remark]:
    """What a sentence says of how little its speaker knows."""
    blind, parts = sentence.blind, sentence.parts
    says = [number for number, part in enumerate(parts) if part.says]
    for number, part in enumerate(parts):
        how = part.doubts
        if not how or told.known > part.end or (sentence.asks and how == "ignorance" and not part.idiom):
            continue
        if how == "ignorance" and number and _FRONTED.match(blind, parts[number - 1].start, part.start):
            continue
        lead, mark = blind[max(0, part.start - 9) : part.start], blind[part.end : part.end + 9]
        announces = mark[:1] == ":"
        if not says:
            if not (told.puzzled and how == "ignorance"):
                yield Remark(0, len(blind), how)
        elif number < says[0]:
            reach = sentence.end if told.told and not announces else len(blind)
            yield Remark(
                part.start, reach, "guess" if announces or row.SETS_AGAINST.match(mark) else how, part.several_words
            )
        elif number < says[-1]:
            yield Remark(sentence.start, sentence.end, how, part.several_words)
        else:
            start = 0 if part.several_words else sentence.start
            yield Remark(start, part.end, "guess" if row.SETS_AGAINST.search(lead) else how, part.several_words)
    for part in parts:
        if part.hedged:
            yield Remark(part.start, part.end, "guess", wholly=False)
    opens = parts[0].hedged or _OPENS_WITH_MAYBE.match(blind, sentence.start)
    if opens and not told.told and not sentence.asks:
        yield Remark(sentence.start, len(blind), "guess")


def _opens_with_a_guess(words: str) -> bool:
    """Whether words begin like ``it is possible that`` or ``my guess is that``; ``I think that`` is too common."""
    lead, that, _ = words[:_WIDEST].partition(" that ")
    return bool(that) and lead.rsplit(" ", 1)[-1].lower() not in row.OPINION and doubt_in(lead) != ""


def _fictions(sentence: _Sentence, told: _Told) -> Iterator[Remark]:
    """What a sentence says of how unreal the message is, or that what it tells has failed."""
    blind, parts = sentence.blind, sentence.parts
    colon = blind.find(":", sentence.start, sentence.end)
    if not told.real and colon > 0 and _announces(blind[sentence.start : colon], blind[colon : sentence.end]):
        yield Remark(sentence.start, len(blind), "unreal")
    says = [number for number, part in enumerate(parts) if part.tells]
    for number, part in enumerate(parts):
        how, announces = part.unmakes, blind[part.end : part.end + 1] == ":" and not told.real
        if not how:
            continue
        over = how == "failed" or _OVER.fullmatch(blind, part.start, part.end)  # which nothing is before it is told
        behind = told.real or (says and number > says[0])
        if over or (behind and not announces):
            yield Remark(0, part.end, how)
        elif announces or says or sentence.whole == "unreal":
            yield Remark(part.start, len(blind), how)


def _announces(lead: str, rest: str) -> bool:
    """Whether a sentence up to its colon announces something that is not told as so."""
    found = row.ANNOUNCES.search(lead)
    if found is None or len(_WORD.findall(lead)) > _MOST_WORDS:
        return False
    denials = sum(word in row.NEGATIONS for word in _WORD.findall(lead[: found.start()]))
    return denials % 2 == 0 and ('"' in rest or len(_WORD.findall(rest)) >= _FEWEST_WORDS)


def _foretold(blind: str) -> Iterator[Remark]:
    """What is called untrue before it is told: the rest of its sentence, or of the message."""
    announced = row.FORETOLD.search(blind)
    if announced:
        yield Remark(announced.start(), len(blind), "foretold")
    for found in row.FOREGOING.finditer(blind):
        before = blind[max(0, found.start() - 24) : found.start()]
        if _LABEL.match(found[0]) and row.LABEL_OF_BEFORE.search(before):
            continue
        if re.search(r"\b(?:not|no|never|without)(?: (?:an?|have to|need to|any|just|here))*\s*$", before):
            continue
        far = blind[found.end() - 1 : found.end() + 1].find(":") >= 0 or re.search(r"follow|next", found[0])
        yield Remark(found.start(), len(blind) if far else found.start(), "foretold")


def _withdrawn(blind: str) -> Iterator[Remark]:
    """What is taken back by what comes behind it; the figure alone that is named: ``the second one is a typo``."""
    for found in row.TAKEN_BACK.finditer(blind):
        if re.search(r"\b(?:not|no|never|am not)\s*$", blind[max(0, found.start() - 12) : found.start() + 2]):
            continue
        said = blind[found.start() : found.end() + 40]
        if re.match(r"[^\w]*i mean\b(?! it)", said) and not re.search(r"\d|not|no\b", said):
            continue
        yield Remark(0, found.end(), "withdrawn")
    for found in row.ONE_WRONG.finditer(blind):
        before = list(_FIGURE.finditer(blind, 0, found.start()))
        place = {"first": 0, "former": -2, "second": 1, "third": 2}.get(found[1].lower(), -1)
        if -len(before) <= place < len(before):
            yield Remark(*before[place].span(), "withdrawn")
            return
