"""Dies at a given write: a command runs in a child that kills itself at its n-th change to a folder.

Started as a program, which imports everything once. It reads JSON lines, each a trial: ``folder``, ``at`` (0
lets it live), ``argv`` of the command, ``stdin`` and ``stdout`` as paths. For each it prints how the child ended; how
many changes it made stands beside ``stdout``. What counts as one are files opened to write, renamed or removed, folders
made, and each write to a file, of which only half is done. A command that serves over HTTP is used from a thread of the
child, which writes the calls that were answered to ``stdout`` and keeps its session's address beside it.
"""

import json
import os
import re
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Crash:
    """Counts the changes to a folder, and ends the process at one of them."""

    def __init__(self, folder: Path, at: int) -> None:
        self._folder, self._at = str(folder), at
        self.count = 0
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
            self.count += 1
            if self.count == self._at:
                self._write(descriptor, bytes(data)[: len(data) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
        return self._write(descriptor, data)

    def _change(self) -> None:
        self.count += 1
        if self.count == self._at:
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


def trial(folder: str, at: int, argv: list[str], stdin: str, stdout: str) -> None:
    """In the child: the command with its input and output, and the crash. Does not come back."""
    from sandbox_mcp.cli import main

    os.dup2(os.open(stdin, os.O_RDONLY), 0)
    os.dup2(os.open(stdout, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    os.dup2(os.open(f"{stdout}.errors", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    crash = Crash(Path(folder), at)
    if "--http" in argv:
        os.environ["SANDBOX_MCP_API_TOKEN"] = "control"
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        client = harness, (Path(f"{stdout}.errors"), Path(f"{stdout}.session"))
        threading.Thread(target=client[0], args=client[1], daemon=True).start()
    code: object = 1
    try:
        sys.argv = ["sandbox-mcp", *argv]
        main()
        code = 0
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.stdout.flush()
        Path(f"{stdout}.count").write_text(str(crash.count))
        os._exit(code if isinstance(code, int) else 1)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from tests.warm import import_everything

    import_everything()
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            trial(**asked)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()
