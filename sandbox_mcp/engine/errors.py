"""The root of every fault that the caller can mend, each package with its own tree below it; and telling others.

Policy: such a fault is told in one line that names the thing and the remedy, never with a stack trace.
"""

from collections.abc import Sequence
from typing import cast


class SandboxError(Exception):
    """Something that was given to this project cannot be used; the message says what and what was expected.

    ``more`` are further faults of the same thing that were found with this one, each to be told in a line of its own.
    """

    more: "Sequence[SandboxError]" = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """Faults, one line each."""
        return (str(self), *map(str, self.more))


class FileError(SandboxError):
    """A file that cannot be used. ``path`` and ``line`` (from 1, None for the file as a whole) say where."""

    def __init__(self, path: str, line: int | None, problem: str) -> None:
        self.path = path
        self.line = line
        self.problem = problem
        super().__init__(f"{path}{'' if line is None else f':{line}'}: {problem}")


def inner_errors(error: BaseException) -> list[BaseException]:
    """The exceptions inside the groups that task groups wrap them in."""
    if isinstance(error, BaseExceptionGroup):
        inner = cast("BaseExceptionGroup[BaseException]", error).exceptions
        return [leaf for item in inner for leaf in inner_errors(item)]
    return [error]


def first_line(error: BaseException) -> str:
    """The first line of an exception's message with something on it; empty where it says nothing."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "")


def error_line(error: BaseException) -> str:
    """An exception in one line, its class first."""
    return f"{type(error).__name__}: {first_line(error) or 'no details'}"
