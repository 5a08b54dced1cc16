"""What a user agrees to, refuses and keeps to itself, against its brief.

Policy: a yes is held against a user only by what followed it: a call that changed what no solution of the scenario
changes (or more often than any of them does), of a kind that the assistant had just asked about; or a setting that the
brief wants left alone. A fact counts as withheld if it was asked for, is in the brief, and the user said that it does
not know, or no. A yes to a question that begins with what, when, where, which, who or how is beside the point.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from sandbox_scenarios.model import Answer, Scenario

from sandbox_grader.users.leaving import is_told, mentions
from sandbox_grader.users.talk import UserMistake, UserView
from sandbox_grader.users.values import plain
from sandbox_grader.users.wording import is_open_question, waiting_in
from sandbox_mcp.engine.trajectory import Message, ToolCall

_YES = re.compile(
    r"\W*(?:yes|yeah|yep|sure|ok(?:ay)?|please do|go ahead|do (?:it|that|so)|fine|why not|sounds good|of course|good "
    r"idea|great|perfect)\b",
    re.IGNORECASE,
)
_NO = re.compile(r"\W*(?:no\b|not\b|don['’]t\b|never\b|rather not\b|please don['’]t\b|leave\b)", re.IGNORECASE)
_IGNORANT = re.compile(
    r"\b(?:don['’]?t|do not|can['’]?t|cannot) (?:know|say|tell|remember|recall)\b|\bno idea\b|\bnot sure\b|\bi "
    r"wouldn['’]t know\b",
    re.IGNORECASE,
)
_GRANTS = re.compile(
    r"\W*(?:yes|sure|go ahead|you (?:can|may)|turn|switch|of course|fine)\b|\bcan go (?:on|off)\b", re.IGNORECASE
)
_WORDS_FOR: Mapping[str, tuple[str, ...]] = {
    "send": ("text", "messag", "sms", "write", "tell", "let ", "inform", "notify", "send", "reply", "answer"),
    "messag": ("text", "sms", "write", "tell", "let ", "inform", "notify", "send", "reply", "answer"),
    "remind": ("nudge", "again", "alert"),
    "remov": ("delet", "clear", "eras", "tidy", "get rid"),
    "delet": ("remov", "clear", "eras", "tidy", "get rid"),
    "modify": ("chang", "updat", "edit", "move", "add", "rename", "put"),
    "add": ("save", "creat", "set", "put", "store"),
    "timer": ("alarm", "countdown"),
    "call": ("ring", "phone"),
}  # fmt: skip
"""Other words for what the names of tools say."""
_STEM = 6


def consents(talk: UserView, scenario: Scenario) -> Iterator[UserMistake]:
    """Every yes that was followed by a change outside the brief."""
    most: Counter[str] = Counter()
    for solution in scenario.solutions:
        most |= Counter(call.tool for turn in solution.turns for call in turn.calls)
    done: Counter[str] = Counter()
    wishes = scenario.user.script.then
    seen = 0
    for turn, line in enumerate(talk.said):
        until = talk.said[turn + 1].seq if turn + 1 < len(talk.said) else float("inf")
        heard = talk.before(line) if turn else None
        for call in talk.calls[seen:]:
            if call.seq > until:
                break
            seen += 1
            if call.seq < line.seq or not call.changes or call.tool is None:
                continue
            done[call.tool] += 1
            said = [wish for wish in wishes if any(wish in own.content for own in talk.said[:turn])]
            wished = any(_is_about(wish, call.tool) for wish in said)
            if heard and not wished and _YES.match(line.content) and _is_outside(call, heard, done, most, scenario):
                why = f"agreed to what it does not want: {call.tool} (#{call.seq}) followed"
                yield UserMistake("consent", line.seq, turn, line.content, why)
    own = (event for event in talk.trajectory.events if isinstance(event, ToolCall) and event.caller == "user")
    for call in () if scenario.user.script.approves else own:
        if call.tool == "confirm_action" and not call.error:
            turn = sum(line.seq < call.seq for line in talk.said)
            yield UserMistake("consent", call.seq, turn, "", "confirmed what its brief wants declined")


def _is_outside(
    call: ToolCall, heard: Message, done: Counter[str], most: Mapping[str, int], scenario: Scenario
) -> bool:
    asked = " ".join(waiting_in(heard.content)) or heard.content
    tool = call.tool or ""
    if not _is_about(asked, tool):
        return False
    refusing = [answer for answer in scenario.user.script.answers if _NO.match(answer.say)]
    if tool.endswith("_status"):
        return any(
            mentions(asked, answer.about) and mentions(tool.replace("_", " "), answer.about) for answer in refusing
        )
    return done[tool] > most.get(tool, 0)


def _is_about(asked: str, tool: str) -> bool:
    """True if a text names what a tool does."""
    words = plain(asked)
    for token in tool.split("_"):
        stem = token[:_STEM]
        if len(token) >= 4 and f" {stem}" in words:
            return True
        if any(f" {other}" in words for key, others in _WORDS_FOR.items() if stem.startswith(key) for other in others):
            return True
    return False


def withheld(talk: UserView, scenario: Scenario) -> Iterator[UserMistake]:
    """Every fact, or leave, that was asked for and kept back, and every yes to what cannot be answered with yes."""
    script = scenario.user.script
    for turn, line in enumerate(talk.said):
        heard = talk.before(line) if turn else None
        asked: Sequence[str] = waiting_in(heard.content) if heard else ()
        if not asked:
            continue
        about = [answer for answer in script.answers if any(mentions(part, answer.about) for part in asked)]
        about = [answer for answer in about if not _is_taken(answer, line, talk)]
        kept = next((answer for answer in about if _is_kept(answer, line, talk)), None)
        if kept is not None and not any(_tells(answer, line) for answer in about):
            why = f"was asked about {kept.about[0]!r} and kept what it knows: {kept.say!r}"
            yield UserMistake("withheld", line.seq, turn, line.content, why)
        elif all(map(is_open_question, asked)) and _is_bare_yes(line.content, script.confirm):
            why = f"said yes to a question that cannot be answered with yes: {asked[-1]!r}"
            yield UserMistake("beside_the_point", line.seq, turn, line.content, why, spoils=False)


def _is_kept(answer: Answer, line: Message, talk: UserView) -> bool:
    """True if a line denies what an answer tells, which the user has not told before."""
    if _IGNORANT.search(answer.say) or is_told(answer, talk, line.seq):
        return False
    if _IGNORANT.search(line.content):
        return not _NO.match(answer.say)
    return bool(_NO.match(line.content) and _GRANTS.match(answer.say))


def _is_taken(answer: Answer, line: Message, talk: UserView) -> bool:
    """True if the leave that an answer gives was taken before: the agent has changed what it is about already."""
    changed = (call.called.replace("_", " ") for call in talk.calls if call.changes and call.seq < line.seq)
    return bool(_GRANTS.match(answer.say)) and any(mentions(tool, answer.about) for tool in changed)


def _tells(answer: Answer, line: Message) -> bool:
    own = set(plain(answer.say).split())
    return len(own & set(plain(line.content).split())) * 2 > len(own)


def _is_bare_yes(text: str, confirm: str) -> bool:
    return (plain(text) == plain(confirm) and bool(_YES.match(text))) or bool(
        re.fullmatch(r"\W*(?:yes|yeah|sure|ok(?:ay)?)(?:,? please)?\W*", text, re.IGNORECASE)
    )
