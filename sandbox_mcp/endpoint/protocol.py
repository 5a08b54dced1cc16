"""What a protocol is to the endpoint: how its requests are read, and how its answers and errors are written."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox_mcp.endpoint.prompt import Prompt
from sandbox_mcp.endpoint.wire import WireAnswer

Body = Mapping[str, Any]
"""A request, as its JSON."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """One protocol. ``stream`` also gets the request, which may say what should be in the stream.

    ``error`` writes a status and what is to be said about it.
    """

    read: Callable[[Body], Prompt]
    whole: Callable[[WireAnswer], dict[str, Any]]
    stream: Callable[[WireAnswer, Body], Iterator[str]]
    error: Callable[[int, str], dict[str, Any]]
