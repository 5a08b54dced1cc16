"""``python -m bench training [--openenv PYTHON] [--open N] [--workers W]``: episodes a second, memory of open ones.

An episode is a reset, a call and words for the user, whose answer ends it, graded. What counts is the server's CPU for
it beside that of the same episode in process. OpenEnv's own echo (a reset and two echoes, nothing kept and nothing
graded) answers the same client in turn, if ``--openenv`` names the Python of an environment with openenv. Rounds
alternate between the two, so that whatever else the machine does hits both; the median of the ratios of adjacent rounds
is told. ``--open`` holds so many episodes open at once and takes a step in each.
"""

import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from bench.load import ROOT
from bench.server import cpu_of, free_port, rss_of
from bench.sessions import tree
from bench.table import BudgetRow, show
from sandbox_mcp.play.training import Episode

OURS = (
    {"type": "reset", "data": {"scenario": "wifi_off"}},
    {"type": "step", "data": {"type": "call_tool", "tool_name": "set_wifi_status", "arguments": {"on": False}}},
    {"type": "step", "data": {"type": "say", "message": "Wifi is off now."}},
)
ECHO = (
    {"type": "reset", "data": {}},
    {"type": "step", "data": {"message": "one"}},
    {"type": "step", "data": {"message": "two"}},
)
TOKEN = {"Authorization": "Bearer bench"}
OVER_WIRE, KILOBYTES = 2.5, 40
ROUNDS, SECONDS = 9, 1.0


@contextmanager
def started(arguments: Sequence[str], port: int) -> Iterator[subprocess.Popen[bytes]]:
    """A server as a process of its own."""
    environment = {**os.environ, "SANDBOX_MCP_API_TOKEN": "bench"}
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(arguments, env=environment, cwd=ROOT, stdout=messages, stderr=messages)
        try:
            _wait_for(port, process)
            yield process
        finally:
            process.terminate()
            process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """OpenEnv's server takes minutes to import what it needs on a busy machine."""
    for _ in range(6000):
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise RuntimeError(f"nothing listens on port {port}")


async def episode(connection: ClientConnection, messages: Sequence[object]) -> float:
    """One episode on an open connection; its reward."""
    answer = ""
    for message in messages:
        await connection.send(json.dumps(message))
        answer = await connection.recv()
    return json.loads(answer)["data"]["reward"]


@dataclass(frozen=True, slots=True)
class Side:
    """A server that is measured: its address, the messages of an episode, its processes."""

    url: str
    messages: Sequence[object]
    pids: Sequence[int]

    def cpu(self) -> float:
        """Seconds on a processor so far."""
        return sum(map(cpu_of, self.pids))


async def rate(side: Side, clients: int, *, kept: bool = False) -> tuple[float, float]:
    """Episodes a second by so many clients, and seconds of the server's CPU for each.

    A client opens a connection for every episode, unless its connection is ``kept``.
    """

    def connected() -> connect:
        return connect(side.url, additional_headers=TOKEN, compression=None)

    async with connected() as connection:
        await episode(connection, side.messages)  # what is read once
    until, done = time.perf_counter() + SECONDS, 0

    async def client() -> None:
        nonlocal done
        while time.perf_counter() < until:
            async with connected() as connection:
                while True:
                    if await episode(connection, side.messages) != 1.0:
                        raise RuntimeError("an episode did not earn 1")
                    done += 1
                    if not kept or time.perf_counter() >= until:
                        break

    begun, before = time.perf_counter(), side.cpu()
    await asyncio.gather(*(client() for _ in range(clients)))
    return done / (time.perf_counter() - begun), (side.cpu() - before) / done


async def answering(url: str, pid: int) -> list[int]:
    """The processes of a server, once each of its workers has played an episode."""
    pids: list[int] = []
    for _ in range(16):  # whoever accepts first answers; a worker that is still starting accepts nothing
        async with connect(url, additional_headers=TOKEN, compression=None, open_timeout=100) as connection:
            await episode(connection, OURS)
        pids = tree(pid)
    return pids


def in_process() -> float:
    """Graded episodes a second of CPU without any wire."""
    begun, count = time.process_time(), 200
    for seed in range(count):
        played = Episode("wifi_off")
        played.call("set_wifi_status", {"on": False})
        played.call("send_message_to_user", {"content": "Wifi is off now."})
        if played.reward().value != 1.0:
            raise RuntimeError(f"episode {seed} did not earn 1")
    return count / (time.process_time() - begun)


@dataclass(frozen=True, slots=True)
class HeldOpen:
    """So many episodes open at once: KB for each, seconds of a step, and connections that had to be tried again."""

    count: int
    kilobytes: float
    median: float
    late: float
    again: int


