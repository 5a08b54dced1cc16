"""Reference solutions as something to play: values filled in from results, names as a session presents them.

Policy: ``$label.path`` as a whole is the value itself, ``${label.path}`` inside a text is the value as text. What an
earlier call did not return cannot be filled in, and that is an error, never an empty value. Of a call that was refused
only ``label.error`` is there, and ``label.code`` where it waits for the user's confirmation.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from clients.base import AgentError
from sandbox_mcp.tools import PresentedTool
from sandbox_mcp.users.scripted import CODE
from scenarios.model import PlannedCall, PlannedTurn, Solution
from scenarios.values import parse_path

_INSIDE = re.compile(r"\$\{([^}]*)\}")


class PlanError(AgentError):
    """A reference solution refers to something that no call before it returned."""


@dataclass(frozen=True, slots=True)
class _Renaming:
    tools: Mapping[str, str]
    arguments: Mapping[str, Mapping[str, str]]

    def call(self, planned: PlannedCall) -> PlannedCall:
        names = self.arguments.get(planned.tool, {})
        given = {names.get(name, name): value for name, value in planned.arguments.items()}
        return replace(planned, tool=self.tools.get(planned.tool, planned.tool), arguments=given)


def presented_solution(solution: Solution, offered: Mapping[str, PresentedTool]) -> Solution:
    """The solution in the names under which a session presents its tools and their arguments."""
    tools = {tool.tool.name: name for name, tool in offered.items()}
    arguments = {
        tool.tool.name: {canonical: shown for shown, canonical in tool.names.items()} for tool in offered.values()
    }
    renaming = _Renaming(tools, arguments)
    turns = tuple(
        PlannedTurn(tuple(tuple(renaming.call(call) for call in batch) for batch in turn.batches), turn.reply)
        for turn in solution.turns
    )
    return Solution(turns, solution.about)


def fill(value: Any, results: Mapping[str, Any]) -> Any:
    """A planned value with everything that it takes from earlier results; ``results`` maps label to value.

    Raises:
        PlanError: there is no such result, or nothing at that path in it.
    """
    if isinstance(value, str):
        return _fill_text(value, results)
    if isinstance(value, Mapping):
        return {key: fill(item, results) for key, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [fill(item, results) for item in cast("list[Any]", value)]
    return value


def _fill_text(text: str, results: Mapping[str, Any]) -> Any:
    if text.startswith("$") and not text.startswith("${"):
        return look_up(text[1:], results)
    return _INSIDE.sub(lambda found: as_text(look_up(found[1], results)), text)


def look_up(reference: str, results: Mapping[str, Any]) -> Any:
    """The value at ``label.path``.

    Raises:
        PlanError: there is no such result, or nothing at that path in it.
    """
    label, _, path = reference.partition(".")
    if label not in results:
        known = ", ".join(results) or "none"
        raise PlanError(f"the solution needs the result {label!r}, which no call has returned; there are: {known}")
    value = results[label]
    for part in parse_path(path):
        try:
            value = value[part]
        except (LookupError, TypeError) as error:
            raise PlanError(
                f"the solution needs {reference!r}, but {label!r} returned {_shown(results[label])}"
            ) from error
    return value


def refusal(text: str) -> Mapping[str, str]:
    """What a refused call leaves to refer to: its message, and the code with which the user can allow it."""
    code = CODE.search(text)
    return {"error": text, "code": code[0]} if code else {"error": text}


def as_text(value: Any) -> str:
    """A value inside a sentence: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _shown(value: Any, limit: int = 120) -> str:
    text = as_text(value)
    return text if len(text) <= limit else f"{text[:limit]}..."
