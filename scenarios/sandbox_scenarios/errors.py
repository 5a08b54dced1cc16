"""Scenario errors: every one names the file, the line and the thing, and says what was expected."""

from collections.abc import Iterable
from difflib import get_close_matches

from sandbox_mcp.engine.errors import FileError, SandboxError


class ScenarioError(SandboxError):
    """Base of all faults of scenarios."""


class ScenarioFileError(ScenarioError, FileError):
    """A scenario file that cannot be used."""

    @classmethod
    def together(cls, faults: Iterable["ScenarioFileError"]) -> "ScenarioFileError":
        """Some faults as one, in the order of lines, and the first one's file before other files.

        What several scenarios inherit from one line is told once.
        """
        told: dict[tuple[str, int | None, str], ScenarioFileError] = {}
        for fault in faults:
            for item in (fault, *(other for other in fault.more if isinstance(other, cls))):
                told.setdefault((item.path, item.line, item.problem.split("': ", 1)[-1]), item)
        nearest = next(iter(told.values())).path
        ordered = sorted(told.values(), key=lambda item: (item.path != nearest, item.path, item.line or 0))
        first, *others = ordered
        first.more = tuple(others)
        return first


class ValueProblemError(Exception):
    """A value that cannot be understood; the message says why."""


class UnknownScenarioError(ScenarioError):
    """No scenario of that name can be played; ``suggestions`` are the nearest names.

    ``abstract`` tells that there is one, but only as a base that others extend.
    """

    def __init__(self, name: str, known: Iterable[str], *, abstract: bool = False) -> None:
        self.name = name
        self.abstract = abstract
        self.suggestions = tuple(get_close_matches(name, list(known), n=3, cutoff=0.5))
        hint = "see 'sandbox-mcp scenarios list'"
        if self.suggestions:
            hint = f"did you mean {' or '.join(map(repr, self.suggestions))}?"
        problem = f"scenario {name!r} is a base that others extend" if abstract else f"unknown scenario {name!r}"
        super().__init__(f"{problem}; {hint}")
