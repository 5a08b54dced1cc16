"""What a model wrote as the arguments of a call.

Policy: a JSON object is passed on as one; anything else is passed on as the text it is, never mended, so that the
session records what the model did.
"""

import json
from collections.abc import Mapping
from typing import Any, cast


def as_arguments(text: str) -> Mapping[str, Any] | str:
    """The JSON object in a text, or the text. A model that wrote nothing means no arguments.

    An object with what is not Unicode inside is not an object that could be sent, so it stays the text that escapes it.
    """
    try:
        value = json.loads(text or "{}")
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return text
    return cast("dict[str, Any]", value) if isinstance(value, dict) else text
