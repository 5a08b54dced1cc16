"""Claude Code: ``claude -p`` for every message of the user, which goes on in the session that the first one began.

Its minimal mode (``--bare``) leaves out what it would tell its model of this machine, above all today's date, which is
not the scenario's. It has no tools but the session's. Every conversation has a configuration folder and a working
folder of its own; nothing of the user's is read. Secrets are in its environment, not in files or arguments.
"""

import json
import os
import uuid
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gate import gate_to
from lines import MAX_STEPS, AgentAnswer, Start, main
from programs import HEADER, as_variables, found, own_folders, run

OWN_URL = "https://api.anthropic.com"
THEIRS = ("ANTHROPIC_", "CLAUDE")
"""How the names begin of variables that would change what it does."""


@dataclass(frozen=True)
class WorkFolder:
    """Home of a conversation: an empty folder to work in, and the environment."""

    work: Path
    environment: Mapping[str, str]


@contextmanager
def place_for(start: Start) -> Generator[WorkFolder]:
    """Folders and environment for one conversation; only parameters need a gate in front of the model."""
    upstream = (start.base_url or os.environ.get("ANTHROPIC_BASE_URL") or OWN_URL).rstrip("/").removesuffix("/v1")
    with own_folders("claude") as (home, work):
        if not start.parameters:
            yield WorkFolder(work, _environment(start, upstream, home))
            return
        with gate_to(upstream, start.parameters, start.timeout) as gate:
            gate.open(ENDLESS)
            yield WorkFolder(work, _environment(start, gate.url, home))


ENDLESS = 1_000_000_000


def _environment(start: Start, model_url: str, home: Path) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(THEIRS)},
        **as_variables(start.headers),
        "HOME": str(home),
        "TMPDIR": str(home),
        "CLAUDE_CONFIG_DIR": str(home),
        "ANTHROPIC_BASE_URL": model_url,
        "ANTHROPIC_API_KEY": start.key or "none",
        "API_TIMEOUT_MS": str(int(start.timeout * 1000)),
        "CLAUDE_CODE_MAX_RETRIES": str(start.retries),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
        "MCP_CONNECTION_NONBLOCKING": "0",
        "MCP_TIMEOUT": "60000",
        "MCP_TOOL_TIMEOUT": "60000",
    }


def servers(start: Start) -> dict[str, Any]:
    """The session's tools as it is told of them; what the headers say is in its environment."""
    headers = {name: f"${{{HEADER}{number}}}" for number, name in enumerate(start.headers)}
    return {"sandbox": {"type": "http", "url": start.url, "headers": headers}}


def as_words(text: str) -> str:
    """A message other than a command of Claude Code's own; some of those begin with a slash."""
    return f" {text}" if text.startswith("/") else text


@asynccontextmanager
async def converse(start: Start) -> AsyncGenerator["ClaudeCodeChat"]:
    """Make its folders; Claude Code itself is started for every message."""
    with place_for(start) as place:
        yield ClaudeCodeChat(found("claude", "claude-code"), start, place)


class ClaudeCodeChat:
    """One conversation; Claude Code keeps what was said in its own folder."""

    def __init__(self, program: str, start: Start, place: WorkFolder) -> None:
        self.place = place
        self.session = str(uuid.uuid4())
        self.begun = False
        self.command = [
            *(program, "--print", "--bare", "--disable-slash-commands", "--strict-mcp-config"),
            *("--output-format", "stream-json", "--verbose"),
            *("--model", start.model, "--max-turns", str(start.max_steps), "--setting-sources="),
            *("--system-prompt", start.instructions, "--mcp-config", json.dumps({"mcpServers": servers(start)})),
            *("--allowedTools", "mcp__sandbox", "--tools="),
        ]

    async def turn(self, text: str) -> AgentAnswer:
        """Start Claude Code with the message, and read what it says when it has ended."""
        going_on = ["--resume" if self.begun else "--session-id", self.session]
        self.begun = True
        ended = await run([*self.command, *going_on], as_words(text), self.place.work, self.place.environment)
        heard = MessageEvents(ended.how())
        for event in ended.events():
            heard.take(event)
        return heard.said()


@dataclass
class MessageEvents:
    """Events of one message, and the way the program ended."""

    ending: str = ""
    answers: set[str] = field(default_factory=set[str])
    result: Mapping[str, Any] | None = None

    def take(self, event: Mapping[str, Any]) -> None:
        """Take note of one event."""
        if event.get("type") == "assistant":
            self.answers.add(event["message"]["id"])
        elif event.get("type") == "result":
            self.result = event
        elif event.get("subtype") == "init":
            lost = [server["name"] for server in event.get("mcp_servers", ()) if server["status"] != "connected"]
            if lost:
                raise ConnectionError("Claude Code did not connect to the session's tools")

    def said(self) -> AgentAnswer:
        """The answer.

        Raises:
            RuntimeError: it ended without one, and the model is not to blame.
        """
        if self.result is None:
            raise RuntimeError(f"Claude Code ended without an answer, {self.ending}")
        finish = MAX_STEPS if self.result["subtype"] == "error_max_turns" else None
        if self.result["is_error"] and finish is None:
            raise RuntimeError(self.result.get("result") or f"Claude Code ended with {self.result['subtype']}")
        usage = self.result["usage"]
        read = sum(usage.get(f"{kind}input_tokens") or 0 for kind in ("", "cache_creation_", "cache_read_"))
        return AgentAnswer(self.result.get("result") or "", read, usage["output_tokens"], len(self.answers), finish)


if __name__ == "__main__":
    main(converse)
