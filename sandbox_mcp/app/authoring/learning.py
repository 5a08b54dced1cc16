"""Learning what scenarios need to know of live servers before they can be read: tools, and state at the start.

Policy: only commands that start servers anyway learn of them by themselves; reading a file of scenarios, listing or
grading it never starts a program.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, cast

from sandbox_scenarios.files import ScenarioFile
from sandbox_scenarios.homes import server_in
from sandbox_scenarios.problem import ProblemError

from sandbox_mcp.engine.errors import SandboxError


def learn(places: Iterable[Path], tell: Callable[[str], None], *, again: bool = False) -> tuple[Path, ...]:
    """Make the tapes that scenarios with live servers lack, or with ``again`` all of them; gives those that were made.

    Raises:
        SandboxError: a server cannot be started, or a file cannot be read.
    """
    made: dict[Path, None] = {}
    for path in _files(places):
        text = path.read_text(encoding="utf-8", errors="replace")
        if "server" not in text:
            continue
        for entry in ScenarioFile(path, text).entries:
            written: Any = entry.get("world")
            for world in cast("list[Any]", written if isinstance(written, list) else [written]):
                try:
                    server = server_in(world)
                except ProblemError as problem:
                    raise SandboxError(f"{path}: scenario {entry.get('name')!r}: {problem.text}") from problem
                if server is None or server.tape in made or (server.tape.exists() and not again):
                    continue
                from sandbox_mcp.play.session.running_server import learned

                tape, remarks = learned(server)
                made[tape] = None
                tell(f"{tape}: the tools and the state of {server.name}, as the server tells them")
                for remark in remarks:
                    tell(f"{server.name}: {remark}")
    return tuple(made)


def _files(places: Iterable[Path]) -> Iterable[Path]:
    for place in places:
        if not place.exists():
            raise SandboxError(f"{place}: does not exist; expected a scenario file or a folder of them")
        inside = (item for ending in ("*.yaml", "*.yml") for item in place.rglob(ending))
        yield from sorted(inside) if place.is_dir() else [place]
