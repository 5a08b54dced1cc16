"""A user that falls out of its part: it speaks as an assistant does, or says the assistant's own words.

Policy: only what no person would write is counted. None of it spoils a session: the agent can answer it.

Source: ToolSandbox, table 2, instruction following, and figure 5.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from sandbox_grader.users.talk import UserMistake, UserView
from sandbox_grader.users.values import plain
from sandbox_mcp.engine.trajectory import Message

_CALLS_ITSELF = (
    r"\b(?:as|I am|I['’]m|being) (?:just |only )?(?:an? )?(?:AI|artificial intelligence|(?:large )?language model|"
    r"(?:AI|digital|virtual) assistant|chatbot)\b|\bas your assistant\b|\bI(?:['’]m| am) (?:your|the|an?) "
    r"(?:\w+ )?assistant\b"
)
_OFFERS = (
    r"\bhow (?:else )?(?:can|may|could) I (?:help|assist|be of)\b|\banything else I can (?:help|assist|do)\b"
    r"|\b(?:happy|glad|here) to (?:help|assist)\b(?! me\b)|\bwhat (?:can|may) I (?:help|do for) you\b"
    r"|\blet me know if you (?:need|want|have) (?:any(?:thing)? |further |more )*(?:else|help|assistance|questions?)\b"
)
_HEADING = r"^#{1,6} \S|^\*\*[^*\n]+\*\*:?\s*$"
_LIST = r"(?:^(?:[-*•]|\d+[.)]) \S.*\n+){2,}^(?:[-*•]|\d+[.)]) \S"
LIST = "uses a list"
_CALL = (
    r"</?(?:tool_call|function_call|function|tool)\b|\[TOOL_CALLS\]|\bend_conversation\b|\bconfirm_action\b"
    r'|\{\s*"(?:name|tool|function)"\s*:\s*"|^```'
)
_SIGNS: Mapping[str, re.Pattern[str]] = {
    why: re.compile(form, re.IGNORECASE | re.MULTILINE)
    for why, form in {
        "calls itself an assistant": _CALLS_ITSELF,
        "offers help": _OFFERS,
        "uses headings": _HEADING,
        LIST: _LIST,
        "writes a call of a tool": _CALL,
    }.items()
}
ECHO = 5
"""Words from which a line that repeats the assistant's is not a chance."""


def out_of_part(talk: UserView) -> Iterator[UserMistake]:
    """The turns in which the user speaks as an assistant, each once."""
    calls = _calls_of(tuple(tool.name for tool in talk.trajectory.started.tools))
    for turn, line in enumerate(talk.said):
        sign = _sign(talk, line, calls) if turn else None
        if sign:
            words, why = sign
            yield UserMistake("as_assistant", line.seq, turn, words, why, spoils=False)


def _sign(talk: UserView, line: Message, calls: re.Pattern[str] | None) -> tuple[str, str] | None:
    """The words that give it away, and what they are; a list that answers a list does not count."""
    before = talk.before(line)
    for why, pattern in _SIGNS.items():
        found = pattern.search(line.content)
        if found and not (why == LIST and before and pattern.search(before.content)):
            return found[0].strip(), why
    called = calls.search(line.content) if calls else None
    if called:
        return called[0], "writes a call of a tool"
    said = plain(line.content)
    if before and len(said.split()) >= ECHO and said == plain(before.content):
        return line.content, "repeats what the assistant has said"
    return None


@lru_cache(maxsize=256)
def _calls_of(names: tuple[str, ...]) -> re.Pattern[str] | None:
    """What a call of one of these tools looks like; a name of one word is a word."""
    written = "|".join(re.escape(name) for name in names if "_" in name)
    return re.compile(rf"\b(?:{written})\b(?= ?[({{])") if written else None
