"""Which tools of a tape only look, where their server does not say: from their names, and from what was answered.

Policy: a guess needs a reason and no reason against it. A tool acts for certain where a question was answered otherwise
after it, and only it stood between. It looks where its name says so (``get_lamp``), or where it was asked the same
again with the same answer and other answers did not change across it either. Whatever is left acts.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

LOOKING = frozenset({
    "get", "list", "search", "find", "read", "show", "fetch", "query", "count", "describe", "status", "check",
    "look", "view", "lookup", "is", "has", "can", "info", "inspect", "diff", "log", "history", "browse", "explain",
    "calculate", "compute", "convert", "preview", "validate",
})  # fmt: skip
ACTING = frozenset({
    "set", "add", "create", "delete", "remove", "update", "put", "post", "send", "write", "book", "cancel", "move",
    "rename", "copy", "insert", "edit", "modify", "toggle", "turn", "open", "close", "start", "stop", "run",
    "execute", "clear", "reset", "save", "upload", "import", "push", "commit", "checkout", "order", "buy", "pay",
    "assign", "increase", "decrease", "increment", "decrement", "append", "replace", "enable", "disable", "archive",
    "apply", "merge", "make", "mark", "upsert",
})  # fmt: skip
"""Words in the names of tools."""
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


class TapedCall(NamedTuple):
    """One call of a take: its tool, what was asked and answered as texts, and whether it was refused."""

    tool: str
    question: str
    answer: str
    refused: bool


def named_to_look(name: str) -> bool:
    """True if a tool's name says that it looks, and nothing in it says that it acts."""
    words = [word.lower() for word in _WORDS.findall(name)]
    if ACTING.intersection(words) or tuple(words[:2]) in _DEEDS or (len(words) > 1 and words[0] == "log"):
        return False
    return any(word in LOOKING for word in (*words[:1], *words[-1:]))


_DEEDS = frozenset({("check", "in"), ("check", "out"), ("check", "off"), ("look", "after"), ("read", "out")})
"""Verbs that look, with a word behind them that makes a deed of it; to log something is one, too."""


def guessed_to_look(
    unsaid: Collection[str], looking: Collection[str], takes: Sequence[Sequence[TapedCall]]
) -> set[str]:
    """The tools among ``unsaid`` that only look as far as can be told; those in ``looking`` do so for certain."""
    acting, repeated, unmoved = set[str](), set[str](), set[str]()
    for tool, between, same in _repetitions(takes):
        suspects = between - set(looking)
        if same:
            repeated.add(tool)
            unmoved |= suspects - {tool}
        elif not suspects:
            acting.add(tool)  # nothing else could have changed its answer, unless chance or the clock did
        elif len(suspects) == 1:
            acting |= suspects
    return {
        tool
        for tool in unsaid
        if tool not in acting
        and (named_to_look(tool) or (tool in repeated and tool in unmoved and not named_to_act(tool)))
    }


def named_to_act(name: str) -> bool:
    """True if a word in a tool's name says that it acts."""
    return bool(ACTING.intersection(word.lower() for word in _WORDS.findall(name)))


def _repetitions(takes: Sequence[Sequence[TapedCall]]) -> Iterator[tuple[str, set[str], bool]]:
    """Every question that was asked again: its tool, the tools called between, and whether the answer was the same."""
    for take in takes:
        last = dict[str, int]()
        for place, call in enumerate(take):
            before = last.get(call.question)
            if before is not None:
                between = {item.tool for item in take[before + 1 : place] if not item.refused}
                yield call.tool, between, take[before].answer == call.answer
            last[call.question] = place
