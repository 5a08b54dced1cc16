"""ToolSandbox's own scenarios, from a user's installed checkout to a suite that our sessions play and we judge.

Policy: their package and ours cannot share an environment, so a script of ours runs in theirs and writes a file. The
clock and the time zone are chosen here, because the scenarios work out their dates from the moment they are built.
"""

import os
import subprocess
import tempfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from sandbox_mcp.app.benchmarks.toolsandbox.writing import write_suite
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.engine.bounded import loads

__all__ = ("ENVIRONMENT", "dump", "write_suite")

SCRIPT = Path(__file__).with_name("dump.py")
PACKAGE = "tool_sandbox"
ENVIRONMENT = "toolsandbox-import"
"""The environment that ``agents install`` makes."""


def dump(checkout: Path, python: Path, now: datetime, zone: str) -> Mapping[str, Any]:
    """All scenarios of a checkout as its own code builds them at ``now``, wall time of ``zone``.

    Raises:
        RunError: the folder is not a checkout, the interpreter is not there or lacks what the checkout needs.
    """
    if not (checkout / PACKAGE / "scenarios").is_dir():
        raise RunError(f"{str(checkout)!r} is not a checkout of ToolSandbox; it has no {PACKAGE}/scenarios")
    if not python.exists():
        raise RunError(f"there is no interpreter {str(python)!r}; name one that has ToolSandbox installed")
    # the checkout stands in front of whatever is installed
    paths = os.pathsep.join(filter(None, (str(checkout.resolve()), os.environ.get("PYTHONPATH"))))
    settings = {"TZ": zone, "PYTHONPATH": paths, "PYTHONHASHSEED": "0"}  # it goes through sets, whose order would vary
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "scenarios.json"
        done = subprocess.run(  # noqa: S603 - the interpreter that the caller named
            [str(python), str(SCRIPT), now.isoformat(timespec="seconds"), str(out)],
            capture_output=True, text=True, check=False, env={**os.environ, **settings},
        )  # fmt: skip
        if not done.returncode:
            return loads(out.read_text(encoding="utf-8"))
    lines = [line for line in done.stderr.splitlines() if line.strip()] or ["it gave no reason"]
    hint = (
        f"'sandbox-mcp agents install {ENVIRONMENT} --checkout DIR' makes an environment that has it"
        if "ModuleNotFoundError" in lines[-1]
        else "its scenarios could not be built"
    )
    raise RunError(f"{python!s}: {lines[-1].strip()}; {hint}")
