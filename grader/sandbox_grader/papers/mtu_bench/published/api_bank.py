"""Reads API-Bank's conversations as rows of one call each, to be played and scored like MTU-Bench's M-S rows.

Policy: a row is a message of the user with the first call that follows it, or none; what else was called before the
next message is part of later rows' history. Tools are those that the conversation calls, described as the benchmark's
own classes describe them: these are read from their source text, and nothing of it is run.
Source: API-Bank, section 2; MTU-Bench, table 5.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

from sandbox_grader.grading.values import is_object
from sandbox_grader.importers.reading.json_values import JsonNode
from sandbox_grader.papers.mtu_bench.published.prompt import OfferedTool, PromptParts, json_type

SETTING: Final = "API-Bank"
ROLES: Final = ("User", "AI", "API")
YEAR: Final = "a day of the year 2023"
"""What API-Bank's own prompt tells of the date."""


def is_conversation(node: JsonNode) -> bool:
    """True if a line of a file is one of API-Bank's."""
    role = node.get("role")
    return role is not None and role.value in ROLES


def turns_of(lines: Sequence[JsonNode], path: Path) -> Iterator[tuple[PromptParts, dict[str, Any], JsonNode]]:
    """The rows of a conversation: question, ground truth, and the line it stands in.

    Raises:
        ImportFormatError: a line has another form.
    """
    known = _described(next((p / "apis" for p in path.resolve().parents if (p / "apis").is_dir()), None))
    called = (line.need("api_name").string() for line in lines if line.need("role").string() == "API")
    tools = tuple(known[name] for name in dict.fromkeys(called) if name in known)
    history: list[str] = []
    for place, line in enumerate(lines):
        role = line.need("role").string()
        if role == "User":
            said = line.need("text").string()
            parts = PromptParts(said, "\n".join(history), tools or None, many=False, today=YEAR)
            until_the_next = takewhile(lambda later: later.need("role").string() != "User", lines[place + 1 :])
            called = next((later for later in until_the_next if later.need("role").string() == "API"), None)
            yield parts, dict([_call(called)]) if called else {"": {}}, line  # as MTU-Bench writes what is called
            history.append(f"user: {said}")
        elif role == "AI":
            history.append(f"assistant: {line.need('text').string()}")
        else:
            name, given = _call(line)
            result = line.members().get("result")
            output = result.get("output") if is_object(result) else None
            if is_object(result) and result.get("exception") is not None:
                output = f"Error: {result['exception']}"
            history += ["function:", f"Action: {name}", f"Action Input: {given!r}", f"observation: {output!r}"]


def _call(line: JsonNode) -> tuple[str, dict[str, Any]]:
    given = line.need("param_dict")
    return line.need("api_name").string(), dict(given.members())


@lru_cache(maxsize=4)
def _described(folder: Path | None) -> Mapping[str, OfferedTool]:
    """The tools that the classes in a folder describe, by name."""
    found: dict[str, OfferedTool] = {}
    for file in sorted(folder.glob("*.py")) if folder else ():
        try:
            module = ast.parse(file.read_text(encoding="utf-8"))
        except (OSError, ValueError, SyntaxError):
            continue  # its tools are then unknown, which rows say
        for node in (node for node in module.body if isinstance(node, ast.ClassDef)):
            stated = _stated(node)
            given, returned = stated.get("input_parameters"), stated.get("output_parameters")
            if is_object(given):
                properties = {key: _property(value) for key, value in given.items() if is_object(value)}
                schema: dict[str, Any] = {"type": "object", "properties": properties, "required": []}
                results = tuple(returned) if is_object(returned) else ()
                found[node.name] = OfferedTool(node.name, str(stated.get("description") or ""), schema, results)
    return found


def _stated(kind: ast.ClassDef) -> dict[str, Any]:
    """The attributes of a class that are written out as values."""
    found: dict[str, Any] = {}
    for node in kind.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return found


def _property(stated: Mapping[str, Any]) -> dict[str, Any]:
    kind = json_type(str(stated.get("type")).partition("(")[0])
    text = stated.get("description")
    return {**({"type": kind} if kind else {}), **({"description": text} if isinstance(text, str) else {})}
