"""Scenario errors: every one names the file, the line and the thing, and says what was expected."""

from collections.abc import Iterable
from difflib import get_close_matches

from sandbox_mcp.errors import SandboxError


class ScenarioError(SandboxError):
    """Base of all faults of scenarios."""


class ScenarioFileError(ScenarioError):
    """A scenario file that cannot be used. ``line`` counts from 1; None means the file as a whole."""

    def __init__(self, path: str, line: int | None, problem: str) -> None:
        self.path = path
        self.line = line
        self.problem = problem
        super().__init__(f"{path}{'' if line is None else f':{line}'}: {problem}")


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
        hint = (
            f"did you mean {' or '.join(map(repr, self.suggestions))}?" if self.suggestions else "see 'scenarios list'"
        )
        problem = f"scenario {name!r} is a base that others extend" if abstract else f"unknown scenario {name!r}"
        super().__init__(f"{problem}; {hint}")
