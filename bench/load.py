"""Clients for load: raw pipes and sockets, because the SDK's own client costs more than what is measured."""

import json
import re
import socket
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LEGACY, MODERN = "2025-11-25", "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
INITIALIZE = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
Calls = list[tuple[str, dict[str, Any]]]


class Stdio:
    """A server behind two pipes."""

    def __init__(self, argv: list[str], era: str) -> None:
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT
        )
        self.era = era
        self.number = 0

    def open(self) -> None:
        if self.era == LEGACY:
            self.ask("initialize", INITIALIZE)
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.number += 1
        if self.era == MODERN:
            params = {**params, "_meta": META}
        self._send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return result_in(self.process.stdout.readline())

    def _send(self, message: dict[str, Any]) -> None:
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(10)


class Http:
    """One keep-alive connection to an MCP endpoint."""

    def __init__(self, url: str, era: str) -> None:
        host, port, self.path = re.fullmatch(r"http://([^:/]+):(\d+)(/.*)", url).groups()
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")
        self.era = era
        self.session = ""
        self.number = 0
        self.host = f"{host}:{port}"

    def open(self) -> None:
        if self.era == LEGACY:
            self.ask("initialize", INITIALIZE)
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            self._read()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.send(method, params)
        return self.receive()

    def send(self, method: str, params: dict[str, Any]) -> None:
        self.number += 1
        if self.era == MODERN:
            params = {**params, "_meta": META}
        self._send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})

    def receive(self) -> dict[str, Any]:
        return result_in(self._read())

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        lines = [
            f"POST {self.path} HTTP/1.1", f"Host: {self.host}", "Content-Type: application/json",
            "Accept: application/json, text/event-stream", f"Content-Length: {len(body)}",
            f"MCP-Protocol-Version: {self.era}",
        ]  # fmt: skip
        if self.session:
            lines.append(f"Mcp-Session-Id: {self.session}")
        if self.era == MODERN:
            lines.append(f"Mcp-Method: {message['method']}")
            if "name" in message.get("params", {}):
                lines.append(f"Mcp-Name: {message['params']['name']}")
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode() + body)

    def _read(self) -> bytes:
        status = self.file.readline()
        length = 0
        while (line := self.file.readline().strip()) != b"":
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
            if name.lower() == b"mcp-session-id":
                self.session = value.strip().decode()
        body = self.file.read(length)
        if status.split()[1:2] not in ([b"200"], [b"202"]):
            raise RuntimeError(f"the server answered {status!r} {body!r}")
        return body

    def close(self) -> None:
        self.file.close()
        self.socket.close()


def result_in(line: bytes) -> dict[str, Any]:
    answer = json.loads(line)
    if "result" not in answer:
        raise RuntimeError(f"the server answered {answer!r}")
    return answer["result"]


def pump(connections: list[Any], calls: Calls, count: int) -> None:
    """Make ``count`` calls, one in flight on each connection."""
    for step in range(count // len(connections)):
        name, arguments = calls[step % len(calls)]
        if len(connections) == 1:
            connections[0].ask("tools/call", {"name": name, "arguments": arguments})
            continue
        for connection in connections:
            connection.send("tools/call", {"name": name, "arguments": arguments})
        for connection in connections:
            connection.receive()
