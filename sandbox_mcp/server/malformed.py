"""Requests that a strict JSON reader refuses and that an agent still deserves an answer to.

Policy: half of a surrogate pair in a string is no Unicode, and the SDK's readers refuse or drop the whole message for
it: an agent would wait for ever, or its run would die. Arguments with such a string are handed on as their own JSON
text, which is not an object, so that the call ends as a tool error. Sound messages pass untouched.
"""

import json
import re
from typing import Any, cast

from starlette.types import Message, Receive

_SUSPECT = re.compile(rb"\\u[dD][89a-fA-F]")
_SUSPECT_TEXT = re.compile(r"\\u[dD][89a-fA-F]")


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
    waiting = [{"type": "http.request", "body": mended_body(b"".join(parts)), "more_body": more}]

    async def handed_on() -> Message:
        return waiting.pop() if waiting else await receive()

    return handed_on
