"""Parts that every worker shares: conversations over standard input and output, one JSON object a line.

Policy: only the standard library, because it runs in the environment of another framework. Standard output
belongs to the protocol; whatever a framework prints goes to standard error. A worker serves one conversation after the
other until its input ends. The protocol is written down in docs/adapters.md.

Run as a script with names of distributions, it says which versions of them this environment has.
"""

import asyncio
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, TextIO, cast

MAX_STEPS = "max_steps"
"""Why an answer ended that was stopped because the model went on and on."""
TIMEOUT = 60.0
"""Seconds that a call of a tool may take, where a framework asks."""


@dataclass(frozen=True)
class Start:
    """Beginning of a conversation.

    ``url`` and ``headers`` reach the tools over MCP. ``model`` is asked at ``base_url`` with the API key ``key``; None
    stands for the provider's own address. ``max_steps`` is how many answers of the model one user message may take.
    ``timeout`` is how many seconds a request may take, and ``retries`` how often a failed one is tried again.
    """

    instructions: str
    url: str
    headers: Mapping[str, str]
    model: str
    base_url: str | None
    key: str | None
    parameters: Mapping[str, Any]
    max_steps: int
    timeout: float
    retries: int


@dataclass(frozen=True)
class AgentAnswer:
    """The agent's answer, and what it took."""

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    requests: int = 0
    finish: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])


class LineConversation(Protocol):
    """One conversation of an agent, which remembers what was said."""

    async def turn(self, text: str) -> AgentAnswer:
        """Answer one message of the user."""
        ...


Converse = Callable[[Start], AbstractAsyncContextManager[LineConversation]]


def main(converse: Converse) -> None:
    """Serve conversations until the input ends, or until told to stop, and then still tidy up."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    with suppress(asyncio.CancelledError):
        asyncio.run(_Serving(converse, out).run())


@dataclass
class _Serving:
    converse: Converse
    out: TextIO

    async def run(self) -> None:
        with suppress(NotImplementedError):  # Windows has no handlers of signals on its event loop
            this = cast("asyncio.Task[None]", asyncio.current_task())
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)
        while (first := await _read()) is not None:
            try:
                await self._conversation(first)
            except Exception as error:  # noqa: BLE001 - whatever a framework raises is told, in one line
                traceback.print_exception(error, file=sys.stderr)
                cause: BaseException = error
                while isinstance(cause, BaseExceptionGroup):
                    cause = cast("BaseExceptionGroup[BaseException]", cause).exceptions[0]
                self._write({"type": "error", "error": f"{type(cause).__name__}: {' '.join(str(cause).split())[:500]}"})

    async def _conversation(self, first: Mapping[str, Any]) -> None:
        settings = first["settings"]
        start = Start(
            instructions=first["instructions"],
            url=first["mcp"]["url"],
            headers=first["mcp"]["headers"],
            model=settings["model"],
            base_url=settings["base_url"],
            key=os.environ.get(settings["key_variable"], "").strip() or None,
            parameters=settings["parameters"],
            max_steps=settings["max_steps"],
            timeout=settings["timeout"],
            retries=settings["retries"],
        )
        async with self.converse(start) as conversation:
            self._write({"type": "ready", "lasting": True})
            while (message := await _read()) is not None and message.get("type") == "user":
                said = await conversation.turn(message["text"])
                usage = {
                    "prompt_tokens": said.prompt_tokens,
                    "completion_tokens": said.completion_tokens,
                    "requests": said.requests,
                }
                self._write(
                    {"type": "reply", "text": said.text, "usage": usage, "meta": {"finish": said.finish, **said.meta}}
                )
        if message is not None:
            self._write({"type": "ended"})

    def _write(self, message: Mapping[str, Any]) -> None:
        self.out.write(json.dumps(message) + "\n")
        self.out.flush()


async def _read() -> dict[str, Any] | None:
    line = await asyncio.to_thread(sys.stdin.readline)
    return json.loads(line) if line else None


def versions(names: list[str]) -> dict[str, str | None]:
    """The version of each distribution in this environment, None where it is missing."""
    from importlib.metadata import PackageNotFoundError, version

    found: dict[str, str | None] = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


if __name__ == "__main__":
    print(json.dumps(versions(sys.argv[1:])))  # noqa: T201 - this is what it is called for
