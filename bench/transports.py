"""What an MCP client adds to a session: in memory and over HTTP, against the SDK's own connecting, listing and calling.

Run as ``python -m bench transports [SESSIONS]``. The same sessions are played and recorded without MCP, in memory and
over HTTP, in turn. The floor of either is what the SDK's client and low-level server take there for the same tools,
calls and results: no world, no user, no log. CPU time of this process, in which server and agent both live.

Making the file of a log is measured by itself as well. ext4 passes over every inode that was freed in the last five
minutes, so that after many files were deleted, as by this command itself, a new one costs a fifth of a short session
and more, where it costs a fiftieth otherwise. ``TMPDIR=/dev/shm`` leaves the disk out.
"""

import statistics
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import uvicorn
from mcp import Client
from mcp.server import Server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult
from sandbox_clients.mcp_tools import McpTarget
from sandbox_clients.reference import ReferenceAgent
from sandbox_scenarios import Suite

from bench.table import BudgetRow, how_many, show
from sandbox_mcp.app.run.play import Arena, play
from sandbox_mcp.app.run.transports import TRANSPORTS, transport
from sandbox_mcp.engine.trajectory import LogWriter, ToolCall, read_trajectory
from sandbox_mcp.play.server.app import base_url, listener_on
from sandbox_mcp.play.server.mcp_server import listing, wire_result
from sandbox_mcp.play.session import Session, SessionSpec
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.users import ScriptedUser

SUITE = Suite()
SCENARIOS = ("wifi_off", "colleagues_to_friends")
"""One turn with one call; two turns with five calls, two of them sent together."""
IN_MEMORY, OVER_HTTP = 1.3, 1.2
"""Times what the SDK takes by itself."""
SETTLED = 0.005
"""Seconds between two sessions, in which a server closes what the last one had open, and does not charge the next."""
Work = Callable[[], Awaitable[None]]


async def played(scenario: str, logs: Iterator[Path], arena: Arena) -> None:
    """Play one session and record it, in a file of its own as that of every session."""
    chosen = SUITE.get(scenario)
    with LogWriter(next(logs)) as sink:
        await play(arena, SessionSpec(chosen), ReferenceAgent(), ScriptedUser.of(chosen.user), sink)


async def made(logs: Iterator[Path]) -> None:
    """Make the file of a log, and nothing else."""
    LogWriter(next(logs)).close()


def bare_server(log: Path) -> tuple[Server[Any], Sequence[ToolCall]]:
    """A bare server that answers what was answered in this session, and the calls that were made in it."""
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

    return Server("bare", on_list_tools=on_list, on_call_tool=on_call, get_tool_input_schema=lambda _: None), calls


async def in_memory(bare: Server[Any], calls: Sequence[ToolCall]) -> None:
    """Connect to a bare server, list, and make the calls one after the other."""
    async with Client(bare) as client:
        await client.list_tools()
        for call in calls:
            await client.call_tool(call.name, dict(call.arguments))


async def over_http(url: str, calls: Sequence[ToolCall]) -> None:
    """The same over HTTP, by the client that agents of a run have."""
    async with McpTarget(url).connect() as tools:
        await tools.list()
        for call in calls:
            await tools.call(call.name, dict(call.arguments))


@asynccontextmanager
async def listening(bare: Server[Any]) -> AsyncGenerator[str]:
    """A bare server at an address of this machine."""
    listener = listener_on("127.0.0.1", 0)
    app = bare.streamable_http_app(json_response=True)
    serving = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serving.serve, [listener])
        while not serving.started:  # noqa: ASYNC110 - it has nothing to wait for
            await anyio.sleep(0.01)
        yield f"{base_url(listener)}/mcp"
        serving.should_exit = True


class _Nowhere:
    def write(self, event: object) -> None:  # noqa: ARG002
        return


async def measured(scenario: str, sessions: int) -> dict[str, list[float]]:
    """CPU milliseconds of every session, by the way to its tools, and of the floor."""
    with TemporaryDirectory() as place:
        logs = (Path(place, f"{number}.jsonl") for number in count())
        async with AsyncExitStack() as opened:
            ways: dict[str, Work] = {}
            for name in TRANSPORTS:
                manager = SessionManager(SUITE, max_sessions=2, batch_window=0.0)
                reach = await opened.enter_async_context(transport(name, manager))
                ways[name] = partial(played, scenario, logs, Arena(manager, reach))
            await ways["direct"]()
            bare, calls = bare_server(Path(place, "0.jsonl"))
            url = await opened.enter_async_context(listening(bare))
            ways["file"] = partial(made, logs)
            ways["floor"] = partial(in_memory, bare, calls)
            ways["http floor"] = partial(over_http, url, calls)
            for work in [*ways.values()] * 3:
                await work()
            taken: dict[str, list[float]] = {name: [] for name in ways}
            for _ in range(sessions):
                for name, work in ways.items():
                    await anyio.sleep(SETTLED)
                    before = time.process_time()
                    await work()
                    taken[name].append((time.process_time() - before) * 1e3)
    return taken


def rows(scenario: str, sessions: int) -> list[BudgetRow]:
    taken = anyio.run(measured, scenario, sessions)
    middle = {way: statistics.median(times) for way, times in taken.items()}

    def against(way: str, floor: str) -> float:
        return statistics.median(mine / bare for mine, bare in zip(taken[way], taken[floor], strict=True))

    memory, http = against("memory", "floor"), against("http", "http floor")
    in_memory = f"in memory ({middle['memory']:.1f} ms), against that"
    over_http = f"over HTTP ({middle['http']:.1f} ms), against that"
    return [
        BudgetRow("without MCP", f"{middle['direct']:.1f} ms", "-", 0.0),
        BudgetRow("of that, making the file of a log", f"{middle['file']:.2f} ms", "-", 0.0),
        BudgetRow("the SDK's own connecting, listing, calling", f"{middle['floor']:.1f} ms", "-", 0.0),
        BudgetRow(in_memory, f"{memory:.2f}x", f"{IN_MEMORY}x", memory / IN_MEMORY),
        BudgetRow("the same over HTTP", f"{middle['http floor']:.1f} ms", "-", 0.0),
        BudgetRow(over_http, f"{http:.2f}x", f"{OVER_HTTP}x", http / OVER_HTTP),
    ]


def main(arguments: Sequence[str] = ()) -> None:
    wanted = how_many("transports", "sessions", 60, arguments)
    for scenario in SCENARIOS:
        show(f"A session of {scenario}", rows(scenario, wanted))
