"""Processes that share out work do not outlive the one that has it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

PARENT = """
import os, time
from sandbox_mcp.engine.processes import process_pool

if __name__ == "__main__":
    with process_pool(1) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        time.sleep(600)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_they_end_when_it_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT, encoding="utf-8")
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        worker = int(parent.stdout.readline())
        parent.kill()
        parent.wait()
    until = time.monotonic() + 60
    while alive(worker):
        assert time.monotonic() < until
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
