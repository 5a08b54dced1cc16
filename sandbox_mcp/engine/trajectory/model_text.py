"""Texts of a model as any log can hold them: they need not be Unicode, nor the JSON object that was expected.

Policy: half a surrogate pair becomes the replacement character, never a question mark, because a user asked
something answers. Arguments of a call that are a JSON object are passed on as one; anything else is passed on as the
text it is, never mended, so that the session records what the model did.
"""

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn, cast

from sandbox_mcp.engine.bounded import loads


def readable(text: str) -> str:
    """The text with whatever is not a character replaced."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def cleaned(value: object) -> Any:
    """A value of JSON with all text in it readable."""
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, list):
        return [cleaned(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {readable(key): cleaned(item) for key, item in cast("dict[str, object]", value).items()}
    return value


def strict_json(text: str | bytes) -> Any:
    """The value of JSON as the standard has it: Python's own reader lets NaN and numbers beyond any float through.

    Raises:
        ValueError: it is not JSON, or has such a number.
        RecursionError: it is nested too deeply.
    """
    return loads(text, parse_constant=_refuse, parse_float=_finite)


def _finite(literal: str) -> float:
    number = float(literal)
    return number if math.isfinite(number) else _refuse(literal)


def _refuse(literal: str) -> NoReturn:
    raise ValueError(f"{literal} is not a number that JSON has")


def json_bytes(value: object) -> bytes:
    """A value as JSON that any reader takes.

    Raises:
        ValueError: it has what JSON or Unicode does not have, such as NaN, or half a surrogate pair.
        TypeError: it is of a kind that JSON does not know.
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


def as_arguments(text: str) -> Mapping[str, Any] | str:
    """The JSON object in a text, or the text. A model that wrote nothing means no arguments.

    An object with text other than Unicode inside could not be sent, so it stays the text that escapes it.
    """
    try:
        value = strict_json(text or "{}")
        json_bytes(value)
    except (ValueError, RecursionError):
        return text
    return cast("dict[str, Any]", value) if isinstance(value, dict) else text
