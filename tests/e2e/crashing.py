"""Dies at a given write: a command whose process kills itself at its n-th change to a folder.

``begin`` is called in the process of the warm command (see ``tests.warm``) before the command is run; the variable
``CRASH`` tells it ``folder``, ``at`` (0 lets it live) and ``said``, the path of the command's output: how many changes
it made stands beside that. What counts as one are files opened to write, renamed or removed, folders made, and each
write to a file, of which only half is done. A command that serves over HTTP is used from a thread of its process, which
writes the calls that were answered to the output and keeps its session's address beside it.
"""

import json
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Crash:
    """Counts the changes to a folder, in a file, and ends the process at one of them."""

    def __init__(self, folder: str, at: int, told: Path) -> None:
        self._folder, self._at = folder, at
        self._count = 0
        self._told = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.pwrite(self._told, b"0", 0)
        self._write = os.write
        sys.addaudithook(self._audit)
        os.write = self._half  # pyright: ignore[reportAttributeAccessIssue]

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event not in ("open", "os.rename", "os.remove", "os.mkdir") or not str(arguments[0]).startswith(
            self._folder
        ):
            return
        if event != "open" or (isinstance(arguments[2], int) and arguments[2] & WRITING):
            self._change()

    def _half(self, descriptor: int, data: bytes, /) -> int:
        if descriptor > 2 and os.path.realpath(f"/proc/self/fd/{descriptor}").startswith(self._folder):
            self._change(lambda: self._write(descriptor, bytes(data)[: len(data) // 2]))
        return self._write(descriptor, data)

    def _change(self, last: Callable[[], object] = lambda: None) -> None:
        self._count += 1
        os.pwrite(self._told, str(self._count).encode(), 0)
        if self._count == self._at:
            last()
            os.kill(os.getpid(), signal.SIGKILL)


CALLS = 4
CONTROL = {"Authorization": "Bearer control"}
MODERN = "2026-07-28"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def harness(told: Path, kept: Path) -> None:
    """Opens a session, or goes on with the one that is kept, plays it to its end, and ends the server."""
    while not (found := re.search(r"control API: (http://\S+)/api", told.read_text())):
        time.sleep(0.01)
    base = found[1]
    if not kept.exists():
        kept.write_text(json.dumps(_post(f"{base}/api/sessions", {"scenario": "wifi_off"}, CONTROL)))
    session = json.loads(kept.read_text())
    # the server's port is another each time, the path is not
    url = base + "/" + session["url"].split("/", 3)[3]
    for number in range(CALLS):
        params = {"name": "set_wifi_status", "arguments": {"on": bool(number % 2 == 0 and number)}, "_meta": ENVELOPE}
        headers = {
            "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": MODERN,
            "Mcp-Method": "tools/call", "Mcp-Name": "set_wifi_status",
        }  # fmt: skip
        answer = _post(url, {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}, headers)
        os.write(1, (json.dumps(answer) + "\n").encode())
    control = f"{base}/api/sessions/{session['id']}"
    if not _get(control)["over"]:
        _post(f"{control}/messages", {"text": "Wifi is now off."}, CONTROL)
    _post(f"{control}/end", {}, CONTROL)
    os.kill(os.getpid(), signal.SIGTERM)


def _post(url: str, body: object, headers: dict[str, str]) -> Any:
    asked = Request(url, json.dumps(body).encode(), {"Content-Type": "application/json", **headers})
    with urlopen(asked, timeout=60) as answer:
        return json.load(answer)


def _get(url: str) -> Any:
    with urlopen(Request(url, headers=CONTROL), timeout=60) as answer:
        return json.load(answer)


def begin() -> None:
    """In the process of the command, which has yet to begin."""
    asked = json.loads(os.environ["CRASH"])
    said = Path(asked["said"])
    if "--http" in sys.argv:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        beside = said.with_name(f"{said.name}.errors"), said.with_name(f"{said.name}.session")
        threading.Thread(target=harness, args=beside, daemon=True).start()
    Crash(asked["folder"], asked["at"], said.with_name(f"{said.name}.count"))
