"""Filling in the values that a reference solution takes from earlier results.

Policy: ``$label.path`` as a whole is the value itself, ``${label.path}`` inside a text is the value as text. What an
earlier call did not return cannot be filled in, and that is an error, never an empty value. A text in JSON has the
parts that stand in it, since many servers give no more structure than that. Of a call that was refused only
``label.error`` is there, and ``label.code`` where it waits for the user's confirmation.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast

from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.tools.gates import CODE
from sandbox_scenarios.errors import ScenarioError
from sandbox_scenarios.values import parse_path, reference_in

INSIDE = re.compile(r"\$\{([^}]{0,200})\}")
"""A value inside a text."""


class PlanError(ScenarioError):
    """A reference solution refers to something that no call before it returned."""


def fill(value: Any, results: Mapping[str, Any]) -> Any:
    """A planned value with everything that it takes from earlier results; ``results`` maps label to value.

    Raises:
        PlanError: there is no such result, or nothing at that path in it.
    """
    if isinstance(value, str):
        whole = reference_in(value)
        if whole is not None:
            return look_up(whole, results)
        return INSIDE.sub(lambda found: as_text(look_up(found[1], results)), value)
    if isinstance(value, Mapping):
        return {key: fill(item, results) for key, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [fill(item, results) for item in cast("list[Any]", value)]
    return value


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
            value = opened(value)
            if isinstance(value, str):
                raise TypeError("a text has letters, and no parts")
            value = value[part]
        except (LookupError, TypeError) as error:
            shown = as_text(results[label])[:120]
            raise PlanError(f"the solution needs {reference!r}, but {label!r} returned {shown}") from error
    return value


def opened(value: Any) -> Any:
    """A value whose parts can be named: an object or a list in JSON is read, and any other value stays."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        with suppress(ValueError, RecursionError):
            return loads(value)
    return value


def refusal(text: str) -> dict[str, str]:
    """Values to refer to in a refused call: its message, and the code with which the user can allow it."""
    code = CODE.search(text)
    return {"error": text, "code": code[0]} if code else {"error": text}


def as_text(value: Any) -> str:
    """A value inside a sentence: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
