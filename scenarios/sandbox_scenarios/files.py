"""A scenario file as it was read: its entries by name, what they inherit, and where each part of it was written.

Policy: a fault is told at the line that says it, in the file that says it, though another scenario inherited it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from sandbox_scenarios.errors import ScenarioFileError
from sandbox_scenarios.form import leave_out_faults, validate
from sandbox_scenarios.homes import FILL, HERE, RECORDED, SERVER
from sandbox_scenarios.merge import merge, written_as
from sandbox_scenarios.problem import ProblemError
from sandbox_scenarios.yaml_lines import load


class ScenarioFile:
    """One parsed file, or an excerpt of it: its entries by name, as written, and where they stand."""

    def __init__(self, path: Path, text: str, fill: str = "", *, forgiving: bool = False) -> None:
        """A ``forgiving`` one leaves out parts whose form is wrong, and says in ``left_out`` which."""
        self.path = str(path)
        data, self.lines = load(text, self.path)
        _place_tapes(data, path.parent, fill)
        self.left_out = leave_out_faults(data) if forgiving else {}
        self.alone = validate(data, self.path, self.lines)
        self.entries: list[dict[str, Any]] = data["scenarios"]
        self.family = str(data["family"])
        self.index: dict[str, int] = {}
        doubled: list[ScenarioFileError] = []
        for number, entry in enumerate(self.entries):
            if self.index.setdefault(entry["name"], number) != number:
                line = self.lines.of(("scenarios", number, "name"))
                doubled.append(ScenarioFileError(self.path, line, f"two scenarios have the name {entry['name']!r}"))
        if doubled and not forgiving:
            raise ScenarioFileError.together(doubled)


def _place_tapes(data: Any, folder: Path, fill: str) -> None:
    """Write out where the tapes lie that entries name: a path is relative to the file in which it stands.

    ``fill`` is the model that may answer for those that name none, if any may.
    """
    entries: Any = cast("dict[str, Any]", data).get("scenarios") if isinstance(data, dict) else None
    for entry in cast("list[Any]", entries) if isinstance(entries, list) else ():
        written: Any = cast("dict[str, Any]", entry).get("world") if isinstance(entry, dict) else None
        for world in cast("list[Any]", written) if isinstance(written, list) else [written]:
            if isinstance(world, dict) and SERVER in world:
                cast("dict[str, Any]", world)[HERE] = str(folder.resolve())
            if isinstance(world, dict) and isinstance(tape := cast("dict[str, Any]", world).get(RECORDED), str):
                world[RECORDED] = str((folder / tape).resolve())
                if fill:
                    cast("dict[str, Any]", world).setdefault(FILL, fill)


@dataclass(frozen=True, slots=True)
class ScenarioLink:
    """One link of a chain of ``extends``: an entry, and all that it inherits."""

    file: ScenarioFile
    number: int
    base: dict[str, Any]

    @property
    def entry(self) -> dict[str, Any]:
        """The entry as its file has it."""
        return self.file.entries[self.number]

    def merged(self) -> dict[str, Any]:
        """The entry with all that it inherits."""
        return merge(self.base, self.entry) if self.base else self.file.alone[self.number]

    def find(self, path: Sequence[str | int]) -> tuple[int, int]:
        """Number of parts of a path of the merged scenario that were written here, and the line of the last."""
        depth, line = self.file.lines.find(("scenarios", self.number, *written_as(self.entry, self.base, path)))
        return depth - 2, line


def place_in(chain: Sequence[ScenarioLink], path: Sequence[str | int]) -> tuple[int, str, int]:
    """Place of the link that wrote most of a path: its file, and the line there; of equals the nearest."""
    found = ((*source.find(path), source.file.path) for source in chain)
    return max(((depth, file, line) for depth, line, file in found), key=lambda place: place[0])


def faults_in(chain: Sequence[ScenarioLink], found: Iterable[ProblemError]) -> list[ScenarioFileError]:
    """Faults in the first link of a chain, where it was written."""
    places = ((place_in(chain, item.path), item.text) for item in found)
    name = chain[0].entry["name"]
    return [ScenarioFileError(path, line, f"scenario {name!r}: {text}") for (_, path, line), text in places]
