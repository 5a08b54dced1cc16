"""Arguments that nothing gave: neither the user, nor a result, nor general knowledge.

Policy: telephone numbers, addresses of mail, ids, names of accounts and passwords have to be given as they are; a
number may also follow from others; a text is made up if it has not one word in common with anything given. A
wording for a search is free, so that of searches only names count, and only where the search did not find them. What a
solution says by itself is what people know, so that without one only the first kinds are told.

An example. The user asks to text Ann, and nothing else was said. ``send(to="+12025550143")`` counts; so does
``add_contact(name="Ann", relationship="sister")``, and ``search_contacts(name="Ann")`` does not.

Source: ToolTalk, section 4.2, hallucinated arguments; ToolSandbox, section 4.3 and figures 3 and 20. Neither counts
them.
"""

import re
from collections.abc import Iterator
from typing import Any

from sandbox_grader.conduct.ground import Ground, before_all, computes, named_leaves, step_of, take_in
from sandbox_grader.conduct.moments import is_moment
from sandbox_grader.conduct.observed import ConductFinding, ObservedSession, text_of
from sandbox_grader.grading.values import is_array, is_object
from sandbox_grader.users.values import telling
from sandbox_mcp.engine.trajectory import ToolCall

_AS_IS = re.compile(r"(?:^|_)(?:ids?|token|password|passcode|username|user_name|login)$|(?<=[a-z])Ids?$")
"""Arguments whose value is nothing but itself."""
_PLACE = re.compile(r"(?:^|_)(?:lat|lon|latitude|longitude)(?:_|$)")
NEARBY = 0.05
"""Degrees by which the place of something well known may be off."""
_WORD = re.compile(r"[^\W_]{3,}")
_CODE = re.compile(r"[A-Z]{2,4}")
"""What has a code that one knows or looks up: a currency, an airport, a country."""
_IDLE = re.compile(
    r"the|and|for|you|your|with|that|this|from|are|was|were|will|not|but|can|has|have|had|its|his|her|our|their|all|any|"
    r"out|off|please|hello|dear|regards|thanks?|best|new|now|just",
    re.IGNORECASE,
)
"""Words that say nothing by themselves."""


def made_up(heard: ObservedSession) -> Iterator[ConductFinding]:
    """The arguments of calls that nothing gave, each value the first time."""
    stated = {_form(value) for call in heard.wanted for _, value in named_leaves(call.arguments)}
    suspects = {
        call.seq: left
        for call in heard.calls
        if (left := [item for item in named_leaves(call.arguments) if _form(item[1]) not in stated])
    }
    if not suspects or any(call.meta.get("result_missing") for call in heard.calls):
        return
    ground, seen = before_all(heard), set[Any]()
    for event in heard.trajectory.events:
        for name, value in suspects.get(event.seq, ()):
            if isinstance(event, ToolCall) and _form(value) not in seen:
                about = _problem(heard, event, name, value, ground)
                if about:
                    seen.add(_form(value))
                    tool = event.called
                    yield ConductFinding(
                        "hallucinated_arguments", event.seq, f"{tool} got {name} {value!r}: {about}", tool
                    )
        take_in(ground, heard, event)


def _form(value: Any) -> Any:
    if isinstance(value, str):
        return value.casefold().strip()
    return value if value is None or isinstance(value, bool) else float(value)


def _problem(heard: ObservedSession, call: ToolCall, name: str, value: Any, ground: Ground) -> str | None:
    """Describe the made-up part of a value; None if nothing is."""
    if value is None or isinstance(value, bool) or value == "" or is_moment(name, value):
        return None
    if not isinstance(value, str):
        return _number(heard, call, name, float(value), ground)
    parts = telling(value)
    sure = [part for part in parts if part.kind != "number" or heard.solutions]
    strange = next((part for part in sure if not ground.has(part)), None)
    if strange:
        return f"nothing gave the {strange.kind} {strange.words!r}"
    if _AS_IS.search(name):
        return None if ground.quotes(value) else "it was given by nothing"
    if parts or not heard.solutions or _offered(heard, call, name, value):
        return None
    words = [word for word in _WORD.findall(value) if not (_IDLE.fullmatch(word) or _CODE.fullmatch(word))]
    if not words or ground.quotes(value) or ground.mentions(words):
        return None
    if heard.labels.get(call.called) is False:
        found = call.error is None and any(word.casefold() in text_of(call.result).casefold() for word in words)
        if found or not any(word[0].isupper() for word in words):
            return None
    return "not a word of it was given"


def _number(heard: ObservedSession, call: ToolCall, name: str, value: float, ground: Ground) -> str | None:
    """Numbers that are hardly the same by chance; calls that only reckon are judged by what comes of them."""
    written = f"{value:.12g}"
    figures = written.lstrip("-").replace(".", "").strip("0")
    if not heard.solutions or len(figures) < 3 or "e" in written or computes(heard, call):
        return None
    if _PLACE.search(name):
        return None if ground.near(value, NEARBY) else "nothing gave such a place"
    return None if ground.gives(value, step_of(written)) else "no number given leads to it"


def _offered(heard: ObservedSession, call: ToolCall, name: str, value: str) -> bool:
    """True if the tool itself lists a value."""
    described = heard.described(call.called).get(name)
    choices = described.get("enum") if is_object(described) else None
    return is_array(choices) and value in choices
