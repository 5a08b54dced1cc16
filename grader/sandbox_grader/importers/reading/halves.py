"""Files that hold one half of what a model and its caller said to each other, so that no session can be made of them.

Policy: such a file is told from one that is damaged or in another format, because what helps is to put it together with
its other half: the answers of a batch come without what was asked, and a stream comes in pieces.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sandbox_grader.errors import ImportFormatError
from sandbox_grader.grading.values import is_array, is_object
from sandbox_grader.importers.reading.json_values import JsonNode, load, read_bytes

WHOLE: Final = (
    'the whole conversation, one a line: {"messages": [...]} with what was asked, the answers, and what came of their '
    "calls, for the formats openai-chat and anthropic"
)
PIECES: Final = f"holds a streamed answer in pieces; put them together, as the SDKs do, and give {WHOLE}"
ANSWERS: Final = f"holds the answers of a batch without what was asked; join it with its requests and give {WHOLE}"
REQUESTS: Final = f"holds the requests of a batch without the answers; join it with its results and give {WHOLE}"
ANSWER: Final = f"holds answers of a model without what it was asked; give {WHOLE}"
_EVENT_STREAM: Final = re.compile(rb"\s*(?:(?:event|data|id|retry): ?|:)[^\n]*\n")
_PIECE: Final = re.compile(r"message_(?:start|delta|stop)|content_block_\w+|response\.\w[\w.]*|ping")
"""The types of what Anthropic's messages and OpenAI's responses come in."""


def half_in(path: Path) -> str | None:
    """Of which half a file is, and what to give instead; None where it is something else."""
    try:
        first = next(iter(load(path).nodes))
    except ImportFormatError:
        try:
            return PIECES if _EVENT_STREAM.match(read_bytes(path)) else None
        except ImportFormatError:
            return None
    if first.is_array:
        first = next(iter(first.items()), first)
    return _half(first) if first.is_object else None


def _half(first: JsonNode) -> str | None:
    members: Mapping[str, Any] = first.members()
    if members.keys() & {"custom_id", "key"}:
        if members.keys() & {"response", "result"}:
            return ANSWERS
        return REQUESTS if members.keys() & {"body", "params", "request"} else None
    kind = members.get("type")
    if members.get("object") == "chat.completion.chunk" or (isinstance(kind, str) and _PIECE.fullmatch(kind)):
        return PIECES
    choices, candidates = members.get("choices"), members.get("candidates")
    answered: list[Any] = [item for found in (choices, candidates) if is_array(found) for item in found]
    return ANSWER if any(is_object(item) and item.keys() & {"message", "content"} for item in answered) else None
