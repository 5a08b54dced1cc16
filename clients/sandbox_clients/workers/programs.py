"""Agents that are command line programs: found, run for one message, and heard as events, one JSON object a line.

Policy: a program gets the message on its standard input, because arguments are for everybody to see and have a greatest
length. It is ended with the message that it was started for. Standard library only, as for every worker.
"""

import asyncio
import json
import shutil
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

HEADER = "SANDBOX_MCP_HEADER_"
"""How the variables begin that hold headers: no list of processes shows them, as it does arguments, and no file."""


@dataclass(frozen=True)
class Ended:
    """End of a program."""

    code: int
    out: str
    err: str

    def events(self) -> Iterator[dict[str, Any]]:
        """The objects it wrote; other lines are left out."""
        for line in self.out.splitlines():
            try:
                event: Any = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict):
                yield cast("dict[str, Any]", event)

    def how(self) -> str:
        """Describe to people how it ended."""
        lines = [line.strip() for line in self.err.splitlines() if line.strip()]
        words = next((line for line in lines if "error" in line.lower()), lines[-1] if lines else "")
        return f"exit code {self.code}: {words[:300]}" if words else f"exit code {self.code}"


@contextmanager
def own_folders(name: str) -> Generator[tuple[Path, Path]]:
    """A program's folders for one conversation: its home, and an empty one to work in."""
    with TemporaryDirectory(prefix=f"{name}-", ignore_cleanup_errors=True) as folder:
        home, work = Path(folder, "home"), Path(folder, "work")
        home.mkdir()
        work.mkdir()
        yield home, work


def as_variables(headers: Mapping[str, str]) -> dict[str, str]:
    """The values of headers, in variables that are numbered in their order."""
    return {f"{HEADER}{number}": value for number, value in enumerate(headers.values())}


def found(program: str, agent: str) -> str:
    """The path of a program.

    Raises:
        FileNotFoundError: it is nowhere.
    """
    where = shutil.which(program)
    if where is None:
        raise FileNotFoundError(f"no program {program!r} was found; 'sandbox-mcp agents install {agent}' brings it")
    return where


async def run(command: Sequence[str], text: str, folder: Path, environment: Mapping[str, str]) -> Ended:
    """Run a program to its end."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, env=environment, stdin=pipe, stdout=pipe, stderr=pipe
    )
    try:
        out, err = await process.communicate(text.encode("utf-8", "replace"))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    said = err.decode("utf-8", "replace")
    sys.stderr.write(said)
    return Ended(process.returncode or 0, out.decode("utf-8", "replace"), said)
