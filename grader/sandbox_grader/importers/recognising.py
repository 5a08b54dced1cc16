"""Imports files of any known format, each by the marks it has.

Policy: a format is recognised by what only it has, in one of the first lines; a file that has the marks of none is
named and left out.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from sandbox_grader.errors import NothingToImportError
from sandbox_grader.importers import importer
from sandbox_grader.importers.base import Imported
from sandbox_grader.importers.mapped import recognised
from sandbox_grader.importers.reading.json_values import load

SUFFIXES = (".json", ".jsonl", ".ndjson", ".traj", ".eval", ".gz")
"""Ends of the names of files that are looked at in a folder."""
FIRST = 40
"""So many lines are looked at, because some hosts begin with lines about themselves."""
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
    return next((name for node in nodes if (name := recognised(node)) is not None), None)


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
