"""Reads a message: the trained model decides, and what the session knows counts one way only.

Policy: that the wish is met may turn a question for leave into an offer; that it is not met never turns a claim into a
promise, because a user believes what it is told. An offer or a question that names nothing is one of help in general.
"""

import json
import re
from collections.abc import Iterator, Sequence

from sandbox_mcp.engine.talk.acts.kinds import WAITING, Act, ActReading, ReadSentence
from sandbox_mcp.engine.talk.acts.model import TOKEN, ActModel, act_model, features, stems
from sandbox_mcp.engine.talk.clauses import SENTENCE, is_question, read
from sandbox_mcp.engine.talk.inability import is_unable
from sandbox_mcp.engine.talk.patterns import WORDY, Lazy
from sandbox_mcp.engine.talk.text import lowered, plain

HEAD, TAIL = 6, 8
"""So many sentences at the start and at the end of a message are read, where acts stand."""
_QUOTED = Lazy(r'"[^"\n]{0,600}"')
_DRAFT = Lazy(
    r"^[ \t]*(?:>|\W{0,6}(?:\w+ )?(?:text|message|content|body|subject|title)\W{0,3}:)"
    r"(?:\W{0,6}[\"“][^\"”\n]*[\"”]|.*$)",
    re.MULTILINE | WORDY,
)
_DATA = Lazy(r"\s*(?:[{\[<]|\w{2,40}\()")
_WORD = Lazy(r"[^\W\d_]+(?:'\w+)?")
_BRIEF = 400
"""Characters in which what cannot be had is looked for where the model makes nothing of a message."""
_KNOWN = 0.4
"""Of the words of an English message, without those in capitals, at least so many were seen in training."""
GENERAL = stems(
    "help helping assist assistance anything something everything else further more question questions need needs "
    "today know do doing can able happy glad free feel back time day still other would ask asking let want wish please "
    "service how what well also too repeat rephrase again clarify mean understand request get hello hi welcome good "
    "morning shall"
)
"""Stems that name nothing: an offer with no others is one of help in general."""
_HELP = Lazy(
    r"\b(?:help|assist|do for you|me to do\b(?! (?:that|this|it|so))|anything|something|else|further|rephrase|repeat"
    r"|understand)\b"
)


def read_acts(text: str, wish: str, calls: int | None = None, *, met: bool = False) -> ActReading:
    """Act of an agent's message towards a user with this wish, in the user's own words.

    ``calls`` is how many calls have succeeded since the user last spoke, None where unknown; ``met`` tells that
    the wish holds in the world. Linear in the length of the message.
    """
    model, wanted = act_model(), stems(wish)
    found = sentences(text)
    if not found or not _is_readable(text, model):
        return ActReading(Act.UNREADABLE)
    act = model.best(features(found, wanted))
    act = Act.GIVES_UP if act is Act.UNREADABLE and any(map(is_unable, read(text[:_BRIEF]).clauses)) else act
    reading = ActReading(act, tuple(_parts(found, model, wanted, act)))
    act = _ended_by_a_question(reading, met=met)
    if act in WAITING and _is_general(reading.asking, act):
        told = reading.has(Act.DELIVERS) or bool(calls) or met
        act = Act.CLOSES if told or act is Act.OFFERS else Act.OPEN
    elif act is Act.OFFERS or (met and act is Act.LEAVE):
        act = _of_an_offer(reading, wanted, met=met, calls=calls)
    elif act is Act.UNREADABLE and calls and any(char.isdigit() for char in text):
        act = Act.DELIVERS  # a bare value, after a look-up
    elif act is Act.SMALL and calls and reading.has(Act.DELIVERS):
        act = Act.DELIVERS  # praise of the question before its answer
    if met and act in _UNASKED and not reading.asks:
        act = Act.DELIVERS  # it asks nothing, and what the user wants is there
    return ActReading(act, reading.sentences)


def _ended_by_a_question(reading: ActReading, *, met: bool) -> Act:
    """The act of a message; a question at its end is answered, whatever stands before it."""
    act, last = reading.act, reading.sentences[-1]
    if not is_question(last.text):
        return act
    if _HELP.search(last.text):
        return Act.OFFERS if act is Act.ASKS and reading.has(Act.DELIVERS) else act
    if act not in (Act.DELIVERS, Act.GIVES_UP):
        return act
    if last.act in (Act.OFFERS, Act.LEAVE):
        return Act.OFFERS
    return act if met else last.act


