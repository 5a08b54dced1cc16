"""What is wrong with a server's tools, each finding with the reason why agents stumble over it, and its source.

Policy: a finding states what can be looked up in the list or the answers and nothing that has to be guessed. What is a
matter of taste is left out, so that a server without faults gets none.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, cast

from sandbox_mcp.app.authoring.argument_texts import documented
from sandbox_mcp.app.authoring.server_check.seen import SeenServer, needed_by, text_in
from sandbox_mcp.engine.worlds.recorded import TapeTool

ALIKE = 0.6
"""From which Jaccard similarity of words on two names are told; ToolScan's confusable environments have 0.3 to 0.5."""
BYTES_PER_TOKEN = 4
"""About how many characters of JSON in English a token has."""
COSTLY = 10_000
"""From how many tokens on a list is costly: some hosts stop sending lists whole there."""
LONG_RESULT = 40_000
"""How many characters of a result fill a tenth of a context of 100,000 tokens."""
SHORTEST = 3
"""How many words a description needs to say more than a name."""
TOOLSCAN = "ToolScan, section 4"
CHANGING = frozenset(
    [
        "add",
        "create",
        "delete",
        "edit",
        "insert",
        "modify",
        "move",
        "remove",
        "rename",
        "send",
        "set",
        "update",
        "write",
    ]
)
"""Verbs that leave no doubt that something is changed."""
TYPING = frozenset({"type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"})
"""Keywords of which any says of what type a value is."""
SPEC = "MCP specification, server/tools"
ANTHROPIC = "Anthropic, Writing tools for agents"


TEXTS: Mapping[str, tuple[str, str, str]] = {
    "name": (
        "the name has other characters than letters, digits, _, - and ., or more than 64",
        "several hosts and model APIs refuse such a tool",
        SPEC,
    ),
    "name_twice": (
        "the name is listed more than once",
        "a call cannot say which one it means",
        SPEC,
    ),
    "no_description": (
        "there is no description",
        "an agent has only the name to choose by",
        ANTHROPIC,
    ),
    "short_description": (
        "the description has fewer than three words",
        "it leaves out what the tool needs, gives and is not for",
        ANTHROPIC,
    ),
    "same_description": (
        "they have the same description, {}",
        "nothing but the name tells them apart",
        TOOLSCAN,
    ),
    "untrue_description": (
        "the description documents the argument {}, which the schema does not have",
        "calls with it are refused",
        TOOLSCAN,
    ),
    "confusable_names": (
        "their names share most words (Jaccard {})",
        "agents mix up names so close",
        TOOLSCAN,
    ),
    "untyped_argument": (
        "the argument has no type",
        "anything is sent, and what is wrong is found late",
        TOOLSCAN,
    ),
    "undescribed_argument": (
        "the schema does not describe the argument, and the tool's text does not name it",
        "its form and its meaning have to be guessed",
        ANTHROPIC,
    ),
    "no_annotations": (
        "nothing says whether it only looks (readOnlyHint)",
        "hosts ask before each call, and call one by one what could go at once",
        SPEC,
    ),
    "contradicting_annotations": (
        "it is said to be read-only and destructive",
        "hosts believe one or the other",
        SPEC,
    ),
    "doubtful_annotation": (
        "it is said to be read-only, and its name begins with a verb that acts",
        "a host that trusts it calls it without asking",
        SPEC,
    ),
    "unstructured_result": (
        "it answers with JSON as text, without structuredContent",
        "clients cannot check it, and agents read it from a text",
        SPEC,
    ),
    "unbounded_result": (
        "a recorded answer has {} characters",
        "one call fills the context; a limit, a page or a filter bounds it",
        ANTHROPIC,
    ),
    "silent_error": (
        "called without what it needs, its error names none of the missing arguments",
        "an agent cannot mend the call from it",
        ANTHROPIC,
    ),
    "protocol_error": (
        "a call without what it needs is answered with a protocol error, not with isError",
        "several clients end the run, or hide the text from the model",
        SPEC,
    ),
    "accepts_anything": (
        "called without what it says it needs, it gives a result",
        "mistakes in calls go unnoticed",
        SPEC,
    ),
    "costly_list": (
        "the list of {} tools has about {} tokens",
        "each request carries it, and it crowds out the task",
        ANTHROPIC,
    ),
    "changing_list": (
        "it is listed otherwise the second time",
        "prompts are not cached, and what an agent was told is no longer true",
        SPEC,
    ),
}
"""For each rule what is so, why it matters to agents, and where that is known from."""


