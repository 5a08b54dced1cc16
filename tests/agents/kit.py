"""Adapters at work: scenarios played with one by the command line, against an endpoint that knows the answers.

Everything is real but the model: the ``run`` command, the server over HTTP, the framework as it is published in a
process and an environment of its own, and the provider's protocol. What comes of it is read from the log, from what the
endpoint was sent, and from what came in over MCP.
"""

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest.mock import patch

import anyio
import pytest
from sandbox_clients.environments import home, python_of
from sandbox_clients.frameworks import installed
from sandbox_clients.registry import AGENTS
from sandbox_grader import Trajectory, read_trajectory
from starlette.types import Message as AsgiMessage
from starlette.types import Receive, Scope, Send

from sandbox_mcp.app.endpoint import Brain, ModelReply, PlannedFault, Prompt, chat
from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.reply import Failing
from sandbox_mcp.app.endpoint.script import ScriptedModel, parse_script
from sandbox_mcp.app.endpoint.server import running
from sandbox_mcp.app.endpoint.solver import Solver
from sandbox_mcp.engine.trajectory import ToolCall
from sandbox_mcp.engine.worlds import default
from sandbox_mcp.play.server.access import SessionDoor
from sandbox_mcp.play.session.batching import PAUSE
from tests.clients.sessions import SUITE
from tests.conftest import ROOT
from tests.e2e.processes import Done, run

ONCE, ASKED, REFUSED, TALK, TOGETHER = FIVE = (
    "wifi_off",
    "landlord_number",
    "where_on_the_path",
    "hotel_in_yen",
    "colleagues_to_friends",
)
"""One call; one look, and what it found told; a refusal, whose code the user confirms, and calls that build on each
other; three turns of the user; calls made together, with ids from a nested result."""
MODEL = "scripted"
PAIRED = "modify_contact"
"""What the calls of :data:`TOGETHER` that are made together call."""
HELD = 1.0
"""Seconds that one of them is held back for the other."""
Body = Mapping[str, Any]
Read = Callable[[Body], Prompt]
"""Reads a request of one of the endpoint's protocols."""


@dataclass(frozen=True)
class Asked:
    """A request that came in over MCP: what for, in which revision of the protocol."""

    method: str
    revision: str
    name: str = ""


@dataclass
class Wire:
    """What came in over MCP. ``met`` counts calls that were sent while another was still to be answered.

    A call of :data:`PAIRED` is held back until another comes, or does not for a while; so it is not left to the speed
    of a machine whether calls that a client sends at once are seen to be.
    """

    asked: list[Asked] = field(default_factory=list)
    met: int = 0
    waiting: anyio.Event | None = None

    async def hear(self, asked: Asked) -> None:
        """Write a request down, and hold it back if it may have company."""
        self.asked.append(asked)
        if asked.name != PAIRED:
            return
        if self.waiting is not None:
            self.met += 1
            self.waiting.set()
            return
        self.waiting = anyio.Event()
        with anyio.move_on_after(HELD):
            await self.waiting.wait()
        self.waiting = None


@dataclass(frozen=True)
class Played:
    """What a run came to: what the command printed, what the endpoint was sent, what came over MCP, and the logs.

    ``met`` is how many calls were sent while another was still to be answered.
    """

    done: Done
    requests: list[Body]
    wire: list[Asked]
    met: int
    logs: dict[str, Trajectory]

    @cached_property
    def summary(self) -> dict[str, Any]:
        assert self.done.out, self.done.err
        return json.loads(self.done.out)

    @property
    def scores(self) -> dict[str, float | None]:
        """Each scenario's score, None for what was not scored."""
        return {found["scenario"]: found["score"] for found in self.summary["scenarios"]}

    @property
    def reasons(self) -> list[str]:
        """Why sessions were not scored."""
        return [failure["reason"] for failure in self.summary["unscored"]]

    def calls(self, scenario: str) -> list[ToolCall]:
        """The agent's calls, as they were recorded."""
        events = self.logs[scenario].events
        return [event for event in events if isinstance(event, ToolCall) and event.caller == "agent"]

    def said(self, scenario: str) -> list[str]:
        """What the agent told the user."""
        return [event.content for event in self.logs[scenario].events if getattr(event, "sender", None) == "agent"]

    def finishes(self, scenario: str) -> list[str | None]:
        """How the agent's turns ended, None for those that ended by themselves."""
        events = self.logs[scenario].events
        return [event.meta.get("finish") for event in events if getattr(event, "sender", None) == "agent"]


