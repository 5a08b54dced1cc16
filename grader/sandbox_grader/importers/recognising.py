"""Imports files of any known format, each by the marks it has.

Policy: a format is recognised by what only it has, in one of the first lines. Where nothing was called several formats
look alike: the one that loses least of the messages reads them. A file that is neither is named and left out.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from sandbox_grader.errors import ImportFormatError, NothingToImportError
from sandbox_grader.importers import importer
from sandbox_grader.importers.base import Imported
from sandbox_grader.importers.mapped import FIRST, recognised
from sandbox_grader.importers.reading.json_values import load

SUFFIXES = (".json", ".jsonl", ".ndjson", ".traj", ".eval", ".gz")
"""Ends of the names of files that are looked at in a folder."""
PLAIN = ("openai-chat", "openai-responses", "anthropic", "converse", "vercel", "gemini")
"""Formats whose messages look alike where nothing was called."""
UNKNOWN = "has the marks of no format that is known here; see 'import --help', and 'any' for JSON of your own"


def files(path: Path) -> list[Path]:
    """A file, or the files of a folder at any depth, without those that belong to another one's session."""
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.rglob("*") if file.is_file() and file.name.endswith(SUFFIXES))
    return [file for file in found if not _is_of_another(file)]


def _is_of_another(file: Path) -> bool:
    """True for the file of a sub-agent of Claude Code, which is read with its session."""
    folders = [folder for folder in file.parents if folder.name == "subagents"]
    return any(folder.parent.with_suffix(".jsonl").exists() for folder in folders)


def format_in(path: Path) -> str | None:
    """The format that a file is of; None where it has the marks of none.

    Raises:
        ImportFormatError: it cannot be read.
    """
    if path.suffix == ".eval":
        return "inspect"
    nodes = load(path).nodes[:FIRST]
    return next((name for node in nodes if (name := recognised(node)) is not None), None) or _plain_in(path)


def _plain_in(path: Path) -> str | None:
    """The format of messages without calls: the one that reads all of them with the fewest losses."""
    found: list[tuple[int, str]] = []
    for name in PLAIN:
        with suppress(ImportFormatError):
            found.append((sum(len(session.losses) for session in importer(name)([path])), name))
    return min(found, key=lambda one: one[0])[1] if found else None


def read(paths: Sequence[Path]) -> Iterator[Imported]:
    """Read the given files, and those of folders, each in its own format.

    Raises:
        ImportFormatError: a file is of no known format, or lacks the marks of the one named.
    """
    for path in (file for given in paths for file in files(given)):
        name = format_in(path)
        if name is None:
            raise NothingToImportError(str(path), None, UNKNOWN)
        yield from importer(name)([path])
