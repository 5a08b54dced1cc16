"""Reads a message: rules and model together, and what the session knows, which counts one way only.

Policy: that the wish is met may turn a question for leave into an offer, and settles whether a true claim is one; that it
is not met never turns a claim into a promise, because a user believes what it is told. Where rules and model differ, the reading that keeps the talk going is
preferred as long as the wish is not met.
"""

import re
from collections.abc import Mapping, Sequence

from sandbox_mcp.play.users.acts.answers import is_beside
from sandbox_mcp.play.users.acts.deeds import WORD, classes_in, names_more, tries_again
from sandbox_mcp.play.users.acts.kinds import Act, ActReading, Wish
from sandbox_mcp.play.users.acts.language import is_readable, without_data
from sandbox_mcp.play.users.acts.model import UNIT, act_model, features
from sandbox_mcp.play.users.acts.plain import Sentence, sentences
from sandbox_mcp.play.users.acts.rules import RuleReading, read_by_rules
from sandbox_mcp.play.users.acts.said import proposes


def read_acts(text: str, wish: Wish, calls: int | None = None, *, met: bool = False) -> ActReading:
    """What an agent's message does to a user with this wish.

    ``calls`` is how many calls have succeeded since the user last spoke, None where that is unknown; ``met`` tells that
    the wish holds in the world. Costs less than a millisecond for a message of usual length, linear in the length.
    """
    text = _spoken(text, wish)
    found = sentences(text)
    model = act_model()
    if not is_readable(text, found, model.weights.__contains__, numbers=wish.told):
        return ActReading(Act.UNREADABLE, frozenset({Act.UNREADABLE}))
    rules = read_by_rules(found, wish, calls)
    scores = model.scores(features(found, rules.kinds, wish))
    act = combined(rules, scores)
    if rules.act is Act.OFFERS and act in (Act.DELIVERS, Act.GIVES_UP, Act.CLOSES):
        act = Act.OFFERS  # what was asked for is answered, rather than left standing
    if rules.act is Act.ASKS and found[-1].asks and act is Act.GIVES_UP:
        act = Act.ASKS  # an agent that cannot do it alone and ends with a question has not given up
    hands_on = Act.GIVES_UP in rules.acts and act is not Act.LEAVE and _hands_on(found)
    if rules.act is Act.OFFERS and (hands_on or _hands_over(found)):
        act = Act.OFFERS  # an agent that cannot do it and offers to hand it on needs to be told nothing
    if act is Act.OFFERS and rules.act is Act.LEAVE and _serves(rules, wish):
        act = Act.LEAVE
    if act is Act.SMALL and not met and (rules.act is Act.OPEN or (not calls and _only_greets(found))):
        act = Act.OPEN  # an agent that says nothing but hello waits to hear what is wanted
    if act is Act.LEAVE and rules.chooses:
        act = Act.ASKS  # a yes would choose neither
    if act is Act.DELIVERS and is_beside(text, wish.sought, wish.words):
        act = Act.PROMISES if calls else Act.UNREADABLE  # a fact of another kind than what was asked for
    claimed = Act.DELIVERS in (rules.act, max(scores, key=scores.__getitem__))
    if met and claimed and act in (Act.PROMISES, Act.SMALL, Act.OPEN, Act.UNREADABLE):
        act = Act.DELIVERS  # the two readings differ, and what one of them takes for a claim is true
    if met and act is Act.ASKS and claimed and Act.DELIVERS in rules.acts and not found[-1].asks:
        act = Act.DELIVERS  # the question was one that the message itself answers
    if met and (act is Act.LEAVE or (act is Act.ASKS and (Act.DELIVERS in rules.acts or _asks_more(rules)))):
        act = Act.OFFERS
    return ActReading(act, rules.acts, " ".join(rules.asking), rules.grants and act is Act.ASKS)


def _spoken(text: str, wish: Wish) -> str:
    """A message without data before it, and out of quotation marks around all of it, unless it may be a text that was wanted."""
    text = without_data(text)
    return text if wish.told else _ALL_QUOTED.sub(r"\1", text)


_ALL_QUOTED = re.compile(r'\A\s*["“]([^"“”]+)["”]\s*\Z')


def _asks_more(rules: RuleReading) -> bool:
    """Whether what is asked is a question for yes or no about more than was wanted."""
    asking = " ".join(rules.asking)
    return not rules.chooses and not any(map(_SEEKS.search, rules.asking)) and (proposes(asking) or names_more(asking))


_SEEKS = re.compile(
    r"^(?:(?:and|so|but|only|now|then|sorry|okay|oh) ,?)*(?:(?:for|to|at|from|in|on|by|with|about|until|of) )?"
    r"(?:which|what|whom?|when|where|how (?:much|many|long|far|late))\b(?! (?:an?|about|else|if)\b)"
)