@dataclass(frozen=True)
class Facts:
    """How a client uses MCP and what its model sees; the table in docs/agents.md has a row of this for each.

    ``result`` is ``text`` as the server wrote it, the ``value`` in it, or the ``whole`` result with both; ``refusal``
    is the server's ``text``, an object with it under ``error``, or the whole result. ``sessions`` is how many MCP
    sessions a conversation opens: none, one, or one for every message or call. ``together`` tells whether the calls of
    one answer are sent at once, ``quoted`` whether the tools' descriptions are changed on the way.
    """

    revision: str
    sessions: str
    together: bool
    result: str
    refusal: str
    instructions: bool = False
    prefix: str = ""
    quoted: bool = False

    def row(self) -> str:
        """The row's cells."""
        return " | ".join(
            [
                self.revision,
                self.sessions,
                "at once" if self.together else "one by one",
                self.result,
                self.refusal,
                f"`{self.prefix}...`" if self.prefix else "quoted" if self.quoted else "as they are",
                "yes" if self.instructions else "no",
            ]
        )


def need(agent: str, own: bool = True) -> None:
    """Skip the test where nobody has made the agent's environment; what is wrong with one that is there is no excuse.

    Without ``own``, what is beside this package will do.
    """
    if agent in AGENTS:
        missing = not home().is_dir()
    elif own:
        missing = python_of(agent) is None
    else:
        missing = None in installed(agent).values()
    if missing:
        pytest.skip(f"there is no environment for {agent}; 'make test-agents' makes it")


def played(
    agent: str,
    out: Path,
    *scenarios: str,
    brain: Brain | None = None,
    options: Sequence[str] = (),
    base: Callable[[str], str] = str,
) -> Played:
    """Play scenarios with an agent, one after the other; the model knows their answers, or is another ``brain``.

    ``base`` makes what the agent takes as base URL of the endpoint's own, which ends in ``/v1``.
    """
    requests: list[Body] = []
    model = Pondering(brain or Solver([SUITE.get(name) for name in scenarios]))
    with running(Endpoint(model, requests.append)) as url, listening() as wire:
        given = [
            "--agent",
            agent,
            "--model",
            MODEL,
            "--base-url",
            base(url),
            "--out",
            str(out),
            "--jobs",
            "1",
            "--json",
        ]
        done = run("run", *scenarios, *given, "--max-turn-seconds", "100", *options)
    logs = {path.name.partition("-")[0]: read_trajectory(path) for path in sorted((out / "logs").glob("*.jsonl"))}
    return Played(done, requests, wire.asked, wire.met, logs)


@contextmanager
def listening() -> Generator[Wire]:
    """Write down what servers in this process are asked over MCP."""
    wire = Wire()
    original = SessionDoor.__call__

    async def listen(door: SessionDoor, scope: Scope, receive: Receive, send: Send) -> None:
        async def overheard() -> AsgiMessage:
            message = await receive()
            if message["type"] == "http.request" and message.get("body"):
                await wire.hear(_asked(scope, message["body"]))
            return message

        await original(door, scope, overheard, send)

    with patch.object(SessionDoor, "__call__", listen):
        yield wire


def _asked(scope: Scope, body: bytes) -> Asked:
    headers = {name.decode().lower(): value.decode() for name, value in scope["headers"]}
    request = json.loads(body)
    params = request.get("params") or {}
    revision = headers.get("mcp-protocol-version") or params.get("protocolVersion", "")
    return Asked(str(request.get("method")), revision, str(params.get("name", "")))


def script(text: str) -> ScriptedModel:
    """A model that follows a script, given as YAML."""
    return ScriptedModel(parse_script(text))


