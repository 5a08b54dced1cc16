"""The root of every fault that is the caller's to mend: each package has its own tree below it.

Policy: such a fault is told in one line that names the thing and the remedy, never with a stack trace.
"""

from collections.abc import Sequence


class SandboxError(Exception):
    """Something that was given to this project cannot be used; the message says what and what was expected.

    ``more`` are further faults of the same thing that were found with this one, each to be told in a line of its own.
    """

    more: "Sequence[SandboxError]" = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """What is wrong, in one line for each fault."""
        return (str(self), *map(str, self.more))


class FileError(SandboxError):
    """A file that cannot be used. ``path`` and ``line`` (from 1, None for the file as a whole) say where."""

    def __init__(self, path: str, line: int | None, problem: str) -> None:
        self.path = path
        self.line = line
        self.problem = problem
        super().__init__(f"{path}{'' if line is None else f':{line}'}: {problem}")