def _of_an_offer(reading: ActReading, wanted: frozenset[str], *, met: bool, calls: int | None) -> Act:
    """The act of what seems to be an offer: leave for the wish, news, a refusal with advice, or an offer."""
    refuses, asks = reading.has(Act.GIVES_UP), reading.asks
    if not (calls or met) and _offers_the_wish(reading.sentences, wanted):
        return Act.LEAVE
    leave = any(item.act is Act.LEAVE and is_question(item.text) for item in reading.sentences)
    if leave and not (calls or met or refuses or reading.has(Act.DELIVERS)):
        return Act.LEAVE  # beside what serves the wish something more is offered
    if not asks and refuses:
        return Act.GIVES_UP  # what the user might do itself is no offer
    return Act.OFFERS if asks or _OF_ITSELF.search(reading.asking) else Act.DELIVERS


def _is_general(asking: str, act: Act) -> bool:
    """True if the thing asked or offered has no name: help, something, anything else."""
    if not asking or stems(asking) - GENERAL:
        return False
    return bool(_HELP.search(asking)) or (act is Act.OFFERS and not is_question(asking))


_OF_ITSELF = Lazy(r"\b(?:i (?:\w+ )?(?:can|could|will|would|may|might)|let me|tell me|me to|just say)\b")
_UNASKED = frozenset({Act.ASKS, Act.LEAVE, Act.PROMISES, Act.UNREADABLE})
"""Acts that a message hardly does in which no sentence is a question, once the wish is met."""


def _offers_the_wish(parts: Sequence[ReadSentence], wanted: frozenset[str]) -> bool:
    """True if a question for leave, with what stands right before it, names two things of the wish."""
    if not is_question(parts[-1].text):
        return False
    refused = (item.act is Act.GIVES_UP for item in parts[-2:])
    near = (item.text.partition(" but ")[2] if no else item.text for item, no in zip(parts[-2:], refused, strict=True))
    return len(stems(" ".join(near)) & wanted) > 1


def sentences(text: str) -> list[str]:
    """The sentences of a message in lower case, a mark in the place of each quotation: a draft does nothing itself.

    >>> sentences('I sent "See you?". Anything else?')
    ['i sent _.', 'anything else?']
    """
    bare = _QUOTED.sub(" _ ", _undressed(plain(_DRAFT.sub(" _ ", _without_data(text)))))
    found = [part.strip() for part in SENTENCE.findall(lowered(bare)) if "?" in part or any(map(str.isalnum, part))]
    return found if len(found) <= HEAD + TAIL else [*found[:HEAD], *found[-TAIL:]]


def _undressed(text: str) -> str:
    """A text that stands in quotation marks as a whole, without them."""
    bare = text.strip()
    return bare[1:-1] if bare[:1] == bare[-1:] == '"' and bare.count('"') == 2 and "\n" not in bare else text


def _without_data(text: str) -> str:
    """A message without a value of JSON before what it says."""
    bare = text.lstrip()
    if bare[:1] not in ("{", "["):
        return text
    try:
        _, end = json.JSONDecoder().raw_decode(bare)
    except (ValueError, RecursionError):
        return text
    return bare[end:] if bare[end:].strip() else text


def _is_readable(text: str, model: ActModel) -> bool:
    """True if a message is English: words in small letters that were seen in training, or a name, or a number."""
    bare = plain(_without_data(text))
    words = [word.lower() for word in _WORD.findall(bare) if word[0].islower() or word in ("I", "A")]
    known = sum(map(model.knows, words))
    equates = "=" in text and "=" in bare  # in the words, and not in a tag
    if (_DATA.match(bare) and known < len(words) - 1) or (equates and known <= 1):
        return False
    letters = [char for char in bare if char.isalpha()]
    if letters and not any(char.isascii() for char in letters):
        return False
    digits = any(char.isdigit() for char in bare)
    brief = (digits or "?" in bare) and len(words) <= HEAD and not equates
    return (known >= _KNOWN * len(words) or brief) and bool(letters or digits or "?" in bare)


def _parts(found: Sequence[str], model: ActModel, wanted: frozenset[str], act: Act) -> Iterator[ReadSentence]:
    """Each sentence with what it does by itself; a list that a request announces belongs to it."""
    if len(found) == 1:
        yield ReadSentence(found[0], act)
        return
    listed: Act | None = None
    for place, sentence in enumerate(found):
        own = model.best(features([sentence], wanted))
        if is_question(sentence) and own not in WAITING:
            own = act if act in WAITING and place == len(found) - 1 else Act.ASKS
        elif listed is not None and len(TOKEN.findall(sentence)) <= _ITEM:
            own = listed
        listed = own if own is Act.ASKS and sentence.endswith(":") else listed if own is listed else None
        yield ReadSentence(sentence, own)


_ITEM = 12
"""Words of an entry of a list at most."""