def outputs(played: Played, read: Read = chat.read) -> list[tuple[str, str]]:
    """What the model was shown of the calls it had made, as pairs of the tool and the text, in order."""
    shown: dict[str, tuple[str, str]] = {}
    for request in played.requests:
        for step in read(request).steps:
            shown |= {call.id: (call.name, step.outputs[call.id]) for call in step.calls if call.id in step.outputs}
    return list(shown.values())


def facts(played: Played, read: Read = chat.read) -> Facts:
    """What a run of the five scenarios tells of the client."""
    shown = outputs(played, read)
    (refusal,) = {_kind(text) for _, text in shown if "ConfirmationRequiredError" in text}
    results = {_kind(text) for name, text in shown if name.endswith("search_contacts")}
    offered = {name: offer for request in played.requests for name, offer in read(request).tools.items()}
    written = {tool.name: tool.description for log in played.logs.values() for tool in log.started.tools}
    prefix = next(name for name in offered if name.endswith("set_wifi_status")).removesuffix("set_wifi_status")
    return Facts(
        revision=max(asked.revision for asked in played.wire),
        sessions=_sessions(played),
        together=played.met > 0,
        result="/".join(sorted(results)),
        refusal=refusal,
        instructions=any(_told_twice(request) for request in played.requests),
        prefix=prefix,
        quoted=any(offered[prefix + name].description != description for name, description in written.items()),
    )


def _told_twice(request: Body) -> bool:
    """Whether the model sees the server's instructions, which are the session's, beside those of the session."""
    return json.dumps(request).count(json.dumps(default().briefing)[1:-1]) > 1


def _sessions(played: Played) -> str:
    opened = sum(asked.method == "initialize" for asked in played.wire)
    calls = sum(asked.method == "tools/call" for asked in played.wire)
    turns = sum(len(played.said(name)) for name in played.logs)
    if opened >= calls:
        return "one a call"
    known = {0: "none", len(FIVE): "one", turns: "one a message"}
    return known.get(opened, f"{opened} for {calls} calls")


def _kind(output: str) -> str:
    """In which form an output reached the model."""
    try:
        value = json.loads(output)
    except ValueError:
        return "printed" if "TextContent(" in output else "text"
    if not isinstance(value, dict):
        return "value"
    if "content" in value:
        return "whole"
    return "error" if value.keys() == {"error"} else "text" if value.keys() == {"result"} else "value"


def documented(agent: str, found: Facts, *, scores: Mapping[str, float | None]) -> None:
    """Assert that the documentation has this row for an agent, whatever its version."""
    five = ", ".join("-" if scores.get(name) is None else f"{scores[name]:g}" for name in FIVE)
    pages = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in pages if line.startswith(f"| `{agent}` |")]
    cells = [*found.row().split(" | "), five]
    assert any(row[-len(cells) :] == cells for row in rows), f"docs/agents.md lacks | `{agent}` | ... | {cells}"


def deeds(played: Played) -> dict[str, list[str]]:
    """What the agent did in each scenario and what came of it, whenever and in whatever order of a batch."""
    return {name: sorted(map(_deed, played.calls(name))) for name in played.logs}


def _deed(call: ToolCall) -> str:
    error = call.error.message if call.error else None
    return json.dumps([call.name, call.arguments, call.result, error], sort_keys=True)


@dataclass(frozen=True)
class Pondering:
    """A model that takes the time to think that any real one takes: a call after it is a decision, not a reaction."""

    brain: Brain

    async def decide(self, prompt: Prompt, tries: int) -> ModelReply:
        """Think, then answer."""
        await anyio.sleep(2 * PAUSE)
        return await self.brain.decide(prompt, tries)


@dataclass(frozen=True)
class Faulty:
    """A model that knows the answers, behind an endpoint that fails in one way or another, told by the scenario."""

    faults: Mapping[str, PlannedFault]

    async def decide(self, prompt: Prompt, tries: int) -> ModelReply:
        """Fail as long as the scenario's fault lasts, then answer."""
        said = " ".join(turn.user for turn in prompt.turns)
        name = next(name for name in self.faults if SUITE.get(name).user.opening in said)
        return await Failing(Solver([SUITE.get(name)]), self.faults[name]).decide(prompt, tries)
