"""Trying again: which faults of an endpoint may pass, and how long to wait before the next try.

Policy: too many requests (429), a timeout or conflict (408, 409), a fault of the server (5xx) and a lost connection may
pass; anything else is told at once. The pause doubles from try to try, unless the endpoint says how long to wait.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

PASSING = frozenset({408, 409, 429})
"""Statuses below 500 that are worth another try."""
LONGEST_PAUSE = 60.0
"""Seconds waited at most between two tries, whatever the endpoint asks for."""

Sleep = Callable[[float], Awaitable[None]]
T = TypeVar("T")


class FailedTry(Exception):
    """One failed try; ``after`` is how many seconds the endpoint asked to wait."""

    def __init__(self, problem: str, *, passing: bool, after: float | None = None) -> None:
        self.passing = passing
        self.after = after
        super().__init__(problem)


def refused(status: int, said: str, retry_after: str | None) -> FailedTry:
    """The fault that an answer with an error's status is, with its ``Retry-After`` header."""
    problem = f"status {status}: {one_line(said)}" if said.strip() else f"status {status}"
    return FailedTry(problem, passing=status >= 500 or status in PASSING, after=_seconds(retry_after))


async def insist(once: Callable[[], Awaitable[T]], retries: int, pause: float, sleep: Sleep | None = None) -> T:
    """Try, and try again up to ``retries`` times while faults may pass, after ``pause`` seconds and then twice that.

    Raises:
        Fault: the last one, which tells how many tries there were.
    """
    import anyio

    for tried in range(retries + 1):
        try:
            return await once()
        except FailedTry as fault:
            if not fault.passing or tried == retries:
                times = f" ({tried + 1} tries)" if tried else ""
                raise FailedTry(f"{fault}{times}", passing=fault.passing, after=fault.after) from fault
            wait = pause * 2.0**tried if fault.after is None else fault.after
            await (sleep or anyio.sleep)(min(wait, LONGEST_PAUSE))
    raise AssertionError("unreachable")


def one_line(text: str, limit: int = 200) -> str:
    """The text in one line, cut if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[:limit]}..."


def _seconds(header: str | None) -> float | None:
    """Seconds to wait; a date, which endpoints for models do not send, counts as none."""
    try:
        return max(0.0, float(header)) if header else None
    except ValueError:
        return None
