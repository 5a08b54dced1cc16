"""How a user leaves: before it should have, or not at all.

Policy: a user leaves too early if the agent has just asked for something that the user can say and has not said; if
the agent has only asked so far, less often than the user has patience; or if it has not even asked for all it wants,
although the agent refused nothing. It does not leave if the limit on turns was reached while the agent had long
nothing to ask and nothing to do, or if it says the same over and over to an agent that asks nothing. What a user could
say is in its script; an agent that asks the same again and again has used up its answer.

Source: ToolSandbox, section 2.2 and table 2, instruction following, of which leaving is the part that a program sees.
"""

from collections.abc import Iterator, Sequence

from sandbox_scenarios.model import Answer, Scenario

from sandbox_grader.users.talk import UserMistake, UserView
from sandbox_grader.users.values import plain
from sandbox_mcp.speech import asks_leave, mentions, question_in, refuses
from sandbox_mcp.trajectory import Message

IDLE = 3
"""So many answers in a row that ask nothing, without a call between them, and a user should have left."""
SAME = 4
"""So often the same words in a row, and a user is stuck."""
_LONG = 4
"""Letters from which a word says something."""
_EMPTY = frozenset(
    {
        "also", "another", "could", "have", "just", "more", "please", "tell", "that", "them", "then", "they", "this",
        "want", "what", "with", "would",
    }
)  # fmt: skip


def early_end(talk: UserView, scenario: Scenario) -> Iterator[UserMistake]:
    """That the user left too early, at most once."""
    ended = talk.trajectory.ended
    if ended is None or ended.reason != "user_ended" or not talk.answers:
        return
    last = talk.answers[-1]
    why = _unanswered(talk, scenario) or _unasked(talk, scenario)
    if why:
        yield UserMistake("early_end", ended.seq, len(talk.said), " ".join(last.content.split()), why)


def _unanswered(talk: UserView, scenario: Scenario) -> str | None:
    """What the assistant still waited for."""
    asked = question_in(talk.answers[-1].content)
    if not asked:
        return None
    answers = scenario.user.script.answers
    if asks_leave(asked) and not any(asks_leave(q) for q in _questions(talk.answers[:-1])):
        return "left while the assistant waited for a yes or no"
    about = [answer for answer in answers if mentions(asked, answer.about)]
    if about and not any(mentions(q, _phrases(about)) for q in _questions(talk.answers[:-1])):
        return "left while the assistant waited for an answer that the user has"
    only_asked = not talk.calls and all(map(question_in, (line.content for line in talk.answers)))
    if only_asked and len(talk.answers) < scenario.user.script.patience:
        return "left before the assistant had done or answered anything"
    return None


def _unasked(talk: UserView, scenario: Scenario) -> str | None:
    """What the user wanted and never asked for."""
    if question_in(talk.answers[-1].content) is not None or any(refuses(line.content) for line in talk.answers):
        return None
    user = scenario.user
    told = {word for line in talk.lines for word in _words(line.content)}
    common = {word for answer in user.script.answers for word in _words(answer.say)} | set(_words(user.opening))
    for line in user.script.then:
        own = {word for word in _words(line) if word not in common}
        if len(own) > 1 and not own & told:
            return f"left without asking for all it wanted: {line!r}"
    return None


def endless(talk: UserView) -> Iterator[UserMistake]:
    """That the user did not leave, at most once."""
    ended = talk.trajectory.ended
    tail = _idle_tail(talk)
    if ended and ended.reason == "max_turns" and len(tail) >= IDLE:
        why = f"stayed to the limit of turns, although the assistant's last {len(tail)} answers asked nothing"
        yield UserMistake("endless", ended.seq, len(talk.said), " ".join(tail[-1].content.split()), why)
        return
    stuck = _stuck(talk)
    if stuck:
        why = f"said the same {SAME} times in a row to an assistant that asked nothing"
        yield UserMistake("endless", stuck.seq, talk.said.index(stuck), stuck.content, why, spoils=False)


def _idle_tail(talk: UserView) -> Sequence[Message]:
    """The last answers that ask nothing and have no call between them."""
    tail: list[Message] = []
    for line in reversed(talk.answers):
        if question_in(line.content) is not None or (tail and talk.acted_between(line.seq, tail[0].seq)):
            break
        tail.insert(0, line)
    return tail


def _stuck(talk: UserView) -> Message | None:
    """The line with which the user has said the same too often."""
    count = 1
    for before, line in zip(talk.said, talk.said[1:], strict=False):
        answer = talk.before(line)
        same = plain(before.content) == plain(line.content) and not talk.acted_between(before.seq, line.seq)
        count = count + 1 if same and answer and question_in(answer.content) is None else 1
        if count == SAME:
            return line
    return None


def _questions(lines: Sequence[Message]) -> Iterator[str]:
    return (asked for line in lines if (asked := question_in(line.content)))


def _phrases(answers: Sequence[Answer]) -> tuple[str, ...]:
    return tuple(phrase for answer in answers for phrase in answer.about)


def _words(text: str) -> list[str]:
    return [word for word in plain(text).split() if len(word) >= _LONG and word not in _EMPTY]
