"""The dialogues of MTU-Bench's files as something to select from and to play, one scenario per dialogue.

Policy: the rows stay in their files; scenarios made of them here live as long as the command. A dialogue has the tags
``setting:M-S`` and ``hard:CLASS``. Its digest changes with whatever its rows say, so that a run goes on only with the
rows it began with.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from sandbox_grader.papers.mtu_bench.importer import BenchmarkRow, DialogueRows, dialogues, hard_classes
from sandbox_scenarios import Scenario, UnknownScenarioError
from sandbox_scenarios.model import PlannedCall, PlannedTurn, Solution, UserSpec

from sandbox_mcp.app.run.by_hand import PlayableSuite
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.world import Clock, snapshot_of

HOME = World("mtu_rows")
"""The world of rows: it has no state, and tools are those of each row."""
NOON = 1704369600.0
"""The date that the rows name, 4 January 2024, at noon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowScenario(Scenario):
    """One dialogue as a scenario: ``rows`` are its turns."""

    rows: DialogueRows

    def __hash__(self) -> int:
        return hash(self.digest)


class RowSuite(PlayableSuite):
    """The dialogues of some files, or of folders: of their ``*_eval.jsonl`` files, or else of API-Bank's."""

    def __init__(self, places: Iterable[Path]) -> None:
        """Name the places; they are read when first needed."""
        super().__init__()
        self._rows_in = tuple(places)

    def own_files(self) -> None:
        """None: dialogues are read from files of another form than scenarios."""

    @cached_property
    def _dialogues(self) -> dict[str, RowScenario]:
        files: dict[Path, Path] = {}  # each once, however often it was named
        for place in self._rows_in:
            inside = [place]
            if place.is_dir():
                inside = sorted(place.rglob("*_eval.jsonl")) or sorted(place.rglob("*-level-*.jsonl"))
            if not inside:
                expected = "expected files such as M-S_eval.jsonl, or API-Bank's such as AddAlarm-level-1-1.jsonl"
                raise RunError(f"{str(place)!r} holds no file of rows; {expected}")
            files.update((path.resolve(), path) for path in inside)
        return {dialogue.name: _scenario(dialogue) for dialogue in dialogues([*files.values()])}

    def names(self, world: str = "") -> tuple[str, ...]:
        """The dialogues in the order of their files, or those that were picked.

        Raises:
            ImportFormatError: a file cannot be used.
        """
        picked = self._picked if self._picked is not None else self._dialogues
        return tuple(picked) if fnmatchcase(HOME.name, world or "*") else ()

    def world(self, name: str) -> str:  # noqa: ARG002
        """The world of every dialogue."""
        return HOME.name

    def tagged(self, pattern: str) -> tuple[str, ...]:
        """The dialogues that have a tag such as ``hard:choices``.

        Raises:
            RunError: none has.
        """
        known = list(dict.fromkeys(tag for found in self._dialogues.values() for tag in found.tags))
        if not any(fnmatchcase(tag, pattern) for tag in known):
            raise RunError(f"no dialogue has a tag {pattern!r}; known: {', '.join(sorted(known))}")
        tags = ((name, found.tags) for name, found in self._dialogues.items())
        return tuple(name for name, own in tags if any(fnmatchcase(tag, pattern) for tag in own))

    def get(self, name: str) -> RowScenario:
        """The dialogue of that name.

        Raises:
            UnknownScenarioError: no dialogue has that name.
        """
        found = self._dialogues.get(name)
        if found is None:
            raise UnknownScenarioError(name, self._dialogues)
        return found


def _scenario(dialogue: DialogueRows) -> RowScenario:
    rows = [row for row, _ in dialogue.rows]
    written = "\n".join(f"{row.id}\t{row.text}\t{row.answer}" for row in rows)
    opening = rows[0].question.user or rows[0].text
    return RowScenario(
        name=dialogue.name, about=f"a dialogue of MTU-Bench, {dialogue.setting}", categories=(),
        world=snapshot_of({}), clock=Clock(NOON), tools=(), without=(), user=UserSpec(goal=opening, opening=opening),
        solutions=(Solution(tuple(map(wanted_turn, rows))),), milestones=(), minefields=(), allows={}, confirm=(),
        gates=(), max_turns=1_000_000, max_calls=1_000_000, idle_score=None,
        digest=sha256(f"{dialogue.form}\n{written}".encode()).hexdigest()[:16], path=rows[0].path, line=rows[0].line,
        home=HOME, tags=(f"setting:{dialogue.setting}", *(f"hard:{name}" for name in hard_classes(dialogue))),
        rows=replace(dialogue, rows=tuple((row, None) for row in rows)),
    )  # fmt: skip


def wanted_turn(row: BenchmarkRow) -> PlannedTurn:
    """Calls of a row's ground truth, one after the other."""
    calls = (PlannedCall(name.strip(), given) for name, given in row.answer.items() if name.strip())
    return PlannedTurn(tuple((call,) for call in calls), "")
