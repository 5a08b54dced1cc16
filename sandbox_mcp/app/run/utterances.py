"""Words of a replaying user: prepared lines, or those of sessions that were played before.

Policy: a session gets the words of its own scenario, variant and trial, or none, and then nothing is played: half of a
comparison with other words is worth nothing. A text file is the same for all scenarios.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from sandbox_grader.reporting.scenario_of_log import SuiteFinder, placed
from sandbox_scenarios.errors import ScenarioFileError
from sandbox_scenarios.problem import closest

from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.tools.user_tools import END
from sandbox_mcp.engine.trajectory import Message, ToolCall, Trajectory, read_trajectory
from sandbox_mcp.engine.trajectory.finding import find_logs
from sandbox_mcp.play.session import SessionSpec
from sandbox_mcp.play.session.session import PARTING
from sandbox_mcp.play.users.replay import digest_of
from sandbox_mcp.play.users.typed import CONFIRM, LEAVE

MAPPINGS = (".yaml", ".yml", ".json")
"""Suffixes of files that hold lines by scenario."""


@dataclass(frozen=True, slots=True)
class WrittenLines:
    """Lines of a file: by scenario, or for ``every`` one."""

    path: str
    every: tuple[str, ...] = ()
    by_scenario: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    @property
    def description(self) -> Mapping[str, Any]:
        """Origin of the lines, and a digest of all of them."""
        return {"from": "lines", "digest": digest_of([self.every, dict(self.by_scenario)])}

    def of(self, spec: SessionSpec) -> tuple[str, ...]:
        """The lines for this scenario; an opening that was written down as well is left out.

        Raises:
            RunError: there are none.
        """
        name = spec.scenario.name
        if not self.every and name not in self.by_scenario:
            hint = closest(name, list(self.by_scenario))
            raise RunError(f"user lines {self.path!r} have nothing for scenario {name!r}; {hint}")
        lines = self.every or self.by_scenario[name]
        return lines[1:] if lines[0] == spec.user.opening else lines


@dataclass(frozen=True, slots=True)
class RecordedWords:
    """Words of the user in one recorded session: its opening, and the rest as lines."""

    opening: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordedLines:
    """Lines of recorded sessions, by scenario, variant and trial, and then by seed."""

    path: str
    sessions: Mapping[tuple[str, str, int], Mapping[int, RecordedWords]]

    @property
    def description(self) -> Mapping[str, Any]:
        """Origin of the lines, and a digest of all of them."""
        said = [[list(key), seed, heard.lines] for key, by in self.sessions.items() for seed, heard in by.items()]
        return {"from": "log", "digest": digest_of(sorted(said, key=str))}

    def of(self, spec: SessionSpec) -> tuple[str, ...]:
        """The lines of the session of the same scenario, variant and trial, of the same seed if there are several.

        Raises:
            RunError: the log has no such session, or it began with other words.
        """
        which = f"scenario {spec.scenario.name!r}, variant {spec.variant!r}, trial {spec.trial}"
        by_seed = self.sessions.get((spec.scenario.name, spec.variant, spec.trial), {})
        heard = by_seed.get(spec.seed) or (next(iter(by_seed.values())) if len(by_seed) == 1 else None)
        if heard is None:
            raise RunError(f"user log {self.path!r} has no session of {which}, seed {spec.seed}")
        if heard.opening != spec.user.opening:
            raise RunError(f"user log {self.path!r}: {which} began with other words, so the scenario has changed since")
        return heard.lines


Utterances = WrittenLines | RecordedLines
"""The lines of a run's users."""


def written_lines(path: Path) -> WrittenLines:
    """The lines of a file: text with one utterance a line, or YAML or JSON with a list of them by scenario.

    Raises:
        RunError: it cannot be read, or holds nothing to say.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise RunError(f"user lines {str(path)!r} cannot be read: {reason}") from error
    lines = tuple(line.strip() for line in text.splitlines() if line.strip())
    if not lines:
        raise RunError(
            f"user lines {str(path)!r} are empty; expected one utterance a line, or a list for each scenario"
        )
    if path.suffix.lower() in MAPPINGS:
        found = _loaded(text, path)
        if not isinstance(found, dict) or not found:
            raise RunError(f"user lines {str(path)!r} must map names of scenarios to lists of utterances")
        named: dict[str, tuple[str, ...]] = {}
        for name, given in cast("dict[str, Any]", found).items():
            texts = cast("list[Any]", given) if isinstance(given, list) else []
            if not texts or not all(isinstance(line, str) and line.strip() for line in texts):
                raise RunError(f"user lines {str(path)!r}: {name!r} must be a list of texts to say, not {given!r}")
            named[name] = tuple(texts)
        return WrittenLines(str(path), by_scenario=named)
    return WrittenLines(str(path), lines)


def recorded_lines(path: Path, places: Sequence[Path] = ()) -> RecordedLines:
    """The lines of a log, or of all logs in a folder such as a run's.

    Imported logs are of the scenarios in ``places`` that ``grade`` finds for them, and those of one are its trials.

    Raises:
        TrajectoryError: a log cannot be read, or no log was found.
        RunError: there are two of the same session, and its user said other words in each.
    """
    found: dict[tuple[str, str, int], dict[int, RecordedWords]] = {}
    find = SuiteFinder(tuple(places))
    for log in find_logs([path]):
        trajectory, _ = placed(read_trajectory(log), find)
        started, heard = trajectory.started, heard_in(trajectory)
        trial = started.trial
        while started.origin and found.get((started.scenario, started.variant, trial), {started.seed: heard}) != {
            started.seed: heard
        }:
            trial += 1  # sessions from elsewhere become trials in the order of their files
        by_seed = found.setdefault((started.scenario, started.variant, trial), {})
        if by_seed.setdefault(started.seed, heard) != heard:
            raise RunError(
                f"user log {str(path)!r}: the user of scenario {started.scenario!r}, variant {started.variant!r}, "
                f"trial {started.trial}, seed {started.seed} said something else in {str(log)!r} than in another log; "
                "name the folder of one run"
            )
    return RecordedLines(str(path), found)


def heard_in(trajectory: Trajectory) -> RecordedWords:
    """Words of the user in a session; those with which it confirmed something are marked as such."""
    opening: str | None = None
    lines: list[str] = []
    confirmed = False
    for event in trajectory.events:
        if isinstance(event, ToolCall):
            confirmed = confirmed or (event.caller == "user" and event.tool == "confirm_action")
            if event.caller == "user" and event.tool == END and event.meta.get(PARTING):
                lines.append(f"{LEAVE} {event.meta[PARTING]}")
        elif _is_users(event) and opening is None:
            opening = event.content
        elif _is_users(event):
            lines.append(f"{CONFIRM} {event.content}" if confirmed else escaped(event.content))
            confirmed = False
    return RecordedWords(opening or "", tuple(lines))


def _is_users(message: Message) -> bool:
    return (message.sender, message.recipient) == ("user", "agent")


def escaped(line: str) -> str:
    """A line as it has to be written down to be said as it is: commands begin with a slash."""
    return f"/{line}" if line.startswith("/") else line


def _loaded(text: str, path: Path) -> Any:
    if path.suffix.lower() == ".json":
        try:
            return loads(text)
        except ValueError as error:
            raise RunError(f"user lines {str(path)!r} are not JSON: {error}") from error
    from sandbox_scenarios.yaml_lines import load

    try:
        return load(text, str(path))[0]
    except ScenarioFileError as error:
        raise RunError(str(error)) from error
