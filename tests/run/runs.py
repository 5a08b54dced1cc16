"""Runs in this process: a builder, and their logs without what a wall clock says."""

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from sandbox_clients.base import Agent, Brief, Conversation
from sandbox_clients.function import Asked, FunctionAgent
from sandbox_clients.reference import ReferenceAgent
from sandbox_clients.registry import agent_named
from sandbox_clients.settings import AgentSettings
from sandbox_scenarios import Suite

from sandbox_mcp.app.run.batch import Batch
from sandbox_mcp.app.run.folder import RunFolder
from sandbox_mcp.app.run.progress import Progress
from sandbox_mcp.app.run.sessions import Crew, RunPlan
from sandbox_mcp.app.run.users import Users, users_named
from sandbox_mcp.play.models.asking import EndpointSettings
from tests.clients.sessions import SUITE

SCRIPTED = users_named("scripted", EndpointSettings())
FEW = ("wifi_off", "landlord_number", "colleagues_to_friends", "late_for_dinner_no_address_book")
"""One call, one look, two turns with a batch, and nothing that can be done."""
LOGS = "logs"
Logs = dict[str, list[dict[str, Any]]]


def batch(out: Path, agent: Agent | None = None, users: Users = SCRIPTED, suite: Suite = SUITE, **plan: Any) -> Batch:
    """A run that is ready to start."""
    wanted = RunPlan(**{"scenarios": FEW, "variants": ("base",), "transport": "direct", **plan})
    return Batch(Crew(suite, agent or ReferenceAgent(), users, RunFolder(out)), wanted)


def played(out: Path, agent: Agent | None = None, users: Users = SCRIPTED, **plan: Any) -> tuple[Any, list[Progress]]:
    """A run from start to end: its summary, and the progress it told of."""
    work = batch(out, agent, users, **plan)
    seen: list[Progress] = []
    work.watch = lambda progress, _: seen.append(progress)
    return anyio.run(work.run).summary(), seen


def logs(out: Path) -> Logs:
    """Every log of a run by its file's name."""
    return {path.name: timeless(path.read_text(encoding="utf-8")) for path in sorted((out / LOGS).glob("*.jsonl"))}


def timeless(text: str) -> list[dict[str, Any]]:
    """The events of a log without ``wall``."""
    lines = [json.loads(line) for line in text.splitlines()]
    return [{key: value for key, value in line.items() if key != "wall"} for line in lines]


def without_agent(found: Logs) -> Logs:
    """The logs without who the agent was, to compare runs of agents that do the same."""
    return {
        name: [{key: value for key, value in event.items() if key not in ("agent", "meta")} for event in events]
        for name, events in found.items()
    }


def aside(out: Path) -> list[str]:
    """What a run has set aside."""
    return sorted(path.name for path in (out / "aside").glob("*"))


class Exiting(FunctionAgent):
    """An agent that ends the process when it is to connect."""

    @asynccontextmanager
    async def converse(self, brief: Brief) -> AsyncGenerator[Conversation]:
        sys.exit(3)
        yield


async def unasked(asked: Asked) -> str:
    """What such an agent would answer."""
    return "Hm."


EXITING = Exiting(unasked, "exiting")


def model(url: str, **settings: Any) -> Agent:
    """The openai agent, which asks this endpoint and does not wait long for it."""
    return agent_named("openai", AgentSettings(EndpointSettings("m", url, **{"pause": 0.0, **settings})))