def _hands_on(found: Sequence[Sentence]) -> bool:
    """Whether the end of a message is about what lies beyond any wish, such as another person to take over."""
    return "foreign" in classes_in(" ".join(sentence.text for sentence in found[-2:]))


def _hands_over(found: Sequence[Sentence]) -> bool:
    """Whether a message ends with a question about handing the user over to a person."""
    return found[-1].asks and bool(_PERSON.search(" ".join(sentence.text for sentence in found[-2:])))


def _serves(rules: RuleReading, wish: Wish) -> bool:
    """Whether leave is asked for another try, or before anything was done or refused: in the wish's words, or beside an offer."""
    asking = " ".join(rules.asking)
    if tries_again(asking):
        return True
    told = {word for word in WORD.findall(asking) if len(word) > _SHORT}
    return not rules.acts & {Act.DELIVERS, Act.GIVES_UP} and (Act.OFFERS in rules.acts or bool(told & wish.words))


_SHORT = 4
"""Letters of words that stand in too many sentences to tell what one is about."""


def _only_greets(found: Sequence[Sentence]) -> bool:
    """Whether a message is a greeting of a few words and agrees to nothing."""
    words = [word for sentence in found for word in sentence.text.split()]
    text = " ".join(words)
    return len(words) <= _FEW and bool(_GREETING.match(text)) and not _AGREES.search(text)


_FEW = 10
_GREETING = re.compile(r"(?:hello|hi|hey|hiya|howdy|yo|greetings|welcome|good (?:day|morning|afternoon|evening))\b")
_AGREES = re.compile(
    r"\b(?:sure|certainly|okay|of course|gladly|absolutely|understood|right|yes|thanks?|on it|will do|no problem|bye)\b"
)
_PERSON = re.compile(
    r"\b(?:transfer(?:ring)? you|connect(?:ing)? you|human agent|live agent|supervisor|representative)\b"
)


def combined(rules: RuleReading, scores: Mapping[Act, int]) -> Act:
    """The act that rules and model speak for together.

    The rules' vote counts as much as a lead of ``VOTE`` of the model, and more where they see nothing but a
    refusal or a delivery. Where the model wins, what the rules have seen of its class is taken, such as a delivery rather than giving
    up.
    """
    voted = CLASS_OF.get(rules.act, rules.act)
    refused = rules.acts == frozenset((Act.GIVES_UP,))
    gave_up = Act.GIVES_UP in rules.acts
    caution = CAUTION * (1 + (voted in _ASKING)) + UNHEARD * (not rules.acts & _HEARD)
    alone = ALONE * refused
    if rules.acts == frozenset((Act.DELIVERS,)):
        alone, caution = ALONE // 2, 0
    asks = rules.asks or bool(rules.acts & _WAITING)
    sought = rules.asks and voted in _ASKING and any(map(_SEEKS.search, rules.asking))
    weighed = {
        act: score
        + (VOTE + alone) * (act is voted and rules.act is not Act.UNREADABLE)
        - caution * (act in _ENDING and not refused and not (gave_up and act is Act.OFFERS))
        - caution * (act is Act.UNREADABLE)
        - UNASKED * (act in _WAITING and not asks)
        - SOUGHT * (sought and (act is Act.PROMISES or (act in _ENDING and not refused)))
        for act, score in scores.items()
    }
    best = max(weighed, key=weighed.__getitem__)
    if best is voted:
        return rules.act
    return next(
        (act for act in (Act.OPEN, Act.CLOSES, Act.GIVES_UP, Act.PARTS) if CLASS_OF[act] is best and act in rules.acts),
        best,
    )


VOTE = UNIT // 4
ALONE = 3 * UNIT // 4
"""So much more where they see nothing but a refusal, and half of it where nothing but a delivery."""
CAUTION = 5 * UNIT // 8
"""So much more must speak for what ends a talk than for what keeps it going; twice that where the rules hear a question, and
nothing where they hear a delivery alone."""
UNHEARD = 3 * UNIT // 4
"""And so much more where the rules hear nothing that ends a talk."""
UNASKED = 3 * UNIT // 8
"""And so much more for what waits for an answer where no sentence is a question and the rules hear none."""
SOUGHT = 3 * UNIT
"""And so much more for what waits for no answer where a question begins with which, what, who and the like."""
_WAITING = frozenset({Act.ASKS, Act.LEAVE, Act.OPEN, Act.OFFERS})
_HEARD = frozenset({Act.DELIVERS, Act.GIVES_UP, Act.OFFERS, Act.CLOSES})
_ASKING = frozenset({Act.ASKS, Act.LEAVE})
_ENDING = frozenset({Act.DELIVERS, Act.OFFERS})
CLASS_OF: Mapping[Act, Act] = {
    Act.GIVES_UP: Act.DELIVERS, Act.CLOSES: Act.DELIVERS, Act.OPEN: Act.ASKS, Act.PARTS: Act.SMALL,
}  # fmt: skip
"""The class of the model that an act which only the rules know belongs to."""
