"""Puts many clients on one server for a while, and says whether anything grew, was lost or got mixed up.

Run as ``python -m bench.soak [--seconds S] [--clients N]``, or ``make soak``. Clients of both eras open sessions, play
and leave them in every way: ended, closed, closed while a call is under way, and left standing until they are cleared
up. Prints a table; the exit code is 1 where memory or descriptors grew, a call that was answered is in no log, or a
client read what another had written.
"""

import argparse
import asyncio
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx2

LEGACY, MODERN = "2025-11-25", "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "soak", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
WAYS = ("ended", "closed", "cut off", "left")
CALLS = 3
GROWTH = 1.10
"""Memory in the last quarter of the time may be so much of what it was in the second."""
SPARE = 4_000_000
"""Bytes that it may grow besides."""


class Soak:
    """The clients, and what they saw."""

    def __init__(self, base: str, token: str, clients: int, deadline: float) -> None:
        self._base, self._deadline, self._clients = base, deadline, clients
        self._api = {"Authorization": f"Bearer {token}"}
        self._left: list[tuple[float, str, list[str]]] = []
        self.seen: Counter[str] = Counter()
        self.samples: list[tuple[float, int, int]] = []

    async def run(self, process: int) -> None:
        """All clients at once until the time is over, then what was left behind is cleared up."""
        limits = httpx2.Limits(max_connections=self._clients, max_keepalive_connections=self._clients)
        async with httpx2.AsyncClient(timeout=120, limits=limits) as http, asyncio.TaskGroup() as group:
            group.create_task(self._watch(process))
            group.create_task(self._clear(http))
            for number in range(self._clients):
                group.create_task(self._client(http, number))

    async def _watch(self, process: int) -> None:
        pause = max(0.5, (self._deadline - time.monotonic()) / 100)
        while time.monotonic() < self._deadline:
            self.samples.append((time.monotonic(), *usage(process)))
            await asyncio.sleep(pause)

    async def _clear(self, http: httpx2.AsyncClient) -> None:
        """Close what was left standing, some seconds later."""
        while self._left or time.monotonic() < self._deadline:
            await asyncio.sleep(0.2)
            over = time.monotonic() > self._deadline
            while self._left and (over or self._left[0][0] < time.monotonic() - 5):
                _, id_, names = self._left.pop(0)
                try:
                    await self._look(http, id_, names)
                    await http.delete(f"{self._base}/api/sessions/{id_}", headers=self._api)
                except httpx2.HTTPError as error:
                    self.seen[f"failed: {type(error).__name__}"] += 1

    async def _client(self, http: httpx2.AsyncClient, number: int) -> None:
        turn = number
        while time.monotonic() < self._deadline:
            turn += 1
            era, way = (LEGACY, MODERN)[turn % 2], WAYS[turn // 2 % len(WAYS)]
            try:
                await self._session(http, f"Client {number} turn {turn}", era, way)
            except httpx2.HTTPError as error:
                self.seen[f"failed: {type(error).__name__}"] += 1

    async def _session(self, http: httpx2.AsyncClient, name: str, era: str, way: str) -> None:
        wanted = {"scenario": "wifi_off", "variant": "all_tools"}
        answer = await http.post(f"{self._base}/api/sessions", json=wanted, headers=self._api)
        if answer.status_code != 201:
            self.seen[f"failed: {answer.status_code} at opening"] += 1
            return
        made = answer.json()
        self.seen[f"sessions of {era}"] += 1
        headers = await self._hello(http, made, era)
        names = [f"{name} no {number}" for number in range(CALLS)]
        for written in names:
            if (
                await self._tool(
                    http, made, headers, era, "add_contact", {"name": written, "phone_number": "+14155550123"}
                )
                is None
            ):
                return
        found = await self._tool(http, made, headers, era, "search_contacts", {"name": name})
        self.seen["mixed up"] += any(
            not row["name"].startswith(name) for row in _rows(found) if "Client" in row["name"]
        )
        self.seen["lost"] += sum(row not in {item["name"] for item in _rows(found)} for row in names)
        if way == "left":
            self._left.append((time.monotonic(), made["id"], names))
        elif way == "cut off":
            late = asyncio.create_task(self._tool(http, made, headers, era, "get_wifi_status", {}))
            await asyncio.sleep(0)
            try:
                await http.delete(f"{self._base}/api/sessions/{made['id']}", headers=self._api)
            finally:
                await late
        else:
            if way == "ended":
                await http.post(f"{self._base}/api/sessions/{made['id']}/end", json={}, headers=self._api)
            await self._look(http, made["id"], names)
            await http.delete(f"{self._base}/api/sessions/{made['id']}", headers=self._api)
        self.seen[way] += 1

    async def _hello(self, http: httpx2.AsyncClient, made: dict[str, Any], era: str) -> dict[str, str]:
        headers = {
            "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": era,
            "Authorization": f"Bearer {made['bearer']}",
        }  # fmt: skip
        if era == LEGACY:
            params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}
            body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
            answer = await http.post(made["url"], json=body, headers=headers)
            headers["Mcp-Session-Id"] = answer.headers["mcp-session-id"]
            await http.post(
                made["url"], json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers
            )
        return headers

    async def _tool(
        self, http: httpx2.AsyncClient, made: dict[str, Any], headers: dict[str, str], era: str, name: str, given: Any
    ) -> Any:
        params = {"name": name, "arguments": given, **({"_meta": META} if era == MODERN else {})}
        more = {"Mcp-Method": "tools/call", "Mcp-Name": name} if era == MODERN else {}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = await http.post(made["url"], json=body, headers={**headers, **more})
        if answer.status_code != 200 or "result" not in answer.json():
            self.seen[
                "calls of a session that was closed" if name == "get_wifi_status" else f"failed: {answer.status_code}"
            ] += 1
            return None
        self.seen["calls"] += 1
        return answer.json()["result"].get("structuredContent")

    async def _look(self, http: httpx2.AsyncClient, id_: str, names: list[str]) -> None:
        """The log has every call that was answered, and nobody else's."""
        log = (await http.get(f"{self._base}/api/sessions/{id_}/trajectory", headers=self._api)).text
        events = [json.loads(line) for line in log.splitlines()]
        written = [event["arguments"]["name"] for event in events if event.get("tool") == "add_contact"]
        self.seen["lost"] += len(set(names) - set(written))
        self.seen["mixed up"] += len(set(written) - set(names))
        self.seen["logs read"] += 1