async def held(url: str, counts: Sequence[int], pids: Sequence[int]) -> AsyncIterator[HeldOpen]:
    """Hold more and more episodes open, and take a step in each of them, 16 at a time, for each of the counts."""
    before, again = sum(map(rss_of, pids)), 0
    sockets: list[ClientConnection] = []

    async def opened() -> ClientConnection:
        nonlocal again
        for _ in range(20):
            with suppress(InvalidStatus, TimeoutError, OSError):  # a head that is late on a busy machine is refused
                return await connect(
                    url, additional_headers=TOKEN, compression=None, ping_interval=None, open_timeout=100
                )
            again += 1
        raise RuntimeError("a connection was refused 20 times")

    async def stepping(mine: Sequence[ClientConnection], taken: list[float]) -> None:
        for connection in mine:
            begun = time.perf_counter()
            await _asked(connection, OURS[1])
            taken.append(time.perf_counter() - begun)

    for count in sorted(counts):
        while len(sockets) < count:
            new = await asyncio.gather(*(opened() for _ in range(min(16, count - len(sockets)))))
            await asyncio.gather(*(_asked(one, OURS[0]) for one in new))
            sockets += new
        each = (sum(map(rss_of, pids)) - before) / count / 1024
        taken: list[float] = []
        await asyncio.gather(*(stepping(sockets[number::16], taken) for number in range(16)))
        yield HeldOpen(count, each, statistics.median(taken), sorted(taken)[int(count * 0.99)], again)
    await asyncio.gather(*(one.close() for one in sockets))


async def _asked(connection: ClientConnection, message: object) -> None:
    await connection.send(json.dumps(message))
    if "error" in json.loads(await connection.recv())["type"]:
        raise RuntimeError("a step was refused")


async def _memory(url: str, counts: Sequence[int], pids: Sequence[int]) -> BudgetRow:
    """Print what steps take with so many open, and give the memory of one."""
    found = [one async for one in _told(held(url, counts, pids))][-1]
    told = f"{found.kilobytes:.1f} KB"
    return BudgetRow("memory of an open episode", told, f"<= {KILOBYTES} KB", found.kilobytes / KILOBYTES)


async def _told(found: AsyncIterator[HeldOpen]) -> AsyncIterator[HeldOpen]:
    async for one in found:
        step = f"a step takes {one.median * 1000:.1f} ms, 99th percentile {one.late * 1000:.1f} ms"
        print(f"{one.count} open: {step}, {one.kilobytes:.1f} KB each; {one.again} connections tried again", flush=True)
        yield one


def main(arguments: Sequence[str]) -> None:
    """Print the budgets."""
    parser = ArgumentParser("python -m bench training", description=__doc__)
    parser.add_argument("--openenv", metavar="PYTHON", help="the Python of an environment with openenv")
    parser.add_argument(
        "--open", type=int, nargs="+", default=[1000], metavar="N", help="episodes held open, in turn (default 1000)"
    )
    parser.add_argument("--workers", type=int, default=1, metavar="W", help="worker processes (default 1)")
    options = parser.parse_args(arguments)
    rows: list[BudgetRow] = []
    print(f"in process: {in_process():.0f} graded episodes a second of CPU")
    port, echo_port = free_port(), free_port()
    with tempfile.TemporaryDirectory() as logs:
        ours = [
            *(sys.executable, "-m", "sandbox_mcp.app.cli", "serve", "--http", "--port", str(port), "--log-dir", logs),
            *("--max-sessions", str(max(5000, *options.open)), "--workers", str(options.workers)),
        ]
        with started(ours, port) as server:
            url, echo = f"ws://127.0.0.1:{port}/openenv/phone/ws", f"ws://127.0.0.1:{echo_port}/ws"
            pids = asyncio.run(answering(url, server.pid))
            mine = Side(url, OURS, pids)
            if options.openenv:
                theirs = [options.openenv, str(Path(__file__).with_name("openenv_echo.py")), str(echo_port)]
                with started(theirs, echo_port) as other:
                    sides = mine, Side(echo, ECHO, [other.pid])
                    for kept, clients in ((False, 1), (False, 16), (True, 1), (True, 16)):
                        print(compared(*sides, clients, kept=kept))
            else:
                for clients in (1, 16):
                    print(f"{clients} clients: {asyncio.run(rate(mine, clients))[0]:.0f} episodes a second")
            pairs = [(asyncio.run(rate(mine, 1, kept=True))[1], 1 / in_process()) for _ in range(ROUNDS)]
            ratio = statistics.median(wire / inside for wire, inside in pairs)
            told = f"{ratio:.2f}x, {statistics.median(wire for wire, _ in pairs) * 1000:.1f} ms"
            rows.append(BudgetRow("CPU over a wire beside in process", told, f"<= {OVER_WIRE:g}x", ratio / OVER_WIRE))
            rows.append(asyncio.run(_memory(url, options.open, pids)))
    show("Training", rows)


def compared(ours: Side, echo: Side, clients: int, *, kept: bool) -> str:
    """Episodes a second of both and CPU for one, in a line."""
    pairs = [tuple(asyncio.run(rate(side, clients, kept=kept)) for side in (ours, echo)) for _ in range(ROUNDS)]
    ratio = statistics.median(mine[0] / other[0] for mine, other in pairs)
    mine, other = (
        [statistics.median(values) for values in zip(*side, strict=True)] for side in zip(*pairs, strict=True)
    )
    what = f"{clients} client{'s' * (clients > 1)}{', connections kept' * kept}"
    cpu = f"CPU {mine[1] * 1000:.1f} and {other[1] * 1000:.1f} ms"
    return f"{what}: {mine[0]:.0f} episodes a second, echo {other[0]:.0f}, {ratio:.2f}x; {cpu}"


if __name__ == "__main__":
    main(sys.argv[1:])
