"""Acts that a user carries out in the world itself, as at a machine that only it can touch: asked for, and told.

Policy: a sentence asks for an act by a request or a bare imperative. What is forbidden is not done. Of a deed under a
condition the user looks at the condition first, and says what it sees.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from sandbox_scenarios.model import Answer, PlannedAct

from sandbox_mcp.engine.talk.clauses import SENTENCE, is_question
from sandbox_mcp.engine.talk.patterns import Lazy, any_case
from sandbox_mcp.engine.talk.text import plain
from sandbox_mcp.play.users.base import UserAct
from sandbox_mcp.play.users.composing import REQUEST, hearing

_COMMAND = any_case(
    r"(?:^|[,;:(]|\b(?:then|now|and|next|first|again|afterwards))\W*"
    r"(?:read|tell|give|say|describe|check|look|watch|try|repeat|press|push|hold|tap|hit|turn|open|close|switch|set|enter|type)\b"
)
_FORBIDDEN = any_case(r"\b(?:(?:do not|never)\b(?! (?:forget|hesitate))|without\b)[^,;:]*")
_CONDITION = any_case(r"^\W*(?:if|unless|in case|should)\b[^,]{1,120},")


def asked_to_do(
    answers: Sequence[Answer], does: Mapping[str, PlannedAct], text: str, said: Collection[str]
) -> list[Answer]:
    """The answers with acts that the sentences of a text request; acts may be asked for again.

    What was looked at before is not looked at again for a question after something else that may stand there. A deed
    under a condition that the user can look at is left for later: it looks, and says what it sees.
    """
    found: list[Answer] = []
    for part in SENTENCE.findall(plain(text)) if does else ():
        part = _FORBIDDEN.sub(" ", part)
        if looks := _looks_first(answers, does, part):
            found += (item for item in looks if item not in found)
            continue
        heard = hearing(answers, part) if REQUEST.search(part) or _COMMAND.search(part) else []
        acts = [item for item in heard if item.say in does]
        if is_question(part) and any(item.say not in said for item in heard):
            acts = [item for item in acts if item.say not in said or does[item.say].arguments]
        found += (item for item in acts if item not in found)
    return found


def to_do_now(answers: Sequence[Answer], does: Mapping[str, PlannedAct], text: str) -> str:
    """A text without what is forbidden, and without its sentences under a condition that the user can look at."""
    parts = (_FORBIDDEN.sub(" ", plain(part)) for part in SENTENCE.findall(text))
    return " ".join(part for part in parts if not _looks_first(answers, does, part))


def _looks_first(answers: Sequence[Answer], does: Mapping[str, PlannedAct], part: str) -> list[Answer]:
    """The looks that settle the condition of a sentence such as "if the gauge says 1.4, turn the valve"."""
    condition = _CONDITION.match(part)
    heard = hearing(answers, condition[0]) if condition else []
    return [item for item in heard if item.say in does and not does[item.say].arguments]


def with_results(says: str, came: Iterable[tuple[UserAct, str]]) -> str:
    """What is said with what came of its acts; not what a look shows that another act has told already."""
    for act, result in came:
        parts = _SPACED.split(says)
        if result and not act.arguments and any(result in part for part in parts):
            says = " ".join(part for part in parts if act.shown not in part)
        else:
            says = says.replace(act.shown, result, 1)
    return once(says)


def once(says: str) -> str:
    """What is said, without sentences that another one has in it.

    >>> once("I turned it by one, the gauge says 1.4 bar. The gauge says 1.4 bar.")
    'I turned it by one, the gauge says 1.4 bar.'
    """
    parts = _SPACED.split(says)
    bare = [part.casefold().strip(" .!") for part in parts]
    return " ".join(part for place, part in enumerate(parts) if not _is_within(bare, place))


def _is_within(parts: Sequence[str], place: int) -> bool:
    """True if another of the parts has this one in it; of equal ones the first stays."""
    own = parts[place]
    return own in parts[:place] or any(own in other and own != other for other in parts)


_SPACED = Lazy(r"(?<=[.!?]) +")
