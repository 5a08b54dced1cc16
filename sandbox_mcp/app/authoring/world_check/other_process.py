"""Trials of the tools in another process, where texts hash otherwise, in another time zone.

Policy: this shows what a second call in the same process does not: the order of a set, state that earlier calls left,
wall times without a zone, and what was drawn by lot or asked of the clock when a module was loaded.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from typing import Any, cast

from sandbox_mcp.app.authoring.world_check.findings import WorldFinding
from sandbox_mcp.app.authoring.world_check.trials import came_to
from sandbox_mcp.engine.errors import SandboxError, first_line
from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.worlds import found_again

HASH_SEED, ZONE = "PYTHONHASHSEED", "TZ"
KATHMANDU = "NPT-5:45"
"""A time zone that hardly any host is in, as systems without a list of zones know it."""


class OtherProcess:
    """Another process that tries the tools of some worlds, beginning now."""

    def __init__(self, worlds: Sequence[World]) -> None:
        self._worlds = worlds
        other_seed = "2" if os.environ.get(HASH_SEED) == "1" else "1"
        env = {**os.environ, HASH_SEED: other_seed, ZONE: "UTC0" if os.environ.get(ZONE) == KATHMANDU else KATHMANDU}
        asked = json.dumps([(world.name, world.origin) for world in worlds])
        command = [sys.executable, "-P", "-m", __name__, asked]  # from anywhere, whatever folders are called there
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, env=env, text=True, stdout=pipe, stderr=pipe)  # noqa: S603 - ours

    def differences(self) -> Iterator[WorldFinding]:
        """Wait for the other process; gives the tools that had other results there."""
        out, err = self._process.communicate()
        if self._process.returncode:
            ended = err.strip().rpartition("\n")[2] or f"exit code {self._process.returncode}"
            yield WorldFinding(self._worlds[0].name, "another process", "broken", f"the tools' trials ended: {ended}")
            return
        told = cast("dict[str, dict[str, Any]]", json.loads(out))
        for world in self._worlds:
            there = told[world.name]
            if "failed" in there:
                problem = f"cannot be found in another process: {there['failed']}"
                yield WorldFinding(world.name, world.name, "declaration", problem)
                continue
            for name, here in came_to(world).items():
                if here != there["came"].get(name):
                    problem = f"{name}() comes to something else in another process and time zone"
                    yield WorldFinding(world.name, name, "not_repeatable", problem)


def _main() -> None:
    told: dict[str, dict[str, Any]] = {}
    with redirect_stdout(sys.stderr):  # for what a world prints
        for name, origin in json.loads(sys.argv[1]):
            try:
                told[name] = {"came": came_to(found_again(name, origin))}
            except SandboxError as error:
                told[name] = {"failed": first_line(error)}
    print(json.dumps(told))  # noqa: T201 - read by the process that asked


if __name__ == "__main__":
    _main()
