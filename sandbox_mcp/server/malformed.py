"""Requests that a strict JSON reader refuses and that an agent still deserves an answer to.

Policy: half of a surrogate pair in a string is not Unicode, and the SDK's readers refuse or drop the whole message for
it: an agent would wait for ever, or its run would die. Arguments with such a string are handed on as their own JSON
text, which is not an object, so that the call ends as a tool error. Sound messages pass untouched.
"""

import json
import re
from typing import Any, cast

from starlette.types import Message, Receive

from sandbox_mcp.errors import SandboxError

_SUSPECT = re.compile(rb"\\u[dD][89a-fA-F]")
_SUSPECT_TEXT = re.compile(r"\\u[dD][89a-fA-F]")
MOST_NAMES = 20_000
"""How many named values a body may have; each costs a hundred times what as many letters cost."""


class TooManyNamesError(SandboxError):
    """A request body names more values than any call needs."""

    def __init__(self) -> None:
        super().__init__(f"a request body may have at most {MOST_NAMES} named values")


def mended_line(line: str) -> str:
    """A line of JSON that strict readers accept, if it can be made one."""
    return _mended(line) if _SUSPECT_TEXT.search(line) else line


def mended_body(body: bytes) -> bytes:
    """A request body that strict readers accept, if it can be made one."""
    return _mended(body.decode("utf-8", "replace")).encode() if _SUSPECT.search(body) else body


def _mended(text: str) -> str:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if _is_unicode(message) or not isinstance(message, dict):
        return text
    params: Any = cast("dict[str, Any]", message).get("params")
    if isinstance(params, dict) and not _is_unicode(cast("dict[str, Any]", params).get("arguments")):
        params["arguments"] = json.dumps(params["arguments"])
    newline = "\n" if text.endswith("\n") else ""
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace").decode() + newline


def _is_unicode(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


async def whole_body(receive: Receive, limit: int) -> Receive | None:
    """Wait for the body of a request; an ASGI ``receive`` that hands it on mended, or None if the client has gone.

    A body longer than ``limit`` is left to whoever refuses it.

    Raises:
        TooManyNamesError: reading it would keep the others waiting.
    """
    parts: list[bytes] = []
    size, more = 0, True
    while more and size <= limit:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        more = message.get("more_body", False)
    body = b"".join(parts)
    if body.count(b'":') > MOST_NAMES:
        raise TooManyNamesError
    waiting = [{"type": "http.request", "body": mended_body(body), "more_body": more}]

    async def handed_on() -> Message:
        return waiting.pop() if waiting else await receive()

    return handed_on
