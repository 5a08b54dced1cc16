"""A fault inside one scenario, with the path of keys and positions that leads to it."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from difflib import get_close_matches

from sandbox_scenarios.values import ValueProblemError

PartPath = tuple[str | int, ...]
"""The keys and positions that lead from a scenario to a part of it."""


class ProblemError(Exception):
    """Something does not fit. The loader adds file, line and the scenario's name; ``more`` does not fit either."""

    def __init__(self, path: PartPath, text: str) -> None:
        self.path = path
        self.text = text
        self.more: tuple[ProblemError, ...] = ()
        super().__init__(text)


@contextmanager
def at(*path: str | int) -> Generator[None]:
    """Give a plain fault the path where it happened."""
    try:
        yield
    except (ValueProblemError, ValueError) as error:
        raise ProblemError(path, str(error)) from error


def closest(name: str, known: Iterable[str]) -> str:
    """A hint at what may have been meant."""
    names = list(known)
    near = get_close_matches(name, names, n=3, cutoff=0.6)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else f"known: {', '.join(names)}"