def usage(process: int) -> tuple[int, int]:
    """The memory of a process in bytes, and how many files it has open."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * 4096, sum(1 for _ in Path(f"/proc/{process}/fd").iterdir())


def _rows(found: Any) -> list[dict[str, Any]]:
    rows = found.get("result", found) if isinstance(found, dict) else found
    return rows if isinstance(rows, list) else []


def quarters(samples: list[tuple[float, int, int]], place: int) -> tuple[float, float]:
    """The median of a figure in the second and in the last quarter of the time."""
    size = max(1, len(samples) // 4)
    return tuple(  # type: ignore[return-value]
        statistics.median(sample[place] for sample in part)
        for part in (samples[size : 2 * size] or samples, samples[-size:])
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="make soak")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--clients", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [sys.executable, "-m", "sandbox_mcp.app.cli", "serve", "--http", "--port", "0", "--log-dir", folder],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        try:
            base, token = _told(server)
            soak = Soak(base, token, given.clients, time.monotonic() + given.seconds)
            asyncio.run(soak.run(server.pid))
        finally:
            server.terminate()
            server.wait(timeout=60)
    return _report(soak)


def _told(server: "subprocess.Popen[str]") -> tuple[str, str]:
    base = token = ""
    assert server.stdout
    while not (base and token):
        line = server.stdout.readline()
        assert line, "the server ended"
        base = base or (found[1] if (found := re.search(r"(http://\S+)/api\b", line)) else "")
        token = token or (found[1] if (found := re.search(r"API token: (\S+)", line)) else "")
    return base, token


def _report(soak: Soak) -> int:
    for what, count in sorted(soak.seen.items()):
        print(f"{what:<40} {count:>12,}")
    memory, descriptors = quarters(soak.samples, 1), quarters(soak.samples, 2)
    print(f"{'memory, second and last quarter':<40} {memory[0] / 1e6:>8.1f} MB {memory[1] / 1e6:>8.1f} MB")
    print(f"{'descriptors, second and last quarter':<40} {descriptors[0]:>11.0f} {descriptors[1]:>11.0f}")
    faults = [
        *(
            f"{count:,} {what}"
            for what, count in soak.seen.items()
            if count and what.startswith(("lost", "mixed", "failed"))
        ),
        *(["memory grew"] if memory[1] > GROWTH * memory[0] + SPARE else []),
        *(["descriptors grew"] if descriptors[1] > GROWTH * descriptors[0] + 20 else []),
    ]
    print("; ".join(faults) or "nothing grew, nothing was lost, nothing got mixed up")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
