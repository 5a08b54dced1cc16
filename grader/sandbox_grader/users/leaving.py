"""How a user leaves: before it should have, or not at all.

Policy: judged by what happened, not by how a user reads. A user leaves too early if the agent has just asked for what
the user can say and never said; if nothing has been called, reported or refused yet, and the agent has not been heard
as often as the user has patience; if the agent had only announced its next step while the wish was unmet; or if the
user has not even asked for all it wants, although nothing was refused. It does not leave if the limit on turns was
reached while the agent had long nothing to ask and nothing to do, or if it says the same over and over to an agent that
asks nothing. A user that was served is never too early.

Source: ToolSandbox, section 2.2 and table 2, instruction following; a program sees its part about leaving.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from sandbox_scenarios.model import Answer, Scenario

from sandbox_grader.users.talk import UserMistake, UserView
from sandbox_grader.users.values import plain
from sandbox_grader.users.wording import announces, denies, is_open_question, says_nothing_done, waiting_in
from sandbox_mcp.engine.trajectory import Message

IDLE = 3
"""So many answers in a row that ask nothing, without a call between them, and a user should have left."""
CUT_OFF = frozenset({"length", "max_tokens", "max_output_tokens", "max_steps"})
"""Why a model stopped before its reply was whole, as endpoints name it."""
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


def early_end(talk: UserView, scenario: Scenario, achieved: Callable[[], float]) -> Iterator[UserMistake]:
    """The mistake of leaving too early, if strict grading gives less than 1 for what was ``achieved``."""
    ended = talk.trajectory.ended
    if ended is None or ended.reason != "user_ended" or not talk.answers:
        return
    last = talk.answers[-1]
    if (last.meta or {}).get("finish") in CUT_OFF:  # what it would have said is not for its user to guess
        return
    if achieved() >= 1:  # it was served
        return
    if why := _unanswered(talk, scenario) or _unasked(talk, scenario) or _unserved(talk, scenario):
        yield UserMistake("early_end", ended.seq, len(talk.said), " ".join(last.content.split()), why)


def _unanswered(talk: UserView, scenario: Scenario) -> str | None:
    """What the assistant still waited for."""
    last = talk.answers[-1].content
    waiting = waiting_in(last)
    if not waiting or (denies(last) and not last.rstrip(" *_\"')").endswith("?")):
        return None
    before = [part for line in talk.answers[:-1] for part in waiting_in(line.content)]
    if (
        any(not is_open_question(part) for part in waiting)
        and not before
        and not talk.acted_between(-1, talk.said[-1].seq)
    ):
        return "left while the assistant waited for a yes or no"
    about = [answer for answer in scenario.user.script.answers if any(mentions(part, answer.about) for part in waiting)]
    if any(not is_told(answer, talk) and not any(mentions(part, answer.about) for part in before) for answer in about):
        return "left while the assistant waited for an answer that the user has"
    if (
        not talk.calls
        and len(talk.answers) < scenario.user.script.patience
        and all(waiting_in(line.content) for line in talk.answers)
    ):
        return "left before the assistant had done or answered anything"
    return None


def _unserved(talk: UserView, scenario: Scenario) -> str | None:
    """What the assistant had not come to yet."""
    last, since = talk.answers[-1], talk.said[-1].seq
    if waiting_in(last.content) or any(denies(line.content) for line in talk.answers):
        return None
    quiet = 0
    for line in reversed(talk.answers):
        if talk.acted_between(talk.said[-1].seq if line is last else line.seq, last.seq) or not says_nothing_done(
            line.content
        ):
            break
        quiet += 1
    if not talk.calls and quiet and quiet == len(talk.answers) < scenario.user.script.patience:
        return "left before the assistant had done or answered anything"
    acted = any(call.changes for call in talk.calls if call.seq > since)
    if announces(last.content) and not acted and 0 < quiet < scenario.user.script.patience:
        return "left while the assistant had only said what it would do next"
    return None


def _unasked(talk: UserView, scenario: Scenario) -> str | None:
    """What the user wanted and never asked for."""
    if waiting_in(talk.answers[-1].content) or any(denies(line.content) for line in talk.answers):
        return None
    user = scenario.user
    if len(_idle_tail(talk)) >= user.script.patience:
        return None
    told = {word for line in talk.lines for word in _words(line.content)}
    common = {word for answer in user.script.answers for word in _words(answer.say)} | set(_words(user.opening))
    for line in user.script.then:
        own = {word for word in _words(line) if word not in common}
        if len(own) > 1 and not own & told:
            return f"left without asking for all it wanted: {line!r}"
    return None


def endless(talk: UserView) -> Iterator[UserMistake]:
    """The mistake of not leaving, at most once."""
    ended = talk.trajectory.ended
    tail = _idle_tail(talk)
    if ended and ended.reason == "max_turns" and len(tail) >= IDLE:
        why = f"stayed to the limit of turns, although the assistant's last {len(tail)} answers asked nothing"
        yield UserMistake("endless", ended.seq, len(talk.said), " ".join(tail[-1].content.split()), why)
        return
    times = 1
    for turn, (before, line) in enumerate(zip(talk.said, talk.said[1:], strict=False), start=1):
        answer = talk.before(line)
        same = plain(before.content) == plain(line.content) and not talk.acted_between(before.seq, line.seq)
        times = times + 1 if same and answer and not waiting_in(answer.content) else 1
        if times == SAME:
            why = f"said the same {SAME} times in a row to an assistant that asked nothing"
            yield UserMistake("endless", line.seq, turn, line.content, why, spoils=False)
            return


def _idle_tail(talk: UserView) -> Sequence[Message]:
    """The last answers that ask nothing and have no call between them."""
    tail: list[Message] = []
    for line in reversed(talk.answers):
        if waiting_in(line.content) or (tail and talk.acted_between(line.seq, tail[0].seq)):
            break
        tail.insert(0, line)
    return tail


def mentions(text: str, phrases: Sequence[str]) -> bool:
    """True if one of the phrases occurs in a text, as whole words."""
    return any(_as_whole_words(phrase).search(text) for phrase in phrases)


@lru_cache(maxsize=4096)  # a suite's scripts have more phrases than re remembers
def _as_whole_words(phrase: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(phrase)}(?!\w)", re.IGNORECASE)


def is_told(answer: Answer, talk: UserView, until: int | None = None) -> bool:
    """True if the user has told what an answer of its script tells; ``until`` is the event up to which it counts."""
    own = {word for word in plain(answer.say).split() if len(word) >= _LONG or word.isdigit()}
    said = {word for line in talk.said if until is None or line.seq <= until for word in plain(line.content).split()}
    return len(own & said) * 2 >= len(own)


def _words(text: str) -> list[str]:
    return [word for word in plain(text).split() if len(word) >= _LONG and word not in _EMPTY]