@dataclass(frozen=True, slots=True)
class ServerFinding:
    """One finding: its rule, the tools that it is about, the fact, why it matters, and where known from."""

    rule: str
    tools: tuple[str, ...]
    fact: str
    reason: str
    source: str

    def __str__(self) -> str:
        """The finding in one line."""
        named = ", ".join(self.tools[:4]) + (f" and {len(self.tools) - 4} more" if len(self.tools) > 4 else "")
        return f"{named + ': ' if named else ''}{self.fact}; {self.reason} [{self.rule}]"

    def to_json(self) -> dict[str, Any]:
        """The finding as one JSON object."""
        return {"rule": self.rule, "tools": self.tools, "fact": self.fact, "reason": self.reason, "source": self.source}


def _found(rule: str, tools: Iterable[str], *values: object) -> Iterator[ServerFinding]:
    """The finding of a rule about these tools, if there are any."""
    named = tuple(tools)
    if named:
        fact, reason, source = TEXTS[rule]
        yield ServerFinding(rule, named, fact.format(*values), reason, source)


CheckRule = Callable[[SeenServer], Iterator[ServerFinding]]


def findings(seen: SeenServer) -> list[ServerFinding]:
    """All findings about a server, by rule."""
    return [found for rule in RULES for found in rule(seen)]


def tokens_of(tools: Sequence[TapeTool]) -> int:
    """About how many tokens a list of tools costs in every request."""
    return sum(len(json.dumps(dict(tool.listed), ensure_ascii=False)) for tool in tools) // BYTES_PER_TOKEN


def names_alike(one: str, other: str, common: frozenset[str] = frozenset()) -> float:
    """The Jaccard similarity of the words in two names, without those that are ``common`` to a server's names."""
    a, b = _words(one) - common, _words(other) - common
    return len(a & b) / len(a | b) if a | b else 0.0


def _words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+", name))


def _description(tool: TapeTool) -> str:
    return str(tool.listed.get("description") or "")


def _properties(tool: TapeTool) -> Mapping[str, Mapping[str, Any]]:
    schema: Any = tool.listed.get("inputSchema") or {}
    listed = cast("Mapping[str, Any]", schema.get("properties") or {})
    return {name: cast("Mapping[str, Any]", item) if isinstance(item, Mapping) else {} for name, item in listed.items()}


def _names(seen: SeenServer) -> Iterator[ServerFinding]:
    names = [tool.name for tool in seen.tools]
    yield from _found("name", (name for name in names if not re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name)))
    yield from _found("name_twice", (name for name, times in Counter(names).items() if times > 1))


def _descriptions(seen: SeenServer) -> Iterator[ServerFinding]:
    lengths = {tool.name: len(re.findall(r"\w+", _description(tool))) for tool in seen.tools}
    yield from _found("no_description", (name for name, length in lengths.items() if length == 0))
    yield from _found("short_description", (name for name, length in lengths.items() if 0 < length < SHORTEST))
    same = dict[str, list[str]]()
    for tool in seen.tools:
        if _description(tool).strip():
            same.setdefault(" ".join(_description(tool).split()), []).append(tool.name)
    for text, names in same.items():
        if len(names) > 1:
            yield from _found("same_description", names, repr(text[:60]))


def _untrue(seen: SeenServer) -> Iterator[ServerFinding]:
    """Arguments that a docstring documents beside those of the schema."""
    for tool in seen.tools:
        listed, known = documented(_description(tool)), _properties(tool)
        strange = [name for name in listed if name not in known]
        if len(strange) < len(listed):
            yield from _found("untrue_description", (tool.name,) if strange else (), ", ".join(strange))


def _confusable(seen: SeenServer) -> Iterator[ServerFinding]:
    words = [_words(tool.name) for tool in seen.tools]
    common = frozenset[str]().union(*words).intersection(*words) if len(words) > 2 else frozenset[str]()
    for one, other in combinations(seen.tools, 2):
        alike = names_alike(one.name, other.name, common)
        if alike >= ALIKE and one.name != other.name:
            yield from _found("confusable_names", (one.name, other.name), f"{alike:.2f}")


def _arguments(seen: SeenServer) -> Iterator[ServerFinding]:
    every = [(tool, name, item) for tool in seen.tools for name, item in _properties(tool).items()]
    untyped = (f"{tool.name}.{name}" for tool, name, item in every if not item.keys() & TYPING)
    undescribed = (f"{tool.name}.{name}" for tool, name, item in every if not _is_described(tool, name, item))
    yield from _found("untyped_argument", untyped)
    yield from _found("undescribed_argument", undescribed)


