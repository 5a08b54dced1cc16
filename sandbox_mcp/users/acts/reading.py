"""Reads a message: rules and model together, and what the session knows, which counts one way only.

Policy: that the wish is met may turn a question for leave into an offer, and settles whether a true claim is one; that it
is not met never turns a claim into a promise, because a user believes what it is told. Where rules and model differ, the reading that keeps the talk going is
preferred as long as the wish is not met.
"""

import re
from collections.abc import Mapping, Sequence

from sandbox_mcp.users.acts.deeds import classes_in
from sandbox_mcp.users.acts.features import features
from sandbox_mcp.users.acts.kinds import Act, ActReading, Wish
from sandbox_mcp.users.acts.model import UNIT, act_model
from sandbox_mcp.users.acts.plain import Sentence, sentences
from sandbox_mcp.users.acts.rules import RuleReading, read_by_rules
from sandbox_mcp.users.acts.tongue import is_readable, without_data


def read_acts(text: str, wish: Wish, calls: int | None = None, *, met: bool = False) -> ActReading:
    """What an agent's message does to a user with this wish.

    ``calls`` is how many calls have succeeded since the user last spoke, None where that is unknown; ``met`` tells that
    the wish holds in the world. Costs less than a millisecond for a message of usual length, linear in the length.
    """
    text = without_data(text)
    found = sentences(text)
    model = act_model()
    if not is_readable(text, found, model.weights.__contains__, numbers=wish.told):
        return ActReading(Act.UNREADABLE, frozenset({Act.UNREADABLE}))
    rules = read_by_rules(found, wish, calls)
    scores = model.scores(features(found, rules.kinds, wish))
    act, agreed = combined(rules, scores)
    if rules.act is Act.OFFERS and found[-1].asks and act in (Act.DELIVERS, Act.GIVES_UP, Act.CLOSES):
        act = Act.OFFERS  # what was asked for is answered, rather than left standing
    if rules.act is Act.ASKS and found[-1].asks and act is Act.GIVES_UP:
        act = Act.ASKS  # whoever cannot do it alone and ends with a question has not given up
    if rules.act is Act.OFFERS and (_hands_over(found) or (Act.GIVES_UP in rules.acts and _hands_on(found))):
        act = Act.OFFERS  # whoever cannot do it and offers to hand it on wants nothing to be told
    claimed = Act.DELIVERS in (rules.act, max(scores, key=scores.__getitem__))
    if met and claimed and act in (Act.PROMISES, Act.SMALL, Act.OPEN, Act.UNREADABLE):
        act = Act.DELIVERS  # the two readings differ, and what one of them takes for a claim is true
    if met and (act is Act.LEAVE or (act is Act.ASKS and Act.DELIVERS in rules.acts)):
        act = Act.OFFERS
    return ActReading(act, rules.acts, " ".join(rules.asking), rules.grants and act is Act.ASKS, agreed)


def _hands_on(found: Sequence[Sentence]) -> bool:
    """Whether the end of a message is about what lies beyond any wish, such as another person to take over."""
    return "foreign" in classes_in(" ".join(sentence.text for sentence in found[-2:]))


def _hands_over(found: Sequence[Sentence]) -> bool:
    """Whether a message ends with a question about handing the user over to a person."""
    return found[-1].asks and bool(_PERSON.search(" ".join(sentence.text for sentence in found[-2:])))


_PERSON = re.compile(
    r"\b(?:transfer(?:ring)? you|connect(?:ing)? you|human agent|live agent|supervisor|representative)\b"
)


def combined(rules: RuleReading, scores: Mapping[Act, int]) -> tuple[Act, bool]:
    """The act that rules and model speak for together, and whether they agreed.

    The rules' vote counts as much as a lead of ``VOTE`` of the model, and twice that where they see nothing but a
    refusal. Where the model wins, what the rules have seen of its class is taken, such as a delivery rather than giving
    up.
    """
    voted = CLASS_OF.get(rules.act, rules.act)
    refused = rules.acts == frozenset((Act.GIVES_UP,))
    caution = CAUTION * (1 + (voted in _ASKING)) + UNHEARD * (not rules.acts & _HEARD)
    asks = rules.asks or bool(rules.acts & _WAITING)
    weighed = {
        act: score
        + VOTE
        * (1 + refused + 2 * (rules.chooses and voted is Act.ASKS))
        * (act is voted and rules.act is not Act.UNREADABLE)
        - caution * (act in _ENDING and not refused)
        - UNASKED * (act in _WAITING and not asks)
        - PENDING * (act is Act.PROMISES and rules.asks and voted in _ASKING)
        for act, score in scores.items()
    }
    best = max(weighed, key=weighed.__getitem__)
    agreed = max(scores, key=scores.__getitem__) is voted
    if best is voted:
        return rules.act, agreed
    finer = next(
        (act for act in (Act.OPEN, Act.CLOSES, Act.GIVES_UP, Act.PARTS) if CLASS_OF[act] is best and act in rules.acts),
        best,
    )
    return finer, agreed


VOTE = 3 * UNIT // 2
CAUTION = 1 * UNIT
"""So much more must speak for what ends a talk than for what keeps it going; twice that where the rules hear a question."""
UNHEARD = 1 * UNIT
"""And so much more where the rules hear nothing that ends a talk."""
UNASKED = 2 * UNIT
"""And so much more for what waits for an answer where no sentence is a question and the rules hear none."""
PENDING = 2 * UNIT
"""And so much more for a promise beside a question that the rules hear."""
_WAITING = frozenset({Act.ASKS, Act.LEAVE, Act.OPEN, Act.OFFERS})
_HEARD = frozenset({Act.DELIVERS, Act.GIVES_UP, Act.OFFERS, Act.CLOSES})
_ASKING = frozenset({Act.ASKS, Act.LEAVE})
_ENDING = frozenset({Act.DELIVERS, Act.OFFERS})
CLASS_OF: Mapping[Act, Act] = {
    Act.GIVES_UP: Act.DELIVERS, Act.CLOSES: Act.DELIVERS, Act.OPEN: Act.ASKS, Act.UNREADABLE: Act.SMALL,
    Act.PARTS: Act.SMALL,
}  # fmt: skip
"""The class of the model that an act which only the rules know belongs to."""
