"""What an MCP client adds to a session: in memory and over HTTP, against the SDK's own connecting, listing and calling.

Run as ``python -m bench transports [SESSIONS]``. The same sessions are played and recorded without MCP, in memory and
over HTTP, in turn. The floor is what the SDK's client and low-level server take in memory for the same tools, calls and
results: no world, no user, no log. CPU time of this process, in which server and agent both live.
"""

import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from mcp import Client
from mcp.server import Server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult
from sandbox_clients.reference import ReferenceAgent
from sandbox_scenarios import Suite

from bench.table import BudgetRow, how_many, show
from sandbox_mcp.run.play import Reach, play
from sandbox_mcp.run.transports import TRANSPORTS, transport
from sandbox_mcp.server.listing import listing
from sandbox_mcp.server.mcp_server import wire_result
from sandbox_mcp.session import Session, SessionSpec
from sandbox_mcp.session.manager import SessionManager
from sandbox_mcp.trajectory import LogWriter, ToolCall, read_trajectory
from sandbox_mcp.users import ScriptedUser

SUITE = Suite()
SCENARIOS = ("wifi_off", "colleagues_to_friends")
"""One turn with one call; two turns with five calls, two of them sent together."""
IN_MEMORY, HTTP = 1.3, 20.0
"""Times the floor, and milliseconds."""
Work = Callable[[], Awaitable[None]]


async def played(scenario: str, log: Path, manager: SessionManager, reach: Reach) -> None:
    """Play one session and record it."""
    chosen = SUITE.get(scenario)
    with LogWriter(log) as sink:
        await play(manager, SessionSpec(chosen), ReferenceAgent(), ScriptedUser.of(chosen.user), sink, reach)
    log.rename(log.with_suffix(".last"))  # noqa: ASYNC240 - what is measured waits for its file as well


def floor_of(log: Path) -> Work:
    """Connecting, listing and calling as in this session, at a bare server that answers what was answered then."""
    trajectory = read_trajectory(log)
    scenario = SUITE.get(trajectory.started.scenario)
    session = Session(SessionSpec(scenario), ScriptedUser.of(scenario.user), _Nowhere())
    listed: ListToolsResult = listing(tuple(session.tools.values()), {})
    calls = [event for event in trajectory.events if isinstance(event, ToolCall) and event.caller == "agent"]
    given: Mapping[str, CallToolResult] = {
        call.name: CallToolResult.model_validate(wire_result(session.shown(call), None)) for call in calls
    }

    async def on_list(_: Any, __: Any) -> ListToolsResult:
        return listed

    async def on_call(_: Any, params: CallToolRequestParams) -> CallToolResult:
        return given[params.name]

    bare = Server("bare", on_list_tools=on_list, on_call_tool=on_call, get_tool_input_schema=lambda _: None)

    async def work() -> None:
        async with Client(bare) as client:
            await client.list_tools()
            for call in calls:
                await client.call_tool(call.name, dict(call.arguments))

    return work


class _Nowhere:
    def write(self, event: object) -> None:  # noqa: ARG002
        return


async def measured(scenario: str, sessions: int) -> dict[str, list[float]]:
    """CPU milliseconds of every session, by the way to its tools, and of the floor."""
    with TemporaryDirectory() as place:
        log = Path(place, "log.jsonl")
        async with AsyncExitStack() as opened:
            ways: dict[str, Work] = {}
            for name in TRANSPORTS:
                manager = SessionManager(SUITE, max_sessions=2, batch_window=0.0)
                reach = await opened.enter_async_context(transport(name, manager))
                ways[name] = lambda manager=manager, reach=reach: played(scenario, log, manager, reach)
            await ways["direct"]()
            ways["floor"] = floor_of(log.with_suffix(".last"))
            for work in [*ways.values()] * 3:
                await work()
            taken: dict[str, list[float]] = {name: [] for name in ways}
            for _ in range(sessions):
                for name, work in ways.items():
                    before = time.process_time()
                    await work()
                    taken[name].append((time.process_time() - before) * 1e3)
    return taken


def rows(scenario: str, sessions: int) -> list[BudgetRow]:
    taken = anyio.run(measured, scenario, sessions)
    middle = {way: statistics.median(times) for way, times in taken.items()}
    ratio = statistics.median(mine / bare for mine, bare in zip(taken["memory"], taken["floor"], strict=True))
    memory = f"in memory ({middle['memory']:.1f} ms), against the SDK's own"
    return [
        BudgetRow("the SDK's own connecting, listing, calling", f"{middle['floor']:.1f} ms", "-", 0.0),
        BudgetRow("without MCP", f"{middle['direct']:.1f} ms", "-", 0.0),
        BudgetRow(memory, f"{ratio:.2f}x", f"{IN_MEMORY}x", ratio / IN_MEMORY),
        BudgetRow("over HTTP", f"{middle['http']:.1f} ms", f"{HTTP:.0f} ms", middle["http"] / HTTP),
    ]


def main(arguments: Sequence[str] = ()) -> None:
    wanted = how_many("transports", "sessions", 60, arguments)
    for scenario in SCENARIOS:
        show(f"A session of {scenario}", rows(scenario, wanted))