def _is_described(tool: TapeTool, name: str, item: Mapping[str, Any]) -> bool:
    """True if the schema describes an argument or a part of it, or the tool's text names it in any spelling."""
    if item.keys() & {"enum", "$ref", "const"} or _has_description(item, 4):
        return True
    spelt = {re.escape(name), r"[\s_-]?".join(map(re.escape, sorted(_words(name), key=name.lower().find)))}
    return re.search(rf"(?<!\w)(?:{'|'.join(spelt)})s?(?!\w)", _description(tool), re.IGNORECASE) is not None


def _has_description(schema: Any, deep: int) -> bool:
    if not isinstance(schema, Mapping) or not deep:
        return False
    found = cast("Mapping[str, Any]", schema)
    parts: list[Any] = [found.get("items"), *(found.get("properties") or {}).values()]
    parts += (part for key in ("anyOf", "oneOf", "allOf") for part in cast("Sequence[Any]", found.get(key) or ()))
    return bool(found.get("description")) or any(_has_description(part, deep - 1) for part in parts)


def _annotations(seen: SeenServer) -> Iterator[ServerFinding]:
    reading = [tool.name for tool in seen.tools if _hint(tool, "readOnlyHint") is True]
    destroying = [tool.name for tool in seen.tools if _hint(tool, "destructiveHint") is True]
    silent = (tool.name for tool in seen.tools if not isinstance(_hint(tool, "readOnlyHint"), bool))
    yield from _found("no_annotations", silent)
    yield from _found("contradicting_annotations", (name for name in reading if name in destroying))
    verbs = {name: re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)[:1] for name in reading}
    acting = (name for name, verb in verbs.items() if CHANGING & {word.lower() for word in verb})
    yield from _found("doubtful_annotation", acting)


def _hint(tool: TapeTool, name: str) -> Any:
    hints: Any = tool.listed.get("annotations") or {}
    return hints.get(name)


def _results(seen: SeenServer) -> Iterator[ServerFinding]:
    unstructured = dict[str, None]()
    for name, answers in seen.answers.items():
        texts = [text_in(answer) for answer in answers]
        plain = [
            answer for answer in answers if answer.get("isError") is not True and "structuredContent" not in answer
        ]
        if any(_is_json(text_in(answer)) for answer in plain):
            unstructured[name] = None
        longest = max(map(len, texts), default=0)
        yield from _found("unbounded_result", (name,) if longest > LONG_RESULT else (), longest)
    yield from _found("unstructured_result", unstructured)


def _is_json(text: str) -> bool:
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _errors(seen: SeenServer) -> Iterator[ServerFinding]:
    silent, protocol, accepted = list[str](), list[str](), list[str]()
    texts = Counter((*map(text_in, seen.refused.values()), seen.failing))
    for tool in seen.tools:
        answer = seen.refused.get(tool.name)
        needed = needed_by(tool)
        if answer is None or not needed:
            continue
        text = text_in(answer)
        if texts[text] > 1 and not _ON_INPUT.search(text):
            continue  # the server fails before it looks at the call, for want of a browser or a key
        if answer.get("isError") is True:
            protocol += [tool.name] if answer.get("protocol") else []
            silent += [] if any(name in text for name in needed) else [tool.name]
        elif not re.search(r"error|invalid|missing|requir|must|fail|cannot", text, re.IGNORECASE):
            accepted.append(tool.name)
    yield from _found("silent_error", silent)
    yield from _found("protocol_error", protocol)
    yield from _found("accepts_anything", accepted)


_ON_INPUT = re.compile(r"argument|param|input|missing|requir|invalid|field|undefined|null|none", re.IGNORECASE)


def _whole_list(seen: SeenServer) -> Iterator[ServerFinding]:
    cost = tokens_of(seen.tools)
    yield from _found("costly_list", (seen.name,) if cost >= COSTLY else (), len(seen.tools), cost)
    if seen.again is not None:
        one, other = ({tool.name: dict(tool.listed) for tool in tools} for tools in (seen.tools, seen.again))
        yield from _found("changing_list", (name for name in {**one, **other} if one.get(name) != other.get(name)))


RULES: tuple[CheckRule, ...] = (
    _names, _descriptions, _untrue, _confusable, _arguments, _annotations, _results, _errors, _whole_list,
)  # fmt: skip
