"""Requests that a strict JSON reader refuses and that an agent still deserves an answer to.

Policy: half of a surrogate pair in a string is not Unicode, and the SDK's readers refuse or drop the whole message for
it: an agent would wait for ever, or its run would die. Arguments with such a string are handed on as their own JSON
text, which is not an object, so that the call ends as a tool error. A request whose id is neither text nor a whole
number is refused, since the SDK takes it for a notification, carries it out or not, and answers nothing. Sound
messages pass untouched.
"""

import json
import re
from typing import Any, cast

from starlette.types import Message, Receive

from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.errors import SandboxError

_SUSPECT = re.compile(rb"\\u[dD][89a-fA-F]")
_SUSPECT_ID = re.compile(rb'"id"\s*:\s*(?:[^\s"\d-]|-?\d+[.eE])')
ONE_BY_ONE = "Invalid request: messages are sent one by one, and not in a batch"
WRONG_ID = "Invalid request: its id must be text or a whole number"
MOST_NAMES = 20_000
"""How many named values a body may have; each costs a hundred times what as many letters cost."""


class UnanswerableError(SandboxError):
    """A request that the SDK would answer with nothing, or with the workings of its reader; the message says why."""


class TooManyNamesError(SandboxError):
    """A request body names more values than any call needs."""

    def __init__(self) -> None:
        super().__init__(f"a request body may have at most {MOST_NAMES} named values")


def mended(message: bytes) -> bytes:
    """A message that strict readers accept, if it can be made one."""
    return _mended(message.decode("utf-8", "replace")).encode() if _SUSPECT.search(message) else message


def check_answerable(body: bytes) -> None:
    """See that a message is a request or notification, and that its answer can be told from others.

    Some clients send an id of null with a method named as a notification; that is let pass.

    Raises:
        UnanswerableError: it is a batch, or a request with an id that no answer can have.
    """
    if body.lstrip()[:1] == b"[":
        raise UnanswerableError(ONE_BY_ONE)
    if not _SUSPECT_ID.search(body):
        return
    try:
        message: Any = loads(body)
    except (ValueError, RecursionError):
        return
    if not isinstance(message, dict):
        return
    sent = cast("dict[str, Any]", message)
    notifies = str(sent.get("method")).startswith("notifications/")
    if {"id", "method"} <= sent.keys() and not notifies and type(sent["id"]) not in (str, int):
        raise UnanswerableError(WRONG_ID)


def _mended(text: str) -> str:
    try:
        message = loads(text)
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


class WholeBody:
    """The body of a request, mended; as an ASGI ``receive`` it hands itself on, and then what comes after it.

    ``complete`` says whether ``data`` is all of it, which it is not where it is longer than it may be.
    """

    __slots__ = ("_handed_on", "_receive", "complete", "data")

    def __init__(self, data: bytes, receive: Receive, *, complete: bool) -> None:
        self.data = data
        self.complete = complete
        self._receive = receive
        self._handed_on = False

    async def __call__(self) -> Message:
        """The body the first time, and then whatever the client sends."""
        if self._handed_on:
            return await self._receive()
        self._handed_on = True
        return {"type": "http.request", "body": self.data, "more_body": not self.complete}


async def whole_body(receive: Receive, limit: int) -> WholeBody | None:
    """Wait for the body of a request; None if the client has gone.

    A body longer than ``limit`` is left to whoever refuses it.

    Raises:
        TooManyNamesError: reading it would keep the others waiting.
        UnanswerableError: what it asks could not be answered.
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
    if not more:
        check_answerable(body)
    return WholeBody(mended(body), receive, complete=not more)
